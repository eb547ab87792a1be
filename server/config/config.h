/* SPDX-License-Identifier: MIT
 *
 * The options of the daemon. One row an option; the struct, the parser, `assayd help` and the
 * environment of child processes all follow from CFG_OPTION_MAP.
 */
#ifndef CFG_CONFIG_H
#define CFG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "server/base/error.h"

/* TEXT: any string. CHOICE: one of the words in `range`, kept as text. INT: decimal. BYTES: decimal
 * with an optional suffix K, M, G (1024-based). SECONDS: decimal seconds. BOOL: 0/1/true/false. */
enum cfg_type { CFG_TEXT, CFG_CHOICE, CFG_INT, CFG_BYTES, CFG_SECONDS, CFG_BOOL };

/* X(kind, key, type, default, min, max, range, doc)
 * kind picks the struct's field: text -> const char *, number -> int64_t, flag -> bool.
 * min and max hold for numbers; range holds the words of a CHOICE, joined by '|'. */
#define CFG_OPTION_MAP(X)                                                                          \
    X(text, database, CFG_TEXT, "", 0, 0, "",                                                      \
      "PostgreSQL connection string; empty: an own cluster below the data directory")              \
    X(text, data_dir, CFG_TEXT, "", 0, 0, "",                                                      \
      "data directory; empty: /var/lib/assay as root, ~/.local/share/assay otherwise")             \
    X(text, listen, CFG_TEXT, "127.0.0.1:8470", 0, 0, "",                                          \
      "address and port of the HTTP server; port 0 takes a free one")                              \
    X(text, allowed_hosts, CFG_TEXT, "", 0, 0, "",                                                 \
      "comma list of further Host names that requests may carry; * allows any")                    \
    X(text, import_roots, CFG_TEXT, "", 0, 0, "",                                                  \
      "colon list of directories from which data sets may be registered by path")                  \
    X(number, request_threads, CFG_INT, "8", 1, 256, "", "threads that run HTTP handlers")         \
    X(number, request_queue, CFG_INT, "256", 1, 65536, "",                                         \
      "requests that may wait for a thread before 503 is answered")                                \
    X(number, io_threads, CFG_INT, "1", 1, 16, "", "threads that read and write sockets")          \
    X(number, max_connections, CFG_INT, "1024", 8, 65536, "", "open HTTP connections")             \
    X(number, max_parked, CFG_INT, "512", 1, 65536, "",                                            \
      "long polls and event streams that may wait at a time")                                      \
    X(number, max_body_bytes, CFG_BYTES, "1M", 1024, 67108864, "", "largest JSON body")            \
    X(number, max_upload_bytes, CFG_BYTES, "4G", 1024, INT64_C(1) << 40, "",                       \
      "largest uploaded file")                                                                     \
    X(number, header_seconds, CFG_SECONDS, "10", 1, 600, "",                                       \
      "time a client has to send the headers of a request")                                        \
    X(number, idle_seconds, CFG_SECONDS, "30", 1, 3600, "",                                        \
      "time after which a silent connection is closed")                                            \
    X(number, body_seconds, CFG_SECONDS, "30", 1, 3600, "",                                        \
      "time a client has to send a body, plus one second for each 16 KiB")                         \
    X(number, stop_seconds, CFG_SECONDS, "10", 0, 3600, "",                                        \
      "time that requests in flight have when the server stops")                                   \
    X(number, max_trials, CFG_INT, "1000", 1, 100000, "", "trials that one job may have")          \
    X(number, cache_bytes, CFG_BYTES, "32M", 0, INT64_C(1) << 34, "",                              \
      "memory for answers kept by revision, and as much again for curves of running trials")       \
    X(number, cores, CFG_INT, "0", 0, 4096, "", "core tokens of this worker; 0: all processors")   \
    X(text, isa, CFG_CHOICE, "auto", 0, 0, "auto|plain|avx2|avx512",                               \
      "instruction set of the kernels")                                                            \
    X(number, lease_seconds, CFG_SECONDS, "60", 2, 86400, "",                                      \
      "time after which a silent worker's trial is taken from it")                                 \
    X(number, poll_seconds, CFG_SECONDS, "5", 1, 3600, "",                                         \
      "time between looks at the queue when no notification arrives")                              \
    X(number, checkpoint_store_seconds, CFG_SECONDS, "600", 1, 86400, "",                          \
      "time between checkpoints kept in the database")                                             \
    X(number, grace_seconds, CFG_SECONDS, "10", 0, 3600, "",                                       \
      "time a child process has between the request to end and SIGKILL")                           \
    X(number, trial_memory_bytes, CFG_BYTES, "2G", 67108864, INT64_C(1) << 44, "",                 \
      "memory that a trial may use")                                                               \
    X(text, cgroup, CFG_TEXT, "auto", 0, 0, "",                                                    \
      "control group for hard limits of memory: auto takes one that systemd delegated, off none, " \
      "a "                                                                                         \
      "path the one it names")                                                                     \
    X(text, trial_user, CFG_TEXT, "nobody", 0, 0, "",                                              \
      "user that child processes run as when the daemon is root; best one of their own")           \
    X(number, blob_cache_bytes, CFG_BYTES, "8G", 0, INT64_C(1) << 44, "",                          \
      "disk that a worker's cache of data sets may use")                                           \
    X(text, log_level, CFG_CHOICE, "info", 0, 0, "error|warn|info|debug",                          \
      "least level that is logged")

