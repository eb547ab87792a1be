/* SPDX-License-Identifier: MIT
 *
 * The feed of classifications of images and of windows of signals: pixels (of signals float32) from
 * the loader, cross-entropy over the classes. Noise is part of a signal: what is drawn once is
 * added to all windows before the run, what is drawn anew by the loader, to what trains.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/prefix.h"
#include "core/training/classes_internal.h"

/* Buffers hold max_batch entries each. */
struct image_feed {
    struct nn_feed base;
    size_t sample_bytes;
    struct nn_loader *loader; /* since start */
    struct nn_batch batch;    /* taken last */
    struct nn_classes classes;
    float *noisy; /* all windows with the noise that is drawn once; NULL: there is none */
    uint8_t *pixels;
    const nn_real **rows; /* of the batch, where the frozen prefix is kept */
};

static struct image_feed *images(struct nn_feed *feed)
{
    return (struct image_feed *)feed;
}

static const struct image_feed *const_images(const struct nn_feed *feed)
{
    return (const struct image_feed *)feed;
}

static bool is_of_signals(const struct nn_feed *feed)
{
    return nn_prepared_info(feed->setup->prepared)->value_bytes == sizeof(float);
}

/* The values of an item as they are evaluated. */
static const uint8_t *item_of(const struct image_feed *feed, uint32_t item)
{
    return feed->noisy ? (const uint8_t *)feed->noisy + item * feed->sample_bytes
                       : nn_prepared_pixels(feed->base.setup->prepared, item);
}

static void load_values(struct nn_feed *base, const uint8_t *values, size_t count)
{
    if (is_of_signals(base)) {
        nn_network_load_f32(base->network, (const float *)(const void *)values, count);
    } else {
        nn_network_load_u8(base->network, values, count);
    }
}

/* --- building --------------------------------------------------------------------------------- */

static void images_destroy(struct nn_feed *base)
{
    struct image_feed *feed = images(base);
    struct nn_memory *memory = base->setup->memory;
    nn_loader_destroy(feed->loader);
    nn_classes_deinit(&feed->classes, memory);
    nn_memory_free(memory, feed->noisy);
    nn_memory_free(memory, feed->pixels);
    nn_memory_free(memory, (void *)feed->rows);
    nn_memory_free(memory, base->prefix_rows);
    nn_rows_close(base->rows);
    free(feed);
}

static size_t images_max_rows(const struct nn_feed *feed)
{
    (void)feed;
    return 0;
}

/* The loader does not draw from the cap, so its bytes are asked for here. */
static enum nn_status cap_check(const struct nn_training_setup *setup, struct nn_error *err)
{
    const struct nn_loader_options loader = {.items = setup->parts[NN_PART_TRAIN].items,
                                             .count = setup->parts[NN_PART_TRAIN].count,
                                             .batch_size = (size_t)setup->options.batch_size,
                                             .epochs = 1};
    size_t needed = nn_loader_bytes(setup->prepared, &loader);
    if (setup->memory && nn_memory_cap(setup->memory) - nn_memory_used(setup->memory) < needed) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the loader's %zu bytes", needed);
    }
    return NN_OK;
}

static enum nn_status images_attach(struct nn_feed *base, struct nn_network *network,
                                    const struct nn_exec *exec, struct nn_error *err)
{
    struct image_feed *feed = images(base);
    struct nn_memory *memory = base->setup->memory;
    base->network = network;
    enum nn_status status = nn_classes_make(&feed->classes, base, exec, err);
    if (status != NN_OK) {
        return status;
    }
    feed->pixels = nn_memory_alloc(memory, base->max_batch, feed->sample_bytes);
    feed->rows = nn_memory_alloc(memory, base->max_batch, sizeof(void *));
    return feed->pixels && feed->rows
               ? cap_check(base->setup, err)
               : nn_fail(err, NN_ERR_MEMORY, "no memory for the buffers of a run");
}

/* --- statistics of the input ------------------------------------------------------------------ */

/* In double, two passes, in the order of the samples: of the values with their noise. */
static void signal_statistics(const struct image_feed *feed, size_t channel, nn_real *mean,
                              nn_real *deviation)
{
    const struct nn_split_side *train = &feed->base.setup->parts[NN_PART_TRAIN];
    const struct nn_prepared_info *info = nn_prepared_info(feed->base.setup->prepared);
    size_t length = info->height * info->width * info->channels;
    double n = (double)train->count * (double)(info->height * info->width);
    double average = 0;
    double squares = 0;
    for (int pass = 0; pass < 2; pass++) {
        double sum = 0;
        for (size_t i = 0; i < train->count; i++) {
            const float *values = (const float *)(const void *)item_of(feed, train->items[i]);
            for (size_t k = channel; k < length; k += info->channels) {
                double x = (double)values[k] - average;
                sum += pass == 0 ? x : x * x;
            }
        }
        average = pass == 0 ? sum / n : average;
        squares = sum;
    }
    *mean = (nn_real)average;
    *deviation = squares > 0 ? (nn_real)sqrt(squares / n) : 1;
}

