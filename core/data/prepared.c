/* SPDX-License-Identifier: MIT
 *
 * Reading a prepared set. Everything is checked before a pointer is handed out: sizes, checksums,
 * labels, parts, ends of names. The layout, in order, each section at a multiple of 64 bytes, the
 * pixels at a multiple of 4096:
 *
 *   header | labels u32 | parts u8 | digests 32 x u8 | name ends u64 | names | class ends u64 |
 *   class names | options | pixels
 */
#include "core/data/prepared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/data/prepared_internal.h"

const struct nn_section_format nn_prepared_format = {
    .what = "prepared set",
    .magic = {'N', 'N', 'P', 'R', 'E', 'P', '\r', '\n'},
    .version = NN_PREPARED_VERSION,
    .header_bytes = NN_PREPARED_HEADER_BYTES};

struct nn_prepared {
    struct nn_prepared_info info;
    struct nn_prepared_layout layout;
    const uint8_t *bytes;
    size_t size;
    void *map; /* made by us: unmap when closing; or NULL */
};

static const char *const PART_NAMES[NN_PART_COUNT] = {"train", "validation", "test"};

const char *nn_part_name(enum nn_part part)
{
    return (size_t)part < NN_PART_COUNT ? PART_NAMES[part] : "unknown";
}

/* --------------------------------------------------------------------------------------- layout */

bool nn_prepared_layout_of(const struct nn_prepared_header *header,
                           struct nn_prepared_layout *out_layout)
{
    struct nn_prepared_layout l = {
        .count = header->count,
        .height = header->height,
        .width = header->width,
        .channels = header->channels,
        .class_count = header->class_count,
        .value_bytes = header->value_bytes ? header->value_bytes : 1,
        .names_bytes = header->names_bytes,
        .class_names_bytes = header->class_names_bytes,
        .options_bytes = header->options_bytes,
    };
    uint64_t at = NN_PREPARED_HEADER_BYTES;
    uint64_t n = l.count;
    bool fits =
        !__builtin_mul_overflow(l.height, l.width, &l.item_bytes) &&
        !__builtin_mul_overflow(l.item_bytes, l.channels, &l.item_bytes) &&
        !__builtin_mul_overflow(l.item_bytes, l.value_bytes, &l.item_bytes) &&
        nn_section_place(&at, n, sizeof(uint32_t), NN_SECTION_ALIGNMENT, &l.labels) &&
        nn_section_place(&at, n, 1, NN_SECTION_ALIGNMENT, &l.parts) &&
        nn_section_place(&at, n, NN_DIGEST_BYTES, NN_SECTION_ALIGNMENT, &l.digests) &&
        nn_section_place(&at, n, sizeof(uint64_t), NN_SECTION_ALIGNMENT, &l.name_ends) &&
        nn_section_place(&at, l.names_bytes, 1, NN_SECTION_ALIGNMENT, &l.names) &&
        nn_section_place(&at, l.class_count, sizeof(uint64_t), NN_SECTION_ALIGNMENT,
                         &l.class_ends) &&
        nn_section_place(&at, l.class_names_bytes, 1, NN_SECTION_ALIGNMENT, &l.class_names) &&
        nn_section_place(&at, l.options_bytes, 1, NN_SECTION_ALIGNMENT, &l.options) &&
        nn_section_place(&at, n, l.item_bytes, NN_SECTION_PAGE, &l.pixels);
    if (!fits) {
        return false;
    }
    l.file_bytes = at;
    *out_layout = l;
    return true;
}

static enum nn_status corrupt(struct nn_error *err, const char *what)
{
    return nn_fail(err, NN_ERR_CORRUPT, "prepared set: %s", what);
}

bool nn_prepared_channels_hold(uint64_t value_bytes, uint64_t channels)
{
    bool pixels = value_bytes <= 1 && (channels == 1 || channels == 3);
    bool floats =
        value_bytes == sizeof(float) && channels >= 1 && channels <= NN_SIGNAL_CHANNELS_MAX;
    return pixels || floats;
}

