/* SPDX-License-Identifier: MIT
 *
 * From the first row of a file to the meaning of its columns. A column that was named is found by
 * its name in every file, one that was numbered by its number; inputs that were not chosen are all
 * that is left in the first file, and found again by name, or by number where there is no header.
 */
#include <stdlib.h>
#include <string.h>

#include "core/data/import_table_internal.h"

#define COLUMN_NAME_MAX 255

/* C-MAPSS, readme of the data: unit, time in cycles, three settings, 21 sensors. */
enum { CMAPSS_WIDTH = 26, CMAPSS_FIRST_INPUT = 2 };
static const char *const CMAPSS_NAMES[CMAPSS_WIDTH] = {
    "unit", "cycle", "setting1", "setting2", "setting3", "s1",  "s2",  "s3",  "s4",
    "s5",   "s6",    "s7",       "s8",       "s9",       "s10", "s11", "s12", "s13",
    "s14",  "s15",   "s16",      "s17",      "s18",      "s19", "s20", "s21"};

bool nn_table_is_missing(const struct nn_table_import *import, const struct nn_table_cell *cell)
{
    const json_t *texts = import->options->missing_texts;
    if (cell->length == 0) {
        return true;
    }
    for (size_t i = 0; i < json_array_size(texts); i++) {
        if (strcmp(json_string_value(json_array_get(texts, i)), cell->text) == 0) {
            return true;
        }
    }
    return false;
}

static enum nn_status no_memory(const struct nn_table_import *import)
{
    return nn_fail(import->base->err, NN_ERR_MEMORY, "no memory for the columns of a table");
}

static const char *file_name(const struct nn_table_import *import)
{
    return import->base->setup->files[import->file].name;
}

/* --------------------------------------------------------------------------------------- header */

/* A row that ends with a separator has an empty field more; it is no column. */
static size_t width_of(const struct nn_table_row *row)
{
    const struct nn_table_cell *last = &row->cells[row->n - 1];
    return row->n > 1 && last->length == 0 && !last->quoted ? row->n - 1 : row->n;
}

static bool looks_like_header(const struct nn_table_import *import, const struct nn_table_row *row)
{
    char decimal = nn_table_decimal(import);
    bool any_text = false;
    double value;
    for (size_t i = 0; i < row->n; i++) {
        const struct nn_table_cell *cell = &row->cells[i];
        const char *fault = nn_number_read(cell->text, decimal, &value);
        if (!fault || strcmp(fault, "not_a_number") != 0) {
            return false;
        }
        any_text = any_text || !nn_table_is_missing(import, cell);
    }
    return any_text;
}

