/* SPDX-License-Identifier: MIT
 *
 * Labels and parts of recordings: the table labels.csv, and the sharing out of recordings.
 *
 * The table has a header; of its columns "recording" (a path below the table's folder) and "class"
 * are read, and "part" where it is one. Cells end at commas, semicolons or tabs and may be quoted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/import_signals_internal.h"

enum { MOST_CELLS = 64 };

struct label_row {
    const char *recording, *class_name, *part; /* of the table's text; part NULL: no such column */
};

struct label_table {
    struct label_row *rows;
    size_t n, room;
    size_t recording, class_name, part; /* columns; SIZE_MAX: not there */
};

/* --------------------------------------------------------------------------------------- cells */

static bool ends_cell(char c)
{
    return c == ',' || c == ';' || c == '\t' || c == '\0';
}

/* Cuts a line, in place, into cells; returns how many. */
static size_t cut_line(char *line, char *cells[MOST_CELLS])
{
    size_t n = 0;
    char *at = line;
    for (bool more = true; more && n < MOST_CELLS;) {
        char *cell = at + strspn(at, " ");
        bool quoted = *cell == '"';
        cell += quoted;
        at = quoted ? strchr(cell, '"') : cell;
        char *end = at ? at : cell + strlen(cell);
        at = end;
        while (!ends_cell(*at)) {
            at++;
        }
        more = *at != '\0';
        end = quoted ? end : at;
        while (!quoted && end > cell && end[-1] == ' ') {
            end--;
        }
        at += more;
        *end = '\0';
        cells[n++] = cell;
    }
    return n;
}

/* The next line, NUL-terminated, and its end; NULL behind the last. */
static char *next_line(char **inout_rest)
{
    char *line = *inout_rest;
    if (!line || *line == '\0') {
        return NULL;
    }
    char *end = line + strcspn(line, "\r\n");
    char *next = end + strspn(end, "\r\n");
    *end = '\0';
    *inout_rest = next;
    return line;
}

static enum nn_status wrong_table(const struct nn_signal_import *s, const char *what)
{
    return nn_fail(s->base->err, NN_ERR_INVALID, NN_SIGNAL_LABELS ": %s", what);
}

static enum nn_status read_header(const struct nn_signal_import *s, char *line,
                                  struct label_table *table)
{
    char *cells[MOST_CELLS];
    size_t n = line ? cut_line(line, cells) : 0;
    table->recording = table->class_name = table->part = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t *column = strcmp(cells[i], "recording") == 0 ? &table->recording
                         : strcmp(cells[i], "class") == 0   ? &table->class_name
                         : strcmp(cells[i], "part") == 0    ? &table->part
                                                            : NULL;
        if (column) {
            *column = i;
        }
    }
    return table->recording != SIZE_MAX && table->class_name != SIZE_MAX
               ? NN_OK
               : wrong_table(s, "its header must name the columns recording and class");
}

static enum nn_status add_row(const struct nn_signal_import *s, char *line,
                              struct label_table *table)
{
    char *cells[MOST_CELLS] = {0};
    size_t n = cut_line(line, cells);
    bool has_part = table->part != SIZE_MAX;
    if (n <= table->recording || n <= table->class_name || (has_part && n <= table->part)) {
        return wrong_table(s, "a row has too few cells");
    }
    const char *fault = nn_class_name_fault(cells[table->class_name]);
    if (fault) {
        return nn_fail(s->base->err, NN_ERR_INVALID,
                       NN_SIGNAL_LABELS ": the class of \"%.100s\" %.100s", cells[table->recording],
                       fault);
    }
    if (!nn_import_grow((void **)&table->rows, &table->room, table->n, sizeof *table->rows)) {
        return nn_fail(s->base->err, NN_ERR_MEMORY, "no memory for " NN_SIGNAL_LABELS);
    }
    table->rows[table->n++] = (struct label_row){cells[table->recording], cells[table->class_name],
                                                 has_part ? cells[table->part] : NULL};
    return NN_OK;
}

static int by_recording(const void *left, const void *right)
{
    const struct label_row *a = left;
    const struct label_row *b = right;
    return strcmp(a->recording, b->recording);
}

