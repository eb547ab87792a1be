/* SPDX-License-Identifier: MIT
 *
 * What is read back: points to the bit, thinning, evaluations, predictions, results tables, logs,
 * artefacts; experiments, tokens, housekeeping, figures.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/blobs.h"
#include "server/store/experiments.h"
#include "server/store/housekeeping.h"
#include "server/store/points.h"
#include "server/store/projects.h"
#include "server/store/results.h"
#include "tests/support/store_fixture.h"

struct world {
    struct store_fixture f;
    char worker[SV_ID_SIZE], dataset[SV_ID_SIZE], job[SV_ID_SIZE];
    struct store_claimed_trial t;
};

static void open_world(struct world *w, void *postgres)
{
    store_fixture_open(&w->f, postgres);
    store_fixture_worker(&w->f, w->worker);
    store_fixture_dataset(&w->f, "fashion", w->dataset);
    store_fixture_job(&w->f, w->dataset, 2, 2, w->job);
    store_fixture_claim(&w->f, w->worker, &w->t);
}

static void close_world(struct world *w)
{
    assert_int_equal(store_fixture_violations(&w->f), 0);
    store_fixture_close(&w->f);
}

static void commit_points(struct world *w, const struct store_point *points, size_t n)
{
    struct store_progress progress = {points[n - 1].step, points[n - 1].step, 1, "training"};
    struct store_commit commit = {.progress = &progress, .points = points, .n_points = n};
    assert_ok(&w->f, store_attempt_commit(w->f.store, &w->t.claim, &commit, NULL, &w->f.err));
}

static struct store_series_list read_series(struct world *w, const char *metric, int64_t after,
                                            size_t max_points)
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
    struct world w;
    struct store_point points[N];
    open_world(&w, *state);
    for (int i = 0; i < N; i++) {
        points[i] = (struct store_point){"odd", i + 1, values[i]};
    }
    commit_points(&w, points, N);
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
    close_world(&w);
}

/* The curve of the thinning tests: a wave with one tall and one deep spike, NaN at both ends. */
static double curve(int64_t step, int64_t n)
{
    return step == 1 || step == n ? (double)NAN
           : step == n / 3        ? 1000.0
           : step == n / 2        ? -1000.0
                                  : sin((double)step / 50);
}

static void fill_curve(struct world *w, int64_t n)
{
    struct store_point *points = calloc((size_t)n, sizeof *points);
    assert_non_null(points);
    for (int64_t i = 0; i < n; i++) {
        points[i] = (struct store_point){"curve", i + 1, curve(i + 1, n)};
    }
    commit_points(w, points, (size_t)n);
    free(points);
}

/* B16: 25,000 points, at most so many come back: exactly, with first, last and both extremes. */
static void b16_thinning_is_exact_and_keeps_the_extremes(void **state)
{
    enum { N = 25000 };
    static const size_t caps[] = {4, 5, 10, 320, 321, 9999, 24999, 25000, 30000};
    struct world w;
    open_world(&w, *state);
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
    close_world(&w);
}

/* A piece of a curve, over the borders of chunks: exactly what lies in it. */
static void a_range_is_what_lies_in_it(void **state)
{
    enum { N = 25000 };
    static const int64_t ranges[][2] = {{0, 1},         {0, N},         {8191, 8193}, {8192, 8192},
                                        {12345, 12399}, {24999, 30000}, {N, 30000}};
    struct world w;
    open_world(&w, *state);
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
    close_world(&w);
}

/* Constant and all-NaN series are thinned too. */
static void flat_series_are_thinned(void **state)
{
    struct world w;
    struct store_point points[200];
    open_world(&w, *state);
    for (int i = 0; i < 100; i++) {
        points[2 * i] = (struct store_point){"flat", i + 1, 7};
        points[2 * i + 1] = (struct store_point){"nan", i + 1, (double)NAN};
    }
    commit_points(&w, points, 200);
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
    close_world(&w);
}

enum { PREDICTIONS = 9000 };

