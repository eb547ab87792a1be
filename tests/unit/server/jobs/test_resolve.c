/* SPDX-License-Identifier: MIT
 *
 * From submitted jobs to plans: defaults, sweeps, hashes, and every refusal with its code and
 * pointer.
 */
#include "server/jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "tests/support/cmocka_all.h"

#define ID "0192a1b2c3d47e5f8a9b0c1d2e3f4a5b"

static enum sv_status find_dataset(void *ctx, const char *id, struct jobs_dataset *out_dataset,
                                   struct sv_error *err)
{
    (void)err;
    if (strcmp(id, ID) != 0) {
        return SV_ERR_NOT_FOUND;
    }
    *out_dataset = *(const struct jobs_dataset *)ctx;
    return SV_OK;
}

static struct jobs_dataset fashion = {.id = ID,
                                      .height = 28,
                                      .width = 28,
                                      .channels = 1,
                                      .classes = 10,
                                      .train = 60000,
                                      .test = 10000};

static const struct jobs_context context = {.find_dataset = find_dataset,
                                            .ctx = &fashion,
                                            .max_trials = 100,
                                            .trial_memory_bytes = (uint64_t)2 << 30};

/* Single quotes stand for double ones, so that jobs read well here. */
static json_t *job(const char *text)
{
    char *copy = strdup(text);
    for (char *c = copy; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *json = NULL;
    struct nn_error err = {0};
    if (jx_parse(copy, strlen(copy), NULL, &json, &err) != NN_OK) {
        fail_msg("%s: %s", text, err.text);
    }
    free(copy);
    return json;
}

#define MINIMAL "'kind': 'solver_comparison', 'dataset': '" ID "'"

static struct jobs_plan *resolve(const char *text)
{
    struct jobs_plan *plan = NULL;
    json_t *issues = NULL, *submitted = job(text);
    struct sv_error err = {0};
    enum sv_status st = jobs_resolve(submitted, &context, &plan, &issues, &err);
    if (st != SV_OK) {
        fail_msg("%s: %s at %s: %s", text, sv_status_slug(st), err.pointer, err.text);
    }
    json_decref(submitted);
    return plan;
}

static const char *text_at(const json_t *json, const char *path)
{
    const char *text = json_string_value(jx_path_get(json, path));
    return text ? text : "";
}

static double number_at(const json_t *json, const char *path)
{
    return json_number_value(jx_path_get(json, path));
}

/* ------------------------------------------------------------------------------------ defaults */

static void the_shortest_job_compares_three_solvers(void **state)
{
    (void)state;
    static const struct {
        const char *solver;
        double rate;
    } rows[] = {{"sgdm", 0.01}, {"rmsprop", 0.001}, {"adam", 0.001}};
    struct jobs_plan *plan = resolve("{" MINIMAL "}");
    assert_int_equal(plan->trial_count, 3);
    assert_string_equal(plan->headline_metric, "validation_accuracy");
    assert_string_equal(plan->experiment, "default");
    for (size_t i = 0; i < 3; i++) {
        const json_t *trial = plan->trials[i].resolved;
        assert_int_equal(plan->trials[i].index, i + 1);
        assert_string_equal(text_at(trial, "training.solver"), rows[i].solver);
        assert_true(number_at(trial, "training.learning_rate") == rows[i].rate);
        assert_string_equal(text_at(trial, "network.name"), "simple_cnn");
        assert_true(json_array_size(jx_path_get(trial, "network.layers")) > 0);
        assert_true(number_at(trial, "split.train") == 0.7);
        assert_true(number_at(trial, "split.validation") == 0.3);
        assert_true(number_at(trial, "seed") == 1);
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
    struct jobs_plan *plan = resolve("{" MINIMAL ", 'training': {'solver': 'adam'}}");
    json_t *submitted = job("{" MINIMAL ", 'training': {'solver': 'adam'}}");
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
        (void)snprintf(text, sizeof text, "{" MINIMAL ", %s}", rows[i].fields);
        struct jobs_plan *plan = resolve(text);
        for (size_t k = 0; k < plan->trial_count; k++) {
            assert_int_equal(plan->trials[k].total_steps, rows[i].steps);
        }
        jobs_plan_destroy(plan);
    }
}

static void a_fixed_solver_makes_one_trial(void **state)
{
    (void)state;
    struct jobs_plan *plan = resolve("{" MINIMAL ", 'training': {'solver': 'adam'}}");
    assert_int_equal(plan->trial_count, 1);
    assert_true(number_at(plan->resolved, "training.learning_rate") == 0.001);
    assert_int_equal(json_object_size(plan->trials[0].parameters), 0);
    jobs_plan_destroy(plan);
}

static void an_own_validation_part_is_not_cut(void **state)
{
    (void)state;
    fashion.validation = 5000;
    struct jobs_plan *plan = resolve("{" MINIMAL "}");
    assert_true(number_at(plan->trials[0].resolved, "split.train") == 1.0);
    assert_true(number_at(plan->trials[0].resolved, "split.validation") == 0.0);
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
        (void)snprintf(text, sizeof text, "{" MINIMAL ", 'split': %s}", rows[i].split);
        struct jobs_plan *plan = resolve(text);
        assert_true(number_at(plan->resolved, "split.train") == rows[i].train);
        assert_true(number_at(plan->resolved, "split.validation") == rows[i].validation);
        jobs_plan_destroy(plan);
    }
}

