/* SPDX-License-Identifier: MIT
 *
 * The loop. Step s: batch, forward, loss, backward, solver; then points, validation when due, the
 * end of the epoch, and a checkpoint when due. What is decided between steps depends on counters
 * only; the clock decides no more than when things are told and when checkpoints are written.
 */
#include <math.h>
#include <stdio.h>

#include "core/training/state_internal.h"

static const struct nn_training_options *options_of(const struct nn_training_state *state)
{
    return &state->setup->options;
}

/* Adds the time since `since` to a kind. */
static void spent(struct nn_training_state *state, enum nn_time_kind kind, double since)
{
    state->clock.seconds[kind] += nn_now(state) - since;
}

/* --- one step --------------------------------------------------------------------------------- */

static struct nn_feed_loss forward_loss(struct nn_training_state *state,
                                        const struct nn_feed_batch *batch, size_t first,
                                        size_t count)
{
    const struct nn_feed_kind *feed = state->feed->kind;
    const struct nn_step step = {
        .seed = state->setup->seed, .epoch = batch->epoch, .first_sample = batch->first + first};
    feed->load(state->feed, first, count);
    nn_network_forward(state->network, count, NN_PHASE_TRAINING, &step);
    double since = nn_now(state);
    struct nn_feed_loss result = feed->loss(state->feed, first, count);
    spent(state, NN_TIME_LOSS, since);
    return result;
}

/* Loss and gradient of a batch, piece by piece; after a loss that is not finite no further. */
static struct nn_feed_loss batch_gradient(struct nn_training_state *state,
                                          const struct nn_feed_batch *batch)
{
    struct nn_feed_loss all = {0};
    for (size_t first = 0; first < batch->count; first += state->max_batch) {
        size_t left = batch->count - first;
        size_t count = left < state->max_batch ? left : state->max_batch;
        struct nn_feed_loss piece = forward_loss(state, batch, first, count);
        all.loss += piece.loss;
        all.sum += piece.sum;
        all.size += piece.size;
        if (!isfinite(all.loss)) {
            break;
        }
        double since = nn_now(state);
        if (first == 0) {
            nn_network_zero_grads(state->network);
        }
        spent(state, NN_TIME_SOLVER, since);
        nn_network_backward(state->network, count);
    }
    return all;
}

/* The gradient's norm; when it is not finite, nothing has moved. */
static double update(struct nn_training_state *state, double rate)
{
    double since = nn_now(state);
    double norm = nn_solver_step(state->solver, rate);
    if (isfinite(norm)) {
        nn_average_update(state);
    }
    spent(state, NN_TIME_SOLVER, since);
    return norm;
}

/* Advances the position past a batch. */
static void position_advance(struct nn_training_state *state, const struct nn_feed_batch *batch)
{
    state->at.step++;
    state->at.batch++;
    if (state->at.batch == state->steps_per_epoch) {
        state->at.batch = 0;
        state->at.epoch++;
    }
    state->clock.epoch_images += batch->count;
    state->clock.progress_images += batch->count;
}

/* The step's number is that of the step being done, also when it diverges. */
static void step_run(struct nn_training_state *state, const struct nn_feed_batch *batch)
{
    double rate =
        nn_solver_learning_rate(&options_of(state)->solver, state->at.step, state->steps_per_epoch);
    struct nn_feed_loss loss = batch_gradient(state, batch);
    double norm = isfinite(loss.loss) ? update(state, rate) : (double)NAN;
    position_advance(state, batch);
    state->at.updates = nn_solver_updates(state->solver);
    nn_points_add(state, "training_loss", loss.loss);
    nn_points_add(state, state->feed->kind->training_measure,
                  state->feed->kind->measure(state->feed, &loss));
    nn_points_add(state, "learning_rate", rate);
    nn_points_add(state, "gradient_norm", norm);
    if (!isfinite(norm)) {
        state->diverged_step = state->at.step;
    }
}

/* --- between steps ---------------------------------------------------------------------------- */

static void kept_take(struct nn_training_state *state)
{
    nn_average_get(state, state->kept);
    state->at.has_kept = 1;
}

static bool epoch_ended(const struct nn_training_state *state)
{
    return state->at.batch == 0 && state->at.step > 0;
}

static bool has_validation(const struct nn_training_state *state)
{
    return state->setup->parts[NN_PART_VALIDATION].count > 0;
}

static bool validation_due(const struct nn_training_state *state)
{
    uint64_t frequency = (uint64_t)options_of(state)->validation_frequency;
    bool due = frequency ? state->at.step % frequency == 0 : epoch_ended(state);
    return has_validation(state) && due;
}

/* A loss that is not finite is never best; equal is not better. */
static void validation_judge(struct nn_training_state *state, double loss)
{
    if (nn_metric_better(NN_DIRECTION_LOWER, loss, state->at.best_loss) &&
        nn_values_finite(state)) {
        state->at.best_loss = loss;
        state->at.best_step = state->at.step;
        state->at.since_best = 0;
        kept_take(state);
    } else {
        state->at.since_best++;
    }
}

static enum nn_status validate(struct nn_training_state *state, struct nn_error *err)
{
    double since = nn_now(state);
    nn_network_set_clock(state->network, NULL, NULL);
    nn_average_swap(state);
    enum nn_status status =
        nn_state_evaluate(state, &state->setup->parts[NN_PART_VALIDATION], "validating", NULL, err);
    nn_average_swap(state);
    nn_network_set_clock(state->network, state->time, state->time_ctx);
    spent(state, NN_TIME_VALIDATION, since);
    if (status != NN_OK) {
        return status;
    }
    const struct nn_feed_kind *feed = state->feed->kind;
    double loss = feed->part_loss(state->feed);
    nn_points_add(state, "validation_loss", loss);
    nn_points_add(state, feed->validation_measure, feed->part_measure(state->feed));
    validation_judge(state, loss);
    return NN_OK;
}

