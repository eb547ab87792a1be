/* SPDX-License-Identifier: MIT
 *
 * From submitted jobs to plans: defaults, sweeps, hashes; and edits of what was submitted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/jobs.h"
#include "tests/support/network.h"

static struct jobs_dataset fashion = TEST_FASHION;

static const struct jobs_context context = {.find_dataset = test_find_dataset,
                                            .ctx = &fashion,
                                            .max_trials = 100,
                                            .trial_memory_bytes = (uint64_t)2 << 30};

/* ------------------------------------------------------------------------------------ defaults */

static void the_shortest_job_compares_three_solvers(void **state)
{
    (void)state;
    static const struct {
        const char *solver;
        double rate;
    } rows[] = {{"sgdm", 0.01}, {"rmsprop", 0.001}, {"adam", 0.001}};
    struct jobs_plan *plan = test_resolve(&context, "{" TEST_MINIMAL "}");
    assert_int_equal(plan->trial_count, 3);
    assert_string_equal(plan->headline_metric, "validation_accuracy");
    assert_string_equal(plan->experiment, "default");
    for (size_t i = 0; i < 3; i++) {
        const json_t *trial = plan->trials[i].resolved;
        assert_int_equal(plan->trials[i].index, i + 1);
        assert_string_equal(test_text_at(trial, "training.solver"), rows[i].solver);
        assert_true(test_number_at(trial, "training.learning_rate") == rows[i].rate);
        assert_string_equal(test_text_at(trial, "network.name"), "simple_cnn");
        assert_true(json_array_size(jx_path_get(trial, "network.layers")) > 0);
        assert_true(test_number_at(trial, "split.train") == 0.7);
        assert_true(test_number_at(trial, "split.validation") == 0.3);
        assert_true(test_number_at(trial, "seed") == 1);
        const json_t *swept = json_object_get(plan->trials[i].parameters, "training.solver");
        assert_string_equal(json_string_value(swept), rows[i].solver);
    }
    assert_null(jx_path_get(plan->resolved, "training.solver"));
    assert_true(plan->estimate.seconds > 0);
    assert_true(plan->estimate.memory_bytes > 0);
    assert_string_equal(plan->estimate.basis, "multiply_adds");
    jobs_plan_destroy(plan);
}

/* A trial's network as it is shown can be sent: it makes the same trial. */
static void a_resolved_network_can_be_sent_back(void **state)
{
    (void)state;
    struct jobs_plan *plan =
        test_resolve(&context, "{" TEST_MINIMAL ", 'training': {'solver': 'adam'}}");
    json_t *submitted = test_json("{" TEST_MINIMAL ", 'training': {'solver': 'adam'}}");
    json_t *network = json_object_get(plan->trials[0].resolved, "network");
    struct jobs_plan *again = NULL;
    json_t *issues = NULL;
    struct sv_error err = {0};
    assert_int_equal(json_object_set(submitted, "network", network), 0);
    assert_int_equal(jobs_resolve(submitted, &context, &again, &issues, &err), SV_OK);
    assert_string_equal(again->trials[0].hash, plan->trials[0].hash);
    json_decref(submitted);
    jobs_plan_destroy(again);
    jobs_plan_destroy(plan);
}

/* So does a whole job: a search goes on from what was resolved, not from what was submitted. */
static void a_resolved_job_can_be_sent_again(void **state)
{
    (void)state;
    static const char *const jobs[] = {
        "{" TEST_MINIMAL "}",
        "{" TEST_MINIMAL ", 'seeds': [3, 4], 'network': {'name': 'mlp'}, 'split': {'train': 0.5}}",
        "{" TEST_MINIMAL ", 'search': {'parameters': {'network': [{'name': 'mlp'}, {'name':"
        " 'simple_cnn', 'filters': 4}], 'training': [{'epochs': 2}, {'l2': 0}]}}}",
        "{" TEST_MINIMAL ", 'training': {'schedule': {'kind': 'cosine'}, 'class_weights':"
        " 'balanced', 'gradient_clipping': {'method': 'l2norm', 'threshold': 3}}, 'explain': {},"
        " 'augmentation': {'x_reflection': true}, 'limits': {'memory_bytes': 1000000000}}",
    };
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        struct jobs_plan *plan = test_resolve(&context, jobs[i]), *again = NULL;
        json_t *issues = NULL;
        struct sv_error err = {0};
        if (jobs_resolve(plan->resolved, &context, &again, &issues, &err) != SV_OK) {
            fail_msg("%s: %s at %s", jobs[i], err.text, err.pointer);
        }
        assert_int_equal(again->trial_count, plan->trial_count);
        assert_string_equal(again->hash, plan->hash);
        for (size_t k = 0; k < plan->trial_count; k++) {
            assert_string_equal(again->trials[k].hash, plan->trials[k].hash);
        }
        jobs_plan_destroy(again);
        jobs_plan_destroy(plan);
    }
}

