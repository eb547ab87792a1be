/* SPDX-License-Identifier: MIT
 *
 * One run from beginning to end: build, resume, train, last checkpoint, last validation, evaluate.
 */
#include <inttypes.h>

#include "core/base/cpu.h"
#include "core/training/checkpoint_format_internal.h"

static enum nn_status resume(struct nn_training_state *state, struct nn_error *err)
{
    struct nn_training_start start = {.total_steps = state->total_steps};
    if (!state->setup->resume[0]) {
        nn_checkpoint_prune(state->setup->directory, 0); /* those of another life */
    } else {
        enum nn_status status = nn_checkpoint_resume(state, &start.bits_may_differ, err);
        if (status != NN_OK) {
            return status;
        }
    }
    start.step = state->at.step;
    start.validated_step = nn_points_last_step(&state->log, "validation_loss");
    if (state->calls->started) {
        state->calls->started(state->calls->ctx, &start);
    }
    return NN_OK;
}

static enum nn_training_outcome outcome_of(const struct nn_training_state *state)
{
    if (state->diverged_step != 0) {
        return NN_TRAINING_DIVERGED;
    }
    if (state->at.step < state->total_steps && !state->patience_stopped) {
        return state->control == NN_STOP ? NN_TRAINING_STOPPED : NN_TRAINING_PAUSED;
    }
    return NN_TRAINING_COMPLETED;
}

/* The state after divergence is no place to go on from: the last checkpoint stays. */
static enum nn_status last_checkpoint(struct nn_training_state *state,
                                      enum nn_training_outcome outcome, struct nn_error *err)
{
    nn_points_deliver(state);
    return outcome == NN_TRAINING_DIVERGED ? NN_OK : nn_checkpoint_write(state, true, err);
}

static enum nn_status say_diverged(const struct nn_training_state *state, struct nn_error *err)
{
    return state->diverged_step != 0
               ? nn_fail(err, NN_ERR_DIVERGED,
                         "loss, gradient or weights were no longer finite at step %" PRIu64,
                         state->diverged_step)
               : nn_fail(err, NN_ERR_DIVERGED,
                         "what the network says of the train part was no longer finite after the "
                         "last step, %" PRIu64,
                         state->at.step);
}

static enum nn_status run(struct nn_training_state *state, struct nn_training_result **out,
                          struct nn_error *err)
{
    enum nn_status status = resume(state, err);
    if (status == NN_OK) {
        status = nn_state_prefix(state, err);
    }
    if (status == NN_OK) {
        status = nn_state_train(state, err);
    }
    if (status != NN_OK) {
        return status;
    }
    enum nn_training_outcome outcome = outcome_of(state);
    status = last_checkpoint(state, outcome, err);
    if (status == NN_OK && outcome == NN_TRAINING_COMPLETED) {
        status = nn_state_last_validation(state, err);
    }
    if (status == NN_OK) {
        status = nn_state_finish(state, outcome, out, err);
    }
    return status == NN_OK && (*out)->outcome == NN_TRAINING_DIVERGED ? say_diverged(state, err)
                                                                      : status;
}

enum nn_status nn_training_run(const struct nn_training_setup *setup,
                               const struct nn_training_callbacks *callbacks,
                               struct nn_training_result **out, struct nn_error *err)
{
    static const struct nn_training_callbacks SILENT = {0};
    nn_cpu_flush_denormals(); /* as the pool's threads do: bits must not depend on who works */
    struct nn_training_state state;
    enum nn_status status = nn_state_init(&state, setup, callbacks ? callbacks : &SILENT, err);
    if (status != NN_OK) {
        return status;
    }
    status = run(&state, out, err);
    nn_state_deinit(&state);
    return status;
}
