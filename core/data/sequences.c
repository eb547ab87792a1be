/* SPDX-License-Identifier: MIT
 *
 * Reading a prepared sequence set. Everything is checked before a pointer is handed out: sizes,
 * checksums, lengths, labels, parts, names, and that every number is finite. The layout, in order,
 * each section at a multiple of 64 bytes, features at a multiple of 4096:
 *
 *   header | first steps u64 | labels u32 | parts u8 | digests 32 x u8 | statistics 4 x f64 |
 *   name ends u64 | names | column ends u64 | columns | class ends u64 | classes | options |
 *   features f32 | targets f32
 */
#include "core/data/sequences.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/data/sequences_internal.h"

const struct nn_section_format nn_sequences_format = {
    .what = "prepared sequences",
    .magic = {'N', 'N', 'S', 'E', 'Q', 'S', '\r', '\n'},
    .version = NN_SEQUENCES_VERSION,
    .header_bytes = NN_SEQUENCES_HEADER_BYTES};

struct nn_sequences {
    struct nn_sequences_info info;
    struct nn_sequences_layout layout;
    const uint8_t *bytes;
    size_t size;
    void *map; /* made by us: unmap when closing; or NULL */
};

/* --------------------------------------------------------------------------------------- layout */

bool nn_sequences_layout_of(const struct nn_sequences_header *header,
                            struct nn_sequences_layout *out_layout)
{
    struct nn_sequences_layout l = {
        .count = header->count,
        .steps = header->steps,
        .inputs = header->inputs,
        .targets = header->targets,
        .class_count = header->class_count,
        .names_bytes = header->names_bytes,
        .columns_bytes = header->columns_bytes,
        .classes_bytes = header->classes_bytes,
        .options_bytes = header->options_bytes,
    };
    const uint64_t columns = l.inputs + l.targets;
    const struct {
        uint64_t n, size, alignment, *offset;
    } sections[] = {
        {l.count + 1, sizeof(uint64_t), NN_SECTION_ALIGNMENT, &l.first_steps},
        {l.count, sizeof(uint32_t), NN_SECTION_ALIGNMENT, &l.labels},
        {l.count, 1, NN_SECTION_ALIGNMENT, &l.parts},
        {l.count, NN_DIGEST_BYTES, NN_SECTION_ALIGNMENT, &l.digests},
        {columns, sizeof(struct nn_column_statistics), NN_SECTION_ALIGNMENT, &l.statistics},
        {l.count, sizeof(uint64_t), NN_SECTION_ALIGNMENT, &l.name_ends},
        {l.names_bytes, 1, NN_SECTION_ALIGNMENT, &l.names},
        {columns, sizeof(uint64_t), NN_SECTION_ALIGNMENT, &l.column_ends},
        {l.columns_bytes, 1, NN_SECTION_ALIGNMENT, &l.columns},
        {l.class_count, sizeof(uint64_t), NN_SECTION_ALIGNMENT, &l.class_ends},
        {l.classes_bytes, 1, NN_SECTION_ALIGNMENT, &l.classes},
        {l.options_bytes, 1, NN_SECTION_ALIGNMENT, &l.options},
        {l.steps, l.inputs * sizeof(float), NN_SECTION_PAGE, &l.features},
        {l.steps, l.targets * sizeof(float), NN_SECTION_PAGE, &l.target_values},
    };
    uint64_t at = NN_SEQUENCES_HEADER_BYTES;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (!nn_section_place(&at, sections[i].n, sections[i].size, sections[i].alignment,
                              sections[i].offset)) {
            return false;
        }
    }
    l.file_bytes = at;
    *out_layout = l;
    return true;
}

static enum nn_status corrupt(struct nn_error *err, const char *what)
{
    return nn_fail(err, NN_ERR_CORRUPT, "prepared sequences: %s", what);
}

static bool sizes_hold(const struct nn_sequences_header *h)
{
    return h->count > 0 && h->count <= UINT32_MAX && h->steps >= h->count && h->inputs > 0 &&
           h->inputs <= NN_SEQUENCES_COLUMNS_MAX && h->targets <= NN_SEQUENCES_COLUMNS_MAX &&
           h->class_count <= UINT32_MAX && (h->targets > 0) != (h->class_count > 0) &&
           h->options_bytes > 0;
}

static enum nn_status read_header(const uint8_t *head, size_t size,
                                  struct nn_sequences_header *out_header,
                                  struct nn_sequences_layout *out_layout, struct nn_error *err)
{
    struct nn_sequences_header h;
    enum nn_status status = nn_section_header_read(&nn_sequences_format, head, size, &h, err);
    if (status != NN_OK) {
        return status;
    }
    if (!sizes_hold(&h)) {
        return corrupt(err, "a size in the header is out of range");
    }
    if (!nn_sequences_layout_of(&h, out_layout) || out_layout->file_bytes != h.file_bytes) {
        return corrupt(err, "the sizes in the header do not add up");
    }
    *out_header = h;
    return NN_OK;
}

