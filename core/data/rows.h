/* SPDX-License-Identifier: MIT
 *
 * Kept rows: for each item of a data set a row of numbers that was computed from it, in one
 * read-only mapped file. A key of 32 bytes says what was computed; rows of another key, another
 * count or width, or another type of number are not taken. For the machine that wrote it.
 */
#ifndef NN_DATA_ROWS_H
#define NN_DATA_ROWS_H

#include "core/base/sha256.h"

struct nn_rows_key {
    uint8_t digest[NN_SHA256_SIZE];
    size_t count; /* rows, >= 1 */
    size_t width; /* numbers a row, >= 1 */
};

/* Bytes of the file; SIZE_MAX when that does not fit. */
size_t nn_rows_bytes(const struct nn_rows_key *key);

struct nn_rows_writer;

/* Makes path anew, removing what is there. NN_ERR_IO, NN_ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_rows_writer_open(const char *path, const struct nn_rows_key *key,
                                                 struct nn_rows_writer **out, struct nn_error *err);
/* The next n rows, one behind the other. False once a write has failed: more are in vain, and
 * closing tells why. */
NN_MUST_CHECK bool nn_rows_write(struct nn_rows_writer *writer, const nn_real *rows, size_t n);
/* Ends the file: it is whole, or (NN_ERR_IO; keep false) gone. The writer is destroyed. */
NN_MUST_CHECK enum nn_status nn_rows_writer_close(struct nn_rows_writer *writer, bool keep,
                                                  struct nn_error *err);

struct nn_rows;

/* Maps and checks path. NN_ERR_IO: cannot be read. NN_ERR_CORRUPT: cut off, damaged, or of another
 * key. Immutable; may be read from any number of threads. */
NN_MUST_CHECK enum nn_status nn_rows_open(const char *path, const struct nn_rows_key *key,
                                          struct nn_rows **out, struct nn_error *err);
void nn_rows_close(struct nn_rows *rows);
/* width numbers of item i < count; borrowed until closed. */
const nn_real *nn_rows_row(const struct nn_rows *rows, size_t i);

#endif