/* Trials on plain operators, from batches of 32, were three times as fast. */
static double history(void *ctx, const struct jobs_pace *pace, const struct jobs_dataset *dataset)
{
    (void)ctx;
    json_t *network = json_loads(pace->network, 0, NULL);
    json_t *rest = json_loads(pace->rest, 0, NULL);
    assert_string_equal(text_at(network, "name"), "simple_cnn");
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
    struct jobs_plan *plan = NULL;
    json_t *issues = NULL, *submitted = job(text);
    with.history = history;
    assert_int_equal(jobs_resolve(submitted, &with, &plan, &issues, NULL), SV_OK);
    assert_string_equal(plan->estimate.basis, "history");
    double seconds = plan->estimate.seconds;
    jobs_plan_destroy(plan);
    json_decref(submitted);
    return seconds;
}

static void history_is_of_trials_that_cost_the_same(void **state)
{
    (void)state;
#define TRAINING "'training': {'solver': 'sgdm', 'validation_frequency': 0"
    double usual = seconds_with_history("{" MINIMAL ", " TRAINING "}}");
    double plain = seconds_with_history("{" MINIMAL ", 'operators': 'plain', " TRAINING
                                        ", 'batch_size': 32}}");
    assert_true(plain < usual / 2.5);
}

static void history_is_better_than_counting(void **state)
{
    (void)state;
    struct jobs_context with = context;
    struct jobs_plan *plan = NULL;
    json_t *issues = NULL, *submitted = job("{" MINIMAL ", 'training': {'epochs': 10}}");
    with.history = history;
    assert_int_equal(jobs_resolve(submitted, &with, &plan, &issues, NULL), SV_OK);
    assert_string_equal(plan->estimate.basis, "history");
    /* 3 trials of 10 x 42,000 samples at 10,000 a second, and their evaluations */
    assert_true(plan->estimate.seconds > 126 && plan->estimate.seconds < 1000);
    jobs_plan_destroy(plan);
    json_decref(submitted);
}

/* --------------------------------------------------------------------------------------- sweep */

