/* SPDX-License-Identifier: MIT
 *
 * Jobs over sequences: defaults, what a job says, refusals.
 */
#include <stdio.h>
#include <string.h>

#include "core/json/json.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/jobs.h"
#include "tests/support/network.h"

static struct jobs_dataset engines = {.id = TEST_DATASET,
                                      .sequences = true,
                                      .inputs = 24,
                                      .constant_inputs = 7,
                                      .constant_names = "setting3, s1, ...",
                                      .targets = 1,
                                      .remaining_life = true,
                                      .longest = 362,
                                      .mean_steps = 200,
                                      .train = 100,
                                      .test = 100};

static const struct jobs_context context = {.find_dataset = test_find_dataset,
                                            .ctx = &engines,
                                            .max_trials = 100,
                                            .trial_memory_bytes = (uint64_t)2 << 30};

#define SEQUENCES "'kind': 'sequence_regression', 'dataset': '" TEST_DATASET "'"

/* Values of another kind, a voltage or a price, are not cut off. */
static void a_regression_of_no_life_has_no_thresholds(void **state)
{
    (void)state;
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    engines.remaining_life = false;
    assert_int_equal(test_try(&context, "{" SEQUENCES "}", &plan, &err), SV_OK);
    assert_int_equal(plan->trial_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(json_object_size(plan->trials[i].parameters), 1);
        assert_true(json_is_null(jx_path_get(plan->trials[i].resolved, "data.rul_threshold")));
    }
    jobs_plan_destroy(plan);
    assert_int_equal(test_try(&context,
                              "{" SEQUENCES ", 'search': {'parameters': "
                              "{'data.rul_threshold': [150, 200]}}}",
                              &plan, &err),
                     SV_OK);
    assert_int_equal(plan->trial_count, 2); /* asked for, it is done */
    jobs_plan_destroy(plan);
    engines.remaining_life = true;
}

static void inputs_of_one_value_are_warned_of(void **state)
{
    (void)state;
    struct jobs_plan *plan = test_resolve(&context, "{" SEQUENCES "}");
    assert_int_equal(json_array_size(plan->warnings), 1);
    assert_string_equal(test_text_at(plan->warnings, "0.code"), "constant_inputs");
    assert_non_null(strstr(test_text_at(plan->warnings, "0.text"), "7 of 24 inputs"));
    assert_non_null(strstr(test_text_at(plan->warnings, "0.text"), "setting3, s1, ..."));
    jobs_plan_destroy(plan);
    plan = test_resolve(&context, "{" SEQUENCES ", 'data': {'keep_constant': true}}");
    assert_int_equal(json_array_size(plan->warnings), 0);
    jobs_plan_destroy(plan);
    plan = test_resolve(&context, "{" SEQUENCES ", 'data': {'keep_constant': true,"
                                  " 'window_stride': 4}}");
    assert_int_equal(json_array_size(plan->warnings), 1);
    assert_string_equal(test_text_at(plan->warnings, "0.pointer"), "/data/window_stride");
    jobs_plan_destroy(plan);
}

/* The published experiment: three thresholds by one to three layers. */
static void the_shortest_regression_is_the_published_one(void **state)
{
    (void)state;
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    assert_int_equal(test_try(&context, "{" SEQUENCES "}", &plan, &err), SV_OK);
    assert_int_equal(plan->trial_count, 9);
    assert_string_equal(plan->headline_metric, "test_rmse");
    for (size_t i = 0; i < 9; i++) {
        const json_t *trial = plan->trials[i].resolved;
        assert_true(test_number_at(trial, "data.rul_threshold") == (double)(150 + i / 3 * 50));
        assert_true(test_number_at(plan->trials[i].parameters, "data.rul_threshold") ==
                    0); /* dotted */
        assert_int_equal(test_number_at(trial, "network.parameters.depth"), 1 + i % 3);
        assert_string_equal(test_text_at(trial, "data.input_scaling"), "z_score");
        assert_string_equal(test_text_at(trial, "data.target_scaling"), "none");
        assert_string_equal(test_text_at(trial, "data.sort"), "length_descending");
        assert_null(jx_path_get(trial, "data.normalisation"));
        assert_string_equal(test_text_at(trial, "training.solver"), "adam");
        assert_true(test_number_at(trial, "training.learning_rate") == 0.01);
        assert_int_equal(test_number_at(trial, "training.epochs"), 60);
        assert_int_equal(test_number_at(trial, "training.batch_size"), 20);
        assert_string_equal(test_text_at(trial, "training.shuffle"), "never");
        assert_string_equal(test_text_at(trial, "training.gradient_clipping.method"), "l2norm");
        assert_true(test_number_at(trial, "training.gradient_clipping.threshold") == 1);
        assert_true(test_number_at(trial, "split.train") == 1);
        assert_true(test_number_at(trial, "split.validation") == 0);
    }
    assert_true(plan->estimate.seconds > 0 && plan->estimate.memory_bytes > 0);
    jobs_plan_destroy(plan);
}

