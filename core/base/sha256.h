/* SPDX-License-Identifier: MIT
 *
 * SHA-256 (FIPS 180-4), for content digests. Uses the processor's SHA instructions where it has
 * them.
 */
#ifndef NN_BASE_SHA256_H
#define NN_BASE_SHA256_H

#include "core/base/base.h"

#define NN_SHA256_SIZE 32
#define NN_SHA256_HEX  65 /* 64 lowercase digits and NUL */

struct nn_sha256 {
    uint32_t state[8];
    uint64_t total;    /* bytes so far */
    bool instructions; /* the processor has them; asked once, cpuid is slow in a virtual machine */
    uint8_t block[64];
};

void nn_sha256_init(struct nn_sha256 *hash);
void nn_sha256_update(struct nn_sha256 *hash, const void *data, size_t size);

/* hash must be initialised again before further use. */
void nn_sha256_finish(struct nn_sha256 *hash, uint8_t out_digest[NN_SHA256_SIZE]);

/* All three in one. */
void nn_sha256_of(const void *data, size_t size, uint8_t out_digest[NN_SHA256_SIZE]);

void nn_sha256_hex(const uint8_t digest[NN_SHA256_SIZE], char out_hex[NN_SHA256_HEX]);

#endif
