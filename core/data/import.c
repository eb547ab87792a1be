/* SPDX-License-Identifier: MIT
 *
 * The frame of an import, the same for every layout: limits, items as they arrive, the prepared set
 * (import_write.c), the report. Pixels go to an unnamed file in the given directory first, because
 * their order and channels are known only at the end.
 */
#include "core/data/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/sha256.h"
#include "core/data/import_internal.h"
#include "core/data/import_table_internal.h"

#define GIB           ((size_t)1 << 30)
#define PREPARED_NAME "prepared"
#define SPOOL_BUFFER  ((size_t)1 << 20)

/* --------------------------------------------------------------------------------------- shared */

bool nn_import_grow(void **array, size_t *room, size_t n, size_t element)
{
    size_t bytes;
    if (n < *room) {
        return true;
    }
    size_t wanted = *room ? 2 * *room : 256;
    void *grown = nn_size_mul(wanted, element, &bytes) ? realloc(*array, bytes) : NULL;
    if (!grown) {
        return false;
    }
    *array = grown;
    *room = wanted;
    return true;
}

char *nn_import_text(struct nn_import *import, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = n < 0 ? NULL : nn_arena_alloc(import->arena, (size_t)n + 1, 1);
    if (text) {
        va_start(args, fmt);
        vsnprintf(text, (size_t)n + 1, fmt, args);
        va_end(args);
    }
    return text;
}

bool nn_import_is_signals(const struct nn_import *import)
{
    return import->setup->layout == NN_IMPORT_SIGNALS;
}

bool nn_import_wants_size(const struct nn_import *import, size_t *out_height, size_t *out_width)
{
    const struct jx_ints *size = &import->setup->options.image_size;
    if (size->count == 0) {
        return false;
    }
    *out_height = (size_t)size->value[0];
    *out_width = (size_t)size->value[size->count - 1];
    return true;
}

enum nn_status nn_import_tell(struct nn_import *import, size_t done, size_t total)
{
    const struct nn_import_setup *setup = import->setup;
    if (setup->progress && !setup->progress(setup->progress_ctx, done, total)) {
        return nn_fail(import->err, NN_ERR_CANCELLED, "the import was cancelled");
    }
    return NN_OK;
}

enum nn_status nn_import_set_shape(struct nn_import *import, size_t count, size_t height,
                                   size_t width, size_t channels)
{
    size_t bytes, wanted = import->setup->options.channels;
    channels = wanted > 0 ? wanted : channels;
    if (count > UINT32_MAX || !nn_size_mul(height, width, &bytes) ||
        !nn_size_mul(bytes, channels, &bytes) || !nn_size_mul(bytes, count, &bytes) ||
        bytes > import->limits.max_prepared_bytes) {
        return nn_fail_at(import->err, NN_ERR_LIMIT, "/image_size",
                          "%zu images of %zu x %zu x %zu are more than %zu bytes; choose a smaller "
                          "image_size",
                          count, height, width, channels, import->limits.max_prepared_bytes);
    }
    import->value_bytes = 1;
    import->height = height;
    import->width = width;
    import->channels = channels;
    return NN_OK;
}

enum nn_status nn_import_refuse(struct nn_import *import, size_t row, const char *reason,
                                const char *text)
{
    static const char *const words[][2] = {
        {"name_not_utf8", "the name is not UTF-8"},
        {"name_too_long", "the name is longer than 1024 bytes, or a part of it than 255"},
        {"path_traversal", "the name leads out of the archive"},
        {"absolute_path", "the name is an absolute path"},
        {"bad_path", "the name is empty or has backslashes or control characters"},
        {"link", "links are not followed"},
        {"special_file", "neither a file nor a folder"},
        {"encrypted", "the entry is encrypted"},
        {"compression_method", "only stored and deflated entries are supported"},
        {"entry_too_large", "it unpacks to more bytes than one entry may have"},
        {"duplicate_name", "an entry before it has the same name"},
        {"no_class", "it lies in no class folder"},
    };
    struct nn_import_row *r = &import->rows[row];
    for (size_t i = 0; !text && i < sizeof words / sizeof words[0]; i++) {
        text = strcmp(words[i][0], reason) == 0 ? words[i][1] : NULL;
    }
    r->state = NN_ROW_REFUSED;
    r->reason = reason;
    r->text = nn_import_text(import, "%s", text ? text : reason);
    if (!r->text) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for the report");
    }
    if (import->setup->options.on_refused == NN_IMPORT_FAIL) {
        return nn_fail(import->err, NN_ERR_INVALID, "\"%.150s\": %.150s", r->name, r->text);
    }
    return NN_OK;
}

