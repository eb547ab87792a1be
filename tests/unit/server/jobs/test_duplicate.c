/* SPDX-License-Identifier: MIT
 *
 * Every trial of a job, taken out of it as a job of its own, is the same trial: by its hash.
 */
#include <stdio.h>

#include "core/json/json.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/jobs.h"
#include "tests/support/network.h"

#define WEIGHTS "0192a1b2c3d47e5f8a9b0c1d2e3f000"

static struct jobs_dataset photos = {.id = TEST_DATASET,
                                     .height = 64,
                                     .width = 64,
                                     .channels = 3,
                                     .classes = 5,
                                     .train = 600,
                                     .test = 100};
static struct jobs_dataset engines = {.id = TEST_DATASET,
                                      .sequences = true,
                                      .inputs = 5,
                                      .targets = 1,
                                      .remaining_life = true,
                                      .longest = 100,
                                      .mean_steps = 60,
                                      .train = 20,
                                      .test = 10};

/* Weights of a digest of their own for each id. */
static enum sv_status find_weights(void *ctx, const char *id, const json_t *network,
                                   const struct nn_network_bind *bind,
                                   struct jobs_weights *out_weights, struct sv_error *err)
{
    (void)ctx;
    (void)network;
    (void)bind;
    (void)err;
    (void)snprintf(out_weights->id, sizeof out_weights->id, "%s", id);
    (void)snprintf(out_weights->digest, sizeof out_weights->digest, "%s%s", id, id);
    return SV_OK;
}

static const struct {
    const char *fields;
    struct jobs_dataset *dataset;
    size_t trials;
} CASES[] = {
    {"'kind': 'solver_comparison', 'seeds': [7, 9]", &photos, 6},
    {"'kind': 'sequence_regression', 'training': {'batch_size': 4}", &engines, 9},
    /* into the kind's network, and over what the job says of training */
    {"'kind': 'solver_comparison', 'training': {'epochs': 5}, 'search': {'parameters': {"
     "'network.filters': [4, 8], 'training': [{'solver': 'adam', 'learning_rate': 0.1}]}}",
     &photos, 2},
    /* whole networks, each with weights of its own or none */
    {"'kind': 'transfer_learning', 'weights': {'simple_cnn': '" WEIGHTS "1', 'resnet18': '" WEIGHTS
     "2'}, 'search': {'parameters': {'network': [{'name': 'simple_cnn', 'filters': 4}, {'name': "
     "'resnet18', 'size': 0}, {'name': 'squeezenet1_1', 'size': 0}], 'training.learning_rate': "
     "[0.1, 0.01]}}",
     &photos, 6},
    {"'kind': 'transfer_learning', 'weights': '" WEIGHTS
     "1', 'network': {'name': 'resnet18', 'size': 0}, "
     "'search': {'parameters': {'freeze': ['none', 'all_but_head'], 'training.schedule': ["
     "{'kind': 'cosine'}, {'kind': 'none'}]}}",
     &photos, 4},
    /* a point from a range */
    {"'kind': 'solver_comparison', 'search': {'strategy': 'random', 'trials': 3, 'parameters': {"
     "'training.learning_rate': {'min': 0.001, 'max': 0.1, 'scale': 'log'}, "
     "'training.batch_size': {'min': 8, 'max': 64, 'integer': true}}}",
     &photos, 3},
};

static void a_trial_alone_is_the_same_trial(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char text[1000];
        const struct jobs_context context = {.find_dataset = test_find_dataset,
                                             .find_weights = find_weights,
                                             .ctx = CASES[i].dataset,
                                             .max_trials = 100,
                                             .trial_memory_bytes = (uint64_t)4 << 30};
        (void)snprintf(text, sizeof text, "{'dataset': '" TEST_DATASET "', %s}", CASES[i].fields);
        struct jobs_plan *plan = test_resolve(&context, text);
        assert_int_equal(plan->trial_count, CASES[i].trials);
        json_t *submitted = test_json(text);
        for (size_t k = 0; k < plan->trial_count; k++) {
            const struct jobs_trial *trial = &plan->trials[k];
            const struct jobs_settled settled = {submitted, plan->resolved, trial->parameters,
                                                 trial->resolved, trial->seed};
            struct sv_error err = {0};
            struct jobs_plan *alone = NULL;
            json_t *spec = NULL, *issues = NULL;
            assert_int_equal(jobs_of_trial(&settled, &spec, &err), SV_OK);
            if (jobs_resolve(spec, &context, &alone, &issues, &err) != SV_OK) {
                fail_msg("%s, trial %d: %s: %s", text, (int)k, err.pointer, err.text);
            }
            assert_int_equal(alone->trial_count, 1);
            assert_string_equal(alone->trials[0].hash, trial->hash);
            jobs_plan_destroy(alone);
            json_decref(spec);
        }
        json_decref(submitted);
        jobs_plan_destroy(plan);
    }
}

/* A cosine over the epochs of before stays one when the trial was given more; a fork changes how it
 * trains alone. */
static void an_extended_trial_keeps_its_period(void **state)
{
    (void)state;
    json_auto_t *submitted =
        test_json("{'kind': 'k', 'training': {'schedule': {'kind': 'cosine'}}}");
    json_auto_t *nothing = json_object();
    json_auto_t *resolved =
        test_json("{'training': {'epochs': 9, 'schedule': {'kind': 'cosine', 'period': 4}}}");
    const struct jobs_settled settled = {submitted, nothing, nothing, resolved, 3};
    json_t *spec = NULL;
    assert_int_equal(jobs_of_trial(&settled, &spec, NULL), SV_OK);
    json_auto_t *expected = test_json("{'kind': 'k', 'seeds': [3], 'search': {'parameters': {}}, "
                                      "'training': {'epochs': 9, 'schedule': {'kind': 'cosine', "
                                      "'period': 4}}}");
    assert_true(json_equal(spec, expected));
    json_decref(spec);
    struct sv_error err = {0};
    json_auto_t *fine = test_json("{'training': {}, 'name': 'n', 'limits': {}, 'no_such': 1}");
    assert_int_equal(jobs_fork_check(fine, &err), SV_OK); /* the submission refuses no_such */
    assert_int_equal(jobs_fork_check(NULL, &err), SV_OK);
    json_auto_t *other = test_json("{'name': 'n', 'freeze': 'none'}");
    assert_int_equal(jobs_fork_check(other, &err), SV_ERR_INVALID_FIELD);
    assert_string_equal(err.pointer, "/freeze");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trial_alone_is_the_same_trial),
        cmocka_unit_test(an_extended_trial_keeps_its_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
