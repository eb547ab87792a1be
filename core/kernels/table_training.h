/* SPDX-License-Identifier: MIT
 *
 * Arguments of the rows of table.h that only training needs: losses and solver steps.
 */
#ifndef NN_KERNELS_TABLE_TRAINING_H
#define NN_KERNELS_TABLE_TRAINING_H

#include "core/kernels/exec.h"

/* Rows of logits: *loss = sum of the row losses, *correct their hits; weight_sum = sum of weights,
 * or classes; the rest as in softmax.h. */
struct nn_cross_entropy_args {
    size_t rows, classes;
    const nn_real *logits;
    const uint32_t *labels;
    nn_real *d_logits, *probabilities;
    size_t ld, ldd, ldp;
    nn_real factor, smoothing, weight_sum;
    const nn_real *weights;
    uint32_t *predicted;
    double *loss;
    size_t *correct;
};

/* One solver step (update.h). slot, slot2: delta | square | mean and square. */
struct nn_step_args {
    size_t n;
    nn_real *value, *slot, *slot2;
    const nn_real *gradient;
    nn_real gradient_factor, l2, rate;
    nn_real decay, fresh;               /* fresh = 1 - decay, rounded once */
    nn_real square_decay, square_fresh; /* likewise */
    nn_real epsilon, square_factor;     /* square_factor = 1 / square_correction */
    nn_real keep;                       /* 1 - shrink */
};

#endif
