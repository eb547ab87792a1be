/* SPDX-License-Identifier: MIT
 *
 * Normalisation within rows on vectors. Totals along a row are float, four vectors of them, so that
 * additions do not wait for each other. Included once by each vector table.
 */

#define ROW_TOTALS ((size_t)4)

/* What a total along a row needs to know. */
struct row_terms {
    const float *x, *d_y, *scale; /* d_y NULL: of x alone */
    vf mean, factor;
};

/* Adds the terms of the n numbers from column c on. */
typedef void (*norm_terms)(const struct row_terms *t, size_t c, const size_t n, vf *a, vf *b);

ALWAYS_INLINE void norm_values(const struct row_terms *t, size_t c, const size_t n, vf *a, vf *b)
{
    (void)b;
    *a = vf_add(*a, lstm_load(t->x + c, n));
}

/* Lanes behind the row's end would add the mean's square: hence where n is a rest, only the lanes
 * that are there are kept. */
ALWAYS_INLINE void norm_squares(const struct row_terms *t, size_t c, const size_t n, vf *a, vf *b)
{
    (void)b;
    vf d = vf_sub(lstm_load(t->x + c, n), t->mean);
    if (n < VF) {
        float lanes[VF];
        vf_store(lanes, d);
        d = vf_load_part(lanes, n);
    }
    *a = vf_fma(d, d, *a);
}

/* a: d_y scale, b: d_y scale xh; d_y is 0 behind the row's end. */
ALWAYS_INLINE void norm_products(const struct row_terms *t, size_t c, const size_t n, vf *a, vf *b)
{
    vf g = vf_mul(lstm_load(t->d_y + c, n), lstm_load(t->scale + c, n));
    vf xh = vf_mul(vf_sub(lstm_load(t->x + c, n), t->mean), t->factor);
    *a = vf_add(*a, g);
    *b = vf_fma(g, xh, *b);
}

ALWAYS_INLINE void row_totals(const struct row_terms *t, size_t columns, norm_terms add, float *a,
                              float *b)
{
    vf first[ROW_TOTALS], second[ROW_TOTALS];
    size_t c = 0;
    UNROLL
    for (size_t i = 0; i < ROW_TOTALS; i++) {
        first[i] = second[i] = vf_zero();
    }
    for (; c + ROW_TOTALS * VF <= columns; c += ROW_TOTALS * VF) {
        UNROLL
        for (size_t i = 0; i < ROW_TOTALS; i++) {
            add(t, c + i * VF, VF, &first[i], &second[i]);
        }
    }
    for (; c + VF <= columns; c += VF) {
        add(t, c, VF, &first[0], &second[0]);
    }
    if (c < columns) {
        add(t, c, columns - c, &first[1], &second[1]);
    }
    *a = vf_sum(vf_add(vf_add(first[0], first[1]), vf_add(first[2], first[3])));
    *b = vf_sum(vf_add(vf_add(second[0], second[1]), vf_add(second[2], second[3])));
}

/* n is VF or, for a rest, less. */
ALWAYS_INLINE void norm_part(const struct nn_norm_rows_args *s, const float *x, float *y, size_t k,
                             size_t column, const size_t n)
{
    vf xh = vf_mul(vf_sub(lstm_load(x, n), vf_all(s->mean[k])), vf_all(s->factor[k]));
    vf scale = lstm_load(s->scale + column, n);
    vf shift = s->shift ? lstm_load(s->shift + column, n) : vf_zero();
    lstm_store(y, vf_fma(xh, scale, shift), n);
}

