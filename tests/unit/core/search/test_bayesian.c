/* SPDX-License-Identifier: MIT
 *
 * Bayesian search: its process against numpy (tests/golden/search.json), minima of known functions
 * in fewer points than a random search needs, and what the points depend on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "core/search/gp_internal.h"
#include "tests/support/cmocka_all.h"

/* ------------------------------------------------------------------------------ golden vectors */

enum { AXES_MAX = 3 };

static double *reals(const json_t *c, const char *key)
{
    const json_t *list = json_object_get(c, key);
    double *out = calloc(json_array_size(list) + 1, sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < json_array_size(list); i++) {
        out[i] = json_number_value(json_array_get(list, i));
    }
    return out;
}

static double real(const json_t *c, const char *key)
{
    return json_number_value(json_object_get(c, key));
}

static void assert_close(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9 * fmax(1, fabs(expected)))) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

static void check_case(const json_t *c)
{
    struct nn_search_axis axes[AXES_MAX];
    struct nn_search_space space = {axes, json_array_size(json_object_get(c, "choices"))};
    struct nn_search_gp gp;
    double *choices = reals(c, "choices"), *x = reals(c, "x"), *y = reals(c, "y");
    double *z = reals(c, "z"), *means = reals(c, "mean"), *deviations = reals(c, "deviation");
    double *lengths = reals(c, "lengths");
    size_t n = json_array_size(json_object_get(c, "y"));
    size_t asked = json_array_size(json_object_get(c, "mean"));
    for (size_t i = 0; i < space.count; i++) {
        axes[i] = (struct nn_search_axis){.choices = (size_t)choices[i], .min = 0, .max = 1};
    }
    assert_int_equal(nn_search_gp_init(&gp, &space, n, NULL), NN_OK);
    memcpy(gp.lengths, lengths, space.count * sizeof *lengths);
    gp.noise = real(c, "noise");
    gp.amplitude = real(c, "amplitude");
    for (size_t i = 0; i < n; i++) {
        nn_search_gp_add(&gp, x + i * space.count, y[i]);
    }
    assert_true(nn_search_gp_condition(&gp));
    assert_close(nn_search_gp_likelihood(&gp), real(c, "likelihood"));
    for (size_t i = 0; i < asked; i++) {
        double mean, deviation;
        nn_search_gp_ask(&gp, z + i * space.count, &mean, &deviation);
        assert_close(mean, means[i]);
        assert_close(deviation, deviations[i]);
    }
    nn_search_gp_deinit(&gp);
    free(choices);
    free(x);
    free(y);
    free(z);
    free(means);
    free(deviations);
    free(lengths);
}

static void the_process_is_numpys(void **state)
{
    (void)state;
    json_t *cases = json_load_file("tests/golden/search.json", 0, NULL);
    assert_true(json_array_size(cases) >= 4);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        check_case(json_array_get(cases, i));
    }
    json_decref(cases);
}

/* A slow wave over one axis, noise over the other: told by their lengths. */
static void lengths_tell_which_axis_matters(void **state)
{
    (void)state;
    const struct nn_search_axis axes[] = {{.min = 0, .max = 1}, {.min = 0, .max = 1}};
    const struct nn_search_space space = {axes, 2};
    struct nn_search_gp gp;
    double points[2 * 30];
    assert_int_equal(nn_search_gp_init(&gp, &space, 30, NULL), NN_OK);
    assert_int_equal(nn_search_random(&space, 4, 30, points, NULL), NN_OK);
    for (size_t i = 0; i < 30; i++) {
        nn_search_gp_add(&gp, points + 2 * i, sin(7 * points[2 * i]));
    }
    nn_search_gp_fit(&gp);
    assert_true(gp.lengths[0] <= 0.6 && gp.lengths[1] >= 2);
    assert_true(gp.noise <= 1e-3);
    nn_search_gp_deinit(&gp);
}

/* -------------------------------------------------------------------------------- known minima */

enum { SEEDS = 20, POINTS = 25, INITIAL = 6 };

typedef double (*function)(const double *x);

