/* SPDX-License-Identifier: MIT
 *
 * What the operators with a batch norm in them share.
 *
 * Statistics. In TRAINING a batch norm uses those of the batch and moves the running ones:
 *     running = (1 - momentum) * running + momentum * batch      (the variance unbiased, as torch)
 * In STATISTICS it uses those of the batch and pools them with the ones before. In INFERENCE and
 * EXPLANATION, when frozen, and when the batch has one row in all (its variance would be 0), it
 * uses the running ones as constants and changes nothing.
 */
#ifndef NN_LAYERS_BATCH_NORM_INTERNAL_H
#define NN_LAYERS_BATCH_NORM_INTERNAL_H

#include "core/layers/shape_internal.h"

/* Memory of nn_pass.saved (part) and nn_pass.kept. */
struct nn_batch_norm_saved {
    nn_real *mean, *var; /* of the batch */
    nn_real *factors;
};
size_t nn_batch_norm_saved_bytes(size_t channels);
struct nn_batch_norm_saved nn_batch_norm_saved_at(void *memory, size_t channels);
size_t nn_batch_norm_kept_bytes(size_t channels);

/* Bytes of the moments of some chunks. */
size_t nn_batch_norm_moments_bytes(size_t chunks, size_t channels);

/* Whether the stored statistics are used for this batch. */
bool nn_batch_norm_is_stored(const struct nn_placed *placed, enum nn_phase phase, size_t rows);

/* Makes batch statistics of the moments and moves or pools the running ones. */
void nn_batch_norm_take(const struct nn_placed *placed, enum nn_phase phase, double *moments,
                        size_t chunks, size_t rows, const struct nn_batch_norm_saved *saved,
                        void *kept);

/* The kernel's arguments; with stored statistics saved may be NULL. */
struct nn_batch_norm nn_batch_norm_args(const struct nn_placed *placed, size_t rows,
                                        const struct nn_batch_norm_saved *saved, bool stored,
                                        bool relu);

/* Population statistics: begin, or make the running statistics of what was pooled. */
void nn_batch_norm_statistics(const struct nn_placed *placed, void *kept, enum nn_statistics what);

#endif
