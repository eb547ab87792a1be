/* SPDX-License-Identifier: MIT
 *
 * IDX, the format of MNIST: a magic number with type and dimensions, sizes in big endian, raw
 * bytes; images and labels in two files. Believes no count that the other file or the end of the
 * data does not confirm.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/data/archive_internal.h"
#include "core/data/import_internal.h"

#define TYPE_UBYTE 0x08
#define LABELS     256      /* a label is one byte */
#define ITEMS_MAX  20000000 /* in one file */
#define TELL_EVERY 2048

struct pair {
    const struct nn_import_file *images;
    const struct nn_import_file *labels;
};

/* One file being read. */
struct reader {
    struct nn_archive *stream;
    const char *name;
    size_t dims[4]; /* those that the file does not have are 1 */
    size_t n_dims;
};

/* --------------------------------------------------------------------------- which file is which
 */

static bool has_word(const char *name, const char *word)
{
    return strcasestr(name, word) != NULL;
}

static enum nn_part part_of(const char *name)
{
    if (has_word(name, "t10k") || has_word(name, "test")) {
        return NN_PART_TEST;
    }
    return has_word(name, "val") ? NN_PART_VALIDATION : NN_PART_TRAIN;
}

static enum nn_status find_pairs(struct nn_import *import, struct pair pairs[NN_PART_COUNT])
{
    const struct nn_import_setup *setup = import->setup;
    for (size_t i = 0; i < setup->n_files; i++) {
        const struct nn_import_file *file = &setup->files[i];
        struct pair *pair = &pairs[setup->n_files == 2 ? NN_PART_TRAIN : part_of(file->name)];
        bool images = has_word(file->name, "images");
        if (images == has_word(file->name, "labels")) {
            return nn_fail(import->err, NN_ERR_INVALID,
                           "\"%.100s\": an IDX file needs \"images\" or \"labels\" in its name",
                           file->name);
        }
        const struct nn_import_file **slot = images ? &pair->images : &pair->labels;
        if (*slot) {
            return nn_fail(import->err, NN_ERR_INVALID,
                           "\"%.100s\" and \"%.100s\" are for the same part", (*slot)->name,
                           file->name);
        }
        *slot = file;
    }
    for (size_t k = 0; k < NN_PART_COUNT; k++) {
        if (!pairs[k].images != !pairs[k].labels) {
            return nn_fail(import->err, NN_ERR_INVALID, "\"%.100s\" has no file of %s beside it",
                           (pairs[k].images ? pairs[k].images : pairs[k].labels)->name,
                           pairs[k].images ? "labels" : "images");
        }
    }
    return NN_OK;
}

/* -------------------------------------------------------------------------------------- reading */

static enum nn_status read_exactly(struct nn_import *import, struct reader *r, void *dst, size_t n)
{
    size_t got = 0;
    struct nn_error fault = {0};
    enum nn_status status = nn_archive_read_some(r->stream, dst, n, &got, &fault);
    if (status != NN_OK) {
        return nn_fail(import->err, status, "\"%.100s\": %.150s", r->name, fault.text);
    }
    if (got < n) {
        return nn_fail(import->err, NN_ERR_INVALID, "\"%.100s\" is cut off", r->name);
    }
    return NN_OK;
}

static enum nn_status expect_end(struct nn_import *import, struct reader *r)
{
    uint8_t more;
    size_t got = 0;
    enum nn_status status = nn_archive_read_some(r->stream, &more, 1, &got, import->err);
    if (status == NN_OK && got > 0) {
        status = nn_fail(import->err, NN_ERR_INVALID, "\"%.100s\" is longer than its header says",
                         r->name);
    }
    return status;
}

static enum nn_status read_header(struct nn_import *import, struct reader *r, size_t min_dims,
                                  size_t max_dims)
{
    uint8_t magic[4];
    uint8_t size[4];
    enum nn_status status = read_exactly(import, r, magic, sizeof magic);
    if (status != NN_OK) {
        return status;
    }
    if (magic[0] != 0 || magic[1] != 0 || magic[2] < TYPE_UBYTE || magic[2] > 0x0E) {
        return nn_fail(import->err, NN_ERR_INVALID, "\"%.100s\" is no IDX file", r->name);
    }
    if (magic[2] != TYPE_UBYTE || magic[3] < min_dims || magic[3] > max_dims) {
        return nn_fail(import->err, NN_ERR_NOT_SUPPORTED,
                       "\"%.100s\": type 0x%02x with %u dimensions; needed are bytes (0x08) with "
                       "%zu",
                       r->name, magic[2], magic[3], min_dims);
    }
    r->n_dims = magic[3];
    for (size_t k = 0; k < 4; k++) {
        r->dims[k] = 1;
        if (k < r->n_dims) {
            status = read_exactly(import, r, size, sizeof size);
            if (status != NN_OK) {
                return status;
            }
            r->dims[k] =
                (size_t)size[0] << 24 | (size_t)size[1] << 16 | (size_t)size[2] << 8 | size[3];
        }
    }
    return NN_OK;
}

