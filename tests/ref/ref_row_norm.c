/* SPDX-License-Identifier: MIT
 *
 * References of normalisation within a sample.
 */
#include "tests/ref/ref.h"

#include <math.h>

/* The values of a group: element e is of pixel e / width, channel first + e % width. */
struct group {
    size_t row, first, width, count;
    double mean, factor;
};

static double value_at(const struct group *g, const nn_real *x, size_t ldx, size_t e)
{
    return (double)x[(g->row + e / g->width) * ldx + g->first + e % g->width];
}

static struct group group_of(const struct nn_row_norm *norm, size_t k, const nn_real *x, size_t ldx)
{
    struct group g = {.width = norm->channels / norm->groups};
    g.row = k / norm->groups * norm->pixels;
    g.first = k % norm->groups * g.width;
    g.count = g.width * norm->pixels;
    double squares = 0;
    for (size_t e = 0; norm->centred && e < g.count; e++) {
        g.mean += value_at(&g, x, ldx, e) / (double)g.count;
    }
    for (size_t e = 0; e < g.count; e++) {
        squares += pow(value_at(&g, x, ldx, e) - g.mean, 2);
    }
    g.factor = 1 / sqrt(squares / (double)g.count + (double)norm->epsilon);
    return g;
}

void ref_row_norm(double *y, const struct nn_row_norm *norm, const nn_real *x, size_t ldx)
{
    for (size_t k = 0; k < norm->samples * norm->groups; k++) {
        struct group g = group_of(norm, k, x, ldx);
        for (size_t e = 0; e < g.count; e++) {
            size_t c = g.first + e % g.width;
            double xh = (value_at(&g, x, ldx, e) - g.mean) * g.factor;
            y[(g.row + e / g.width) * norm->channels + c] =
                xh * (double)norm->scale[c] + (norm->shift ? (double)norm->shift[c] : 0);
        }
    }
}

void ref_row_norm_gradient(double *d_x, double *d_scale, double *d_shift,
                           const struct nn_row_norm *norm, const struct nn_row_norm_gradient *g)
{
    for (size_t k = 0; k < norm->samples * norm->groups; k++) {
        struct group group = group_of(norm, k, g->x, g->ldx);
        double sum = 0, product = 0, n = (double)group.count;
        for (int pass = 0; pass < 2; pass++) {
            for (size_t e = 0; e < group.count; e++) {
                size_t c = group.first + e % group.width;
                double d = value_at(&group, g->d_y, g->ldd_y, e), by_scale;
                double xh = (value_at(&group, g->x, g->ldx, e) - group.mean) * group.factor;
                by_scale = d * (double)norm->scale[c];
                if (pass == 0) {
                    sum += norm->centred ? by_scale : 0;
                    product += by_scale * xh;
                    continue;
                }
                d_x[(group.row + e / group.width) * norm->channels + c] +=
                    group.factor * (by_scale - sum / n - xh * product / n);
                if (d_scale) {
                    d_scale[c] += d * xh;
                }
                if (d_shift) {
                    d_shift[c] += d;
                }
            }
        }
    }
}