static void a_grid_runs_its_last_path_fastest_and_seeds_faster(void **state)
{
    (void)state;
    struct jobs_plan *plan =
        resolve("{" MINIMAL ", 'seeds': [7, 8], 'search': {'parameters': {'training.solver': "
                "['sgdm', 'adam'], 'training.learning_rate': [0.1, 0.2, 0.3]}}}");
    assert_int_equal(plan->trial_count, 12);
    for (size_t i = 0; i < 12; i++) {
        const struct jobs_trial *trial = &plan->trials[i];
        assert_int_equal(trial->seed, 7 + i % 2);
        assert_string_equal(text_at(trial->resolved, "training.solver"), i < 6 ? "sgdm" : "adam");
        double rate = (double)(i / 2 % 3 + 1) / 10;
        assert_true(number_at(trial->resolved, "training.learning_rate") - rate < 1e-12);
        assert_true(rate - number_at(trial->resolved, "training.learning_rate") < 1e-12);
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
    struct jobs_plan *plan =
        resolve("{" MINIMAL ", 'training': {'solver': 'sgdm', 'batch_size': 8, 'epochs': 7,"
                " 'gradient_clipping': {'method': 'l2norm', 'threshold': 3}}, 'search':"
                " {'parameters': {'training': [{'momentum': 0.5}, {'epochs': 9}],"
                " 'training.gradient_clipping': [{'method': 'absolute_value'}]}}}");
    assert_int_equal(plan->trial_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *trial = plan->trials[i].resolved;
        assert_true(number_at(trial, "training.batch_size") == 8);
        assert_true(number_at(trial, "training.epochs") == (i == 0 ? 7 : 9));
        assert_true(number_at(trial, "training.momentum") == (i == 0 ? 0.5 : 0.9));
        assert_true(number_at(trial, "training.gradient_clipping.threshold") == 3);
        assert_string_equal(text_at(trial, "training.gradient_clipping.method"), "absolute_value");
    }
    assert_true(number_at(plan->resolved, "training.batch_size") == 8);
    assert_null(jx_path_get(plan->resolved, "training.epochs"));
    assert_null(jx_path_get(plan->resolved, "training.momentum"));
    assert_null(jx_path_get(plan->resolved, "training.gradient_clipping.method"));
    jobs_plan_destroy(plan);
}

static void network_parameters_are_swept_like_others(void **state)
{
    (void)state;
    struct jobs_plan *plan =
        resolve("{" MINIMAL ", 'training': {'solver': 'sgdm'}, 'search': {'parameters': "
                "{'network.filters': [4, 8]}}}");
    assert_int_equal(plan->trial_count, 2);
    assert_string_not_equal(plan->trials[0].hash, plan->trials[1].hash);
    jobs_plan_destroy(plan);
}

static void equal_jobs_have_equal_hashes(void **state)
{
    (void)state;
    struct jobs_plan *a = resolve("{" MINIMAL ", 'training': {'epochs': 5, 'batch_size': 32}}");
    struct jobs_plan *b = resolve("{'training': {'batch_size': 32.0, 'epochs': 5}, " MINIMAL
                                  ", 'search': {'strategy': 'grid'}}");
    struct jobs_plan *c = resolve("{" MINIMAL ", 'training': {'epochs': 6, 'batch_size': 32}}");
    assert_string_equal(a->hash, b->hash);
    assert_string_equal(a->trials[2].hash, b->trials[2].hash);
    assert_string_not_equal(a->hash, c->hash);
    assert_string_not_equal(a->trials[2].hash, c->trials[2].hash);
    jobs_plan_destroy(a);
    jobs_plan_destroy(b);
    jobs_plan_destroy(c);
}

/* ------------------------------------------------------------------------------------ refusals */

struct refusal {
    const char *job, *pointer;
    enum sv_status status;
};

static const struct refusal REFUSALS[] = {
    {"[]", "", SV_ERR_INVALID_FIELD},
    {"{}", "/kind", SV_ERR_INVALID_FIELD},
    {"{'kind': 3}", "/kind", SV_ERR_INVALID_FIELD},
    {"{'kind': 'solver_comparisons'}", "/kind", SV_ERR_INVALID_FIELD},
    {"{'kind': 'transfer_learning'}", "/dataset", SV_ERR_INVALID_FIELD},
    {"{'kind': 'solver_comparison'}", "/dataset", SV_ERR_INVALID_FIELD},
    {"{'kind': 'solver_comparison', 'dataset': 7}", "/dataset", SV_ERR_INVALID_FIELD},
    {"{'kind': 'solver_comparison', 'dataset': 'x'}", "/dataset", SV_ERR_INVALID_FIELD},
    {"{'kind': 'solver_comparison', 'dataset': '0192a1b2c3d47e5f8a9b0c1d2e3f4a5c'}", "/dataset",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'sead': 1}", "/sead", SV_ERR_UNKNOWN_FIELD},
    {"{" MINIMAL ", 'explain': {'samples': 0}}", "/explain/samples", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'explain': {'samples': [3, 5, 3]}}", "/explain/samples/2",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'explain': {'samples': [3, 99999999]}}", "/explain/samples/1",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'explain': {'part': 'train'}}", "/explain/part", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'explain': {'methods': ['grad']}}", "/explain/methods/0", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'explain': {'methods': ['activations']}}", "/explain/layers",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'explain': {'methods': ['grad_cam'], 'layers': ['relu1']}}", "/explain/layers",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'explain': {'layers': ['nowhere']}}", "/explain/layers/0",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'explain': {'feature_layer': 'fc'}}", "/explain/feature_layer",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'explain': {}, 'network': {'name': 'mlp'}}", "/explain/methods",
     SV_ERR_NOT_SUPPORTED},
    {"{" MINIMAL ", 'explain': {'heat': 1}}", "/explain/heat", SV_ERR_UNKNOWN_FIELD},
    {"{" MINIMAL ", 'reuse': true}", "/reuse", SV_ERR_NOT_SUPPORTED},
    {"{" MINIMAL ", 'precision': 'bf16'}", "/precision", SV_ERR_NOT_SUPPORTED},
    {"{" MINIMAL ", 'precision': 'f16'}", "/precision", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'strategy': 'random'}}", "/search/strategy", SV_ERR_NOT_SUPPORTED},
    {"{" MINIMAL ", 'search': {'strategy': 'bayesian'}}", "/search/strategy", SV_ERR_NOT_SUPPORTED},
    {"{" MINIMAL ", 'search': {'strategy': 'guess'}}", "/search/strategy", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': []}", "/search", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'evaluation': {'phm08': {}}}", "/evaluation/phm08", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'evaluation.phm08.a_late': [1, 2]}}}",
     "/evaluation/phm08", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': {'learning_rate': 1e-310}}", "/training/learning_rate",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'training.learning_rate': [1, 1e-310]}}}",
     "/search/parameters/training.learning_rate/1", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'evaluation': {'custom_metrics': {}}}", "/evaluation/custom_metrics",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'evaluation': {'custom_metrics': [{'name': 'm', 'lua': 'return ('}]}}",
     "/evaluation/custom_metrics/0/lua", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'evaluation': {'custom_metrics': [{'name': 'loss', 'lua': 'return 1'}]}}",
     "/evaluation/custom_metrics/0/name", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'evaluation.custom_metrics': [[]]}}}",
     "/search/parameters/evaluation.custom_metrics", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'evaluation': [{}]}}}",
     "/search/parameters/evaluation", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'evaluation': {'metrics': ['speed']}}", "/evaluation/metrics/0",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'operators': 'fast'}", "/operators", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'name': 'a\\nb'}", "/name", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'labels': ['a', 'a']}", "/labels/1", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'labels': ['']}", "/labels/0", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'labels': 'a'}", "/labels", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'seeds': []}", "/seeds", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'seeds': [1, 1]}", "/seeds/1", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'seeds': [-1]}", "/seeds/0", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'seeds': [9007199254740992]}", "/seeds/0", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': {'epochs': 0}}", "/training/epochs", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': {'epochs': 2.5}}", "/training/epochs", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': {'epochs': 'NaN'}}", "/training/epochs", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': {'batch_size': 0}}", "/training/batch_size", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': {'batchsize': 8}}", "/training/batchsize", SV_ERR_UNKNOWN_FIELD},
    {"{" MINIMAL ", 'training': {'learning_rate': 0}}", "/training/learning_rate",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': {'solver': 'adamx'}}", "/training/solver", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'training': null}", "/training", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'split': {'train': 0}}", "/split/train", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'split': {'train': 0.8, 'validation': 0.3}}", "/split/validation",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'split': {'train': 1}, 'training': {'patience': 3}}", "/training/patience",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'split': {'train': 1}, 'training': {'output_network': "
     "'best_validation_loss'}}",
     "/training/output_network", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'limits': {'memory_bytes': 1}}", "/limits/memory_bytes", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'limits': {'memory_bytes': 16777216}}", "/training/batch_size",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'max_attempts': 0}", "/max_attempts", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'threads': -1}", "/threads", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'network': 'simple_cnn'}", "/network", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'network': {'name': 'googlenet'}}", "/network/name", SV_ERR_NOT_SUPPORTED},
    {"{" MINIMAL ", 'network': {'name': 'simple_cnn', 'filters': 0}}", "/network/filters",
     SV_ERR_INVALID_NETWORK},
    {"{" MINIMAL ", 'network': {'name': 'simple_cnn', 'kernel': 64}}", NULL,
     SV_ERR_INVALID_NETWORK},
    {"{" MINIMAL ", 'network': {'layers': []}}", NULL, SV_ERR_INVALID_NETWORK},
    {"{" MINIMAL ", 'explain': {}, 'network': {'name': 'resnet18', 'size': 64}}", NULL,
     SV_ERR_INVALID_NETWORK},
    /* Sweeps: the pointer names the value at fault. */
    {"{" MINIMAL ", 'search': {'parameters': {'training.solver': ['sgdm', 'adamx']}}}",
     "/search/parameters/training.solver/1", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'training.epochs': [1, 0]}}}",
     "/search/parameters/training.epochs/1", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'training.speed': [1]}}}",
     "/search/parameters/training.speed", SV_ERR_UNKNOWN_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'training.solver': []}}}",
     "/search/parameters/training.solver", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'training.solver': 'sgdm'}}}",
     "/search/parameters/training.solver", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'training.solver': ['sgdm', 'sgdm']}}}",
     "/search/parameters/training.solver/1", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'dataset': ['a']}}}", "/search/parameters/dataset",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'trainings.solver': ['sgdm']}}}",
     "/search/parameters/trainings.solver", SV_ERR_UNKNOWN_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'': [1]}}}", "/search/parameters/",
     SV_ERR_UNKNOWN_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'training..solver': [1]}}}", NULL,
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'data.rul_threshold': [150]}}}",
     "/search/parameters/data.rul_threshold/0", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'data': {'sort': 'none'}}", "/data/sort", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'augmentation': {'rotation_degrees': [10, -10]}}",
     "/augmentation/rotation_degrees", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'augmentation': {'scale': [0, 2]}}", "/augmentation/scale/0",
     SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'explain': {'methods': ['grad_cam', 'lime']}}", "/explain/methods/1",
     SV_ERR_NOT_SUPPORTED},
    {"{" MINIMAL ", 'explain': {'methods': ['occlusion']}}", "/explain/methods/0",
     SV_ERR_NOT_SUPPORTED},
    {"{" MINIMAL ", 'parallel': {'workers': 2}}", "/parallel", SV_ERR_NOT_SUPPORTED},
    {"{" MINIMAL ", 'search': {'strategy': 'bayesian'}}", "/search/strategy", SV_ERR_NOT_SUPPORTED},
    {"{" MINIMAL ", 'evaluation': {'metrics': ['accuracy', 'rmse']}}", "/evaluation/metrics/1",
     SV_ERR_INVALID_FIELD},
    {"{'kind': 'sequence_regression', 'dataset': '" ID "'}", "/dataset", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'network.name': ['simple_cnn', 'googlenet']}}}",
     "/search/parameters/network.name/1", SV_ERR_NOT_SUPPORTED},
    {"{" MINIMAL ", 'training': {'epochs': 3}, 'search': {'parameters': {'training.epochs': [1, "
     "2]}}}",
     "/search/parameters/training.epochs", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'network': {'name': 'simple_cnn', 'filters': 7}, 'search': {'parameters': "
     "{'network': [{'name': 'simple_cnn'}]}}}",
     "/search/parameters/network", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'training.epochs': [1], 'training': [{'l2': 0}]}}}",
     "/search/parameters/training", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'training': [{'l2': 0}, {'epochs': 2}], "
     "'training.epochs': [1]}}}",
     "/search/parameters/training.epochs", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'training': [{'epochs': 0}]}}}",
     "/search/parameters/training/0", SV_ERR_INVALID_FIELD},
    {"{" MINIMAL ", 'search': {'parameters': {'network.filters': [4, 0]}}}",
     "/search/parameters/network.filters/1", SV_ERR_INVALID_NETWORK},
    {"{" MINIMAL ", 'seeds': [1,2,3,4,5,6,7,8,9,10], 'search': {'parameters': "
     "{'training.epochs': [1,2,3,4,5,6,7,8,9,10,11]}}}",
     "/search/parameters", SV_ERR_INVALID_FIELD},
};

