/* SPDX-License-Identifier: MIT
 *
 * What the processor can do: the instruction sets our kernels know, the name under which OpenBLAS
 * must be told of it, and the floating-point mode of a thread. Reads cpuid only; sets no
 * environment (OpenBLAS reads OPENBLAS_CORETYPE before main, so whoever starts a process sets it).
 */
#ifndef NN_BASE_CPU_H
#define NN_BASE_CPU_H

#include "core/base/base.h"

/* Ordered: a processor that has one has those before it. */
enum nn_isa { NN_ISA_PLAIN, NN_ISA_AVX2, NN_ISA_AVX512, NN_ISA_COUNT };

/* "plain", "avx2", "avx512". */
const char *nn_isa_name(enum nn_isa isa);

/* By name; NN_ERR_INVALID for another one. Does not ask the processor. */
NN_MUST_CHECK enum nn_status nn_isa_parse(const char *name, enum nn_isa *out_isa,
                                          struct nn_error *err);

/* The best one that processor and operating system support. AVX2 means AVX2, FMA and F16C; AVX512
 * means F, BW, DQ and VL. */
enum nn_isa nn_cpu_isa(void);

/* Value of OPENBLAS_CORETYPE for this processor: "SkylakeX", "Haswell", "Nehalem" or "Prescott".
 * OpenBLAS 0.3.21 takes processors it does not know for a Prescott, which is up to 8 times slower.
 */
const char *nn_cpu_openblas_core_type(void);

/* Brand string of cpuid, trimmed, NUL-terminated; "unknown" where there is none. */
void nn_cpu_name(char *out_name, size_t size);

/* Denormal results and operands of the calling thread become zero from now on (they slow kernels by
 * 60 times and more). Part of the result: recorded with each attempt. */
void nn_cpu_flush_denormals(void);
bool nn_cpu_flushes_denormals(void);

#endif
