/* SPDX-License-Identifier: MIT
 *
 * What an attempt at a trial commits.
 */
#include "tests/support/attempts.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/cmocka_all.h"

struct store_trial test_trial_get(struct store_world *w, const struct store_claim *claim)
{
    struct store_trial trial = {0};
    assert_ok(&w->f, store_trial_get(w->f.store, &w->f.scope, claim->trial_id, &w->f.memory, &trial,
                                     &w->f.err));
    return trial;
}

/* Points first..last of one metric, value = step / 8. */
void test_commit_steps(struct store_world *w, const struct store_claim *claim, const char *metric,
                       int64_t first, int64_t last)
{
    struct store_point *points = calloc((size_t)(last - first + 1), sizeof *points);
    assert_non_null(points);
    for (int64_t step = first; step <= last; step++) {
        points[step - first] = (struct store_point){metric, step, (double)step / 8};
    }
    struct store_progress progress = {last, 100, 1, "training"};
    struct store_commit commit = {
        .progress = &progress, .points = points, .n_points = (size_t)(last - first + 1)};
    enum sv_status st = store_attempt_commit(w->f.store, claim, &commit, NULL, &w->f.err);
    free(points);
    assert_ok(&w->f, st);
}

struct store_checkpoint test_checkpoint_at(int64_t step)
{
    struct store_checkpoint checkpoint = {.step = step,
                                          .epoch = 1,
                                          .size = 10,
                                          .core_build = "b",
                                          .core_type = "c",
                                          .instruction_set = "avx2"};
    (void)snprintf(checkpoint.sha256, sizeof checkpoint.sha256, "%064d", 1);
    (void)snprintf(checkpoint.node_id, sizeof checkpoint.node_id, "%032d", 2);
    return checkpoint;
}

void test_commit_checkpoint(struct store_world *w, const struct store_claim *claim, int64_t step)
{
    struct store_checkpoint checkpoint = test_checkpoint_at(step);
    struct store_commit commit = {.checkpoint = &checkpoint};
    assert_ok(&w->f, store_attempt_commit(w->f.store, claim, &commit, NULL, &w->f.err));
}

static const struct store_metric_value ACCURACY = {"accuracy", 0.75, true, 0.3, 0.95, 4};
static const char *const CLASSES[] = {"cat", "dog"};
static const int64_t COUNTS[] = {2, 1, 0, 1};
static const int64_t SAMPLES[] = {10, 11, 12, 13};
static const int32_t TRUTHS[] = {0, 0, 0, 1};
static const int32_t PREDICTED[] = {0, 0, 1, 1};
static const float PROBABILITIES[] = {0.5f, 1e-44f, 0.25f, 1.0f};

struct store_evaluation_new test_evaluation(void)
{
    return (struct store_evaluation_new){
        .part = "validation",
        .sample_count = 4,
        .document = "{\"accuracy\": 0.75, \"loss\": \"NaN\"}",
        .metrics = &ACCURACY,
        .n_metrics = 1,
        .classes = CLASSES,
        .n_classes = 2,
        .counts = COUNTS,
        .predictions = {SAMPLES, TRUTHS, PREDICTED, PROBABILITIES, 4}};
}

enum sv_status test_attempt_end(struct store_world *w, const struct store_claim *claim,
                                enum store_outcome outcome, const char *error_class, char state[16])
{
    struct store_evaluation_new evaluation = test_evaluation();
    struct store_ending ending = {.outcome = outcome,
                                  .error_class = error_class,
                                  .error_text = error_class ? "it went wrong" : NULL,
                                  .evaluations = &evaluation,
                                  .n_evaluations = 1};
    return store_attempt_end(w->f.store, claim, &ending, state, &w->f.err);
}