/* The values in force. Made by cfg_load, immutable afterwards, shared by all threads. */
struct cfg {
#define CFG_FIELD_text(key)                                   const char *key;
#define CFG_FIELD_number(key)                                 int64_t key;
#define CFG_FIELD_flag(key)                                   bool key;
#define CFG_FIELD(kind, key, type, def, min, max, range, doc) CFG_FIELD_##kind(key)
    CFG_OPTION_MAP(CFG_FIELD)
#undef CFG_FIELD
#undef CFG_FIELD_text
#undef CFG_FIELD_number
#undef CFG_FIELD_flag
    char *storage; /* owns the texts */
};

struct cfg_option {
    const char *key;
    enum cfg_type type;
    const char *def; /* default, as text */
    int64_t min;
    int64_t max;
    const char *range; /* words of a choice, "" otherwise */
    const char *doc;
    size_t offset; /* of the field in struct cfg */
};

/* All rows, in the order of the map; *out_count of them. */
const struct cfg_option *cfg_options(size_t *out_count);

#define CFG_NAME_SIZE 64 /* bytes; of a flag or environment name */
/* Names that follow from the key: ASSAY_REQUEST_THREADS and --request-threads. */
void cfg_env_name(const struct cfg_option *option, char *out, size_t out_size);
void cfg_flag_name(const struct cfg_option *option, char *out, size_t out_size);

/* Fills out_cfg from argv ("--key value", "--key=value"), environment (as environ; may be NULL) and
 * defaults; a flag wins. Known flags and their values are taken out of argv, the rest keeps its
 * order and *inout_argc becomes its count: the caller refuses what it does not know. "--" ends the
 * flags. A bad value is SV_ERR_INVALID_PARAMETER whose text names option and range. */
SV_MUST_CHECK enum sv_status cfg_load(int *inout_argc, char **argv, char *const *environment,
                                      struct cfg *out_cfg, struct sv_error *err);
void cfg_deinit(struct cfg *cfg);

/* Calls set once for each option with its environment name and the value in force. */
typedef void (*cfg_export_fn)(void *ctx, const char *name, const char *value);
void cfg_export(const struct cfg *cfg, cfg_export_fn set, void *ctx);

/* The table for people: flag, environment name, default, range, explanation. */
void cfg_print_help(FILE *out);

#endif
