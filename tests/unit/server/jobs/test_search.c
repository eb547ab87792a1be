/* SPDX-License-Identifier: MIT
 *
 * Searches that choose their points: options, ranges, what trials get, what is refused.
 */
#include <math.h>
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

/* ------------------------------------------------------------------------------------ bayesian */

#define BAYESIAN "'strategy': 'bayesian', "
#define TWO_AXES "'parameters': {" RATES ", 'training.solver': ['sgdm', 'adam']}"

enum { TRIALS_MAX = 40 };

/* A search as it goes: its plan, and what its trials came to. */
struct course {
    struct jobs_plan *plan;
    json_t *job; /* that it goes on from */
    struct jobs_tried tried[TRIALS_MAX];
    json_t *parameters[TRIALS_MAX];
    char hashes[TRIALS_MAX][65];
};

/* Better near a rate of 0.003, with adam. */
static double value_of(const json_t *parameters)
{
    json_t *number = json_object_get(parameters, "training.learning_rate");
    double off = log10(json_number_value(number) / 0.003);
    const char *solver = json_string_value(json_object_get(parameters, "training.solver"));
    return 0.9 - 0.1 * off * off - (strcmp(solver, "adam") == 0 ? 0 : 0.05);
}

static void take(struct course *course, const struct jobs_plan *plan)
{
    for (size_t i = 0; i < plan->trial_count; i++) {
        const struct jobs_trial *trial = &plan->trials[i];
        size_t at = trial->index - 1;
        if (!trial->resolved) {
            continue;
        }
        assert_true(course->tried[at].state == JOBS_TRIED_OPEN);
        course->parameters[at] = json_incref(trial->parameters);
        memcpy(course->hashes[at], trial->hash, sizeof trial->hash);
        course->tried[at] = (struct jobs_tried){.state = JOBS_TRIED_MEASURED,
                                                .parameters = course->parameters[at],
                                                .value = value_of(trial->parameters)};
    }
}

/* With rows behind those of the search, which are not its own. */
static struct jobs_plan *next_of(struct course *course)
{
    struct jobs_plan *next = NULL;
    struct sv_error err = {0};
    if (jobs_search_next(course->job, &context, course->tried, course->plan->trial_count, true,
                         &next, &err) != SV_OK) {
        fail_msg("%s at %s", err.text, err.pointer);
    }
    return next;
}

static void open_course(struct course *course, const char *job)
{
    json_t *submitted = test_json(job);
    *course = (struct course){.plan = test_resolve(&context, job)};
    course->job = jobs_search_job(submitted, course->plan->resolved);
    assert_non_null(course->job);
    json_decref(submitted);
}

static void begin(struct course *course, const char *job)
{
    open_course(course, job);
    assert_true(course->plan->trial_count <= TRIALS_MAX);
    take(course, course->plan);
}

static void end(struct course *course)
{
    for (size_t i = 0; i < TRIALS_MAX; i++) {
        json_decref(course->parameters[i]);
    }
    json_decref(course->job);
    jobs_plan_destroy(course->plan);
}

/* To the end; how often it was asked. */
static size_t run(struct course *course, const char *job)
{
    size_t asked = 0;
    begin(course, job);
    for (size_t n = 1; n > 0; asked++) {
        struct jobs_plan *next = next_of(course);
        n = next->trial_count;
        take(course, next);
        jobs_plan_destroy(next);
    }
    return asked - 1;
}

