/* SPDX-License-Identifier: MIT
 *
 * The loader: a ring of batches between one gathering thread and one consumer.
 *
 *   slot:  free -> (thread gathers) -> full -> (consumer takes) -> held -> (next call) -> free
 *
 * Invariants, guarded by `lock`: full + held <= slots, held is 0 or 1, the thread writes only the
 * slot behind the full ones, the consumer reads only the held one. What is in a batch depends on
 * the options alone, never on who waited for whom.
 */
#include "core/data/loader.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define DEFAULT_AHEAD 4
#define MAX_AHEAD     1024

struct slot {
    struct nn_batch batch;
    uint8_t *pixels;
    uint32_t *labels;
    uint32_t *items;
};

struct nn_loader {
    const struct nn_prepared *prepared;
    struct nn_loader_options options;
    size_t item_bytes;
    size_t slot_items;
    size_t n_slots;
    struct slot *slots;
    uint8_t *pixels; /* n_slots x slot_items x item_bytes, each slot aligned */
    uint32_t *words; /* labels and items of each slot, then the order of the epoch */
    uint32_t *order;
    double *scratch; /* of the thread, for noise; NULL without any */
    pthread_t thread;
    bool has_thread;
    double stall_seconds;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t first; /* slot of the oldest full batch */
    size_t full;
    bool held; /* the slot before `first` is with the consumer */
    bool ended;
    bool stop;
};

size_t nn_loader_batches(size_t count, size_t batch_size, bool drop_last)
{
    size_t whole = count / batch_size;
    bool rest = count % batch_size != 0;
    return whole + (rest && (!drop_last || whole == 0));
}

void nn_loader_order(const struct nn_loader_options *options, size_t epoch, uint32_t *out_items)
{
    struct nn_random random;
    memcpy(out_items, options->items, options->count * sizeof *out_items);
    if (options->shuffle == NN_SHUFFLE_NEVER) {
        return;
    }
    nn_random_init(&random, options->seed, NN_RANDOM_SHUFFLE,
                   options->shuffle == NN_SHUFFLE_ONCE ? 0 : epoch, 0);
    nn_random_shuffle(&random, out_items, options->count);
}

/* ------------------------------------------------------------------------------------ gathering */

static void gather_pixels(const struct nn_loader *l, uint32_t item, size_t epoch, uint8_t *out)
{
    const struct nn_prepared_info *info = nn_prepared_info(l->prepared);
    const struct nn_augment_key key = {l->options.seed, epoch, item};
    const uint8_t *pixels = l->options.values
                                ? (const uint8_t *)l->options.values + item * l->item_bytes
                                : nn_prepared_pixels(l->prepared, item);
    if (nn_noise_is_on(&l->options.noise)) {
        nn_noise_add(&l->options.noise, 1 + epoch, item, (const float *)(const void *)pixels,
                     (float *)(void *)out, info->height * info->width, info->channels, l->scratch);
    } else if (nn_augmentation_is_on(&l->options.augmentation)) {
        nn_augment(&l->options.augmentation, &key, pixels, out, info->height, info->width,
                   info->channels);
    } else {
        memcpy(out, pixels, l->item_bytes);
    }
}

static void gather(const struct nn_loader *l, struct slot *slot, size_t epoch, size_t index)
{
    size_t first = index * l->options.batch_size;
    size_t left = l->options.count - first;
    size_t count = left < l->options.batch_size ? left : l->options.batch_size;
    memcpy(slot->items, l->order + first, count * sizeof *slot->items);
    for (size_t i = 0; i < count; i++) {
        uint32_t item = slot->items[i];
        slot->labels[i] = nn_prepared_label(l->prepared, item);
        gather_pixels(l, item, epoch, slot->pixels + i * l->item_bytes);
    }
    slot->batch = (struct nn_batch){
        .epoch = epoch,
        .index = index,
        .first = first,
        .count = count,
        .stride = l->item_bytes,
        .pixels = slot->pixels,
        .labels = slot->labels,
        .items = slot->items,
    };
}

/* The slot to write next, once there is a free one; NULL when told to stop. */
static struct slot *wait_for_room(struct nn_loader *l)
{
    pthread_mutex_lock(&l->lock);
    while (!l->stop && l->full + l->held == l->n_slots) {
        pthread_cond_wait(&l->changed, &l->lock);
    }
    struct slot *slot = l->stop ? NULL : &l->slots[(l->first + l->full) % l->n_slots];
    pthread_mutex_unlock(&l->lock);
    return slot;
}