/* Ends the trial with two parts: a small one, and one whose predictions fill two chunks. */
static void complete(struct world *w, double accuracy)
{
    static const struct store_metric_value small[] = {{"loss", 0.25, false, 0, 0, 4},
                                                      {"accuracy", 0.5, true, 0.1, 0.9, 4}};
    const struct store_metric_value big = {"accuracy", accuracy, true, 0.6, 0.8, PREDICTIONS};
    static const char *const classes[] = {"a\"b", "ü,{}"};
    static const int64_t counts[] = {1, 2, 3, 4}; /* five mistakes, which are all that is kept */
    static const int64_t missed[] = {0, 2, 4, 6, 8};
    static const int32_t were[] = {0, 0, 1, 1, 1}, seemed[] = {1, 1, 0, 0, 0};
    static const float sure[] = {0.5F, 0.6F, 0.7F, 0.8F, 0.9F};
    const int64_t many[] = {PREDICTIONS / 2, 0, 0, PREDICTIONS / 2};
    int64_t *samples = calloc(PREDICTIONS, sizeof *samples);
    int32_t *truths = calloc(PREDICTIONS, sizeof *truths);
    float *probabilities = calloc(PREDICTIONS, sizeof *probabilities);
    assert_true(samples && truths && probabilities);
    for (int i = 0; i < PREDICTIONS; i++) {
        samples[i] = i;
        truths[i] = i % 2;
        probabilities[i] = (float)i / PREDICTIONS;
    }
    struct store_evaluation_new evaluations[] = {
        {"validation",
         PREDICTIONS,
         "{\"part\":  \"validation\"}",
         &big,
         1,
         classes,
         2,
         many,
         {samples, truths, truths, probabilities, PREDICTIONS},
         {0}},
        {"train", 10, "{}", small, 2, classes, 2, counts, {missed, were, seemed, sure, 5}, {0}}};
    char state[16];
    struct store_ending ending = {
        .outcome = STORE_OUTCOME_COMPLETED, .evaluations = evaluations, .n_evaluations = 2};
    assert_ok(&w->f, store_attempt_end(w->f.store, &w->t.claim, &ending, state, &w->f.err));
    free(samples);
    free(truths);
    free(probabilities);
}

static void evaluations_come_back(void **state)
{
    struct world w;
    open_world(&w, *state);
    complete(&w, 0.75);
    const char *id = w.t.claim.trial_id;
    struct store_evaluation_list evaluations;
    assert_ok(&w.f, store_evaluations_list(w.f.store, &w.f.scope, id, &w.f.memory, &evaluations,
                                           &w.f.err));
    assert_int_equal(evaluations.n, 2);
    assert_string_equal(evaluations.rows[0].part, "train");
    assert_string_equal(evaluations.rows[1].document, "{\"part\":  \"validation\"}");
    struct store_confusion confusion;
    assert_ok(&w.f, store_confusion_get(w.f.store, &w.f.scope, id, "train", &w.f.memory, &confusion,
                                        &w.f.err));
    assert_int_equal(confusion.n_classes, 2);
    assert_string_equal(confusion.classes[0], "a\"b");
    assert_string_equal(confusion.classes[1], "ü,{}");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(confusion.counts[i], i + 1);
    }
    assert_status(
        &w.f,
        store_confusion_get(w.f.store, &w.f.scope, id, "test", &w.f.memory, &confusion, &w.f.err),
        SV_ERR_NOT_FOUND);
    close_world(&w);
}

static void predictions_page_and_filter(void **state)
{
    struct world w;
    open_world(&w, *state);
    complete(&w, 0.75);
    struct store_prediction_filter filter = {
        .part = "validation", .truth = 1, .predicted = -1, .wrong = -1};
    struct store_page page = {.limit = 500};
    int64_t expected = 1;
    do {
        struct store_prediction_list list;
        assert_ok(&w.f, store_predictions_list(w.f.store, &w.f.scope, w.t.claim.trial_id, &filter,
                                               &page, &w.f.memory, &list, &w.f.err));
        for (size_t i = 0; i < list.n; i++, expected += 2) {
            assert_int_equal(list.rows[i].sample, expected);
            assert_int_equal(list.rows[i].truth, 1);
            assert_true(list.rows[i].probability == (float)expected / PREDICTIONS);
        }
        page.cursor = list.next;
    } while (page.cursor);
    assert_int_equal(expected, PREDICTIONS + 1);
    struct store_prediction_list none;
    filter.wrong = 1;
    page.cursor = NULL;
    assert_ok(&w.f, store_predictions_list(w.f.store, &w.f.scope, w.t.claim.trial_id, &filter,
                                           &page, &w.f.memory, &none, &w.f.err));
    assert_int_equal(none.n, 0);
    close_world(&w);
}

