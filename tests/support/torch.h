/* SPDX-License-Identifier: MIT
 *
 * Files of PyTorch written byte by byte in tests, true or not, and what the reader says to them.
 */
#ifndef TESTS_SUPPORT_TORCH_H
#define TESTS_SUPPORT_TORCH_H

#include "core/files/weights.h"

/* Begins as {0}; grows with what is put; the caller frees data. */
struct torch_bytes {
    unsigned char *data;
    size_t size, room;
};

void torch_put(struct torch_bytes *to, const void *data, size_t n);
void torch_put_text(struct torch_bytes *to, const char *text);
/* The low n bytes of a number, the least first. */
void torch_put_number(struct torch_bytes *to, uint64_t number, size_t n);

/* Opcodes of a tensor: of storage `key` with `count` elements, then offset, shape, strides. */
void torch_put_tensor(struct torch_bytes *to, const char *key, const char *count, const char *rest);

/* The status of a file in a block of exact size, so that a sanitizer sees a step too far. */
enum nn_status torch_status(const struct torch_bytes *file, struct nn_error *err);

/* Fails the test unless the file gets this status and its reason these words (NULL: any). Frees
 * the file's data. */
void torch_expect(struct torch_bytes *file, enum nn_status status, const char *words);

#endif
