/* SPDX-License-Identifier: MIT
 *
 * References of batch normalisation and local response normalisation.
 */
#include "tests/ref/ref.h"

#include <math.h>

void ref_moments(double *mean, double *var, const nn_real *x, size_t ldx, size_t rows,
                 size_t channels)
{
    for (size_t c = 0; c < channels; c++) {
        long double sum = 0, squares = 0;
        for (size_t r = 0; r < rows; r++) {
            sum += x[r * ldx + c];
        }
        long double m = sum / rows;
        for (size_t r = 0; r < rows; r++) {
            squares += (x[r * ldx + c] - m) * (x[r * ldx + c] - m);
        }
        mean[c] = (double)m;
        var[c] = (double)(squares / rows);
    }
}

static double normalized(const struct nn_batch_norm *norm, nn_real x, size_t c)
{
    return ((double)x - (double)norm->mean[c]) / sqrt((double)norm->var[c] + (double)norm->epsilon);
}

static double normalized_output(const struct nn_batch_norm *norm, nn_real x, size_t c)
{
    double y = normalized(norm, x, c) * (double)norm->scale[c] + (double)norm->shift[c];
    return norm->relu && y < 0 ? 0 : y;
}

void ref_norm_apply(double *y, const struct nn_batch_norm *norm, const nn_real *x, size_t ldx)
{
    for (size_t r = 0; r < norm->rows; r++) {
        for (size_t c = 0; c < norm->channels; c++) {
            y[r * norm->channels + c] = normalized_output(norm, x[r * ldx + c], c);
        }
    }
}

void ref_norm_gradient(double *d_x, double *d_scale, double *d_shift,
                       const struct nn_batch_norm_gradient *g)
{
    size_t rows = g->norm.rows, channels = g->norm.channels;
    for (size_t c = 0; c < channels; c++) {
        double inv_std = 1 / sqrt((double)g->norm.var[c] + (double)g->norm.epsilon);
        double sum = 0, product = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (size_t r = 0; r < rows; r++) {
                nn_real x = g->x[r * g->ldx + c];
                double xhat = normalized(&g->norm, x, c);
                bool cut = g->norm.relu && !(normalized_output(&g->norm, x, c) > 0);
                double d = cut ? 0 : (double)g->d_y[r * g->ldd_y + c];
                if (pass == 0) {
                    sum += d;
                    product += d * xhat;
                    continue;
                }
                double mean_part = g->frozen ? 0 : (sum + xhat * product) / (double)rows;
                d_x[r * channels + c] += (double)g->norm.scale[c] * inv_std * (d - mean_part);
            }
        }
        d_scale[c] += product;
        d_shift[c] += sum;
    }
}

/* ---- local response normalisation ---- */

/* The channels [first, end) whose squares the sum of channel c takes in; c is one of them. */
struct near {
    size_t first, end;
};

static struct near near_to(const struct nn_lrn *lrn, size_t c)
{
    size_t before = lrn->size / 2, end = c + (lrn->size - 1) / 2 + 1;
    return (struct near){c > before ? c - before : 0, end < lrn->channels ? end : lrn->channels};
}

static double lrn_sum(const struct nn_lrn *lrn, const nn_real *x, size_t c)
{
    double sum = 0;
    struct near near = near_to(lrn, c);
    for (size_t j = near.first; j < near.end; j++) {
        sum += (double)x[j] * (double)x[j];
    }
    return (double)lrn->k + (double)lrn->alpha / (double)lrn->size * sum;
}

void ref_lrn(double *y, const struct nn_lrn *lrn, const nn_real *x, size_t ldx)
{
    for (size_t r = 0; r < lrn->rows; r++) {
        for (size_t c = 0; c < lrn->channels; c++) {
            y[r * lrn->channels + c] =
                (double)x[r * ldx + c] / pow(lrn_sum(lrn, x + r * ldx, c), (double)lrn->beta);
        }
    }
}

/* The derivative of output c of a row by an input near to it. */
static double lrn_derivative(const struct nn_lrn *lrn, const nn_real *x, size_t c, size_t j)
{
    double s = lrn_sum(lrn, x, c), beta = (double)lrn->beta;
    double own = c == j ? pow(s, -beta) : 0;
    double by_sum = 2 * (double)lrn->alpha / (double)lrn->size * (double)x[j];
    return own - beta * (double)x[c] * pow(s, -beta - 1) * by_sum;
}

void ref_lrn_gradient(double *d_x, const struct nn_lrn *lrn, const nn_real *d_y, size_t ldd_y,
                      const nn_real *x, size_t ldx)
{
    for (size_t r = 0; r < lrn->rows; r++) {
        for (size_t c = 0; c < lrn->channels; c++) {
            struct near near = near_to(lrn, c);
            for (size_t j = near.first; j < near.end; j++) {
                d_x[r * lrn->channels + j] +=
                    (double)d_y[r * ldd_y + c] * lrn_derivative(lrn, x + r * ldx, c, j);
            }
        }
    }
}