static void a_bayesian_search_begins_at_random_and_leaves_the_rest_open(void **state)
{
    (void)state;
    struct jobs_plan *plan = test_resolve(&context, SEARCH(BAYESIAN "'trials': 9, " TWO_AXES));
    struct jobs_plan *random = test_resolve(&context, SEARCH(RANDOM "'trials': 9, " TWO_AXES));
    assert_int_equal(plan->trial_count, 9);
    assert_true(test_number_at(plan->resolved, "search.initial_trials") == 6);
    assert_true(test_number_at(plan->resolved, "search.at_once") == 1);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(plan->trials[i].index, i + 1);
        assert_true((plan->trials[i].resolved != NULL) == (i < 6));
        if (i < 6) {
            assert_string_equal(plan->trials[i].hash, random->trials[i].hash);
        } else {
            json_t *open = test_json("{'training.learning_rate': null, 'training.solver': null}");
            assert_true(json_equal(plan->trials[i].parameters, open));
            json_decref(open);
        }
    }
    double times = plan->estimate.seconds / random->estimate.seconds;
    assert_true(times > 0.9 && times < 1.1); /* of all trials */
    jobs_plan_destroy(plan);
    jobs_plan_destroy(random);
}

static void points_come_in_groups_for_every_seed(void **state)
{
    (void)state;
    struct course course;
    size_t asked = run(&course, "{" TEST_MINIMAL ", 'seeds': [3, 4], 'search': {" BAYESIAN
                                "'trials': 11, 'initial_trials': 4, 'at_once': 3, " TWO_AXES "}}");
    assert_int_equal(asked, 3); /* 3, 3 and 1 */
    for (size_t i = 0; i < 22; i += 2) {
        assert_true(json_equal(course.parameters[i], course.parameters[i + 1]));
        assert_string_not_equal(course.hashes[i], course.hashes[i + 1]);
        for (size_t k = 0; k < i; k += 2) {
            assert_false(json_equal(course.parameters[i], course.parameters[k]));
        }
    }
    end(&course);
}

static void equal_searches_go_the_same_way(void **state)
{
    (void)state;
    struct course a, b, c;
    const char *job = SEARCH(BAYESIAN "'trials': 12, 'initial_trials': 4, 'seed': 2, " TWO_AXES);
    (void)run(&a, job);
    (void)run(&b, job);
    (void)run(&c, SEARCH(BAYESIAN "'trials': 12, 'initial_trials': 4, 'seed': 3, " TWO_AXES));
    assert_memory_equal(a.hashes, b.hashes, sizeof a.hashes);
    assert_memory_not_equal(a.hashes, c.hashes, sizeof a.hashes);
    double best = 0;
    for (size_t i = 0; i < 12; i++) {
        best = fmax(best, a.tried[i].value);
    }
    assert_true(best > 0.89);
    end(&a);
    end(&b);
    end(&c);
}

/* What stands in a group already, as after a cancelled trial was restarted, stays as it is. */
static void only_open_trials_are_chosen(void **state)
{
    (void)state;
    struct course course;
    begin(&course, "{" TEST_MINIMAL ", 'seeds': [3, 4], 'search': {" BAYESIAN
                   "'trials': 5, 'initial_trials': 2, 'at_once': 3, " TWO_AXES "}}");
    struct jobs_plan *all = next_of(&course);
    assert_int_equal(all->trial_count, 6);
    take(&course, all);
    course.tried[5].state = JOBS_TRIED_OPEN; /* the second seed of the third point */
    course.tried[8].state = course.tried[9].state = JOBS_TRIED_OPEN;
    struct jobs_plan *some = next_of(&course);
    assert_int_equal(some->trial_count, 3);
    assert_int_equal(some->trials[0].index, 6);
    assert_string_equal(some->trials[0].hash, all->trials[1].hash);
    assert_int_equal(some->trials[1].index, 9);
    for (size_t i = 0; i < 8; i++) {
        assert_false(json_equal(some->trials[1].parameters, course.parameters[i]));
    }
    jobs_plan_destroy(all);
    jobs_plan_destroy(some);
    end(&course);
}

/* A trial that was cancelled before it had a point and is restarted gets one of its own, though it
 * knows no more than the one after it did. */
