/* SPDX-License-Identifier: MIT
 *
 * References of the pixels around an image, or cut from it.
 */
#include "tests/ref/ref.h"

/* The row of x that output pixel (n, i, j) shows; -1: none. Mirrors are stepped along. */
static long row_of(const struct nn_framing *f, size_t n, size_t i, size_t j)
{
    long at[2] = {(long)i - f->top, (long)j - f->left};
    const long side[2] = {(long)f->height, (long)f->width};
    for (int axis = 0; axis < 2; axis++) {
        long step = 1, reached = 0;
        if (f->mode == NN_FRAMING_CONSTANT && (at[axis] < 0 || at[axis] >= side[axis])) {
            return -1;
        }
        if (f->mode == NN_FRAMING_REFLECT && (at[axis] < 0 || at[axis] >= side[axis])) {
            long wanted = at[axis] < 0 ? -at[axis] : at[axis];
            for (long k = 0; k < wanted; k++) {
                step = reached + step < 0 || reached + step >= side[axis] ? -step : step;
                reached += step;
            }
            at[axis] = reached;
        }
        while (at[axis] < 0) {
            at[axis]++;
        }
        while (at[axis] >= side[axis]) {
            at[axis]--;
        }
    }
    return ((long)n * side[0] + at[0]) * side[1] + at[1];
}

void ref_framing(double *y, const struct nn_framing *f, const nn_real *x, size_t ldx)
{
    for (size_t r = 0; r < f->batch * f->out_height * f->out_width; r++) {
        size_t j = r % f->out_width, i = r / f->out_width % f->out_height;
        long row = row_of(f, r / f->out_width / f->out_height, i, j);
        for (size_t c = 0; c < f->channels; c++) {
            y[r * f->channels + c] = row < 0 ? (double)f->value : (double)x[(size_t)row * ldx + c];
        }
    }
}

void ref_framing_gradient(double *d_x, const struct nn_framing *f, const nn_real *d_y, size_t ldd_y)
{
    for (size_t r = 0; r < f->batch * f->out_height * f->out_width; r++) {
        size_t j = r % f->out_width, i = r / f->out_width % f->out_height;
        long row = row_of(f, r / f->out_width / f->out_height, i, j);
        for (size_t c = 0; row >= 0 && c < f->channels; c++) {
            d_x[(size_t)row * f->channels + c] += (double)d_y[r * ldd_y + c];
        }
    }
}
