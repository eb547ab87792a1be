/* SPDX-License-Identifier: MIT
 *
 * Reading safetensors. Nothing in the file is believed: the header's length is compared with the
 * file's before use, every entry's shape, type and offsets are checked against each other, and the
 * tensors must cover the data without overlap, gap or rest, so that no bytes hide in the file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/files/dtype_internal.h"
#include "core/files/mapped_internal.h"
#include "core/json/json.h"

enum {
    PREFIX_BYTES = 8,
    DEFAULT_HEADER_BYTES = 16 << 20,
    DEFAULT_TENSORS = 65536,
    HEADER_DEPTH = 4,
};

struct nn_safetensors {
    const unsigned char *bytes;
    size_t size;
    struct nn_mapped mapped; /* empty when the bytes are the caller's */
    json_t *header;
    struct nn_file_tensor *tensors; /* ordered by name */
    size_t count;
};

/* The data part of the file. */
struct region {
    const unsigned char *bytes;
    size_t size;
};

/* --- checks of one entry ---------------------------------------------------------------------- */

static bool size_from_json(const json_t *json, size_t *out)
{
    if (!json_is_integer(json) || json_integer_value(json) < 0) {
        return false;
    }
    *out = (size_t)json_integer_value(json);
    return true;
}

static enum nn_status shape_read(const json_t *shape, struct nn_file_tensor *tensor,
                                 struct nn_error *err)
{
    if (!json_is_array(shape) || json_array_size(shape) > NN_FILE_MAX_RANK) {
        return nn_fail(err, NN_ERR_INVALID,
                       "tensor \"%.100s\": shape is no list of at most %d sizes", tensor->name,
                       (int)NN_FILE_MAX_RANK);
    }
    tensor->rank = json_array_size(shape);
    tensor->count = 1;
    for (size_t i = 0; i < tensor->rank; i++) {
        if (!size_from_json(json_array_get(shape, i), &tensor->shape[i]) ||
            !nn_size_mul(tensor->count, tensor->shape[i], &tensor->count)) {
            return nn_fail(err, NN_ERR_INVALID, "tensor \"%.100s\": a size of the shape is wrong",
                           tensor->name);
        }
    }
    if (!nn_size_mul(tensor->count, nn_file_dtype_bytes(tensor->dtype), &tensor->bytes)) {
        return nn_fail(err, NN_ERR_INVALID, "tensor \"%.100s\" is too large", tensor->name);
    }
    return NN_OK;
}

static enum nn_status offsets_read(const json_t *offsets, const struct region *region,
                                   struct nn_file_tensor *tensor, struct nn_error *err)
{
    size_t begin;
    size_t end;
    if (!json_is_array(offsets) || json_array_size(offsets) != 2 ||
        !size_from_json(json_array_get(offsets, 0), &begin) ||
        !size_from_json(json_array_get(offsets, 1), &end)) {
        return nn_fail(err, NN_ERR_INVALID, "tensor \"%.100s\": data_offsets are no two offsets",
                       tensor->name);
    }
    if (begin > end || end > region->size) {
        return nn_fail(err, NN_ERR_INVALID, "tensor \"%.100s\": data_offsets leave the file",
                       tensor->name);
    }
    if (end - begin != tensor->bytes) {
        return nn_fail(err, NN_ERR_INVALID,
                       "tensor \"%.100s\": %zu bytes of data, shape and type say %zu", tensor->name,
                       end - begin, tensor->bytes);
    }
    tensor->data = region->bytes + begin;
    return NN_OK;
}

/* Exactly the three members; anything else may be a lie that another reader believes. */
static enum nn_status entry_read(const char *name, const json_t *entry, const struct region *region,
                                 struct nn_file_tensor *out, struct nn_error *err)
{
    if (!nn_file_name_is_clean(name, strlen(name))) {
        return nn_fail(err, NN_ERR_INVALID,
                       "a tensor's name is empty, longer than %d bytes or holds control characters",
                       (int)NN_FILE_NAME_MAX);
    }
    struct nn_file_tensor tensor = {.name = name};
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!json_is_object(entry) || json_object_size(entry) != 3 || !dtype) {
        return nn_fail(err, NN_ERR_INVALID,
                       "tensor \"%.100s\" must have dtype, shape and data_offsets", name);
    }
    if (!nn_file_dtype_find(dtype, &tensor.dtype)) {
        return nn_fail(err, NN_ERR_INVALID, "tensor \"%.100s\": unknown dtype \"%.20s\"", name,
                       dtype);
    }
    enum nn_status status = shape_read(json_object_get(entry, "shape"), &tensor, err);
    if (status == NN_OK) {
        status = offsets_read(json_object_get(entry, "data_offsets"), region, &tensor, err);
    }
    if (status == NN_OK) {
        *out = tensor;
    }
    return status;
}

