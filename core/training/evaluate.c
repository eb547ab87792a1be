/* SPDX-License-Identifier: MIT
 *
 * Passes over a part without learning: evaluation in evaluation mode, and the population statistics
 * of batch normalisation. Samples go in the order of the part, in batches of max_batch.
 */
#include <string.h>

#include "core/training/state_internal.h"

/* Loads `count` samples of the part from `first` on into the network, and their labels. */
static void batch_load(struct nn_training_state *state, const struct nn_split_side *part,
                       size_t first, size_t count)
{
    const struct nn_prepared *prepared = state->setup->prepared;
    for (size_t i = 0; i < count; i++) {
        uint32_t item = part->items[first + i];
        memcpy(state->buffers.pixels + i * state->sample_bytes, nn_prepared_pixels(prepared, item),
               state->sample_bytes);
        state->buffers.labels[i] = nn_prepared_label(prepared, item);
    }
    nn_network_load_u8(state->network, state->buffers.pixels, count);
}

static void batch_judge(struct nn_training_state *state, size_t count)
{
    const struct nn_evaluation_buffers *buffers = &state->buffers;
    size_t classes = nn_network_output_size(state->network);
    const struct nn_loss_batch batch = {.logits = nn_network_output(state->network),
                                        .ld = classes,
                                        .labels = buffers->labels,
                                        .rows = count,
                                        .classes = classes};
    const struct nn_loss_rows rows = {buffers->loss, buffers->predicted, buffers->probability};
    nn_loss_evaluate(&batch, &rows);
    nn_evaluator_add(state->evaluator, buffers->labels, buffers->predicted, buffers->loss, count);
}

static void predictions_take(const struct nn_training_state *state,
                             const struct nn_split_side *part, size_t first, size_t count,
                             struct nn_prediction *predictions)
{
    const struct nn_evaluation_buffers *buffers = &state->buffers;
    for (size_t i = 0; i < count; i++) {
        predictions[first + i] = (struct nn_prediction){
            .sample = part->items[first + i],
            .truth = buffers->labels[i],
            .predicted = buffers->predicted[i],
            .probability = buffers->probability[i],
        };
    }
}

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
                                 const char *phase, struct nn_prediction *predictions,
                                 struct nn_error *err)
{
    nn_evaluator_reset(state->evaluator);
    for (size_t first = 0; first < part->count; first += state->max_batch) {
        size_t left = part->count - first;
        size_t count = left < state->max_batch ? left : state->max_batch;
        enum nn_status status = batch_pause(state, phase, err);
        if (status != NN_OK) {
            return status;
        }
        batch_load(state, part, first, count);
        nn_network_forward(state->network, count, NN_PHASE_INFERENCE, NULL);
        batch_judge(state, count);
        if (predictions) {
            predictions_take(state, part, first, count, predictions);
        }
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
        batch_load(state, train, first, count);
        nn_network_forward(state->network, count, NN_PHASE_STATISTICS, NULL);
    }
    nn_network_statistics_finish(state->network);
    return NN_OK;
}
