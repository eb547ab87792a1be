/* SPDX-License-Identifier: MIT
 *
 * The sequences that the rows of tables belong to, found by id: a hash table of those of one file.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/sha256.h"
#include "core/data/import_table_internal.h"
#include "core/data/sections_internal.h"

#define TEXT_MAX    255
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

enum nn_status nn_table_no_memory(const struct nn_table_import *import)
{
    return nn_fail(import->base->err, NN_ERR_MEMORY, "no memory for the rows of a table");
}

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
        return nn_table_no_memory(import);
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

enum nn_status nn_table_find_sequence(struct nn_table_import *import,
                                      const struct nn_table_row *row, size_t *out_sequence)
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
