/* SPDX-License-Identifier: MIT
 *
 * Searches that choose their points: options, ranges, what trials get, what is refused.
 */
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

#define RANDOM         "'strategy': 'random', "
#define SEARCH(fields) "{" TEST_MINIMAL ", 'search': {" fields "}}"
#define RATES          "'training.learning_rate': {'min': 0.0001, 'max': 0.1, 'scale': 'log'}"
#define BATCHES        "'training.batch_size': {'min': 16, 'max': 256, 'integer': true}"

static void each_point_is_a_trial_for_every_seed(void **state)
{
    (void)state;
    struct jobs_plan *plan =
        test_resolve(&context, "{" TEST_MINIMAL ", 'seeds': [7, 8], 'search': {" RANDOM
                               "'trials': 5, 'seed': 3, 'parameters': {" RATES ", " BATCHES
                               ", 'training.solver': ['sgdm', 'adam']}}}");
    assert_int_equal(plan->trial_count, 10);
    for (size_t i = 0; i < 10; i++) {
        const struct jobs_trial *trial = &plan->trials[i];
        double rate = test_number_at(trial->resolved, "training.learning_rate");
        const json_t *batch = json_object_get(trial->parameters, "training.batch_size");
        assert_int_equal(trial->seed, 7 + i % 2);
        assert_true(rate >= 0.0001 && rate <= 0.1);
        assert_true(json_is_integer(batch));
        assert_true(json_integer_value(batch) >= 16 && json_integer_value(batch) <= 256);
        assert_true(test_number_at(trial->resolved, "training.batch_size") ==
                    (double)json_integer_value(batch));
        const json_t *swept = json_object_get(trial->parameters, "training.learning_rate");
        assert_true(json_real_value(swept) == rate);
        assert_true(i % 2 == 0 || json_equal(trial->parameters, plan->trials[i - 1].parameters));
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(trial->hash, plan->trials[j].hash);
        }
    }
    jobs_plan_destroy(plan);
}

/* What the search left out stands in the resolved job, and the job's own value of a range is gone.
 */
static void defaults_are_written_out(void **state)
{
    (void)state;
    struct jobs_plan *plan = test_resolve(&context, SEARCH(RANDOM "'parameters': {" RATES "}"));
    assert_int_equal(plan->trial_count, 30);
    assert_true(test_number_at(plan->resolved, "search.trials") == 30);
    assert_true(test_number_at(plan->resolved, "search.seed") == 1);
    json_t *range =
        json_object_get(jx_path_get(plan->resolved, "search.parameters"), "training.learning_rate");
    json_t *whole = test_json("{'min': 0.0001, 'max': 0.1, 'scale': 'log', 'integer': false}");
    assert_true(json_equal(range, whole));
    assert_null(jx_path_get(plan->resolved, "training.learning_rate"));
    json_decref(whole);
    jobs_plan_destroy(plan);
    plan = test_resolve(&context, SEARCH(RANDOM "'seed': 0")); /* of the kind's three solvers */
    assert_int_equal(plan->trial_count, 3);
    assert_true(test_number_at(plan->resolved, "search.trials") == 3);
    jobs_plan_destroy(plan);
    plan = test_resolve(&context, "{" TEST_MINIMAL "}");
    assert_null(jx_path_get(plan->resolved, "search.trials"));
    assert_null(jx_path_get(plan->resolved, "search.seed"));
    jobs_plan_destroy(plan);
}

static void a_longer_search_begins_like_a_shorter_one(void **state)
{
    (void)state;
    struct jobs_plan *few =
        test_resolve(&context, SEARCH(RANDOM "'trials': 4, 'parameters': {" RATES "}"));
    struct jobs_plan *more =
        test_resolve(&context, SEARCH(RANDOM "'trials': 9, 'parameters': {" RATES "}"));
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(few->trials[i].hash, more->trials[i].hash);
    }
    jobs_plan_destroy(few);
    jobs_plan_destroy(more);
}

static void every_refusal_names_its_field(void **state)
{
    (void)state;
    static const struct {
        const char *job, *pointer;
        enum sv_status status;
    } rows[] = {
        {SEARCH(RANDOM "'trials': 4"), "/search/trials", SV_ERR_INVALID_FIELD}, /* of 3 solvers */
        {SEARCH(RANDOM "'trials': 0"), "/search/trials", SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM "'trials': 101, 'parameters': {" RATES "}"), "/search/trials",
         SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM "'seed': -1"), "/search/seed", SV_ERR_INVALID_FIELD},
        {SEARCH("'trials': 3"), "/search/trials", SV_ERR_INVALID_FIELD},
        {SEARCH("'strategy': 'grid', 'seed': 3"), "/search/seed", SV_ERR_INVALID_FIELD},
        {SEARCH("'parameters': {" RATES "}"), "/search/parameters/training.learning_rate",
         SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM "'parameters': {'training.learning_rate': {'min': 0.1}}"),
         "/search/parameters/training.learning_rate/max", SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM "'parameters': {'training.learning_rate': {'min': 0.2, 'max': 0.1}}"),
         "/search/parameters/training.learning_rate/max", SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM
                "'parameters': {'training.momentum': {'min': 0, 'max': 0.9, 'scale': 'log'}}"),
         "/search/parameters/training.momentum/min", SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM
                "'parameters': {'training.momentum': {'min': 0, 'max': 0.9, 'scale': 'ln'}}"),
         "/search/parameters/training.momentum/scale", SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM "'parameters': {'training.momentum': {'min': 0, 'max': 0.9, 'step': 1}}"),
         "/search/parameters/training.momentum/step", SV_ERR_UNKNOWN_FIELD},
        {SEARCH("'strategy': 'bayesian'"), "/search/strategy", SV_ERR_NOT_SUPPORTED},
        {SEARCH("'strategy': 'successive_halving'"), "/search/strategy", SV_ERR_NOT_SUPPORTED},
        /* Values that the field does not take: the range is at fault. */
        {SEARCH(RANDOM "'parameters': {'training.batch_size': {'min': 16, 'max': 256}}"),
         "/search/parameters/training.batch_size", SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM "'parameters': {'training.momentum': {'min': 5, 'max': 6}}"),
         "/search/parameters/training.momentum", SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM "'parameters': {'training.speed': {'min': 5, 'max': 6}}"),
         "/search/parameters/training.speed", SV_ERR_UNKNOWN_FIELD},
        {SEARCH(RANDOM "'parameters': {'training.solver': 'adam'}"),
         "/search/parameters/training.solver", SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM "'parameters': {'training.solver': ['adam', 'adamx']}"),
         "/search/parameters/training.solver/1", SV_ERR_INVALID_FIELD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct jobs_plan *plan = NULL;
        struct sv_error err = {0};
        enum sv_status st = test_try(&context, rows[i].job, &plan, &err);
        if (st != rows[i].status || strcmp(err.pointer, rows[i].pointer) != 0) {
            fail_msg("%s: %s at \"%s\" (%s), not at \"%s\"", rows[i].job, sv_status_slug(st),
                     err.pointer, err.text, rows[i].pointer);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_point_is_a_trial_for_every_seed),
        cmocka_unit_test(defaults_are_written_out),
        cmocka_unit_test(a_longer_search_begins_like_a_shorter_one),
        cmocka_unit_test(every_refusal_names_its_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
