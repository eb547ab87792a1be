/* SPDX-License-Identifier: MIT
 *
 * Activations: smooth or bent functions of every number by itself. relu and clip are in
 * pointwise.h. With s = 1 / (1 + e^-x) and Phi, phi the standard normal distribution and density:
 *
 *              y                                  dy / dx                    told by
 *     absolute    |x|                             sign of x, 0 at 0          x
 *     sigmoid     s                               y (1 - y)                  y
 *     tanh        tanh x                          1 - y^2                    y
 *     leaky_relu  x > 0 ? x : slope x             y > 0 ? 1 : slope          y
 *     elu         x > 0 ? x : slope (e^x - 1)     y > 0 ? 1 : y + slope      y
 *     gelu        x Phi(x)                        Phi(x) + x phi(x)          x
 *     silu        x s                             s (1 + x (1 - s))          x
 *     hard_swish  x min(max(x + 3, 0), 6) / 6     x < -3: 0, x > 3: 1,       x
 *                                                 else (2 x + 3) / 6
 *
 * A NaN stays a NaN.
 */
#ifndef NN_KERNELS_ACTIVATION_H
#define NN_KERNELS_ACTIVATION_H

#include "core/kernels/exec.h"

enum nn_activation_function {
    NN_ACTIVATION_ABSOLUTE,
    NN_ACTIVATION_SIGMOID,
    NN_ACTIVATION_TANH,
    NN_ACTIVATION_LEAKY_RELU,
    NN_ACTIVATION_ELU,
    NN_ACTIVATION_GELU,
    NN_ACTIVATION_SILU,
    NN_ACTIVATION_HARD_SWISH,
};

/* rows x columns; slope >= 0, read by leaky_relu and elu. y may alias x. */
struct nn_activation_forward {
    nn_real *y;
    const nn_real *x;
    size_t ldy, ldx;
    size_t rows, columns;
    nn_real slope;
};
void nn_activation_forward(const struct nn_exec *exec, enum nn_activation_function which,
                           const struct nn_activation_forward *args);

/* d_x = d_y * dy / dx, written or added to. told: x or y, as the table above says. d_x may alias
 * d_y. */
struct nn_activation_gradient {
    nn_real *d_x;
    const nn_real *d_y, *told;
    size_t ldd_x, ldd_y, ld_told;
    size_t rows, columns;
    nn_real slope;
    bool accumulate;
};
void nn_activation_gradient(const struct nn_exec *exec, enum nn_activation_function which,
                            const struct nn_activation_gradient *args);

#endif
