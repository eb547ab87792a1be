/* SPDX-License-Identifier: MIT
 *
 * What the commands share: arguments, requests, tables.
 */
#ifndef CLI_CLI_INTERNAL_H
#define CLI_CLI_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "server/cli/cli.h"

/* ---------------------------------------------------------------------------- arguments.c */

/* One option of a command: "--name VALUE", or a switch when value is NULL. */
struct cli_option {
    const char *flag;
    const char **value;
    bool *given;
};

/* Takes options out of argv; what is left keeps its order and *inout_argc becomes its count. "--"
 * ends the options. False for an unknown option or a missing value, said on stderr with usage. */
bool cli_arguments(int *inout_argc, char **argv, const struct cli_option *options, size_t n,
                   const char *usage);

/* ------------------------------------------------------------------------------- client.c */

struct cli_client;

/* server NULL: ASSAY_SERVER, else http://127.0.0.1:8470. The token comes from ASSAY_TOKEN. NULL on
 * failure, said on stderr. */
struct cli_client *cli_client_create(const char *server);
void cli_client_destroy(struct cli_client *client);
/* Where it asks, as people are told: without a name and a password. Borrowed. */
const char *cli_client_address(const struct cli_client *client);

struct cli_reply {
    long status;  /* 0: no answer at all */
    json_t *json; /* body, NULL if it is not JSON, or does not say that it is */
    char etag[64];
    char text[320]; /* who did not answer, and why */
};
void cli_reply_deinit(struct cli_reply *reply);

struct cli_request {
    const char *method;
    const char *path; /* with query; below the server's address */
    const json_t *body;
    FILE *upload; /* instead of body: as application/octet-stream, upload_size bytes */
    size_t upload_size;
    const char *etag; /* for If-None-Match */
    const char *key;  /* for Idempotency-Key */
    /* What makes an answer of ours, for cli_reply_fits: a member that is a text ("id": an id), and
     * one that is a list of objects. NULL: none. */
    const char *text, *list;
};
/* True when an answer came; *out_reply must be deinitialised either way. */
bool cli_send(struct cli_client *client, const struct cli_request *request,
              struct cli_reply *out_reply);
/* Is it a 2xx with a JSON object that has the members the request names? Whatever else listens on
 * the port may answer 200 as well. */
bool cli_reply_fits(const struct cli_request *request, const struct cli_reply *reply);
/* cli_send that expects a fitting reply: else says why on stderr and returns NULL. New reference.
 */
json_t *cli_call(struct cli_client *client, const struct cli_request *request);
/* Says on stderr what an unwelcome reply says. */
void cli_complain(const struct cli_reply *reply);

/* -------------------------------------------------------------------------------- pages.c */

/* All items of a list, page by page; path has a query. NULL on failure, said on stderr. */
json_t *cli_items(struct cli_client *client, const char *path);
/* The same when the first page, with its items checked, is there; it is taken. NULL: NULL. */
json_t *cli_pages_take(struct cli_client *client, const char *path, json_t *first);

/* --------------------------------------------------------------------------------- text.c */

/* The text with its control characters written as JSON writes them, but for those in `keep`. The
 * caller frees it; NULL: no memory. Whatever a server says goes through here to a terminal. */
char *cli_plain(const char *text, const char *keep);
/* One line on stderr, by cli_plain. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* -------------------------------------------------------------------------------- table.c */

/* Prints rows of texts in columns as wide as their content; numbers (as `right` says) to the right.
 * cells[row * n_columns + column]; row 0 is the head. */
void cli_table_print(FILE *out, const char *const *cells, size_t n_rows, size_t n_columns,
                     const bool *right);
/* The text of a JSON value as a table shows it: strings bare, reals with four digits, null as "-";
 * without control characters. The caller frees it. */
char *cli_cell(const json_t *value);
/* One row an item of a list, one column a key. */
void cli_rows_print(const json_t *items, const char *const *keys, size_t n_keys, const bool *right,
                    FILE *out);
/* The results table of a job: swept parameters, state, metrics. False when it cannot be read. */
bool cli_results_print(struct cli_client *client, const char *job_id, FILE *out);

/* -------------------------------------------------------------------------------- watch.c */

/* Shows the progress of a job on stderr until all its trials have ended; the exit status. A server
 * that is silent for longer than away_ms is given up; "nothing has changed" is no silence. */
enum { CLI_AWAY_MS = 60000 };
int cli_watch(struct cli_client *client, const char *job_id, int64_t away_ms);
/* "[#####.....]" of width characters in the brackets. */
void cli_bar(char *out, size_t size, size_t width, double share);

#endif
