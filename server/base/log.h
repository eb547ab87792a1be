/* SPDX-License-Identifier: MIT
 *
 * The log: one line an event, time first, then key=value pairs; values with blanks, quotes or
 * control characters are quoted and escaped, so that no user text can forge a line. One write(2) a
 * line, so lines of several processes and threads do not mix.
 *
 *     log_event(log, SV_LOG_INFO, "trial_started", LOG_TEXT("trial", id), LOG_INT("fence", 3));
 *     2026-01-02T03:04:05.678Z info trial_started trial=0192... fence=3
 *
 * Never log a connection string, a token, a header or a request body.
 */
#ifndef SV_BASE_LOG_H
#define SV_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sv_log_level { SV_LOG_DEBUG, SV_LOG_INFO, SV_LOG_WARN, SV_LOG_ERROR };

/* Immutable once made; may be shared by threads. NULL in place of a log is silent. */
struct sv_log {
    int fd; /* 2 for stderr */
    enum sv_log_level level;
    const char *process; /* "serve", "work" ...: shown as process=; NULL: left out */
};

enum log_kind { LOG_KIND_TEXT, LOG_KIND_INT, LOG_KIND_REAL };

struct log_field {
    const char *key;
    enum log_kind kind;
    const char *text; /* NULL is shown as - */
    int64_t integer;
    double real;
};

#define LOG_TEXT(key_, value_)                                                                     \
    ((struct log_field){.key = (key_), .kind = LOG_KIND_TEXT, .text = (value_)})
#define LOG_INT(key_, value_)                                                                      \
    ((struct log_field){.key = (key_), .kind = LOG_KIND_INT, .integer = (int64_t)(value_)})
#define LOG_REAL(key_, value_)                                                                     \
    ((struct log_field){.key = (key_), .kind = LOG_KIND_REAL, .real = (value_)})

/* Writes one line; over-long lines are cut with "...". errno is kept. */
void log_write(const struct sv_log *log, enum sv_log_level level, const char *event,
               const struct log_field *fields, size_t n_fields);

/* log_write with the fields as arguments; at least one field. */
#define log_event(log_, level_, event_, ...)                                                       \
    log_write((log_), (level_), (event_), (const struct log_field[]){__VA_ARGS__},                 \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

/* "debug", "info", "warn", "error"; parse is false for anything else. */
const char *log_level_text(enum sv_log_level level);
bool log_level_parse(const char *text, enum sv_log_level *out_level);

#endif