enum nn_status nn_sequences_layout_read(const uint8_t *head, size_t size,
                                        struct nn_sequences_layout *out_layout,
                                        struct nn_error *err)
{
    struct nn_sequences_header header;
    struct nn_sequences_layout layout;
    enum nn_status status = read_header(head, size, &header, &layout, err);
    if (status == NN_OK) {
        *out_layout = layout;
    }
    return status;
}

/* --------------------------------------------------------------------------------------- checks */

static bool items_hold(struct nn_sequences *s)
{
    const struct nn_sequences_layout *l = &s->layout;
    struct nn_sequences_info *info = &s->info;
    uint64_t begin = nn_section_u64(s->bytes, l->first_steps, 0);
    if (begin != 0) {
        return false;
    }
    for (size_t i = 0; i < info->count; i++) {
        uint64_t end = nn_section_u64(s->bytes, l->first_steps, i + 1);
        uint8_t part = s->bytes[l->parts + i];
        uint32_t label = nn_sequences_label(s, i);
        if (end <= begin || end > l->steps || part >= NN_PART_COUNT ||
            (info->class_count ? label >= info->class_count : label != 0)) {
            return false;
        }
        info->part_count[part]++;
        info->part_steps[part] += (size_t)(end - begin);
        info->longest = end - begin > info->longest ? (size_t)(end - begin) : info->longest;
        begin = end;
    }
    return begin == l->steps;
}

