/* SPDX-License-Identifier: MIT
 *
 * Which table to use, and the names of its rows.
 */
#include "core/kernels/table.h"

#include "core/kernels/blas_internal.h"

static const char *const ROW_NAMES[NN_KERNEL_COUNT] = {
#define ROW_NAME(name, tag) #name,
    NN_KERNEL_ROWS(ROW_NAME)
#undef ROW_NAME
};

const char *nn_kernel_name(enum nn_kernel_row row)
{
    return ROW_NAMES[row];
}

static const struct nn_kernels *table_of(enum nn_isa isa)
{
    switch (isa) {
    case NN_ISA_PLAIN:
        return &nn_kernels_plain;
#if defined(__x86_64__) && !defined(NN_PLAIN_KERNELS)
    case NN_ISA_AVX2:
        return &nn_kernels_avx2;
    case NN_ISA_AVX512:
        return &nn_kernels_avx512;
#else
    case NN_ISA_AVX2:
    case NN_ISA_AVX512:
#endif
    case NN_ISA_COUNT:
        break;
    }
    return NULL;
}

const struct nn_kernels *nn_kernels_get(enum nn_isa isa)
{
    nn_blas_use_one_thread();
    return isa <= nn_cpu_isa() ? table_of(isa) : NULL;
}

const struct nn_kernels *nn_kernels_best(void)
{
    const struct nn_kernels *best = nn_kernels_get(nn_cpu_isa());
    return best ? best : nn_kernels_get(NN_ISA_PLAIN);
}

enum nn_isa nn_kernels_isa(const struct nn_kernels *kernels)
{
    return kernels->isa;
}
