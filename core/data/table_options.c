/* SPDX-License-Identifier: MIT
 *
 * Options of sequence tables: their table of fields, and what the fields together must fulfil.
 */
#include <string.h>
#include <strings.h>

#include "core/data/table.h"

#define TARGETS_MAX 64

static const struct jx_choice SEPARATORS[] = {
    {"auto", NN_TABLE_AUTO, "found in the first line"},
    {"comma", NN_TABLE_COMMA, ""},
    {"semicolon", NN_TABLE_SEMICOLON, ""},
    {"tab", NN_TABLE_TAB, ""},
    {"blank", NN_TABLE_BLANK, "any run of blanks and tabs"},
    JX_END,
};
static const struct jx_choice HEADERS[] = {
    {"auto", NN_TABLE_HEADER_AUTO, "the first row is one when it has text and no number"},
    {"yes", NN_TABLE_HEADER_YES, ""},
    {"no", NN_TABLE_HEADER_NO, ""},
    JX_END,
};
static const struct jx_choice TASKS[] = {
    {"regression", NN_TABLE_REGRESSION, "a number at every step"},
    {"classification", NN_TABLE_CLASSIFICATION, "a class for every sequence"},
    JX_END,
};
static const struct jx_choice MISSING[] = {
    {"refuse", NN_TABLE_MISSING_REFUSE, "the sequence is refused"},
    {"previous", NN_TABLE_MISSING_PREVIOUS, "the value of the step before, at the start the mean"},
    {"mean", NN_TABLE_MISSING_MEAN, "mean of the column over the train part"},
    {"value", NN_TABLE_MISSING_VALUE, "missing_value"},
    JX_END,
};
static const struct jx_choice ROLES[] = {
    {"train", NN_TABLE_TRAIN, ""},
    {"validation", NN_TABLE_VALIDATION, ""},
    {"test", NN_TABLE_TEST, ""},
    {"validation_end_of_life", NN_TABLE_VALIDATION_END, "life left at the end of each sequence"},
    {"test_end_of_life", NN_TABLE_TEST_END, "life left at the end of each sequence"},
    JX_END,
};

static const struct jx_field COLUMN = {.type = JX_ANY, .doc = "Name, or number from 1."};
static const struct jx_field MISSING_TEXT = {.type = JX_STRING, .max = 64};
static const struct jx_field ROLE = {.type = JX_ENUM, .choices = ROLES};

#define OFFSET(member) offsetof(struct nn_table_options, member)
const struct jx_field nn_table_fields[] = {
    {.name = "separator",
     .type = JX_ENUM,
     .offset = OFFSET(separator),
     .fallback = "\"auto\"",
     .choices = SEPARATORS,
     .doc = "what stands between the fields of a row"},
    {.name = "header",
     .type = JX_ENUM,
     .offset = OFFSET(header),
     .fallback = "\"auto\"",
     .choices = HEADERS,
     .doc = "whether the first row names the columns"},
    {.name = "decimal_comma",
     .type = JX_BOOL,
     .offset = OFFSET(decimal_comma),
     .fallback = "false",
     .doc = "numbers are written 1,5 instead of 1.5"},
    {.name = "task",
     .type = JX_ENUM,
     .offset = OFFSET(task),
     .fallback = "\"regression\"",
     .choices = TASKS,
     .doc = "what the target is"},
    {.name = "sequence",
     .type = JX_ANY,
     .offset = OFFSET(sequence),
     .doc = "column (name, or number from 1) that tells sequences apart; default: a file is one"},
    {.name = "time",
     .type = JX_ANY,
     .offset = OFFSET(time),
     .doc = "column that rises within a sequence; default: rows are counted"},
    {.name = "inputs",
     .type = JX_ARRAY,
     .offset = OFFSET(inputs),
     .items = &COLUMN,
     .min_items = 1,
     .max_items = 4096,
     .doc = "columns; default: all that are nothing else"},
    {.name = "ignore",
     .type = JX_ARRAY,
     .offset = OFFSET(ignore),
     .items = &COLUMN,
     .min_items = 1,
     .max_items = 4096,
     .doc = "columns that are no inputs"},
    {.name = "target",
     .type = JX_ANY,
     .offset = OFFSET(target),
     .doc = "column or list of columns; of a classification one that is constant in a sequence"},
    {.name = "remaining_life",
     .type = JX_BOOL,
     .offset = OFFSET(remaining_life),
     .fallback = "false",
     .doc = "the target is the time left, 1 at the last step of a run to failure"},
    {.name = "missing",
     .type = JX_ENUM,
     .offset = OFFSET(missing),
     .fallback = "\"refuse\"",
     .choices = MISSING,
     .doc = "what happens to inputs without a value"},
    {.name = "missing_value",
     .type = JX_REAL,
     .offset = OFFSET(missing_value),
     .given = JX_GIVEN(struct nn_table_options, missing_value_given),
     .min = -3e38,
     .max = 3e38,
     .doc = "what missing \"value\" puts in"},
    {.name = "missing_texts",
     .type = JX_ARRAY,
     .offset = OFFSET(missing_texts),
     .items = &MISSING_TEXT,
     .max_items = 32,
     .doc = "fields that mean no value, beside an empty one"},
    {.name = "files",
     .type = JX_MAP,
     .offset = OFFSET(files),
     .items = &ROLE,
     .max_items = 64,
     .doc = "file name: what it is; default: by the words train, validation, test, rul in its "
            "name"},
    JX_END,
};

