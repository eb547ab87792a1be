/* SPDX-License-Identifier: MIT
 *
 * Steps of sequences: the input side of every feed of them. Batches are pointers into the scaled
 * copy of the set, in an order that is a function of seed and epoch, so there is nothing that a
 * checkpoint would have to keep.
 */
#include "core/training/steps_internal.h"

#include <math.h>

static struct nn_steps *steps_of(struct nn_feed *feed)
{
    return (struct nn_steps *)feed;
}

static const struct nn_steps *const_steps_of(const struct nn_feed *feed)
{
    return (const struct nn_steps *)feed;
}

/* --- building --------------------------------------------------------------------------------- */

size_t nn_feed_sequences_rows(const struct nn_training_setup *setup, size_t max_batch)
{
    size_t most = 0;
    for (int part = 0; part < NN_PART_COUNT; part++) {
        const struct nn_split_side *side = &setup->parts[part];
        size_t rows = nn_sequence_loader_max_steps(setup->sequences, setup->windows, side->items,
                                                   side->count, max_batch);
        most = rows > most ? rows : most;
    }
    return most;
}

static enum nn_status setup_check(const struct nn_training_setup *setup, struct nn_error *err)
{
    if (!setup->scaling) {
        return nn_fail(err, NN_ERR_INVALID, "sequences need a scaling");
    }
    if (setup->bind.features != nn_scaling_inputs(setup->scaling) ||
        setup->bind.longest != nn_sequences_info(setup->sequences)->longest) {
        return nn_fail(err, NN_ERR_INVALID, "the network is bound to another data set");
    }
    if (setup->sequence_sort != NN_SEQUENCE_SORT_NONE &&
        setup->options.shuffle != NN_SHUFFLE_NEVER) {
        return nn_fail(err, NN_ERR_INVALID, "sequences are either sorted or shuffled");
    }
    return NN_OK;
}

enum nn_status nn_steps_init(struct nn_steps *steps, struct nn_error *err)
{
    const struct nn_training_setup *setup = steps->base.setup;
    enum nn_status status = setup_check(setup, err);
    if (status != NN_OK) {
        return status;
    }
    steps->max_rows = nn_feed_sequences_rows(setup, steps->base.max_batch);
    return nn_scaled_sequences_create(setup->sequences, setup->scaling, setup->memory,
                                      &steps->scaled, err);
}

enum nn_status nn_steps_attach(struct nn_steps *steps, struct nn_network *network,
                               struct nn_error *err)
{
    struct nn_memory *memory = steps->base.setup->memory;
    size_t n = steps->base.max_batch;
    steps->base.network = network;
    steps->inputs = nn_memory_alloc(memory, n, sizeof *steps->inputs);
    steps->lengths = nn_memory_alloc(memory, n, sizeof *steps->lengths);
    return steps->inputs && steps->lengths
               ? NN_OK
               : nn_fail(err, NN_ERR_MEMORY, "no memory for the buffers of a run");
}

void nn_steps_deinit(struct nn_steps *steps)
{
    struct nn_memory *memory = steps->base.setup->memory;
    nn_sequence_loader_destroy(steps->loader);
    nn_scaled_sequences_destroy(steps->scaled);
    nn_memory_free(memory, steps->inputs);
    nn_memory_free(memory, steps->lengths);
}

size_t nn_steps_max_rows(const struct nn_feed *base)
{
    return const_steps_of(base)->max_rows;
}

struct nn_sequence_piece nn_steps_piece(const struct nn_feed *base, uint32_t item)
{
    return nn_sequence_piece_at(base->setup->sequences, base->setup->windows, item);
}

/* --- statistics of the input ------------------------------------------------------------------ */

