/* SPDX-License-Identifier: MIT
 *
 * Log lines: composed in a fixed buffer, written at once.
 */
#include "server/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/base/clock.h"
#include "server/base/text.h"

enum { LINE_MAX_BYTES = 2048, LINE_END_BYTES = 5 }; /* "...\n" and NUL */

struct line {
    char text[LINE_MAX_BYTES];
    size_t size;
    bool full;
};

static const char *const LEVELS[] = {[SV_LOG_DEBUG] = "debug",
                                     [SV_LOG_INFO] = "info",
                                     [SV_LOG_WARN] = "warn",
                                     [SV_LOG_ERROR] = "error"};

static void line_put(struct line *line, const char *text, size_t n)
{
    size_t room = LINE_MAX_BYTES - LINE_END_BYTES - line->size;
    if (n > room) {
        n = room;
        line->full = true;
    }
    memcpy(line->text + line->size, text, n);
    line->size += n;
}

__attribute__((format(printf, 2, 3))) static void line_format(struct line *line, const char *fmt,
                                                              ...)
{
    char text[64];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n > 0) {
        line_put(line, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    }
}

static bool is_plain(const char *text)
{
    if (!*text) {
        return false;
    }
    return sv_text_is_line(text) && !strpbrk(text, " \"\\=");
}

static void line_put_quoted(struct line *line, const char *text)
{
    line_put(line, "\"", 1);
    for (const char *c = text; *c && !line->full; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\') {
            line_format(line, "\\%c", byte);
        } else if (sv_text_control(c) == 2) {
            line_format(line, "\\x%02x\\x%02x", byte, (unsigned char)c[1]);
            c++;
        } else if (sv_text_control(c) == 1) {
            line_format(line, "\\x%02x", byte);
        } else {
            line_put(line, c, 1);
        }
    }
    line_put(line, "\"", 1);
}

static void line_put_field(struct line *line, const struct log_field *field)
{
    line_put(line, " ", 1);
    line_put(line, field->key, strlen(field->key));
    line_put(line, "=", 1);
    switch (field->kind) {
    case LOG_KIND_TEXT:
        if (!field->text) {
            line_put(line, "-", 1);
        } else if (is_plain(field->text)) {
            line_put(line, field->text, strlen(field->text));
        } else {
            line_put_quoted(line, field->text);
        }
        break;
    case LOG_KIND_INT:
        line_format(line, "%" PRId64, field->integer);
        break;
    case LOG_KIND_REAL:
        line_format(line, "%.6g", field->real);
        break;
    }
}

void log_write(const struct sv_log *log, enum sv_log_level level, const char *event,
               const struct log_field *fields, size_t n_fields)
{
    if (!log || level < log->level) {
        return;
    }
    int saved = errno;
    struct line line = {.size = 0, .full = false};
    char now[SV_TIME_SIZE];
    sv_time_format(sv_clock_wall_ms(), now);
    line_format(&line, "%s %s ", now, LEVELS[level]);
    line_put(&line, event, strlen(event));
    if (log->process) {
        line_put_field(&line, &LOG_TEXT("process", log->process));
    }
    for (size_t i = 0; i < n_fields; i++) {
        line_put_field(&line, &fields[i]);
    }
    const char *end = line.full ? "...\n" : "\n";
    memcpy(line.text + line.size, end, strlen(end));
    line.size += strlen(end);
    ssize_t written = write(log->fd, line.text, line.size);
    (void)written; /* a log that cannot be written must not stop the service */
    errno = saved;
}

const char *log_level_text(enum sv_log_level level)
{
    return LEVELS[level];
}

bool log_level_parse(const char *text, enum sv_log_level *out_level)
{
    for (size_t i = 0; i < sizeof LEVELS / sizeof LEVELS[0]; i++) {
        if (strcmp(LEVELS[i], text) == 0) {
            *out_level = (enum sv_log_level)i;
            return true;
        }
    }
    return false;
}