/* So that a job's progress has a whole from the start. */
static void steps_are_planned_from_the_shares(void **state)
{
    (void)state;
    static const struct {
        const char *fields;
        uint64_t steps;
    } rows[] = {
        {"'training': {'epochs': 3, 'batch_size': 128}", 3 * 329}, /* of 42,000 */
        {"'training': {'epochs': 3, 'batch_size': 128, 'drop_last': true}", 3 * 328},
        {"'split': {'train': 1}, 'training': {'epochs': 2, 'batch_size': 100}", 2 * 600},
        {"'split': {'train': 0.5, 'validation': 0.2}, 'training': {'epochs': 1, 'batch_size': 100}",
         300},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[400];
        (void)snprintf(text, sizeof text, "{" TEST_MINIMAL ", %s}", rows[i].fields);
        struct jobs_plan *plan = test_resolve(&context, text);
        for (size_t k = 0; k < plan->trial_count; k++) {
            assert_int_equal(plan->trials[k].total_steps, rows[i].steps);
        }
        jobs_plan_destroy(plan);
    }
}

/* Each trial is planned for its own: the first of a sweep does not stand for the others. */
static void memory_is_that_of_the_largest_micro_batch(void **state)
{
    (void)state;
    struct jobs_plan *whole =
        test_resolve(&context, "{" TEST_MINIMAL ", 'training': {'solver': 'sgdm'}}");
    struct jobs_plan *swept =
        test_resolve(&context, "{" TEST_MINIMAL ", 'training': {'solver': 'sgdm'}, 'search':"
                               " {'parameters': {'training.micro_batch_size': [1, 0]}}}");
    assert_int_equal(swept->trial_count, 2);
    assert_int_equal(swept->estimate.memory_bytes, whole->estimate.memory_bytes);
    jobs_plan_destroy(whole);
    jobs_plan_destroy(swept);
}

struct idle {
    const char *job, *pointer; /* NULL: no warning */
    const char *part;          /* of its text */
};

static const struct idle IDLE[] = {
    {"'training': {'solver': 'adam', 'momentum': 0.5}", "/training/momentum", "the solver sgdm"},
    {"'training': {'solver': 'adam', 'momentum': 0.9}", NULL, NULL}, /* the default says nothing */
    {"'training': {'solver': 'sgdm', 'momentum': 0.5}", NULL, NULL},
    {"'training': {'momentum': 0.5}", NULL, NULL}, /* sgdm is among the three solvers */
    {"'training': {'weight_decay': 0.1}", "/training/weight_decay", "the solver adamw"},
    {"'training': {'solver': 'adamw', 'weight_decay': 0.1}", NULL, NULL},
    {"'training': {'solver': 'sgdm', 'epsilon': 0.1}", "/training/epsilon", "rmsprop"},
    {"'training': {'solver': 'sgdm', 'squared_gradient_decay_factor': 0.99}",
     "/training/squared_gradient_decay_factor", "rmsprop"},
    {"'training': {'solver': 'rmsprop', 'gradient_decay_factor': 0.5}",
     "/training/gradient_decay_factor", "adam or adamw"},
    {"'training': {'solver': 'sgdm', 'gradient_clipping': {'threshold': 2}}",
     "/training/gradient_clipping/threshold", "gradient_clipping.method"},
    {"'training': {'solver': 'sgdm', 'schedule': {'drop_factor': 0.5}}",
     "/training/schedule/drop_factor", "the schedule piecewise"},
    {"'training': {'solver': 'sgdm', 'schedule': {'kind': 'cosine', 'drop_period': 3}}",
     "/training/schedule/drop_period", "the schedule piecewise"},
    {"'training': {'solver': 'sgdm', 'schedule': {'kind': 'piecewise', 'period': 3}}",
     "/training/schedule/period", "the schedule cosine"},
    {"'training': {'solver': 'sgdm', 'schedule': {'kind': 'cosine', 'period': 3}}", NULL, NULL},
    {"'training': {'solver': 'sgdm', 'schedule': {'warmup': {'start_factor': 0.5}}}",
     "/training/schedule/warmup/start_factor", "warmup.length"},
    {"'training': {'solver': 'adam'}, 'search': {'parameters': {'training.momentum': [0.5, 0.6]}}",
     "/search/parameters", "training.momentum"},
};

