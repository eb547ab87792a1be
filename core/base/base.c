/* SPDX-License-Identifier: MIT
 *
 * Status names, error texts and checked sizes.
 */
#include "core/base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct status_row {
    const char *slug;
    const char *text;
};

static const struct status_row STATUS_ROWS[NN_STATUS_COUNT] = {
#define STATUS_ROW(name, slug, text) {slug, text},
    NN_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
};

static const struct status_row *status_row(enum nn_status status)
{
    bool known = (unsigned)status < NN_STATUS_COUNT;
    return &STATUS_ROWS[known ? status : NN_ERR_INTERNAL];
}

const char *nn_status_slug(enum nn_status status)
{
    return status_row(status)->slug;
}

const char *nn_status_text(enum nn_status status)
{
    return status_row(status)->text;
}

static void error_fill(struct nn_error *err, const char *pointer, const char *fmt, va_list args)
{
    if (!err) {
        return;
    }
    (void)vsnprintf(err->text, sizeof err->text, fmt, args);
    (void)snprintf(err->pointer, sizeof err->pointer, "%s", pointer);
}

enum nn_status nn_fail(struct nn_error *err, enum nn_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_fill(err, "", fmt, args);
    va_end(args);
    return status;
}

enum nn_status nn_fail_at(struct nn_error *err, enum nn_status status, const char *pointer,
                          const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_fill(err, pointer, fmt, args);
    va_end(args);
    return status;
}

bool nn_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        return false;
    }
    *out = product;
    return true;
}

bool nn_size_add(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum)) {
        return false;
    }
    *out = sum;
    return true;
}

void nn_assert_failed(const char *cond, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, cond);
    abort();
}