const char *nn_table_role_name(enum nn_table_role role)
{
    return jx_choice_name(ROLES, (int)role);
}

const char *nn_table_missing_name(enum nn_table_missing missing)
{
    return jx_choice_name(MISSING, (int)missing);
}

bool nn_table_given(const json_t *json)
{
    return json && !json_is_null(json);
}

/* --------------------------------------------------------------------------------------- checks */

struct check {
    const char *pointer;
    struct nn_error *err;
};

static enum nn_status refuse(const struct check *c, const char *field, const char *what)
{
    char pointer[160];
    jx_pointer_key(c->pointer, field, pointer, sizeof pointer);
    return nn_fail_at(c->err, NN_ERR_INVALID, pointer, "%s", what);
}

static bool is_column(const json_t *json)
{
    json_int_t number = json_integer_value(json);
    return json_is_string(json) ? json_string_length(json) > 0 : number >= 1 && number <= 1000000;
}

static enum nn_status check_column(const struct check *c, const char *field, const json_t *json)
{
    if (nn_table_given(json) && !is_column(json)) {
        return refuse(c, field, "a column is a name or a number from 1");
    }
    return NN_OK;
}

static enum nn_status check_columns(const struct check *c, const char *field, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!is_column(json_array_get(list, i))) {
            return refuse(c, field, "a column is a name or a number from 1");
        }
    }
    return NN_OK;
}

static bool stands_twice(const json_t *list)
{
    for (size_t i = 1; i < json_array_size(list); i++) {
        for (size_t j = 0; j < i; j++) {
            if (json_equal(json_array_get(list, i), json_array_get(list, j))) {
                return true;
            }
        }
    }
    return false;
}

static enum nn_status check_target(const struct check *c, const struct nn_table_options *o)
{
    size_t n = json_is_array(o->target) ? json_array_size(o->target) : nn_table_given(o->target);
    if (o->remaining_life && (n > 0 || o->task == NN_TABLE_CLASSIFICATION)) {
        return refuse(c, "remaining_life", "excludes a target and a classification");
    }
    if (!o->remaining_life && n == 0) {
        return refuse(c, "target", "is required, a name of a column, or remaining_life instead");
    }
    if (n > (o->task == NN_TABLE_CLASSIFICATION ? 1 : TARGETS_MAX)) {
        return refuse(c, "target", "too many columns");
    }
    if (stands_twice(o->target)) {
        return refuse(c, "target", "a column stands twice in the list");
    }
    return json_is_array(o->target) ? check_columns(c, "target", o->target)
                                    : check_column(c, "target", o->target);
}