enum { SEQUENCES = 1500 }; /* two statements */

/* Sequence i has 1 + i % 3 steps; the last one of them predicts from its last step alone. */
static void predicted_sequences_come_back(void **state)
{
    struct world w;
    static int64_t samples[SEQUENCES], lengths[SEQUENCES], firsts[SEQUENCES], rows[SEQUENCES];
    static const char *names[SEQUENCES];
    static float targets[3 * SEQUENCES], predicted[3 * SEQUENCES];
    int64_t n_rows = 0;
    open_world(&w, *state);
    for (int i = 0; i < SEQUENCES; i++) {
        samples[i] = 10 + i;
        lengths[i] = 1 + i % 3;
        names[i] = i % 2 ? "test/\"ü\"" : "test/1";
        firsts[i] = n_rows;
        rows[i] = i == SEQUENCES - 1 ? 1 : lengths[i];
        for (int64_t t = 0; t < rows[i]; t++, n_rows++) {
            targets[n_rows] = (float)(100 * i + t);
            predicted[n_rows] = i == 4 ? (float)NAN : targets[n_rows] + 0.5F;
        }
    }
    const struct store_metric_value rmse = {"rmse", 0.5, false, 0, 0, n_rows};
    const struct store_evaluation_new evaluation = {
        .part = "test",
        .sample_count = SEQUENCES,
        .document = "{\"task\": \"regression\"}",
        .metrics = &rmse,
        .n_metrics = 1,
        .sequences = {samples, lengths, firsts, rows, names, SEQUENCES, targets, predicted}};
    char to[16];
    struct store_ending ending = {
        .outcome = STORE_OUTCOME_COMPLETED, .evaluations = &evaluation, .n_evaluations = 1};
    assert_ok(&w.f, store_attempt_end(w.f.store, &w.t.claim, &ending, to, &w.f.err));
    const char *id = w.t.claim.trial_id, *task = NULL;
    assert_ok(&w.f, store_evaluation_task(w.f.store, &w.f.scope, id, "test", &w.f.memory, &task,
                                          &w.f.err));
    assert_string_equal(task, "regression");
    assert_int_equal(store_evaluation_task(w.f.store, &w.f.scope, id, "validation", &w.f.memory,
                                           &task, &w.f.err),
                     SV_ERR_NOT_FOUND);
    struct store_sequence_prediction_list list;
    struct store_sequence_filter filter = {.part = "test", .sample = -1};
    struct store_page page = {.limit = 400};
    size_t seen = 0;
    do {
        assert_ok(&w.f, store_sequence_predictions_list(w.f.store, &w.f.scope, id, &filter, &page,
                                                        &w.f.memory, &list, &w.f.err));
        for (size_t i = 0; i < list.n; i++, seen++) {
            size_t last = (size_t)(firsts[seen] + rows[seen]) - 1;
            assert_int_equal(list.rows[i].sample, samples[seen]);
            assert_int_equal(list.rows[i].length, lengths[seen]);
            assert_string_equal(list.rows[i].name, names[seen]);
            assert_true(list.rows[i].target == (double)targets[last]);
            assert_true(seen == 4 ? isnan(list.rows[i].predicted)
                                  : list.rows[i].predicted == (double)predicted[last]);
            assert_true(seen == 4 ? isnan(list.rows[i].rmse) : list.rows[i].rmse == 0.5);
            assert_int_equal(list.rows[i].n, 0);
        }
        page.cursor = list.next;
    } while (page.cursor);
    assert_int_equal(seen, SEQUENCES);
    filter.sample = 1037;
    assert_ok(&w.f, store_sequence_predictions_list(w.f.store, &w.f.scope, id, &filter, &page,
                                                    &w.f.memory, &list, &w.f.err));
    assert_int_equal(list.n, 1);
    assert_int_equal(list.rows[0].n, rows[1027]);
    assert_true(list.rows[0].targets[1] == (double)targets[firsts[1027] + 1]);
    assert_true(list.rows[0].predictions[1] == (double)predicted[firsts[1027] + 1]);
    close_world(&w);
}

enum { WORSE = 5 };

/* Five sequences of two steps, in one part; the second step of sequence i misses by misses[i]. The
 * fifth predicts its last step alone. */