/* Pictures of the validation part are explained where nothing is tested. */
static void the_part_that_is_explained_is_one_that_there_is(void **state)
{
    (void)state;
    struct jobs_plan *plan = resolve("{" MINIMAL ", 'split': {'train': 0.5, 'validation': 0.2}, "
                                     "'explain': {}}");
    assert_string_equal(text_at(plan->trials[0].resolved, "explain.part"), "test");
    jobs_plan_destroy(plan);
    struct jobs_dataset whole = fashion;
    fashion.test = 0;
    plan = resolve("{" MINIMAL ", 'explain': {}}");
    assert_string_equal(text_at(plan->resolved, "explain.part"), "validation");
    assert_string_equal(text_at(plan->trials[0].resolved, "explain.part"), "validation");
    jobs_plan_destroy(plan);
    fashion = whole;
}

static void every_refusal_names_its_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof REFUSALS / sizeof REFUSALS[0]; i++) {
        const struct refusal *row = &REFUSALS[i];
        struct jobs_plan *plan = NULL;
        json_t *issues = NULL, *submitted = job(row->job);
        struct sv_error err = {0};
        enum sv_status st = jobs_resolve(submitted, &context, &plan, &issues, &err);
        bool at = !row->pointer || strcmp(err.pointer, row->pointer) == 0;
        if (st != row->status || !at || !err.text[0]) {
            fail_msg("%s: %s at \"%s\" (%s), not %s at \"%s\"", row->job, sv_status_slug(st),
                     err.pointer, err.text, sv_status_slug(row->status),
                     row->pointer ? row->pointer : "*");
        }
        assert_null(plan);
        assert_int_equal(st == SV_ERR_INVALID_NETWORK, json_array_size(issues) > 0);
        json_decref(issues);
        json_decref(submitted);
    }
}