static enum nn_status read_header(const uint8_t *head, size_t size,
                                  struct nn_prepared_header *out_header,
                                  struct nn_prepared_layout *out_layout, struct nn_error *err)
{
    struct nn_prepared_header h;
    enum nn_status status = nn_section_header_read(&nn_prepared_format, head, size, &h, err);
    if (status != NN_OK) {
        return status;
    }
    if (h.count == 0 || h.count > UINT32_MAX || h.height == 0 || h.height > UINT32_MAX ||
        h.width == 0 || h.width > UINT32_MAX ||
        !nn_prepared_channels_hold(h.value_bytes, h.channels) || h.class_count == 0 ||
        h.class_count > UINT32_MAX || h.options_bytes == 0) {
        return corrupt(err, "a size in the header is out of range");
    }
    if (!nn_prepared_layout_of(&h, out_layout) || out_layout->file_bytes != h.file_bytes) {
        return corrupt(err, "the sizes in the header do not add up");
    }
    *out_header = h;
    return NN_OK;
}

enum nn_status nn_prepared_layout_read(const uint8_t *head, size_t size,
                                       struct nn_prepared_layout *out_layout, struct nn_error *err)
{
    struct nn_prepared_header header;
    struct nn_prepared_layout layout;
    enum nn_status status = read_header(head, size, &header, &layout, err);
    if (status == NN_OK) {
        *out_layout = layout;
    }
    return status;
}

/* --------------------------------------------------------------------------------------- checks */

bool nn_prepared_values_hold(const struct nn_prepared_layout *layout, const uint8_t *pixels)
{
    const float *values = (const float *)(const void *)pixels;
    bool hold = true;
    for (size_t i = 0; layout->value_bytes == sizeof(float) && i < layout->item_bytes / 4; i++) {
        hold = hold && isfinite(values[i]);
    }
    return hold;
}

static bool items_hold(struct nn_prepared *p)
{
    for (size_t i = 0; i < p->info.count; i++) {
        uint8_t part = p->bytes[p->layout.parts + i];
        if (part >= NN_PART_COUNT || nn_prepared_label(p, i) >= p->info.class_count) {
            return false;
        }
        if (!nn_prepared_values_hold(&p->layout, nn_prepared_pixels(p, i))) {
            return false;
        }
        p->info.part_count[part]++;
    }
    return true;
}

static enum nn_status check(struct nn_prepared *p, struct nn_error *err)
{
    struct nn_prepared_header header = {0};
    enum nn_status status = read_header(p->bytes, p->size, &header, &p->layout, err);
    const struct nn_prepared_layout *l = &p->layout;
    if (status != NN_OK) {
        return status;
    }
    if (l->file_bytes != p->size) {
        return corrupt(err, "the file is cut off or too long");
    }
    if (header.payload_crc !=
        nn_section_crc(p->bytes + NN_PREPARED_HEADER_BYTES, p->size - NN_PREPARED_HEADER_BYTES)) {
        return corrupt(err, "the checksum is wrong");
    }
    p->info.count = (size_t)l->count;
    p->info.height = (size_t)l->height;
    p->info.width = (size_t)l->width;
    p->info.channels = (size_t)l->channels;
    p->info.class_count = (size_t)l->class_count;
    p->info.value_bytes = (size_t)l->value_bytes;
    p->info.options = (const char *)p->bytes + l->options;
    memcpy(p->info.digest, header.digest, NN_DIGEST_BYTES);
    if (!nn_section_texts_hold(p->bytes, l->name_ends, l->count, l->names, l->names_bytes) ||
        !nn_section_texts_hold(p->bytes, l->class_ends, l->class_count, l->class_names,
                               l->class_names_bytes)) {
        return corrupt(err, "a name is out of range");
    }
    if (!nn_text_is_utf8(p->info.options, l->options_bytes - 1) ||
        p->info.options[l->options_bytes - 1] != '\0') {
        return corrupt(err, "the options are no text");
    }
    return items_hold(p) ? NN_OK : corrupt(err, "a label, part or value is out of range");
}

