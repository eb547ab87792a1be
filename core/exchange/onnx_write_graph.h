/* SPDX-License-Identifier: MIT
 *
 * The graph that is written as ONNX: what the analysis says of its layers, how they are wired, and
 * the messages around their nodes; private to the room.
 */
#ifndef NN_EXCHANGE_ONNX_WRITE_GRAPH_H
#define NN_EXCHANGE_ONNX_WRITE_GRAPH_H

#include "core/exchange/onnx_write_internal.h"

/* A network as the analysis of it tells. */
struct nn_onnx_graph {
    json_t *description, *report;
    const json_t *layers, *options; /* arrays in one order */
    size_t n;
    bool *needed;               /* leads to the output */
    struct nn_onnx_term *terms; /* what each layer gives */
    size_t input, output;       /* layers */
};

/* onnx_write_graph.c: layers and what they take. A graph of zeros may be deinitialised; INVALID
 * where the network does not fit its data. */
enum nn_status nn_onnx_graph_read(const struct nn_description *description,
                                  const struct nn_network_bind *bind, struct nn_onnx_graph *graph,
                                  struct nn_error *err);
void nn_onnx_graph_deinit(struct nn_onnx_graph *graph);
/* What the analysis says of a layer; a text of an object, borrowed, NULL where there is none. */
const json_t *nn_onnx_layer_at(const struct nn_onnx_graph *graph, size_t i);
const char *nn_onnx_layer_text(const json_t *object, const char *key);
/* Nodes and tensors of all layers that lead to the output. NOT_SUPPORTED names all without an
 * operator. */
enum nn_status nn_onnx_layers_write(struct nn_onnx_writer *w, struct nn_onnx_graph *graph,
                                    struct nn_error *err);

/* onnx_write_frame.c: what stands around nodes and tensors in the graph's message, in the model's
 * before the graph, and a pair of its metadata. A failure stays in the bytes. */
void nn_onnx_graph_frame(const struct nn_onnx_graph *graph, struct nn_bytes *out);
void nn_onnx_model_frame(const struct nn_onnx_writer *w, const struct nn_onnx_graph *graph,
                         const struct nn_network_bind *bind, struct nn_bytes *out);
void nn_onnx_put_pair(struct nn_bytes *model, const char *key, const char *value);

#endif
