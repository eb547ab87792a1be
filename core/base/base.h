/* SPDX-License-Identifier: MIT
 *
 * What every room of the core stands on: status codes, error texts, checked sizes, the scalar type
 * and the assertion for our own bugs. Knows no tensors, files, clocks or threads (see memory.h,
 * random.h, parallel.h, cpu.h of this room).
 */
#ifndef NN_BASE_BASE_H
#define NN_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The scalar of every activation, parameter and gradient. MODE=f64 compiles the core in double so
 * that gradients can be checked against finite differences; kernels other than the plain ones and
 * files on disk are float32 only. */
#ifdef NN_REAL_DOUBLE
typedef double nn_real;
#else
typedef float nn_real;
#endif

/* In the place of a class: none is told, because the scores are not all numbers that can be
 * compared. */
#define NN_NO_CLASS UINT32_MAX

#define NN_MUST_CHECK      __attribute__((warn_unused_result))
#define NN_PRINTF(fmt, va) __attribute__((format(printf, fmt, va)))

/* NN_STATUS(name, slug, text): the one list of what can go wrong in the core. */
#define NN_STATUS_MAP(X)                                                                           \
    X(OK, "ok", "success")                                                                         \
    X(ERR_INVALID, "invalid_input", "the caller's value, file or description is wrong")            \
    X(ERR_NOT_SUPPORTED, "not_supported", "valid, but not built yet")                              \
    X(ERR_MEMORY, "out_of_memory", "the allocation limit or the machine's memory is exhausted")    \
    X(ERR_LIMIT, "limit_exceeded", "a size or count is over its cap")                              \
    X(ERR_IO, "io", "a read, write or map failed")                                                 \
    X(ERR_CORRUPT, "corrupt", "a file of ours fails its checksum or version")                      \
    X(ERR_DIVERGED, "diverged", "loss, gradient or weights are no longer finite")                  \
    X(ERR_CANCELLED, "cancelled", "the caller asked to stop")                                      \
    X(ERR_INTERNAL, "internal", "a bug or a failed self-test of ours")

enum nn_status {
#define NN_STATUS_ENUM(name, slug, text) NN_##name,
    NN_STATUS_MAP(NN_STATUS_ENUM)
#undef NN_STATUS_ENUM
        NN_STATUS_COUNT
};

/* Where and why. Filled once, where the mistake is first known; untouched on success. */
struct nn_error {
    char text[320];    /* one sentence for a person; no path of the machine, no SQL */
    char pointer[160]; /* JSON pointer of the field at fault, "" if none */
};

/* Stable slug ("invalid_input") and sentence of a status; never NULL. */
const char *nn_status_slug(enum nn_status status);
const char *nn_status_text(enum nn_status status);

/* Fills err (may be NULL) and returns status, so that `return nn_fail(err, NN_ERR_INVALID, ...)`.
 * nn_fail_at also names the JSON pointer. */
enum nn_status nn_fail(struct nn_error *err, enum nn_status status, const char *fmt, ...)
    NN_PRINTF(3, 4);
enum nn_status nn_fail_at(struct nn_error *err, enum nn_status status, const char *pointer,
                          const char *fmt, ...) NN_PRINTF(4, 5);

/* out = a * b (a + b); false and out untouched when the result does not fit. */
NN_MUST_CHECK bool nn_size_mul(size_t a, size_t b, size_t *out);
NN_MUST_CHECK bool nn_size_add(size_t a, size_t b, size_t *out);

/* For our own bugs only, never for user data, files or rows: prints to stderr and aborts. */
#define NN_ASSERT(cond)                                                                            \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            nn_assert_failed(#cond, __FILE__, __LINE__);                                           \
        }                                                                                          \
    } while (0)
_Noreturn void nn_assert_failed(const char *cond, const char *file, int line);

#endif
