/* SPDX-License-Identifier: MIT
 *
 * The layers of the room: a file and a row each. Everything else about them is made from the rows.
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

/* LAYER(x): x.c has nn_kind_x and nn_op_x. ACTIVATION(x): likewise, but the operator is a struct
 * nn_activation_operator. KIND(x): there is no operator. In this order they are listed to users. */
#define NN_LAYERS(KIND, LAYER, ACTIVATION)                                                         \
    KIND(image_input)                                                                              \
    KIND(sequence_input)                                                                           \
    LAYER(attention)                                                                               \
    LAYER(embedding)                                                                               \
    LAYER(lstm)                                                                                    \
    LAYER(gru)                                                                                     \
    LAYER(positional_encoding)                                                                     \
    LAYER(sequence_pool)                                                                           \
    LAYER(temporal_convolution)                                                                    \
    LAYER(convolution)                                                                             \
    LAYER(transposed_convolution)                                                                  \
    LAYER(batch_norm)                                                                              \
    LAYER(group_norm)                                                                              \
    LAYER(layer_norm)                                                                              \
    LAYER(local_response_norm)                                                                     \
    LAYER(rms_norm)                                                                                \
    LAYER(relu)                                                                                    \
    LAYER(clipped_relu)                                                                            \
    ACTIVATION(leaky_relu)                                                                         \
    ACTIVATION(elu)                                                                                \
    ACTIVATION(gelu)                                                                               \
    ACTIVATION(silu)                                                                               \
    ACTIVATION(hard_swish)                                                                         \
    ACTIVATION(tanh)                                                                               \
    ACTIVATION(sigmoid)                                                                            \
    ACTIVATION(absolute)                                                                           \
    LAYER(soft_threshold)                                                                          \
    LAYER(max_pool)                                                                                \
    LAYER(average_pool)                                                                            \
    LAYER(adaptive_average_pool)                                                                   \
    LAYER(global_average_pool)                                                                     \
    LAYER(channel_mean)                                                                            \
    LAYER(flatten)                                                                                 \
    LAYER(fully_connected)                                                                         \
    LAYER(dropout)                                                                                 \
    LAYER(concatenation)                                                                           \
    LAYER(channel_padding)                                                                         \
    LAYER(spatial_padding)                                                                         \
    LAYER(cropping)                                                                                \
    LAYER(addition)                                                                                \
    LAYER(multiplication)                                                                          \
    LAYER(softmax)                                                                                 \
    KIND(auxiliary_loss)

/* Operators that replace a chain of layers, nn_op_x; longer chains first. */
#define NN_CHAINS(CHAIN)                                                                           \
    CHAIN(convolution_batch_norm_relu)                                                             \
    CHAIN(convolution_batch_norm)                                                                  \
    CHAIN(convolution_relu)                                                                        \
    CHAIN(batch_norm_relu)                                                                         \
    CHAIN(fully_connected_relu)                                                                    \
    CHAIN(addition_relu)

/* NOLINTBEGIN(bugprone-macro-parentheses): declarations */
#define NN_DECLARE_KIND(x) extern const struct nn_layer_kind nn_kind_##x;
#define NN_DECLARE_LAYER(x)                                                                        \
    NN_DECLARE_KIND(x)                                                                             \
    NN_DECLARE_OPERATOR(x)
#define NN_DECLARE_ACTIVATION(x)                                                                   \
    NN_DECLARE_KIND(x)                                                                             \
    extern const struct nn_activation_operator nn_op_##x;
#define NN_DECLARE_OPERATOR(x) extern const struct nn_operator nn_op_##x;
NN_LAYERS(NN_DECLARE_KIND, NN_DECLARE_LAYER, NN_DECLARE_ACTIVATION)
NN_CHAINS(NN_DECLARE_OPERATOR)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
