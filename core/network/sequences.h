/* SPDX-License-Identifier: MIT
 *
 * Part of network.h: batches of sequences, and the rows of an output, which are samples or steps.
 */
#ifndef NN_NETWORK_SEQUENCES_H
#define NN_NETWORK_SEQUENCES_H

#include "core/base/base.h"

struct nn_network;

/* A batch for a network that begins with a sequence_input: the i-th of `batch` sequences has
 * lengths[i] >= 1 steps of nn_network_input_size numbers, dense, one step after the other; at most
 * max_rows steps in all. Borrowed for the call. */
struct nn_sequence_batch {
    const nn_real *const *sequences;
    const size_t *lengths;
    size_t batch;
};
bool nn_network_takes_sequences(const struct nn_network *network);
void nn_network_load_sequences(struct nn_network *network, const struct nn_sequence_batch *batch);

/* Rows of the output: one a sample, in order; or, when the output is a sequence, one for each step
 * of the loaded sequences, in an order of the network's own: nn_network_output_row tells which. The
 * copies go from and to one dense array a sample (steps x columns), for targets and predictions;
 * the weight of a row is 1 / (batch * rows of its sample), so that weighted sums over rows are
 * means over samples of means over steps. `batch` is that of the loaded input. */
bool nn_network_output_is_sequence(const struct nn_network *network);
size_t nn_network_output_rows(const struct nn_network *network, size_t batch);
size_t nn_network_output_rows_max(const struct nn_network *network);
size_t nn_network_output_row(const struct nn_network *network, size_t sample, size_t step);
void nn_network_rows_from_samples(const struct nn_network *network, size_t batch,
                                  const nn_real *const *samples, size_t columns, nn_real *out_rows);
void nn_network_samples_from_rows(const struct nn_network *network, size_t batch,
                                  const nn_real *rows, size_t columns, nn_real *const *out_samples);
void nn_network_row_weights(const struct nn_network *network, size_t batch, nn_real *out_weights);

#endif