static enum nn_status open_reader(struct nn_import *import, const struct nn_import_file *file,
                                  struct reader *r)
{
    static const struct nn_archive_caps no_caps = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    struct nn_archive_entry entry;
    bool end = false;
    *r = (struct reader){.name = file->name};
    enum nn_status status =
        nn_archive_open(file, NN_ARCHIVE_PLAIN, &no_caps, &r->stream, import->err);
    if (status == NN_OK) {
        status = nn_archive_next(r->stream, &entry, &end, import->err);
    }
    if (status == NN_OK && end) {
        status = nn_fail(import->err, NN_ERR_INVALID, "\"%.100s\" is empty", file->name);
    }
    if (status != NN_OK) {
        nn_archive_close(r->stream);
        r->stream = NULL;
    }
    return status;
}

/* --------------------------------------------------------------------------------------- labels */

/* Labels of all pairs, part by part, and how often each occurs. */
struct labels {
    uint8_t *values[NN_PART_COUNT];
    size_t count[NN_PART_COUNT];
    size_t total;
    size_t seen[LABELS];
    uint32_t class_of[LABELS];
};

static enum nn_status read_labels(struct nn_import *import, const struct nn_import_file *file,
                                  size_t part, struct labels *labels)
{
    struct reader r;
    enum nn_status status = open_reader(import, file, &r);
    if (status != NN_OK) {
        return status;
    }
    status = read_header(import, &r, 1, 1);
    size_t n = status == NN_OK ? r.dims[0] : 0;
    if (status == NN_OK && n > ITEMS_MAX) {
        status = nn_fail(import->err, NN_ERR_LIMIT, "\"%.100s\" says it has %zu labels", r.name, n);
    }
    uint8_t *values = status == NN_OK ? malloc(n + 1) : NULL;
    if (status == NN_OK && !values) {
        status = nn_fail(import->err, NN_ERR_MEMORY, "no memory for %zu labels", n);
    }
    if (status == NN_OK) {
        status = read_exactly(import, &r, values, n);
    }
    if (status == NN_OK) {
        status = expect_end(import, &r);
    }
    if (status == NN_OK && values) {
        for (size_t i = 0; i < n; i++) {
            labels->seen[values[i]]++;
        }
    }
    labels->values[part] = values;
    labels->count[part] = n;
    labels->total += n;
    nn_archive_close(r.stream);
    return status;
}

static enum nn_status take_given_classes(struct nn_import *import, const json_t *given,
                                         const struct labels *labels)
{
    size_t n = json_array_size(given);
    for (size_t k = 0; k < n; k++) {
        const char *name = json_string_value(json_array_get(given, k));
        const char *fault = name ? nn_class_name_fault(name) : "is no text";
        for (size_t j = 0; j < k && !fault; j++) {
            fault = strcmp(import->classes[j], name) == 0 ? "stands there twice" : NULL;
        }
        import->classes[k] = fault ? NULL : nn_import_text(import, "%s", name);
        if (!import->classes[k]) {
            return nn_fail_at(import->err, fault ? NN_ERR_INVALID : NN_ERR_MEMORY, "/classes",
                              "class name %zu %s", k, fault ? fault : "finds no memory");
        }
    }
    for (size_t value = n; value < LABELS; value++) {
        if (labels->seen[value]) {
            return nn_fail_at(import->err, NN_ERR_INVALID, "/classes",
                              "label %zu occurs, but only %zu class names are given", value, n);
        }
    }
    import->n_classes = n;
    return NN_OK;
}

/* A label is a number in the file and a class in the set: without names, each number that occurs is
 * a class of that name, in order. */
static enum nn_status settle_classes(struct nn_import *import, struct labels *labels)
{
    const json_t *given = import->setup->options.classes;
    import->classes = nn_arena_alloc(import->arena, LABELS, sizeof *import->classes);
    if (!import->classes) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for classes");
    }
    if (given && json_array_size(given) > LABELS) {
        return nn_fail_at(import->err, NN_ERR_INVALID, "/classes", "at most %d classes", LABELS);
    }
    for (uint32_t value = 0; value < LABELS; value++) {
        labels->class_of[value] = given ? value : (uint32_t)import->n_classes;
        if (!given && labels->seen[value]) {
            import->classes[import->n_classes++] = nn_import_text(import, "%u", value);
            if (!import->classes[import->n_classes - 1]) {
                return nn_fail(import->err, NN_ERR_MEMORY, "no memory for classes");
            }
        }
    }
    return given ? take_given_classes(import, given, labels) : NN_OK;
}