static void predict_badly(struct world *w, const float misses[WORSE])
{
    static const int64_t lengths[WORSE] = {2, 2, 2, 2, 7}, firsts[WORSE] = {0, 2, 4, 6, 8};
    static const int64_t samples[WORSE] = {0, 1, 2, 3, 4}, rows[WORSE] = {2, 2, 2, 2, 1};
    static const char *const names[WORSE] = {"a", "b", "c", "d", "e"};
    float targets[9], predicted[9];
    for (size_t i = 0; i < 9; i++) {
        targets[i] = (float)(10 * i);
        predicted[i] = targets[i] + (i % 2 || i == 8 ? misses[i / 2] : 0);
    }
    const struct store_evaluation_new evaluation = {
        .part = "test",
        .sample_count = WORSE,
        .document = "{\"task\": \"regression\"}",
        .sequences = {samples, lengths, firsts, rows, names, WORSE, targets, predicted}};
    char to[16];
    struct store_ending ending = {
        .outcome = STORE_OUTCOME_COMPLETED, .evaluations = &evaluation, .n_evaluations = 1};
    assert_ok(&w->f, store_attempt_end(w->f.store, &w->t.claim, &ending, to, &w->f.err));
}

static void the_worst_sequences_come_first(void **state)
{
    static const int64_t ORDER[WORSE] = {2, 1, 0, 3, 4}; /* NaN; then 9; equal ones by place */
    static const int64_t STEPS[WORSE] = {2, 2, 2, 2, 7};
    static const float MISSES[WORSE] = {-4, 9, NAN, 4, 3};
    struct world w;
    open_world(&w, *state);
    predict_badly(&w, MISSES);
    struct store_sequence_filter filter = {.part = "test", .sample = -1, .worst_first = true};
    struct store_sequence_prediction_list list;
    struct store_page page = {.limit = 1};
    for (size_t i = 0; i < WORSE; i++, page.cursor = list.next) {
        assert_ok(&w.f,
                  store_sequence_predictions_list(w.f.store, &w.f.scope, w.t.claim.trial_id,
                                                  &filter, &page, &w.f.memory, &list, &w.f.err));
        const struct store_sequence_prediction *row = &list.rows[0];
        double miss = row->worst_predicted - row->worst_target;
        assert_int_equal(row->sample, ORDER[i]);
        assert_int_equal(row->worst_step, STEPS[row->sample]);
        assert_true(isnan(miss) ? row->sample == 2 : miss == (double)MISSES[row->sample]);
    }
    assert_null(page.cursor);
    close_world(&w);
}

static void every_error_is_in_a_bin(void **state)
{
    static const float MISSES[WORSE] = {-4, 9, NAN, 4, INFINITY};
    static const int64_t BINS[13] = {[0] = 1, [4] = 4, [8] = 1, [12] = 1}; /* of width 1 */
    struct world w;
    struct store_error_spread spread;
    open_world(&w, *state);
    predict_badly(&w, MISSES);
    const char *id = w.t.claim.trial_id;
    assert_ok(&w.f, store_error_spread_get(w.f.store, &w.f.scope, id, "test", 4, 13, &w.f.memory,
                                           &spread, &w.f.err));
    assert_int_equal(spread.sequences, WORSE);
    assert_int_equal(spread.steps, 9);
    assert_int_equal(spread.not_finite, 2);
    assert_true(spread.low == -4 && spread.high == 9);
    assert_int_equal(spread.n_bins, 13);
    assert_memory_equal(spread.bins, BINS, sizeof BINS);
    assert_int_equal(spread.n_points, 3); /* every third of nine */
    assert_int_equal(spread.samples[1], 1);
    assert_int_equal(spread.at[1], 2);
    assert_true(spread.targets[1] == 30 && spread.predicted[1] == 39);
    assert_ok(&w.f, store_error_spread_get(w.f.store, &w.f.scope, id, "train", 4, 2, &w.f.memory,
                                           &spread, &w.f.err));
    assert_int_equal(spread.steps + (int64_t)spread.n_points, 0);
    assert_true(isnan(spread.low) && spread.bins[0] + spread.bins[1] == 0);
    close_world(&w);
}