/* Exact sums over integers, so the order of samples does not matter. A constant channel gets the
 * deviation 1: it becomes 0, not NaN. */
static void channel_statistics(const struct image_feed *feed, size_t channel, nn_real *mean,
                               nn_real *deviation)
{
    const struct nn_training_setup *setup = feed->base.setup;
    const struct nn_split_side *train = &setup->parts[NN_PART_TRAIN];
    const struct nn_prepared_info *info = nn_prepared_info(setup->prepared);
    uint64_t sum = 0;
    uint64_t squares = 0;
    for (size_t i = 0; i < train->count; i++) {
        const uint8_t *pixels = nn_prepared_pixels(setup->prepared, train->items[i]);
        for (size_t k = channel; k < feed->sample_bytes; k += info->channels) {
            sum += pixels[k];
            squares += (uint64_t)pixels[k] * pixels[k];
        }
    }
    double n = (double)train->count * (double)info->height * (double)info->width;
    double average = (double)sum / n;
    double variance = (double)squares / n - average * average;
    *mean = (nn_real)average;
    *deviation = variance > 0.0 ? (nn_real)sqrt(variance) : 1;
}

static void images_input_statistics(struct nn_feed *base)
{
    struct nn_feed_statistics out = nn_feed_statistics_of(base);
    for (size_t c = 0; c < out.count; c++) {
        if (is_of_signals(base)) {
            signal_statistics(images(base), c, &out.mean[c], &out.deviation[c]);
        } else {
            channel_statistics(images(base), c, &out.mean[c], &out.deviation[c]);
        }
    }
}

/* --- training --------------------------------------------------------------------------------- */

static enum nn_status images_start(struct nn_feed *base, size_t epoch, size_t batch,
                                   struct nn_error *err)
{
    const struct nn_training_setup *setup = base->setup;
    const struct nn_split_side *train = &setup->parts[NN_PART_TRAIN];
    bool fresh = nn_noise_is_on(&setup->noise) && setup->noise.draw == NN_NOISE_FRESH;
    const struct nn_loader_options loader = {
        .items = train->items,
        .count = train->count,
        .batch_size = (size_t)setup->options.batch_size,
        .drop_last = setup->options.drop_last,
        .shuffle = (enum nn_shuffle)setup->options.shuffle,
        .seed = setup->seed,
        .augmentation = setup->augmentation,
        .values = fresh ? NULL : images(base)->noisy,
        .noise = fresh ? setup->noise : (struct nn_noise){0},
        .epochs = (size_t)setup->options.epochs,
        .first_epoch = epoch,
        .first_batch = batch,
        .clock = setup->clock ? setup->clock : nn_system_clock,
        .clock_ctx = setup->clock_ctx,
    };
    return nn_loader_create(setup->prepared, &loader, &images(base)->loader, err);
}

static bool images_next(struct nn_feed *base, struct nn_feed_batch *out_batch)
{
    struct image_feed *feed = images(base);
    if (!nn_loader_next(feed->loader, &feed->batch)) {
        return false;
    }
    *out_batch = (struct nn_feed_batch){feed->batch.epoch, feed->batch.first, feed->batch.count};
    return true;
}

/* What the frozen prefix makes of the items, instead of their pixels: each alone, as kept rows were
 * made, because a product's last bits may depend on who else is in the batch. */
static void rows_load(struct nn_feed *base, const uint32_t *items, size_t count)
{
    const nn_real **rows = images(base)->rows;
    for (size_t i = 0; i < count; i++) {
        if (base->rows) {
            rows[i] = nn_rows_row(base->rows, items[i]);
            continue;
        }
        nn_real *row = base->prefix_rows + i * base->prefix_width;
        load_values(base, item_of(images(base), items[i]), 1);
        nn_network_prefix_forward(base->network, 1, row);
        rows[i] = row;
    }
    nn_network_prefix_load(base->network, rows, count);
}

static bool loads_rows(const struct nn_feed *base)
{
    return base->rows || base->prefix_rows;
}

