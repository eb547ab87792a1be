/* SPDX-License-Identifier: MIT
 *
 * What a user says about sequence tables: how the files are written, which part each is, and what
 * the columns mean. A row is one step of one sequence.
 */
#ifndef NN_DATA_TABLE_H
#define NN_DATA_TABLE_H

#include <jansson.h>

#include "core/base/base.h"
#include "core/json/json.h"

enum nn_table_separator {
    NN_TABLE_AUTO, /* found in the first line of each file */
    NN_TABLE_COMMA,
    NN_TABLE_SEMICOLON,
    NN_TABLE_TAB,
    NN_TABLE_BLANK, /* any run of blanks and tabs */
};

enum nn_table_header {
    NN_TABLE_HEADER_AUTO, /* the first row is one when it has text and no number */
    NN_TABLE_HEADER_YES,
    NN_TABLE_HEADER_NO,
};

enum nn_table_task { NN_TABLE_REGRESSION, NN_TABLE_CLASSIFICATION };

/* What happens to an input without a value. Targets and times are never filled. */
enum nn_table_missing {
    NN_TABLE_MISSING_REFUSE,   /* the sequence is refused */
    NN_TABLE_MISSING_PREVIOUS, /* the value of the step before; at the start the mean */
    NN_TABLE_MISSING_MEAN,     /* of the column over the train part */
    NN_TABLE_MISSING_VALUE,    /* missing_value */
};

enum nn_table_role {
    NN_TABLE_TRAIN, /* the first three as enum nn_part */
    NN_TABLE_VALIDATION,
    NN_TABLE_TEST,
    NN_TABLE_VALIDATION_END, /* remaining life at the last step, a number a sequence */
    NN_TABLE_TEST_END,
};

/* A column is named by its name in the header (a JSON string) or its number from 1. All JSON is
 * borrowed. nn_table_fields describes the struct. */
struct nn_table_options {
    int separator; /* enum nn_table_separator */
    int header;    /* enum nn_table_header */
    int task;      /* enum nn_table_task */
    bool decimal_comma;
    const json_t *sequence; /* column; NULL: each file is one sequence */
    const json_t *time;     /* column, rising within a sequence; NULL: rows are counted */
    const json_t *inputs;   /* columns; NULL: all that are nothing else */
    const json_t *ignore;   /* columns that are no inputs; only without `inputs` */
    const json_t *target;   /* column or columns; of a classification one, constant in a sequence */
    bool remaining_life;    /* instead of target: steps (or time) left, 1 at the last step of a run
                               to failure */
    int missing;            /* enum nn_table_missing */
    double missing_value;
    bool missing_value_given;
    const json_t *missing_texts; /* strings that mean no value, beside an empty field */
    const json_t *files;         /* {file name: role}; NULL or absent: by the words in its name */
};

extern const struct jx_field nn_table_fields[];

/* NN_ERR_INVALID with the field's pointer below `pointer`: a combination that means nothing.
 * preset: the columns are fixed, none may be named. */
NN_MUST_CHECK enum nn_status nn_table_options_check(const struct nn_table_options *options,
                                                    bool preset, const char *pointer,
                                                    struct nn_error *err);

/* The role of a file by `options` or by the words of its name ("train_FD001.txt"); a lone file
 * without such a word is the train part. NN_ERR_INVALID when it cannot be told. */
NN_MUST_CHECK enum nn_status nn_table_role_of(const struct nn_table_options *options,
                                              const char *name, bool lone,
                                              enum nn_table_role *out_role, struct nn_error *err);
/* Whether a JSON value is there and not null. */
bool nn_table_given(const json_t *json);
const char *nn_table_role_name(enum nn_table_role role);
const char *nn_table_missing_name(enum nn_table_missing missing);

#endif
