/* SPDX-License-Identifier: MIT
 *
 * A model while it is read; private to the room.
 */
#ifndef NN_FILES_ONNX_INTERNAL_H
#define NN_FILES_ONNX_INTERNAL_H

#include "core/base/memory.h"
#include "core/files/onnx.h"
#include "core/files/protobuf_internal.h"

struct nn_onnx {
    struct nn_arena *arena; /* everything but the tensors' raw bytes */
    struct nn_onnx_model model;
    size_t max_tensors;
    const char **names; /* of the initialisers, ordered */
    size_t n_parts;     /* names and attributes of all nodes, bounded */
};

/* A checked, terminated copy: UTF-8 without control characters; "" is one. `what` for the refusal.
 */
NN_MUST_CHECK enum nn_status nn_onnx_text(struct nn_onnx *file, const struct nn_pb_field *field,
                                          const char *what, const char **out, struct nn_error *err);
/* n pieces of memory. */
NN_MUST_CHECK enum nn_status nn_onnx_memory(struct nn_onnx *file, size_t n, size_t size, void **out,
                                            struct nn_error *err);
/* What is said of a field that cannot be one of the message's. */
enum nn_status nn_onnx_broken(const char *what, struct nn_error *err);

/* A repeated number, packed or not: how many the message has under that number, and each of them in
 * `each` bytes, little endian. */
NN_MUST_CHECK enum nn_status nn_onnx_count(struct nn_pb message, uint32_t number,
                                           enum nn_pb_wire wire, size_t *out, struct nn_error *err);
void nn_onnx_gather(struct nn_pb message, uint32_t number, enum nn_pb_wire wire, size_t each,
                    unsigned char *out);

/* How many fields of a number a message has; ERR_INVALID when the message is broken. */
NN_MUST_CHECK enum nn_status nn_onnx_fields(struct nn_pb message, uint32_t number, size_t *out,
                                            struct nn_error *err);

/* name may be empty where an attribute holds the tensor. */
NN_MUST_CHECK enum nn_status nn_onnx_read_tensor(struct nn_onnx *file, struct nn_pb message,
                                                 struct nn_file_tensor *out, struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_onnx_read_node(struct nn_onnx *file, struct nn_pb message,
                                               struct nn_onnx_node *out, struct nn_error *err);

#endif