static void a_results_table_has_every_figure(void **state)
{
    struct world w;
    struct store_result_list list;
    open_world(&w, *state);
    struct store_point point = {"training_loss", 5, 0.125};
    commit_points(&w, &point, 1);
    complete(&w, 0.75);
    struct store_trial_filter filter = {.job_id = w.job, .sort = STORE_TRIALS_BEST};
    struct store_page page = {.limit = 10};
    assert_ok(&w.f, store_results_list(w.f.store, &w.f.scope, &filter, &page, &w.f.memory, &list,
                                       &w.f.err));
    assert_int_equal(list.n, 2);
    const struct store_result *best = &list.rows[0];
    assert_string_equal(best->trial.id, w.t.claim.trial_id);
    assert_true(best->trial.headline_value == 0.75);
    assert_true(best->last_training_loss == 0.125);
    assert_int_equal(best->n_metrics, 3);
    assert_string_equal(best->metrics[0].part, "train");
    assert_string_equal(best->metrics[0].metric, "accuracy");
    assert_true(best->metrics[0].low == 0.1);
    assert_string_equal(best->metrics[1].metric, "loss");
    assert_true(isnan(best->metrics[1].low));
    assert_string_equal(best->metrics[2].part, "validation");
    assert_int_equal(list.rows[1].n_metrics, 0);
    assert_true(isnan(list.rows[1].last_training_loss));
    close_world(&w);
}

/* A28: what is not a number never ranks. */
static void a28_nan_does_not_rank(void **state)
{
    struct world w;
    open_world(&w, *state);
    complete(&w, (double)NAN);
    struct store_job job;
    assert_ok(&w.f, store_job_get(w.f.store, &w.f.scope, w.job, &w.f.memory, &job, &w.f.err));
    assert_string_equal(job.best_trial_id, "");
    close_world(&w);
}

static void logs_are_clean_and_capped(void **state)
{
    struct world w;
    open_world(&w, *state);
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    struct store_log_line lines[] = {{"info", "bad \xff\xc3( \xed\xa0\x80 good ü"},
                                     {"odd level", longest}};
    struct store_commit commit = {.lines = lines, .n_lines = 2};
    assert_ok(&w.f, store_attempt_commit(w.f.store, &w.t.claim, &commit, NULL, &w.f.err));
    struct store_page page = {.limit = 500};
    struct store_log_list list;
    assert_ok(&w.f, store_log_read(w.f.store, &w.f.scope, w.t.claim.trial_id, &page, &w.f.memory,
                                   &list, &w.f.err));
    assert_int_equal(list.n, 2);
    assert_string_equal(list.rows[0].text, "bad ?\?( ?\?? good ü");
    assert_string_equal(list.rows[1].level, "info");
    assert_int_equal(strlen(list.rows[1].text), 4096);
    for (int i = 0; i < 70; i++) {
        assert_ok(&w.f, store_attempt_commit(w.f.store, &w.t.claim, &commit, NULL, &w.f.err));
    }
    assert_ok(&w.f, store_log_read(w.f.store, &w.f.scope, w.t.claim.trial_id, &page, &w.f.memory,
                                   &list, &w.f.err));
    assert_int_equal(list.rows[list.n - 1].n, 142);
    assert_true(test_sql_number(w.f.conninfo, "select sum(octet_length(line)) from trial_log") <=
                262144);
    close_world(&w);
}

static void artefacts_are_blobs(void **state)
{
    struct world w;
    struct store_blob_writer *writer = NULL;
    struct store_blob blob;
    char ended[16];
    open_world(&w, *state);
    assert_ok(&w.f, store_blob_begin(w.f.store, w.f.scope.project_id, &writer, &w.f.err));
    assert_ok(&w.f, store_blob_append(writer, "weights", 7, &w.f.err));
    assert_ok(&w.f, store_blob_finish(writer, &blob, &w.f.err));
    store_blob_writer_destroy(writer);
    struct store_evaluation_new evaluation = {.part = "test", .document = "{}"};
    struct store_artefact_new artefact = {"network", "application/octet-stream", blob.id, NULL};
    struct store_ending ending = {.outcome = STORE_OUTCOME_STOPPED,
                                  .evaluations = &evaluation,
                                  .n_evaluations = 1,
                                  .artefacts = &artefact,
                                  .n_artefacts = 1};
    assert_ok(&w.f, store_attempt_end(w.f.store, &w.t.claim, &ending, ended, &w.f.err));
    struct store_artefact_list list;
    assert_ok(&w.f, store_artefacts_list(w.f.store, &w.f.scope, w.t.claim.trial_id, &w.f.memory,
                                         &list, &w.f.err));
    assert_int_equal(list.n, 1);
    assert_string_equal(list.rows[0].blob.sha256, blob.sha256);
    assert_int_equal(list.rows[0].blob.size, 7);
    close_world(&w);
}

