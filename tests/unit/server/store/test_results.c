/* SPDX-License-Identifier: MIT
 *
 * What is read back of evaluations: predictions, errors of sequences, results tables.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/results.h"
#include "tests/support/store_fixture.h"

enum { PREDICTIONS = 9000 };

/* Ends the trial with two parts: a small one, and one whose predictions fill two chunks. */
static void complete(struct store_claimed *w, double accuracy)
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
    struct store_claimed w;
    store_claimed_open(&w, *state);
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
    store_claimed_close(&w);
}

static void predictions_page_and_filter(void **state)
{
    struct store_claimed w;
    store_claimed_open(&w, *state);
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
    store_claimed_close(&w);
}

enum { SEQUENCES = 1500 }; /* two statements */

/* Sequence i has 1 + i % 3 steps; the last one of them predicts from its last step alone. */
static void predicted_sequences_come_back(void **state)
{
    struct store_claimed w;
    static int64_t samples[SEQUENCES], lengths[SEQUENCES], firsts[SEQUENCES], rows[SEQUENCES];
    static const char *names[SEQUENCES];
    static float targets[3 * SEQUENCES], predicted[3 * SEQUENCES];
    int64_t n_rows = 0;
    store_claimed_open(&w, *state);
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
    store_claimed_close(&w);
}

enum { WORSE = 5 };

/* Five sequences of two steps, in one part; the second step of sequence i misses by misses[i]. The
 * fifth predicts its last step alone. */
static void predict_badly(struct store_claimed *w, const float misses[WORSE])
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
    struct store_claimed w;
    store_claimed_open(&w, *state);
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
    store_claimed_close(&w);
}

static void every_error_is_in_a_bin(void **state)
{
    static const float MISSES[WORSE] = {-4, 9, NAN, 4, INFINITY};
    static const int64_t BINS[13] = {[0] = 1, [4] = 4, [8] = 1, [12] = 1}; /* of width 1 */
    struct store_claimed w;
    struct store_error_spread spread;
    store_claimed_open(&w, *state);
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
    store_claimed_close(&w);
}

static void a_results_table_has_every_figure(void **state)
{
    struct store_claimed w;
    struct store_result_list list;
    store_claimed_open(&w, *state);
    struct store_point point = {"training_loss", 5, 0.125};
    store_claimed_commit(&w, &point, 1);
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
    store_claimed_close(&w);
}

/* A28: what is not a number never ranks. */
static void a28_nan_does_not_rank(void **state)
{
    struct store_claimed w;
    store_claimed_open(&w, *state);
    complete(&w, (double)NAN);
    struct store_job job;
    assert_ok(&w.f, store_job_get(w.f.store, &w.f.scope, w.job, &w.f.memory, &job, &w.f.err));
    assert_string_equal(job.best_trial_id, "");
    store_claimed_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluations_come_back),
        cmocka_unit_test(predictions_page_and_filter),
        cmocka_unit_test(predicted_sequences_come_back),
        cmocka_unit_test(the_worst_sequences_come_first),
        cmocka_unit_test(every_error_is_in_a_bin),
        cmocka_unit_test(a_results_table_has_every_figure),
        cmocka_unit_test(a28_nan_does_not_rank),
    };
    return cmocka_run_group_tests(tests, test_postgres_setup, test_postgres_teardown);
}