/* An option without effect is a mistake of somebody: it is never passed over in silence. */
static void options_without_effect_are_warned_of(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof IDLE / sizeof IDLE[0]; i++) {
        char text[400];
        (void)snprintf(text, sizeof text, "{" TEST_MINIMAL ", %s}", IDLE[i].job);
        struct jobs_plan *plan = test_resolve(&context, text);
        const char *said = test_text_at(plan->warnings, "0.text");
        if (json_array_size(plan->warnings) != (IDLE[i].pointer ? 1 : 0) ||
            (IDLE[i].pointer &&
             (strcmp(test_text_at(plan->warnings, "0.pointer"), IDLE[i].pointer) != 0 ||
              strcmp(test_text_at(plan->warnings, "0.code"), "no_effect") != 0 ||
              !strstr(said, IDLE[i].part)))) {
            fail_msg("%s: %s at %s", IDLE[i].job, said, test_text_at(plan->warnings, "0.pointer"));
        }
        jobs_plan_destroy(plan);
    }
}

/* What a resolved job says of all options is nobody's wish. */
static void a_resolved_job_sent_back_is_not_warned_of(void **state)
{
    (void)state;
    struct jobs_plan *plan =
        test_resolve(&context, "{" TEST_MINIMAL ", 'training': {'solver': 'adam'}}");
    json_t *training = jx_path_get(plan->resolved, "training");
    json_t *job = json_pack("{s:s, s:s, s:O}", "kind", "solver_comparison", "dataset", TEST_DATASET,
                            "training", training);
    char *again = jx_dump(job, NULL);
    struct jobs_plan *twin = test_resolve(&context, again);
    assert_int_equal(json_array_size(twin->warnings), 0);
    free(again);
    json_decref(job);
    jobs_plan_destroy(twin);
    jobs_plan_destroy(plan);
}

/* A network that is trained although something about it is seldom meant. */
static void warnings_of_the_network_are_those_of_the_job(void **state)
{
    (void)state;
    struct jobs_plan *plan = test_resolve(
        &context, "{" TEST_MINIMAL ", 'network': {'blocks': {'spare': {'layers': []}}, 'layers':"
                  " [{'name': 'in', 'kind': 'image_input'}, {'name': 'fc', 'kind': "
                  "'fully_connected'}, {'name': 'sm', 'kind': 'softmax'}]}}");
    assert_int_equal(json_array_size(plan->warnings), 1);
    assert_string_equal(test_text_at(plan->warnings, "0.code"), "unused_block");
    assert_string_equal(test_text_at(plan->warnings, "0.pointer"), "/network/blocks/spare");
    jobs_plan_destroy(plan);
}

static void a_fixed_solver_makes_one_trial(void **state)
{
    (void)state;
    struct jobs_plan *plan =
        test_resolve(&context, "{" TEST_MINIMAL ", 'training': {'solver': 'adam'}}");
    assert_int_equal(plan->trial_count, 1);
    assert_true(test_number_at(plan->resolved, "training.learning_rate") == 0.001);
    assert_int_equal(json_object_size(plan->trials[0].parameters), 0);
    jobs_plan_destroy(plan);
}

static void an_own_validation_part_is_not_cut(void **state)
{
    (void)state;
    fashion.validation = 5000;
    struct jobs_plan *plan = test_resolve(&context, "{" TEST_MINIMAL "}");
    assert_true(test_number_at(plan->trials[0].resolved, "split.train") == 1.0);
    assert_true(test_number_at(plan->trials[0].resolved, "split.validation") == 0.0);
    jobs_plan_destroy(plan);
    fashion.validation = 0;
}

static void split_shares_complete_each_other(void **state)
{
    (void)state;
    static const struct {
        const char *split;
        double train, validation;
    } rows[] = {
        {"{'train': 0.9}", 0.9, 0.1},
        {"{'validation': 0.2}", 0.8, 0.2},
        {"{'train': 0.6, 'validation': 0.2}", 0.6, 0.2},
        {"{'train': 1}", 1.0, 0.0},
        {"{'train': 0.7, 'validation': 0.3}", 0.7, 0.3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "{" TEST_MINIMAL ", 'split': %s}", rows[i].split);
        struct jobs_plan *plan = test_resolve(&context, text);
        assert_true(test_number_at(plan->resolved, "split.train") == rows[i].train);
        assert_true(test_number_at(plan->resolved, "split.validation") == rows[i].validation);
        jobs_plan_destroy(plan);
    }
}

