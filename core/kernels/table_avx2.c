/* SPDX-License-Identifier: MIT
 *
 * The AVX2 table: compiled with AVX2, FMA and F16C, run only where nn_cpu_isa finds them.
 */
#include "core/kernels/table.h"

#if defined(__AVX2__) && !defined(NN_PLAIN_KERNELS)

#include <math.h>
#include <string.h>

/* clang-format off */
#include "core/kernels/vector_simd.h"
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

const struct nn_kernels nn_kernels_avx2 = {.isa = NN_ISA_AVX2,
#define ROW(name, tag) .name = row_##name,
                                           NN_KERNEL_ROWS(ROW)
#undef ROW
};

#endif
