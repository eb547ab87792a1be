/* SPDX-License-Identifier: MIT
 *
 * Operations on packed sequences (core/tensor): step t has active[t] rows from starts[t] on, one of
 * each of the longest sequences, longest first. So the rows of one step meet those of another in
 * order: row k of both is of the same sequence, as long as there are k of them.
 */
#ifndef NN_KERNELS_SEQUENCES_H
#define NN_KERNELS_SEQUENCES_H

#include "core/kernels/exec.h"

struct nn_steps {
    size_t steps;
    const size_t *active, *starts; /* steps; steps + 1 entries */
    const size_t *samples;         /* active[0] entries: the place of row k's sequence in a batch */
};

/* What a window of `taps` steps, `dilation` apart, sees: tap j of step t is step
 * t + j * dilation - before of the same sequence, or zeros where there is none. */
struct nn_window_of_steps {
    struct nn_steps steps;
    size_t channels, taps, dilation, before;
};

/* out [rows, taps * channels], dense. */
void nn_windows_gather(const struct nn_exec *exec, const struct nn_window_of_steps *w, nn_real *out,
                       const nn_real *x, size_t ldx);

/* d_x = or += what the windows' gradients [rows, taps * channels], dense, say of each row. */
void nn_windows_scatter(const struct nn_exec *exec, const struct nn_window_of_steps *w,
                        nn_real *d_x, size_t ldd_x, bool accumulate, const nn_real *d_windows);

enum nn_sequence_pool { NN_SEQUENCE_LAST, NN_SEQUENCE_MEAN };

/* y [sequences, channels], in the order of the batch: the last row of each, or the mean of all. */
void nn_sequence_pool(const struct nn_exec *exec, const struct nn_steps *s,
                      enum nn_sequence_pool how, nn_real *y, size_t ldy, const nn_real *x,
                      size_t ldx, size_t channels);
/* d_x = or +=, for every row. */
void nn_sequence_pool_gradient(const struct nn_exec *exec, const struct nn_steps *s,
                               enum nn_sequence_pool how, nn_real *d_x, size_t ldd_x,
                               bool accumulate, const nn_real *d_y, size_t ldd_y, size_t channels);

/* y = x + table[min(t, length - 1)] for the rows of step t; table [length, channels], or NULL: that
 * of Vaswani et al. 2017, with w = 10000^(-2 i / channels): channel 2 i is sin(t w), 2 i + 1 is
 * cos(t w). y may alias x. */
size_t nn_positions_workspace(size_t channels, size_t lanes); /* of both */
void nn_positions_add(const struct nn_exec *exec, const struct nn_steps *s, nn_real *y, size_t ldy,
                      const nn_real *x, size_t ldx, const nn_real *table, size_t length,
                      size_t channels);
/* d_table += the sums of d_y over the rows that took each of its rows. */
void nn_positions_gradient(const struct nn_exec *exec, const struct nn_steps *s, nn_real *d_table,
                           size_t length, const nn_real *d_y, size_t ldd_y, size_t channels);

/* y [rows, channels] = table[id], table [ids, channels]. id is x[r * ldx]; NaNs where that is no
 * whole number below ids, so that nothing is learned unnoticed of what does not exist. */
void nn_embed(const struct nn_exec *exec, nn_real *y, size_t ldy, const nn_real *x, size_t ldx,
              size_t rows, const nn_real *table, size_t ids, size_t channels);
/* d_table += the sums of d_y over the rows of each id. */
void nn_embed_gradient(const struct nn_exec *exec, nn_real *d_table, const nn_real *x, size_t ldx,
                       size_t rows, size_t ids, const nn_real *d_y, size_t ldd_y, size_t channels);

#endif