static void images_load(struct nn_feed *base, size_t first, size_t count)
{
    const struct nn_batch *batch = &images(base)->batch;
    if (loads_rows(base)) {
        rows_load(base, batch->items + first, count);
        return;
    }
    load_values(base, batch->pixels + first * batch->stride, count);
}

static struct nn_feed_loss images_loss(struct nn_feed *base, size_t first, size_t count)
{
    struct image_feed *feed = images(base);
    return nn_classes_loss(&feed->classes, base, feed->batch.labels + first, count,
                           feed->batch.count);
}

static double images_stall_seconds(const struct nn_feed *base)
{
    const struct image_feed *feed = const_images(base);
    return feed->loader ? nn_loader_stall_seconds(feed->loader) : 0;
}

/* --- evaluation ------------------------------------------------------------------------------- */

static void images_begin(struct nn_feed *base)
{
    nn_evaluator_reset(images(base)->classes.evaluator);
}

static void images_load_part(struct nn_feed *base, const struct nn_split_side *side, size_t first,
                             size_t count)
{
    struct image_feed *feed = images(base);
    const struct nn_prepared *prepared = base->setup->prepared;
    for (size_t i = 0; loads_rows(base) && i < count; i++) {
        feed->classes.labels[i] = nn_prepared_label(prepared, side->items[first + i]);
    }
    if (loads_rows(base)) {
        rows_load(base, side->items + first, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t item = side->items[first + i];
        memcpy(feed->pixels + i * feed->sample_bytes, item_of(feed, item), feed->sample_bytes);
        feed->classes.labels[i] = nn_prepared_label(prepared, item);
    }
    load_values(base, feed->pixels, count);
}

static void images_judge_part(struct nn_feed *base, const struct nn_split_side *side, size_t first,
                              size_t count, struct nn_part_result *result)
{
    nn_classes_judge(&images(base)->classes, base, side, first, count, result);
}

static double images_part_loss(const struct nn_feed *base)
{
    return nn_evaluator_loss(const_images(base)->classes.evaluator);
}

static double images_part_measure(const struct nn_feed *base)
{
    return nn_evaluator_accuracy(const_images(base)->classes.evaluator);
}

static enum nn_status images_finish(struct nn_feed *base, struct nn_part_result *result,
                                    struct nn_error *err)
{
    return nn_evaluator_finish(images(base)->classes.evaluator, &result->evaluation, err);
}

/* --- the whole -------------------------------------------------------------------------------- */

static const struct nn_feed_kind IMAGES = {
    .task = NN_TASK_CLASSIFICATION,
    .training_measure = "training_accuracy",
    .validation_measure = "validation_accuracy",
    .destroy = images_destroy,
    .max_rows = images_max_rows,
    .attach = images_attach,
    .input_statistics = images_input_statistics,
    .start = images_start,
    .next = images_next,
    .load = images_load,
    .loss = images_loss,
    .measure = nn_classes_measure,
    .stall_seconds = images_stall_seconds,
    .begin = images_begin,
    .load_part = images_load_part,
    .judge_part = images_judge_part,
    .part_loss = images_part_loss,
    .part_measure = images_part_measure,
    .predictions_make = nn_classes_predictions_make,
    .finish = images_finish,
};

enum nn_status nn_feed_images_create(const struct nn_training_setup *setup, size_t max_batch,
                                     struct nn_feed **out, struct nn_error *err)
{
    const struct nn_prepared_info *info = nn_prepared_info(setup->prepared);
    const struct nn_network_bind *bind = &setup->bind;
    if (bind->height != info->height || bind->width != info->width ||
        bind->channels != info->channels || bind->classes != info->class_count) {
        return nn_fail(err, NN_ERR_INVALID, "the network is bound to another data set");
    }
    if (nn_noise_is_on(&setup->noise) && info->value_bytes != sizeof(float)) {
        return nn_fail(err, NN_ERR_INVALID, "noise is for signals, and these are images");
    }
    struct image_feed *feed = calloc(1, sizeof *feed);
    if (!feed) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a feed");
    }
    feed->base = (struct nn_feed){.kind = &IMAGES, .setup = setup, .max_batch = max_batch};
    feed->sample_bytes = info->height * info->width * info->channels * info->value_bytes;
    enum nn_status status = NN_OK;
    if (nn_noise_is_on(&setup->noise)) {
        status = nn_noise_make(&setup->noise, setup->prepared, setup->memory, setup->pool,
                               &feed->noisy, err);
    }
    if (status != NN_OK) {
        free(feed);
        return status;
    }
    *out = &feed->base;
    return NN_OK;
}
