/* SPDX-License-Identifier: MIT
 *
 * Jobs over sequences with classes: defaults, what a job says, refusals.
 */
#include <stdio.h>
#include <string.h>

#include "core/json/json.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/jobs.h"
#include "tests/support/network.h"

static struct jobs_dataset gestures = {.id = TEST_DATASET,
                                       .sequences = true,
                                       .classes = 3,
                                       .inputs = 6,
                                       .constant_inputs = 1,
                                       .longest = 80,
                                       .mean_steps = 40,
                                       .train = 100};

static const struct jobs_context context = {.find_dataset = test_find_dataset,
                                            .ctx = &gestures,
                                            .max_trials = 100,
                                            .trial_memory_bytes = (uint64_t)2 << 30};

#define CLASSES "'kind': 'sequence_classification', 'dataset': '" TEST_DATASET "'"

static void the_shortest_classification_is_one_trial(void **state)
{
    (void)state;
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    assert_int_equal(test_try(&context, "{" CLASSES "}", &plan, &err), SV_OK);
    assert_int_equal(plan->trial_count, 1);
    assert_string_equal(plan->headline_metric, "validation_accuracy");
    const json_t *trial = plan->trials[0].resolved;
    assert_string_equal(test_text_at(trial, "network.name"), "lstm_classification");
    assert_string_equal(test_text_at(trial, "data.input_scaling"), "z_score");
    assert_string_equal(test_text_at(trial, "data.sort"), "none");
    assert_string_equal(test_text_at(trial, "training.solver"), "adam");
    assert_string_equal(test_text_at(trial, "training.shuffle"), "every_epoch");
    assert_true(test_number_at(trial, "split.train") == 0.7);
    assert_true(test_number_at(trial, "split.validation") == 0.3);
    assert_string_equal(
        json_string_value(json_array_get(jx_path_get(trial, "evaluation.metrics"), 0)), "accuracy");
    static const char *const others[] = {
        "data.normalisation", "data.rul_threshold", "data.target_scaling", "data.window",
        "data.window_stride", "data.noise",         "evaluation.phm08"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_null(jx_path_get(trial, others[i]));
    }
    assert_true(plan->estimate.seconds > 0 && plan->estimate.memory_bytes > 0);
    jobs_plan_destroy(plan);
}

/* As of regressions: what a part of its own tests is trained on whole. */
static void a_set_with_a_test_part_is_ranked_by_it(void **state)
{
    (void)state;
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    gestures.test = 40;
    assert_int_equal(test_try(&context, "{" CLASSES "}", &plan, &err), SV_OK);
    gestures.test = 0;
    assert_string_equal(plan->headline_metric, "test_accuracy");
    assert_true(test_number_at(plan->trials[0].resolved, "split.train") == 1);
    jobs_plan_destroy(plan);
}

/* All that classifications of images have. */
static void what_a_classification_has_is_taken(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "'network': {'name': 'bilstm', 'task': 'classification', 'units': 7}",
        "'network': {'name': 'gru', 'task': 'classification'}",
        "'training': {'class_weights': 'balanced', 'label_smoothing': 0.1}",
        "'training': {'class_weights': [1, 2, 0.5], 'ema_decay': 0.9, 'micro_batch_size': 4}",
        "'training': {'shuffle': 'never'}, 'data': {'sort': 'length_descending'}",
        "'data': {'input_scaling': 'none', 'keep_constant': true}",
        "'evaluation': {'metrics': ['balanced_accuracy']}",
        "'search': {'parameters': {'network.depth': [1, 2], 'training.solver': ['adam', 'sgdm']}}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        struct jobs_plan *plan = NULL;
        struct sv_error err = {0};
        (void)snprintf(text, sizeof text, "{" CLASSES ", %s}", rows[i]);
        if (test_try(&context, text, &plan, &err) != SV_OK) {
            fail_msg("%s: \"%s\" (%s)", text, err.pointer, err.text);
        }
        jobs_plan_destroy(plan);
    }
}