static void the_nearest_name_is_offered(void **state)
{
    (void)state;
    struct jobs_plan *plan = NULL;
    json_t *issues = NULL, *submitted = job("{" MINIMAL ", 'training': {'batchsize': 8}}");
    struct sv_error err = {0};
    assert_int_equal(jobs_resolve(submitted, &context, &plan, &issues, &err), SV_ERR_UNKNOWN_FIELD);
    assert_non_null(strstr(err.text, "batch_size"));
    json_decref(submitted);
}

/* Sets of which nothing can be kept back, and without a part that trains. */
static void a_set_that_cannot_be_cut_is_said_before(void **state)
{
    (void)state;
    static const struct {
        size_t train, test;
        const char *job, *pointer; /* NULL: it is taken, and all trains */
    } rows[] = {
        {2, 10, "{" MINIMAL "}", NULL},
        {2, 10, "{" MINIMAL ", 'split': {'train': 0.5}}", "/split/train"},
        {2, 10, "{" MINIMAL ", 'split': {'validation': 0.5}}", "/split/train"},
        {2, 0, "{" MINIMAL "}", "/dataset"},
        {2, 0, "{" MINIMAL ", 'split': {'train': 1}}", NULL},
        {0, 10, "{" MINIMAL "}", "/dataset"},
    };
    const struct jobs_dataset before = fashion;
    fashion.indivisible = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct jobs_plan *plan = NULL;
        json_t *issues = NULL, *submitted = job(rows[i].job);
        struct sv_error err = {0};
        fashion.train = rows[i].train;
        fashion.test = rows[i].test;
        enum sv_status st = jobs_resolve(submitted, &context, &plan, &issues, &err);
        assert_int_equal(st, rows[i].pointer ? SV_ERR_INVALID_FIELD : SV_OK);
        assert_string_equal(err.pointer, rows[i].pointer ? rows[i].pointer : "");
        if (plan) {
            assert_true(number_at(plan->trials[0].resolved, "split.train") == 1);
            assert_true(number_at(plan->trials[0].resolved, "split.validation") == 0);
            assert_string_equal(plan->headline_metric,
                                rows[i].test ? "test_accuracy" : "validation_accuracy");
        }
        jobs_plan_destroy(plan);
        json_decref(submitted);
    }
    fashion = before;
}

