/* SPDX-License-Identifier: MIT
 *
 * CSV (RFC 4180, CR LF). A text that a spreadsheet would take for a formula is prefixed by an
 * apostrophe; our own numbers never are.
 */
#ifndef API_CSV_INTERNAL_H
#define API_CSV_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "server/http/request.h"

#define API_CSV "text/csv; charset=utf-8"

struct csv_writer {
    FILE *out;
    char *text;
    size_t size;
    bool row_begun;
};

/* Did the client ask for CSV, and not for JSON? */
bool api_wants_csv(const struct http_request *req);

bool csv_begin(struct csv_writer *csv);
void csv_text(struct csv_writer *csv, const char *text); /* NULL: an empty cell */
void csv_integer(struct csv_writer *csv, int64_t value);
/* The fewest digits that give it back; NaN and infinities by name. */
void csv_number(struct csv_writer *csv, double value);
void csv_number_f32(struct csv_writer *csv, float value);
void csv_empty(struct csv_writer *csv);
void csv_end_row(struct csv_writer *csv);
/* The whole text, freed by free(); NULL when memory ran out on the way. */
char *csv_finish(struct csv_writer *csv, size_t *out_size);

#endif