static void profiles_come_back_whole(void **state)
{
    static const char *const LAYERS[] = {"conv1+relu1", ""}, *const OPERATORS[] = {"x", "other"},
                             *const PHASES[] = {"forward", "other"};
    static const double SECONDS[] = {0.25, 1.0 / 3};
    const struct store_profile profile = {.steps = 7,
                                          .seconds = 0.25 + 1.0 / 3,
                                          .validation_seconds = 2,
                                          .layers = LAYERS,
                                          .operators = OPERATORS,
                                          .phases = PHASES,
                                          .row_seconds = SECONDS,
                                          .n = 2};
    struct store_evaluation_new evaluation = {.part = "test", .document = "{}"};
    struct store_ending ending = {.outcome = STORE_OUTCOME_STOPPED,
                                  .evaluations = &evaluation,
                                  .n_evaluations = 1,
                                  .profile = &profile};
    struct world w;
    struct store_profile got;
    char ended[16];
    open_world(&w, *state);
    const char *id = w.t.claim.trial_id;
    assert_status(&w.f, store_profile_get(w.f.store, &w.f.scope, id, &w.f.memory, &got, &w.f.err),
                  SV_ERR_NOT_FOUND);
    assert_ok(&w.f, store_attempt_end(w.f.store, &w.t.claim, &ending, ended, &w.f.err));
    assert_ok(&w.f, store_profile_get(w.f.store, &w.f.scope, id, &w.f.memory, &got, &w.f.err));
    assert_int_equal(got.steps, 7);
    assert_true(got.seconds == profile.seconds && got.validation_seconds == 2);
    assert_int_equal(got.n, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(got.layers[i], LAYERS[i]);
        assert_string_equal(got.operators[i], OPERATORS[i]);
        assert_string_equal(got.phases[i], PHASES[i]);
        assert_true(got.row_seconds[i] == SECONDS[i]);
    }
    close_world(&w);
}

static void experiments(void **state)
{
    struct world w;
    struct store_created created;
    struct store_experiment_list list;
    open_world(&w, *state);
    assert_ok(&w.f, store_experiment_create(w.f.store, &w.f.scope, "flowers", "n", NULL, &created,
                                            &w.f.err));
    assert_status(
        &w.f,
        store_experiment_create(w.f.store, &w.f.scope, "flowers", "n", NULL, &created, &w.f.err),
        SV_ERR_CONFLICT);
    assert_status(&w.f, store_experiment_patch(w.f.store, &w.f.scope, w.job, "x", NULL, &w.f.err),
                  SV_ERR_NOT_FOUND);
    struct store_page page = {.limit = 1};
    assert_ok(&w.f, store_experiments_list(w.f.store, &w.f.scope, NULL, &page, &w.f.memory, &list,
                                           &w.f.err));
    assert_string_equal(list.rows[0].name, "flowers");
    page.cursor = list.next;
    assert_ok(&w.f, store_experiments_list(w.f.store, &w.f.scope, NULL, &page, &w.f.memory, &list,
                                           &w.f.err));
    assert_string_equal(list.rows[0].name, "an experiment");
    assert_int_equal(list.rows[0].job_count, 1);
    assert_int_equal(list.rows[0].trial_count, 2);
    assert_null(list.next);
    assert_status(
        &w.f,
        store_experiment_patch(w.f.store, &w.f.scope, list.rows[0].id, "flowers", NULL, &w.f.err),
        SV_ERR_CONFLICT);
    close_world(&w);
}

#define TEN       "0123456789"
#define LONG_NAME TEN TEN TEN TEN TEN TEN TEN TEN TEN "012345" /* one byte too many */

