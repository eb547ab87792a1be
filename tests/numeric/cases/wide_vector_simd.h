/* SPDX-License-Identifier: MIT
 *
 * The vocabulary of core/kernels/vector_simd.h for a vector of 16 floats made of two AVX2 vectors:
 * lets processors without AVX-512 run the text of the AVX-512 table (its blocks, strips and rests),
 * if not its instructions.
 */
#include <immintrin.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLL        _Pragma("GCC unroll 16")
#define VF            ((size_t)16)
#define VF_REGS       32

typedef struct {
    __m256 low, high;
} vf;

ALWAYS_INLINE vf vf_zero(void)
{
    return (vf){_mm256_setzero_ps(), _mm256_setzero_ps()};
}

ALWAYS_INLINE vf vf_all(float x)
{
    return (vf){_mm256_set1_ps(x), _mm256_set1_ps(x)};
}

ALWAYS_INLINE vf vf_load(const float *p)
{
    return (vf){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}

ALWAYS_INLINE void vf_store(float *p, vf x)
{
    _mm256_storeu_ps(p, x.low);
    _mm256_storeu_ps(p + 8, x.high);
}

ALWAYS_INLINE vf vf_load_part(const float *p, size_t n)
{
    float lanes[16] = {0};
    memcpy(lanes, p, n * sizeof *p);
    return vf_load(lanes);
}

ALWAYS_INLINE void vf_store_part(float *p, vf x, size_t n)
{
    float lanes[16];
    vf_store(lanes, x);
    memcpy(p, lanes, n * sizeof *p);
}

ALWAYS_INLINE vf vf_add(vf a, vf b)
{
    return (vf){_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}

ALWAYS_INLINE vf vf_sub(vf a, vf b)
{
    return (vf){_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}

ALWAYS_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return (vf){_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}

ALWAYS_INLINE vf vf_mul(vf a, vf b)
{
    return (vf){_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}

ALWAYS_INLINE vf vf_div(vf a, vf b)
{
    return (vf){_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}

ALWAYS_INLINE vf vf_min(vf a, vf b)
{
    return (vf){_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}

ALWAYS_INLINE vf vf_max(vf a, vf b)
{
    return (vf){_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}

ALWAYS_INLINE vf vf_round(vf x)
{
    return (vf){_mm256_round_ps(x.low, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                _mm256_round_ps(x.high, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}

ALWAYS_INLINE __m256 half_times_power(__m256 x, __m256 n)
{
    __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_mul_ps(x, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
}

ALWAYS_INLINE vf vf_times_power(vf x, vf n)
{
    return (vf){half_times_power(x.low, n.low), half_times_power(x.high, n.high)};
}

ALWAYS_INLINE vf vf_abs(vf x)
{
    return (vf){_mm256_andnot_ps(_mm256_set1_ps(-0.0F), x.low),
                _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x.high)};
}

ALWAYS_INLINE __m256 half_with_sign(__m256 x, __m256 sign)
{
    __m256 bit = _mm256_set1_ps(-0.0F);
    return _mm256_or_ps(_mm256_andnot_ps(bit, x), _mm256_and_ps(bit, sign));
}

ALWAYS_INLINE vf vf_with_sign(vf x, vf sign)
{
    return (vf){half_with_sign(x.low, sign.low), half_with_sign(x.high, sign.high)};
}

ALWAYS_INLINE vf vf_where_less(vf a, vf b, vf x, vf y)
{
    return (vf){_mm256_blendv_ps(y.low, x.low, _mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ)),
                _mm256_blendv_ps(y.high, x.high, _mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ))};
}

ALWAYS_INLINE vf vf_relu(vf x)
{
    return (vf){_mm256_max_ps(_mm256_setzero_ps(), x.low),
                _mm256_max_ps(_mm256_setzero_ps(), x.high)};
}

ALWAYS_INLINE __m256 half_where_positive(__m256 a, __m256 x)
{
    return _mm256_and_ps(_mm256_cmp_ps(a, _mm256_setzero_ps(), _CMP_GT_OQ), x);
}

ALWAYS_INLINE vf vf_where_positive(vf a, vf x)
{
    return (vf){half_where_positive(a.low, x.low), half_where_positive(a.high, x.high)};
}

ALWAYS_INLINE float vf_sum(vf x)
{
    float lanes[16], sum = 0;
    vf_store(lanes, x);
    for (int i = 0; i < 16; i++) {
        sum += lanes[i];
    }
    return sum;
}
