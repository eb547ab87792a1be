/* SPDX-License-Identifier: MIT
 *
 * Batch normalisation rows of the vector tables. Sums run down strips of columns whose totals stay
 * in registers; a chunk is small enough for float totals, chunks are added in double.
 */

#define MOMENT_VECTORS ((size_t)2)
#define SUMS_VECTORS   ((size_t)2)

/* Calls fn for strips of up to `vectors` vectors: fn(s, column, lanes of the last vector, vectors).
 */
#define FOR_STRIPS(s, vectors, fn)                                                                 \
    for (size_t column = 0; column < (s)->columns; column += (vectors)*VF) {                       \
        size_t left = (s)->columns - column;                                                       \
        if (left > VF) {                                                                           \
            fn(s, column, left < 2 * VF ? left - VF : VF, 2);                                      \
        } else {                                                                                   \
            fn(s, column, left, 1);                                                                \
        }                                                                                          \
    }

ALWAYS_INLINE vf strip_load(const float *p, size_t i, size_t last, const size_t v)
{
    return i + 1 == v ? vf_load_part(p + i * VF, last) : vf_load(p + i * VF);
}

ALWAYS_INLINE void moments_strip(const struct nn_moments_args *s, size_t column, size_t last,
                                 const size_t v)
{
    vf sum[MOMENT_VECTORS], mean[MOMENT_VECTORS], rest[MOMENT_VECTORS], squares[MOMENT_VECTORS];
    float means[VF], rests[VF], squared[VF];
    UNROLL
    for (size_t i = 0; i < v; i++) {
        sum[i] = rest[i] = squares[i] = vf_zero();
    }
    const float *x = s->x + column;
    for (size_t r = 0; r < s->rows; r++, x += s->ldx) {
        UNROLL
        for (size_t i = 0; i < v; i++) {
            sum[i] = vf_add(sum[i], strip_load(x, i, last, v));
        }
    }
    vf share = vf_all(1 / (float)s->rows);
    UNROLL
    for (size_t i = 0; i < v; i++) {
        mean[i] = vf_fma(sum[i], share, vf_zero());
    }
    x = s->x + column;
    for (size_t r = 0; r < s->rows; r++, x += s->ldx) {
        UNROLL
        for (size_t i = 0; i < v; i++) {
            vf d = vf_sub(strip_load(x, i, last, v), mean[i]);
            rest[i] = vf_add(rest[i], d);
            squares[i] = vf_fma(d, d, squares[i]);
        }
    }
    for (size_t i = 0; i < v; i++) {
        vf_store(means, mean[i]);
        vf_store(rests, rest[i]);
        vf_store(squared, squares[i]);
        for (size_t c = 0; c < (i + 1 == v ? last : VF); c++) {
            double left = (double)rests[c] / (double)s->rows;
            s->mean[column + i * VF + c] = (double)means[c] + left;
            s->deviations[column + i * VF + c] = (double)squared[c] - (double)rests[c] * left;
        }
    }
}

static void row_moments(const struct nn_moments_args *s){
    FOR_STRIPS(s, MOMENT_VECTORS, moments_strip)}

ALWAYS_INLINE void apply_vectors(const struct nn_norm_args *s, const float *x, float *y, size_t c,
                                 size_t lanes)
{
    vf centred = vf_sub(vf_load_part(x + c, lanes), vf_load_part(s->mean + c, lanes));
    vf value =
        vf_fma(centred, vf_load_part(s->factor + c, lanes), vf_load_part(s->shift + c, lanes));
    vf_store_part(y + c, s->relu ? vf_relu(value) : value, lanes);
}

static void row_norm_apply(const struct nn_norm_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const float *x = s->x + r * s->ldx;
        float *y = s->y + r * s->ldy;
        size_t c = 0;
        for (; c + VF <= s->columns; c += VF) {
            vf value = vf_fma(vf_sub(vf_load(x + c), vf_load(s->mean + c)), vf_load(s->factor + c),
                              vf_load(s->shift + c));
            vf_store(y + c, s->relu ? vf_relu(value) : value);
        }
        if (c < s->columns) {
            apply_vectors(s, x, y, c, s->columns - c);
        }
    }
}

ALWAYS_INLINE void sums_strip(const struct nn_norm_sums_args *s, size_t column, size_t last,
                              const size_t v)
{
    vf mean[SUMS_VECTORS], factor[SUMS_VECTORS], shift[SUMS_VECTORS];
    vf sums[SUMS_VECTORS], products[SUMS_VECTORS];
    float out[VF], out_products[VF];
    UNROLL
    for (size_t i = 0; i < v; i++) {
        mean[i] = strip_load(s->mean + column, i, last, v);
        factor[i] = strip_load(s->factor + column, i, last, v);
        shift[i] = strip_load(s->shift + column, i, last, v);
        sums[i] = products[i] = vf_zero();
    }
    const float *x = s->x + column, *d_y = s->d_y + column;
    for (size_t r = 0; r < s->rows; r++, x += s->ldx, d_y += s->ldd_y) {
        UNROLL
        for (size_t i = 0; i < v; i++) {
            vf centred = vf_sub(strip_load(x, i, last, v), mean[i]);
            vf d = strip_load(d_y, i, last, v);
            if (s->relu) {
                d = vf_where_positive(vf_fma(centred, factor[i], shift[i]), d);
            }
            sums[i] = vf_add(sums[i], d);
            products[i] = vf_fma(d, centred, products[i]);
        }
    }
    for (size_t i = 0; i < v; i++) {
        vf_store(out, sums[i]);
        vf_store(out_products, products[i]);
        for (size_t c = 0; c < (i + 1 == v ? last : VF); c++) {
            s->sums[column + i * VF + c] = (double)out[c];
            s->products[column + i * VF + c] = (double)out_products[c];
        }
    }
}

static void row_norm_sums(const struct nn_norm_sums_args *s){
    FOR_STRIPS(s, SUMS_VECTORS, sums_strip)}

ALWAYS_INLINE void gradient_vector(const struct nn_norm_gradient_args *s, const float *x,
                                   const float *d_y, float *d_x, size_t c, size_t lanes)
{
    vf centred = vf_sub(vf_load_part(x + c, lanes), vf_load_part(s->mean + c, lanes));
    vf factor = vf_load_part(s->factor + c, lanes), d = vf_load_part(d_y + c, lanes);
    if (s->relu) {
        d = vf_where_positive(vf_fma(centred, factor, vf_load_part(s->shift + c, lanes)), d);
    }
    vf value =
        vf_fma(centred, vf_load_part(s->slope + c, lanes), vf_load_part(s->offset + c, lanes));
    value = vf_fma(factor, d, value);
    if (s->accumulate) {
        value = vf_add(value, vf_load_part(d_x + c, lanes));
    }
    vf_store_part(d_x + c, value, lanes);
}

static void row_norm_gradient(const struct nn_norm_gradient_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const float *x = s->x + r * s->ldx, *d_y = s->d_y + r * s->ldd_y;
        float *d_x = s->d_x + r * s->ldd_x;
        size_t c = 0;
        for (; c + VF <= s->columns; c += VF) {
            gradient_vector(s, x, d_y, d_x, c, VF);
        }
        if (c < s->columns) {
            gradient_vector(s, x, d_y, d_x, c, s->columns - c);
        }
    }
}
