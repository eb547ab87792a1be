/* SPDX-License-Identifier: MIT
 *
 * An archive of pictures, read twice as a stream: the first pass looks at names, kinds and the
 * pictures' headers, which settles classes, parts, size and channels; the second decodes. So no
 * more than one entry is in memory at a time, and nothing but the prepared set touches the disk.
 */
#include <stdlib.h>
#include <string.h>

#include "core/data/archive_internal.h"
#include "core/data/import_internal.h"

#define TELL_EVERY 256

/* ---------------------------------------------------------------------------------- first pass */

static enum nn_status add_row(struct nn_import *import, const char *name, enum nn_row_state state,
                              const char *reason)
{
    if (!nn_import_grow((void **)&import->rows, &import->room_rows, import->n_rows,
                        sizeof *import->rows)) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for %zu entries", import->n_rows);
    }
    char *copy = nn_import_text(import, "%.*s", NN_ENTRY_NAME_MAX, name);
    if (!copy) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for %zu entries", import->n_rows);
    }
    import->rows[import->n_rows++] =
        (struct nn_import_row){.name = copy, .state = state, .reason = reason, .text = ""};
    return NN_OK;
}

/* Adds a row that is refused at once. */
static enum nn_status add_refused(struct nn_import *import, const char *name, const char *reason)
{
    enum nn_status status = add_row(import, name, NN_ROW_ITEM, NULL);
    return status == NN_OK ? nn_import_refuse(import, import->n_rows - 1, reason, NULL) : status;
}

/* What is wrong with an entry before a byte of it is read; NULL if nothing. */
static const char *fault_of(const struct nn_archive_entry *entry)
{
    return entry->kind == NN_ENTRY_LINK      ? "link"
           : entry->kind == NN_ENTRY_SPECIAL ? "special_file"
           : entry->encrypted                ? "encrypted"
           : !entry->method_supported        ? "compression_method"
                                             : NULL;
}

/* Looks at the header of the picture in the newest row, or takes the recording. */
static enum nn_status probe(struct nn_import *import, struct nn_archive *archive)
{
    struct nn_import_row *row = &import->rows[import->n_rows - 1];
    const uint8_t *bytes = NULL;
    size_t size = 0;
    enum nn_entry_read read;
    enum nn_image_refusal refusal;
    struct nn_image_header header;
    struct nn_error fault = {0};
    enum nn_status status = nn_archive_read(archive, &bytes, &size, &read, import->err);
    if (status != NN_OK) {
        return status;
    }
    if (read == NN_ENTRY_TOO_LARGE) {
        return nn_import_refuse(import, import->n_rows - 1, "entry_too_large", NULL);
    }
    if (read == NN_ENTRY_UNREADABLE) {
        row->is_picture = true; /* as far as one can know */
        return nn_import_refuse(import, import->n_rows - 1, "unreadable",
                                nn_archive_reason(archive));
    }
    if (import->signals) {
        return nn_import_signal_entry(import, import->n_rows - 1, bytes, size);
    }
    status = nn_image_probe(bytes, size, NULL, &header, &refusal, &fault);
    if (status == NN_OK) {
        row->is_colour = header.channels == 3;
        row->height = (uint32_t)header.height;
        row->width = (uint32_t)header.width;
        return NN_OK;
    }
    row->is_picture = refusal != NN_IMAGE_REFUSED_NOT_AN_IMAGE && refusal != NN_IMAGE_REFUSED_EMPTY;
    return nn_import_refuse(import, import->n_rows - 1, nn_image_refusal_slug(refusal), fault.text);
}

static enum nn_status first_pass(struct nn_import *import, struct nn_archive *archive,
                                 const struct nn_archive_entry *entry, size_t index)
{
    char name[NN_ENTRY_NAME_MAX + 1];
    const char *reason = nn_entry_name_clean(entry->name, name);
    (void)index;
    if (reason) {
        return add_refused(import, entry->name ? entry->name : "", reason);
    }
    const char *ignored = nn_entry_name_ignored(name);
    if (ignored) {
        return add_row(import, name, NN_ROW_IGNORED, ignored);
    }
    if (entry->kind == NN_ENTRY_FOLDER) {
        return add_row(import, name, NN_ROW_FOLDER, NULL);
    }
    reason = fault_of(entry);
    if (reason) {
        return add_refused(import, name, reason);
    }
    enum nn_status status = add_row(import, name, NN_ROW_ITEM, NULL);
    return status == NN_OK ? probe(import, archive) : status;
}

typedef enum nn_status (*entry_fn)(struct nn_import *import, struct nn_archive *archive,
                                   const struct nn_archive_entry *entry, size_t index);

/* Calls fn for each entry of the archive. */
static enum nn_status for_entries(struct nn_import *import, size_t total, entry_fn fn)
{
    struct nn_archive_caps caps = {import->limits.max_entries, import->limits.max_entry_bytes,
                                   import->limits.max_total_bytes};
    struct nn_archive *archive = NULL;
    struct nn_archive_entry entry;
    bool end = false;
    enum nn_status status =
        nn_archive_open(import->setup->files, NN_ARCHIVE_ENTRIES, &caps, &archive, import->err);
    for (size_t index = 0; status == NN_OK; index++) {
        status = nn_archive_next(archive, &entry, &end, import->err);
        if (status != NN_OK || end) {
            break;
        }
        status = fn(import, archive, &entry, index);
        if (status == NN_OK && index % TELL_EVERY == 0) {
            status = nn_import_tell(import, index, total);
        }
    }
    nn_archive_close(archive);
    return status;
}

