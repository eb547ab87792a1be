/* SPDX-License-Identifier: MIT
 *
 * The table of inner loops: one row each, one table per instruction set. For the operations of this
 * room and for tests/numeric, which forces each row of each table. A row works on one chunk, on the
 * caller's thread, writes only through its arguments and keeps nothing.
 */
#ifndef NN_KERNELS_TABLE_H
#define NN_KERNELS_TABLE_H

#include "core/kernels/exec.h"
#include "core/kernels/table_attention.h"
#include "core/kernels/table_images.h"
#include "core/kernels/table_matrix.h"
#include "core/kernels/table_norm.h"
#include "core/kernels/table_recurrence.h"
#include "core/kernels/table_training.h"

#ifdef NN_REAL_DOUBLE
#define NN_SQRT(x) sqrt(x)
#else
#define NN_SQRT(x) sqrtf(x)
#endif

/* NN_KERNEL_ROWS(X): X(name, tag of its struct of arguments). */
#define NN_KERNEL_ROWS(X)                                                                          \
    X(gemm_tile, nn_tile_args)                                                                     \
    X(gemm_dots, nn_dots_args)                                                                     \
    X(conv_forward, nn_conv_forward_args)                                                          \
    X(conv_weight, nn_conv_weight_args)                                                            \
    X(depthwise_forward, nn_depthwise_args)                                                        \
    X(depthwise_weight, nn_depthwise_args)                                                         \
    X(moments, nn_moments_args)                                                                    \
    X(norm_apply, nn_norm_args)                                                                    \
    X(norm_sums, nn_norm_sums_args)                                                                \
    X(norm_gradient, nn_norm_gradient_args)                                                        \
    X(norm_rows, nn_norm_rows_args)                                                                \
    X(norm_rows_gradient, nn_norm_rows_gradient_args)                                              \
    X(norm_rows_sums, nn_norm_rows_sums_args)                                                      \
    X(attention_softmax, nn_attention_softmax_args)                                                \
    X(attention_gradient, nn_attention_gradient_args)                                              \
    X(column_sums, nn_column_sums_args)                                                            \
    X(copy, nn_map_args)                                                                           \
    X(add, nn_map_args)                                                                            \
    X(relu, nn_map_args)                                                                           \
    X(relu_gradient, nn_map_args)                                                                  \
    X(clip, nn_map_args)                                                                           \
    X(clip_gradient, nn_map_args)                                                                  \
    X(absolute, nn_map_args)                                                                       \
    X(absolute_gradient, nn_map_args)                                                              \
    X(sigmoid, nn_map_args)                                                                        \
    X(sigmoid_gradient, nn_map_args)                                                               \
    X(tanh, nn_map_args)                                                                           \
    X(tanh_gradient, nn_map_args)                                                                  \
    X(leaky_relu, nn_map_args)                                                                     \
    X(leaky_relu_gradient, nn_map_args)                                                            \
    X(elu, nn_map_args)                                                                            \
    X(elu_gradient, nn_map_args)                                                                   \
    X(gelu, nn_map_args)                                                                           \
    X(gelu_gradient, nn_map_args)                                                                  \
    X(silu, nn_map_args)                                                                           \
    X(silu_gradient, nn_map_args)                                                                  \
    X(hard_swish, nn_map_args)                                                                     \
    X(hard_swish_gradient, nn_map_args)                                                            \
    X(multiply, nn_broadcast_args)                                                                 \
    X(multiply_sums, nn_broadcast_args)                                                            \
    X(soft_threshold, nn_broadcast_args)                                                           \
    X(soft_threshold_sums, nn_broadcast_args)                                                      \
    X(soft_threshold_gradient, nn_map_args)                                                        \
    X(channel_mean, nn_map_args)                                                                   \
    X(channel_mean_gradient, nn_map_args)                                                          \
    X(dropout, nn_dropout_args)                                                                    \
    X(normalize_u8, nn_normalize_args)                                                             \
    X(max_pool, nn_window_args)                                                                    \
    X(max_pool_gradient, nn_window_args)                                                           \
    X(average_pool, nn_window_args)                                                                \
    X(average_pool_gradient, nn_window_args)                                                       \
    X(lrn, nn_lrn_args)                                                                            \
    X(lrn_gradient, nn_lrn_args)                                                                   \
    X(softmax, nn_map_args)                                                                        \
    X(softmax_gradient, nn_map_args)                                                               \
    X(cross_entropy, nn_cross_entropy_args)                                                        \
    X(lstm, nn_cell_args)                                                                          \
    X(lstm_gradient, nn_cell_gradient_args)                                                        \
    X(gru, nn_cell_args)                                                                           \
    X(gru_gradient, nn_cell_gradient_args)                                                         \
    X(fill, nn_vector_args)                                                                        \
    X(scale, nn_vector_args)                                                                       \
    X(average, nn_vector_args)                                                                     \
    X(clamp, nn_vector_args)                                                                       \
    X(all_finite, nn_vector_args)                                                                  \
    X(sum_squares, nn_vector_args)                                                                 \
    X(sgdm, nn_step_args)                                                                          \
    X(nesterov, nn_step_args)                                                                      \
    X(rmsprop, nn_step_args)                                                                       \
    X(adam, nn_step_args)

