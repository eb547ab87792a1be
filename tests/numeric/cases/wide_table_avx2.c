/* SPDX-License-Identifier: MIT
 *
 * The table that core/kernels/table_avx512.c would be, on vectors of two AVX2 halves.
 */
#include "tests/numeric/cases/cases.h"

#if defined(__AVX2__) && !defined(NN_PLAIN_KERNELS)

#include <math.h>
#include <string.h>

/* clang-format off */
#include "tests/numeric/cases/wide_vector_simd.h"
#include "core/kernels/tile_simd.h"
#include "core/kernels/conv_simd.h"
#include "core/kernels/depthwise_simd.h"
#include "core/kernels/lstm_simd.h"
#include "core/kernels/gru_simd.h"
#include "core/kernels/activation_simd.h"
#include "core/kernels/attention_simd.h"
#include "core/kernels/broadcast_simd.h"
#include "core/kernels/norm_simd.h"
#include "core/kernels/row_norm_simd.h"
#include "core/kernels/lrn_simd.h"
#include "core/kernels/pointwise_simd.h"
#include "core/kernels/pooling_simd.h"
#include "core/kernels/softmax_simd.h"
#include "core/kernels/update_simd.h"
/* clang-format on */

static const struct nn_kernels wide_table = {.isa = NN_ISA_AVX2,
#define ROW(name, tag) .name = row_##name,
                                             NN_KERNEL_ROWS(ROW)
#undef ROW
};

const struct nn_kernels *numeric_wide_table(void)
{
    return nn_cpu_isa() >= NN_ISA_AVX2 ? &wide_table : NULL;
}

#else

const struct nn_kernels *numeric_wide_table(void)
{
    return NULL;
}

#endif
