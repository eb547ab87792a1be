/* SPDX-License-Identifier: MIT
 *
 * Jobs that are refused, each with its code and pointer, and sets that cannot be cut.
 */
#include <stdio.h>
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
    {"{" TEST_MINIMAL ", 'sead': 1}", "/sead", SV_ERR_UNKNOWN_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'samples': 0}}", "/explain/samples", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'samples': [3, 5, 3]}}", "/explain/samples/2",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'samples': [3, 99999999]}}", "/explain/samples/1",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'part': 'train'}}", "/explain/part", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'methods': ['grad']}}", "/explain/methods/0",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'methods': ['activations']}}", "/explain/layers",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'methods': ['grad_cam'], 'layers': ['relu1']}}",
     "/explain/layers", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'layers': ['nowhere']}}", "/explain/layers/0",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'feature_layer': 'fc'}}", "/explain/feature_layer",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {}, 'network': {'name': 'mlp'}}", "/explain/methods",
     SV_ERR_NOT_SUPPORTED},
    {"{" TEST_MINIMAL ", 'explain': {'heat': 1}}", "/explain/heat", SV_ERR_UNKNOWN_FIELD},
    {"{" TEST_MINIMAL ", 'reuse': true}", "/reuse", SV_ERR_NOT_SUPPORTED},
    {"{" TEST_MINIMAL ", 'precision': 'bf16'}", "/precision", SV_ERR_NOT_SUPPORTED},
    {"{" TEST_MINIMAL ", 'precision': 'f16'}", "/precision", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'strategy': 'successive_halving'}}", "/search/strategy",
     SV_ERR_NOT_SUPPORTED},
    {"{" TEST_MINIMAL ", 'search': {'strategy': 'guess'}}", "/search/strategy",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': []}", "/search", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'evaluation': {'phm08': {}}}", "/evaluation/phm08", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'evaluation.phm08.a_late': [1, 2]}}}",
     "/evaluation/phm08", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'training': {'learning_rate': 1e-310}}", "/training/learning_rate",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'training.learning_rate': [1, 1e-310]}}}",
     "/search/parameters/training.learning_rate/1", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'evaluation': {'custom_metrics': {}}}", "/evaluation/custom_metrics",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'evaluation': {'custom_metrics': [{'name': 'm', 'lua': 'return ('}]}}",
     "/evaluation/custom_metrics/0/lua", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'evaluation': {'custom_metrics': [{'name': 'loss', 'lua': 'return 1'}]}}",
     "/evaluation/custom_metrics/0/name", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'evaluation.custom_metrics': [[]]}}}",
     "/search/parameters/evaluation.custom_metrics", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'evaluation': [{}]}}}",
     "/search/parameters/evaluation", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'evaluation': {'metrics': ['speed']}}", "/evaluation/metrics/0",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'operators': 'fast'}", "/operators", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'name': 'a\\nb'}", "/name", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'labels': ['a', 'a']}", "/labels/1", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'labels': ['']}", "/labels/0", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'labels': 'a'}", "/labels", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'seeds': []}", "/seeds", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'seeds': [1, 1]}", "/seeds/1", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'seeds': [-1]}", "/seeds/0", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'seeds': [9007199254740992]}", "/seeds/0", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'training': {'epochs': 0}}", "/training/epochs", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'training': {'epochs': 2.5}}", "/training/epochs", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'training': {'epochs': 'NaN'}}", "/training/epochs", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'training': {'batch_size': 0}}", "/training/batch_size",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'training': {'batchsize': 8}}", "/training/batchsize",
     SV_ERR_UNKNOWN_FIELD},
    {"{" TEST_MINIMAL ", 'training': {'learning_rate': 0}}", "/training/learning_rate",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'training': {'solver': 'adamx'}}", "/training/solver",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'training': null}", "/training", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'split': {'train': 0}}", "/split/train", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'split': {'train': 0.8, 'validation': 0.3}}", "/split/validation",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'split': {'train': 1}, 'training': {'patience': 3}}", "/training/patience",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'split': {'train': 1}, 'training': {'output_network': "
     "'best_validation_loss'}}",
     "/training/output_network", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'limits': {'memory_bytes': 1}}", "/limits/memory_bytes",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'limits': {'memory_bytes': 16777216}}", "/training/batch_size",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'max_attempts': 0}", "/max_attempts", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'threads': -1}", "/threads", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'network': 'simple_cnn'}", "/network", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'network': {'name': 'simple_cnn', 'filters': 0}}", "/network/filters",
     SV_ERR_INVALID_NETWORK},
    {"{" TEST_MINIMAL ", 'network': {'name': 'simple_cnn', 'kernel': 64}}", NULL,
     SV_ERR_INVALID_NETWORK},
    {"{" TEST_MINIMAL ", 'network': {'layers': []}}", NULL, SV_ERR_INVALID_NETWORK},
    {"{" TEST_MINIMAL ", 'explain': {}, 'network': {'name': 'resnet18', 'size': 64}}", NULL,
     SV_ERR_INVALID_NETWORK},
    /* Sweeps: the pointer names the value at fault. */
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'training.solver': ['sgdm', 'adamx']}}}",
     "/search/parameters/training.solver/1", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'training.epochs': [1, 0]}}}",
     "/search/parameters/training.epochs/1", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'training.speed': [1]}}}",
     "/search/parameters/training.speed", SV_ERR_UNKNOWN_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'training.solver': []}}}",
     "/search/parameters/training.solver", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'training.solver': 'sgdm'}}}",
     "/search/parameters/training.solver", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'training.solver': ['sgdm', 'sgdm']}}}",
     "/search/parameters/training.solver/1", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'dataset': ['a']}}}",
     "/search/parameters/dataset", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'trainings.solver': ['sgdm']}}}",
     "/search/parameters/trainings.solver", SV_ERR_UNKNOWN_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'': [1]}}}", "/search/parameters/",
     SV_ERR_UNKNOWN_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'training..solver': [1]}}}", NULL,
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'data.rul_threshold': [150]}}}",
     "/search/parameters/data.rul_threshold/0", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'data': {'sort': 'none'}}", "/data/sort", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'augmentation': {'rotation_degrees': [10, -10]}}",
     "/augmentation/rotation_degrees", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'augmentation': {'scale': [0, 2]}}", "/augmentation/scale/0",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'occlusion': {'mask_size': 5000}}}",
     "/explain/occlusion/mask_size", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'methods': ['grad_cam'], 'lime': {}}}", "/explain/lime",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'explain': {'lime': {'copies': 5}}}", "/explain/lime/copies",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'parallel': {'workers': 2}}", "/parallel", SV_ERR_NOT_SUPPORTED},
    {"{" TEST_MINIMAL ", 'evaluation': {'metrics': ['accuracy', 'rmse']}}", "/evaluation/metrics/1",
     SV_ERR_INVALID_FIELD},
    {"{'kind': 'sequence_regression', 'dataset': '" TEST_DATASET "'}", "/dataset",
     SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL
     ", 'training': {'epochs': 3}, 'search': {'parameters': {'training.epochs': [1, "
     "2]}}}",
     "/search/parameters/training.epochs", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'network': {'name': 'simple_cnn', 'filters': 7}, 'search': {'parameters': "
     "{'network': [{'name': 'simple_cnn'}]}}}",
     "/search/parameters/network", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL
     ", 'search': {'parameters': {'training.epochs': [1], 'training': [{'l2': 0}]}}}",
     "/search/parameters/training", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'training': [{'l2': 0}, {'epochs': 2}], "
     "'training.epochs': [1]}}}",
     "/search/parameters/training.epochs", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'training': [{'epochs': 0}]}}}",
     "/search/parameters/training/0", SV_ERR_INVALID_FIELD},
    {"{" TEST_MINIMAL ", 'search': {'parameters': {'network.filters': [4, 0]}}}",
     "/search/parameters/network.filters/1", SV_ERR_INVALID_NETWORK},
    {"{" TEST_MINIMAL ", 'seeds': [1,2,3,4,5,6,7,8,9,10], 'search': {'parameters': "
     "{'training.epochs': [1,2,3,4,5,6,7,8,9,10,11]}}}",
     "/search/parameters", SV_ERR_INVALID_FIELD},
};