static enum nn_status read_table(struct nn_signal_import *s, struct label_table *table)
{
    char *rest = s->labels + (strncmp(s->labels, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    enum nn_status status = read_header(s, next_line(&rest), table);
    for (char *line; status == NN_OK && (line = next_line(&rest));) {
        status = add_row(s, line, table);
    }
    if (status != NN_OK || table->n == 0) {
        return status == NN_OK ? wrong_table(s, "it has no row") : status;
    }
    qsort(table->rows, table->n, sizeof *table->rows, by_recording);
    for (size_t i = 1; i < table->n; i++) {
        if (strcmp(table->rows[i].recording, table->rows[i - 1].recording) == 0) {
            return nn_fail(s->base->err, NN_ERR_INVALID,
                           NN_SIGNAL_LABELS ": \"%.150s\" has two rows", table->rows[i].recording);
        }
    }
    return NN_OK;
}

/* -------------------------------------------------------------------------------------- labels */

static enum nn_status collect_classes(struct nn_signal_import *s, const struct label_table *table)
{
    const char **names = calloc(table->n, sizeof *names);
    bool enough = names != NULL;
    for (size_t i = 0; enough && i < table->n; i++) {
        names[i] = nn_import_text(s->base, "%s", table->rows[i].class_name);
        enough = names[i] != NULL;
    }
    enum nn_status status = enough ? nn_import_sort_classes(s->base, names, table->n)
                                   : nn_fail(s->base->err, NN_ERR_MEMORY, "no memory for classes");
    free(names);
    return status;
}

static enum nn_status label_row(struct nn_signal_import *s, const struct label_table *table,
                                size_t index)
{
    struct nn_import_row *row = &s->base->rows[index];
    bool below = strncmp(row->name, s->base->rows[s->table].name, s->folder) == 0;
    const struct label_row key = {.recording = row->name + (below ? s->folder : 0)};
    const struct label_row *found =
        below ? bsearch(&key, table->rows, table->n, sizeof key, by_recording) : NULL;
    if (!found) {
        return nn_import_refuse(s->base, index, "no_class", "it has no row in " NN_SIGNAL_LABELS);
    }
    row->label = nn_import_label_of(s->base, found->class_name, strlen(found->class_name));
    if (found->part && !nn_import_find_part(found->part, strlen(found->part), &row->part)) {
        return nn_fail(s->base->err, NN_ERR_INVALID,
                       NN_SIGNAL_LABELS ": \"%.100s\" is no part (train, validation, test)",
                       found->part);
    }
    return NN_OK;
}

enum nn_status nn_signal_read_labels(struct nn_signal_import *s, bool *out_has_parts)
{
    struct label_table table = {0};
    enum nn_status status = read_table(s, &table);
    if (status == NN_OK) {
        status = collect_classes(s, &table);
    }
    if (status == NN_OK) {
        status = nn_import_study_names(s->base);
    }
    for (size_t i = 0; status == NN_OK && i < s->base->n_rows; i++) {
        status = s->base->rows[i].state == NN_ROW_ITEM ? label_row(s, &table, i) : NN_OK;
    }
    *out_has_parts = status == NN_OK && table.part != SIZE_MAX;
    free(table.rows);
    return status;
}

/* --------------------------------------------------------------------------------------- shares */

struct shared {
    size_t row;
    uint32_t label;
    const struct nn_signal_recording *recording;
};

static int by_class_and_key(const void *left, const void *right)
{
    const struct shared *a = left;
    const struct shared *b = right;
    if (a->label != b->label) {
        return a->label < b->label ? -1 : 1;
    }
    if (a->recording->key != b->recording->key) {
        return a->recording->key < b->recording->key ? -1 : 1;
    }
    int order = memcmp(a->recording->digest, b->recording->digest, NN_DIGEST_BYTES);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

static bool same_content(const struct shared *a, const struct shared *b)
{
    return memcmp(a->recording->digest, b->recording->digest, NN_DIGEST_BYTES) == 0;
}

static size_t share_of(double share, size_t n)
{
    double rounded = floor(share * (double)n + 0.5);
    return share <= 1e-9 ? 0 : rounded < 1 ? 1 : (size_t)rounded;
}

/* One class: the first recordings test, the next validate, the rest trains; equal ones are one. */
static enum nn_status share_class(struct nn_signal_import *s, const struct shared *shared, size_t n)
{
    const struct nn_signal_parts *parts = &s->options.parts;
    size_t different = 1, place = 0;
    for (size_t i = 1; i < n; i++) {
        different += !same_content(&shared[i], &shared[i - 1]);
    }
    size_t tests = share_of(1 - parts->train - parts->validation, different);
    size_t validates = share_of(parts->validation, different);
    if (tests + validates >= different) {
        return nn_fail_at(s->base->err, NN_ERR_INVALID, "/signal/parts",
                          "class \"%.100s\" has %zu different recordings of %zu, too few for a "
                          "share of each part; by \"time\" cuts every recording",
                          s->base->classes[shared->label], different, n);
    }
    for (size_t i = 0; i < n; i++) {
        place += i > 0 && !same_content(&shared[i], &shared[i - 1]);
        s->base->rows[shared[i].row].part = place < tests               ? NN_PART_TEST
                                            : place < tests + validates ? NN_PART_VALIDATION
                                                                        : NN_PART_TRAIN;
    }
    return NN_OK;
}

enum nn_status nn_signal_share_recordings(struct nn_signal_import *s)
{
    size_t n = 0;
    struct shared *shared = calloc(s->base->n_rows + 1, sizeof *shared);
    enum nn_status status = NN_OK;
    if (!shared) {
        return nn_fail(s->base->err, NN_ERR_MEMORY, "no memory for recordings");
    }
    for (size_t i = 0; i < s->base->n_rows; i++) {
        if (s->base->rows[i].state == NN_ROW_ITEM) {
            shared[n++] = (struct shared){i, s->base->rows[i].label, &s->recordings[i]};
        }
    }
    qsort(shared, n, sizeof *shared, by_class_and_key);
    for (size_t from = 0, end; status == NN_OK && from < n; from = end) {
        for (end = from + 1; end < n && shared[end].label == shared[from].label;) {
            end++;
        }
        status = share_class(s, shared + from, end - from);
    }
    free(shared);
    return status;
}
