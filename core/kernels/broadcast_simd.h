/* SPDX-License-Identifier: MIT
 *
 * Rows of the kernel table for a matrix beside one with fewer rows or columns, in plain C that
 * compilers vectorise. Included once by each table_*.c.
 */

#define BROADCAST_STRIP ((size_t)64) /* columns whose sums stay in the first cache */

/* The n numbers of b beside columns c .. of row r; strip: their place where b has one column. */
static const nn_real *broadcast_row(const struct nn_broadcast_args *s, size_t r, size_t c, size_t n,
                                    nn_real strip[BROADCAST_STRIP])
{
    const nn_real *b = s->b + r * s->ldb;
    if (!s->one_column) {
        return b + c;
    }
    for (size_t i = 0; i < n; i++) {
        strip[i] = *b;
    }
    return strip;
}

static size_t strip_width(const struct nn_broadcast_args *s, size_t c)
{
    return s->columns - c < BROADCAST_STRIP ? s->columns - c : BROADCAST_STRIP;
}

static void multiply_strip(nn_real *y, const nn_real *a, const nn_real *b, bool accumulate,
                           size_t n)
{
    if (accumulate) {
#pragma omp simd
        for (size_t c = 0; c < n; c++) {
            y[c] += a[c] * b[c];
        }
    } else {
#pragma omp simd
        for (size_t c = 0; c < n; c++) {
            y[c] = a[c] * b[c];
        }
    }
}

static void row_multiply(const struct nn_broadcast_args *s)
{
    nn_real strip[BROADCAST_STRIP];
    for (size_t r = 0; r < s->rows; r++) {
        for (size_t c = 0; c < s->columns; c += BROADCAST_STRIP) {
            size_t n = strip_width(s, c);
            multiply_strip(s->y + r * s->ldy + c, s->a + r * s->lda + c,
                           broadcast_row(s, r, c, n, strip), s->accumulate, n);
        }
    }
}

/* What is not outside [-t, t] becomes 0; a NaN on either side stays. */
static void threshold_strip(nn_real *y, const nn_real *x, const nn_real *t, size_t n)
{
#pragma omp simd
    for (size_t c = 0; c < n; c++) {
        nn_real size = x[c] < 0 ? -x[c] : x[c], above = size - t[c];
        above = above < 0 ? 0 : above;
        nn_real value = x[c] < 0 ? -above : above;
        y[c] = x[c] == 0 ? 0 : value;
    }
}

static void row_soft_threshold(const struct nn_broadcast_args *s)
{
    nn_real strip[BROADCAST_STRIP];
    for (size_t r = 0; r < s->rows; r++) {
        for (size_t c = 0; c < s->columns; c += BROADCAST_STRIP) {
            size_t n = strip_width(s, c);
            threshold_strip(s->y + r * s->ldy + c, s->a + r * s->lda + c,
                            broadcast_row(s, r, c, n, strip), n);
        }
    }
}

static void row_soft_threshold_gradient(const struct nn_map_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *a = s->a + r * s->lda, *b = s->b + r * s->ldb;
        nn_real *y = s->y + r * s->ldy;
        if (s->accumulate) {
#pragma omp simd
            for (size_t c = 0; c < s->columns; c++) {
                y[c] += b[c] == 0 ? 0 : a[c];
            }
        } else {
#pragma omp simd
            for (size_t c = 0; c < s->columns; c++) {
                y[c] = b[c] == 0 ? 0 : a[c];
            }
        }
    }
}

/* Adds the terms of n numbers to their sums. */
typedef void (*broadcast_terms)(double *sums, const nn_real *a, const nn_real *b, size_t n);

static void add_products(double *sums, const nn_real *a, const nn_real *b, size_t n)
{
#pragma omp simd
    for (size_t c = 0; c < n; c++) {
        sums[c] += (double)(a[c] * b[c]);
    }
}

static void take_by_sign(double *sums, const nn_real *a, const nn_real *b, size_t n)
{
#pragma omp simd
    for (size_t c = 0; c < n; c++) {
        nn_real below = b[c] < 0 ? a[c] : 0;
        sums[c] += (double)(b[c] > 0 ? -a[c] : below);
    }
}

static void put_sums(const struct nn_broadcast_args *s, nn_real *y, const double *sums, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        y[c] = s->accumulate ? y[c] + (nn_real)sums[c] : (nn_real)sums[c];
    }
}

/* Rows first .. first + n summed, in double, into a row of y. */
static void sum_rows(const struct nn_broadcast_args *s, size_t first, size_t n, nn_real *y,
                     broadcast_terms terms)
{
    double total = 0;
    for (size_t c = 0; c < s->columns; c += BROADCAST_STRIP) {
        double sums[BROADCAST_STRIP] = {0};
        size_t width = strip_width(s, c);
        for (size_t r = first; r < first + n; r++) {
            terms(sums, s->a + r * s->lda + c, s->b + r * s->ldb + c, width);
        }
        for (size_t i = 0; s->one_column && i < width; i++) {
            total += sums[i];
        }
        if (!s->one_column) {
            put_sums(s, y + c, sums, width);
        }
    }
    if (s->one_column) {
        put_sums(s, y, &total, 1);
    }
}

static void sum_terms(const struct nn_broadcast_args *s, broadcast_terms terms)
{
    size_t depth = s->one_row ? s->rows : 1;
    for (size_t r = 0; r < s->rows; r += depth) {
        sum_rows(s, r, depth, s->y + r / depth * s->ldy, terms);
    }
}

static void row_multiply_sums(const struct nn_broadcast_args *s)
{
    sum_terms(s, add_products);
}

static void row_soft_threshold_sums(const struct nn_broadcast_args *s)
{
    sum_terms(s, take_by_sign);
}

static void row_channel_mean(const struct nn_map_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *a = s->a + r * s->lda;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t c = 0; c < s->columns; c++) {
            sum += (double)a[c];
        }
        s->y[r * s->ldy] = (nn_real)(sum / (double)s->columns);
    }
}

static void row_channel_mean_gradient(const struct nn_map_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        nn_real *y = s->y + r * s->ldy, each = s->a[r * s->lda] / (nn_real)s->columns;
        for (size_t c = 0; c < s->columns; c++) {
            y[c] = s->accumulate ? y[c] + each : each;
        }
    }
}