/* Pictures of the validation part are explained where nothing is tested. */
static void the_part_that_is_explained_is_one_that_there_is(void **state)
{
    (void)state;
    struct jobs_plan *plan =
        test_resolve(&context, "{" TEST_MINIMAL ", 'split': {'train': 0.5, 'validation': 0.2}, "
                               "'explain': {}}");
    assert_string_equal(test_text_at(plan->trials[0].resolved, "explain.part"), "test");
    jobs_plan_destroy(plan);
    struct jobs_dataset whole = fashion;
    fashion.test = 0;
    plan = test_resolve(&context, "{" TEST_MINIMAL ", 'explain': {}}");
    assert_string_equal(test_text_at(plan->resolved, "explain.part"), "validation");
    assert_string_equal(test_text_at(plan->trials[0].resolved, "explain.part"), "validation");
    jobs_plan_destroy(plan);
    fashion = whole;
}

static void every_refusal_names_its_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof REFUSALS / sizeof REFUSALS[0]; i++) {
        const struct refusal *row = &REFUSALS[i];
        struct jobs_plan *plan = NULL;
        struct sv_error err = {0};
        enum sv_status st = test_try(&context, row->job, &plan, &err);
        bool at = !row->pointer || strcmp(err.pointer, row->pointer) == 0;
        if (st != row->status || !at || !err.text[0]) {
            fail_msg("%s: %s at \"%s\" (%s), not %s at \"%s\"", row->job, sv_status_slug(st),
                     err.pointer, err.text, sv_status_slug(row->status),
                     row->pointer ? row->pointer : "*");
        }
        assert_null(plan);
    }
}

