/* SPDX-License-Identifier: MIT
 *
 * Names of the error list and the filling of error texts.
 */
#include "server/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct status_row {
    const char *slug;
    int http;
    const char *title;
};

static const struct status_row STATUS_ROWS[SV_STATUS_COUNT] = {
#define STATUS_ROW(name, slug, http, title) {slug, http, title},
    SV_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
};

static const struct status_row *status_row(enum sv_status status)
{
    bool known = (unsigned)status < SV_STATUS_COUNT;
    return &STATUS_ROWS[known ? status : SV_ERR_INTERNAL];
}

const char *sv_status_slug(enum sv_status status)
{
    return status_row(status)->slug;
}

enum sv_status sv_status_parse(const char *slug)
{
    for (int i = 0; slug && i < SV_STATUS_COUNT; i++) {
        if (strcmp(STATUS_ROWS[i].slug, slug) == 0) {
            return (enum sv_status)i;
        }
    }
    return SV_ERR_INTERNAL;
}

int sv_status_http(enum sv_status status)
{
    return status_row(status)->http;
}

const char *sv_status_title(enum sv_status status)
{
    return status_row(status)->title;
}

static void error_fill(struct sv_error *err, const char *pointer, const char *parameter,
                       const char *fmt, va_list args)
{
    if (!err) {
        return;
    }
    (void)vsnprintf(err->text, sizeof err->text, fmt, args);
    (void)snprintf(err->pointer, sizeof err->pointer, "%s", pointer);
    (void)snprintf(err->parameter, sizeof err->parameter, "%s", parameter);
}

enum sv_status sv_fail(struct sv_error *err, enum sv_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_fill(err, "", "", fmt, args);
    va_end(args);
    return status;
}

enum sv_status sv_fail_at(struct sv_error *err, enum sv_status status, const char *pointer,
                          const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_fill(err, pointer, "", fmt, args);
    va_end(args);
    return status;
}

enum sv_status sv_fail_parameter(struct sv_error *err, enum sv_status status, const char *parameter,
                                 const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_fill(err, "", parameter, fmt, args);
    va_end(args);
    return status;
}
