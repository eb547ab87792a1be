/* SPDX-License-Identifier: MIT
 *
 * Transposed convolution: the input gradient of a convolution, on rows that begin as the bias.
 */
#include <string.h>

#include "core/kernels/chunks_internal.h"
#include "core/kernels/convolution.h"

struct bias_run {
    nn_real *y;
    const nn_real *bias;
    size_t ldy, rows, columns, chunk_rows;
};

static void bias_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct bias_run *p = ctx;
    size_t row = chunk * p->chunk_rows, end = nn_min(row + p->chunk_rows, p->rows);
    for (; row < end; row++) {
        memcpy(p->y + row * p->ldy, p->bias, p->columns * sizeof *p->y);
    }
}

void nn_conv2d_transposed(const struct nn_exec *exec, const struct nn_conv2d *conv, nn_real *y,
                          size_t ldy, const nn_real *bias, const nn_real *x, size_t ldx,
                          const struct nn_conv2d_weights *weights)
{
    if (bias) {
        struct bias_run run = {.y = y, .bias = bias, .ldy = ldy, .columns = conv->channels};
        run.rows = conv->batch * conv->height * conv->width;
        run.chunk_rows = nn_rows_per_chunk(run.columns);
        nn_parallel_for(exec->pool, nn_div_up(run.rows, run.chunk_rows), bias_chunk, &run);
    }
    nn_conv2d_input_gradient(exec, conv, y, ldy, bias != NULL, x, ldx, weights);
}