static enum nn_status name_columns(struct nn_table_import *import, const struct nn_table_row *row)
{
    struct nn_table_columns *c = &import->columns;
    c->names = nn_arena_alloc(import->base->arena, c->width, sizeof *c->names);
    if (!c->names) {
        return no_memory(import);
    }
    for (size_t k = 0; k < c->width; k++) {
        const struct nn_table_cell *cell = &row->cells[k];
        bool named = c->has_header && cell->length > 0;
        const char *fault = named ? nn_table_text_fault(cell) : NULL;
        if (fault) {
            return nn_table_fail(import, NN_ERR_INVALID, row->line, k, "the name %s", fault);
        }
        c->names[k] = import->preset ? CMAPSS_NAMES[k]
                      : named        ? nn_arena_text(import->base->arena, cell->text)
                                     : nn_import_text(import->base, "column%zu", k + 1);
        if (!c->names[k]) {
            return no_memory(import);
        }
    }
    return NN_OK;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Equal names would leave it open which column is meant. */
static enum nn_status refuse_equal_names(struct nn_table_import *import, size_t line)
{
    struct nn_table_columns *c = &import->columns;
    const char **sorted = calloc(c->width, sizeof *sorted);
    if (!sorted) {
        return no_memory(import);
    }
    enum nn_status status = NN_OK;
    memcpy(sorted, c->names, c->width * sizeof *sorted);
    qsort(sorted, c->width, sizeof *sorted, by_text);
    for (size_t k = 1; status == NN_OK && k < c->width; k++) {
        if (strcmp(sorted[k], sorted[k - 1]) == 0) {
            status = nn_table_fail(import, NN_ERR_INVALID, line, NN_NO_COLUMN,
                                   "two columns of the header have the name \"%.100s\": rename one",
                                   sorted[k]);
        }
    }
    free(sorted);
    return status;
}

/* -------------------------------------------------------------------------------------- choices */

/* "; it has a, b, c", whole names, so many as fit: what a person may have meant. */
static void list_names(const struct nn_table_columns *c, char *out, size_t size)
{
    static const char begin[] = "; it has ", more[] = ", ...";
    size_t length = strlen(begin);
    memcpy(out, begin, sizeof begin);
    for (size_t k = 0; k < c->width; k++) {
        if (length + strlen(", ") + strlen(c->names[k]) + sizeof more > size) {
            memcpy(out + length, k > 0 ? more : more + 2, k > 0 ? sizeof more : sizeof more - 2);
            return;
        }
        length +=
            (size_t)snprintf(out + length, size - length, "%s%s", k > 0 ? ", " : "", c->names[k]);
    }
}

static enum nn_status find_name(struct nn_table_import *import, const char *name, const char *field,
                                size_t *out_column)
{
    const struct nn_table_columns *c = &import->columns;
    char pointer[64];
    for (size_t k = 0; k < c->width; k++) {
        if (strcmp(c->names[k], name) == 0) {
            *out_column = k;
            return NN_OK;
        }
    }
    char names[120] = "; it has no header";
    if (c->has_header || import->preset) {
        list_names(c, names, sizeof names);
    }
    (void)snprintf(pointer, sizeof pointer, "/table/%s", field);
    return nn_fail_at(import->base->err, NN_ERR_INVALID, pointer,
                      "\"%.80s\" has no column \"%.80s\"%s", file_name(import), name, names);
}

static enum nn_status find_column(struct nn_table_import *import, const json_t *column,
                                  const char *field, size_t *out_column)
{
    size_t number = (size_t)json_integer_value(column);
    char pointer[64];
    if (!nn_table_given(column)) {
        *out_column = NN_NO_COLUMN;
        return NN_OK;
    }
    if (json_is_string(column)) {
        return find_name(import, json_string_value(column), field, out_column);
    }
    if (number > import->columns.width) {
        (void)snprintf(pointer, sizeof pointer, "/table/%s", field);
        return nn_fail_at(import->base->err, NN_ERR_INVALID, pointer,
                          "\"%.100s\" has %zu columns, no column %zu", file_name(import),
                          import->columns.width, number);
    }
    *out_column = number - 1;
    return NN_OK;
}

/* Columns of a list, or the one that stands alone. */
static enum nn_status find_list(struct nn_table_import *import, const json_t *list,
                                const char *field, size_t *out_columns, size_t *out_n)
{
    size_t n = json_is_array(list) ? json_array_size(list) : nn_table_given(list);
    enum nn_status status = NN_OK;
    for (size_t i = 0; status == NN_OK && i < n; i++) {
        const json_t *column = json_is_array(list) ? json_array_get(list, i) : list;
        status = find_column(import, column, field, &out_columns[i]);
    }
    *out_n = n;
    return status;
}

static bool contains(const size_t *list, size_t n, size_t column)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i] == column) {
            return true;
        }
    }
    return false;
}