/* Of one input over every step of the train part, std with n - 1; two passes. */
static void input_statistics(const struct nn_steps *feed, size_t column, nn_real *mean,
                             nn_real *deviation)
{
    const struct nn_training_setup *setup = feed->base.setup;
    const struct nn_split_side *train = &setup->parts[NN_PART_TRAIN];
    size_t width = nn_scaling_inputs(setup->scaling);
    double sums[2] = {0, 0}; /* of values, then of squares around their mean */
    double n = 0;
    for (int pass = 0; pass < 2; pass++) {
        double average = n > 0 ? sums[0] / n : 0;
        n = 0;
        for (size_t i = 0; i < train->count; i++) {
            const struct nn_sequence_piece piece = nn_steps_piece(&feed->base, train->items[i]);
            const nn_real *steps = nn_scaled_sequences_inputs_at(feed->scaled, &piece);
            for (size_t t = piece.length - piece.fresh; t < piece.length; t++) {
                double x = (double)steps[t * width + column];
                sums[pass] += pass == 0 ? x : (x - average) * (x - average);
            }
            n += (double)piece.fresh;
        }
    }
    *mean = (nn_real)(sums[0] / n);
    *deviation = n > 1 && sums[1] > 0 ? (nn_real)sqrt(sums[1] / (n - 1)) : 1;
}

void nn_steps_input_statistics(struct nn_feed *base)
{
    struct nn_feed_statistics out = nn_feed_statistics_of(base);
    for (size_t c = 0; c < out.count; c++) {
        input_statistics(steps_of(base), c, &out.mean[c], &out.deviation[c]);
    }
}

/* --- batches ---------------------------------------------------------------------------------- */

enum nn_status nn_steps_start(struct nn_feed *base, size_t epoch, size_t batch,
                              struct nn_error *err)
{
    const struct nn_training_setup *setup = base->setup;
    const struct nn_split_side *train = &setup->parts[NN_PART_TRAIN];
    const struct nn_sequence_loader_options loader = {
        .items = train->items,
        .count = train->count,
        .batch_size = (size_t)setup->options.batch_size,
        .windows = setup->windows,
        .drop_last = setup->options.drop_last,
        .shuffle = (enum nn_shuffle)setup->options.shuffle,
        .sort = setup->sequence_sort,
        .seed = setup->seed,
        .epochs = (size_t)setup->options.epochs,
        .first_epoch = epoch,
        .first_batch = batch,
        .memory = setup->memory,
    };
    return nn_sequence_loader_create(steps_of(base)->scaled, &loader, &steps_of(base)->loader, err);
}

bool nn_steps_next(struct nn_feed *base, struct nn_feed_batch *out_batch)
{
    struct nn_steps *feed = steps_of(base);
    if (!nn_sequence_loader_next(feed->loader, &feed->batch)) {
        return false;
    }
    *out_batch = (struct nn_feed_batch){feed->batch.epoch, feed->batch.first, feed->batch.count};
    return true;
}

void nn_steps_load(struct nn_feed *base, size_t first, size_t count)
{
    const struct nn_sequence_loader_batch *batch = &steps_of(base)->batch;
    const struct nn_sequence_batch in = {batch->inputs + first, batch->lengths + first, count};
    nn_network_load_sequences(base->network, &in);
}

void nn_steps_load_part(struct nn_feed *base, const struct nn_split_side *side, size_t first,
                        size_t count)
{
    struct nn_steps *feed = steps_of(base);
    for (size_t i = 0; i < count; i++) {
        const struct nn_sequence_piece piece = nn_steps_piece(base, side->items[first + i]);
        feed->inputs[i] = nn_scaled_sequences_inputs_at(feed->scaled, &piece);
        feed->lengths[i] = piece.length;
    }
    const struct nn_sequence_batch in = {feed->inputs, feed->lengths, count};
    nn_network_load_sequences(base->network, &in);
}

/* Batches are pointers into memory: nothing is waited for. */
double nn_steps_stall_seconds(const struct nn_feed *base)
{
    (void)base;
    return 0;
}

json_t *nn_steps_scaling(const struct nn_feed *base)
{
    return nn_scaling_encode(base->setup->scaling);
}