static void epoch_end(struct nn_training_state *state)
{
    struct nn_training_clock *clock = &state->clock;
    double stall = state->feed->kind->stall_seconds(state->feed);
    double seconds = clock->epoch_seconds > 0 ? clock->epoch_seconds : (double)NAN;
    nn_points_add(state, "images_per_second", (double)clock->epoch_images / seconds);
    nn_points_add(state, "loader_stall_seconds", stall - clock->stall_seen);
    clock->stall_seen = stall;
    clock->epoch_seconds = 0;
    clock->epoch_images = 0;
    if (!nn_values_finite(state)) {
        state->diverged_step = state->at.step;
    } else if (!has_validation(state)) {
        kept_take(state);
    }
}

static bool patience_over(const struct nn_training_state *state)
{
    uint64_t patience = (uint64_t)options_of(state)->patience;
    return patience > 0 && state->at.since_best >= patience;
}

/* A disk that is full for a while costs checkpoints, not the run. Said once until one is written
 * again. */
static void checkpoint_missed(struct nn_training_state *state, const char *reason)
{
    char text[320];
    if (!state->checkpoint_missed && state->calls->log) {
        (void)snprintf(text, sizeof text,
                       "a checkpoint is left out, the one before it stays: %.240s", reason);
        state->calls->log(state->calls->ctx, text);
    }
    state->checkpoint_missed = true;
    state->checkpoint_at = nn_now(state);
}

static enum nn_status checkpoint_if_due(struct nn_training_state *state, struct nn_error *err)
{
    double interval = options_of(state)->checkpoint_interval_seconds;
    if (nn_now(state) - state->checkpoint_at < interval) {
        return NN_OK;
    }
    struct nn_error reason = {0};
    enum nn_status status = nn_checkpoint_write(state, false, &reason);
    if (status == NN_ERR_IO) {
        checkpoint_missed(state, reason.text);
        return NN_OK;
    }
    state->checkpoint_missed = false;
    return status == NN_OK ? NN_OK : nn_fail(err, status, "%s", reason.text);
}

/* After a step that went well. */
static enum nn_status between_steps(struct nn_training_state *state, struct nn_error *err)
{
    enum nn_status status = NN_OK;
    if (epoch_ended(state)) {
        epoch_end(state);
    }
    if (state->diverged_step == 0 && validation_due(state)) {
        status = validate(state, err);
    }
    if (status == NN_OK && state->diverged_step == 0) {
        state->patience_stopped = patience_over(state);
        status = checkpoint_if_due(state, err);
    }
    nn_points_deliver_if_due(state);
    nn_progress_if_due(state, "training");
    return status;
}

/* --- the loop --------------------------------------------------------------------------------- */

static bool at_the_end(const struct nn_training_state *state)
{
    return state->at.step >= state->total_steps || state->patience_stopped ||
           state->diverged_step != 0;
}

/* Asked once before each step. */
static bool goes_on(struct nn_training_state *state)
{
    if (at_the_end(state)) {
        return false;
    }
    if (state->calls->threads) {
        nn_pool_set_threads(state->setup->pool, state->calls->threads(state->calls->ctx));
    }
    return nn_control_poll(state) == NN_CONTINUE;
}

static void step_spent(struct nn_training_state *state, double seconds)
{
    state->clock.epoch_seconds += seconds;
    state->clock.step_seconds += seconds;
    state->clock.steps++;
}

static enum nn_status steps(struct nn_training_state *state, struct nn_error *err)
{
    enum nn_status status = NN_OK;
    while (status == NN_OK && goes_on(state)) {
        struct nn_feed_batch batch;
        nn_profile_step(state);
        double since = nn_now(state);
        if (!state->feed->kind->next(state->feed, &batch)) {
            return nn_fail(err, NN_ERR_INTERNAL, "the feed ended before the last step");
        }
        spent(state, NN_TIME_LOADER, since);
        step_run(state, &batch);
        step_spent(state, nn_now(state) - since);
        if (state->diverged_step == 0) {
            status = between_steps(state, err);
        }
    }
    if (status == NN_OK && state->control == NN_CANCEL) {
        status = nn_fail(err, NN_ERR_CANCELLED, "cancelled");
    }
    return status;
}

enum nn_status nn_state_last_validation(struct nn_training_state *state, struct nn_error *err)
{
    if (!has_validation(state) || validation_due(state) || state->at.step < state->total_steps) {
        return NN_OK;
    }
    enum nn_status status = validate(state, err);
    nn_network_set_clock(state->network, NULL, NULL); /* validations put it back for steps */
    state->patience_stopped = patience_over(state);
    nn_points_deliver(state);
    return status;
}

enum nn_status nn_state_train(struct nn_training_state *state, struct nn_error *err)
{
    state->patience_stopped = patience_over(state);
    if (at_the_end(state)) {
        return NN_OK;
    }
    enum nn_status status = state->feed->kind->start(state->feed, (size_t)state->at.epoch,
                                                     (size_t)state->at.batch, err);
    if (status != NN_OK) {
        return status;
    }
    nn_network_set_clock(state->network, state->time, state->time_ctx);
    status = steps(state, err);
    nn_network_set_clock(state->network, NULL, NULL);
    return status;
}
