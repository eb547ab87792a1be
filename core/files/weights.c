/* SPDX-License-Identifier: MIT
 *
 * A weight file of any known format: which one it is, and its tensors in order.
 */
#include "core/files/weights.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/mapped_internal.h"
#include "core/files/onnx.h"
#include "core/files/torch_internal.h"
#include "core/files/zip_internal.h"

enum { DEFAULT_HEADER_BYTES = 16 << 20, DEFAULT_TENSORS = 65536 };

struct nn_weights {
    enum nn_weights_format format;
    struct nn_mapped mapped; /* empty when the bytes are the caller's */
    struct nn_safetensors *safetensors;
    struct nn_torch torch;
    struct nn_onnx *onnx;
    struct nn_file_tensor *own;     /* of an ONNX file, whose model keeps the file's order */
    struct nn_file_tensor *tensors; /* ordered by name; NULL of safetensors */
    size_t n_tensors;
};

const char *nn_weights_format_name(enum nn_weights_format format)
{
    static const char *const NAMES[NN_WEIGHTS_FORMAT_COUNT] = {
        [NN_WEIGHTS_SAFETENSORS] = "safetensors",
        [NN_WEIGHTS_PYTORCH] = "pytorch",
        [NN_WEIGHTS_PYTORCH_STREAM] = "pytorch_stream",
        [NN_WEIGHTS_ONNX] = "onnx",
    };
    return NAMES[format];
}

/* ---- opening ---- */

static int by_name(const void *a, const void *b)
{
    const struct nn_file_tensor *x = a;
    const struct nn_file_tensor *y = b;
    return strcmp(x->name, y->name);
}

static enum nn_status order_tensors(struct nn_weights *weights, struct nn_file_tensor *tensors,
                                    size_t n, struct nn_error *err)
{
    qsort(tensors, n, sizeof *tensors, by_name);
    for (size_t i = 1; i < n; i++) {
        if (by_name(&tensors[i - 1], &tensors[i]) == 0) {
            return nn_fail(err, NN_ERR_INVALID, "two tensors are named \"%.100s\"",
                           tensors[i].name);
        }
    }
    weights->tensors = tensors;
    weights->n_tensors = n;
    return NN_OK;
}

static enum nn_status read_torch(struct nn_weights *weights, struct nn_error *err)
{
    struct nn_torch *torch = &weights->torch;
    enum nn_status status = weights->format == NN_WEIGHTS_PYTORCH
                                ? nn_torch_read_zip(torch, err)
                                : nn_torch_read_stream(torch, err);
    return status == NN_OK ? order_tensors(weights, torch->tensors, torch->n_tensors, err) : status;
}

static enum nn_status read_onnx(struct nn_weights *weights, const void *bytes, size_t size,
                                size_t max_tensors, struct nn_error *err)
{
    enum nn_status status = nn_onnx_open_bytes(bytes, size, max_tensors, &weights->onnx, err);
    if (status != NN_OK) {
        return status;
    }
    const struct nn_onnx_model *model = nn_onnx_model(weights->onnx);
    weights->own = calloc(model->n_tensors + 1, sizeof *weights->own);
    if (!weights->own) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for %zu tensors", model->n_tensors);
    }
    for (size_t i = 0; i < model->n_tensors; i++) {
        weights->own[i] = model->tensors[i];
    }
    return order_tensors(weights, weights->own, model->n_tensors, err);
}

/* What is no weight file of a known format, named where it is known all the same. */
static enum nn_status refuse(const unsigned char *bytes, size_t size, struct nn_error *err)
{
    if (size >= 2 && bytes[0] == 0x80 && bytes[1] <= 5) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED,
                       "the file is a pickle, but none of torch.save; save the model's "
                       "state_dict() with it");
    }
    if (size >= 8 && memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "HDF5 files are not read");
    }
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "NumPy files are not read");
    }
    return NN_OK;
}

static enum nn_status read_any(struct nn_weights *weights, const unsigned char *bytes, size_t size,
                               const struct nn_weights_limits *limits, struct nn_error *err)
{
    struct nn_torch *torch = &weights->torch;
    torch->bytes = bytes;
    torch->size = size;
    torch->max_pickle_bytes =
        limits->max_header_bytes ? limits->max_header_bytes : DEFAULT_HEADER_BYTES;
    torch->max_tensors = limits->max_tensors ? limits->max_tensors : DEFAULT_TENSORS;
    if (bytes && nn_zip_is(bytes, size)) {
        weights->format = NN_WEIGHTS_PYTORCH;
        return read_torch(weights, err);
    }
    if (bytes && nn_torch_is_stream(bytes, size)) {
        weights->format = NN_WEIGHTS_PYTORCH_STREAM;
        return read_torch(weights, err);
    }
    bool header = size > 8 && bytes[8] == '{'; /* of safetensors, 8 bytes of length before it */
    if (bytes && !header && nn_onnx_is(bytes, size)) {
        weights->format = NN_WEIGHTS_ONNX;
        return read_onnx(weights, bytes, size, torch->max_tensors, err);
    }
    enum nn_status status = header ? NN_OK : refuse(bytes, size, err);
    if (status != NN_OK) {
        return status;
    }
    const struct nn_safetensors_limits inner = {.max_header_bytes = torch->max_pickle_bytes,
                                                .max_tensors = torch->max_tensors};
    weights->format = NN_WEIGHTS_SAFETENSORS;
    return nn_safetensors_open_bytes(bytes, size, &inner, &weights->safetensors, err);
}