/* Branin's function: three minima of 0.397887 over [-5, 10] x [0, 15]. */
static double branin(const double *x)
{
    double pi = 3.14159265358979323846;
    double a = x[1] - 5.1 / (4 * pi * pi) * x[0] * x[0] + 5 / pi * x[0] - 6;
    return a * a + 10 * (1 - 1 / (8 * pi)) * cos(x[0]) + 10;
}
static const struct nn_search_axis BRANIN[] = {{.min = -5, .max = 10}, {.min = 0, .max = 15}};

/* As a training behaves: a rate that should be 0.003, 40 units of 1 to 256, the second of three
 * solvers; at a high rate it diverges. */
static double training(const double *x)
{
    static const double solver[] = {0.4, 0, 0.9};
    double rate = log10(x[0] / 0.003), units = log(x[1] / 40);
    return x[0] > 0.5 ? NAN : rate * rate + 0.3 * units * units + solver[(size_t)x[2]];
}
static const struct nn_search_axis TRAINING[] = {
    {.min = 1e-5, .max = 1, .logarithmic = true},
    {.min = 1, .max = 256, .logarithmic = true, .integer = true},
    {.choices = 3}};

/* The history of a whole search, `together` points at a time after the initial ones. */
struct course {
    double points[POINTS * 3], values[POINTS];
    enum nn_search_state states[POINTS];
};

static void judge(struct course *course, size_t axes, function f, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        course->values[i] = f(course->points + i * axes);
        course->states[i] = isnan(course->values[i]) ? NN_SEARCH_FAILED : NN_SEARCH_MEASURED;
    }
}

static void run(const struct nn_search_space *space, function f, uint64_t seed, size_t together,
                struct course *course)
{
    assert_int_equal(nn_search_random(space, seed, INITIAL, course->points, NULL), NN_OK);
    judge(course, space->count, f, 0, INITIAL);
    for (size_t n = INITIAL; n < POINTS; n += together) {
        size_t more = POINTS - n < together ? POINTS - n : together;
        struct nn_search_history history = {n, course->points, course->values, course->states};
        assert_int_equal(nn_search_bayesian(space, seed, &history, more,
                                            course->points + n * space->count, NULL),
                         NN_OK);
        judge(course, space->count, f, n, n + more);
    }
}

static double least_of(const struct course *course)
{
    double least = INFINITY;
    for (size_t i = 0; i < POINTS; i++) {
        least = fmin(least, course->values[i]); /* which passes over NaN */
    }
    return least;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *values)
{
    qsort(values, SEEDS, sizeof *values, compare);
    return (values[SEEDS / 2 - 1] + values[SEEDS / 2]) / 2;
}

/* Medians over 20 seeds of the least value in 25 points, one after the other, four together, and at
 * random. */
static void compare_searches(const struct nn_search_space *space, function f, double out[3])
{
    double least[3][SEEDS];
    struct course course;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run(space, f, seed, 1, &course);
        least[0][seed] = least_of(&course);
        run(space, f, seed, 4, &course);
        least[1][seed] = least_of(&course);
        assert_int_equal(nn_search_random(space, seed, POINTS, course.points, NULL), NN_OK);
        judge(&course, space->count, f, 0, POINTS);
        least[2][seed] = least_of(&course);
    }
    for (size_t i = 0; i < 3; i++) {
        out[i] = median(least[i]);
    }
}

static void a_minimum_is_found_sooner_than_at_random(void **state)
{
    (void)state;
    const struct nn_search_space spaces[] = {{BRANIN, 2}, {TRAINING, 3}};
    static const function functions[] = {branin, training};
    static const double minima[] = {0.397887, 0}, near[] = {0.1, 0.05};
    for (size_t i = 0; i < 2; i++) {
        double medians[3];
        compare_searches(&spaces[i], functions[i], medians);
        for (size_t k = 0; k < 2; k++) {
            if (!(medians[k] - minima[i] < near[i]) ||
                !(medians[k] - minima[i] < (medians[2] - minima[i]) / 4)) {
                fail_msg("function %zu: %g one by one, %g by four, %g at random", i, medians[0],
                         medians[1], medians[2]);
            }
        }
    }
}