/* Trials on plain operators, from batches of 32, were three times as fast. */
static double history(void *ctx, const struct jobs_pace *pace, const struct jobs_dataset *dataset)
{
    (void)ctx;
    json_t *network = json_loads(pace->network, 0, NULL);
    json_t *rest = json_loads(pace->rest, 0, NULL);
    assert_string_equal(test_text_at(network, "name"), "simple_cnn");
    assert_int_equal(dataset->classes, 10);
    const char *operators = json_string_value(json_object_get(rest, "operators"));
    bool plain = operators && strcmp(operators, "plain") == 0;
    assert_int_equal(json_integer_value(json_object_get(rest, "training.batch_size")),
                     plain ? 32 : 128);
    assert_string_equal(json_string_value(json_object_get(rest, "freeze")), "none");
    assert_true(json_is_object(json_object_get(rest, "augmentation")));
    json_decref(network);
    json_decref(rest);
    return plain ? 30000.0 : 10000.0;
}

static double seconds_with_history(const char *text)
{
    struct jobs_context with = context;
    with.history = history;
    struct jobs_plan *plan = test_resolve(&with, text);
    assert_string_equal(plan->estimate.basis, "history");
    double seconds = plan->estimate.seconds;
    jobs_plan_destroy(plan);
    return seconds;
}

static void history_is_of_trials_that_cost_the_same(void **state)
{
    (void)state;
#define TRAINING "'training': {'solver': 'sgdm', 'validation_frequency': 0"
    double usual = seconds_with_history("{" TEST_MINIMAL ", " TRAINING "}}");
    double plain = seconds_with_history("{" TEST_MINIMAL ", 'operators': 'plain', " TRAINING
                                        ", 'batch_size': 32}}");
    assert_true(plain < usual / 2.5);
}

static void history_is_better_than_counting(void **state)
{
    (void)state;
    double seconds = seconds_with_history("{" TEST_MINIMAL ", 'training': {'epochs': 10}}");
    /* 3 trials of 10 x 42,000 samples at 10,000 a second, and their evaluations */
    assert_true(seconds > 126 && seconds < 1000);
}

/* --------------------------------------------------------------------------------------- sweep */

static void a_grid_runs_its_last_path_fastest_and_seeds_faster(void **state)
{
    (void)state;
    struct jobs_plan *plan =
        test_resolve(&context, "{" TEST_MINIMAL
                               ", 'seeds': [7, 8], 'search': {'parameters': {'training.solver': "
                               "['sgdm', 'adam'], 'training.learning_rate': [0.1, 0.2, 0.3]}}}");
    assert_int_equal(plan->trial_count, 12);
    for (size_t i = 0; i < 12; i++) {
        const struct jobs_trial *trial = &plan->trials[i];
        assert_int_equal(trial->seed, 7 + i % 2);
        assert_string_equal(test_text_at(trial->resolved, "training.solver"),
                            i < 6 ? "sgdm" : "adam");
        double rate = (double)(i / 2 % 3 + 1) / 10;
        assert_true(test_number_at(trial->resolved, "training.learning_rate") - rate < 1e-12);
        assert_true(rate - test_number_at(trial->resolved, "training.learning_rate") < 1e-12);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(trial->hash, plan->trials[j].hash);
        }
    }
    jobs_plan_destroy(plan);
}

/* What the job, or its kind, gives beside the fields of a swept object stays. */
static void swept_objects_change_what_they_name(void **state)
{
    (void)state;
    struct jobs_plan *plan = test_resolve(
        &context, "{" TEST_MINIMAL ", 'training': {'solver': 'sgdm', 'batch_size': 8, 'epochs': 7,"
                  " 'gradient_clipping': {'method': 'l2norm', 'threshold': 3}}, 'search':"
                  " {'parameters': {'training': [{'momentum': 0.5}, {'epochs': 9}],"
                  " 'training.gradient_clipping': [{'method': 'absolute_value'}]}}}");
    assert_int_equal(plan->trial_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *trial = plan->trials[i].resolved;
        assert_true(test_number_at(trial, "training.batch_size") == 8);
        assert_true(test_number_at(trial, "training.epochs") == (i == 0 ? 7 : 9));
        assert_true(test_number_at(trial, "training.momentum") == (i == 0 ? 0.5 : 0.9));
        assert_true(test_number_at(trial, "training.gradient_clipping.threshold") == 3);
        assert_string_equal(test_text_at(trial, "training.gradient_clipping.method"),
                            "absolute_value");
    }
    assert_true(test_number_at(plan->resolved, "training.batch_size") == 8);
    assert_null(jx_path_get(plan->resolved, "training.epochs"));
    assert_null(jx_path_get(plan->resolved, "training.momentum"));
    assert_null(jx_path_get(plan->resolved, "training.gradient_clipping.method"));
    jobs_plan_destroy(plan);
}

