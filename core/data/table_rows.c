/* SPDX-License-Identifier: MIT
 *
 * From rows to steps of sequences. The rows of one sequence may be mixed with those of others, but
 * stand in the order of time. The first thing wrong with a sequence is what its refusal says.
 */
#include <math.h>
#include <string.h>

#include "core/data/import_table_internal.h"

#define LENGTH_MAX  1000000 /* steps of one sequence */
#define SHOWN_BYTES 40      /* of a cell in a text */

/* --------------------------------------------------------------------------------------- values */

/* Where a value stands, for what is said about it. */
struct at {
    struct nn_table_import *import;
    const struct nn_table_row *row;
    struct nn_table_sequence *sequence;
};

static enum nn_status refuse(const struct at *at, size_t column, const char *reason,
                             const char *what)
{
    struct nn_table_import *import = at->import;
    const char *file = import->base->setup->files[import->file].name;
    const char *place =
        column == NN_NO_COLUMN
            ? nn_import_text(import->base, "\"%.100s\", line %zu", file, at->row->line)
            : nn_import_text(import->base, "\"%.100s\", line %zu, column %zu (%.60s)", file,
                             at->row->line, column + 1, import->columns.names[column]);
    at->sequence->reason = reason;
    at->sequence->text = place ? nn_import_text(import->base, "%s: %s", place, what) : NULL;
    if (!at->sequence->text) {
        return nn_table_no_memory(import);
    }
    if (import->base->setup->options.on_refused == NN_IMPORT_FAIL) {
        return nn_fail(import->base->err, NN_ERR_INVALID, "%s", at->sequence->text);
    }
    return NN_OK;
}

static enum nn_status refuse_number(const struct at *at, size_t column, const char *reason)
{
    char what[SHOWN_BYTES + 64];
    const struct nn_table_cell *cell = &at->row->cells[column];
    const char *words = strcmp(reason, "not_finite") == 0  ? "is not finite"
                        : strcmp(reason, "too_large") == 0 ? "is too large"
                                                           : "is not a number";
    (void)snprintf(what, sizeof what, "\"%.*s\" %s", SHOWN_BYTES, cell->text, words);
    return refuse(at, column, reason, what);
}

/* A number that must be there; refuses the sequence otherwise. */
static enum nn_status take_number(const struct at *at, size_t column, double *out_value)
{
    const struct nn_table_cell *cell = &at->row->cells[column];
    if (nn_table_is_missing(at->import, cell)) {
        return refuse(at, column, "missing", "there is no value");
    }
    const char *reason = nn_number_read(cell->text, nn_table_decimal(at->import), out_value);
    return reason ? refuse_number(at, column, reason) : NN_OK;
}

static enum nn_status take_time(const struct at *at, double *out_time)
{
    size_t column = at->import->columns.time;
    struct nn_table_sequence *s = at->sequence;
    double time = (double)s->length;
    enum nn_status status = NN_OK;
    if (column != NN_NO_COLUMN) {
        status = take_number(at, column, &time);
        if (status == NN_OK && !s->reason && s->length > 0 && !(time > s->last_time)) {
            bool repeated = !(time < s->last_time);
            status = refuse(at, column, repeated ? "time_repeated" : "time_unordered",
                            repeated ? "the time of the row before it again"
                                     : "a time before that of the row before it");
        }
    }
    *out_time = time;
    return status;
}

static enum nn_status take_inputs(const struct at *at, float *out_values)
{
    const struct nn_table_import *import = at->import;
    bool fill = import->options->missing != NN_TABLE_MISSING_REFUSE;
    enum nn_status status = NN_OK;
    for (size_t i = 0; status == NN_OK && !at->sequence->reason && i < import->n_inputs; i++) {
        size_t column = import->columns.inputs[i];
        double value = (double)NAN;
        if (!fill || !nn_table_is_missing(import, &at->row->cells[column])) {
            status = take_number(at, column, &value);
        }
        out_values[i] = (float)value;
    }
    return status;
}

static enum nn_status find_class(struct nn_table_import *import, const struct nn_table_cell *cell,
                                 uint32_t *out_label)
{
    for (size_t k = 0; k < import->n_classes; k++) {
        if (strcmp(import->classes[k], cell->text) == 0) {
            *out_label = (uint32_t)k;
            return NN_OK;
        }
    }
    if (import->n_classes >= import->base->limits.max_classes) {
        return nn_fail(import->base->err, NN_ERR_LIMIT, "more than %zu classes",
                       import->base->limits.max_classes);
    }
    if (!nn_import_grow((void **)&import->classes, &import->room_classes, import->n_classes,
                        sizeof *import->classes)) {
        return nn_table_no_memory(import);
    }
    import->classes[import->n_classes] = nn_arena_text(import->base->arena, cell->text);
    *out_label = (uint32_t)import->n_classes;
    return import->classes[import->n_classes++] ? NN_OK : nn_table_no_memory(import);
}

