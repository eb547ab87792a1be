/* SPDX-License-Identifier: MIT
 *
 * The loader: batches of a prepared set, gathered ahead by a thread of its own.
 *
 * The order is a function of (seed, shuffle mode, epoch) alone: Fisher-Yates with the generator
 * keyed (seed, SHUFFLE, epoch). It does not depend on threads, on timing or on where a run was
 * resumed. Augmentation is done by the same thread. Pixels come as gathered bytes; the network's
 * input kernel (or nn_batch_to_real) makes numbers of them. A loader is confined to the thread that
 * created it; its own thread is private.
 */
#ifndef NN_DATA_LOADER_H
#define NN_DATA_LOADER_H

#include "core/base/memory.h"
#include "core/data/augment.h"
#include "core/data/noise.h"
#include "core/data/prepared.h"

enum nn_shuffle {
    NN_SHUFFLE_NEVER,
    NN_SHUFFLE_ONCE, /* one order, drawn as that of epoch 0, for all epochs */
    NN_SHUFFLE_EVERY_EPOCH,
};

/* Seconds of a monotonic clock; the core has no clock of its own. */
typedef double (*nn_clock_fn)(void *ctx);

struct nn_loader_options {
    const uint32_t *items; /* item indices, borrowed until destroyed */
    size_t count;          /* >= 1 */
    size_t batch_size;     /* >= 1 */
    bool drop_last;        /* the partial last batch is left out, unless it is the only one */
    enum nn_shuffle shuffle;
    uint64_t seed;
    size_t epochs;                       /* the loader ends after this many, >= 1 */
    size_t first_epoch;                  /* where to begin: a resumed run starts here */
    size_t first_batch;                  /* batch within first_epoch */
    struct nn_augmentation augmentation; /* of the pixels, by the seed; all zero: none */
    const float *values;                 /* of signals: all items' values instead of the set's,
                                            borrowed; NULL: the set's */
    struct nn_noise noise;               /* of signals, drawn anew in each epoch; all zero: none */
    size_t ahead;                        /* batches gathered ahead: 0 means 4 */
    nn_clock_fn clock;                   /* measures the stall; may be NULL, then it stays 0 */
    void *clock_ctx;
    struct nn_memory *memory; /* budget, borrowed until destroyed; NULL: only the machine's */
};

/* One batch, borrowed until the next call of nn_loader_next or the loader's end. */
struct nn_batch {
    size_t epoch;
    size_t index;          /* within the epoch */
    size_t first;          /* position of its first sample within the epoch */
    size_t count;          /* samples: batch_size, less in the last one */
    size_t stride;         /* bytes per sample: height * width * channels, of signals x 4 */
    const uint8_t *pixels; /* count x stride, 64-byte aligned */
    const uint32_t *labels;
    const uint32_t *items; /* which items of the set these are */
};

struct nn_loader;

/* Batches in one epoch. */
size_t nn_loader_batches(size_t count, size_t batch_size, bool drop_last);

/* Bytes that a loader allocates, for the memory plan. */
size_t nn_loader_bytes(const struct nn_prepared *prepared, const struct nn_loader_options *options);

/* Starts gathering at once. prepared is borrowed until destroyed. NN_ERR_INVALID: an index or a
 * size out of range. NN_ERR_MEMORY. NN_ERR_LIMIT: no thread to be had. */
NN_MUST_CHECK enum nn_status nn_loader_create(const struct nn_prepared *prepared,
                                              const struct nn_loader_options *options,
                                              struct nn_loader **out_loader, struct nn_error *err);
void nn_loader_destroy(struct nn_loader *loader);

/* The next batch, or false after the last one of the last epoch. Waits only when the thread is
 * behind. */
NN_MUST_CHECK bool nn_loader_next(struct nn_loader *loader, struct nn_batch *out_batch);

/* Seconds spent waiting in nn_loader_next so far. */
double nn_loader_stall_seconds(const struct nn_loader *loader);

/* dst[i * ld + j] = pixels[i * stride + j] for the whole batch: bytes 0..255 as numbers. */
void nn_batch_to_real(const struct nn_batch *batch, nn_real *dst, size_t ld);

/* The order of one epoch: count positions, a permutation of items. For tests and for showing. */
void nn_loader_order(const struct nn_loader_options *options, size_t epoch, uint32_t *out_items);

#endif
