/* SPDX-License-Identifier: MIT
 *
 * Networks <-> ONNX models. Written: opset 17, IR version 8, weights as they are kept for PyTorch.
 *
 * The graph's input "input" is what the first layer hands on, that is after its normalisation:
 * images [N, C, H, W], sequences [T, N, features] of one length; N and T are symbolic. Its output
 * "output" is what the last layer says; a network that ends in a softmax has "scores" beside it,
 * what goes into that softmax. Dropout and auxiliary heads are left out. The normalisation is told
 * in metadata_props (assay.normalisation, assay.mean, assay.std; pixels count from 0 to 255).
 */
#ifndef NN_EXCHANGE_ONNX_H
#define NN_EXCHANGE_ONNX_H

#include "core/base/base.h"
#include "core/files/onnx.h"
#include "core/files/safetensors.h"
#include "core/json/json.h"

struct nn_description;
struct nn_network_bind;

enum { NN_ONNX_OPSET = 17, NN_ONNX_IR_VERSION = 8 };

/* tensors: the network's parameters as nn_exchange_save names them, ordered by name. metadata: more
 * of it. Writes to fd from where it stands. ERR_NOT_SUPPORTED: layers that ONNX has no operators
 * for, all of them named; ERR_INVALID: a parameter is missing or of another size; ERR_IO. */
NN_MUST_CHECK enum nn_status nn_onnx_write(const struct nn_description *description,
                                           const struct nn_network_bind *bind,
                                           const struct nn_file_tensor *tensors, size_t n,
                                           const struct nn_file_pair *metadata, size_t n_metadata,
                                           int fd, struct nn_error *err);

/* A graph as one of our descriptions, for the operators that the core has: onnx_read_layers.c has
 * the table. Layers are named as the modules whose weights they carry ("features.0"), as PyTorch's
 * nodes say, or by their number in the graph ("node0003_convolution"). An input of four axes is an
 * image, of three a sequence, of two an image of one pixel; it is normalised as the metadata of our
 * own files say, else not at all. A network of images ends in a softmax, and its last layer with
 * weights counts the classes of whatever data it is put to.
 *
 * The tensors are those that the description's network wants, under its names and in PyTorch's
 * order of axes: turned round where the graph multiplies the other way, gates reordered and
 * the two biases of an LSTM added. model: borrowed as long as the tensors are used.
 *
 * ERR_NOT_SUPPORTED: operators that the core lacks, or uses of them, all named; or a graph that is
 * no network of ours. */
struct nn_onnx_import;
NN_MUST_CHECK enum nn_status nn_onnx_import_create(const struct nn_onnx_model *model,
                                                   struct nn_onnx_import **out,
                                                   struct nn_error *err);
void nn_onnx_import_destroy(struct nn_onnx_import *import);
/* {"layers", "connections"}; borrowed. */
const json_t *nn_onnx_import_description(const struct nn_onnx_import *import);
/* Ordered by name; borrowed. */
const struct nn_file_tensor *nn_onnx_import_tensors(const struct nn_onnx_import *import,
                                                    size_t *out_n);

#endif