static void announce(struct nn_loader *l, bool ended)
{
    pthread_mutex_lock(&l->lock);
    l->full += !ended;
    l->ended = ended;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void *run(void *ctx)
{
    struct nn_loader *l = ctx;
    const struct nn_loader_options *o = &l->options;
    size_t batches = nn_loader_batches(o->count, o->batch_size, o->drop_last);
    size_t index = o->first_batch;
    for (size_t epoch = o->first_epoch; epoch < o->epochs; epoch++) {
        nn_loader_order(o, epoch, l->order);
        for (; index < batches; index++) {
            struct slot *slot = wait_for_room(l);
            if (!slot) {
                return NULL;
            }
            gather(l, slot, epoch, index);
            announce(l, false);
        }
        index = 0;
    }
    announce(l, true);
    return NULL;
}

/* ----------------------------------------------------------------------------- create and destroy
 */

static size_t slot_count(const struct nn_loader_options *options)
{
    return (options->ahead ? options->ahead : DEFAULT_AHEAD) + 1;
}

static size_t slot_items(const struct nn_loader_options *options)
{
    return options->batch_size < options->count ? options->batch_size : options->count;
}

/* Items are mapped: it fits. */
static size_t item_bytes(const struct nn_prepared_info *info)
{
    return info->height * info->width * info->channels * info->value_bytes;
}

/* Bytes of one slot's pixels, rounded up to the alignment; false on overflow. */
static bool slot_bytes(const struct nn_prepared_info *info, const struct nn_loader_options *options,
                       size_t *out_bytes)
{
    size_t bytes = item_bytes(info);
    if (!nn_size_mul(bytes, slot_items(options), &bytes) ||
        !nn_size_add(bytes, NN_ALIGNMENT - 1, &bytes)) {
        return false;
    }
    *out_bytes = bytes - bytes % NN_ALIGNMENT;
    return true;
}

/* Labels and items of all slots, and the order of an epoch. */
static bool word_count(const struct nn_loader_options *options, size_t *out_words)
{
    size_t words;
    return nn_size_mul(2 * slot_count(options), slot_items(options), &words) &&
           nn_size_add(words, options->count, out_words);
}

static size_t scratch_count(const struct nn_prepared_info *info,
                            const struct nn_loader_options *options)
{
    return nn_noise_is_on(&options->noise) ? nn_noise_scratch(info->height * info->width) : 0;
}

size_t nn_loader_bytes(const struct nn_prepared *prepared, const struct nn_loader_options *options)
{
    size_t pixels;
    size_t words;
    size_t total;
    if (!slot_bytes(nn_prepared_info(prepared), options, &pixels) ||
        !nn_size_mul(pixels, slot_count(options), &pixels) || !word_count(options, &words) ||
        !nn_size_mul(words, sizeof(uint32_t), &words) || !nn_size_add(pixels, words, &total) ||
        !nn_size_mul(scratch_count(nn_prepared_info(prepared), options), sizeof(double), &words) ||
        !nn_size_add(total, words, &total) ||
        !nn_size_add(total, sizeof(struct nn_loader) + slot_count(options) * sizeof(struct slot),
                     &total)) {
        return SIZE_MAX;
    }
    return total;
}

static enum nn_status check_options(const struct nn_prepared_info *info,
                                    const struct nn_loader_options *o, struct nn_error *err)
{
    if (o->count == 0 || o->batch_size == 0 || o->epochs == 0 || o->ahead > MAX_AHEAD) {
        return nn_fail(err, NN_ERR_INVALID, "loader: %zu items, batches of %zu, %zu epochs",
                       o->count, o->batch_size, o->epochs);
    }
    if ((o->values || nn_noise_is_on(&o->noise)) && info->value_bytes != sizeof(float)) {
        return nn_fail(err, NN_ERR_INVALID, "loader: noise is for signals");
    }
    if (nn_augmentation_is_on(&o->augmentation) && info->value_bytes != 1) {
        return nn_fail(err, NN_ERR_INVALID, "loader: augmentation is for images");
    }
    if (o->first_epoch > o->epochs ||
        o->first_batch > nn_loader_batches(o->count, o->batch_size, o->drop_last)) {
        return nn_fail(err, NN_ERR_INVALID, "loader: cannot begin at batch %zu of epoch %zu",
                       o->first_batch, o->first_epoch);
    }
    for (size_t i = 0; i < o->count; i++) {
        if (o->items[i] >= info->count) {
            return nn_fail(err, NN_ERR_INVALID, "loader: item %u of %zu", o->items[i], info->count);
        }
    }
    return NN_OK;
}

static bool allocate(struct nn_loader *l)
{
    size_t bytes;
    size_t words;
    struct nn_memory *memory = l->options.memory;
    if (!slot_bytes(nn_prepared_info(l->prepared), &l->options, &bytes) ||
        !word_count(&l->options, &words)) {
        return false;
    }
    l->slots = nn_memory_alloc(memory, l->n_slots, sizeof *l->slots);
    l->pixels = nn_memory_alloc(memory, l->n_slots, bytes);
    l->words = nn_memory_alloc(memory, words, sizeof *l->words);
    size_t scratch = scratch_count(nn_prepared_info(l->prepared), &l->options);
    l->scratch = scratch ? nn_memory_alloc(memory, scratch, sizeof *l->scratch) : NULL;
    if (!l->slots || !l->pixels || !l->words || (scratch && !l->scratch)) {
        return false;
    }
    for (size_t i = 0; i < l->n_slots; i++) {
        l->slots[i].pixels = l->pixels + i * bytes;
        l->slots[i].labels = l->words + 2 * i * l->slot_items;
        l->slots[i].items = l->slots[i].labels + l->slot_items;
    }
    l->order = l->words + 2 * l->n_slots * l->slot_items;
    return true;
}

/* Signals are for the threads that expect them. */
static bool start_thread(struct nn_loader *l)
{
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    l->has_thread = pthread_create(&l->thread, NULL, run, l) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return l->has_thread;
}

enum nn_status nn_loader_create(const struct nn_prepared *prepared,
                                const struct nn_loader_options *options,
                                struct nn_loader **out_loader, struct nn_error *err)
{
    const struct nn_prepared_info *info = nn_prepared_info(prepared);
    enum nn_status status = check_options(info, options, err);
    if (status != NN_OK) {
        return status;
    }
    struct nn_loader *l = nn_memory_alloc(options->memory, 1, sizeof *l);
    if (!l) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the loader");
    }
    l->prepared = prepared;
    l->options = *options;
    l->item_bytes = item_bytes(info);
    l->slot_items = slot_items(options);
    l->n_slots = slot_count(options);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    if (!allocate(l)) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory for %zu batches of %zu images", l->n_slots,
                         l->slot_items);
    } else if (!start_thread(l)) {
        status = nn_fail(err, NN_ERR_LIMIT, "no thread for the loader");
    }
    if (status != NN_OK) {
        nn_loader_destroy(l);
        return status;
    }
    *out_loader = l;
    return NN_OK;
}

