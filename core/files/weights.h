/* SPDX-License-Identifier: MIT
 *
 * Named tensors of a weight file of any known format, told apart by content:
 *
 *   safetensors       see safetensors.h
 *   pytorch           a state dict as torch.save writes it since 1.6: a zip container
 *   pytorch_stream    the same, as older versions write it: pickles, then the storages
 *   onnx              the initialisers of a model's graph; see onnx.h
 *
 * A state dict is a dictionary (or OrderedDict) of tensors, also as the member "state_dict" or
 * "model_state_dict" of a checkpoint. Pickles are read by a reader of the few opcodes and names
 * that state dicts use; it executes nothing and refuses everything else with a reason. A file that
 * is read is to be written out again as safetensors (nn_weights_save), so that only the process
 * that takes it in ever parses foreign formats.
 *
 * Refused besides what safetensors.h lists: any other opcode or name in a pickle, compressed or
 * encrypted zip entries, entries that overlap, doubled names, a tensor called "__metadata__",
 * tensors that leave their storage, a storage of another size than the pickle says, bytes behind
 * the last storage, tensors that come to more than eight times the file (a storage shown through
 * strides of 0), big-endian files.
 */
#ifndef NN_FILES_WEIGHTS_H
#define NN_FILES_WEIGHTS_H

#include "core/base/base.h"
#include "core/files/onnx.h"
#include "core/files/safetensors.h"

enum nn_weights_format {
    NN_WEIGHTS_SAFETENSORS,
    NN_WEIGHTS_PYTORCH,
    NN_WEIGHTS_PYTORCH_STREAM,
    NN_WEIGHTS_ONNX,
    NN_WEIGHTS_FORMAT_COUNT
};
/* "safetensors", "pytorch", "pytorch_stream", "onnx". */
const char *nn_weights_format_name(enum nn_weights_format format);

struct nn_weights_limits {
    size_t max_header_bytes; /* of a safetensors header or a pickle; 0 = 16 MiB */
    size_t max_tensors;      /* 0 = 65,536 */
};

struct nn_weights;

/* Opens a regular file by path or by descriptor (borrowed for the call), or bytes (borrowed until
 * close). limits may be NULL. ERR_IO; ERR_INVALID or ERR_LIMIT with a sentence that says which lie
 * it is; ERR_NOT_SUPPORTED for what is a weight file of a kind that is not read. */
NN_MUST_CHECK enum nn_status nn_weights_open(const char *path,
                                             const struct nn_weights_limits *limits,
                                             struct nn_weights **out, struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_weights_open_fd(int fd, const struct nn_weights_limits *limits,
                                                struct nn_weights **out, struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_weights_open_bytes(const void *bytes, size_t n,
                                                   const struct nn_weights_limits *limits,
                                                   struct nn_weights **out, struct nn_error *err);
void nn_weights_close(struct nn_weights *weights);

enum nn_weights_format nn_weights_format(const struct nn_weights *weights);

/* The graph and the initialisers as they stand in an ONNX file; NULL of other formats. Borrowed
 * until close. */
const struct nn_onnx_model *nn_weights_model(const struct nn_weights *weights);

/* Tensors ordered by name (bytewise), contiguous in row-major order whatever strides the file had;
 * nn_file_tensor_read converts one to nn_real. Borrowed until close. */
size_t nn_weights_count(const struct nn_weights *weights);
const struct nn_file_tensor *nn_weights_tensor(const struct nn_weights *weights, size_t i);
const struct nn_file_tensor *nn_weights_find(const struct nn_weights *weights, const char *name);

/* Writes all tensors to path as safetensors, types kept, in the order of their names: equal tensors
 * and metadata give equal bytes. Atomic, and opened again before it is vouched for. ERR_IO;
 * ERR_LIMIT when the header would be over the readers' default. */
NN_MUST_CHECK enum nn_status nn_weights_save(const struct nn_weights *weights, const char *path,
                                             const struct nn_file_pair *metadata, size_t n_metadata,
                                             struct nn_error *err);

#endif
