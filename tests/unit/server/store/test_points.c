/* SPDX-License-Identifier: MIT
 *
 * What is read back of curves: points to the bit, ranges, exact thinning.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/points.h"
#include "tests/support/store_fixture.h"

static struct store_series_list read_series(struct store_claimed *w, const char *metric,
                                            int64_t after, size_t max_points)
{
    struct store_series_list list = {0};
    struct store_series_query query = {.metrics = metric ? &metric : NULL,
                                       .n_metrics = 1,
                                       .after_step = after,
                                       .max_points = max_points};
    assert_ok(&w->f, store_series_read(w->f.store, &w->f.scope, w->t.claim.trial_id, &query,
                                       &w->f.memory, &list, &w->f.err));
    return list;
}

/* A30, A31: every value comes back with its bits; what is not finite never wins. */
static void values_keep_their_bits(void **state)
{
    static const double values[] = {
        0.0,      -0.0,      1.0 / 3, 5e-324,     2.2250738585072014e-308, 1e308, -1e-300,
        INFINITY, -INFINITY, 0.1f,    (double)NAN};
    enum { N = sizeof values / sizeof values[0] };
    struct store_claimed w;
    struct store_point points[N];
    store_claimed_open(&w, *state);
    for (int i = 0; i < N; i++) {
        points[i] = (struct store_point){"odd", i + 1, values[i]};
    }
    store_claimed_commit(&w, points, N);
    struct store_series_list list = read_series(&w, "odd", -1, 0);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.rows[0].n, N);
    for (int i = 0; i < N - 1; i++) {
        assert_memory_equal(&list.rows[0].values[i], &values[i], sizeof(double));
    }
    assert_true(isnan(list.rows[0].values[N - 1]));
    struct store_summary_list summaries;
    assert_ok(&w.f, store_summaries_list(w.f.store, &w.f.scope, w.t.claim.trial_id, &w.f.memory,
                                         &summaries, &w.f.err));
    assert_true(isnan(summaries.rows[0].last));
    assert_true(summaries.rows[0].max == 1e308);
    assert_true(summaries.rows[0].min == -1e-300);
    assert_int_equal(summaries.rows[0].max_step, 6);
    assert_int_equal(summaries.rows[0].n, N);
    store_claimed_close(&w);
}

/* The curve of the thinning tests: a wave with one tall and one deep spike, NaN at both ends. */
static double curve(int64_t step, int64_t n)
{
    return step == 1 || step == n ? (double)NAN
           : step == n / 3        ? 1000.0
           : step == n / 2        ? -1000.0
                                  : sin((double)step / 50);
}

static void fill_curve(struct store_claimed *w, int64_t n)
{
    struct store_point *points = calloc((size_t)n, sizeof *points);
    assert_non_null(points);
    for (int64_t i = 0; i < n; i++) {
        points[i] = (struct store_point){"curve", i + 1, curve(i + 1, n)};
    }
    store_claimed_commit(w, points, (size_t)n);
    free(points);
}

/* B16: 25,000 points, at most so many come back: exactly, with first, last and both extremes. */
static void b16_thinning_is_exact_and_keeps_the_extremes(void **state)
{
    enum { N = 25000 };
    static const size_t caps[] = {4, 5, 10, 320, 321, 9999, 24999, 25000, 30000};
    struct store_claimed w;
    store_claimed_open(&w, *state);
    fill_curve(&w, N);
    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
        struct store_series_list list = read_series(&w, "curve", -1, caps[i]);
        const struct store_series *s = &list.rows[0];
        size_t expected = caps[i] < N ? caps[i] : N;
        double low = INFINITY;
        double high = -INFINITY;
        assert_int_equal(s->total, N);
        assert_int_equal(s->n, expected);
        assert_int_equal(s->steps[0], 1);
        assert_int_equal(s->steps[s->n - 1], N);
        for (size_t k = 0; k < s->n; k++) {
            double value = curve(s->steps[k], N);
            assert_memory_equal(&s->values[k], &value, sizeof value);
            assert_true(k == 0 || s->steps[k] > s->steps[k - 1]);
            low = fmin(low, value);
            high = fmax(high, value);
        }
        assert_true(low == -1000.0 && high == 1000.0);
    }
    struct store_series_list tail = read_series(&w, "curve", 24990, 0);
    assert_int_equal(tail.rows[0].n, 10);
    assert_int_equal(tail.rows[0].steps[0], 24991);
    assert_int_equal(read_series(&w, "curve", N, 0).n, 0);
    assert_int_equal(read_series(&w, "none", -1, 0).n, 0);
    struct store_series_query query = {.after_step = -1, .max_points = 3};
    struct store_series_list list;
    assert_status(&w.f,
                  store_series_read(w.f.store, &w.f.scope, w.t.claim.trial_id, &query, &w.f.memory,
                                    &list, &w.f.err),
                  SV_ERR_INVALID_PARAMETER);
    store_claimed_close(&w);
}

/* A piece of a curve, over the borders of chunks: exactly what lies in it. */
static void a_range_is_what_lies_in_it(void **state)
{
    enum { N = 25000 };
    static const int64_t ranges[][2] = {{0, 1},         {0, N},         {8191, 8193}, {8192, 8192},
                                        {12345, 12399}, {24999, 30000}, {N, 30000}};
    struct store_claimed w;
    store_claimed_open(&w, *state);
    fill_curve(&w, N);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        int64_t last = ranges[i][1] < N ? ranges[i][1] : N;
        size_t expected = (size_t)(last - ranges[i][0]);
        struct store_series_list list = {0};
        struct store_series_query query = {.after_step = ranges[i][0], .to_step = ranges[i][1]};
        assert_ok(&w.f, store_series_read(w.f.store, &w.f.scope, w.t.claim.trial_id, &query,
                                          &w.f.memory, &list, &w.f.err));
        assert_int_equal(list.n, expected > 0);
        if (list.n > 0) {
            assert_int_equal(list.rows[0].total, expected);
            assert_int_equal(list.rows[0].n, expected);
            assert_int_equal(list.rows[0].steps[0], ranges[i][0] + 1);
            assert_int_equal(list.rows[0].steps[expected - 1], last);
        }
    }
    store_claimed_close(&w);
}

/* Constant and all-NaN series are thinned too. */
static void flat_series_are_thinned(void **state)
{
    struct store_claimed w;
    struct store_point points[200];
    store_claimed_open(&w, *state);
    for (int i = 0; i < 100; i++) {
        points[2 * i] = (struct store_point){"flat", i + 1, 7};
        points[2 * i + 1] = (struct store_point){"nan", i + 1, (double)NAN};
    }
    store_claimed_commit(&w, points, 200);
    struct store_series_list list = read_series(&w, NULL, -1, 11);
    assert_int_equal(list.n, 2);
    for (size_t i = 0; i < list.n; i++) {
        assert_int_equal(list.rows[i].n, 11);
        for (size_t k = 1; k < 11; k++) {
            assert_true(list.rows[i].steps[k] > list.rows[i].steps[k - 1]);
        }
    }
    struct store_summary_list summaries;
    assert_ok(&w.f, store_summaries_list(w.f.store, &w.f.scope, w.t.claim.trial_id, &w.f.memory,
                                         &summaries, &w.f.err));
    assert_false(summaries.rows[1].has_extremes);
    store_claimed_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_keep_their_bits),
        cmocka_unit_test(b16_thinning_is_exact_and_keeps_the_extremes),
        cmocka_unit_test(a_range_is_what_lies_in_it),
        cmocka_unit_test(flat_series_are_thinned),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