/* What the first file's columns are, when inputs were not chosen: all that is left. */
static enum nn_status take_rest(struct nn_table_import *import, size_t n_targets, size_t *out_n)
{
    struct nn_table_columns *c = &import->columns;
    const json_t *list = import->options->ignore;
    size_t n_ignored = 0;
    size_t *ignored = calloc(json_array_size(list) + 1, sizeof *ignored);
    enum nn_status status =
        ignored ? find_list(import, list, "ignore", ignored, &n_ignored) : no_memory(import);
    size_t n = 0;
    for (size_t k = 0; status == NN_OK && k < c->width; k++) {
        if (k != c->sequence && k != c->time && !contains(c->targets, n_targets, k) &&
            !contains(ignored, n_ignored, k)) {
            c->inputs[n++] = k;
        }
    }
    free(ignored);
    *out_n = n;
    return status;
}

static enum nn_status choose_inputs(struct nn_table_import *import, size_t n_targets, size_t *out_n)
{
    struct nn_table_columns *c = &import->columns;
    const json_t *list = import->options->inputs;
    bool first = import->input_names == NULL;
    enum nn_status status = NN_OK;
    if (import->preset) {
        *out_n = CMAPSS_WIDTH - CMAPSS_FIRST_INPUT;
        for (size_t i = 0; i < *out_n; i++) {
            c->inputs[i] = CMAPSS_FIRST_INPUT + i;
        }
        return NN_OK;
    }
    if (nn_table_given(list)) {
        return find_list(import, list, "inputs", c->inputs, out_n);
    }
    if (first || !c->has_header) {
        return take_rest(import, n_targets, out_n);
    }
    for (size_t i = 0; status == NN_OK && i < import->n_inputs; i++) {
        status = find_name(import, import->input_names[i], "inputs", &c->inputs[i]);
    }
    *out_n = import->n_inputs;
    return status;
}

/* By name and by number, say. */
static enum nn_status check_targets(struct nn_table_import *import, size_t n)
{
    const struct nn_table_columns *c = &import->columns;
    for (size_t i = 1; i < n; i++) {
        if (contains(c->targets, i, c->targets[i])) {
            return nn_fail_at(import->base->err, NN_ERR_INVALID, "/table/target",
                              "column \"%.100s\" stands twice in target, by its name or its number",
                              c->names[c->targets[i]]);
        }
    }
    return NN_OK;
}

/* An id or a target among the inputs would tell the network what it has to find out. */
static enum nn_status check_inputs(struct nn_table_import *import, size_t n, size_t n_targets)
{
    const struct nn_table_columns *c = &import->columns;
    struct nn_error *err = import->base->err;
    if (n == 0) {
        return nn_fail_at(err, NN_ERR_INVALID, "/table/inputs", "no column is left as an input");
    }
    for (size_t i = 0; i < n; i++) {
        const char *role = c->inputs[i] == c->sequence                     ? "sequence"
                           : contains(c->targets, n_targets, c->inputs[i]) ? "target"
                                                                           : NULL;
        const char *name = c->names[c->inputs[i]];
        if (role) {
            return nn_fail_at(err, NN_ERR_INVALID, "/table/inputs",
                              "column \"%.100s\" is the %s, so it cannot be an input too", name,
                              role);
        }
        if (contains(c->inputs, i, c->inputs[i])) {
            return nn_fail_at(err, NN_ERR_INVALID, "/table/inputs",
                              "column \"%.100s\" stands twice in inputs, by its name or its number",
                              name);
        }
    }
    if (c->sequence != NN_NO_COLUMN &&
        (c->sequence == c->time || contains(c->targets, n_targets, c->sequence))) {
        return nn_fail_at(err, NN_ERR_INVALID, "/table/sequence",
                          "column \"%.100s\" is the time or the target too", c->names[c->sequence]);
    }
    return NN_OK;
}

/* ---------------------------------------------------------------------------------------- names */

static enum nn_status keep_ignored(struct nn_table_import *import, size_t n, size_t n_targets)
{
    const struct nn_table_columns *c = &import->columns;
    import->ignored = nn_arena_alloc(import->base->arena, c->width, sizeof *import->ignored);
    if (!import->ignored) {
        return no_memory(import);
    }
    for (size_t k = 0; k < c->width; k++) {
        if (k != c->sequence && k != c->time && !contains(c->targets, n_targets, k) &&
            !contains(c->inputs, n, k)) {
            import->ignored[import->n_ignored++] = c->names[k];
        }
    }
    return NN_OK;
}

