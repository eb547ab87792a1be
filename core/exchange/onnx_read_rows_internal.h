/* SPDX-License-Identifier: MIT
 *
 * The functions of the table of onnx_read_layers.c, by file; private to the room.
 */
#ifndef NN_EXCHANGE_ONNX_READ_ROWS_INTERNAL_H
#define NN_EXCHANGE_ONNX_READ_ROWS_INTERNAL_H

#include "core/exchange/onnx_read_internal.h"

/* onnx_read_functions.c */
bool nn_onnx_read_relu(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_tanh(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_hard_swish(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_sigmoid(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_absolute(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_leaky_relu(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_elu(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_clip(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_dropout(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_softmax(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_gelu(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_lrn(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_div(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_erf(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_mul(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

/* onnx_read_constants.c */
bool nn_onnx_read_constant(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_shape(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_sizes(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_expand(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_constant_of_shape(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_constant_concat(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_constant_reshape(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_constant_slice(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_constant_cast(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_constant_transpose(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_constant_unsqueeze(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

/* onnx_read_weights.c */
bool nn_onnx_read_gemm(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_mat_mul(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_add(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

/* onnx_read_windows.c */
bool nn_onnx_read_conv(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_conv_transpose(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_max_pool(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_average_pool(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

/* onnx_read_norms.c */
bool nn_onnx_read_batch_norm(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_layer_norm(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_group_norm(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_instance_norm(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

/* onnx_read_norm_steps.c */
bool nn_onnx_read_norm_mean(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_norm_centred(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_norm_square(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_norm_epsilon(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_norm_root(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_norm_factor(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_norm_ratio(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_norm_groups(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_norm_of_groups(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_norm_ungroup(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_norm_scale(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_norm_shift(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

/* onnx_read_positions.c */
bool nn_onnx_read_positions(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

/* onnx_read_attention.c */
bool nn_onnx_read_attention(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

/* onnx_read_soft_threshold.c */
bool nn_onnx_read_neg(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_max(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_min(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_soft_threshold(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

/* onnx_read_steps.c */
bool nn_onnx_read_steps_last(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_steps_back(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
/* A Conv of what `before` gives. */
bool nn_onnx_read_temporal_convolution(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                                       size_t before);

/* onnx_read_frames.c */
bool nn_onnx_read_pad(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_slice(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

/* onnx_read_recurrent.c */
bool nn_onnx_read_lstm(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_gru(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_squeeze(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_states_turned(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_states_joined(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_states_flat(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_state(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_states_concat(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_last_step(struct nn_onnx_reader *r, const struct nn_onnx_node *node);
bool nn_onnx_read_mean_step(struct nn_onnx_reader *r, const struct nn_onnx_node *node);

#endif