void nn_loader_destroy(struct nn_loader *loader)
{
    if (!loader) {
        return;
    }
    if (loader->has_thread) {
        pthread_mutex_lock(&loader->lock);
        loader->stop = true;
        pthread_cond_signal(&loader->changed);
        pthread_mutex_unlock(&loader->lock);
        pthread_join(loader->thread, NULL);
    }
    pthread_cond_destroy(&loader->changed);
    pthread_mutex_destroy(&loader->lock);
    struct nn_memory *memory = loader->options.memory;
    nn_memory_free(memory, loader->slots);
    nn_memory_free(memory, loader->pixels);
    nn_memory_free(memory, loader->words);
    nn_memory_free(memory, loader->scratch);
    nn_memory_free(memory, loader);
}

/* ------------------------------------------------------------------------------------- consuming
 */

static void wait_for_batch(struct nn_loader *l)
{
    const struct nn_loader_options *o = &l->options;
    double begin = o->clock ? o->clock(o->clock_ctx) : 0;
    while (l->full == 0 && !l->ended) {
        pthread_cond_wait(&l->changed, &l->lock);
    }
    l->stall_seconds += o->clock ? o->clock(o->clock_ctx) - begin : 0;
}

bool nn_loader_next(struct nn_loader *loader, struct nn_batch *out_batch)
{
    struct nn_loader *l = loader;
    pthread_mutex_lock(&l->lock);
    l->held = false;
    pthread_cond_signal(&l->changed);
    if (l->full == 0 && !l->ended) {
        wait_for_batch(l);
    }
    bool has = l->full > 0;
    if (has) {
        *out_batch = l->slots[l->first].batch;
        l->first = (l->first + 1) % l->n_slots;
        l->full--;
        l->held = true;
    }
    pthread_mutex_unlock(&l->lock);
    return has;
}

double nn_loader_stall_seconds(const struct nn_loader *loader)
{
    return loader->stall_seconds;
}

void nn_batch_to_real(const struct nn_batch *batch, nn_real *dst, size_t ld)
{
    for (size_t i = 0; i < batch->count; i++) {
        const uint8_t *src = batch->pixels + i * batch->stride;
        nn_real *row = dst + i * ld;
        for (size_t j = 0; j < batch->stride; j++) {
            row[j] = src[j];
        }
    }
}