/* -------------------------------------------------------------------------------- open and close
 */

static enum nn_status open_bytes(const uint8_t *bytes, size_t size, void *map,
                                 struct nn_prepared **out_prepared, struct nn_error *err)
{
    struct nn_prepared *p = calloc(1, sizeof *p);
    if (!p) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a prepared set");
    }
    p->bytes = bytes;
    p->size = size;
    enum nn_status status = check(p, err);
    if (status != NN_OK) {
        free(p);
        return status;
    }
    p->map = map;
    *out_prepared = p;
    return NN_OK;
}

enum nn_status nn_prepared_open_bytes(const uint8_t *bytes, size_t size,
                                      struct nn_prepared **out_prepared, struct nn_error *err)
{
    NN_ASSERT((uintptr_t)bytes % sizeof(uint64_t) == 0);
    return open_bytes(bytes, size, NULL, out_prepared, err);
}

enum nn_status nn_prepared_open_fd(int fd, struct nn_prepared **out_prepared, struct nn_error *err)
{
    void *bytes;
    size_t size;
    enum nn_status status = nn_section_file_map(&nn_prepared_format, fd, &bytes, &size, err);
    if (status != NN_OK) {
        return status;
    }
    status = open_bytes(bytes, size, bytes, out_prepared, err);
    if (status != NN_OK) {
        munmap(bytes, size);
    }
    return status;
}

enum nn_status nn_prepared_open(const char *path, struct nn_prepared **out_prepared,
                                struct nn_error *err)
{
    int fd;
    enum nn_status status = nn_section_file_open(&nn_prepared_format, path, &fd, err);
    if (status == NN_OK) {
        status = nn_prepared_open_fd(fd, out_prepared, err);
        close(fd);
    }
    return status;
}

void nn_prepared_close(struct nn_prepared *prepared)
{
    if (!prepared) {
        return;
    }
    if (prepared->map) {
        munmap(prepared->map, prepared->size);
    }
    free(prepared);
}

/* -------------------------------------------------------------------------------------- getters */

const struct nn_prepared_info *nn_prepared_info(const struct nn_prepared *prepared)
{
    return &prepared->info;
}

const uint8_t *nn_prepared_pixels(const struct nn_prepared *prepared, size_t i)
{
    return prepared->bytes + prepared->layout.pixels + i * prepared->layout.item_bytes;
}

const float *nn_prepared_values(const struct nn_prepared *prepared, size_t i)
{
    NN_ASSERT(prepared->info.value_bytes == sizeof(float));
    return (const float *)(const void *)nn_prepared_pixels(prepared, i);
}

uint32_t nn_prepared_label(const struct nn_prepared *prepared, size_t i)
{
    uint32_t label;
    memcpy(&label, prepared->bytes + prepared->layout.labels + i * sizeof label, sizeof label);
    return label;
}

enum nn_part nn_prepared_part(const struct nn_prepared *prepared, size_t i)
{
    return (enum nn_part)prepared->bytes[prepared->layout.parts + i];
}

const uint8_t *nn_prepared_item_digest(const struct nn_prepared *prepared, size_t i)
{
    return prepared->bytes + prepared->layout.digests + i * NN_DIGEST_BYTES;
}

const char *nn_prepared_item_name(const struct nn_prepared *prepared, size_t i)
{
    return nn_section_text(prepared->bytes, prepared->layout.name_ends, prepared->layout.names, i);
}

const char *nn_prepared_class_name(const struct nn_prepared *prepared, size_t k)
{
    return nn_section_text(prepared->bytes, prepared->layout.class_ends,
                           prepared->layout.class_names, k);
}
