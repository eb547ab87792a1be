/* SPDX-License-Identifier: MIT
 *
 * Gates of an LSTM on vectors, and the functions they need. exp: x = n ln 2 + r with |r| <= ln 2 /
 * 2 and a polynomial in r (Cephes' expf, about one unit in the last place). tanh: a polynomial near
 * 0 (Cephes' tanhf), 1 - 2 / (exp(2x) + 1) elsewhere. NaN stays NaN: minima and maxima give their
 * second operand then.
 */

ALWAYS_INLINE vf vf_exp(vf x)
{
    x = vf_max(vf_all(-87.3F), vf_min(vf_all(88.3F), x));
    vf n = vf_round(vf_mul(x, vf_all(1.44269504F)));
    vf r = vf_fma(n, vf_all(-0.693359375F), x);
    r = vf_fma(n, vf_all(2.12194440e-4F), r);
    vf p = vf_all(1.9875691500e-4F);
    p = vf_fma(p, r, vf_all(1.3981999507e-3F));
    p = vf_fma(p, r, vf_all(8.3334519073e-3F));
    p = vf_fma(p, r, vf_all(4.1665795894e-2F));
    p = vf_fma(p, r, vf_all(1.6666665459e-1F));
    p = vf_fma(p, r, vf_all(5.0000001201e-1F));
    p = vf_fma(p, vf_mul(r, r), vf_add(r, vf_all(1)));
    return vf_times_power(p, n);
}

ALWAYS_INLINE vf vf_sigmoid(vf x)
{
    vf e = vf_exp(vf_sub(vf_zero(), x));
    return vf_div(vf_all(1), vf_add(vf_all(1), e));
}

ALWAYS_INLINE vf vf_tanh(vf x)
{
    vf size = vf_abs(x), s = vf_mul(x, x);
    vf p = vf_all(-5.70498872745e-3F);
    p = vf_fma(p, s, vf_all(2.06390887954e-2F));
    p = vf_fma(p, s, vf_all(-5.37397155531e-2F));
    p = vf_fma(p, s, vf_all(1.33314422036e-1F));
    p = vf_fma(p, s, vf_all(-3.33332819422e-1F));
    vf near = vf_fma(vf_mul(p, s), x, x);
    vf e = vf_add(vf_exp(vf_add(size, size)), vf_all(1));
    vf far = vf_sub(vf_all(1), vf_div(vf_all(2), e));
    return vf_where_less(size, vf_all(0.625F), near, vf_with_sign(far, x));
}

/* n is VF or, for a rest, less. */
ALWAYS_INLINE vf lstm_load(const float *p, const size_t n)
{
    return n == VF ? vf_load(p) : vf_load_part(p, n);
}

ALWAYS_INLINE void lstm_store(float *p, vf x, const size_t n)
{
    if (n == VF) {
        vf_store(p, x);
    } else {
        vf_store_part(p, x, n);
    }
}

ALWAYS_INLINE void lstm_units(const struct nn_cell_args *s, size_t r, size_t u, const size_t n)
{
    float *gates = s->gates + r * s->ldg + u;
    vf i = vf_sigmoid(lstm_load(gates, n));
    vf f = vf_sigmoid(lstm_load(gates + s->stride, n));
    vf g = vf_tanh(lstm_load(gates + 2 * s->stride, n));
    vf o = vf_sigmoid(lstm_load(gates + 3 * s->stride, n));
    vf c = vf_mul(i, g);
    if (s->before) {
        c = vf_fma(f, lstm_load(s->before + r * s->ldb + u, n), c);
    }
    lstm_store(gates, i, n);
    lstm_store(gates + s->stride, f, n);
    lstm_store(gates + 2 * s->stride, g, n);
    lstm_store(gates + 3 * s->stride, o, n);
    lstm_store(s->c + r * s->ldc + u, c, n);
    lstm_store(s->h + r * s->ldh + u, vf_mul(o, vf_tanh(c)), n);
}

static void row_lstm(const struct nn_cell_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        size_t u = 0;
        for (; u + VF <= s->units; u += VF) {
            lstm_units(s, r, u, VF);
        }
        if (u < s->units) {
            lstm_units(s, r, u, s->units - u);
        }
    }
}

/* x * (1 - x) */
ALWAYS_INLINE vf sigmoid_slope(vf x)
{
    return vf_mul(x, vf_sub(vf_all(1), x));
}

ALWAYS_INLINE vf tanh_slope(vf x)
{
    return vf_sub(vf_all(1), vf_mul(x, x));
}

ALWAYS_INLINE void lstm_gradient_units(const struct nn_cell_gradient_args *s, size_t r, size_t u,
                                       const size_t n)
{
    float *gates = s->gates + r * s->ldg + u, *d_c = s->d_c + r * s->ldd + u;
    vf i = lstm_load(gates, n), f = lstm_load(gates + s->stride, n);
    vf g = lstm_load(gates + 2 * s->stride, n), o = lstm_load(gates + 3 * s->stride, n);
    vf t = vf_tanh(lstm_load(s->c + r * s->ldc + u, n));
    vf d = lstm_load(s->d_h + r * s->ldd + u, n);
    vf before = vf_zero();
    if (s->d_y) {
        d = vf_add(d, lstm_load(s->d_y + r * s->ldd_y + u, n));
    }
    if (s->before) {
        before = lstm_load(s->before + r * s->ldb + u, n);
    }
    vf e = vf_fma(vf_mul(d, o), tanh_slope(t), lstm_load(d_c, n));
    lstm_store(gates, vf_mul(vf_mul(e, g), sigmoid_slope(i)), n);
    lstm_store(gates + s->stride, vf_mul(vf_mul(e, before), sigmoid_slope(f)), n);
    lstm_store(gates + 2 * s->stride, vf_mul(vf_mul(e, i), tanh_slope(g)), n);
    lstm_store(gates + 3 * s->stride, vf_mul(vf_mul(d, t), sigmoid_slope(o)), n);
    lstm_store(d_c, vf_mul(e, f), n);
}

static void row_lstm_gradient(const struct nn_cell_gradient_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        size_t u = 0;
        for (; u + VF <= s->units; u += VF) {
            lstm_gradient_units(s, r, u, VF);
        }
        if (u < s->units) {
            lstm_gradient_units(s, r, u, s->units - u);
        }
    }
}