/* --- checks of the whole ---------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct nn_file_tensor *x = a;
    const struct nn_file_tensor *y = b;
    if (x->data != y->data) {
        return (const char *)x->data < (const char *)y->data ? -1 : 1;
    }
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* empty ones first */
}

static int by_name(const void *a, const void *b)
{
    const struct nn_file_tensor *x = a;
    const struct nn_file_tensor *y = b;
    return strcmp(x->name, y->name);
}

/* Side by side from the first byte to the last. */
static enum nn_status cover_check(struct nn_safetensors *file, const struct region *region,
                                  struct nn_error *err)
{
    qsort(file->tensors, file->count, sizeof *file->tensors, by_place);
    const unsigned char *expected = region->bytes;
    for (size_t i = 0; i < file->count; i++) {
        const struct nn_file_tensor *tensor = &file->tensors[i];
        const unsigned char *data = tensor->data;
        if (data != expected) {
            return nn_fail(err, NN_ERR_INVALID, "tensor \"%.100s\" %s", tensor->name,
                           data < expected ? "overlaps another" : "leaves a gap before it");
        }
        expected = data + tensor->bytes;
    }
    if (expected != region->bytes + region->size) {
        return nn_fail(err, NN_ERR_INVALID, "%zu bytes follow the last tensor",
                       (size_t)(region->bytes + region->size - expected));
    }
    qsort(file->tensors, file->count, sizeof *file->tensors, by_name);
    return NN_OK;
}

static enum nn_status metadata_check(json_t *metadata, struct nn_error *err)
{
    if (!metadata) {
        return NN_OK;
    }
    bool ok = json_is_object(metadata);
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value)
    {
        ok = ok && json_is_string(value);
    }
    return ok ? NN_OK
              : nn_fail(err, NN_ERR_INVALID, NN_FILE_METADATA " must be an object of strings");
}

static enum nn_status entries_read(struct nn_safetensors *file, const struct region *region,
                                   size_t max_tensors, struct nn_error *err)
{
    enum nn_status status = metadata_check(json_object_get(file->header, NN_FILE_METADATA), err);
    if (status != NN_OK) {
        return status;
    }
    size_t n = json_object_size(file->header);
    if (n > max_tensors) {
        return nn_fail(err, NN_ERR_LIMIT, "%zu tensors are more than %zu", n, max_tensors);
    }
    file->tensors = calloc(n ? n : 1, sizeof *file->tensors);
    if (!file->tensors) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for %zu tensors", n);
    }
    const char *name;
    json_t *entry;
    json_object_foreach(file->header, name, entry)
    {
        if (strcmp(name, NN_FILE_METADATA) == 0) {
            continue;
        }
        status = entry_read(name, entry, region, &file->tensors[file->count], err);
        if (status != NN_OK) {
            return status;
        }
        file->count++;
    }
    return cover_check(file, region, err);
}

/* How many tensors the text of a header describes, without reading it: the member that each has.
 * Within a string its quotes would be escaped, so no name counts, but for one that is just this. */
static size_t entries_count(const unsigned char *text, size_t n)
{
    static const char MEMBER[] = "\"data_offsets\"";
    const unsigned char *end = text + n;
    size_t count = 0;
    for (const unsigned char *at = text; at; count += at != NULL) {
        at = memmem(at, (size_t)(end - at), MEMBER, sizeof MEMBER - 1);
        at = at ? at + sizeof MEMBER - 1 : NULL;
    }
    return count;
}

