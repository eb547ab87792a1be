/* SPDX-License-Identifier: MIT
 *
 * One vocabulary for the vectors of AVX2 and AVX-512, so that a kernel is written once: `vf` is a
 * vector of VF floats. Included by table_avx2.c and table_avx512.c, which are compiled for their
 * instruction set.
 */
#include <immintrin.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
/* Loops over a register block have constant bounds; unrolled, their arrays live in registers. */
#define UNROLL _Pragma("GCC unroll 16")

#if defined(__AVX512F__)

#define VF      ((size_t)16)
#define VF_REGS 32
typedef __m512 vf;

ALWAYS_INLINE vf vf_zero(void)
{
    return _mm512_setzero_ps();
}

ALWAYS_INLINE vf vf_all(float x)
{
    return _mm512_set1_ps(x);
}

ALWAYS_INLINE vf vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

ALWAYS_INLINE void vf_store(float *p, vf x)
{
    _mm512_storeu_ps(p, x);
}

ALWAYS_INLINE __mmask16 vf_mask(size_t n)
{
    return (__mmask16)((1u << n) - 1u);
}

ALWAYS_INLINE vf vf_load_part(const float *p, size_t n)
{
    return _mm512_maskz_loadu_ps(vf_mask(n), p);
}

ALWAYS_INLINE void vf_store_part(float *p, vf x, size_t n)
{
    _mm512_mask_storeu_ps(p, vf_mask(n), x);
}

ALWAYS_INLINE vf vf_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}

ALWAYS_INLINE vf vf_sub(vf a, vf b)
{
    return _mm512_sub_ps(a, b);
}

/* a * b + c, rounded once */
ALWAYS_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}

ALWAYS_INLINE vf vf_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}

ALWAYS_INLINE vf vf_div(vf a, vf b)
{
    return _mm512_div_ps(a, b);
}

/* b where either is NaN */
ALWAYS_INLINE vf vf_min(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}

ALWAYS_INLINE vf vf_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}

/* to the nearest whole number */
ALWAYS_INLINE vf vf_round(vf x)
{
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* x * 2^n for whole n in [-126, 127] */
ALWAYS_INLINE vf vf_times_power(vf x, vf n)
{
    return _mm512_scalef_ps(x, n);
}

ALWAYS_INLINE vf vf_abs(vf x)
{
    return _mm512_abs_ps(x);
}

/* The size of x with the sign of sign. */
ALWAYS_INLINE vf vf_with_sign(vf x, vf sign)
{
    __m512 bit = _mm512_set1_ps(-0.0F);
    return _mm512_or_ps(_mm512_andnot_ps(bit, x), _mm512_and_ps(bit, sign));
}

/* a < b ? x : y */
ALWAYS_INLINE vf vf_where_less(vf a, vf b, vf x, vf y)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
}

/* max(x, 0); a NaN stays */
ALWAYS_INLINE vf vf_relu(vf x)
{
    return _mm512_max_ps(_mm512_setzero_ps(), x);
}

/* x where a > 0, else 0 */
ALWAYS_INLINE vf vf_where_positive(vf a, vf x)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_GT_OQ), x);
}

ALWAYS_INLINE float vf_sum(vf x)
{
    return _mm512_reduce_add_ps(x);
}

#else

#define VF      ((size_t)8)
#define VF_REGS 16
typedef __m256 vf;

ALWAYS_INLINE vf vf_zero(void)
{
    return _mm256_setzero_ps();
}

ALWAYS_INLINE vf vf_all(float x)
{
    return _mm256_set1_ps(x);
}

ALWAYS_INLINE vf vf_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

ALWAYS_INLINE void vf_store(float *p, vf x)
{
    _mm256_storeu_ps(p, x);
}

/* n <= VF; lanes behind n are 0 and their memory is not touched. */
ALWAYS_INLINE vf vf_load_part(const float *p, size_t n)
{
    static const int32_t ones[2 * VF] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_maskload_ps(p,
                              _mm256_loadu_si256((const __m256i *)(const void *)(ones + VF - n)));
}

/* By halves: a masked store is slow on AMD's processors. */
ALWAYS_INLINE void vf_store_part(float *p, vf x, size_t n)
{
    __m128 half = _mm256_castps256_ps128(x);
    if (n == VF) {
        _mm256_storeu_ps(p, x);
        return;
    }
    if (n & 4) {
        _mm_storeu_ps(p, half);
        half = _mm256_extractf128_ps(x, 1);
        p += 4;
    }
    if (n & 2) {
        _mm_storel_pi((__m64 *)(void *)p, half);
        half = _mm_movehl_ps(half, half);
        p += 2;
    }
    if (n & 1) {
        _mm_store_ss(p, half);
    }
}

ALWAYS_INLINE vf vf_add(vf a, vf b)
{
    return _mm256_add_ps(a, b);
}

ALWAYS_INLINE vf vf_sub(vf a, vf b)
{
    return _mm256_sub_ps(a, b);
}

/* a * b + c, rounded once */
ALWAYS_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}

ALWAYS_INLINE vf vf_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}

ALWAYS_INLINE vf vf_div(vf a, vf b)
{
    return _mm256_div_ps(a, b);
}

/* b where either is NaN */
ALWAYS_INLINE vf vf_min(vf a, vf b)
{
    return _mm256_min_ps(a, b);
}

ALWAYS_INLINE vf vf_max(vf a, vf b)
{
    return _mm256_max_ps(a, b);
}

/* to the nearest whole number */
ALWAYS_INLINE vf vf_round(vf x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* x * 2^n for whole n in [-126, 127] */
ALWAYS_INLINE vf vf_times_power(vf x, vf n)
{
    __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_mul_ps(x, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
}

ALWAYS_INLINE vf vf_abs(vf x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x);
}

/* The size of x with the sign of sign. */
ALWAYS_INLINE vf vf_with_sign(vf x, vf sign)
{
    __m256 bit = _mm256_set1_ps(-0.0F);
    return _mm256_or_ps(_mm256_andnot_ps(bit, x), _mm256_and_ps(bit, sign));
}

/* a < b ? x : y */
ALWAYS_INLINE vf vf_where_less(vf a, vf b, vf x, vf y)
{
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}

/* max(x, 0); a NaN stays */
ALWAYS_INLINE vf vf_relu(vf x)
{
    return _mm256_max_ps(_mm256_setzero_ps(), x);
}

/* x where a > 0, else 0 */
ALWAYS_INLINE vf vf_where_positive(vf a, vf x)
{
    return _mm256_and_ps(_mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_GT_OQ), x);
}

ALWAYS_INLINE float vf_sum(vf x)
{
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
}

#endif