/* What the job says stays, also below objects of which the kind fills the rest. */
static void a_regression_keeps_what_the_job_says(void **state)
{
    (void)state;
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    assert_int_equal(test_try(&context,
                              "{" SEQUENCES ", 'network': {'name': 'lstm_regression', 'units': 7},"
                              " 'evaluation': {'phm08': {'a_early': 7}},"
                              " 'data': {'rul_threshold': 125}, 'split': {'validation':"
                              " 0.2}, 'training': {'epochs': 3, 'shuffle': 'once'}}",
                              &plan, &err),
                     SV_OK);
    assert_int_equal(plan->trial_count, 1);
    const json_t *trial = plan->trials[0].resolved;
    assert_int_equal(test_number_at(trial, "evaluation.phm08.a_early"), 7);
    assert_int_equal(test_number_at(trial, "evaluation.phm08.a_late"), 10);
    assert_int_equal(test_number_at(trial, "training.epochs"), 3);
    assert_int_equal(test_number_at(trial, "training.batch_size"), 20);
    assert_string_equal(test_text_at(trial, "data.sort"), "none");
    assert_true(test_number_at(trial, "data.rul_threshold") == 125);
    assert_true(test_number_at(trial, "split.train") == 0.8);
    assert_int_equal(test_number_at(trial, "network.parameters.units"), 7);
    jobs_plan_destroy(plan);
}

/* A set without parts of its own: some of its sequences rank the trials. */
static void sequences_without_a_test_part_are_kept_back(void **state)
{
    (void)state;
    struct jobs_dataset whole = engines;
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    engines.test = 0;
    assert_int_equal(test_try(&context, "{" SEQUENCES "}", &plan, &err), SV_OK);
    engines = whole;
    assert_string_equal(plan->headline_metric, "validation_rmse");
    assert_true(test_number_at(plan->trials[0].resolved, "split.train") == 0.7);
    assert_true(test_number_at(plan->trials[0].resolved, "split.validation") == 0.3);
    jobs_plan_destroy(plan);
}

static void refusals_of_regressions_name_their_field(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *pointer;
        enum sv_status st;
    } rows[] = {
        {"'data': {'normalisation': 'none'}", "/data/normalisation", SV_ERR_INVALID_FIELD},
        {"'data': {'rul_threshold': 0}", "/data/rul_threshold", SV_ERR_INVALID_FIELD},
        {"'data': {'threshold': 1}", "/data/threshold", SV_ERR_UNKNOWN_FIELD},
        {"'data': {'sort': 'length_descending'}, 'training': {'shuffle': 'once'}", "/data/sort",
         SV_ERR_INVALID_FIELD},
        {"'search': {'parameters': {'data.normalisation': ['none']}}",
         "/search/parameters/data.normalisation/0", SV_ERR_INVALID_FIELD},
        {"'search': {'parameters': {'data.rul_threshold': [150, -1]}}",
         "/search/parameters/data.rul_threshold/1", SV_ERR_INVALID_FIELD},
        {"'evaluation': {'metrics': ['accuracy']}", "/evaluation/metrics/0", SV_ERR_INVALID_FIELD},
        {"'network': {'name': 'simple_cnn'}", NULL, SV_ERR_INVALID_NETWORK},
        {"'network': {'name': 'lstm_classification'}", NULL, SV_ERR_INVALID_NETWORK},
        {"'training': {'output_network': 'best_validation_loss'}", "/training/output_network",
         SV_ERR_INVALID_FIELD},
        {"'training': {'batch_size': 100}, 'network': {'name': 'lstm_regression', 'units': 2048,"
         " 'depth': 16}",
         "/limits/memory_bytes", SV_ERR_INVALID_FIELD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        struct jobs_plan *plan = NULL;
        struct sv_error err = {0};
        (void)snprintf(text, sizeof text, "{" SEQUENCES ", %s}", rows[i].fields);
        enum sv_status st = test_try(&context, text, &plan, &err);
        if (st != rows[i].st || (rows[i].pointer && strcmp(err.pointer, rows[i].pointer) != 0)) {
            fail_msg("%s: %s at \"%s\" (%s)", text, sv_status_slug(st), err.pointer, err.text);
        }
    }
    struct jobs_dataset whole = engines;
    struct sv_error err = {0};
    struct jobs_plan *plan = NULL;
    engines.test = 0;
    assert_int_equal(test_try(&context, "{" SEQUENCES ", 'split': {'train': 1}}", &plan, &err),
                     SV_ERR_INVALID_FIELD);
    assert_string_equal(err.pointer, "/split/train");
    engines = whole;
    engines.targets = 2;
    assert_int_equal(test_try(&context, "{" SEQUENCES "}", &plan, &err), SV_ERR_NOT_SUPPORTED);
    assert_string_equal(err.pointer, "/dataset");
    engines = whole;
}