/* ---------------------------------------------------------------------------------------- items */

/* Over size and pixels, so that two shapes of the same bytes differ. */
static void digest_image(const struct nn_image *image, uint8_t out_digest[NN_DIGEST_BYTES])
{
    struct nn_sha256 hash;
    uint32_t shape[3] = {(uint32_t)image->height, (uint32_t)image->width,
                         (uint32_t)image->channels};
    nn_sha256_init(&hash);
    nn_sha256_update(&hash, shape, sizeof shape);
    nn_sha256_update(&hash, image->pixels, image->height * image->width * image->channels);
    nn_sha256_finish(&hash, out_digest);
}

/* The picture in the set's size and channels; `spare` owns what had to be made for it. */
static enum nn_status fit(struct nn_import *import, const struct nn_image *image,
                          struct nn_image spare[2], const struct nn_image **out_fitted)
{
    enum nn_status status = NN_OK;
    if (image->height != import->height || image->width != import->width) {
        status = nn_image_resize(image, import->height, import->width, &spare[0], import->err);
        image = &spare[0];
        import->n_resized++;
    }
    if (status == NN_OK && image->channels != import->channels) {
        status = nn_image_to_channels(image, import->channels, &spare[1], import->err);
        image = &spare[1];
    }
    *out_fitted = image;
    return status;
}

/* 16 bits hold what 12-bit cameras give, and then come out almost black. */
static void note_sixteen_bit(struct nn_import *import, const struct nn_image *image)
{
    size_t n = image->height * image->width * image->channels;
    import->n_sixteen_bit++;
    for (size_t i = 0; i < n; i++) {
        unsigned level = image->pixels[i];
        import->sixteen_most = level > import->sixteen_most ? level : import->sixteen_most;
    }
}

enum nn_status nn_import_add(struct nn_import *import, const struct nn_image *image,
                             const char *name, uint32_t label, enum nn_part part)
{
    struct nn_image spare[2] = {0};
    const struct nn_image *fitted = NULL;
    if (!nn_import_grow((void **)&import->items, &import->room_items, import->n_items,
                        sizeof *import->items)) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for %zu items", import->n_items);
    }
    enum nn_status status = fit(import, image, spare, &fitted);
    size_t bytes = import->height * import->width * import->channels;
    if (status == NN_OK && fwrite(fitted->pixels, 1, bytes, import->spool) != bytes) {
        status = nn_fail(import->err, NN_ERR_IO, "cannot write pixels: %s", strerror(errno));
    }
    if (status == NN_OK) {
        struct nn_import_item *item = &import->items[import->n_items];
        *item = (struct nn_import_item){
            .name = name, .place = import->n_items, .label = label, .part = part};
        digest_image(image, item->digest);
        if (image->sixteen_bit) {
            note_sixteen_bit(import, image);
        }
        import->any_colour = import->any_colour || image->channels == 3;
        import->n_spooled = ++import->n_items;
    }
    nn_image_deinit(&spare[0]);
    nn_image_deinit(&spare[1]);
    return status;
}

/* ------------------------------------------------------------------------------------------ run */

static size_t or_default(size_t given, size_t fallback)
{
    return given ? given : fallback;
}