static void a_restarted_trial_repeats_no_later_one(void **state)
{
    (void)state;
    struct course course;
    begin(&course, SEARCH(BAYESIAN "'trials': 5, 'initial_trials': 2, " TWO_AXES));
    course.tried[2].state = JOBS_TRIED_UNKNOWN; /* cancelled */
    struct jobs_plan *later = next_of(&course);
    assert_int_equal(later->trial_count, 1);
    assert_int_equal(later->trials[0].index, 4);
    take(&course, later);
    course.tried[2].state = JOBS_TRIED_OPEN;
    struct jobs_plan *restarted = next_of(&course);
    assert_int_equal(restarted->trial_count, 1);
    assert_int_equal(restarted->trials[0].index, 3);
    assert_false(json_equal(restarted->trials[0].parameters, later->trials[0].parameters));
    jobs_plan_destroy(later);
    jobs_plan_destroy(restarted);
    end(&course);
}

/* What hangs on a swept field hangs on it in each of them. */
static void later_trials_are_made_like_the_first(void **state)
{
    (void)state;
    struct course course;
    size_t later = 0;
    begin(&course,
          "{" TEST_MINIMAL ", 'training': {'schedule': {'kind': 'cosine'}}, 'search': {" BAYESIAN
          "'trials': 6, 'initial_trials': 3, 'parameters': {" RATES ", 'training.solver': ['adam'],"
          " 'training.epochs': {'min': 2, 'max': 90, 'integer': true},"
          " 'split.train': {'min': 0.2, 'max': 0.6}}}}");
    struct jobs_plan *plan = course.plan;
    while (plan->trial_count > 0) {
        for (size_t i = 0; i < plan->trial_count && plan->trials[i].resolved; i++) {
            const json_t *trial = plan->trials[i].resolved;
            assert_int_equal(test_number_at(trial, "training.schedule.period"),
                             test_number_at(trial, "training.epochs"));
            assert_true(test_number_at(trial, "limits.memory_bytes") ==
                        (double)context.trial_memory_bytes);
            double rest = 1 - test_number_at(trial, "split.train");
            assert_true(fabs(test_number_at(trial, "split.validation") - rest) < 1e-9);
            later += plan != course.plan;
        }
        struct jobs_plan *next = next_of(&course);
        take(&course, next);
        if (plan != course.plan) {
            jobs_plan_destroy(plan);
        }
        plan = next;
    }
    assert_int_equal(later, 3);
    jobs_plan_destroy(plan);
    end(&course);
}

/* Errors of thresholds of remaining life are not to be ranked; a grid does not. */
static void a_bayesian_search_has_one_target(void **state)
{
    (void)state;
    static struct jobs_dataset engines = {.id = TEST_DATASET,
                                          .sequences = true,
                                          .inputs = 24,
                                          .targets = 1,
                                          .remaining_life = true,
                                          .longest = 362,
                                          .mean_steps = 200,
                                          .train = 100,
                                          .validation = 20,
                                          .test = 100};
    static const struct {
        const char *search;
        enum sv_status status;
    } rows[] = {
        {BAYESIAN "'parameters': {" RATES ", 'data.rul_threshold': [150, 200]}",
         SV_ERR_INVALID_FIELD},
        {BAYESIAN "'parameters': {" RATES ", 'data.rul_threshold': {'min': 100, 'max': 200}}",
         SV_ERR_INVALID_FIELD},
        {"'strategy': 'bayesian'", SV_ERR_INVALID_FIELD}, /* the kind's three thresholds */
        {BAYESIAN "'parameters': {" RATES ", 'data.rul_threshold': [150]}", SV_OK},
        {"'parameters': {'data.rul_threshold': [150, 200]}", SV_OK},
    };
    struct jobs_context own = context;
    own.ctx = &engines;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct jobs_plan *plan = NULL;
        struct sv_error err = {0};
        char job[400];
        (void)snprintf(job, sizeof job,
                       "{'kind': 'sequence_regression', 'dataset': '" TEST_DATASET
                       "', 'search': {%s}}",
                       rows[i].search);
        enum sv_status st = test_try(&own, job, &plan, &err);
        if (st != rows[i].status) {
            fail_msg("%s: %s at %s", job, err.text, err.pointer);
        }
        assert_string_equal(err.pointer,
                            st == SV_OK ? "" : "/search/parameters/data.rul_threshold");
        jobs_plan_destroy(plan);
    }
}

