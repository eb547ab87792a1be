/* SPDX-License-Identifier: MIT
 *
 * Matrix products and what goes with them. OpenBLAS is one implementation, own register-blocked
 * kernels for few columns another; callers see neither.
 */
#ifndef NN_KERNELS_MATRIX_H
#define NN_KERNELS_MATRIX_H

#include "core/kernels/exec.h"

/* c [m,n] = op(a) [m,k] op(b) [k,n], or added to c. lda and ldb are those of the stored matrices.
 * k = 0 gives zeros. A NaN in an overwritten c is gone. */
struct nn_gemm {
    size_t m, n, k;
    const nn_real *a, *b;
    size_t lda, ldb;
    bool transpose_a, transpose_b;
    nn_real *c;
    size_t ldc;
    bool accumulate; /* added to c */
};
size_t nn_gemm_workspace(size_t m, size_t n, size_t k, size_t lanes);
/* Enough for every product of at most these sizes: a smaller one may be cut into more slices. */
size_t nn_gemm_workspace_up_to(size_t m, size_t n, size_t k);
void nn_gemm(const struct nn_exec *exec, const struct nn_gemm *gemm);

enum nn_activation { NN_ACTIVATION_NONE, NN_ACTIVATION_RELU };

/* y = activation(product + bias). Zeroed: nothing to do. With accumulate the product is added to y
 * and bias and activation must be empty. */
struct nn_epilogue {
    const nn_real *bias; /* one value a column, or NULL */
    enum nn_activation activation;
    bool accumulate;
};

/* The operand that stays, op(b) [k,n], prepared for products. Borrows b and storage; both must
 * live, and b stay unchanged, until the next pack. */
struct nn_packed {
    size_t k, n;
    const nn_real *b;
    size_t ldb;
    bool transpose_b;
    const nn_real *panels; /* own layout; NULL when b is read as it is */
};
size_t nn_gemm_pack_count(size_t k, size_t n); /* nn_real of storage, 64-byte aligned */
void nn_gemm_pack(const struct nn_exec *exec, struct nn_packed *out_packed, nn_real *storage,
                  const nn_real *b, size_t ldb, bool transpose_b, size_t k, size_t n);

/* y [rows,n] = epilogue(x [rows,k] op(b)); epilogue may be NULL. Needs no workspace. */
void nn_gemm_packed(const struct nn_exec *exec, nn_real *y, size_t ldy, const nn_real *x,
                    size_t ldx, size_t rows, const struct nn_packed *packed,
                    const struct nn_epilogue *epilogue);

/* sums [columns] += the sum of each column of x: the gradient of a bias. */
size_t nn_column_sums_workspace(size_t rows, size_t columns);
void nn_column_sums(const struct nn_exec *exec, nn_real *sums, const nn_real *x, size_t ldx,
                    size_t rows, size_t columns);

#endif