static void a_set_of_one_class_is_no_comparison(void **state)
{
    (void)state;
    struct jobs_plan *plan = NULL;
    json_t *issues = NULL, *submitted = job("{" MINIMAL "}");
    struct sv_error err = {0};
    fashion.classes = 1;
    assert_int_equal(jobs_resolve(submitted, &context, &plan, &issues, &err), SV_ERR_INVALID_FIELD);
    assert_string_equal(err.pointer, "/dataset");
    fashion.classes = 10;
    json_decref(submitted);
}

/* --------------------------------------------------------------------------------------- edits */

static void edits_follow_the_rules_of_submission(void **state)
{
    (void)state;
    static const struct refusal rows[] = {
        {"{'name': 'x', 'notes': '', 'labels': ['a', 'b']}", NULL, SV_OK},
        {"{}", "", SV_ERR_INVALID_FIELD},
        {"{'state': 'completed'}", "/state", SV_ERR_UNKNOWN_FIELD},
        {"{'name': 3}", "/name", SV_ERR_INVALID_FIELD},
        {"{'name': 'a\\tb'}", "/name", SV_ERR_INVALID_FIELD},
        {"{'labels': ['a', 'a']}", "/labels/1", SV_ERR_INVALID_FIELD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *body = job(rows[i].job);
        struct jobs_edit edit = {0};
        struct sv_error err = {0};
        assert_int_equal(jobs_edit_decode(body, &edit, &err), rows[i].status);
        assert_true(!rows[i].pointer || strcmp(err.pointer, rows[i].pointer) == 0);
        json_decref(body);
    }
}

/* ----------------------------------------------------------------------------------- sequences */

static struct jobs_dataset engines = {.id = ID,
                                      .sequences = true,
                                      .inputs = 24,
                                      .constant_inputs = 7,
                                      .targets = 1,
                                      .remaining_life = true,
                                      .longest = 362,
                                      .mean_steps = 200,
                                      .train = 100,
                                      .test = 100};

static const struct jobs_context engines_context = {.find_dataset = find_dataset,
                                                    .ctx = &engines,
                                                    .max_trials = 100,
                                                    .trial_memory_bytes = (uint64_t)2 << 30};

#define SEQUENCES "'kind': 'sequence_regression', 'dataset': '" ID "'"

static enum sv_status resolve_sequences(const char *text, struct jobs_plan **out_plan,
                                        struct sv_error *err)
{
    json_t *issues = NULL, *submitted = job(text);
    enum sv_status st = jobs_resolve(submitted, &engines_context, out_plan, &issues, err);
    json_decref(submitted);
    json_decref(issues);
    return st;
}

/* Values of another kind, a voltage or a price, are not cut off. */
static void a_regression_of_no_life_has_no_thresholds(void **state)
{
    (void)state;
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    engines.remaining_life = false;
    assert_int_equal(resolve_sequences("{" SEQUENCES "}", &plan, &err), SV_OK);
    assert_int_equal(plan->trial_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(json_object_size(plan->trials[i].parameters), 1);
        assert_true(json_is_null(jx_path_get(plan->trials[i].resolved, "data.rul_threshold")));
    }
    jobs_plan_destroy(plan);
    assert_int_equal(resolve_sequences("{" SEQUENCES ", 'search': {'parameters': "
                                       "{'data.rul_threshold': [150, 200]}}}",
                                       &plan, &err),
                     SV_OK);
    assert_int_equal(plan->trial_count, 2); /* asked for, it is done */
    jobs_plan_destroy(plan);
    engines.remaining_life = true;
}

/* The published experiment: three thresholds by one to three layers. */
static void the_shortest_regression_is_the_published_one(void **state)
{
    (void)state;
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    assert_int_equal(resolve_sequences("{" SEQUENCES "}", &plan, &err), SV_OK);
    assert_int_equal(plan->trial_count, 9);
    assert_string_equal(plan->headline_metric, "test_rmse");
    for (size_t i = 0; i < 9; i++) {
        const json_t *trial = plan->trials[i].resolved;
        assert_true(number_at(trial, "data.rul_threshold") == (double)(150 + i / 3 * 50));
        assert_true(number_at(plan->trials[i].parameters, "data.rul_threshold") == 0); /* dotted */
        assert_int_equal(number_at(trial, "network.parameters.depth"), 1 + i % 3);
        assert_string_equal(text_at(trial, "data.input_scaling"), "z_score");
        assert_string_equal(text_at(trial, "data.target_scaling"), "none");
        assert_string_equal(text_at(trial, "data.sort"), "length_descending");
        assert_null(jx_path_get(trial, "data.normalisation"));
        assert_string_equal(text_at(trial, "training.solver"), "adam");
        assert_true(number_at(trial, "training.learning_rate") == 0.01);
        assert_int_equal(number_at(trial, "training.epochs"), 60);
        assert_int_equal(number_at(trial, "training.batch_size"), 20);
        assert_string_equal(text_at(trial, "training.shuffle"), "never");
        assert_string_equal(text_at(trial, "training.gradient_clipping.method"), "l2norm");
        assert_true(number_at(trial, "training.gradient_clipping.threshold") == 1);
        assert_true(number_at(trial, "split.train") == 1);
        assert_true(number_at(trial, "split.validation") == 0);
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
    assert_int_equal(resolve_sequences("{" SEQUENCES
                                       ", 'network': {'name': 'lstm_regression', 'units': 7},"
                                       " 'evaluation': {'phm08': {'a_early': 7}},"
                                       " 'data': {'rul_threshold': 125}, 'split': {'validation':"
                                       " 0.2}, 'training': {'epochs': 3, 'shuffle': 'once'}}",
                                       &plan, &err),
                     SV_OK);
    assert_int_equal(plan->trial_count, 1);
    const json_t *trial = plan->trials[0].resolved;
    assert_int_equal(number_at(trial, "evaluation.phm08.a_early"), 7);
    assert_int_equal(number_at(trial, "evaluation.phm08.a_late"), 10);
    assert_int_equal(number_at(trial, "training.epochs"), 3);
    assert_int_equal(number_at(trial, "training.batch_size"), 20);
    assert_string_equal(text_at(trial, "data.sort"), "none");
    assert_true(number_at(trial, "data.rul_threshold") == 125);
    assert_true(number_at(trial, "split.train") == 0.8);
    assert_int_equal(number_at(trial, "network.parameters.units"), 7);
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
    assert_int_equal(resolve_sequences("{" SEQUENCES "}", &plan, &err), SV_OK);
    engines = whole;
    assert_string_equal(plan->headline_metric, "validation_rmse");
    assert_true(number_at(plan->trials[0].resolved, "split.train") == 0.7);
    assert_true(number_at(plan->trials[0].resolved, "split.validation") == 0.3);
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
         "/training/batch_size", SV_ERR_INVALID_FIELD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        struct jobs_plan *plan = NULL;
        struct sv_error err = {0};
        (void)snprintf(text, sizeof text, "{" SEQUENCES ", %s}", rows[i].fields);
        enum sv_status st = resolve_sequences(text, &plan, &err);
        if (st != rows[i].st || (rows[i].pointer && strcmp(err.pointer, rows[i].pointer) != 0)) {
            fail_msg("%s: %s at \"%s\" (%s)", text, sv_status_slug(st), err.pointer, err.text);
        }
    }
    struct jobs_dataset whole = engines;
    struct sv_error err = {0};
    struct jobs_plan *plan = NULL;
    engines.test = 0;
    assert_int_equal(resolve_sequences("{" SEQUENCES ", 'split': {'train': 1}}", &plan, &err),
                     SV_ERR_INVALID_FIELD);
    assert_string_equal(err.pointer, "/split/train");
    engines = whole;
    engines.targets = 2;
    assert_int_equal(resolve_sequences("{" SEQUENCES "}", &plan, &err), SV_ERR_NOT_SUPPORTED);
    assert_string_equal(err.pointer, "/dataset");
    engines = whole;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_regression_is_the_published_one),
        cmocka_unit_test(a_regression_of_no_life_has_no_thresholds),
        cmocka_unit_test(a_regression_keeps_what_the_job_says),
        cmocka_unit_test(sequences_without_a_test_part_are_kept_back),
        cmocka_unit_test(refusals_of_regressions_name_their_field),
        cmocka_unit_test(the_shortest_job_compares_three_solvers),
        cmocka_unit_test(a_resolved_network_can_be_sent_back),
        cmocka_unit_test(steps_are_planned_from_the_shares),
        cmocka_unit_test(a_fixed_solver_makes_one_trial),
        cmocka_unit_test(an_own_validation_part_is_not_cut),
        cmocka_unit_test(split_shares_complete_each_other),
        cmocka_unit_test(history_is_better_than_counting),
        cmocka_unit_test(history_is_of_trials_that_cost_the_same),
        cmocka_unit_test(a_grid_runs_its_last_path_fastest_and_seeds_faster),
        cmocka_unit_test(swept_objects_change_what_they_name),
        cmocka_unit_test(network_parameters_are_swept_like_others),
        cmocka_unit_test(equal_jobs_have_equal_hashes),
        cmocka_unit_test(the_part_that_is_explained_is_one_that_there_is),
        cmocka_unit_test(every_refusal_names_its_field),
        cmocka_unit_test(the_nearest_name_is_offered),
        cmocka_unit_test(a_set_that_cannot_be_cut_is_said_before),
        cmocka_unit_test(a_set_of_one_class_is_no_comparison),
        cmocka_unit_test(edits_follow_the_rules_of_submission),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
