/* SPDX-License-Identifier: MIT
 *
 * What the feeds of sequences share, whatever is told of them: scaled steps from the sequence
 * loader, their statistics, loading; private to the room.
 */
#ifndef NN_TRAINING_STEPS_INTERNAL_H
#define NN_TRAINING_STEPS_INTERNAL_H

#include "core/training/feed_internal.h"

/* What every feed of sequences begins with. Buffers hold max_batch entries each. */
struct nn_steps {
    struct nn_feed base;
    size_t max_rows;
    struct nn_scaled_sequences *scaled;
    struct nn_sequence_loader *loader;     /* since start */
    struct nn_sequence_loader_batch batch; /* taken last */
    const nn_real **inputs;
    size_t *lengths;
};

/* steps: zeroed, but for base; checks what concerns the inputs. A failed init is ended by deinit
 * too. */
NN_MUST_CHECK enum nn_status nn_steps_init(struct nn_steps *steps, struct nn_error *err);
/* The buffers, and base.network. */
NN_MUST_CHECK enum nn_status nn_steps_attach(struct nn_steps *steps, struct nn_network *network,
                                             struct nn_error *err);
void nn_steps_deinit(struct nn_steps *steps);

/* What item i of a part is. */
struct nn_sequence_piece nn_steps_piece(const struct nn_feed *feed, uint32_t item);

/* Of nn_feed_kind. */
size_t nn_steps_max_rows(const struct nn_feed *feed);
void nn_steps_input_statistics(struct nn_feed *feed);
NN_MUST_CHECK enum nn_status nn_steps_start(struct nn_feed *feed, size_t epoch, size_t batch,
                                            struct nn_error *err);
bool nn_steps_next(struct nn_feed *feed, struct nn_feed_batch *out_batch);
void nn_steps_load(struct nn_feed *feed, size_t first, size_t count);
void nn_steps_load_part(struct nn_feed *feed, const struct nn_split_side *side, size_t first,
                        size_t count);
double nn_steps_stall_seconds(const struct nn_feed *feed);
json_t *nn_steps_scaling(const struct nn_feed *feed);

#endif
