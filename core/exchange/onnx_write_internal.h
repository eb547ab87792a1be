/* SPDX-License-Identifier: MIT
 *
 * A network while it is written as ONNX; private to the room. Messages are made in memory, values
 * of tensors stay where they are until the file is put together.
 *
 * Values of the graph: an image is [N, C, H, W], a row of features [N, C], a sequence [T, N, C].
 */
#ifndef NN_EXCHANGE_ONNX_WRITE_INTERNAL_H
#define NN_EXCHANGE_ONNX_WRITE_INTERNAL_H

#include "core/base/memory.h"
#include "core/exchange/onnx.h"

/* Bytes that grow; after a failure nothing is added. */
struct nn_bytes {
    unsigned char *data;
    size_t size, room;
    bool failed;
};
void nn_bytes_put(struct nn_bytes *to, const void *data, size_t n);
void nn_bytes_deinit(struct nn_bytes *bytes);
/* Fields of a message: a number, a text or message, a single-precision number. */
void nn_bytes_int(struct nn_bytes *to, unsigned field, uint64_t value);
void nn_bytes_text(struct nn_bytes *to, unsigned field, const void *text, size_t n);
void nn_bytes_real(struct nn_bytes *to, unsigned field, float value);
/* The head of a field of n bytes that follow. */
void nn_bytes_head(struct nn_bytes *to, unsigned field, size_t n);

enum nn_onnx_rank { NN_ONNX_ROWS = 2, NN_ONNX_SEQUENCE = 3, NN_ONNX_IMAGE = 4 };

#define NN_ONNX_NAME_SIZE  160
#define NN_ONNX_INPUTS_MAX 64

struct nn_onnx_term {
    char name[NN_ONNX_NAME_SIZE];
    enum nn_onnx_rank rank;
    size_t height, width, channels;
};

struct nn_onnx_layer {
    const char *name, *kind;
    const json_t *options; /* all of them, by name */
    const struct nn_onnx_term *in;
    size_t n_in;
    struct nn_onnx_term out; /* name and sizes are given; the writing function says the rank */
};

struct nn_onnx_piece {
    const void *data; /* NULL: bytes of `heads` from where the last such piece ended */
    size_t size;
};

struct nn_onnx_writer {
    struct nn_arena *arena;
    const struct nn_file_tensor *tensors; /* ordered by name */
    size_t n_tensors;
    struct nn_bytes nodes, node, attribute;
    struct nn_bytes heads; /* of tensors */
    struct nn_onnx_piece *pieces;
    size_t n_pieces, room_pieces;
    bool failed;   /* out of memory, or a parameter is missing */
    char lack[64]; /* what the last layer lacks; "" said by its kind alone */
};

/* ---- nodes: begin, then inputs, outputs and attributes in any order, then end ---- */

void nn_onnx_begin(struct nn_onnx_writer *w, const char *op, const char *name);
void nn_onnx_in(struct nn_onnx_writer *w, const char *value);
void nn_onnx_out(struct nn_onnx_writer *w, const char *value);
void nn_onnx_int(struct nn_onnx_writer *w, const char *name, int64_t value);
void nn_onnx_ints(struct nn_onnx_writer *w, const char *name, const int64_t *values, size_t n);
void nn_onnx_real(struct nn_onnx_writer *w, const char *name, double value);
void nn_onnx_string(struct nn_onnx_writer *w, const char *name, const char *value);
void nn_onnx_end(struct nn_onnx_writer *w);

/* A node of up to two inputs (NULL: none) and one output, without attributes. */
void nn_onnx_simple(struct nn_onnx_writer *w, const char *op, const char *first, const char *second,
                    const char *out);
/* "<layer>/<what>", for a value between two nodes of a layer. */
void nn_onnx_inner(const struct nn_onnx_layer *layer, const char *what,
                   char out[NN_ONNX_NAME_SIZE]);
/* nn_onnx_simple to such a value, whose name goes into out, which may be an input's. */
void nn_onnx_step(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer, const char *op,
                  const char *first, const char *second, const char *what,
                  char out[NN_ONNX_NAME_SIZE]);
/* Axes in another order. */
void nn_onnx_transpose(struct nn_onnx_writer *w, const char *from, const int64_t *order, size_t n,
                       const char *out);

/* ---- tensors ---- */

/* The network's parameter `<layer>.<suffix>` under that name, written into out. */
void nn_onnx_parameter(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                       const char *suffix, char out[NN_ONNX_NAME_SIZE]);
bool nn_onnx_has_parameter(const struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                           const char *suffix);
/* Single-precision numbers of a shape, borrowed until the file is written (from the arena). */
void nn_onnx_floats(struct nn_onnx_writer *w, const char *name, const size_t *shape, size_t rank,
                    const float *values);
void nn_onnx_scalar(struct nn_onnx_writer *w, const char *name, float value);
/* Whole numbers: one without axes, and a list. */
void nn_onnx_index(struct nn_onnx_writer *w, const char *name, int64_t value);
void nn_onnx_axes(struct nn_onnx_writer *w, const char *name, const int64_t *values, size_t n);
/* The parameter's numbers as single precision; NULL after a failure. */
const float *nn_onnx_values(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                            const char *suffix, size_t count);

/* ---- operators ---- */

double nn_onnx_real_option(const struct nn_onnx_layer *layer, const char *name);
int64_t nn_onnx_int_option(const struct nn_onnx_layer *layer, const char *name);
/* An option of sides, which is [all], [height, width] or [top, bottom, left, right], as what is
 * before and after on each axis; without it 0. */
void nn_onnx_sides_option(const struct nn_onnx_layer *layer, const char *name, int64_t before[2],
                          int64_t after[2]);

/* The i-th input as an image or a row, through an Unsqueeze or Flatten where it is the other. */
void nn_onnx_input_as(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer, size_t i,
                      enum nn_onnx_rank rank, char out[NN_ONNX_NAME_SIZE]);
/* All inputs alike: images where one is an image. */
enum nn_onnx_rank nn_onnx_common_rank(const struct nn_onnx_layer *layer);

/* Steps [T, N, C] are rows of a product with a weight [outputs, C], which is turned round when the
 * file is loaded. bias: NULL, none. */
void nn_onnx_steps_product(struct nn_onnx_writer *w, const char *from, const char *weight,
                           const char *bias, const char *out);

/* One row a kind of layer. write: false when what the layer asks for has no operator; `lack` may
 * say what. */
struct nn_onnx_kind {
    const char *kind;
    bool (*write)(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
};
extern const struct nn_onnx_kind nn_onnx_kinds[]; /* ended by kind NULL */

/* onnx_functions.c */
bool nn_onnx_write_absolute(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_clipped_relu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_dropout(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_elu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_gelu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_leaky_relu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_relu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_hard_swish(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_sigmoid(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_silu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_soft_threshold(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_softmax(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_tanh(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);

/* onnx_norms.c */
bool nn_onnx_write_batch_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_group_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_layer_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_local_response_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_rms_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);

/* onnx_windows.c */
bool nn_onnx_write_convolution(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_transposed_convolution(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_max_pool(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_average_pool(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_adaptive_pool(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);

/* onnx_frames.c */
bool nn_onnx_write_channel_padding(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_cropping(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_spatial_padding(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);

/* onnx_steps.c */
bool nn_onnx_write_attention(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_embedding(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_positional_encoding(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_sequence_pool(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_temporal_convolution(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);

/* onnx_recurrent.c */
bool nn_onnx_write_gru(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);
bool nn_onnx_write_lstm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer);

#endif