static void tokens(void **state)
{
    struct world w;
    char id[SV_ID_SIZE];
    char token[STORE_TOKEN_SIZE];
    char project[SV_ID_SIZE];
    struct store_scope scope = {0};
    enum store_role role = STORE_ROLE_VIEWER;
    bool exist = true;
    open_world(&w, *state);
    assert_ok(&w.f, store_tokens_exist(w.f.store, &exist, &w.f.err));
    assert_false(exist);
    assert_ok(&w.f, store_project_ensure(w.f.store, "team", project, &w.f.err));
    assert_ok(&w.f, store_token_create(w.f.store, project, "ann", STORE_ROLE_SUBMITTER, 1, id,
                                       token, &w.f.err));
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from api_token a where a::text"
                                                   " like '%assay_%'"),
                     0);
    assert_ok(&w.f, store_token_check(w.f.store, token, &scope, &role, &w.f.err));
    assert_string_equal(scope.project_id, project);
    assert_string_equal(scope.actor, "ann");
    assert_int_equal(role, STORE_ROLE_SUBMITTER);
    token[10] ^= 1;
    assert_status(&w.f, store_token_check(w.f.store, token, &scope, &role, &w.f.err),
                  SV_ERR_UNAUTHENTICATED);
    token[10] ^= 1;
    assert_ok(&w.f, store_tokens_exist(w.f.store, &exist, &w.f.err));
    assert_true(exist);
    assert_ok(&w.f, store_token_revoke(w.f.store, project, id, &w.f.err));
    assert_status(&w.f, store_token_check(w.f.store, token, &scope, &role, &w.f.err),
                  SV_ERR_UNAUTHENTICATED);
    assert_ok(&w.f, store_tokens_exist(w.f.store, &exist, &w.f.err));
    assert_true(exist); /* what was closed once stays closed */
    static const char *const odd[] = {"", "two\nlines", "C1 \xc2\x9b", LONG_NAME};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        assert_status(&w.f,
                      store_token_create(w.f.store, project, odd[i], STORE_ROLE_VIEWER, 0, id,
                                         token, &w.f.err),
                      SV_ERR_INVALID_PARAMETER);
    }
    struct store_token_list list;
    assert_ok(&w.f, store_tokens_list(w.f.store, project, &w.f.memory, &list, &w.f.err));
    assert_int_equal(list.n, 1);
    assert_string_not_equal(list.rows[0].revoked_at, "");
    close_world(&w);
}

static void what_nothing_refers_to_is_collected(void **state)
{
    static const struct store_housekeeping now = {0, 3600, 100000, 86400};
    static const struct store_housekeeping hour = {3600, 3600, 3, 86400};
    struct world w;
    struct store_housekept done;
    struct store_blob blob;
    struct store_blob_writer *writer = NULL;
    open_world(&w, *state);
    assert_ok(&w.f, store_blob_begin(w.f.store, w.f.scope.project_id, &writer, &w.f.err));
    assert_ok(&w.f, store_blob_append(writer, "loose", 5, &w.f.err));
    assert_ok(&w.f, store_blob_finish(writer, &blob, &w.f.err));
    store_blob_writer_destroy(writer);
    assert_ok(&w.f, store_housekeep(w.f.store, &hour, &done, &w.f.err));
    assert_int_equal(done.blobs, 0);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from event"), 3);
    assert_ok(&w.f, store_housekeep(w.f.store, &now, &done, &w.f.err));
    assert_int_equal(done.blobs, 1);
    assert_int_equal(test_sql_number(w.f.conninfo, "select count(*) from blob"), 1);
    struct store_counters counters;
    assert_ok(&w.f, store_counters_read(w.f.store, &counters, &w.f.err));
    assert_int_equal(counters.trials_queued, 1);
    assert_int_equal(counters.trials_running, 1);
    assert_int_equal(counters.jobs, 1);
    assert_int_equal(counters.blobs, 1);
    assert_int_equal(counters.workers, 1);
    assert_int_equal(counters.datasets_ready, 1);
    assert_true(counters.database_bytes > 0);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_keep_their_bits),
        cmocka_unit_test(b16_thinning_is_exact_and_keeps_the_extremes),
        cmocka_unit_test(a_range_is_what_lies_in_it),
        cmocka_unit_test(flat_series_are_thinned),
        cmocka_unit_test(evaluations_come_back),
        cmocka_unit_test(predictions_page_and_filter),
        cmocka_unit_test(predicted_sequences_come_back),
        cmocka_unit_test(the_worst_sequences_come_first),
        cmocka_unit_test(every_error_is_in_a_bin),
        cmocka_unit_test(a_results_table_has_every_figure),
        cmocka_unit_test(a28_nan_does_not_rank),
        cmocka_unit_test(logs_are_clean_and_capped),
        cmocka_unit_test(artefacts_are_blobs),
        cmocka_unit_test(profiles_come_back_whole),
        cmocka_unit_test(experiments),
        cmocka_unit_test(tokens),
        cmocka_unit_test(what_nothing_refers_to_is_collected),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