static bool all_finite(const struct nn_sequences *s, uint64_t offset, uint64_t n)
{
    const float *values = (const float *)(const void *)(s->bytes + offset);
    for (uint64_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static struct nn_column_statistics column_statistics(const struct nn_sequences *s, size_t column)
{
    struct nn_column_statistics statistics;
    memcpy(&statistics, s->bytes + s->layout.statistics + column * sizeof statistics,
           sizeof statistics);
    return statistics;
}

/* Numbers in range where there is a train part. */
static bool statistics_hold(const struct nn_sequences *s)
{
    for (size_t k = 0; k < s->info.inputs + s->info.targets; k++) {
        struct nn_column_statistics c = column_statistics(s, k);
        if (s->info.part_count[NN_PART_TRAIN] > 0 &&
            !(isfinite(c.min) && isfinite(c.max) && isfinite(c.mean) && isfinite(c.std) &&
              c.min <= c.max && c.std >= 0)) {
            return false;
        }
    }
    return true;
}

static bool names_hold(const struct nn_sequences *s)
{
    const struct nn_sequences_layout *l = &s->layout;
    return nn_section_texts_hold(s->bytes, l->name_ends, l->count, l->names, l->names_bytes) &&
           nn_section_texts_hold(s->bytes, l->column_ends, l->inputs + l->targets, l->columns,
                                 l->columns_bytes) &&
           nn_section_texts_hold(s->bytes, l->class_ends, l->class_count, l->classes,
                                 l->classes_bytes);
}

static void fill_info(struct nn_sequences *s, const struct nn_sequences_header *header)
{
    const struct nn_sequences_layout *l = &s->layout;
    s->info = (struct nn_sequences_info){
        .count = (size_t)l->count,
        .steps = (size_t)l->steps,
        .inputs = (size_t)l->inputs,
        .targets = (size_t)l->targets,
        .class_count = (size_t)l->class_count,
        .options = (const char *)s->bytes + l->options,
    };
    memcpy(s->info.digest, header->digest, NN_DIGEST_BYTES);
}

static enum nn_status check(struct nn_sequences *s, struct nn_error *err)
{
    struct nn_sequences_header header = {0};
    enum nn_status status = read_header(s->bytes, s->size, &header, &s->layout, err);
    const struct nn_sequences_layout *l = &s->layout;
    if (status != NN_OK) {
        return status;
    }
    if (l->file_bytes != s->size) {
        return corrupt(err, "the file is cut off or too long");
    }
    if (header.payload_crc !=
        nn_section_crc(s->bytes + NN_SEQUENCES_HEADER_BYTES, s->size - NN_SEQUENCES_HEADER_BYTES)) {
        return corrupt(err, "the checksum is wrong");
    }
    fill_info(s, &header);
    if (!names_hold(s)) {
        return corrupt(err, "a name is out of range");
    }
    if (!nn_text_is_utf8(s->info.options, l->options_bytes - 1) ||
        s->info.options[l->options_bytes - 1] != '\0') {
        return corrupt(err, "the options are no text");
    }
    if (!items_hold(s)) {
        return corrupt(err, "a length, label or part is out of range");
    }
    if (!statistics_hold(s) || !all_finite(s, l->features, l->steps * l->inputs) ||
        !all_finite(s, l->target_values, l->steps * l->targets)) {
        return corrupt(err, "a number is not finite");
    }
    return NN_OK;
}

/* ------------------------------------------------------------------------------- open and close */

static enum nn_status open_bytes(const uint8_t *bytes, size_t size, void *map,
                                 struct nn_sequences **out_sequences, struct nn_error *err)
{
    struct nn_sequences *s = calloc(1, sizeof *s);
    if (!s) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for prepared sequences");
    }
    s->bytes = bytes;
    s->size = size;
    enum nn_status status = check(s, err);
    if (status != NN_OK) {
        free(s);
        return status;
    }
    s->map = map;
    *out_sequences = s;
    return NN_OK;
}

enum nn_status nn_sequences_open_bytes(const uint8_t *bytes, size_t size,
                                       struct nn_sequences **out_sequences, struct nn_error *err)
{
    NN_ASSERT((uintptr_t)bytes % sizeof(uint64_t) == 0);
    return open_bytes(bytes, size, NULL, out_sequences, err);
}

enum nn_status nn_sequences_open_fd(int fd, struct nn_sequences **out_sequences,
                                    struct nn_error *err)
{
    void *bytes;
    size_t size;
    enum nn_status status = nn_section_file_map(&nn_sequences_format, fd, &bytes, &size, err);
    if (status != NN_OK) {
        return status;
    }
    status = open_bytes(bytes, size, bytes, out_sequences, err);
    if (status != NN_OK) {
        munmap(bytes, size);
    }
    return status;
}

enum nn_status nn_sequences_open(const char *path, struct nn_sequences **out_sequences,
                                 struct nn_error *err)
{
    int fd;
    enum nn_status status = nn_section_file_open(&nn_sequences_format, path, &fd, err);
    if (status == NN_OK) {
        status = nn_sequences_open_fd(fd, out_sequences, err);
        close(fd);
    }
    return status;
}

void nn_sequences_close(struct nn_sequences *sequences)
{
    if (!sequences) {
        return;
    }
    if (sequences->map) {
        munmap(sequences->map, sequences->size);
    }
    free(sequences);
}

/* -------------------------------------------------------------------------------------- getters */

const struct nn_sequences_info *nn_sequences_info(const struct nn_sequences *sequences)
{
    return &sequences->info;
}

static size_t first_step(const struct nn_sequences *s, size_t i)
{
    return (size_t)nn_section_u64(s->bytes, s->layout.first_steps, i);
}

size_t nn_sequences_length(const struct nn_sequences *sequences, size_t i)
{
    return first_step(sequences, i + 1) - first_step(sequences, i);
}

const float *nn_sequences_features(const struct nn_sequences *sequences, size_t i)
{
    const void *all = sequences->bytes + sequences->layout.features;
    return (const float *)all + first_step(sequences, i) * sequences->info.inputs;
}

const float *nn_sequences_targets(const struct nn_sequences *sequences, size_t i)
{
    const void *all = sequences->bytes + sequences->layout.target_values;
    size_t targets = sequences->info.targets;
    return targets ? (const float *)all + first_step(sequences, i) * targets : NULL;
}

uint32_t nn_sequences_label(const struct nn_sequences *sequences, size_t i)
{
    uint32_t label;
    memcpy(&label, sequences->bytes + sequences->layout.labels + i * sizeof label, sizeof label);
    return label;
}

enum nn_part nn_sequences_part(const struct nn_sequences *sequences, size_t i)
{
    return (enum nn_part)sequences->bytes[sequences->layout.parts + i];
}

const uint8_t *nn_sequences_item_digest(const struct nn_sequences *sequences, size_t i)
{
    return sequences->bytes + sequences->layout.digests + i * NN_DIGEST_BYTES;
}

const char *nn_sequences_item_name(const struct nn_sequences *s, size_t i)
{
    return nn_section_text(s->bytes, s->layout.name_ends, s->layout.names, i);
}

const char *nn_sequences_input_name(const struct nn_sequences *s, size_t k)
{
    return nn_section_text(s->bytes, s->layout.column_ends, s->layout.columns, k);
}

const char *nn_sequences_target_name(const struct nn_sequences *s, size_t r)
{
    return nn_section_text(s->bytes, s->layout.column_ends, s->layout.columns, s->info.inputs + r);
}

const char *nn_sequences_class_name(const struct nn_sequences *s, size_t c)
{
    return nn_section_text(s->bytes, s->layout.class_ends, s->layout.classes, c);
}

struct nn_column_statistics nn_sequences_input_statistics(const struct nn_sequences *s, size_t k)
{
    return column_statistics(s, k);
}

struct nn_column_statistics nn_sequences_target_statistics(const struct nn_sequences *s, size_t r)
{
    return column_statistics(s, s->info.inputs + r);
}