static void refusals_name_their_field(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *pointer;
        enum sv_status st;
    } rows[] = {
        {"'data': {'rul_threshold': 125}", "/data/rul_threshold", SV_ERR_INVALID_FIELD},
        {"'data': {'target_scaling': 'range'}", "/data/target_scaling", SV_ERR_INVALID_FIELD},
        {"'data': {'window': 10}", "/data/window", SV_ERR_INVALID_FIELD},
        {"'data': {'window_stride': 2}", "/data/window_stride", SV_ERR_INVALID_FIELD},
        {"'data': {'window_test': 'every'}", "/data/window_test", SV_ERR_INVALID_FIELD},
        {"'data': {'normalisation': 'none'}", "/data/normalisation", SV_ERR_INVALID_FIELD},
        {"'data': {'noise': {'kind': 'pink'}}", "/data/noise", SV_ERR_INVALID_FIELD},
        {"'data': {'sort': 'length_descending'}", "/data/sort", SV_ERR_INVALID_FIELD},
        {"'evaluation': {'phm08': {'a_early': 7}}", "/evaluation/phm08", SV_ERR_INVALID_FIELD},
        {"'evaluation': {'metrics': ['rmse']}", "/evaluation/metrics/0", SV_ERR_INVALID_FIELD},
        {"'search': {'parameters': {'data.rul_threshold': [1, 2]}}",
         "/search/parameters/data.rul_threshold/0", SV_ERR_INVALID_FIELD},
        {"'augmentation': {'x_reflection': true}", "/augmentation", SV_ERR_INVALID_FIELD},
        {"'training': {'class_weights': [1, 2]}", "/training/class_weights", SV_ERR_INVALID_FIELD},
        {"'split': {'train': 1}", "/split/train", SV_ERR_INVALID_FIELD},
        {"'explain': {}", "/explain", SV_ERR_NOT_SUPPORTED},
        {"'network': {'name': 'simple_cnn'}", NULL, SV_ERR_INVALID_NETWORK},
        {"'network': {'name': 'lstm_regression'}", NULL, SV_ERR_INVALID_NETWORK},
        {"'network': {'name': 'bilstm'}", NULL, SV_ERR_INVALID_NETWORK},
        {"'network': {'layers': [{'name': 'a', 'kind': 'sequence_input'}, {'name': 'b', 'kind':"
         " 'lstm', 'units': 4}, {'name': 'c', 'kind': 'fully_connected'}, {'name': 'd', 'kind':"
         " 'softmax'}]}",
         "/network/layers/2", SV_ERR_INVALID_NETWORK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        struct jobs_plan *plan = NULL;
        struct sv_error err = {0};
        (void)snprintf(text, sizeof text, "{" CLASSES ", %s}", rows[i].fields);
        enum sv_status st = test_try(&context, text, &plan, &err);
        if (st != rows[i].st || (rows[i].pointer && strcmp(err.pointer, rows[i].pointer) != 0)) {
            fail_msg("%s: %s at \"%s\" (%s)", text, sv_status_slug(st), err.pointer, err.text);
        }
        if (strncmp(err.pointer, "/data/window", strlen("/data/window")) == 0) {
            assert_non_null(strstr(err.text, "cut the table itself")); /* says what to do */
        }
    }
}

/* Numbers to predict, pictures, one class: each is another kind's, or nobody's. */
static void only_sequences_with_classes_are_taken(void **state)
{
    (void)state;
    const struct jobs_dataset whole = gestures;
    const struct jobs_dataset others[] = {
        {.sequences = true, .inputs = 6, .targets = 1, .longest = 80, .mean_steps = 40},
        {.height = 8, .width = 8, .channels = 1, .classes = 3},
        {.height = 1, .width = 64, .channels = 1, .classes = 3, .signals = true},
        {.sequences = true, .inputs = 6, .classes = 1, .longest = 80, .mean_steps = 40},
    };
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        gestures = others[i];
        memcpy(gestures.id, whole.id, sizeof gestures.id);
        gestures.train = 100;
        assert_int_equal(test_try(&context, "{" CLASSES "}", &plan, &err), SV_ERR_INVALID_FIELD);
        assert_string_equal(err.pointer, "/dataset");
    }
    gestures = whole;
    assert_int_equal(test_try(&context,
                              "{'kind': 'sequence_regression', 'dataset': '" TEST_DATASET "'}",
                              &plan, &err),
                     SV_ERR_INVALID_FIELD);
    assert_string_equal(err.pointer, "/dataset");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_classification_is_one_trial),
        cmocka_unit_test(a_set_with_a_test_part_is_ranked_by_it),
        cmocka_unit_test(what_a_classification_has_is_taken),
        cmocka_unit_test(refusals_name_their_field),
        cmocka_unit_test(only_sequences_with_classes_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
