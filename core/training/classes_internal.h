/* SPDX-License-Identifier: MIT
 *
 * What the feeds of classifications share, whatever their samples are: cross-entropy over the
 * scores of a batch, and the judging of parts; private to the room.
 */
#ifndef NN_TRAINING_CLASSES_INTERNAL_H
#define NN_TRAINING_CLASSES_INTERNAL_H

#include "core/training/feed_internal.h"

/* Buffers hold max_batch entries each. All zeros before make; a failed make is ended by deinit too.
 */
struct nn_classes {
    struct nn_evaluator *evaluator;
    struct nn_exec exec; /* the run's with the loss's workspace */
    uint32_t *labels;    /* of the loaded piece of a part: filled by the feed */
    uint32_t *predicted;
    float *probability;
    double *loss;
};

/* The network is attached: it must end in softmax over the classes of the bind. */
NN_MUST_CHECK enum nn_status nn_classes_make(struct nn_classes *classes, const struct nn_feed *feed,
                                             const struct nn_exec *exec, struct nn_error *err);
void nn_classes_deinit(struct nn_classes *classes, struct nn_memory *memory);

/* Of `count` samples with these labels, a piece of a batch of `whole`; writes the gradient. */
struct nn_feed_loss nn_classes_loss(struct nn_classes *classes, struct nn_feed *feed,
                                    const uint32_t *labels, size_t count, size_t whole);
/* Accuracy. */
double nn_classes_measure(const struct nn_feed *feed, const struct nn_feed_loss *batch);

/* nn_feed_kind's judge_part and predictions_make. */
void nn_classes_judge(struct nn_classes *classes, const struct nn_feed *feed,
                      const struct nn_split_side *side, size_t first, size_t count,
                      struct nn_part_result *result);
NN_MUST_CHECK enum nn_status nn_classes_predictions_make(const struct nn_feed *feed,
                                                         enum nn_part part,
                                                         struct nn_part_result *result,
                                                         struct nn_error *err);

#endif
