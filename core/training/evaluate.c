/* SPDX-License-Identifier: MIT
 *
 * Passes over a part without learning: evaluation in evaluation mode, and the population statistics
 * of batch normalisation. Samples go in the order of the part, in batches of max_batch.
 */
#include "core/training/state_internal.h"

/* Between batches: told to leave? */
static enum nn_status batch_pause(struct nn_training_state *state, const char *phase,
                                  struct nn_error *err)
{
    nn_progress_if_due(state, phase);
    enum nn_training_control control = nn_control_poll(state);
    if (control == NN_CANCEL || (control == NN_PAUSE && state->finishing)) {
        return nn_fail(err, NN_ERR_CANCELLED, "cancelled");
    }
    return NN_OK;
}

enum nn_status nn_state_evaluate(struct nn_training_state *state, const struct nn_split_side *part,
                                 const char *phase, struct nn_part_result *result,
                                 struct nn_error *err)
{
    const struct nn_feed_kind *feed = state->feed->kind;
    feed->begin(state->feed);
    for (size_t first = 0; first < part->count; first += state->max_batch) {
        size_t left = part->count - first;
        size_t count = left < state->max_batch ? left : state->max_batch;
        enum nn_status status = batch_pause(state, phase, err);
        if (status != NN_OK) {
            return status;
        }
        feed->load_part(state->feed, part, first, count);
        nn_network_forward(state->network, count, NN_PHASE_INFERENCE, NULL);
        feed->judge_part(state->feed, part, first, count, result);
    }
    return NN_OK;
}

enum nn_status nn_state_population(struct nn_training_state *state, struct nn_error *err)
{
    const struct nn_split_side *train = &state->setup->parts[NN_PART_TRAIN];
    nn_network_statistics_begin(state->network);
    for (size_t first = 0; first < train->count; first += state->max_batch) {
        size_t left = train->count - first;
        size_t count = left < state->max_batch ? left : state->max_batch;
        enum nn_status status = batch_pause(state, "statistics", err);
        if (status != NN_OK) {
            return status;
        }
        state->feed->kind->load_part(state->feed, train, first, count);
        nn_network_forward(state->network, count, NN_PHASE_STATISTICS, NULL);
    }
    nn_network_statistics_finish(state->network);
    return NN_OK;
}
