/* SPDX-License-Identifier: MIT
 *
 * The kinds and operators of the room, one file each; the two tables of layers.c gather them.
 */
#ifndef NN_LAYERS_KINDS_INTERNAL_H
#define NN_LAYERS_KINDS_INTERNAL_H

#include "core/kernels/kernels.h"
#include "core/layers/layer.h"

/* A function of each value: activation_internal.h has its passes, which find the row by its op. */
struct nn_activation_operator {
    struct nn_operator op; /* first */
    enum nn_activation_function function;
    bool told_by_input; /* backward reads the input; else the output */
};

extern const struct nn_layer_kind nn_kind_image_input;
extern const struct nn_layer_kind nn_kind_sequence_input;
extern const struct nn_layer_kind nn_kind_lstm;
extern const struct nn_layer_kind nn_kind_convolution;
extern const struct nn_layer_kind nn_kind_transposed_convolution;
extern const struct nn_layer_kind nn_kind_batch_norm;
extern const struct nn_layer_kind nn_kind_local_response_norm;
extern const struct nn_layer_kind nn_kind_relu;
extern const struct nn_layer_kind nn_kind_clipped_relu;
extern const struct nn_layer_kind nn_kind_leaky_relu;
extern const struct nn_layer_kind nn_kind_elu;
extern const struct nn_layer_kind nn_kind_gelu;
extern const struct nn_layer_kind nn_kind_silu;
extern const struct nn_layer_kind nn_kind_tanh;
extern const struct nn_layer_kind nn_kind_sigmoid;
extern const struct nn_layer_kind nn_kind_absolute;
extern const struct nn_layer_kind nn_kind_soft_threshold;
extern const struct nn_layer_kind nn_kind_max_pool;
extern const struct nn_layer_kind nn_kind_average_pool;
extern const struct nn_layer_kind nn_kind_adaptive_average_pool;
extern const struct nn_layer_kind nn_kind_global_average_pool;
extern const struct nn_layer_kind nn_kind_channel_mean;
extern const struct nn_layer_kind nn_kind_flatten;
extern const struct nn_layer_kind nn_kind_fully_connected;
extern const struct nn_layer_kind nn_kind_dropout;
extern const struct nn_layer_kind nn_kind_concatenation;
extern const struct nn_layer_kind nn_kind_channel_padding;
extern const struct nn_layer_kind nn_kind_spatial_padding;
extern const struct nn_layer_kind nn_kind_cropping;
extern const struct nn_layer_kind nn_kind_addition;
extern const struct nn_layer_kind nn_kind_multiplication;
extern const struct nn_layer_kind nn_kind_softmax;

extern const struct nn_operator nn_op_lstm;
extern const struct nn_operator nn_op_convolution;
extern const struct nn_operator nn_op_convolution_relu;
extern const struct nn_operator nn_op_convolution_batch_norm;
extern const struct nn_operator nn_op_convolution_batch_norm_relu;
extern const struct nn_operator nn_op_transposed_convolution;
extern const struct nn_operator nn_op_batch_norm;
extern const struct nn_operator nn_op_local_response_norm;
extern const struct nn_operator nn_op_batch_norm_relu;
extern const struct nn_operator nn_op_relu;
extern const struct nn_operator nn_op_clipped_relu;
extern const struct nn_activation_operator nn_op_leaky_relu;
extern const struct nn_activation_operator nn_op_elu;
extern const struct nn_activation_operator nn_op_gelu;
extern const struct nn_activation_operator nn_op_silu;
extern const struct nn_activation_operator nn_op_tanh;
extern const struct nn_activation_operator nn_op_sigmoid;
extern const struct nn_activation_operator nn_op_absolute;
extern const struct nn_operator nn_op_soft_threshold;
extern const struct nn_operator nn_op_max_pool;
extern const struct nn_operator nn_op_average_pool;
extern const struct nn_operator nn_op_adaptive_average_pool;
extern const struct nn_operator nn_op_global_average_pool;
extern const struct nn_operator nn_op_channel_mean;
extern const struct nn_operator nn_op_flatten;
extern const struct nn_operator nn_op_fully_connected;
extern const struct nn_operator nn_op_fully_connected_relu;
extern const struct nn_operator nn_op_dropout;
extern const struct nn_operator nn_op_concatenation;
extern const struct nn_operator nn_op_channel_padding;
extern const struct nn_operator nn_op_spatial_padding;
extern const struct nn_operator nn_op_cropping;
extern const struct nn_operator nn_op_addition;
extern const struct nn_operator nn_op_multiplication;
extern const struct nn_operator nn_op_addition_relu;
extern const struct nn_operator nn_op_softmax;

#endif
