/* SPDX-License-Identifier: MIT
 *
 * Solver steps of the kernel table; formulas in update.h. Included once by each table_*.c.
 */

static void row_sgdm(const struct nn_step_args *s)
{
    nn_real *value = s->value, *delta = s->slot;
    const nn_real *gradient = s->gradient;
#pragma omp simd
    for (size_t i = 0; i < s->n; i++) {
        nn_real g = s->gradient_factor * gradient[i] + s->l2 * value[i];
        delta[i] = s->decay * delta[i] - s->rate * g;
        value[i] += delta[i];
    }
}

static void row_nesterov(const struct nn_step_args *s)
{
    nn_real *value = s->value, *delta = s->slot;
    const nn_real *gradient = s->gradient;
#pragma omp simd
    for (size_t i = 0; i < s->n; i++) {
        nn_real g = s->gradient_factor * gradient[i] + s->l2 * value[i];
        nn_real move = s->rate * g;
        delta[i] = s->decay * delta[i] - move;
        value[i] += s->decay * delta[i] - move;
    }
}

static void row_rmsprop(const struct nn_step_args *s)
{
    nn_real *value = s->value, *square = s->slot;
    const nn_real *gradient = s->gradient;
#pragma omp simd
    for (size_t i = 0; i < s->n; i++) {
        nn_real g = s->gradient_factor * gradient[i] + s->l2 * value[i];
        square[i] = s->square_decay * square[i] + s->square_fresh * (g * g);
        value[i] -= s->rate * g / (NN_SQRT(square[i]) + s->epsilon);
    }
}

static void row_adam(const struct nn_step_args *s)
{
    nn_real *value = s->value, *mean = s->slot, *square = s->slot2;
    const nn_real *gradient = s->gradient;
#pragma omp simd
    for (size_t i = 0; i < s->n; i++) {
        nn_real g = s->gradient_factor * gradient[i] + s->l2 * value[i];
        mean[i] = s->decay * mean[i] + s->fresh * g;
        square[i] = s->square_decay * square[i] + s->square_fresh * (g * g);
        value[i] = s->keep * value[i] -
                   s->rate * mean[i] / (NN_SQRT(square[i]) * s->square_factor + s->epsilon);
    }
}
