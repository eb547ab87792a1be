/* SPDX-License-Identifier: MIT
 *
 * Loss and judging of classifications.
 */
#include "core/training/classes_internal.h"

#include <stdlib.h>

#include "core/loss/loss.h"

/* --- building --------------------------------------------------------------------------------- */

/* Ends in a softmax over the classes, once a sample; anything else is another kind of job. */
static enum nn_status output_check(const struct nn_network *network, size_t classes,
                                   struct nn_error *err)
{
    if (nn_network_output_size(network) != classes || !nn_network_ends_in_softmax(network) ||
        nn_network_output_is_sequence(network)) {
        return nn_fail(err, NN_ERR_INVALID,
                       "the network must end in softmax over the %zu classes of the data set",
                       classes);
    }
    return NN_OK;
}

enum nn_status nn_classes_make(struct nn_classes *classes, const struct nn_feed *feed,
                               const struct nn_exec *exec, struct nn_error *err)
{
    struct nn_memory *memory = feed->setup->memory;
    size_t n = feed->max_batch;
    enum nn_status status = output_check(feed->network, feed->setup->bind.classes, err);
    if (status != NN_OK) {
        return status;
    }
    classes->exec = *exec;
    classes->exec.workspace_bytes = nn_loss_workspace(n);
    classes->exec.workspace = nn_memory_alloc(memory, classes->exec.workspace_bytes, 1);
    classes->labels = nn_memory_alloc(memory, n, sizeof *classes->labels);
    classes->predicted = nn_memory_alloc(memory, n, sizeof *classes->predicted);
    classes->probability = nn_memory_alloc(memory, n, sizeof *classes->probability);
    classes->loss = nn_memory_alloc(memory, n, sizeof *classes->loss);
    if (!classes->exec.workspace || !classes->labels || !classes->predicted ||
        !classes->probability || !classes->loss) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the buffers of a run");
    }
    return nn_evaluator_create(feed->setup->bind.classes, &classes->evaluator, err);
}

void nn_classes_deinit(struct nn_classes *classes, struct nn_memory *memory)
{
    nn_evaluator_destroy(classes->evaluator);
    nn_memory_free(memory, classes->labels);
    nn_memory_free(memory, classes->predicted);
    nn_memory_free(memory, classes->probability);
    nn_memory_free(memory, classes->loss);
    nn_memory_free(memory, classes->exec.workspace);
}

/* --- loss ------------------------------------------------------------------------------------- */

/* The losses of the branches beside the output, weighted. */
static double auxiliary_losses(struct nn_classes *classes, const struct nn_feed *feed,
                               struct nn_loss_batch scores)
{
    double share = scores.weight;
    double sum = 0;
    for (size_t i = 0; i < nn_network_auxiliary_count(feed->network); i++) {
        struct nn_auxiliary auxiliary = nn_network_auxiliary(feed->network, i);
        scores.logits = auxiliary.scores;
        scores.weight = auxiliary.weight * share;
        sum += nn_loss_cross_entropy(&classes->exec, &scores, auxiliary.gradient, scores.ld).loss;
    }
    return sum;
}

struct nn_feed_loss nn_classes_loss(struct nn_classes *classes, struct nn_feed *feed,
                                    const uint32_t *labels, size_t count, size_t whole)
{
    size_t n = nn_network_output_size(feed->network);
    const struct nn_loss_batch scores = {
        .logits = nn_network_output(feed->network),
        .ld = n,
        .labels = labels,
        .rows = count,
        .classes = n,
        .weight = (double)count / (double)whole,
        .label_smoothing = feed->setup->options.label_smoothing,
        .class_weights = feed->setup->class_weights,
    };
    struct nn_loss_result result = nn_loss_cross_entropy(
        &classes->exec, &scores, nn_network_output_gradient(feed->network), n);
    return (struct nn_feed_loss){result.loss + auxiliary_losses(classes, feed, scores),
                                 (double)result.correct, (double)count};
}

double nn_classes_measure(const struct nn_feed *feed, const struct nn_feed_loss *batch)
{
    (void)feed;
    return batch->sum / batch->size;
}

/* --- evaluation ------------------------------------------------------------------------------- */

static void predictions_take(const struct nn_classes *classes, const struct nn_split_side *side,
                             size_t first, size_t count, struct nn_prediction *predictions)
{
    for (size_t i = 0; i < count; i++) {
        predictions[first + i] = (struct nn_prediction){
            .sample = side->items[first + i],
            .truth = classes->labels[i],
            .predicted = classes->predicted[i],
            .probability = classes->probability[i],
        };
    }
}

void nn_classes_judge(struct nn_classes *classes, const struct nn_feed *feed,
                      const struct nn_split_side *side, size_t first, size_t count,
                      struct nn_part_result *result)
{
    size_t n = nn_network_output_size(feed->network);
    const struct nn_loss_batch batch = {.logits = nn_network_output(feed->network),
                                        .ld = n,
                                        .labels = classes->labels,
                                        .rows = count,
                                        .classes = n};
    const struct nn_loss_rows rows = {classes->loss, classes->predicted, classes->probability};
    nn_loss_evaluate(&batch, &rows);
    nn_evaluator_add(classes->evaluator, classes->labels, classes->predicted, classes->loss, count);
    if (result && result->predictions) {
        predictions_take(classes, side, first, count, result->predictions);
    }
    if (result && result->probabilities) {
        nn_loss_probabilities(&batch, result->probabilities + first * n);
    }
}

enum nn_status nn_classes_predictions_make(const struct nn_feed *feed, enum nn_part part,
                                           struct nn_part_result *result, struct nn_error *err)
{
    const struct nn_training_setup *setup = feed->setup;
    const struct nn_split_side *side = &setup->parts[part];
    bool whole = setup->keep_probabilities && part != NN_PART_TRAIN;
    result->predictions = nn_memory_alloc(setup->memory, side->count, sizeof *result->predictions);
    size_t row = setup->bind.classes * sizeof *result->probabilities;
    if (whole) {
        result->probabilities = calloc(side->count, row);
    }
    return result->predictions && (result->probabilities || !whole)
               ? NN_OK
               : nn_fail(err, NN_ERR_MEMORY, "no memory for %zu predictions", side->count);
}
