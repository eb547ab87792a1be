/* SPDX-License-Identifier: MIT
 *
 * Spaces, grid and random search: which points there are, that none comes twice, how often each
 * does.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/search/search.h"
#include "tests/support/cmocka_all.h"

enum { MANY = 2000 };

static const struct nn_search_axis SMALL[] = {
    {.choices = 3}, {.min = -2, .max = 2, .integer = true}, {.choices = 2}};
static const struct nn_search_space small = {SMALL, 3};

static double *points_of(const struct nn_search_space *space, uint64_t seed, size_t n)
{
    double *points = calloc(n * space->count + 1, sizeof *points);
    assert_non_null(points);
    assert_int_equal(nn_search_random(space, seed, n, points, NULL), NN_OK);
    return points;
}

static size_t doubles_of(const double *points, size_t n, size_t axes)
{
    size_t doubles = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            doubles +=
                memcmp(points + i * axes, points + k * axes, axes * sizeof *points) == 0 ? 1 : 0;
        }
    }
    return doubles;
}

static void a_grid_has_every_point_with_the_last_axis_fastest(void **state)
{
    (void)state;
    assert_int_equal(nn_search_count(&small), 30);
    for (size_t i = 0; i < 30; i++) {
        double point[3];
        nn_search_grid(&small, i, point);
        assert_true(point[0] == (double)(i / 10));
        assert_true(point[1] == (double)(i / 2 % 5) - 2);
        assert_true(point[2] == (double)(i % 2));
    }
    const struct nn_search_axis continuous[] = {{.choices = 3}, {.min = 0, .max = 1}};
    assert_true(nn_search_count(&(struct nn_search_space){continuous, 2}) == SIZE_MAX);
    assert_int_equal(nn_search_count(&(struct nn_search_space){NULL, 0}), 1);
}

static void as_many_points_as_there_are_is_each_of_them_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        double *points = points_of(&small, seed, 30);
        assert_int_equal(doubles_of(points, 30, 3), 0);
        free(points);
    }
}

/* So a longer search tries again what a shorter one did, and nothing hangs on its length. */
static void fewer_points_are_the_first_of_more(void **state)
{
    (void)state;
    const struct nn_search_axis axes[] = {{.min = 0.001, .max = 10, .logarithmic = true},
                                          {.min = 1, .max = 100000, .integer = true}};
    const struct nn_search_space spaces[] = {small, {axes, 1}, {axes, 2}, {axes + 1, 1}};
    for (size_t i = 0; i < 4; i++) {
        double *few = points_of(&spaces[i], 5, 12), *more = points_of(&spaces[i], 5, 29);
        double *other = points_of(&spaces[i], 6, 12);
        assert_memory_equal(few, more, 12 * spaces[i].count * sizeof *few);
        assert_memory_not_equal(few, other, 12 * spaces[i].count * sizeof *few);
        free(few);
        free(more);
        free(other);
    }
}

/* More points than are listed, and a scale on which the first of them would come again and again.
 */
static void a_large_space_has_no_doubles_either(void **state)
{
    (void)state;
    const struct nn_search_axis axis = {
        .min = 1, .max = 100000, .logarithmic = true, .integer = true};
    double *points = points_of(&(struct nn_search_space){&axis, 1}, 1, 500);
    assert_int_equal(doubles_of(points, 500, 1), 0);
    free(points);
}

/* Shares of `n` values in [low, high), against what is expected, to 4 deviations. */
static void expect_share(const double *values, size_t n, double low, double high, double share)
{
    size_t inside = 0;
    for (size_t i = 0; i < n; i++) {
        inside += values[i] >= low && values[i] < high ? 1 : 0;
    }
    double got = (double)inside / (double)n, deviation = sqrt(share * (1 - share) / (double)n);
    if (fabs(got - share) > 4 * deviation) {
        fail_msg("[%g, %g): %g, not %g +- %g", low, high, got, share, deviation);
    }
}

static void ranges_are_drawn_evenly_over_their_scale(void **state)
{
    (void)state;
    const struct nn_search_axis linear = {.min = -1, .max = 3};
    const struct nn_search_axis decades = {.min = 0.0001, .max = 0.1, .logarithmic = true};
    double *points = points_of(&(struct nn_search_space){&linear, 1}, 3, MANY);
    for (int i = 0; i < 4; i++) {
        expect_share(points, MANY, i - 1, i, 0.25);
    }
    free(points);
    points = points_of(&(struct nn_search_space){&decades, 1}, 3, MANY);
    for (int i = -4; i < -1; i++) {
        expect_share(points, MANY, pow(10, i), pow(10, i + 1), 1.0 / 3);
    }
    free(points);
}

