/* SPDX-License-Identifier: MIT
 *
 * The two compression functions of SHA-256: state is updated with `blocks` blocks of 64 bytes.
 */
#ifndef NN_BASE_SHA256_INTERNAL_H
#define NN_BASE_SHA256_INTERNAL_H

#include "core/base/base.h"

extern const uint32_t nn_sha256_constants[64];

void nn_sha256_blocks_plain(uint32_t state[8], const uint8_t *data, size_t blocks);

/* Only where nn_sha256_has_instructions says so. */
bool nn_sha256_has_instructions(void);
void nn_sha256_blocks_instructions(uint32_t state[8], const uint8_t *data, size_t blocks);

#endif
