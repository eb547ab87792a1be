/* SPDX-License-Identifier: MIT
 *
 * Tiles of attention on vectors; the exponential function is that of lstm_simd.h. Included once by
 * each vector table.
 */

ALWAYS_INLINE float largest_score(const float *x, size_t n, float max)
{
    size_t c = 0;
    if (n >= VF) {
        float lanes[VF];
        vf largest = vf_load(x);
        for (c = VF; c + VF <= n; c += VF) {
            largest = vf_max(vf_load(x + c), largest);
        }
        vf_store(lanes, largest);
        for (size_t i = 0; i < VF; i++) {
            max = lanes[i] > max ? lanes[i] : max;
        }
    }
    for (; c < n; c++) {
        max = x[c] > max ? x[c] : max;
    }
    return max;
}

/* x = e^(x - max) of n numbers; their sum. */
ALWAYS_INLINE float score_exponentials(float *x, size_t n, float max)
{
    vf sum = vf_zero(), m = vf_all(max);
    size_t c = 0;
    for (; c + VF <= n; c += VF) {
        vf e = vf_exp(vf_sub(vf_load(x + c), m));
        vf_store(x + c, e);
        sum = vf_add(sum, e);
    }
    if (c < n) {
        vf_store_part(x + c, vf_exp(vf_sub(vf_load_part(x + c, n - c), m)), n - c);
        sum = vf_add(sum, vf_load_part(x + c, n - c));
    }
    return vf_sum(sum);
}

ALWAYS_INLINE void scale_row(float *x, size_t n, float factor)
{
    size_t c = 0;
    for (; c + VF <= n; c += VF) {
        vf_store(x + c, vf_mul(vf_load(x + c), vf_all(factor)));
    }
    for (; c < n; c++) {
        x[c] *= factor;
    }
}

static void row_attention_softmax(const struct nn_attention_softmax_args *s)
{
    for (size_t r = 0; r < s->tile.rows; r++) {
        float *p = s->s + r * s->lds, *o = s->o + r * s->ldo;
        size_t seen = nn_attention_seen(&s->tile, r);
        float before = s->first ? p[0] : s->max[r];
        float max = largest_score(p, seen, before);
        float sum = score_exponentials(p, seen, max);
        memset(p + seen, 0, (s->tile.columns - seen) * sizeof *p);
        if (s->first) {
            memset(o, 0, s->o_columns * sizeof *o);
            s->sum[r] = sum;
        } else {
            float factor = expf(before - max);
            s->sum[r] = s->sum[r] * factor + sum;
            if (factor != 1) {
                scale_row(o, s->o_columns, factor);
            }
        }
        s->max[r] = max;
    }
}

static void row_attention_gradient(const struct nn_attention_gradient_args *s)
{
    for (size_t r = 0; r < s->tile.rows; r++) {
        float *p = s->s + r * s->lds, *d = s->d_s + r * s->ldd_s;
        size_t seen = nn_attention_seen(&s->tile, r), c = 0;
        vf log_sum = vf_all(s->log_sum[r]), dot = vf_all(s->dot[r]);
        for (; c < seen; c += VF) {
            size_t n = seen - c < VF ? seen - c : VF;
            vf e = vf_exp(vf_sub(lstm_load(p + c, n), log_sum));
            lstm_store(p + c, e, n);
            lstm_store(d + c, vf_mul(e, vf_sub(lstm_load(d + c, n), dot)), n);
        }
        memset(p + seen, 0, (s->tile.columns - seen) * sizeof *p);
        memset(d + seen, 0, (s->tile.columns - seen) * sizeof *d);
    }
}
