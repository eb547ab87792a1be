/* SPDX-License-Identifier: MIT
 *
 * Gates of a GRU on vectors. Included once by each vector table, behind lstm_simd.h, whose
 * exponential functions it uses.
 */

ALWAYS_INLINE void gru_units(const struct nn_cell_args *s, size_t r, size_t u, const size_t n)
{
    float *gates = s->gates + r * s->ldg + u;
    vf reset = vf_sigmoid(lstm_load(gates + s->stride, n));
    vf z = vf_sigmoid(lstm_load(gates + 2 * s->stride, n));
    vf sum = vf_fma(reset, lstm_load(gates + 3 * s->stride, n), lstm_load(gates, n));
    vf fresh = vf_tanh(sum);
    vf before = s->before ? lstm_load(s->before + r * s->ldb + u, n) : vf_zero();
    lstm_store(gates, fresh, n);
    lstm_store(gates + s->stride, reset, n);
    lstm_store(gates + 2 * s->stride, z, n);
    lstm_store(s->h + r * s->ldh + u, vf_fma(z, vf_sub(before, fresh), fresh), n);
}

static void row_gru(const struct nn_cell_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        size_t u = 0;
        for (; u + VF <= s->units; u += VF) {
            gru_units(s, r, u, VF);
        }
        if (u < s->units) {
            gru_units(s, r, u, s->units - u);
        }
    }
}

ALWAYS_INLINE void gru_gradient_units(const struct nn_cell_gradient_args *s, size_t r, size_t u,
                                      const size_t n)
{
    float *gates = s->gates + r * s->ldg + u, *d_h = s->d_h + r * s->ldd + u;
    vf fresh = lstm_load(gates, n), reset = lstm_load(gates + s->stride, n);
    vf z = lstm_load(gates + 2 * s->stride, n), a = lstm_load(gates + 3 * s->stride, n);
    vf before = s->before ? lstm_load(s->before + r * s->ldb + u, n) : vf_zero();
    vf d = lstm_load(d_h, n);
    if (s->d_y) {
        d = vf_add(d, lstm_load(s->d_y + r * s->ldd_y + u, n));
    }
    vf e = vf_mul(vf_mul(d, vf_sub(vf_all(1), z)), tanh_slope(fresh));
    lstm_store(gates, e, n);
    lstm_store(gates + s->stride, vf_mul(vf_mul(e, a), sigmoid_slope(reset)), n);
    lstm_store(gates + 2 * s->stride, vf_mul(vf_mul(d, vf_sub(before, fresh)), sigmoid_slope(z)),
               n);
    lstm_store(gates + 3 * s->stride, vf_mul(e, reset), n);
    lstm_store(d_h, vf_mul(d, z), n);
}

static void row_gru_gradient(const struct nn_cell_gradient_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        size_t u = 0;
        for (; u + VF <= s->units; u += VF) {
            gru_gradient_units(s, r, u, VF);
        }
        if (u < s->units) {
            gru_gradient_units(s, r, u, s->units - u);
        }
    }
}