static enum nn_status header_read(struct nn_safetensors *file,
                                  const struct nn_safetensors_limits *limits, struct nn_error *err)
{
    size_t max_header = limits->max_header_bytes ? limits->max_header_bytes : DEFAULT_HEADER_BYTES;
    if (!file->bytes || file->size < PREFIX_BYTES) {
        return nn_fail(err, NN_ERR_INVALID, "%zu bytes are no safetensors file", file->size);
    }
    uint64_t declared = 0;
    for (int i = PREFIX_BYTES - 1; i >= 0; i--) {
        declared = declared << 8 | file->bytes[i];
    }
    size_t rest = file->size - PREFIX_BYTES;
    if (declared > rest) {
        return nn_fail(err, NN_ERR_INVALID, "the header claims %" PRIu64 " bytes, the file has %zu",
                       declared, rest);
    }
    if (declared > max_header) {
        return nn_fail(err, NN_ERR_LIMIT, "a header of %" PRIu64 " bytes is over %zu", declared,
                       max_header);
    }
    size_t length = (size_t)declared;
    size_t max_tensors = limits->max_tensors ? limits->max_tensors : DEFAULT_TENSORS;
    size_t described = entries_count(file->bytes + PREFIX_BYTES, length);
    if (described > max_tensors + 1) { /* before memory is taken for each */
        return nn_fail(err, NN_ERR_LIMIT, "%zu tensors are more than %zu", described, max_tensors);
    }
    const struct jx_limits parse_limits = {.max_bytes = max_header, .max_depth = HEADER_DEPTH};
    enum nn_status status =
        jx_parse(file->bytes + PREFIX_BYTES, length, &parse_limits, &file->header, err);
    if (status != NN_OK) {
        return status;
    }
    if (!json_is_object(file->header)) {
        return nn_fail(err, NN_ERR_INVALID, "the header is no JSON object");
    }
    const struct region region = {file->bytes + PREFIX_BYTES + length, rest - length};
    return entries_read(file, &region, max_tensors, err);
}

/* --- public ----------------------------------------------------------------------------------- */

static enum nn_status open_whole(struct nn_safetensors *file,
                                 const struct nn_safetensors_limits *limits,
                                 struct nn_safetensors **out, struct nn_error *err)
{
    static const struct nn_safetensors_limits DEFAULTS = {0};
    enum nn_status status = header_read(file, limits ? limits : &DEFAULTS, err);
    if (status != NN_OK) {
        nn_safetensors_close(file);
        return status;
    }
    *out = file;
    return NN_OK;
}

enum nn_status nn_safetensors_open_bytes(const void *bytes, size_t n,
                                         const struct nn_safetensors_limits *limits,
                                         struct nn_safetensors **out, struct nn_error *err)
{
    struct nn_safetensors *file = calloc(1, sizeof *file);
    if (!file) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to read a weight file");
    }
    file->bytes = bytes;
    file->size = n;
    return open_whole(file, limits, out, err);
}

enum nn_status nn_safetensors_open(const char *path, const struct nn_safetensors_limits *limits,
                                   struct nn_safetensors **out, struct nn_error *err)
{
    struct nn_safetensors *file = calloc(1, sizeof *file);
    if (!file) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to read a weight file");
    }
    enum nn_status status = nn_mapped_open(path, &file->mapped, err);
    file->bytes = file->mapped.bytes;
    file->size = file->mapped.size;
    if (status != NN_OK) {
        nn_safetensors_close(file);
        return status;
    }
    return open_whole(file, limits, out, err);
}

void nn_safetensors_close(struct nn_safetensors *file)
{
    if (!file) {
        return;
    }
    json_decref(file->header);
    free(file->tensors);
    nn_mapped_close(&file->mapped);
    free(file);
}

size_t nn_safetensors_count(const struct nn_safetensors *file)
{
    return file->count;
}

const struct nn_file_tensor *nn_safetensors_tensor(const struct nn_safetensors *file, size_t i)
{
    return &file->tensors[i];
}

const struct nn_file_tensor *nn_safetensors_find(const struct nn_safetensors *file,
                                                 const char *name)
{
    struct nn_file_tensor key = {.name = name};
    return bsearch(&key, file->tensors, file->count, sizeof *file->tensors, by_name);
}

const char *nn_safetensors_metadata(const struct nn_safetensors *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, NN_FILE_METADATA), key));
}