/* sums (written) of each column. */
struct nn_column_sums_args {
    size_t rows, columns, ldx;
    const nn_real *x;
    double *sums;
};

/* One or two matrices to one.  copy: y = a (+ y).  add: y = a + b, relu?  relu: y = max(a, 0).
 * relu_gradient: y = (b > 0 ? a : 0) (+ y).  clip: y = min(max(a, 0), ceiling).
 * clip_gradient: y = (b > 0 and b < ceiling ? a : 0) (+ y).  softmax: y = softmax(a).
 * softmax_gradient: y = b * (a - sum(a * b)).  Of an activation f of activation.h with its slope,
 * <f>: y = f(a), <f>_gradient: y = a * f' (+ y), f' told by b, which is f's input or its output as
 * activation.h says.  soft_threshold_gradient: y = (b != 0 ? a : 0) (+ y).
 * channel_mean: y[r, 0] = mean of a[r, c] over c.  channel_mean_gradient: y[r, c] = a[r, 0] /
 * columns
 * (+ y[r, c]). */
struct nn_map_args {
    size_t rows, columns;
    nn_real *y;
    const nn_real *a, *b;
    size_t ldy, lda, ldb;
    bool accumulate, relu;
    nn_real ceiling, slope;
};

/* A matrix a beside one, b, that may have one row for all (ldb 0) or one column for all.
 * multiply: y = a * b (+ y).  soft_threshold: y = sign(a) * max(|a| - b, 0).
 * multiply_sums: y = sum of a * b (+ y); soft_threshold_sums: y = - sum of a where b > 0, and of -a
 * where b < 0 (+ y); b is whole there, and the sums go over all rows if one_row, over all columns
 * if one_column. */
struct nn_broadcast_args {
    size_t rows, columns;
    nn_real *y;
    const nn_real *a, *b;
    size_t ldy, lda, ldb;
    bool one_row, one_column, accumulate;
};

/* Rows of one sample: element e = row * columns + column of the sample, from element `first` (a
 * multiple of columns) on, uses word e % 4 of block e / 4 of the stream in `counter` (word 0 is set
 * here); kept when that word >= threshold: y = x * factor. With starts, row r is row starts[r]. */
struct nn_dropout_args {
    size_t rows, columns, first;
    const size_t *starts;
    nn_real *y;
    const nn_real *x;
    size_t ldy, ldx;
    uint32_t key[2], counter[4], threshold;
    nn_real factor;
    bool accumulate;
};

/* y = x * factor + offset, from bytes. */
struct nn_normalize_args {
    size_t rows, columns, ldy;
    nn_real *y;
    const uint8_t *x;
    const nn_real *factor, *offset;
};

/* n numbers.  fill: y = value.  scale: y *= value.  clamp: to [-value, value].
 * average: y += value * (x - y).
 * all_finite: *result = 1 when all x are finite, else 0.  sum_squares: *result = sum of x^2. */
struct nn_vector_args {
    size_t n;
    nn_real *y;
    const nn_real *x;
    nn_real value;
    double *result;
};

struct nn_kernels {
    enum nn_isa isa;
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define NN_KERNEL_FIELD(name, tag) void (*name)(const struct tag *args);
    NN_KERNEL_ROWS(NN_KERNEL_FIELD)
#undef NN_KERNEL_FIELD
};

/* Rows in the order of NN_KERNEL_ROWS. */
enum nn_kernel_row {
#define NN_KERNEL_NUMBER(name, tag) NN_KERNEL_##name,
    NN_KERNEL_ROWS(NN_KERNEL_NUMBER)
#undef NN_KERNEL_NUMBER
        NN_KERNEL_COUNT
};
const char *nn_kernel_name(enum nn_kernel_row row);

/* The tables themselves; the vector ones do not exist in MODE=f64 or on other processors. */
extern const struct nn_kernels nn_kernels_plain;
extern const struct nn_kernels nn_kernels_avx2;
extern const struct nn_kernels nn_kernels_avx512;

#endif