/* --------------------------------------------------------------------------------- second pass */

static enum nn_status decode(struct nn_import *import, struct nn_archive *archive, size_t index)
{
    const struct nn_import_row *row = &import->rows[index];
    const uint8_t *bytes = NULL;
    size_t size = 0;
    enum nn_entry_read read;
    enum nn_image_refusal refusal;
    struct nn_image image;
    struct nn_error fault = {0};
    enum nn_status status = nn_archive_read(archive, &bytes, &size, &read, import->err);
    if (status != NN_OK) {
        return status;
    }
    if (read != NN_ENTRY_READ) {
        return nn_import_refuse(import, index, "unreadable", nn_archive_reason(archive));
    }
    status = nn_image_decode(bytes, size, NULL, &image, &refusal, &fault);
    if (status == NN_ERR_MEMORY) {
        return nn_fail(import->err, NN_ERR_MEMORY, "%s", fault.text);
    }
    if (status != NN_OK) {
        return nn_import_refuse(import, index, nn_image_refusal_slug(refusal), fault.text);
    }
    status = nn_import_add(import, &image, row->name, row->label, row->part);
    nn_image_deinit(&image);
    return status;
}

static enum nn_status second_pass(struct nn_import *import, struct nn_archive *archive,
                                  const struct nn_archive_entry *entry, size_t index)
{
    char name[NN_ENTRY_NAME_MAX + 1];
    if (index >= import->n_rows) {
        return nn_fail(import->err, NN_ERR_IO, "the archive changed while it was read");
    }
    if (import->rows[index].state != NN_ROW_ITEM) {
        return NN_OK;
    }
    if (nn_entry_name_clean(entry->name, name) || strcmp(name, import->rows[index].name) != 0) {
        return nn_fail(import->err, NN_ERR_IO, "the archive changed while it was read");
    }
    return decode(import, archive, index);
}

/* ---------------------------------------------------------------------------------------- shape */

/* Height and width as one number, so that equal sizes are equal and can be sorted. */
static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static uint64_t most_frequent(uint64_t *sizes, size_t n)
{
    uint64_t best = 0;
    size_t best_count = 0;
    qsort(sizes, n, sizeof *sizes, by_size);
    for (size_t i = 0, run = 1; i < n; i++, run++) {
        run = i > 0 && sizes[i] == sizes[i - 1] ? run : 1;
        if (run >= best_count) { /* of equally frequent sizes the larger one */
            best = sizes[i];
            best_count = run;
        }
    }
    return best;
}

/* The first refusal, as the reason why nothing is left. */
enum nn_status nn_import_nothing_left(const struct nn_import *import)
{
    const char *noun = nn_import_is_signals(import) ? "recording" : "picture";
    for (size_t i = 0; i < import->n_rows; i++) {
        const struct nn_import_row *row = &import->rows[i];
        if (row->state == NN_ROW_REFUSED) {
            return nn_fail(import->err, NN_ERR_INVALID,
                           "no %s could be taken; the first refused, \"%.100s\": %.150s", noun,
                           row->name, row->text);
        }
    }
    return nn_fail(import->err, NN_ERR_INVALID, "the archive holds no %s in a class folder", noun);
}

static enum nn_status settle_shape(struct nn_import *import)
{
    uint64_t *sizes = malloc((import->n_rows + 1) * sizeof *sizes);
    size_t n = 0;
    size_t height;
    size_t width;
    bool colour = false;
    if (!sizes) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for %zu sizes", import->n_rows);
    }
    for (size_t i = 0; i < import->n_rows; i++) {
        const struct nn_import_row *row = &import->rows[i];
        if (row->state == NN_ROW_ITEM) {
            sizes[n++] = (uint64_t)row->height << 32 | row->width;
            colour = colour || row->is_colour;
        }
    }
    if (!nn_import_wants_size(import, &height, &width)) {
        uint64_t size = most_frequent(sizes, n);
        height = size >> 32;
        width = size & UINT32_MAX;
    }
    free(sizes);
    return n == 0 ? nn_import_nothing_left(import)
                  : nn_import_set_shape(import, n, height, width, colour ? 3 : 1);
}

enum nn_status nn_import_look(struct nn_import *import)
{
    return for_entries(import, 0, first_pass);
}

enum nn_status nn_import_archive(struct nn_import *import)
{
    if (import->setup->n_files != 1) {
        return nn_fail(import->err, NN_ERR_INVALID, "an archive data set is one file, not %zu",
                       import->setup->n_files);
    }
    if (import->setup->options.classes) {
        return nn_fail_at(import->err, NN_ERR_INVALID, "/classes",
                          "the classes of an archive are its folders");
    }
    enum nn_status status = nn_import_look(import);
    if (status == NN_OK) {
        status = nn_import_assign(import);
    }
    if (status == NN_OK) {
        status = settle_shape(import);
    }
    if (status == NN_OK) {
        status = for_entries(import, import->n_rows, second_pass);
    }
    return status == NN_OK && import->n_items == 0 ? nn_import_nothing_left(import) : status;
}
