/* SPDX-License-Identifier: MIT
 *
 * Sequences: how a batch of them is packed, and which row belongs to which step of which sample.
 */
#include "core/network/network_internal.h"

/* ---- rows ---- */

size_t nn_tensor_rows_max(const struct nn_network *network, const struct nn_tensor *tensor)
{
    size_t batch = tensor->sequence ? network->options.max_rows : network->options.max_batch;
    return batch * tensor->shape.height * tensor->shape.width;
}

size_t nn_tensor_rows(const struct nn_network *network, const struct nn_tensor *tensor,
                      size_t batch)
{
    size_t samples = tensor->sequence ? nn_rows_count(&network->rows) : batch;
    return samples * tensor->shape.height * tensor->shape.width;
}

/* ---- loading ---- */

struct packing {
    const struct nn_network *network;
    const struct nn_sequence_batch *batch;
};

/* One sequence, normalised on the way. */
static void pack_sequence(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct packing *p = ctx;
    const struct nn_network *network = p->network;
    const struct nn_input_factors *f = &network->factors;
    struct nn_view x = network->tensors[network->input].value.view;
    size_t features = network->tensors[network->input].shape.channels;
    const nn_real *src = p->batch->sequences[chunk];
    for (size_t t = 0; t < p->batch->lengths[chunk]; t++, src += features) {
        nn_real *dst = nn_view_rows(x, nn_rows_at(&network->rows, chunk, t)).data;
        for (size_t c = 0; c < features; c++) {
            dst[c] = (src[c] - f->centre[c]) * f->factor[c];
        }
    }
}

void nn_network_pack_sequences(struct nn_network *network, const struct nn_sequence_batch *batch)
{
    size_t rows = 0;
    NN_ASSERT(nn_network_takes_sequences(network));
    NN_ASSERT(batch->batch > 0 && batch->batch <= network->options.max_batch);
    for (size_t i = 0; i < batch->batch; i++) {
        NN_ASSERT(batch->lengths[i] > 0);
        rows += batch->lengths[i];
    }
    NN_ASSERT(rows <= network->options.max_rows);
    network->rows = nn_rows_pack(batch->lengths, batch->batch, network->packing);
    nn_network_set_factors(network);
    struct packing packing = {network, batch};
    nn_parallel_for(network->exec.pool, batch->batch, pack_sequence, &packing);
}

bool nn_network_takes_sequences(const struct nn_network *network)
{
    return nn_description_takes_sequences(network->graph);
}

/* ---- rows of the output ---- */

static const struct nn_tensor *output_of(const struct nn_network *network)
{
    return &network->tensors[network->output];
}

bool nn_network_output_is_sequence(const struct nn_network *network)
{
    return output_of(network)->sequence;
}

size_t nn_network_output_rows(const struct nn_network *network, size_t batch)
{
    return nn_network_output_is_sequence(network) ? nn_rows_count(&network->rows) : batch;
}

size_t nn_network_output_rows_max(const struct nn_network *network)
{
    const struct nn_network_options *options = &network->options;
    return nn_network_output_is_sequence(network) ? options->max_rows : options->max_batch;
}

size_t nn_network_output_row(const struct nn_network *network, size_t sample, size_t step)
{
    return nn_network_output_is_sequence(network) ? nn_rows_at(&network->rows, sample, step)
                                                  : sample;
}

/* Rows of a sample in the output. */
static size_t steps_of(const struct nn_network *network, size_t sample)
{
    const struct nn_rows *rows = &network->rows;
    size_t steps = 1;
    while (nn_network_output_is_sequence(network) && steps < rows->steps &&
           rows->active[steps] > rows->ranks[sample]) {
        steps++;
    }
    return steps;
}

void nn_network_rows_from_samples(const struct nn_network *network, size_t batch,
                                  const nn_real *const *samples, size_t columns, nn_real *out_rows)
{
    for (size_t i = 0; i < batch; i++) {
        size_t steps = steps_of(network, i);
        for (size_t t = 0; t < steps; t++) {
            nn_real *row = out_rows + nn_network_output_row(network, i, t) * columns;
            for (size_t c = 0; c < columns; c++) {
                row[c] = samples[i][t * columns + c];
            }
        }
    }
}

void nn_network_samples_from_rows(const struct nn_network *network, size_t batch,
                                  const nn_real *rows, size_t columns, nn_real *const *out_samples)
{
    for (size_t i = 0; i < batch; i++) {
        size_t steps = steps_of(network, i);
        for (size_t t = 0; t < steps; t++) {
            const nn_real *row = rows + nn_network_output_row(network, i, t) * columns;
            for (size_t c = 0; c < columns; c++) {
                out_samples[i][t * columns + c] = row[c];
            }
        }
    }
}

void nn_network_row_weights(const struct nn_network *network, size_t batch, nn_real *out_weights)
{
    for (size_t i = 0; i < batch; i++) {
        size_t steps = steps_of(network, i);
        for (size_t t = 0; t < steps; t++) {
            out_weights[nn_network_output_row(network, i, t)] =
                (nn_real)(1.0 / ((double)batch * (double)steps));
        }
    }
}

enum nn_task nn_network_task(const struct nn_network *network)
{
    return nn_description_task(network->graph);
}
