/* SPDX-License-Identifier: MIT
 *
 * Rows of local response normalisation: sums over neighbouring channels are made one neighbour at a
 * time, each a loop over all channels that compilers vectorise. Included once by each table_*.c.
 */

/* The channels that have a neighbour `shift` away: count of them, and where they and it begin. */
struct neighbours {
    size_t count, here, there;
};

static struct neighbours neighbours(long shift, size_t n)
{
    size_t distance = (size_t)(shift < 0 ? -shift : shift);
    size_t count = distance < n ? n - distance : 0;
    return (struct neighbours){count, shift < 0 ? distance : 0, shift < 0 ? 0 : distance};
}

/* sums[c] += alpha x[c + shift]^2 */
static void lrn_gather(nn_real *sums, const nn_real *x, long shift, nn_real alpha, size_t n)
{
    struct neighbours at = neighbours(shift, n);
    for (size_t c = 0; c < at.count; c++) {
        nn_real other = x[at.there + c];
        sums[at.here + c] += alpha * other * other;
    }
}

/* d_x[j] += slope x[j] t[j + shift] */
static void lrn_spread(nn_real *d_x, const nn_real *t, const nn_real *x, long shift, nn_real slope,
                       size_t n)
{
    struct neighbours at = neighbours(shift, n);
    for (size_t c = 0; c < at.count; c++) {
        d_x[at.here + c] += slope * x[at.here + c] * t[at.there + c];
    }
}

/* y = x s^-beta; the usual beta is made of square roots. */
static void lrn_row(nn_real *y, const nn_real *x, const nn_real *s, nn_real beta, size_t n)
{
    if (beta == (nn_real)0.75) {
#pragma omp simd
        for (size_t c = 0; c < n; c++) {
            nn_real root = NN_SQRT(s[c]);
            y[c] = x[c] / (root * NN_SQRT(root));
        }
        return;
    }
    for (size_t c = 0; c < n; c++) {
        y[c] = (nn_real)((double)x[c] * pow((double)s[c], -(double)beta));
    }
}

static void row_lrn(const struct nn_lrn_args *s)
{
    size_t n = s->columns;
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *x = s->x + r * s->ldx;
        nn_real *sums = s->sums ? s->sums + r * n : s->row;
        for (size_t c = 0; c < n; c++) {
            sums[c] = s->k;
        }
        for (long shift = -(long)(s->size / 2); shift <= (long)((s->size - 1) / 2); shift++) {
            lrn_gather(sums, x, shift, s->alpha, n);
        }
        lrn_row(s->y + r * s->ldy, x, sums, s->beta, n);
    }
}

static void row_lrn_gradient(const struct nn_lrn_args *s)
{
    size_t n = s->columns;
    nn_real slope = -2 * s->alpha * s->beta;
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *x = s->x + r * s->ldx, *d_y = s->d_y + r * s->ldd_y,
                      *sums = s->known + r * n;
        nn_real *d_x = s->y + r * s->ldy, *t = s->row;
        lrn_row(t, d_y, sums, s->beta, n); /* d_y s^-beta */
#pragma omp simd
        for (size_t c = 0; c < n; c++) {
            d_x[c] = t[c] + (s->accumulate ? d_x[c] : 0);
            t[c] = t[c] * x[c] / sums[c];
        }
        for (long shift = -(long)((s->size - 1) / 2); shift <= (long)(s->size / 2); shift++) {
            lrn_spread(d_x, t, x, shift, slope, n);
        }
    }
}
