/* SPDX-License-Identifier: MIT
 *
 * safetensors files: a header of named tensors, then their bytes. The reader trusts nothing: every
 * length, offset, shape and name is checked before the first tensor is handed out. Tensors are kept
 * in file byte order (little endian) in the mapped file; conversion to nn_real is a separate call.
 */
#ifndef NN_FILES_SAFETENSORS_H
#define NN_FILES_SAFETENSORS_H

#include "core/base/base.h"

enum nn_file_dtype {
    NN_FILE_BOOL,
    NN_FILE_U8,
    NN_FILE_I8,
    NN_FILE_I16,
    NN_FILE_U16,
    NN_FILE_F16,
    NN_FILE_BF16,
    NN_FILE_I32,
    NN_FILE_U32,
    NN_FILE_F32,
    NN_FILE_F64,
    NN_FILE_I64,
    NN_FILE_U64,
    NN_FILE_DTYPE_COUNT
};
const char *nn_file_dtype_name(enum nn_file_dtype dtype);
size_t nn_file_dtype_bytes(enum nn_file_dtype dtype);

enum { NN_FILE_MAX_RANK = 8 };

/* A named tensor of a file; name and data are borrowed from it. Data may be unaligned. */
struct nn_file_tensor {
    const char *name;
    enum nn_file_dtype dtype;
    size_t rank;
    size_t shape[NN_FILE_MAX_RANK];
    size_t count; /* elements: product of shape, 1 for rank 0 */
    const void *data;
    size_t bytes;
    bool not_finite; /* known to hold a value that is not finite; readers of files do not look */
};

struct nn_safetensors_limits {
    size_t max_header_bytes; /* 0 = 16 MiB */
    size_t max_tensors;      /* 0 = 65,536 */
};

struct nn_safetensors;

/* Reads a whole file by path (mapped) or bytes (borrowed until close). ERR_IO, ERR_INVALID with a
 * sentence that says which lie it is. limits may be NULL. */
NN_MUST_CHECK enum nn_status nn_safetensors_open(const char *path,
                                                 const struct nn_safetensors_limits *limits,
                                                 struct nn_safetensors **out, struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_safetensors_open_bytes(const void *bytes, size_t n,
                                                       const struct nn_safetensors_limits *limits,
                                                       struct nn_safetensors **out,
                                                       struct nn_error *err);
void nn_safetensors_close(struct nn_safetensors *file);

/* Tensors ordered by name (bytewise). */
size_t nn_safetensors_count(const struct nn_safetensors *file);
const struct nn_file_tensor *nn_safetensors_tensor(const struct nn_safetensors *file, size_t i);
const struct nn_file_tensor *nn_safetensors_find(const struct nn_safetensors *file,
                                                 const char *name);
/* A value of __metadata__, NULL if absent. */
const char *nn_safetensors_metadata(const struct nn_safetensors *file, const char *key);

/* dst[count] from any numeric dtype. */
void nn_file_tensor_read(const struct nn_file_tensor *tensor, nn_real *dst);

/* dst: n values as F32, F16 or BF16, rounded to the nearest, ties to even; NaN stays NaN. false:
 * another type, or a finite value that would become infinite. */
NN_MUST_CHECK bool nn_file_values_write(enum nn_file_dtype dtype, const nn_real *values, size_t n,
                                        void *dst);

struct nn_file_pair {
    const char *key, *value;
};

/* Writes tensors and metadata to path: atomic (temporary, fsync, rename). Tensors are laid out in
 * the order given, data little endian as it stands in memory. ERR_IO, ERR_INVALID (double name). */
NN_MUST_CHECK enum nn_status nn_safetensors_write(const char *path,
                                                  const struct nn_file_tensor *tensors, size_t n,
                                                  const struct nn_file_pair *metadata,
                                                  size_t n_metadata, struct nn_error *err);

#endif