/* Trials of one threshold are asked the same; those of several are not, however that is written. */
static void parameters_that_change_the_target_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *parameters, *found;
    } rows[] = {
        {"sequence_regression", "{\"data.rul_threshold\": [150, 200], \"network.depth\": [1, 2]}",
         "[\"data.rul_threshold\"]"},
        {"sequence_regression", "{\"data.rul_threshold\": [null, 200]}",
         "[\"data.rul_threshold\"]"},
        {"sequence_regression", "{\"data\": [{\"rul_threshold\": 150}, {\"window\": 30}]}",
         "[\"data\"]"},
        {"sequence_regression", "{\"data.rul_threshold\": [150], \"data.window\": [30, 40]}", "[]"},
        {"sequence_regression",
         "{\"data\": [{\"rul_threshold\": 5, \"window\": 30}, {\"rul_threshold\": 5}]}", "[]"},
        {"solver_comparison", "{\"training.solver\": [\"adam\", \"sgdm\"]}", "[]"},
        {"of tomorrow", "{\"data.rul_threshold\": [150, 200]}", "[]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *parameters = json_loads(rows[i].parameters, 0, NULL);
        json_t *found = jobs_target_parameters(rows[i].kind, parameters);
        json_t *wanted = json_loads(rows[i].found, 0, NULL);
        if (!json_equal(found, wanted)) {
            fail_msg("%s, %s", rows[i].kind, rows[i].parameters);
        }
        json_decref(parameters);
        json_decref(found);
        json_decref(wanted);
    }
    json_t *none = jobs_target_parameters("sequence_regression", NULL);
    assert_int_equal(json_array_size(none), 0);
    json_decref(none);
}

static void a_trial_says_its_target(void **state)
{
    (void)state;
    struct jobs_plan *plan = test_resolve(&context, "{" SEQUENCES "}");
    for (size_t i = 0; i < plan->trial_count; i++) {
        json_t *target = jobs_target_of("sequence_regression", plan->trials[i].resolved);
        assert_int_equal(json_object_size(target), 1);
        assert_int_equal(json_number_value(json_object_get(target, "data.rul_threshold")),
                         150 + i / 3 * 50);
        json_decref(target);
    }
    json_t *none = jobs_target_of("solver_comparison", plan->trials[0].resolved);
    assert_int_equal(json_object_size(none), 0);
    json_decref(none);
    jobs_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_of_one_value_are_warned_of),
        cmocka_unit_test(the_shortest_regression_is_the_published_one),
        cmocka_unit_test(a_regression_of_no_life_has_no_thresholds),
        cmocka_unit_test(a_regression_keeps_what_the_job_says),
        cmocka_unit_test(sequences_without_a_test_part_are_kept_back),
        cmocka_unit_test(refusals_of_regressions_name_their_field),
        cmocka_unit_test(parameters_that_change_the_target_are_known),
        cmocka_unit_test(a_trial_says_its_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