/* The columns of a preset are fixed: naming any would mean something else. */
static enum nn_status check_preset(const struct check *c, const struct nn_table_options *o)
{
    const struct {
        const char *field;
        bool given;
    } rows[] = {
        {"sequence", nn_table_given(o->sequence)},    {"time", nn_table_given(o->time)},
        {"inputs", nn_table_given(o->inputs)},        {"ignore", nn_table_given(o->ignore)},
        {"target", nn_table_given(o->target)},        {"task", o->task == NN_TABLE_CLASSIFICATION},
        {"header", o->header == NN_TABLE_HEADER_YES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].given) {
            return refuse(c, rows[i].field, "the columns of this layout are fixed");
        }
    }
    return NN_OK;
}

static enum nn_status check_meaning(const struct check *c, const struct nn_table_options *o)
{
    enum nn_status status = check_column(c, "sequence", o->sequence);
    if (status == NN_OK) {
        status = check_column(c, "time", o->time);
    }
    if (status == NN_OK && nn_table_given(o->inputs) && nn_table_given(o->ignore)) {
        status = refuse(c, "ignore", "means nothing beside inputs");
    }
    if (status == NN_OK) {
        status = check_columns(c, "inputs", o->inputs);
    }
    if (status == NN_OK) {
        status = check_columns(c, "ignore", o->ignore);
    }
    return status == NN_OK ? check_target(c, o) : status;
}

enum nn_status nn_table_options_check(const struct nn_table_options *o, bool preset,
                                      const char *pointer, struct nn_error *err)
{
    struct check c = {.pointer = pointer, .err = err};
    if ((o->missing == NN_TABLE_MISSING_VALUE) != o->missing_value_given) {
        return refuse(&c, "missing_value", "belongs to missing \"value\" and to no other");
    }
    if (o->decimal_comma && o->separator == NN_TABLE_COMMA) {
        return refuse(&c, "decimal_comma", "excludes separator \"comma\"");
    }
    return preset ? check_preset(&c, o) : check_meaning(&c, o);
}

/* ---------------------------------------------------------------------------------------- roles */

/* Whether a whole word of the name is one of the list; "latest" has no "test" in it. */
static bool has_word(const char *name, const char *const *words)
{
    for (const char *p = name; *p;) {
        size_t n = 0;
        while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= 'A' && p[n] <= 'Z')) {
            n++;
        }
        for (size_t i = 0; n > 0 && words[i]; i++) {
            if (strlen(words[i]) == n && strncasecmp(words[i], p, n) == 0) {
                return true;
            }
        }
        p += n ? n : 1;
    }
    return false;
}

enum nn_status nn_table_role_of(const struct nn_table_options *options, const char *name, bool lone,
                                enum nn_table_role *out_role, struct nn_error *err)
{
    static const char *const train[] = {"train", "training", NULL};
    static const char *const validation[] = {"validation", "valid", "val", "dev", NULL};
    static const char *const test[] = {"test", "testing", NULL};
    static const char *const end[] = {"rul", NULL};
    const char *given = json_string_value(json_object_get(options->files, name));
    bool validates = has_word(name, validation);
    if (given) {
        *out_role = (enum nn_table_role)jx_choice_find(ROLES, given)->value;
    } else if (has_word(name, end)) {
        *out_role = validates ? NN_TABLE_VALIDATION_END : NN_TABLE_TEST_END;
    } else if (validates) {
        *out_role = NN_TABLE_VALIDATION;
    } else if (has_word(name, test)) {
        *out_role = NN_TABLE_TEST;
    } else if (lone || has_word(name, train)) {
        *out_role = NN_TABLE_TRAIN;
    } else {
        return nn_fail_at(err, NN_ERR_INVALID, "/table/files",
                          "\"%.100s\": its name does not say which part it is; say so here", name);
    }
    return NN_OK;
}