/* ----------------------------------------------------------------------- what points depend on */

static void equal_histories_give_equal_points(void **state)
{
    (void)state;
    const struct nn_search_space space = {TRAINING, 3};
    struct course a, b, c;
    run(&space, training, 1, 3, &a);
    run(&space, training, 1, 3, &b);
    run(&space, training, 2, 3, &c);
    assert_memory_equal(a.points, b.points, sizeof a.points);
    assert_memory_not_equal(a.points, c.points, sizeof a.points);
}

static double distance(const double *x)
{
    return fabs(x[0] - 3) + fabs(x[1] - 1);
}

/* A space that is tried to its end: each point once, the rest told apart from what is unknown. */
static void no_point_is_tried_twice(void **state)
{
    (void)state;
    const struct nn_search_axis axes[] = {{.min = 0, .max = 4, .integer = true}, {.choices = 5}};
    const struct nn_search_space space = {axes, 2};
    struct course course;
    run(&space, distance, 8, 4, &course);
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_memory_not_equal(course.points + 2 * i, course.points + 2 * k,
                                    2 * sizeof(double));
        }
    }
}

static void nothing_need_be_known(void **state)
{
    (void)state;
    const struct nn_search_space space = {TRAINING, 3};
    struct course course;
    struct nn_search_history history = {0, course.points, course.values, course.states};
    assert_int_equal(nn_search_bayesian(&space, 1, &history, 4, course.points, NULL), NN_OK);
    static const enum nn_search_state states[] = {NN_SEARCH_UNKNOWN, NN_SEARCH_FAILED};
    for (size_t i = 0; i < 2; i++) {
        double next[3];
        for (size_t k = 0; k < 4; k++) {
            course.states[k] = states[i];
            course.values[k] = NAN;
        }
        history.n = 4;
        assert_int_equal(nn_search_bayesian(&space, 1, &history, 1, next, NULL), NN_OK);
        for (size_t k = 0; k < 4; k++) {
            assert_memory_not_equal(next, course.points + 3 * k, sizeof next);
        }
    }
}

/* Values of another unit lead to the same points: only their order and proportions count. */
static double scaled(const double *x)
{
    return 1024 * branin(x);
}

static void the_unit_of_values_does_not_matter(void **state)
{
    (void)state;
    const struct nn_search_space space = {BRANIN, 2};
    struct course a, b;
    run(&space, branin, 5, 1, &a);
    run(&space, scaled, 5, 1, &b);
    assert_memory_equal(a.points, b.points, 2 * POINTS * sizeof(double));
}

/* Nothing but its two ends is there, and both were tried: it must come to an end all the same. */
static void a_range_without_new_values_ends(void **state)
{
    (void)state;
    const struct nn_search_axis axis = {.min = 0.001, .max = 0.0010000000000000002};
    const double points[] = {axis.min, axis.max}, values[] = {1, 2};
    static const enum nn_search_state states[] = {NN_SEARCH_MEASURED, NN_SEARCH_MEASURED};
    const struct nn_search_history history = {2, points, values, states};
    double next[2] = {0};
    assert_int_equal(
        nn_search_bayesian(&(struct nn_search_space){&axis, 1}, 1, &history, 2, next, NULL), NN_OK);
    assert_true(next[0] >= axis.min && next[0] <= axis.max);
    assert_true(next[1] >= axis.min && next[1] <= axis.max);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_process_is_numpys),
        cmocka_unit_test(lengths_tell_which_axis_matters),
        cmocka_unit_test(a_minimum_is_found_sooner_than_at_random),
        cmocka_unit_test(equal_histories_give_equal_points),
        cmocka_unit_test(no_point_is_tried_twice),
        cmocka_unit_test(nothing_need_be_known),
        cmocka_unit_test(the_unit_of_values_does_not_matter),
        cmocka_unit_test(a_range_without_new_values_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
