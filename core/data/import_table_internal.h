/* SPDX-License-Identifier: MIT
 *
 * An import of sequence tables while it runs.
 *
 * The files are read one after the other into one array of rows; a row knows its sequence. What is
 * wrong with a value refuses its sequence (or the set, under NN_IMPORT_FAIL); what makes the
 * columns doubtful refuses the set. Then the rows are gathered by part and sequence, gaps are
 * filled, remaining life is counted, and the set is written.
 */
#ifndef NN_DATA_IMPORT_TABLE_INTERNAL_H
#define NN_DATA_IMPORT_TABLE_INTERNAL_H

#include "core/data/import_internal.h"
#include "core/data/sequences.h"
#include "core/data/table_internal.h"

#define NN_NO_COLUMN SIZE_MAX

/* Which columns of one file mean what; all memory of the arena. */
struct nn_table_columns {
    bool has_header;
    size_t width;
    const char **names;
    size_t sequence; /* NN_NO_COLUMN: none, as time */
    size_t time;
    size_t *inputs;
    size_t *targets; /* of a classification: the class */
};

struct nn_table_sequence {
    const char *name; /* "part/id", of the arena */
    const char *id;   /* the end of it */
    uint64_t hash;    /* of id */
    size_t file;
    enum nn_part part;
    size_t length;
    double last_time;
    double end; /* remaining life at the last step */
    uint32_t label;
    const char *reason; /* of a refused one: slug, else NULL */
    const char *text;
};

struct nn_table_import {
    struct nn_import *base;
    const struct nn_table_options *options;
    bool preset; /* C-MAPSS: columns are known */
    enum nn_table_role *roles;

    size_t n_inputs; /* of all files alike, as names; 0 before the first */
    size_t n_targets;
    const char **input_names;
    const char **target_names;
    const char **ignored; /* names of columns that are nothing, of the first file */
    size_t n_ignored;
    struct nn_table_columns columns; /* of the file being read */
    size_t file;

    struct nn_table_sequence *sequences;
    size_t n_sequences;
    size_t room_sequences;
    size_t first_of_file; /* sequence */
    uint32_t *slots;      /* hash table of the sequences of one file: number + 1 */
    size_t n_slots;
    const char **classes; /* in order of appearance, then sorted */
    size_t n_classes;
    size_t room_classes;

    size_t n_rows;
    size_t room_rows;
    float *features; /* n_rows x n_inputs, NaN where there is none */
    float *targets;  /* n_rows x n_targets; none in a classification and for remaining life */
    double *times;   /* for remaining life */
    uint32_t *owners;
    size_t *filled; /* by input */
    size_t rows_read;
    bool assumed_end[NN_PART_COUNT]; /* taken for runs to failure */
};

/* What stands before the fraction of a number. */
static inline char nn_table_decimal(const struct nn_table_import *import)
{
    return import->options->decimal_comma ? ',' : '.';
}

/* Finds the columns of the current file from its first row. *out_used: the row is a header and
 * holds no values. Sets the names when it is the first file. */
NN_MUST_CHECK enum nn_status nn_table_find_columns(struct nn_table_import *import,
                                                   const struct nn_table_row *row, bool *out_used);

/* Reads every file (import_table.c). */
NN_MUST_CHECK enum nn_status nn_table_read_files(struct nn_table_import *import);

/* One row of the current file: finds its sequence and takes its values (table_rows.c). */
NN_MUST_CHECK enum nn_status nn_table_take_row(struct nn_table_import *import,
                                               const struct nn_table_row *row);

/* Forgets the sequences of the file before (table_sequences.c). */
void nn_table_begin_file(struct nn_table_import *import);

/* The index of the sequence that a row of the current file belongs to, made when its id is new.
 * NN_ERR_INVALID: the id is none. */
NN_MUST_CHECK enum nn_status nn_table_find_sequence(struct nn_table_import *import,
                                                    const struct nn_table_row *row,
                                                    size_t *out_sequence);

enum nn_status nn_table_no_memory(const struct nn_table_import *import);

/* Whether a cell holds no value. */
bool nn_table_is_missing(const struct nn_table_import *import, const struct nn_table_cell *cell);

/* Fails the import: "file", line, column: reason. column NN_NO_COLUMN: of the whole row. */
NN_PRINTF(5, 6)
enum nn_status nn_table_fail(struct nn_table_import *import, enum nn_status status, size_t line,
                             size_t column, const char *fmt, ...);

/* Why a text cannot be an id or a class; NULL if it can. */
const char *nn_table_text_fault(const struct nn_table_cell *cell);

/* Gathers, fills and writes the set; then the report (import_sequences.c). */
NN_MUST_CHECK enum nn_status nn_import_sequences(struct nn_import *import, const char *path,
                                                 json_t **out_report);

/* NULL when out of memory. */
json_t *nn_sequences_report(const struct nn_table_import *import,
                            const struct nn_sequences *sequences);

#endif
