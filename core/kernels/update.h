/* SPDX-License-Identifier: MIT
 *
 * One step of a solver on n parameters in a row. All rules start from
 *     g = gradient_factor * gradient + l2 * value
 */
#ifndef NN_KERNELS_UPDATE_H
#define NN_KERNELS_UPDATE_H

#include "core/kernels/exec.h"

struct nn_update {
    size_t n;
    nn_real *value;
    const nn_real *gradient;
    nn_real gradient_factor; /* 1, or the scale of a gradient clipped by its norm */
    nn_real l2;
    nn_real rate;
};

/* delta = momentum * delta - rate * g;  value += delta       (MATLAB: delta = theta - theta_prev).
 * With a constant rate this is PyTorch's v = momentum * v + g; value -= rate * v. */
void nn_update_sgdm(const struct nn_exec *exec, const struct nn_update *update, nn_real *delta,
                    double momentum);

/* The same delta, but value += momentum * delta - rate * g. With a constant rate this is PyTorch's
 * SGD with nesterov. */
void nn_update_nesterov(const struct nn_exec *exec, const struct nn_update *update, nn_real *delta,
                        double momentum);

/* square = decay * square + (1 - decay) * g^2;  value -= rate * g / (sqrt(square) + epsilon) */
void nn_update_rmsprop(const struct nn_exec *exec, const struct nn_update *update, nn_real *square,
                       double decay, double epsilon);

/* mean   = decay * mean + (1 - decay) * g
 * square = square_decay * square + (1 - square_decay) * g^2
 * value = (1 - shrink) * value - rate / correction * mean / (sqrt(square) / square_correction +
 * epsilon)
 * PyTorch at step t (from 1): correction = 1 - decay^t, square_correction = sqrt(1 -
 * square_decay^t); shrink = 0 for Adam, rate * weight_decay for AdamW.
 */
struct nn_adam {
    double decay, square_decay, epsilon;
    double correction, square_correction;
    double shrink;
};
void nn_update_adam(const struct nn_exec *exec, const struct nn_update *update, nn_real *mean,
                    nn_real *square, const struct nn_adam *adam);

#endif
