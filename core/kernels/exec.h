/* SPDX-License-Identifier: MIT
 *
 * With what an operation runs: a table of inner loops, threads and scratch memory.
 */
#ifndef NN_KERNELS_EXEC_H
#define NN_KERNELS_EXEC_H

#include "core/base/base.h"
#include "core/base/cpu.h"
#include "core/base/parallel.h"

/* The inner loops of one instruction set; immutable. */
struct nn_kernels;

/* NULL when this processor cannot run isa. In MODE=f64 only NN_ISA_PLAIN exists. */
const struct nn_kernels *nn_kernels_get(enum nn_isa isa);
const struct nn_kernels *nn_kernels_best(void);
enum nn_isa nn_kernels_isa(const struct nn_kernels *kernels);

/* workspace: at a 64-byte boundary and as large as the largest <operation>_workspace() of the
 * operations to run (bytes; lanes = nn_pool_lanes(pool)). Every operation may overwrite it and none
 * keeps anything there. One caller at a time. */
struct nn_exec {
    const struct nn_kernels *kernels;
    struct nn_pool *pool; /* NULL: the caller's thread only */
    void *workspace;
    size_t workspace_bytes;
};

/* Start-up test of the matrix product against a plain loop: odd shapes, k = 0, transposes, NaN in
 * an output that must be overwritten. NN_ERR_INTERNAL: do not train on this machine; err names the
 * shape. Allocates nothing. */
NN_MUST_CHECK enum nn_status nn_kernels_self_test(const struct nn_kernels *kernels,
                                                  struct nn_error *err);

/* OpenBLAS in use, for records and warnings: its core ("Haswell") and its configuration string. */
const char *nn_blas_core(void);
const char *nn_blas_config(void);

#endif