/* weights: with its map, taken also on failure. */
static enum nn_status open_whole(struct nn_weights *weights, const unsigned char *bytes,
                                 size_t size, const struct nn_weights_limits *limits,
                                 struct nn_weights **out, struct nn_error *err)
{
    static const struct nn_weights_limits DEFAULTS = {0};
    enum nn_status status = read_any(weights, bytes, size, limits ? limits : &DEFAULTS, err);
    if (status != NN_OK) {
        nn_weights_close(weights);
        return status;
    }
    *out = weights;
    return NN_OK;
}

static struct nn_weights *weights_create(struct nn_error *err, enum nn_status *status)
{
    struct nn_weights *weights = calloc(1, sizeof *weights);
    if (!weights) {
        *status = nn_fail(err, NN_ERR_MEMORY, "no memory to read a weight file");
    }
    return weights;
}

enum nn_status nn_weights_open_bytes(const void *bytes, size_t n,
                                     const struct nn_weights_limits *limits,
                                     struct nn_weights **out, struct nn_error *err)
{
    enum nn_status status = NN_OK;
    struct nn_weights *weights = weights_create(err, &status);
    return weights ? open_whole(weights, bytes, n, limits, out, err) : status;
}

static enum nn_status open_mapped(struct nn_mapped mapped, const struct nn_weights_limits *limits,
                                  struct nn_weights **out, struct nn_error *err)
{
    enum nn_status status = NN_OK;
    struct nn_weights *weights = weights_create(err, &status);
    if (!weights) {
        nn_mapped_close(&mapped);
        return status;
    }
    weights->mapped = mapped;
    return open_whole(weights, mapped.bytes, mapped.size, limits, out, err);
}

enum nn_status nn_weights_open(const char *path, const struct nn_weights_limits *limits,
                               struct nn_weights **out, struct nn_error *err)
{
    struct nn_mapped mapped;
    enum nn_status status = nn_mapped_open(path, &mapped, err);
    return status == NN_OK ? open_mapped(mapped, limits, out, err) : status;
}

enum nn_status nn_weights_open_fd(int fd, const struct nn_weights_limits *limits,
                                  struct nn_weights **out, struct nn_error *err)
{
    struct nn_mapped mapped;
    enum nn_status status = nn_mapped_open_fd(fd, &mapped, err);
    return status == NN_OK ? open_mapped(mapped, limits, out, err) : status;
}

void nn_weights_close(struct nn_weights *weights)
{
    if (!weights) {
        return;
    }
    nn_safetensors_close(weights->safetensors);
    nn_torch_deinit(&weights->torch);
    nn_onnx_close(weights->onnx);
    free(weights->own);
    nn_mapped_close(&weights->mapped);
    free(weights);
}

/* ---- reading ---- */

enum nn_weights_format nn_weights_format(const struct nn_weights *weights)
{
    return weights->format;
}

const struct nn_onnx_model *nn_weights_model(const struct nn_weights *weights)
{
    return weights->onnx ? nn_onnx_model(weights->onnx) : NULL;
}

size_t nn_weights_count(const struct nn_weights *weights)
{
    return weights->safetensors ? nn_safetensors_count(weights->safetensors) : weights->n_tensors;
}

const struct nn_file_tensor *nn_weights_tensor(const struct nn_weights *weights, size_t i)
{
    return weights->safetensors ? nn_safetensors_tensor(weights->safetensors, i)
                                : &weights->tensors[i];
}

const struct nn_file_tensor *nn_weights_find(const struct nn_weights *weights, const char *name)
{
    const struct nn_file_tensor key = {.name = name};
    if (weights->safetensors) {
        return nn_safetensors_find(weights->safetensors, name);
    }
    return bsearch(&key, weights->tensors, weights->n_tensors, sizeof *weights->tensors, by_name);
}

/* What cannot be read again must not stay: whoever wrote it would vouch for it. */
static enum nn_status written_check(const char *path, size_t n_tensors, struct nn_error *err)
{
    struct nn_safetensors *file = NULL;
    enum nn_status status = nn_safetensors_open(path, NULL, &file, err);
    if (status == NN_OK && nn_safetensors_count(file) != n_tensors) {
        status = nn_fail(err, NN_ERR_CORRUPT, "a weight file was not written whole");
    }
    nn_safetensors_close(file);
    if (status != NN_OK) {
        (void)unlink(path);
    }
    return status;
}

enum nn_status nn_weights_save(const struct nn_weights *weights, const char *path,
                               const struct nn_file_pair *metadata, size_t n_metadata,
                               struct nn_error *err)
{
    size_t n = nn_weights_count(weights);
    struct nn_file_tensor *tensors = calloc(n + 1, sizeof *tensors);
    if (!tensors) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for %zu tensors", n);
    }
    for (size_t i = 0; i < n; i++) {
        tensors[i] = *nn_weights_tensor(weights, i);
    }
    enum nn_status status = nn_safetensors_write(path, tensors, n, metadata, n_metadata, err);
    free(tensors);
    return status == NN_OK ? written_check(path, n, err) : status;
}
