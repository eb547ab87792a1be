/* SPDX-License-Identifier: MIT
 *
 * Activations on vectors; the exponential functions are those of lstm_simd.h. Included once by each
 * vector table.
 */

/* f(a), or a slope at a. */
typedef vf (*activation_vf)(vf a, vf slope);

/* n is VF or, for a rest, less. */
ALWAYS_INLINE void differentiate_vf(float *y, const float *a, vf slope, bool accumulate,
                                    const size_t n)
{
    vf d = vf_mul(lstm_load(a, n), slope);
    lstm_store(y, accumulate ? vf_add(lstm_load(y, n), d) : d, n);
}

ALWAYS_INLINE void activate(const struct nn_map_args *s, activation_vf f)
{
    vf slope = vf_all(s->slope);
    for (size_t r = 0; r < s->rows; r++) {
        const float *a = s->a + r * s->lda;
        float *y = s->y + r * s->ldy;
        size_t c = 0;
        for (; c + VF <= s->columns; c += VF) {
            vf_store(y + c, f(vf_load(a + c), slope));
        }
        if (c < s->columns) {
            size_t n = s->columns - c;
            vf_store_part(y + c, f(vf_load_part(a + c, n), slope), n);
        }
    }
}

ALWAYS_INLINE void differentiate(const struct nn_map_args *s, activation_vf f)
{
    vf slope = vf_all(s->slope);
    for (size_t r = 0; r < s->rows; r++) {
        const float *a = s->a + r * s->lda, *b = s->b + r * s->ldb;
        float *y = s->y + r * s->ldy;
        size_t c = 0;
        for (; c + VF <= s->columns; c += VF) {
            differentiate_vf(y + c, a + c, f(vf_load(b + c), slope), s->accumulate, VF);
        }
        if (c < s->columns) {
            size_t n = s->columns - c;
            differentiate_vf(y + c, a + c, f(vf_load_part(b + c, n), slope), s->accumulate, n);
        }
    }
}

/* The normal distribution, half of erfc z = t exp(p(t) - z^2) below 0, with z = |x| / sqrt 2 and
 * t = 1 / (1 + z / 2): Numerical Recipes' erfcc, whose relative error is below 1.2e-7. */
ALWAYS_INLINE vf normal_below(vf x)
{
    vf z = vf_mul(vf_abs(x), vf_all(0.70710678F));
    vf t = vf_div(vf_all(1), vf_fma(z, vf_all(0.5F), vf_all(1)));
    vf p = vf_all(0.17087277F);
    p = vf_fma(p, t, vf_all(-0.82215223F));
    p = vf_fma(p, t, vf_all(1.48851587F));
    p = vf_fma(p, t, vf_all(-1.13520398F));
    p = vf_fma(p, t, vf_all(0.27886807F));
    p = vf_fma(p, t, vf_all(-0.18628806F));
    p = vf_fma(p, t, vf_all(0.09678418F));
    p = vf_fma(p, t, vf_all(0.37409196F));
    p = vf_fma(p, t, vf_all(1.00002368F));
    p = vf_fma(p, t, vf_all(-1.26551223F));
    vf tail = vf_mul(t, vf_exp(vf_sub(p, vf_mul(z, z))));
    vf half = vf_mul(tail, vf_all(0.5F));
    return vf_where_less(x, vf_zero(), half, vf_sub(vf_all(1), half));
}

ALWAYS_INLINE vf absolute_at(vf x, vf slope)
{
    (void)slope;
    return vf_abs(x);
}

ALWAYS_INLINE vf d_absolute(vf x, vf slope)
{
    (void)slope;
    return vf_where_positive(vf_abs(x), vf_with_sign(vf_all(1), x));
}

ALWAYS_INLINE vf sigmoid_at(vf x, vf slope)
{
    (void)slope;
    return vf_sigmoid(x);
}

ALWAYS_INLINE vf d_sigmoid(vf y, vf slope)
{
    (void)slope;
    return vf_mul(y, vf_sub(vf_all(1), y));
}

ALWAYS_INLINE vf tanh_at(vf x, vf slope)
{
    (void)slope;
    return vf_tanh(x);
}

ALWAYS_INLINE vf d_tanh(vf y, vf slope)
{
    (void)slope;
    return vf_sub(vf_all(1), vf_mul(y, y));
}

ALWAYS_INLINE vf leaky_relu_at(vf x, vf slope)
{
    return vf_where_less(vf_zero(), x, x, vf_mul(slope, x));
}

ALWAYS_INLINE vf d_leaky_relu(vf y, vf slope)
{
    return vf_where_less(vf_zero(), y, vf_all(1), slope);
}

ALWAYS_INLINE vf elu_at(vf x, vf slope)
{
    vf bent = vf_mul(slope, vf_sub(vf_exp(x), vf_all(1)));
    return vf_where_less(vf_zero(), x, x, bent);
}

ALWAYS_INLINE vf d_elu(vf y, vf slope)
{
    return vf_where_less(vf_zero(), y, vf_all(1), vf_add(y, slope));
}

ALWAYS_INLINE vf gelu_at(vf x, vf slope)
{
    (void)slope;
    return vf_mul(x, normal_below(x));
}

ALWAYS_INLINE vf d_gelu(vf x, vf slope)
{
    (void)slope;
    vf bell = vf_exp(vf_mul(vf_mul(x, x), vf_all(-0.5F)));
    return vf_fma(vf_mul(x, vf_all(0.39894228F)), bell, normal_below(x));
}

ALWAYS_INLINE vf silu_at(vf x, vf slope)
{
    (void)slope;
    return vf_mul(x, vf_sigmoid(x));
}

ALWAYS_INLINE vf d_silu(vf x, vf slope)
{
    (void)slope;
    vf s = vf_sigmoid(x);
    return vf_mul(s, vf_fma(x, vf_sub(vf_all(1), s), vf_all(1)));
}

ALWAYS_INLINE vf hard_swish_at(vf x, vf slope)
{
    (void)slope;
    vf gate = vf_min(vf_max(vf_add(x, vf_all(3)), vf_zero()), vf_all(6));
    return vf_mul(x, vf_mul(gate, vf_all(1.0F / 6)));
}

ALWAYS_INLINE vf d_hard_swish(vf x, vf slope)
{
    (void)slope;
    vf between = vf_fma(x, vf_all(1.0F / 3), vf_all(0.5F));
    vf above = vf_where_less(vf_all(3), x, vf_all(1), between);
    return vf_where_less(x, vf_all(-3), vf_zero(), above);
}

/* The two rows of an activation. */
#define ACTIVATION(name)                                                                           \
    static void row_##name(const struct nn_map_args *s)                                            \
    {                                                                                              \
        activate(s, name##_at);                                                                    \
    }                                                                                              \
    static void row_##name##_gradient(const struct nn_map_args *s)                                 \
    {                                                                                              \
        differentiate(s, d_##name);                                                                \
    }

ACTIVATION(absolute)
ACTIVATION(sigmoid)
ACTIVATION(tanh)
ACTIVATION(leaky_relu)
ACTIVATION(elu)
ACTIVATION(gelu)
ACTIVATION(silu)
ACTIVATION(hard_swish)
#undef ACTIVATION