/* The class of the sequence, the same in all its rows. */
static enum nn_status take_class(const struct at *at)
{
    struct nn_table_import *import = at->import;
    struct nn_table_sequence *s = at->sequence;
    size_t column = import->columns.targets[0];
    const struct nn_table_cell *cell = &at->row->cells[column];
    if (nn_table_is_missing(import, cell)) {
        return refuse(at, column, "missing", "there is no value");
    }
    if (s->label != UINT32_MAX && strcmp(import->classes[s->label], cell->text) == 0) {
        return NN_OK;
    }
    if (s->label != UINT32_MAX) {
        return refuse(at, column, "class_changes", "another class than in the row before it");
    }
    const char *fault = nn_table_text_fault(cell);
    if (fault) {
        return refuse(at, column, "bad_text", fault);
    }
    return find_class(import, cell, &s->label);
}

static enum nn_status take_targets(const struct at *at, float *out_values)
{
    const struct nn_table_import *import = at->import;
    enum nn_status status = NN_OK;
    if (import->options->remaining_life) {
        return NN_OK;
    }
    if (import->options->task == NN_TABLE_CLASSIFICATION) {
        return take_class(at);
    }
    for (size_t r = 0; status == NN_OK && !at->sequence->reason && r < import->n_targets; r++) {
        double value = 0;
        status = take_number(at, import->columns.targets[r], &value);
        out_values[r] = (float)value;
    }
    return status;
}

/* ----------------------------------------------------------------------------------------- rows */

static enum nn_status make_room(struct nn_table_import *import)
{
    size_t width = import->n_inputs + import->n_targets + 2;
    size_t most = import->base->limits.max_values / width;
    if (import->n_rows >= most || import->n_rows >= UINT32_MAX) {
        return nn_fail(import->base->err, NN_ERR_LIMIT, "more than %zu rows of %zu columns", most,
                       width - 2);
    }
    const struct {
        void **array;
        size_t element;
    } arrays[] = {
        {(void **)&import->features, import->n_inputs * sizeof(float)},
        {(void **)&import->targets, import->n_targets * sizeof(float)},
        {(void **)&import->times, sizeof(double)},
        {(void **)&import->owners, sizeof(uint32_t)},
    };
    size_t room = import->room_rows;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        room = import->room_rows;
        if (!nn_import_grow(arrays[i].array, &room, import->n_rows, arrays[i].element)) {
            return nn_table_no_memory(import);
        }
    }
    import->room_rows = room;
    return NN_OK;
}

static enum nn_status check_width(struct nn_table_import *import, const struct nn_table_row *row)
{
    size_t width = import->columns.width;
    const struct nn_table_cell *last = &row->cells[row->n - 1];
    bool trailing = row->n == width + 1 && last->length == 0 && !last->quoted;
    if (row->n != width && !trailing) {
        return nn_table_fail(import, NN_ERR_INVALID, row->line,
                             row->n < width ? NN_NO_COLUMN : width, "%zu fields, %zu are expected",
                             row->n, width);
    }
    return NN_OK;
}

enum nn_status nn_table_take_row(struct nn_table_import *import, const struct nn_table_row *row)
{
    struct at at = {.import = import, .row = row};
    size_t owner = 0;
    double time = 0;
    enum nn_status status = check_width(import, row);
    if (status == NN_OK) {
        status = make_room(import);
    }
    if (status == NN_OK) {
        status = nn_table_find_sequence(import, row, &owner);
    }
    if (status != NN_OK) {
        return status;
    }
    import->rows_read++;
    at.sequence = &import->sequences[owner];
    if (!at.sequence->reason && at.sequence->length >= LENGTH_MAX) {
        status = refuse(&at, NN_NO_COLUMN, "too_long", "a sequence of more than 1,000,000 steps");
    }
    size_t n = import->n_rows;
    if (status == NN_OK && !at.sequence->reason) {
        status = take_time(&at, &time);
    }
    if (status == NN_OK && !at.sequence->reason) {
        status = take_inputs(&at, import->features + n * import->n_inputs);
    }
    if (status == NN_OK && !at.sequence->reason) {
        status = take_targets(&at, import->targets + n * import->n_targets);
    }
    if (status == NN_OK && !at.sequence->reason) {
        import->times[n] = time;
        import->owners[n] = (uint32_t)owner;
        at.sequence->last_time = time;
        at.sequence->length++;
        import->n_rows++;
    }
    return status;
}
