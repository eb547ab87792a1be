/* SPDX-License-Identifier: MIT
 *
 * The tables of kinds and operators.
 */
#include <string.h>

#include "core/layers/kinds_internal.h"

/* clang-format off */
/* One row a kind, so that two additions never meet. */
const struct nn_layer_kind *const nn_layer_kinds[] = {
    &nn_kind_image_input,
    &nn_kind_sequence_input,
    &nn_kind_lstm,
    &nn_kind_convolution,
    &nn_kind_transposed_convolution,
    &nn_kind_batch_norm,
    &nn_kind_local_response_norm,
    &nn_kind_relu,
    &nn_kind_clipped_relu,
    &nn_kind_leaky_relu,
    &nn_kind_elu,
    &nn_kind_gelu,
    &nn_kind_silu,
    &nn_kind_tanh,
    &nn_kind_sigmoid,
    &nn_kind_absolute,
    &nn_kind_soft_threshold,
    &nn_kind_max_pool,
    &nn_kind_average_pool,
    &nn_kind_adaptive_average_pool,
    &nn_kind_global_average_pool,
    &nn_kind_channel_mean,
    &nn_kind_flatten,
    &nn_kind_fully_connected,
    &nn_kind_dropout,
    &nn_kind_concatenation,
    &nn_kind_channel_padding,
    &nn_kind_spatial_padding,
    &nn_kind_cropping,
    &nn_kind_addition,
    &nn_kind_multiplication,
    &nn_kind_softmax,
    &nn_kind_auxiliary_loss,
    NULL,
};

const struct nn_operator *const nn_operators[] = {
    /* of three layers */
    &nn_op_convolution_batch_norm_relu,
    /* of two */
    &nn_op_convolution_batch_norm,
    &nn_op_convolution_relu,
    &nn_op_batch_norm_relu,
    &nn_op_fully_connected_relu,
    &nn_op_addition_relu,
    /* of one */
    &nn_op_lstm,
    &nn_op_convolution,
    &nn_op_transposed_convolution,
    &nn_op_batch_norm,
    &nn_op_local_response_norm,
    &nn_op_relu,
    &nn_op_clipped_relu,
    &nn_op_leaky_relu.op,
    &nn_op_elu.op,
    &nn_op_gelu.op,
    &nn_op_silu.op,
    &nn_op_tanh.op,
    &nn_op_sigmoid.op,
    &nn_op_absolute.op,
    &nn_op_soft_threshold,
    &nn_op_max_pool,
    &nn_op_average_pool,
    &nn_op_adaptive_average_pool,
    &nn_op_global_average_pool,
    &nn_op_channel_mean,
    &nn_op_flatten,
    &nn_op_fully_connected,
    &nn_op_dropout,
    &nn_op_concatenation,
    &nn_op_channel_padding,
    &nn_op_spatial_padding,
    &nn_op_cropping,
    &nn_op_addition,
    &nn_op_multiplication,
    &nn_op_softmax,
    NULL,
};
/* clang-format on */

const struct nn_layer_kind *nn_layer_kind_find(const char *name)
{
    for (const struct nn_layer_kind *const *kind = nn_layer_kinds; *kind; kind++) {
        if (strcmp((*kind)->name, name) == 0) {
            return *kind;
        }
    }
    return NULL;
}
