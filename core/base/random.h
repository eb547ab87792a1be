/* SPDX-License-Identifier: MIT
 *
 * Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC'11). A number is a
 * function of (seed, purpose, epoch, index, position), so results depend neither on the number of
 * threads nor on where a run was resumed, and a checkpoint needs no generator state.
 */
#ifndef NN_BASE_RANDOM_H
#define NN_BASE_RANDOM_H

#include "core/base/base.h"

/* One purpose, one stream: streams never overlap. The values are part of the result: only add. */
enum nn_random_purpose {
    NN_RANDOM_INITIALIZE = 1, /* index: parameter */
    NN_RANDOM_SHUFFLE = 2,
    NN_RANDOM_SPLIT = 3,
    NN_RANDOM_AUGMENT = 4, /* index: sample */
    NN_RANDOM_SEARCH = 5,
    NN_RANDOM_TEST = 6,
    NN_RANDOM_SIMULATE = 7,      /* epoch: part; index: engine, recording */
    NN_RANDOM_NOISE = 8,         /* epoch: 0 fixed, else 1 + epoch; index: sample */
    NN_RANDOM_AUGMENT_REAL = 12, /* index: sample */
    NN_RANDOM_EXPLAIN = 14,      /* index: copy of a sample with hidden parts */
    NN_RANDOM_DROPOUT = 64,      /* + number of the dropout layer (below 64); index: sample */
};

/* The block function: out = philox4x32_10(counter, key). out may alias counter. */
void nn_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Counter words of block `block` of a stream: {block, index low 32, epoch low 32, purpose << 24 |
 * index bits 32..55}; key: the seed, low word first. Kernels that draw many numbers at once use the
 * same words. */
void nn_random_counter(uint32_t purpose, uint64_t epoch, uint64_t index, uint32_t block,
                       uint32_t out_counter[4]);

/* A reader of one stream; a value type, freely copied. */
struct nn_random {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t words[4];
    unsigned left; /* unread words */
};

/* purpose < 256, index < 2^56. */
void nn_random_init(struct nn_random *random, uint64_t seed, uint32_t purpose, uint64_t epoch,
                    uint64_t index);

uint32_t nn_random_u32(struct nn_random *random);
uint64_t nn_random_u64(struct nn_random *random);

/* In [0, 1), 53 bits. */
double nn_random_uniform(struct nn_random *random);

/* In [0, n), without bias; n > 0. */
uint64_t nn_random_below(struct nn_random *random, uint64_t n);

/* Mean 0, variance 1 (Box-Muller, one of the pair). */
double nn_random_normal(struct nn_random *random);

/* Fisher-Yates: every order equally likely. */
void nn_random_shuffle(struct nn_random *random, uint32_t *items, size_t n);

#endif