static void norm_row(const struct nn_norm_rows_args *s, size_t k)
{
    size_t r = k / s->groups, first = k % s->groups * s->columns, c = 0;
    const float *x = s->x + r * s->ldx + first;
    float *y = s->y + r * s->ldy + first, total = 0, unused = 0;
    float share = 1 / (float)s->columns;
    struct row_terms t = {.x = x, .mean = vf_zero()};
    if (s->centred) {
        row_totals(&t, s->columns, norm_values, &total, &unused);
    }
    s->mean[k] = total * share;
    t.mean = vf_all(s->mean[k]);
    row_totals(&t, s->columns, norm_squares, &total, &unused);
    s->factor[k] = 1 / sqrtf(total * share + s->epsilon);
    for (; c + VF <= s->columns; c += VF) {
        norm_part(s, x + c, y + c, k, first + c, VF);
    }
    if (c < s->columns) {
        norm_part(s, x + c, y + c, k, first + c, s->columns - c);
    }
}

static void row_norm_rows(const struct nn_norm_rows_args *s)
{
    for (size_t k = 0; k < s->rows * s->groups; k++) {
        norm_row(s, k);
    }
}

/* d_x = factor (g - mean(g) - xh slope); n as above. */
ALWAYS_INLINE void norm_gradient_part(const struct row_terms *t, float *d_x, size_t c, vf g_mean,
                                      vf slope, bool accumulate, const size_t n)
{
    vf g = vf_mul(lstm_load(t->d_y + c, n), lstm_load(t->scale + c, n));
    vf xh = vf_mul(vf_sub(lstm_load(t->x + c, n), t->mean), t->factor);
    vf d = vf_mul(t->factor, vf_sub(vf_sub(g, g_mean), vf_mul(xh, slope)));
    lstm_store(d_x + c, accumulate ? vf_add(d, lstm_load(d_x + c, n)) : d, n);
}

static void norm_gradient_row(const struct nn_norm_rows_gradient_args *s, size_t k)
{
    size_t r = k / s->groups, first = k % s->groups * s->columns, c = 0;
    float *d_x = s->d_x + r * s->ldd_x + first, sum, product;
    const struct row_terms t = {.x = s->x + r * s->ldx + first,
                                .d_y = s->d_y + r * s->ldd_y + first,
                                .scale = s->scale + first,
                                .mean = vf_all(s->mean[k]),
                                .factor = vf_all(s->factor[k])};
    row_totals(&t, s->columns, norm_products, &sum, &product);
    vf g_mean = vf_all(s->centred ? sum / (float)s->columns : 0);
    vf slope = vf_all(product / (float)s->columns);
    for (; c + VF <= s->columns; c += VF) {
        norm_gradient_part(&t, d_x, c, g_mean, slope, s->accumulate, VF);
    }
    if (c < s->columns) {
        norm_gradient_part(&t, d_x, c, g_mean, slope, s->accumulate, s->columns - c);
    }
}

static void row_norm_rows_gradient(const struct nn_norm_rows_gradient_args *s)
{
    for (size_t k = 0; k < s->rows * s->groups; k++) {
        norm_gradient_row(s, k);
    }
}

/* Down the rows of one group, a vector of columns at a time. */
static void norm_sums_part(const struct nn_norm_rows_sums_args *s, size_t group, size_t column,
                           const size_t n)
{
    vf sum = vf_zero(), product = vf_zero();
    float sums[VF], products[VF];
    for (size_t r = 0; r < s->rows; r++) {
        size_t k = r * s->groups + group;
        vf d = lstm_load(s->d_y + r * s->ldd_y + column, n);
        vf xh = vf_mul(vf_sub(lstm_load(s->x + r * s->ldx + column, n), vf_all(s->mean[k])),
                       vf_all(s->factor[k]));
        sum = vf_add(sum, d);
        product = vf_fma(d, xh, product);
    }
    vf_store(sums, sum);
    vf_store(products, product);
    for (size_t c = 0; c < n; c++) {
        s->sums[column + c] = (double)sums[c];
        s->products[column + c] = (double)products[c];
    }
}

static void row_norm_rows_sums(const struct nn_norm_rows_sums_args *s)
{
    for (size_t group = 0; group < s->groups; group++) {
        size_t column = group * s->columns, end = column + s->columns;
        for (; column + VF <= end; column += VF) {
            norm_sums_part(s, group, column, VF);
        }
        if (column < end) {
            norm_sums_part(s, group, column, end - column);
        }
    }
}
