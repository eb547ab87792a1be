/* SPDX-License-Identifier: MIT
 *
 * Rows of a table: CSV (RFC 4180; commas, semicolons or tabs) or columns between blanks, plain or
 * gzip. Read as a stream with caps; knows nothing of what the columns mean.
 *
 * Ends of line are LF, CRLF or CR; a byte order mark and lines without content are passed over.
 * Blanks round a cell are dropped unless it is quoted. In quotes a doubled quote is one, and
 * separators and line ends are content. Nothing depends on the locale. Confined to one thread.
 */
#ifndef NN_DATA_TABLE_INTERNAL_H
#define NN_DATA_TABLE_INTERNAL_H

#include "core/data/import.h"

struct nn_table_cell {
    const char *text; /* NUL-terminated, holds no other NUL; any encoding */
    size_t length;
    bool quoted;
};

struct nn_table_row {
    const struct nn_table_cell *cells; /* borrowed until the next row */
    size_t n;                          /* >= 1; 0: the table has ended */
    size_t line;                       /* where it begins, from 1 */
};

struct nn_table_caps {
    size_t row_bytes;   /* of one row */
    size_t cells;       /* of one row */
    size_t total_bytes; /* unpacked */
};

struct nn_table;

/* file is borrowed until closed. NN_TABLE_AUTO looks at the first line that has content: semicolons
 * if there is one, else tabs, else commas (unless `decimal`, '.' or ',', is one), else blanks.
 * NN_ERR_IO, NN_ERR_INVALID, NN_ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_table_open(const struct nn_import_file *file,
                                           enum nn_table_separator separator, char decimal,
                                           const struct nn_table_caps *caps,
                                           struct nn_table **out_table, struct nn_error *err);
void nn_table_close(struct nn_table *table);

/* Errors name file and line. NN_ERR_INVALID: a NUL byte, a quote that never ends or has text behind
 * it, damaged gzip. NN_ERR_LIMIT: over a cap. */
NN_MUST_CHECK enum nn_status nn_table_next(struct nn_table *table, struct nn_table_row *out_row,
                                           struct nn_error *err);

/* The number in a cell: digits with an optional sign, point (or comma, as `decimal` says) and
 * exponent, correctly rounded. NULL, or why it is none: "not_a_number" (hexadecimal too),
 * "not_finite" (NaN and Inf in words), "too_large" (for a float). */
const char *nn_number_read(const char *text, char decimal, double *out_value);

#endif