static struct nn_import_limits fill_limits(const struct nn_import_limits *given)
{
    return (struct nn_import_limits){
        .max_entries = or_default(given->max_entries, 200000),
        .max_entry_bytes = or_default(given->max_entry_bytes, (size_t)64 << 20),
        .max_total_bytes = or_default(given->max_total_bytes, 16 * GIB),
        .max_prepared_bytes = or_default(given->max_prepared_bytes, 16 * GIB),
        .max_values = or_default(given->max_values, (size_t)1 << 27),
        .max_classes = or_default(given->max_classes, 4096),
        .max_listed = or_default(given->max_listed, 1000),
    };
}

/* A file without a name, so that nothing stays behind even when the process is killed. */
static FILE *open_spool(const char *directory)
{
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        char path[4096];
        snprintf(path, sizeof path, "%s/spool-XXXXXX", directory);
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0) {
            unlink(path);
        }
    }
    FILE *spool = fd < 0 ? NULL : fdopen(fd, "w+b");
    if (!spool && fd >= 0) {
        close(fd);
    }
    return spool;
}

static enum nn_status finish(struct nn_import *import, const char *path,
                             struct nn_import_result *out_result)
{
    struct nn_prepared_layout layout;
    uint8_t digest[NN_DIGEST_BYTES];
    enum nn_status status = nn_import_write(import, path, &layout, digest);
    json_t *report = status == NN_OK ? nn_import_report(import, &layout, digest) : NULL;
    if (status == NN_OK && !report) {
        status = nn_fail(import->err, NN_ERR_MEMORY, "no memory for the report");
    }
    if (status == NN_OK) {
        *out_result = (struct nn_import_result){.prepared_name = PREPARED_NAME, .report = report};
    }
    return status;
}

static enum nn_status import_items(struct nn_import *import, const char *path,
                                   struct nn_import_result *out_result)
{
    char *buffer = malloc(SPOOL_BUFFER);
    enum nn_status status = NN_OK;
    if (!buffer) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for an import");
    }
    import->spool = open_spool(import->setup->directory);
    if (!import->spool) {
        status = nn_fail(import->err, NN_ERR_IO, "cannot write pixels: %s", strerror(errno));
        goto cleanup;
    }
    setvbuf(import->spool, buffer, _IOFBF, SPOOL_BUFFER);
    status = import->setup->layout == NN_IMPORT_IDX ? nn_import_idx(import)
             : nn_import_is_signals(import)         ? nn_import_signals(import)
                                                    : nn_import_archive(import);
    if (status == NN_OK) {
        status = finish(import, path, out_result);
    }
cleanup:
    if (import->spool) {
        fclose(import->spool);
    }
    free(buffer);
    free(import->rows);
    free(import->items);
    return status;
}

static enum nn_status import_tables(struct nn_import *import, const char *path,
                                    struct nn_import_result *out_result)
{
    json_t *report = NULL;
    enum nn_status status = nn_import_sequences(import, path, &report);
    if (status == NN_OK) {
        *out_result = (struct nn_import_result){.prepared_name = PREPARED_NAME, .report = report};
    }
    return status;
}

enum nn_status nn_import_run(const struct nn_import_setup *setup,
                             struct nn_import_result *out_result, struct nn_error *err)
{
    struct nn_import import = {.setup = setup, .limits = fill_limits(&setup->limits), .err = err};
    char *path = NULL;
    enum nn_status status = nn_arena_create(NULL, 0, &import.arena);
    if (status != NN_OK || asprintf(&path, "%s/" PREPARED_NAME, setup->directory) < 0) {
        path = NULL;
        status = nn_fail(err, NN_ERR_MEMORY, "no memory for an import");
        goto cleanup;
    }
    status = nn_import_is_table(setup->layout) ? import_tables(&import, path, out_result)
                                               : import_items(&import, path, out_result);
    if (status != NN_OK) {
        unlink(path);
    }
cleanup:
    free(path);
    nn_arena_destroy(import.arena);
    return status;
}

void nn_import_result_deinit(struct nn_import_result *result)
{
    json_decref(result->report);
    result->report = NULL;
}
