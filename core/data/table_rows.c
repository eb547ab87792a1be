/* SPDX-License-Identifier: MIT
 *
 * From rows to steps of sequences. The rows of one sequence may be mixed with those of others, but
 * stand in the order of time. The first thing wrong with a sequence is what its refusal says.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/sha256.h"
#include "core/data/import_table_internal.h"
#include "core/data/sections_internal.h"

#define TEXT_MAX    255
#define LENGTH_MAX  1000000 /* steps of one sequence */
#define SHOWN_BYTES 40      /* of a cell in a text */
#define FIRST_SLOTS 1024

const char *nn_table_text_fault(const struct nn_table_cell *cell)
{
    if (cell->length == 0) {
        return "is empty";
    }
    if (cell->length > TEXT_MAX) {
        return "is longer than 255 bytes";
    }
    for (size_t i = 0; i < cell->length; i++) {
        if ((unsigned char)cell->text[i] < 0x20 || cell->text[i] == 0x7F) {
            return "has control characters";
        }
    }
    return nn_text_is_utf8(cell->text, cell->length) ? NULL : "is not UTF-8";
}

static enum nn_status no_memory(const struct nn_table_import *import)
{
    return nn_fail(import->base->err, NN_ERR_MEMORY, "no memory for the rows of a table");
}

/* ------------------------------------------------------------------------------- finding sequences
 */

/* Of a cryptographic hash, so that no file can make all its ids collide. */
static uint64_t hash_of(const char *id)
{
    uint8_t digest[NN_SHA256_SIZE];
    uint64_t hash;
    nn_sha256_of(id, strlen(id), digest);
    memcpy(&hash, digest, sizeof hash);
    return hash;
}

static void put_slot(struct nn_table_import *import, size_t sequence)
{
    size_t slot = (size_t)import->sequences[sequence].hash % import->n_slots;
    while (import->slots[slot] != 0) {
        slot = (slot + 1) % import->n_slots;
    }
    import->slots[slot] = (uint32_t)sequence + 1;
}

/* Keeps the table at most half full. */
static bool make_slots(struct nn_table_import *import)
{
    size_t used = import->n_sequences - import->first_of_file;
    if (2 * (used + 1) <= import->n_slots) {
        return true;
    }
    size_t n = import->n_slots ? 2 * import->n_slots : FIRST_SLOTS;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) {
        return false;
    }
    free(import->slots);
    import->slots = slots;
    import->n_slots = n;
    for (size_t i = import->first_of_file; i < import->n_sequences; i++) {
        put_slot(import, i);
    }
    return true;
}

void nn_table_begin_file(struct nn_table_import *import)
{
    import->first_of_file = import->n_sequences;
    if (import->slots) {
        memset(import->slots, 0, import->n_slots * sizeof *import->slots);
    }
}

static size_t look_up(const struct nn_table_import *import, const char *id, uint64_t hash)
{
    size_t slot = import->n_slots ? (size_t)hash % import->n_slots : 0;
    while (import->n_slots && import->slots[slot] != 0) {
        size_t i = import->slots[slot] - 1;
        if (import->sequences[i].hash == hash && strcmp(import->sequences[i].id, id) == 0) {
            return i;
        }
        slot = (slot + 1) % import->n_slots;
    }
    return SIZE_MAX;
}

/* Another file of the same part may use the same ids. */
static bool shares_part(const struct nn_table_import *import)
{
    for (size_t i = 0; i < import->base->setup->n_files; i++) {
        if (i != import->file && import->roles[i] == import->roles[import->file]) {
            return true;
        }
    }
    return false;
}

static enum nn_status make_sequence(struct nn_table_import *import, const char *id, uint64_t hash)
{
    const char *file = import->base->setup->files[import->file].name;
    enum nn_part part = (enum nn_part)import->roles[import->file];
    bool whole = import->columns.sequence == NN_NO_COLUMN;
    if (import->n_sequences >= import->base->limits.max_entries) {
        return nn_fail(import->base->err, NN_ERR_LIMIT, "more than %zu sequences",
                       import->base->limits.max_entries);
    }
    const char *name = shares_part(import) && !whole
                           ? nn_import_text(import->base, "%s/%s/%s", nn_part_name(part), file, id)
                           : nn_import_text(import->base, "%s/%s", nn_part_name(part), id);
    if (!name || !make_slots(import) ||
        !nn_import_grow((void **)&import->sequences, &import->room_sequences, import->n_sequences,
                        sizeof *import->sequences)) {
        return no_memory(import);
    }
    import->sequences[import->n_sequences] = (struct nn_table_sequence){
        .name = name,
        .id = name + strlen(name) - strlen(id),
        .hash = hash,
        .file = import->file,
        .part = part,
        .end = 1,
        .label = UINT32_MAX,
    };
    put_slot(import, import->n_sequences++);
    return NN_OK;
}

static enum nn_status find_sequence(struct nn_table_import *import, const struct nn_table_row *row,
                                    size_t *out_sequence)
{
    const struct nn_table_columns *c = &import->columns;
    struct nn_table_cell whole = {.text = import->base->setup->files[import->file].name};
    const struct nn_table_cell *cell = &whole;
    whole.length = strlen(whole.text);
    if (c->sequence != NN_NO_COLUMN) {
        cell = &row->cells[c->sequence];
    }
    size_t last = import->n_rows ? import->owners[import->n_rows - 1] : SIZE_MAX;
    if (last != SIZE_MAX && last >= import->first_of_file &&
        strcmp(import->sequences[last].id, cell->text) == 0) {
        *out_sequence = last;
        return NN_OK;
    }
    const char *fault = nn_table_text_fault(cell);
    if (fault) {
        return nn_table_fail(import, NN_ERR_INVALID, row->line, c->sequence, "the sequence id %s",
                             fault);
    }
    uint64_t hash = hash_of(cell->text);
    size_t found = look_up(import, cell->text, hash);
    if (found == SIZE_MAX) {
        enum nn_status status = make_sequence(import, cell->text, hash);
        if (status != NN_OK) {
            return status;
        }
        found = import->n_sequences - 1;
    }
    *out_sequence = found;
    return NN_OK;
}

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
        return no_memory(import);
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

static char decimal_of(const struct nn_table_import *import)
{
    return import->options->decimal_comma ? ',' : '.';
}

/* A number that must be there; refuses the sequence otherwise. */
static enum nn_status take_number(const struct at *at, size_t column, double *out_value)
{
    const struct nn_table_cell *cell = &at->row->cells[column];
    if (nn_table_is_missing(at->import, cell)) {
        return refuse(at, column, "missing", "there is no value");
    }
    const char *reason = nn_number_read(cell->text, decimal_of(at->import), out_value);
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
        return no_memory(import);
    }
    import->classes[import->n_classes] = nn_arena_text(import->base->arena, cell->text);
    *out_label = (uint32_t)import->n_classes;
    return import->classes[import->n_classes++] ? NN_OK : no_memory(import);
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
            return no_memory(import);
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
        status = find_sequence(import, row, &owner);
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