/* The first file names inputs and targets for all. */
static enum nn_status keep_names(struct nn_table_import *import, size_t n, size_t n_targets)
{
    const struct nn_table_columns *c = &import->columns;
    bool life = import->options->remaining_life;
    import->n_inputs = n;
    import->n_targets = life ? 1 : n_targets;
    import->input_names = nn_arena_alloc(import->base->arena, n, sizeof *import->input_names);
    import->target_names =
        nn_arena_alloc(import->base->arena, import->n_targets, sizeof *import->target_names);
    if (!import->input_names || !import->target_names) {
        return no_memory(import);
    }
    for (size_t i = 0; i < n; i++) {
        import->input_names[i] = c->names[c->inputs[i]];
    }
    for (size_t r = 0; r < import->n_targets; r++) {
        import->target_names[r] = life ? "remaining_life" : c->names[c->targets[r]];
    }
    return keep_ignored(import, n, n_targets);
}

static enum nn_status choose(struct nn_table_import *import)
{
    const struct nn_table_options *o = import->options;
    struct nn_table_columns *c = &import->columns;
    size_t n_targets = 0;
    size_t n = 0;
    enum nn_status status = find_column(import, o->sequence, "sequence", &c->sequence);
    if (status == NN_OK) {
        status = find_column(import, o->time, "time", &c->time);
    }
    if (import->preset) {
        c->sequence = 0;
        c->time = 1;
    }
    if (status == NN_OK) {
        status = find_list(import, o->target, "target", c->targets, &n_targets);
    }
    if (status == NN_OK) {
        status = check_targets(import, n_targets);
    }
    if (status == NN_OK) {
        status = choose_inputs(import, n_targets, &n);
    }
    if (status == NN_OK) {
        status = check_inputs(import, n, n_targets);
    }
    if (status == NN_OK && !import->input_names) {
        return keep_names(import, n, n_targets);
    }
    if (status == NN_OK && n != import->n_inputs) {
        status = nn_fail(import->base->err, NN_ERR_INVALID,
                         "\"%.100s\" has %zu inputs, the file before it %zu", file_name(import), n,
                         import->n_inputs);
    }
    return status;
}

enum nn_status nn_table_find_columns(struct nn_table_import *import, const struct nn_table_row *row,
                                     bool *out_used)
{
    const struct nn_table_options *o = import->options;
    struct nn_arena *arena = import->base->arena;
    struct nn_table_columns c = {.width = width_of(row)};
    size_t most_targets = json_is_array(o->target) ? json_array_size(o->target) : 1;
    size_t most_inputs =
        json_array_size(o->inputs) > c.width ? json_array_size(o->inputs) : c.width;
    most_inputs = import->n_inputs > most_inputs ? import->n_inputs : most_inputs;
    if (import->preset && c.width != CMAPSS_WIDTH) {
        return nn_table_fail(import, NN_ERR_INVALID, row->line, NN_NO_COLUMN,
                             "%zu columns; C-MAPSS has %d", c.width, CMAPSS_WIDTH);
    }
    c.has_header = o->header == NN_TABLE_HEADER_YES ||
                   (o->header == NN_TABLE_HEADER_AUTO && looks_like_header(import, row));
    c.inputs = nn_arena_alloc(arena, most_inputs, sizeof *c.inputs);
    c.targets = nn_arena_alloc(arena, most_targets, sizeof *c.targets);
    if (!c.inputs || !c.targets) {
        return no_memory(import);
    }
    import->columns = c;
    enum nn_status status = name_columns(import, row);
    if (status == NN_OK) {
        status = refuse_equal_names(import, row->line);
    }
    if (status == NN_OK) {
        status = choose(import);
    }
    *out_used = c.has_header;
    return status;
}
