/* SPDX-License-Identifier: MIT
 *
 * Curves kept between reads are the curves that are stored: every read of a store that keeps them
 * is compared with one of a store that does not.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/housekeeping.h"
#include "server/store/points.h"
#include "server/store/trials.h"
#include "tests/support/store_fixture.h"

static const struct store_environment ENVIRONMENT = {"build",     "type", "avx2",
                                                     "libraries", "cpu",  1};

enum { CURVE_BYTES = 1 << 16 }; /* 512 points a curve */

struct world {
    struct store_fixture f;
    struct store *keeping; /* f.store keeps nothing here */
    char worker[SV_ID_SIZE], dataset[SV_ID_SIZE], job[SV_ID_SIZE];
    struct store_claimed_trial t;
};

static struct store *open_store(const struct world *w, size_t curve_bytes)
{
    struct store_options options = {.conninfo = w->f.conninfo,
                                    .application_name = "test",
                                    .max_connections = 4,
                                    .curve_bytes = curve_bytes};
    struct store *store = NULL;
    struct sv_error err = {0};
    assert_int_equal(store_open(&options, &store, &err), SV_OK);
    return store;
}

static void open_world(struct world *w, void *postgres, size_t n_trials)
{
    store_fixture_open(&w->f, postgres);
    store_close(w->f.store);
    w->f.store = open_store(w, 0);
    w->keeping = open_store(w, CURVE_BYTES);
    store_fixture_worker(&w->f, w->worker);
    store_fixture_dataset(&w->f, "fashion", w->dataset);
    store_fixture_job(&w->f, w->dataset, n_trials, 3, w->job);
    store_fixture_claim(&w->f, w->worker, &w->t);
}

static void close_world(struct world *w)
{
    assert_int_equal(store_fixture_violations(&w->f), 0);
    store_close(w->keeping);
    store_fixture_close(&w->f);
}

/* Steps first..last of two metrics, of values that `salt` tells apart. */
static void commit_steps(struct world *w, int64_t first, int64_t last, double salt)
{
    size_t n = (size_t)(last - first + 1);
    struct store_point *points = calloc(2 * n, sizeof *points);
    assert_non_null(points);
    for (size_t i = 0; i < n; i++) {
        int64_t step = first + (int64_t)i;
        points[2 * i] = (struct store_point){"training_loss", step, salt / (double)step};
        points[2 * i + 1] = (struct store_point){"gradient_norm", step, salt * (double)(step % 17)};
    }
    struct store_progress progress = {last, 1000, 1, "training"};
    struct store_commit commit = {.progress = &progress, .points = points, .n_points = 2 * n};
    enum sv_status st = store_attempt_commit(w->f.store, &w->t.claim, &commit, NULL, &w->f.err);
    free(points);
    assert_ok(&w->f, st);
}

static void assert_same_series(const struct store_series *a, const struct store_series *b)
{
    assert_string_equal(a->metric, b->metric);
    assert_int_equal(a->total, b->total);
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->steps, b->steps, a->n * sizeof *a->steps);
    assert_memory_equal(a->values, b->values, a->n * sizeof *a->values);
}

static void compare(struct world *w, const struct store_series_query *query, size_t n_expected)
{
    struct store_series_list kept = {0}, read = {0};
    const char *id = w->t.claim.trial_id;
    assert_ok(&w->f, store_series_read(w->keeping, &w->f.scope, id, query, &w->f.memory, &kept,
                                       &w->f.err));
    assert_ok(&w->f, store_series_read(w->f.store, &w->f.scope, id, query, &w->f.memory, &read,
                                       &w->f.err));
    assert_int_equal(kept.n, n_expected);
    assert_int_equal(read.n, n_expected);
    assert_string_equal(kept.job_id, w->job);
    assert_int_equal(kept.job_revision, read.job_revision);
    for (size_t i = 0; i < kept.n; i++) {
        assert_same_series(&kept.rows[i], &read.rows[i]);
    }
}

static void compare_all(struct world *w, size_t n_metrics)
{
    static const char *const LOSS[] = {"training_loss"};
    compare(w, &(struct store_series_query){.after_step = -1, .max_points = 50}, n_metrics);
    compare(w, &(struct store_series_query){.after_step = -1}, n_metrics);
    compare(w, &(struct store_series_query){LOSS, 1, -1, 7, 0}, n_metrics > 0);
    compare(w, &(struct store_series_query){LOSS, 1, 20, 6, 0}, n_metrics > 0);
    compare(w, &(struct store_series_query){LOSS, 1, 10, 6, 35}, n_metrics > 0);
    compare(w, &(struct store_series_query){LOSS, 1, 10, 0, 10}, 0);
    compare(w, &(struct store_series_query){.after_step = 1 << 20}, 0);
}

static void kept_curves_grow(void **state)
{
    struct world w;
    open_world(&w, *state, 1);
    compare_all(&w, 0);
    for (int64_t step = 1; step < 400; step += 40) {
        commit_steps(&w, step, step + 39, 1);
        compare_all(&w, 2);
    }
    close_world(&w);
}