struct memory {
    const char *job, *pointer, *parts[3];
};

static const struct memory MEMORY[] = {
    {"'limits': {'memory_bytes': 16777216}",
     "/training/batch_size",
     {"its limit is 16777216", "training.micro_batch_size (or batch_size) 64 would need ",
      "limits.memory_bytes to "}},
    {"'network': {'name': 'mlp', 'hidden': [65536, 4096]}",
     "/limits/memory_bytes",
     {"its limit is 2147483648", "a smaller network or smaller inputs", "limits.memory_bytes to "}},
};

/* What would help is said with its numbers, and helps. */
static void too_much_memory_is_refused_with_what_helps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof MEMORY / sizeof MEMORY[0]; i++) {
        char text[300];
        struct sv_error err = {0};
        struct jobs_plan *plan = NULL;
        (void)snprintf(text, sizeof text, "{" TEST_MINIMAL ", %s}", MEMORY[i].job);
        assert_int_equal(test_try(&context, text, &plan, &err), SV_ERR_INVALID_FIELD);
        assert_string_equal(err.pointer, MEMORY[i].pointer);
        for (size_t k = 0; k < 3; k++) {
            if (!strstr(err.text, MEMORY[i].parts[k])) {
                fail_msg("%s: %s", text, err.text);
            }
        }
    }
    jobs_plan_destroy(test_resolve(&context,
                                   "{" TEST_MINIMAL ", 'limits': {'memory_bytes': 16777216},"
                                   " 'training': {'micro_batch_size': 64}}"));
}

static void the_nearest_name_is_offered(void **state)
{
    (void)state;
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    assert_int_equal(
        test_try(&context, "{" TEST_MINIMAL ", 'training': {'batchsize': 8}}", &plan, &err),
        SV_ERR_UNKNOWN_FIELD);
    assert_non_null(strstr(err.text, "batch_size"));
}

