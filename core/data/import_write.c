/* SPDX-License-Identifier: MIT
 *
 * The end of an import of images or signals: the order of the items, what the set says of itself,
 * the set.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/data/import_internal.h"
#include "core/data/prepared_internal.h"

static int by_part_and_name(const void *left, const void *right)
{
    const struct nn_import_item *a = left;
    const struct nn_import_item *b = right;
    return a->part != b->part ? (a->part < b->part ? -1 : 1) : strcmp(a->name, b->name);
}

/* The JSON text that goes into the prepared set: all that made these pixels of those files. */
static json_t *describe_signals(const struct nn_import *import)
{
    const struct nn_signal_options *o = &import->signal;
    json_t *json = jx_encode(nn_signal_fields, o);
    return json_pack("{s:s, s:s, s:o}", "layout", "signals", "on_refused",
                     nn_import_on_refused_name(import->setup->options.on_refused), "signal", json);
}

static json_t *describe_options(const struct nn_import *import)
{
    if (nn_import_is_signals(import)) {
        return describe_signals(import);
    }
    size_t height;
    size_t width;
    bool wanted = nn_import_wants_size(import, &height, &width);
    json_t *size =
        wanted ? json_pack("[I, I]", (json_int_t)height, (json_int_t)width) : json_null();
    size_t channels = import->setup->options.channels;
    json_t *colour = channels > 0 ? json_integer((json_int_t)channels) : json_null();
    return json_pack("{s:s, s:o, s:o, s:s, s:s, s:i}", "layout",
                     import->setup->layout == NN_IMPORT_IDX ? "idx" : "archive", "image_size", size,
                     "channels", colour, "on_refused",
                     nn_import_on_refused_name(import->setup->options.on_refused), "resize",
                     "bilinear_antialias", "background", NN_IMAGE_BACKGROUND);
}

/* When all pictures with colour were refused, the three equal channels become one, in place, unless
 * three are wanted. */
static void drop_colour(struct nn_import *import, uint8_t *pixels)
{
    size_t n = import->n_items * import->height * import->width;
    bool wanted = import->setup->options.channels == 3;
    if (import->value_bytes == 1 && import->channels == 3 && !wanted && !import->any_colour) {
        for (size_t i = 0; i < n; i++) {
            pixels[i] = pixels[3 * i];
        }
        import->channels = 1;
    }
}

static enum nn_status write_set(struct nn_import *import, uint8_t *pixels, const char *path,
                                uint8_t out_digest[NN_DIGEST_BYTES])
{
    struct nn_prepared_item *items = calloc(import->n_items, sizeof *items);
    json_t *options = describe_options(import);
    char *text = options ? json_dumps(options, JSON_COMPACT) : NULL;
    enum nn_status status = NN_OK;
    if (!items || !text) {
        status = nn_fail(import->err, NN_ERR_MEMORY, "no memory for %zu items", import->n_items);
        goto cleanup;
    }
    drop_colour(import, pixels);
    size_t bytes = import->height * import->width * import->channels * import->value_bytes;
    for (size_t i = 0; i < import->n_items; i++) {
        const struct nn_import_item *from = &import->items[i];
        items[i] = (struct nn_prepared_item){.name = from->name,
                                             .pixels = pixels + from->place * bytes,
                                             .label = from->label,
                                             .part = from->part};
        memcpy(items[i].digest, from->digest, NN_DIGEST_BYTES);
    }
    struct nn_prepared_draft draft = {
        .count = import->n_items,
        .height = import->height,
        .width = import->width,
        .channels = import->channels,
        .value_bytes = import->value_bytes,
        .items = items,
        .classes = import->classes,
        .class_count = import->n_classes,
        .options = text,
    };
    status = nn_prepared_write(path, &draft, out_digest, import->err);
cleanup:
    free(items);
    free(text);
    json_decref(options);
    return status;
}

/* Reads the layout back from the file that was written. */
static enum nn_status read_layout(struct nn_import *import, const char *path,
                                  struct nn_prepared_layout *out_layout)
{
    uint8_t head[NN_PREPARED_HEADER_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0) {
        close(fd);
    }
    return nn_prepared_layout_read(head, n < 0 ? 0 : (size_t)n, out_layout, import->err);
}

enum nn_status nn_import_write(struct nn_import *import, const char *path,
                               struct nn_prepared_layout *out_layout,
                               uint8_t out_digest[NN_DIGEST_BYTES])
{
    size_t bytes =
        import->n_spooled * import->height * import->width * import->channels * import->value_bytes;
    if (fflush(import->spool) != 0) {
        return nn_fail(import->err, NN_ERR_IO, "cannot write pixels: %s", strerror(errno));
    }
    uint8_t *pixels =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(import->spool), 0);
    if (pixels == MAP_FAILED) {
        return nn_fail(import->err, NN_ERR_IO, "cannot map pixels: %s", strerror(errno));
    }
    if (import->setup->layout != NN_IMPORT_IDX) {
        qsort(import->items, import->n_items, sizeof *import->items, by_part_and_name);
    }
    enum nn_status status = write_set(import, pixels, path, out_digest);
    munmap(pixels, bytes);
    return status == NN_OK ? read_layout(import, path, out_layout) : status;
}