/* Beyond what may be kept the points are read as they are needed. */
static void long_curves_are_not_kept(void **state)
{
    struct world w;
    open_world(&w, *state, 1);
    commit_steps(&w, 1, 500, 1);
    compare_all(&w, 2);
    commit_steps(&w, 501, 600, 2);
    compare_all(&w, 2);
    close_world(&w);
}

static void lose_worker(struct world *w)
{
    size_t reaped;
    test_sql(w->f.conninfo, "update trial set lease_until = clock_timestamp() - interval '1 s'"
                            " where state = 'running'");
    assert_ok(&w->f, store_reap(w->f.store, &reaped, &w->f.err));
    assert_int_equal(reaped, 1);
    test_sql(w->f.conninfo, "update trial set not_before = now()");
}

/* An attempt that begins anew writes as many points as were kept, of other values: also when a read
 * fell between its claim and its first cut. */
static void points_of_an_earlier_attempt_are_dropped(void **state)
{
    struct world w;
    struct store_claimed_trial *t = &w.t;
    bool found = false;
    open_world(&w, *state, 1);
    commit_steps(&w, 1, 60, 1);
    compare_all(&w, 2);
    lose_worker(&w);
    compare_all(&w, 2);
    assert_ok(&w.f, store_trial_claim(w.f.store, w.worker, 60000, &ENVIRONMENT, &w.f.memory, &found,
                                      t, &w.f.err));
    assert_true(found);
    compare_all(&w, 2);
    assert_ok(&w.f, store_fixture_resume(&w.f, &t->claim, 0, 0));
    compare_all(&w, 0);
    commit_steps(&w, 1, 60, 3);
    compare_all(&w, 2);
    close_world(&w);
}

/* As above without a read between the claim and the new points. */
static void another_fence_is_noticed(void **state)
{
    struct world w;
    open_world(&w, *state, 1);
    commit_steps(&w, 1, 60, 1);
    compare_all(&w, 2);
    lose_worker(&w);
    store_fixture_claim(&w.f, w.worker, &w.t);
    commit_steps(&w, 1, 60, 3);
    compare_all(&w, 2);
    close_world(&w);
}

/* More trials are watched than there is memory for. */
static void the_oldest_go_first(void **state)
{
    enum { N = 12 };
    struct world w;
    struct store_claimed_trial trials[N];
    open_world(&w, *state, N);
    trials[0] = w.t;
    for (int i = 1; i < N; i++) {
        store_fixture_claim(&w.f, w.worker, &trials[i]);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            w.t = trials[i];
            commit_steps(&w, round * 100 + 1, round * 100 + 100, i + 1);
            compare_all(&w, 2);
        }
    }
    close_world(&w);
}

static void end_trial(struct world *w)
{
    char ended[16];
    struct store_ending ending = {.outcome = STORE_OUTCOME_FAILED,
                                  .error_class = "invalid_input",
                                  .error_text = "it went wrong"};
    assert_ok(&w->f, store_attempt_end(w->f.store, &w->t.claim, &ending, ended, &w->f.err));
    assert_string_equal(ended, "failed");
}

static struct store_series_list read_all(struct world *w)
{
    struct store_series_list list = {0};
    struct store_series_query query = {.after_step = -1};
    assert_ok(&w->f, store_series_read(w->f.store, &w->f.scope, w->t.claim.trial_id, &query,
                                       &w->f.memory, &list, &w->f.err));
    return list;
}

/* Small chunks before and behind a large one, of two attempts, cut where the second resumed. */
static void chunks_are_joined_after_the_end(void **state)
{
    static const struct store_housekeeping never = {1 << 30, 1 << 30, 1 << 30, 1 << 30};
    struct store_housekept done;
    struct world w;
    open_world(&w, *state, 1);
    for (int64_t step = 1; step < 3000; step += 100) {
        commit_steps(&w, step, step + 99, -1);
    }
    lose_worker(&w);
    store_fixture_claim(&w.f, w.worker, &w.t);
    commit_steps(&w, 1, 250, 1);
    commit_steps(&w, 251, 8000, 2);
    for (int64_t step = 8001; step < 20000; step += 500) {
        commit_steps(&w, step, step + 499, 3);
    }
    end_trial(&w);
    struct store_series_list before = read_all(&w);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from metric_chunk"), 2 * 26);
    assert_ok(&w.f, store_housekeep(w.f.store, &never, &done, &w.f.err));
    assert_int_equal(done.chunks, 2 * 3);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from metric_chunk"), 2 * 5);
    assert_int_equal(test_sql_number(w.f.conninfo, "select max(n) from metric_chunk"), 7750);
    struct store_series_list after = read_all(&w);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(after.rows[i].n, 20000);
        assert_same_series(&before.rows[i], &after.rows[i]);
    }
    assert_ok(&w.f, store_housekeep(w.f.store, &never, &done, &w.f.err));
    assert_int_equal(done.chunks, 0);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_curves_grow),
        cmocka_unit_test(long_curves_are_not_kept),
        cmocka_unit_test(points_of_an_earlier_attempt_are_dropped),
        cmocka_unit_test(another_fence_is_noticed),
        cmocka_unit_test(the_oldest_go_first),
        cmocka_unit_test(chunks_are_joined_after_the_end),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
