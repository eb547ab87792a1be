/* SPDX-License-Identifier: MIT
 *
 * Philox4x32-10 and what is drawn from it. Constants from "Parallel random numbers: as easy as
 * 1, 2, 3" (SC'11), table 2.
 */
#include "core/base/random.h"

#include <math.h>

#define PHILOX_M0     0xD2511F53u
#define PHILOX_M1     0xCD9E8D57u
#define PHILOX_W0     0x9E3779B9u
#define PHILOX_W1     0xBB67AE85u
#define PHILOX_ROUNDS 10

void nn_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t p0 = (uint64_t)PHILOX_M0 * c0;
        uint64_t p1 = (uint64_t)PHILOX_M1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

void nn_random_counter(uint32_t purpose, uint64_t epoch, uint64_t index, uint32_t block,
                       uint32_t out_counter[4])
{
    out_counter[0] = block;
    out_counter[1] = (uint32_t)index;
    out_counter[2] = (uint32_t)epoch;
    out_counter[3] = purpose << 24 | ((uint32_t)(index >> 32) & 0xFFFFFFu);
}

void nn_random_init(struct nn_random *random, uint64_t seed, uint32_t purpose, uint64_t epoch,
                    uint64_t index)
{
    *random = (struct nn_random){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)}};
    nn_random_counter(purpose, epoch, index, 0, random->counter);
}

uint32_t nn_random_u32(struct nn_random *random)
{
    if (random->left == 0) {
        nn_philox4x32(random->counter, random->key, random->words);
        random->counter[0]++;
        random->left = 4;
    }
    return random->words[4 - random->left--];
}

uint64_t nn_random_u64(struct nn_random *random)
{
    uint64_t low = nn_random_u32(random);
    return (uint64_t)nn_random_u32(random) << 32 | low;
}

double nn_random_uniform(struct nn_random *random)
{
    return (double)(nn_random_u64(random) >> 11) * 0x1p-53;
}

uint64_t nn_random_below(struct nn_random *random, uint64_t n)
{
    NN_ASSERT(n > 0);
    uint64_t unfair = (0 - n) % n; /* 2^64 mod n: so many values would favour small remainders */
    uint64_t value;
    do {
        value = nn_random_u64(random);
    } while (value < unfair);
    return value % n;
}

double nn_random_normal(struct nn_random *random)
{
    double radius = sqrt(-2.0 * log(1.0 - nn_random_uniform(random))); /* of a value in (0, 1] */
    return radius * cos(2.0 * 3.14159265358979323846 * nn_random_uniform(random));
}

void nn_random_shuffle(struct nn_random *random, uint32_t *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)nn_random_below(random, i);
        uint32_t item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}