/* A point that no trial can have is told with the reason, and stands in the history as failed. */
static void a_point_that_cannot_be_tried_is_refused(void **state)
{
    (void)state;
    struct course course;
    open_course(&course,
                "{" TEST_MINIMAL
                ", 'training': {'schedule': {'kind': 'cosine'}}, 'search': {" BAYESIAN
                "'trials': 4, 'initial_trials': 1, 'at_once': 3, 'seed': 2, 'parameters': {"
                "'training.learning_rate': [0.5, 0.001],"
                " 'training.schedule.minimum_learning_rate': [0, 0.1]}}}");
    course.parameters[0] = json_incref(course.plan->trials[0].parameters);
    course.tried[0] = (struct jobs_tried){
        .state = JOBS_TRIED_MEASURED, .parameters = course.parameters[0], .value = 0.5};
    struct jobs_plan *next = next_of(&course);
    size_t refused = 0;
    assert_int_equal(next->trial_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *rate = json_object_get(next->trials[i].parameters, "training.learning_rate");
        const json_t *low =
            json_object_get(next->trials[i].parameters, "training.schedule.minimum_learning_rate");
        bool beyond = json_number_value(low) > json_number_value(rate);
        assert_true((next->trials[i].refusal != NULL) == beyond);
        assert_true((next->trials[i].resolved == NULL) == beyond);
        refused += beyond;
    }
    assert_int_equal(refused, 1);
    jobs_plan_destroy(next);
    end(&course);
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
        {SEARCH(BAYESIAN "'parameters': {'training.learning_rate': {'min': 0.001, 'max':"
                         " 0.0010000000000000002}}"),
         "/search/parameters/training.learning_rate/max", SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM
                "'parameters': {'training.momentum': {'min': 0, 'max': 0.9, 'scale': 'log'}}"),
         "/search/parameters/training.momentum/min", SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM
                "'parameters': {'training.momentum': {'min': 0, 'max': 0.9, 'scale': 'ln'}}"),
         "/search/parameters/training.momentum/scale", SV_ERR_INVALID_FIELD},
        {SEARCH(RANDOM "'parameters': {'training.momentum': {'min': 0, 'max': 0.9, 'step': 1}}"),
         "/search/parameters/training.momentum/step", SV_ERR_UNKNOWN_FIELD},
        {SEARCH(RANDOM "'at_once': 2"), "/search/at_once", SV_ERR_INVALID_FIELD},
        {SEARCH(BAYESIAN "'trials': 3, 'initial_trials': 4"), "/search/initial_trials",
         SV_ERR_INVALID_FIELD},
        {SEARCH(BAYESIAN "'trials': 4"), "/search/trials", SV_ERR_INVALID_FIELD},
        {"{" TEST_MINIMAL ", 'split': {'train': 1}, 'search': {'strategy': 'bayesian'}}",
         "/search/strategy", SV_ERR_INVALID_FIELD},
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
        {SEARCH(RANDOM "'trials': 1, 'parameters': {'training.solver': ['adam', 'adamx']}"),
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
        cmocka_unit_test(a_bayesian_search_begins_at_random_and_leaves_the_rest_open),
        cmocka_unit_test(points_come_in_groups_for_every_seed),
        cmocka_unit_test(equal_searches_go_the_same_way),
        cmocka_unit_test(only_open_trials_are_chosen),
        cmocka_unit_test(a_restarted_trial_repeats_no_later_one),
        cmocka_unit_test(later_trials_are_made_like_the_first),
        cmocka_unit_test(a_bayesian_search_has_one_target),
        cmocka_unit_test(a_point_that_cannot_be_tried_is_refused),
        cmocka_unit_test(every_refusal_names_its_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
