/* SPDX-License-Identifier: MIT
 *
 * Writing safetensors: the header is built with offsets in the order given and padded with spaces
 * to a multiple of 8, so that the tensors are aligned.
 */
#include <stdlib.h>
#include <string.h>

#include "core/files/atomic.h"
#include "core/files/dtype_internal.h"
#include "core/json/json.h"

static json_t *tensor_entry(const struct nn_file_tensor *tensor, size_t begin)
{
    size_t end = begin + tensor->bytes;
    json_t *shape = json_array();
    bool ok = shape != NULL;
    for (size_t i = 0; i < tensor->rank; i++) {
        ok = json_array_append_new(shape, json_integer((json_int_t)tensor->shape[i])) == 0 && ok;
    }
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", nn_file_dtype_name(tensor->dtype),
                              "shape", shape, "data_offsets", (json_int_t)begin, (json_int_t)end);
    if (!ok) {
        json_decref(entry);
        return NULL;
    }
    return entry;
}

/* ERR_INVALID for a name given twice, or that of the metadata. */
static enum nn_status header_fill(json_t *header, const struct nn_file_tensor *tensors, size_t n,
                                  struct nn_error *err)
{
    size_t offset = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(tensors[i].name, NN_FILE_METADATA) == 0) {
            return nn_fail(err, NN_ERR_INVALID, "no tensor may be named \"" NN_FILE_METADATA "\"");
        }
        if (json_object_get(header, tensors[i].name)) {
            return nn_fail(err, NN_ERR_INVALID, "two tensors are named \"%.100s\"",
                           tensors[i].name);
        }
        if (json_object_set_new(header, tensors[i].name, tensor_entry(&tensors[i], offset)) != 0) {
            return nn_fail(err, NN_ERR_MEMORY, "no memory for the header of a weight file");
        }
        offset += tensors[i].bytes;
    }
    return NN_OK;
}

static bool metadata_fill(json_t *header, const struct nn_file_pair *metadata, size_t n)
{
    if (n == 0) {
        return true;
    }
    json_t *object = json_object();
    bool ok = object != NULL;
    for (size_t i = 0; i < n; i++) {
        json_t *value = jx_text(metadata[i].value, SIZE_MAX);
        ok = json_object_set_new(object, metadata[i].key, value) == 0 && ok;
    }
    return json_object_set_new(header, NN_FILE_METADATA, object) == 0 && ok;
}

static void write_parts(struct nn_atomic_file *file, const char *text,
                        const struct nn_file_tensor *tensors, size_t n)
{
    static const char SPACES[8] = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '};
    size_t length = strlen(text);
    size_t padding = (8 - length % 8) % 8;
    uint64_t declared = length + padding;
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++) {
        prefix[i] = (unsigned char)(declared >> (8 * i));
    }
    nn_atomic_write(file, prefix, sizeof prefix);
    nn_atomic_write(file, text, length);
    nn_atomic_write(file, SPACES, padding);
    for (size_t i = 0; i < n; i++) {
        nn_atomic_write(file, tensors[i].data, tensors[i].bytes);
    }
}

enum nn_status nn_safetensors_write(const char *path, const struct nn_file_tensor *tensors,
                                    size_t n, const struct nn_file_pair *metadata,
                                    size_t n_metadata, struct nn_error *err)
{
    char *text = NULL;
    struct nn_atomic_file *file = malloc(sizeof *file);
    json_t *header = json_object();
    enum nn_status status = NN_OK;
    if (!file || !header || !metadata_fill(header, metadata, n_metadata)) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory for the header of a weight file");
        goto cleanup;
    }
    status = header_fill(header, tensors, n, err);
    if (status != NN_OK) {
        goto cleanup;
    }
    text = json_dumps(header, JSON_COMPACT);
    if (!text) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory for the header of a weight file");
        goto cleanup;
    }
    status = nn_atomic_open(file, path, err);
    if (status != NN_OK) {
        goto cleanup;
    }
    write_parts(file, text, tensors, n);
    status = nn_atomic_commit(file, err);
cleanup:
    free(text);
    json_decref(header);
    free(file);
    return status;
}