static void network_parameters_are_swept_like_others(void **state)
{
    (void)state;
    struct jobs_plan *plan = test_resolve(
        &context, "{" TEST_MINIMAL ", 'training': {'solver': 'sgdm'}, 'search': {'parameters': "
                  "{'network.filters': [4, 8]}}}");
    assert_int_equal(plan->trial_count, 2);
    assert_string_not_equal(plan->trials[0].hash, plan->trials[1].hash);
    jobs_plan_destroy(plan);
}

static void equal_jobs_have_equal_hashes(void **state)
{
    (void)state;
    struct jobs_plan *a =
        test_resolve(&context, "{" TEST_MINIMAL ", 'training': {'epochs': 5, 'batch_size': 32}}");
    struct jobs_plan *b =
        test_resolve(&context, "{'training': {'batch_size': 32.0, 'epochs': 5}, " TEST_MINIMAL
                               ", 'search': {'strategy': 'grid'}}");
    struct jobs_plan *c =
        test_resolve(&context, "{" TEST_MINIMAL ", 'training': {'epochs': 6, 'batch_size': 32}}");
    assert_string_equal(a->hash, b->hash);
    assert_string_equal(a->trials[2].hash, b->trials[2].hash);
    assert_string_not_equal(a->hash, c->hash);
    assert_string_not_equal(a->trials[2].hash, c->trials[2].hash);
    jobs_plan_destroy(a);
    jobs_plan_destroy(b);
    jobs_plan_destroy(c);
}

/* --------------------------------------------------------------------------------------- edits */

static void edits_follow_the_rules_of_submission(void **state)
{
    (void)state;
    static const struct {
        const char *body, *pointer;
        enum sv_status status;
    } rows[] = {
        {"{'name': 'x', 'notes': '', 'labels': ['a', 'b']}", NULL, SV_OK},
        {"{}", "", SV_ERR_INVALID_FIELD},
        {"{'state': 'completed'}", "/state", SV_ERR_UNKNOWN_FIELD},
        {"{'name': 3}", "/name", SV_ERR_INVALID_FIELD},
        {"{'name': 'a\\tb'}", "/name", SV_ERR_INVALID_FIELD},
        {"{'labels': ['a', 'a']}", "/labels/1", SV_ERR_INVALID_FIELD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *body = test_json(rows[i].body);
        struct jobs_edit edit = {0};
        struct sv_error err = {0};
        assert_int_equal(jobs_edit_decode(body, &edit, &err), rows[i].status);
        assert_true(!rows[i].pointer || strcmp(err.pointer, rows[i].pointer) == 0);
        json_decref(body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_job_compares_three_solvers),
        cmocka_unit_test(a_resolved_network_can_be_sent_back),
        cmocka_unit_test(a_resolved_job_can_be_sent_again),
        cmocka_unit_test(steps_are_planned_from_the_shares),
        cmocka_unit_test(memory_is_that_of_the_largest_micro_batch),
        cmocka_unit_test(options_without_effect_are_warned_of),
        cmocka_unit_test(a_resolved_job_sent_back_is_not_warned_of),
        cmocka_unit_test(warnings_of_the_network_are_those_of_the_job),
        cmocka_unit_test(a_fixed_solver_makes_one_trial),
        cmocka_unit_test(an_own_validation_part_is_not_cut),
        cmocka_unit_test(split_shares_complete_each_other),
        cmocka_unit_test(history_is_better_than_counting),
        cmocka_unit_test(history_is_of_trials_that_cost_the_same),
        cmocka_unit_test(a_grid_runs_its_last_path_fastest_and_seeds_faster),
        cmocka_unit_test(swept_objects_change_what_they_name),
        cmocka_unit_test(network_parameters_are_swept_like_others),
        cmocka_unit_test(equal_jobs_have_equal_hashes),
        cmocka_unit_test(edits_follow_the_rules_of_submission),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
