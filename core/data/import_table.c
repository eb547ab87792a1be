/* SPDX-License-Identifier: MIT
 *
 * The files of a sequence set, one after the other: tables of steps, and the lists that say how
 * much life was left where a test sequence was cut off.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/import_table_internal.h"

#define ROW_BYTES  ((size_t)1 << 20)
#define ROW_CELLS  8192
#define TELL_EVERY 4096

enum nn_status nn_table_fail(struct nn_table_import *import, enum nn_status status, size_t line,
                             size_t column, const char *fmt, ...)
{
    char what[256];
    char place[32] = "";
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    if (column != NN_NO_COLUMN) {
        (void)snprintf(place, sizeof place, ", column %zu", column + 1);
    }
    return nn_fail(import->base->err, status, "\"%.100s\", line %zu%s: %.150s",
                   import->base->setup->files[import->file].name, line, place, what);
}

static enum nn_status open_table(struct nn_table_import *import, struct nn_table **out_table)
{
    const struct nn_import_file *file = &import->base->setup->files[import->file];
    struct nn_table_caps caps = {.row_bytes = ROW_BYTES,
                                 .cells = ROW_CELLS,
                                 .total_bytes = import->base->limits.max_total_bytes};
    return nn_table_open(file, (enum nn_table_separator)import->options->separator,
                         nn_table_decimal(import), &caps, out_table, import->base->err);
}

/* ---------------------------------------------------------------------------------------- steps */

static enum nn_status read_steps(struct nn_table_import *import)
{
    struct nn_table *table = NULL;
    struct nn_table_row row = {0};
    bool used = false;
    size_t rows = 0;
    enum nn_status status = open_table(import, &table);
    nn_table_begin_file(import);
    if (status == NN_OK) {
        status = nn_table_next(table, &row, import->base->err);
    }
    if (status == NN_OK && row.n == 0) {
        status =
            nn_table_fail(import, NN_ERR_INVALID, row.line, NN_NO_COLUMN, "the file has no rows");
    }
    if (status == NN_OK) {
        status = nn_table_find_columns(import, &row, &used);
    }
    while (status == NN_OK && row.n > 0) {
        if (!used) {
            status = nn_table_take_row(import, &row);
            rows++;
        }
        used = false;
        if (status == NN_OK && rows % TELL_EVERY == 0) {
            status = nn_import_tell(import->base, import->n_rows, 0);
        }
        if (status == NN_OK) {
            status = nn_table_next(table, &row, import->base->err);
        }
    }
    if (status == NN_OK && rows == 0) {
        status = nn_table_fail(import, NN_ERR_INVALID, 1, NN_NO_COLUMN,
                               "there is a header and nothing below it");
    }
    nn_table_close(table);
    return status;
}

/* ------------------------------------------------------------------------------------ ends of life
 */