/* The first point of many seeds: a whole value stands for the piece of the scale around it. */
static void integers_are_drawn_by_their_piece_of_the_scale(void **state)
{
    (void)state;
    struct nn_search_axis axis = {.min = 1, .max = 8, .integer = true};
    for (int scale = 0; scale < 2; scale++) {
        double first[MANY];
        axis.logarithmic = scale == 1;
        for (uint64_t seed = 0; seed < MANY; seed++) {
            assert_int_equal(
                nn_search_random(&(struct nn_search_space){&axis, 1}, seed, 1, &first[seed], NULL),
                NN_OK);
        }
        for (int v = 1; v <= 8; v++) {
            double share = scale == 1 ? log((v + 0.5) / (v - 0.5)) / log(8.5 / 0.5) : 1.0 / 8;
            expect_share(first, MANY, v, v + 1, share);
        }
    }
}

static void values_are_inside_and_short(void **state)
{
    (void)state;
    const struct nn_search_axis axes[] = {
        {.min = 0.0001, .max = 0.1, .logarithmic = true},
        {.min = 1000000, .max = 1000001},
        {.min = -1e308, .max = 1e308},
        {.min = -0.3, .max = 0.4},
        {.min = -3, .max = 2, .integer = true},
    };
    static const int digits[] = {6, 12, 6, 6, 6};
    const struct nn_search_space space = {axes, 5};
    double *points = points_of(&space, 9, 300);
    for (size_t i = 0; i < 300; i++) {
        for (size_t k = 0; k < 5; k++) {
            char text[40];
            double x = points[5 * i + k];
            assert_true(x >= axes[k].min && x <= axes[k].max);
            assert_true(!axes[k].integer || (trunc(x) == x && (x != 0 || !signbit(x))));
            (void)snprintf(text, sizeof text, "%.*g", digits[k], x);
            assert_true(strtod(text, NULL) == x);
        }
    }
    free(points);
}

static void what_is_no_range_is_refused(void **state)
{
    (void)state;
    static const struct {
        struct nn_search_axis axis;
        const char *pointer; /* NULL: it is one */
    } rows[] = {
        {{.min = 0, .max = 1}, NULL},
        {{.min = 1, .max = 1}, "/max"},
        {{.min = 2, .max = 1}, "/max"},
        {{.min = 0, .max = 1, .logarithmic = true}, "/min"},
        {{.min = -1, .max = 1, .logarithmic = true}, "/min"},
        {{.min = 0.5, .max = 2, .integer = true}, "/min"},
        {{.min = 1, .max = 2.5, .integer = true}, "/max"},
        {{.min = 1, .max = 1e300, .integer = true}, "/max"},
        {{.min = 1, .max = 2, .integer = true, .logarithmic = true}, NULL},
        {{.min = 9007199254740991, .max = 9007199254740992, .integer = true}, NULL},
        {{.min = 0.001, .max = 0.0010000000000000002}, "/max"},
        {{.min = 0.001, .max = 0.0010000000000000002, .logarithmic = true}, "/max"},
        {{.min = 0, .max = 5e-324}, "/max"},
        {{.min = -1, .max = -0.9999999995}, "/max"},
        {{.min = 1, .max = 1.00000001}, NULL},
        {{.min = -1e308, .max = 1e308}, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nn_error err = {0};
        enum nn_status st = nn_search_axis_check(&rows[i].axis, &err);
        assert_int_equal(st, rows[i].pointer ? NN_ERR_INVALID : NN_OK);
        assert_string_equal(err.pointer, rows[i].pointer ? rows[i].pointer : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_has_every_point_with_the_last_axis_fastest),
        cmocka_unit_test(as_many_points_as_there_are_is_each_of_them_once),
        cmocka_unit_test(fewer_points_are_the_first_of_more),
        cmocka_unit_test(a_large_space_has_no_doubles_either),
        cmocka_unit_test(ranges_are_drawn_evenly_over_their_scale),
        cmocka_unit_test(integers_are_drawn_by_their_piece_of_the_scale),
        cmocka_unit_test(values_are_inside_and_short),
        cmocka_unit_test(what_is_no_range_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
