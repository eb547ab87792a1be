/* SPDX-License-Identifier: MIT
 *
 * Naive references of the kernels, straight from the formulas, in double and without a thought for
 * speed. They share shapes with core/kernels and no code. Outputs are dense arrays of doubles, rows
 * one behind the other; a gradient that a kernel adds to is added to here too.
 */
#ifndef TESTS_REF_REF_H
#define TESTS_REF_REF_H

#include "core/kernels/kernels.h"

/* ---- ref_matrix.c ---- */

/* c [m,n] = op(a) op(b), added to c when g->accumulate. */
void ref_gemm(double *c, const struct nn_gemm *g);

/* y = activation(y + bias) on [rows,n]. */
void ref_epilogue(double *y, size_t rows, size_t n, const nn_real *bias, bool relu);

void ref_column_sums(double *sums, const nn_real *x, size_t ldx, size_t rows, size_t columns);

/* ---- ref_convolution.c ---- */

void ref_conv_forward(double *y, const struct nn_conv2d *conv, const nn_real *x, size_t ldx,
                      const nn_real *w, const nn_real *bias, bool relu);
void ref_conv_weight(double *d_w, const struct nn_conv2d *conv, const nn_real *x, size_t ldx,
                     const nn_real *d_y, size_t ldd_y);
void ref_conv_input(double *d_x, const struct nn_conv2d *conv, const nn_real *d_y, size_t ldd_y,
                    const nn_real *w);
void ref_conv_transposed(double *y, const struct nn_conv2d *conv, const nn_real *bias,
                         const nn_real *x, size_t ldx, const nn_real *w);

/* ---- ref_framing.c ---- */

void ref_framing(double *y, const struct nn_framing *f, const nn_real *x, size_t ldx);
/* Added to. */
void ref_framing_gradient(double *d_x, const struct nn_framing *f, const nn_real *d_y,
                          size_t ldd_y);

/* ---- ref_normalization.c ---- */

void ref_moments(double *mean, double *var, const nn_real *x, size_t ldx, size_t rows,
                 size_t channels);
void ref_norm_apply(double *y, const struct nn_batch_norm *norm, const nn_real *x, size_t ldx);
void ref_norm_gradient(double *d_x, double *d_scale, double *d_shift,
                       const struct nn_batch_norm_gradient *g);

void ref_row_norm(double *y, const struct nn_row_norm *norm, const nn_real *x, size_t ldx);
/* Added to; d_scale and d_shift may be NULL. */
void ref_row_norm_gradient(double *d_x, double *d_scale, double *d_shift,
                           const struct nn_row_norm *norm, const struct nn_row_norm_gradient *g);

void ref_lrn(double *y, const struct nn_lrn *lrn, const nn_real *x, size_t ldx);
/* Added to. */
void ref_lrn_gradient(double *d_x, const struct nn_lrn *lrn, const nn_real *d_y, size_t ldd_y,
                      const nn_real *x, size_t ldx);

/* ---- ref_pooling.c ---- */

void ref_max_pool(double *y, const struct nn_pool2d *p, const nn_real *x, size_t ldx);
void ref_max_pool_gradient(double *d_x, const struct nn_pool2d *p, const nn_real *x, size_t ldx,
                           const nn_real *d_y, size_t ldd_y);
void ref_average_pool(double *y, const struct nn_pool2d *p, const nn_real *x, size_t ldx);
void ref_average_pool_gradient(double *d_x, const struct nn_pool2d *p, const nn_real *d_y,
                               size_t ldd_y);

/* ---- ref_softmax.c ---- */

void ref_softmax(double *y, const nn_real *x, size_t ldx, size_t rows, size_t columns);
void ref_softmax_gradient(double *d_x, const nn_real *d_y, size_t ldd_y, const nn_real *y,
                          size_t ldy, size_t rows, size_t columns);
/* Returns the sum of the losses; d_logits, probabilities may be NULL. */
double ref_cross_entropy(double *d_logits, double *probabilities, const nn_real *x, size_t ldx,
                         const double *q, size_t rows, size_t classes, double factor);

/* ---- ref_lstm.c ---- */

/* gates [rows, 4 units] activated, c and h [rows, units]; all written. */
void ref_lstm_forward(const struct nn_recurrence *l, double *gates, double *c, double *h);
/* Added to; as shaped in nn_recurrence. d_y [rows, units]. d_bias_hh: of a GRU. */
struct ref_recurrence_gradient {
    double *d_x, *d_w_ih, *d_w_hh, *d_bias, *d_bias_hh;
};
void ref_lstm_backward(const struct nn_recurrence *l, const double *gates, const double *c,
                       const double *h, const double *d_y, struct ref_recurrence_gradient *out);

/* ---- ref_gru.c ---- */

/* gates [rows, 4 units] as the layer leaves them, h [rows, units]; all written. */
void ref_gru_forward(const struct nn_recurrence *l, double *gates, double *h);
void ref_gru_backward(const struct nn_recurrence *l, const double *gates, const double *h,
                      const double *d_y, struct ref_recurrence_gradient *out);

/* ---- ref_attention.c ---- */

void ref_attention(double *o, const struct nn_attention *a);
/* Added to. */
void ref_attention_gradient(double *d_qkv, const struct nn_attention *a, const double *d_o);

/* ---- ref_random.c ---- */

/* y added to. */
void ref_dropout(double *y, const struct nn_dropout *d, const nn_real *x, size_t ldx);

#endif
