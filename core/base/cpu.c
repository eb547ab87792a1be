/* SPDX-License-Identifier: MIT
 *
 * cpuid and the floating-point control register. On other processors than x86-64 everything is
 * plain.
 */
#include "core/base/cpu.h"

#include <stdio.h>
#include <string.h>

static const char *const ISA_NAMES[NN_ISA_COUNT] = {
    [NN_ISA_PLAIN] = "plain", [NN_ISA_AVX2] = "avx2", [NN_ISA_AVX512] = "avx512"};

const char *nn_isa_name(enum nn_isa isa)
{
    return ISA_NAMES[isa];
}

enum nn_status nn_isa_parse(const char *name, enum nn_isa *out_isa, struct nn_error *err)
{
    for (int i = 0; i < NN_ISA_COUNT; i++) {
        if (strcmp(name, ISA_NAMES[i]) == 0) {
            *out_isa = (enum nn_isa)i;
            return NN_OK;
        }
    }
    return nn_fail(err, NN_ERR_INVALID, "instruction set '%.40s': plain, avx2 or avx512", name);
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

/* Bits 15 and 6 of MXCSR. */
#define MXCSR_FTZ_DAZ 0x8040u

/* Bit 29 of ecx; clang 14 has no name for it. */
static bool cpu_has_f16c(void)
{
    unsigned eax;
    unsigned ebx;
    unsigned ecx;
    unsigned edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & (1u << 29));
}

/* __builtin_cpu_supports also asks the operating system whether it saves the registers. */
enum nn_isa nn_cpu_isa(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !cpu_has_f16c()) {
        return NN_ISA_PLAIN;
    }
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return wide ? NN_ISA_AVX512 : NN_ISA_AVX2;
}

const char *nn_cpu_openblas_core_type(void)
{
    switch (nn_cpu_isa()) {
    case NN_ISA_AVX512:
        return "SkylakeX";
    case NN_ISA_AVX2:
        return "Haswell";
    case NN_ISA_PLAIN:
    case NN_ISA_COUNT:
        break;
    }
    return __builtin_cpu_supports("sse4.2") ? "Nehalem" : "Prescott";
}

static size_t brand_string(char brand[49])
{
    unsigned words[12] = {0};
    for (unsigned i = 0; i < 3; i++) {
        unsigned *w = words + (size_t)4 * i;
        if (!__get_cpuid(0x80000002u + i, &w[0], &w[1], &w[2], &w[3])) {
            return 0;
        }
    }
    memcpy(brand, words, sizeof words);
    brand[48] = '\0';
    size_t size = strlen(brand);
    while (size > 0 && brand[size - 1] == ' ') {
        brand[--size] = '\0';
    }
    return size;
}

void nn_cpu_name(char *out_name, size_t size)
{
    char brand[49];
    const char *name = brand_string(brand) > 0 ? brand : "unknown";
    (void)snprintf(out_name, size, "%s", name + strspn(name, " "));
}

void nn_cpu_flush_denormals(void)
{
    _mm_setcsr(_mm_getcsr() | MXCSR_FTZ_DAZ);
}

bool nn_cpu_flushes_denormals(void)
{
    return (_mm_getcsr() & MXCSR_FTZ_DAZ) == MXCSR_FTZ_DAZ;
}

#else

enum nn_isa nn_cpu_isa(void)
{
    return NN_ISA_PLAIN;
}

const char *nn_cpu_openblas_core_type(void)
{
    return "Generic";
}

void nn_cpu_name(char *out_name, size_t size)
{
    (void)snprintf(out_name, size, "unknown");
}

void nn_cpu_flush_denormals(void)
{
}

bool nn_cpu_flushes_denormals(void)
{
    return false;
}

#endif
