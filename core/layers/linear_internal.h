/* SPDX-License-Identifier: MIT
 *
 * The affine map of rows that several layers are made of, with a weight as PyTorch stores it:
 *     y = x w^T + b,  d_w += d_y^T x,  d_b += column sums of d_y,  d_x = d_y w
 */
#ifndef NN_LAYERS_LINEAR_INTERNAL_H
#define NN_LAYERS_LINEAR_INTERNAL_H

#include "core/layers/layer.h"

struct nn_linear {
    size_t rows, inputs, outputs;
    const nn_real *weight, *bias; /* [outputs, inputs]; NULL: none */
    bool relu;                    /* behind it, in forward; backward wants d_y masked */
    nn_real *d_weight, *d_bias;   /* NULL: not wanted */
};

/* Bytes of workspace of a gradient of exactly so many rows, or of any number up to that. */
size_t nn_linear_workspace(const struct nn_linear *linear, bool up_to, size_t lanes);
/* nn_real of storage that forward needs. */
size_t nn_linear_storage(size_t inputs, size_t outputs);

void nn_linear_forward(const struct nn_exec *exec, const struct nn_linear *linear, struct nn_view y,
                       struct nn_view x, nn_real *storage);
/* Parameters first, then d_x. */
void nn_linear_gradient(const struct nn_exec *exec, const struct nn_linear *linear,
                        struct nn_view d_y, struct nn_view x, const struct nn_gradient *d_x);

#endif