/* What rounding leaves of the whole is no part. */
static void no_part_is_explained_that_only_rounding_leaves(void **state)
{
    (void)state;
    const struct jobs_dataset before = fashion;
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    fashion.test = fashion.validation = 0;
    assert_int_equal(test_try(&context,
                              "{" TEST_MINIMAL ", 'explain': {'part': 'test'},"
                              " 'split': {'train': 0.7, 'validation': 0.2999999999}}",
                              &plan, &err),
                     SV_ERR_INVALID_FIELD);
    assert_string_equal(err.pointer, "/explain/part");
    fashion = before;
}

/* Sets of which nothing can be kept back, and without a part that trains. */
static void a_set_that_cannot_be_cut_is_said_before(void **state)
{
    (void)state;
    static const struct {
        size_t train, test;
        const char *job, *pointer; /* NULL: it is taken, and all trains */
    } rows[] = {
        {2, 10, "{" TEST_MINIMAL "}", NULL},
        {2, 10, "{" TEST_MINIMAL ", 'split': {'train': 0.5}}", "/split/train"},
        {2, 10, "{" TEST_MINIMAL ", 'split': {'validation': 0.5}}", "/split/train"},
        {2, 0, "{" TEST_MINIMAL "}", "/dataset"},
        {2, 0, "{" TEST_MINIMAL ", 'split': {'train': 1}}", NULL},
        {0, 10, "{" TEST_MINIMAL "}", "/dataset"},
    };
    const struct jobs_dataset before = fashion;
    fashion.indivisible = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct jobs_plan *plan = NULL;
        struct sv_error err = {0};
        fashion.train = rows[i].train;
        fashion.test = rows[i].test;
        enum sv_status st = test_try(&context, rows[i].job, &plan, &err);
        assert_int_equal(st, rows[i].pointer ? SV_ERR_INVALID_FIELD : SV_OK);
        assert_string_equal(err.pointer, rows[i].pointer ? rows[i].pointer : "");
        if (plan) {
            assert_true(test_number_at(plan->trials[0].resolved, "split.train") == 1);
            assert_true(test_number_at(plan->trials[0].resolved, "split.validation") == 0);
            assert_string_equal(plan->headline_metric,
                                rows[i].test ? "test_accuracy" : "validation_accuracy");
        }
        jobs_plan_destroy(plan);
    }
    fashion = before;
}

static void a_set_of_one_class_is_no_comparison(void **state)
{
    (void)state;
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    fashion.classes = 1;
    assert_int_equal(test_try(&context, "{" TEST_MINIMAL "}", &plan, &err), SV_ERR_INVALID_FIELD);
    assert_string_equal(err.pointer, "/dataset");
    fashion.classes = 10;
}

/* A job of several points may meet them more than once; a dry caller does not want them. */
static void issues_take_the_place_of_earlier_ones(void **state)
{
    (void)state;
    json_t *job = test_json("{" TEST_MINIMAL ", 'network': {'layers': [], 'connections': []}}");
    json_t *earlier = json_array(), *issues = json_incref(earlier);
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    assert_int_equal(jobs_resolve(job, &context, &plan, &issues, &err), SV_ERR_INVALID_NETWORK);
    assert_true(issues != earlier && json_array_size(issues) > 0);
    assert_int_equal(earlier->refcount, 1);
    assert_int_equal(jobs_resolve(job, &context, &plan, NULL, &err), SV_ERR_INVALID_NETWORK);
    json_decref(issues);
    json_decref(earlier);
    json_decref(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_part_that_is_explained_is_one_that_there_is),
        cmocka_unit_test(every_refusal_names_its_field),
        cmocka_unit_test(too_much_memory_is_refused_with_what_helps),
        cmocka_unit_test(the_nearest_name_is_offered),
        cmocka_unit_test(no_part_is_explained_that_only_rounding_leaves),
        cmocka_unit_test(a_set_that_cannot_be_cut_is_said_before),
        cmocka_unit_test(a_set_of_one_class_is_no_comparison),
        cmocka_unit_test(issues_take_the_place_of_earlier_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