/* The k-th file of ends belongs to the k-th table of its part. */
static size_t table_of(const struct nn_table_import *import, size_t file)
{
    enum nn_table_role part =
        import->roles[file] == NN_TABLE_TEST_END ? NN_TABLE_TEST : NN_TABLE_VALIDATION;
    size_t k = 0;
    for (size_t i = 0; i < file; i++) {
        k += import->roles[i] == import->roles[file];
    }
    for (size_t i = 0; i < import->base->setup->n_files; i++) {
        if (import->roles[i] == part && k-- == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* One number, zero or more. */
static enum nn_status take_end(struct nn_table_import *import, const struct nn_table_row *row,
                               double *out_end)
{
    const char *reason = nn_number_read(row->cells[0].text, nn_table_decimal(import), out_end);
    bool alone = row->n == 1 || (row->n == 2 && row->cells[1].length == 0);
    if (!alone) {
        return nn_table_fail(import, NN_ERR_INVALID, row->line, 1, "a single number is expected");
    }
    if (reason || *out_end < 0) {
        return nn_table_fail(import, NN_ERR_INVALID, row->line, 0, "\"%.40s\" is no remaining life",
                             row->cells[0].text);
    }
    return NN_OK;
}

static bool is_word(const struct nn_table_import *import, const struct nn_table_row *row)
{
    double ignored;
    const char *reason = nn_number_read(row->cells[0].text, nn_table_decimal(import), &ignored);
    return reason && strcmp(reason, "not_a_number") == 0;
}

static enum nn_status take_ends(struct nn_table_import *import, struct nn_table *table,
                                size_t of_file)
{
    const char *name = import->base->setup->files[of_file].name;
    size_t next = 0;
    size_t n = 0;
    bool first = true;
    struct nn_table_row row;
    enum nn_status status;
    while ((status = nn_table_next(table, &row, import->base->err)) == NN_OK && row.n > 0) {
        double end = 0;
        bool header =
            first && import->options->header != NN_TABLE_HEADER_NO && is_word(import, &row);
        first = false;
        if (header) {
            continue;
        }
        status = take_end(import, &row, &end);
        while (next < import->n_sequences && import->sequences[next].file != of_file) {
            next++;
        }
        if (status == NN_OK && next == import->n_sequences) {
            status = nn_table_fail(import, NN_ERR_INVALID, row.line, NN_NO_COLUMN,
                                   "\"%.100s\" has only %zu sequences", name, n);
        }
        if (status != NN_OK) {
            return status;
        }
        import->sequences[next++].end = end;
        n++;
    }
    while (status == NN_OK && next < import->n_sequences) {
        if (import->sequences[next++].file == of_file) {
            return nn_table_fail(import, NN_ERR_INVALID, row.line, NN_NO_COLUMN,
                                 "%zu numbers, \"%.100s\" has more sequences", n, name);
        }
    }
    return status;
}

static enum nn_status read_ends(struct nn_table_import *import)
{
    struct nn_table *table = NULL;
    size_t of_file = table_of(import, import->file);
    if (!import->options->remaining_life || of_file == SIZE_MAX) {
        return nn_fail_at(import->base->err, NN_ERR_INVALID, "/table/files",
                          "\"%.100s\" says how much life is left, %s",
                          import->base->setup->files[import->file].name,
                          of_file == SIZE_MAX ? "but there is no table that it belongs to"
                                              : "but remaining_life is not asked for");
    }
    enum nn_status status = open_table(import, &table);
    if (status == NN_OK) {
        status = take_ends(import, table, of_file);
    }
    nn_table_close(table);
    return status;
}

/* ---------------------------------------------------------------------------------------- files */

static bool is_end(enum nn_table_role role)
{
    return role == NN_TABLE_TEST_END || role == NN_TABLE_VALIDATION_END;
}

static size_t count_roles(const struct nn_table_import *import, enum nn_table_role role)
{
    size_t n = 0;
    for (size_t i = 0; i < import->base->setup->n_files; i++) {
        n += import->roles[i] == role;
    }
    return n;
}

/* Without a list of ends a part is taken for runs to failure; C-MAPSS always cuts its test part. */
static enum nn_status check_ends(struct nn_table_import *import, enum nn_table_role part,
                                 enum nn_table_role ends)
{
    size_t tables = count_roles(import, part);
    size_t lists = count_roles(import, ends);
    if (lists != tables && (lists > 0 || import->preset)) {
        return nn_fail_at(import->base->err, NN_ERR_INVALID, "/table/files",
                          "%zu files of part %s, but %zu files of remaining life", tables,
                          nn_table_role_name(part), lists);
    }
    import->assumed_end[part] = import->options->remaining_life && tables > 0 && lists == 0;
    return NN_OK;
}

static enum nn_status check_roles(struct nn_table_import *import)
{
    struct nn_error *err = import->base->err;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)import->options->files, name, value)
    {
        size_t i = 0;
        while (i < import->base->setup->n_files &&
               strcmp(import->base->setup->files[i].name, name) != 0) {
            i++;
        }
        if (i == import->base->setup->n_files) {
            return nn_fail_at(err, NN_ERR_INVALID, "/table/files", "there is no file \"%.100s\"",
                              name);
        }
    }
    if (count_roles(import, NN_TABLE_TRAIN) == 0) {
        return nn_fail_at(err, NN_ERR_INVALID, "/table/files", "no file is of the train part");
    }
    enum nn_status status = check_ends(import, NN_TABLE_VALIDATION, NN_TABLE_VALIDATION_END);
    return status == NN_OK ? check_ends(import, NN_TABLE_TEST, NN_TABLE_TEST_END) : status;
}

static enum nn_status find_roles(struct nn_table_import *import)
{
    const struct nn_import_setup *setup = import->base->setup;
    enum nn_status status = NN_OK;
    import->roles = nn_arena_alloc(import->base->arena, setup->n_files, sizeof *import->roles);
    if (!import->roles) {
        return nn_fail(import->base->err, NN_ERR_MEMORY, "no memory for an import");
    }
    for (size_t i = 0; status == NN_OK && i < setup->n_files; i++) {
        status = nn_table_role_of(import->options, setup->files[i].name, setup->n_files == 1,
                                  &import->roles[i], import->base->err);
    }
    return status == NN_OK ? check_roles(import) : status;
}

/* The train part names the columns, so its files come first; then the other tables, then the ends
 * of life. */
enum nn_status nn_table_read_files(struct nn_table_import *import)
{
    enum nn_status status = find_roles(import);
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; status == NN_OK && i < import->base->setup->n_files; i++) {
            enum nn_table_role role = import->roles[i];
            int its_pass = role == NN_TABLE_TRAIN ? 0 : is_end(role) ? 2 : 1;
            import->file = i;
            if (its_pass == pass) {
                status = pass == 2 ? read_ends(import) : read_steps(import);
            }
        }
    }
    return status;
}
