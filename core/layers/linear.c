/* SPDX-License-Identifier: MIT
 *
 * The affine map of rows.
 */
#include "core/layers/linear_internal.h"

#include "core/layers/shape_internal.h"

size_t nn_linear_workspace(const struct nn_linear *l, bool up_to, size_t lanes)
{
    size_t d_w = up_to ? nn_gemm_workspace_up_to(l->outputs, l->inputs, l->rows)
                       : nn_gemm_workspace(l->outputs, l->inputs, l->rows, lanes);
    size_t d_x = up_to ? nn_gemm_workspace_up_to(l->rows, l->inputs, l->outputs)
                       : nn_gemm_workspace(l->rows, l->inputs, l->outputs, lanes);
    return nn_larger(nn_larger(d_w, d_x), nn_column_sums_workspace(l->rows, l->outputs));
}

size_t nn_linear_storage(size_t inputs, size_t outputs)
{
    return nn_gemm_pack_count(inputs, outputs);
}

void nn_linear_forward(const struct nn_exec *exec, const struct nn_linear *l, struct nn_view y,
                       struct nn_view x, nn_real *storage)
{
    struct nn_packed packed;
    const struct nn_epilogue epilogue = {
        .bias = l->bias, .activation = l->relu ? NN_ACTIVATION_RELU : NN_ACTIVATION_NONE};
    nn_gemm_pack(exec, &packed, storage, l->weight, l->inputs, true, l->inputs, l->outputs);
    nn_gemm_packed(exec, y.data, y.ld, x.data, x.ld, l->rows, &packed, &epilogue);
}

void nn_linear_gradient(const struct nn_exec *exec, const struct nn_linear *l, struct nn_view d_y,
                        struct nn_view x, const struct nn_gradient *d_x)
{
    if (l->d_weight) {
        const struct nn_gemm gemm = {.m = l->outputs,
                                     .n = l->inputs,
                                     .k = l->rows,
                                     .a = d_y.data,
                                     .lda = d_y.ld,
                                     .transpose_a = true,
                                     .b = x.data,
                                     .ldb = x.ld,
                                     .c = l->d_weight,
                                     .ldc = l->inputs,
                                     .accumulate = true};
        nn_gemm(exec, &gemm);
    }
    if (l->d_bias) {
        nn_column_sums(exec, l->d_bias, d_y.data, d_y.ld, l->rows, l->outputs);
    }
    if (d_x->view.data) {
        const struct nn_gemm gemm = {.m = l->rows,
                                     .n = l->inputs,
                                     .k = l->outputs,
                                     .a = d_y.data,
                                     .lda = d_y.ld,
                                     .b = l->weight,
                                     .ldb = l->inputs,
                                     .c = d_x->view.data,
                                     .ldc = d_x->view.ld,
                                     .accumulate = d_x->add};
        nn_gemm(exec, &gemm);
    }
}