/* --------------------------------------------------------------------------------------- images */

/* Checks the header of images against the labels, the caps and the pairs before. */
static enum nn_status check_images(struct nn_import *import, const struct reader *r, size_t n)
{
    size_t height = r->dims[1];
    size_t width = r->dims[2];
    size_t channels = r->dims[3];
    struct nn_image_limits caps = {.max_side = 8192, .max_pixels = 50000000};
    if (r->dims[0] != n) {
        return nn_fail(import->err, NN_ERR_INVALID, "\"%.100s\" has %zu images for %zu labels",
                       r->name, r->dims[0], n);
    }
    if (height == 0 || width == 0 || height > caps.max_side || width > caps.max_side ||
        height * width > caps.max_pixels || (channels != 1 && channels != 3)) {
        return nn_fail(import->err, NN_ERR_LIMIT, "\"%.100s\": images of %zu x %zu x %zu", r->name,
                       height, width, channels);
    }
    return NN_OK;
}

static enum nn_status add_images(struct nn_import *import, struct reader *r, struct labels *labels,
                                 enum nn_part part, size_t before)
{
    struct nn_image image = {r->dims[1], r->dims[2], r->dims[3], NULL, false};
    size_t bytes = image.height * image.width * image.channels;
    image.pixels = malloc(bytes);
    enum nn_status status =
        image.pixels ? NN_OK : nn_fail(import->err, NN_ERR_MEMORY, "no memory for an image");
    for (size_t i = 0; status == NN_OK && i < labels->count[part]; i++) {
        status = read_exactly(import, r, image.pixels, bytes);
        const char *name = nn_import_text(import, "%s/%05zu", nn_part_name(part), i);
        if (status == NN_OK && !name) {
            status = nn_fail(import->err, NN_ERR_MEMORY, "no memory for names");
        }
        if (status == NN_OK) {
            status = nn_import_add(import, &image, name, labels->class_of[labels->values[part][i]],
                                   part);
        }
        if (status == NN_OK && i % TELL_EVERY == 0) {
            status = nn_import_tell(import, before + i, labels->total);
        }
    }
    free(image.pixels);
    return status;
}

static enum nn_status read_images(struct nn_import *import, const struct nn_import_file *file,
                                  struct labels *labels, enum nn_part part, size_t before)
{
    struct reader r;
    enum nn_status status = open_reader(import, file, &r);
    if (status != NN_OK) {
        return status;
    }
    status = read_header(import, &r, 3, 4);
    if (status == NN_OK) {
        status = check_images(import, &r, labels->count[part]);
    }
    if (status == NN_OK && import->height == 0) {
        size_t height = r.dims[1];
        size_t width = r.dims[2];
        nn_import_wants_size(import, &height, &width);
        status = nn_import_set_shape(import, labels->total, height, width, r.dims[3]);
    }
    bool wanted = import->setup->options.channels > 0;
    if (status == NN_OK && !wanted && import->channels != r.dims[3]) {
        status = nn_fail(import->err, NN_ERR_INVALID, "\"%.100s\" has %zu channels, not %zu",
                         r.name, r.dims[3], import->channels);
    }
    if (status == NN_OK) {
        status = add_images(import, &r, labels, part, before);
    }
    if (status == NN_OK) {
        status = expect_end(import, &r);
    }
    nn_archive_close(r.stream);
    return status;
}

enum nn_status nn_import_idx(struct nn_import *import)
{
    struct pair pairs[NN_PART_COUNT] = {0};
    struct labels labels = {0};
    size_t before = 0;
    enum nn_status status = find_pairs(import, pairs);
    for (size_t k = 0; status == NN_OK && k < NN_PART_COUNT; k++) {
        if (pairs[k].labels) {
            status = read_labels(import, pairs[k].labels, k, &labels);
        }
    }
    if (status == NN_OK) {
        status = labels.total == 0
                     ? nn_fail(import->err, NN_ERR_INVALID, "the data set holds no image")
                     : settle_classes(import, &labels);
    }
    for (size_t k = 0; status == NN_OK && k < NN_PART_COUNT; k++) {
        if (pairs[k].images) {
            status = read_images(import, pairs[k].images, &labels, (enum nn_part)k, before);
        }
        before += labels.count[k];
    }
    for (size_t k = 0; k < NN_PART_COUNT; k++) {
        free(labels.values[k]);
    }
    return status;
}
