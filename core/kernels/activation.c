/* SPDX-License-Identifier: MIT
 *
 * Which rows of the table an activation runs.
 */
#include "core/kernels/activation.h"

#include "core/kernels/map_internal.h"

struct rows {
    nn_map_fn forward, gradient;
};

static struct rows rows_of(const struct nn_kernels *k, enum nn_activation_function which)
{
    const struct rows all[] = {
        [NN_ACTIVATION_ABSOLUTE] = {k->absolute, k->absolute_gradient},
        [NN_ACTIVATION_SIGMOID] = {k->sigmoid, k->sigmoid_gradient},
        [NN_ACTIVATION_TANH] = {k->tanh, k->tanh_gradient},
        [NN_ACTIVATION_LEAKY_RELU] = {k->leaky_relu, k->leaky_relu_gradient},
        [NN_ACTIVATION_ELU] = {k->elu, k->elu_gradient},
        [NN_ACTIVATION_GELU] = {k->gelu, k->gelu_gradient},
        [NN_ACTIVATION_SILU] = {k->silu, k->silu_gradient},
        [NN_ACTIVATION_HARD_SWISH] = {k->hard_swish, k->hard_swish_gradient},
    };
    return all[which];
}

void nn_activation_forward(const struct nn_exec *exec, enum nn_activation_function which,
                           const struct nn_activation_forward *f)
{
    struct nn_map_args args = {.rows = f->rows, .columns = f->columns, .y = f->y, .a = f->x};
    args.ldy = f->ldy;
    args.lda = f->ldx;
    args.slope = f->slope;
    nn_map_rows(exec, rows_of(exec->kernels, which).forward, args);
}

void nn_activation_gradient(const struct nn_exec *exec, enum nn_activation_function which,
                            const struct nn_activation_gradient *g)
{
    struct nn_map_args args = {.rows = g->rows, .columns = g->columns, .y = g->d_x, .a = g->d_y};
    args.b = g->told;
    args.ldy = g->ldd_x;
    args.lda = g->ldd_y;
    args.ldb = g->ld_told;
    args.slope = g->slope;
    args.accumulate = g->accumulate;
    nn_map_rows(exec, rows_of(exec->kernels, which).gradient, args);
}
