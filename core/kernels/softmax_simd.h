/* SPDX-License-Identifier: MIT
 *
 * Softmax and cross-entropy rows of the kernel table. Included once by each table_*.c.
 */

#ifdef NN_REAL_DOUBLE
#define NN_EXP(x) exp(x)
#else
#define NN_EXP(x) expf(x)
#endif

/* The first largest of n >= 1 numbers; the first NaN if there is one. */
static size_t largest(const nn_real *x, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n && x[best] == x[best]; i++) {
        best = x[i] > x[best] || x[i] != x[i] ? i : best;
    }
    return best;
}

/* y = exp(x - max); the sum of y. y may be x. */
static double exponentials(nn_real *y, const nn_real *x, nn_real max, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        y[i] = NN_EXP(x[i] - max);
        sum += (double)y[i];
    }
    return sum;
}

static void row_softmax(const struct nn_map_args *s)
{
    for (size_t r = 0; r < s->rows && s->columns > 0; r++) {
        const nn_real *x = s->a + r * s->lda;
        nn_real *y = s->y + r * s->ldy;
        double sum = exponentials(y, x, x[largest(x, s->columns)], s->columns);
        nn_real factor = (nn_real)(1 / sum);
#pragma omp simd
        for (size_t c = 0; c < s->columns; c++) {
            y[c] *= factor;
        }
    }
}

static void row_softmax_gradient(const struct nn_map_args *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        const nn_real *d_y = s->a + r * s->lda, *y = s->b + r * s->ldb;
        nn_real *d_x = s->y + r * s->ldy;
        double dot = 0;
        for (size_t c = 0; c < s->columns; c++) {
            dot += (double)d_y[c] * (double)y[c];
        }
#pragma omp simd
        for (size_t c = 0; c < s->columns; c++) {
            d_x[c] = y[c] * (d_y[c] - (nn_real)dot);
        }
    }
}

/* The share of each class that labels leave to it: sum of weights * (x - max). */
static double smoothed(const struct nn_cross_entropy_args *s, const nn_real *x, nn_real max)
{
    double sum = 0;
    for (size_t c = 0; c < s->classes && s->smoothing > 0; c++) {
        double weight = s->weights ? (double)s->weights[c] : 1;
        sum += weight * ((double)x[c] - (double)max);
    }
    return sum;
}

/* One row; out (probabilities or gradient) may be x. Returns the loss. */
static double cross_entropy_row(const struct nn_cross_entropy_args *s, size_t r)
{
    const nn_real *x = s->logits + r * s->ld;
    size_t best = largest(x, s->classes), label = s->labels[r];
    nn_real max = x[best];
    nn_real *p = s->probabilities ? s->probabilities + r * s->ldp : NULL;
    nn_real *d = s->d_logits ? s->d_logits + r * s->ldd : NULL;
    nn_real hit = (1 - s->smoothing) * (s->weights ? s->weights[label] : 1);
    nn_real rest = s->smoothing / (nn_real)s->classes, total = hit + rest * s->weight_sum;
    double above = (double)x[label] - (double)max, others = smoothed(s, x, max), sum = 0;
    for (size_t c = 0; c < s->classes; c++) {
        sum += (double)NN_EXP(x[c] - max);
    }
    nn_real inverse = (nn_real)(1 / sum);
    for (size_t c = 0; c < s->classes && (p || d); c++) {
        nn_real probability = NN_EXP(x[c] - max) * inverse;
        if (p) {
            p[c] = probability;
        }
        if (d) {
            nn_real share = rest * (s->weights ? s->weights[c] : 1);
            d[c] = (probability * total - share - (c == label ? hit : 0)) * s->factor;
        }
    }
    bool numbers = sum == sum;
    if (s->predicted) {
        s->predicted[r] = numbers ? (uint32_t)best : NN_NO_CLASS;
    }
    *s->correct += numbers && best == label;
    return (double)total * log(sum) - (double)hit * above - (double)rest * others;
}

static void row_cross_entropy(const struct nn_cross_entropy_args *s)
{
    double loss = 0;
    *s->correct = 0;
    for (size_t r = 0; r < s->rows; r++) {
        loss += cross_entropy_row(s, r);
    }
    *s->loss = loss;
}
