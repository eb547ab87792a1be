/* SPDX-License-Identifier: MIT
 *
 * References of attention: all scores of a head at once.
 */
#include "tests/ref/ref.h"

#include <math.h>
#include <stdlib.h>

/* One head of one sequence: where its numbers are, and its weights [steps, steps]. */
struct head {
    const struct nn_attention *a;
    size_t sequence, steps, columns, first;
    double *p;
};

static size_t place(const struct head *h, size_t t, size_t which, size_t c)
{
    return (h->a->starts[t] + h->sequence) * 3 * h->a->width + which * h->a->width + h->first + c;
}

static double dot(const struct head *h, size_t t, size_t u)
{
    double sum = 0;
    for (size_t c = 0; c < h->columns; c++) {
        sum += (double)h->a->qkv[place(h, t, 0, c)] * (double)h->a->qkv[place(h, u, 1, c)];
    }
    return sum / sqrt((double)h->columns);
}

static void weigh(const struct head *h, size_t t)
{
    size_t end = h->a->causal ? t + 1 : h->steps;
    double sum = 0, max = -INFINITY;
    for (size_t u = 0; u < end; u++) {
        max = fmax(max, dot(h, t, u));
    }
    for (size_t u = 0; u < h->steps; u++) {
        h->p[t * h->steps + u] = u < end ? exp(dot(h, t, u) - max) : 0;
        sum += h->p[t * h->steps + u];
    }
    for (size_t u = 0; u < h->steps; u++) {
        h->p[t * h->steps + u] /= sum;
    }
}

typedef void (*head_fn)(const struct head *h, double *out, const double *d_o);

static void each_head(const struct nn_attention *a, head_fn fn, double *out, const double *d_o)
{
    for (size_t i = 0; i < a->active[0] * a->heads; i++) {
        struct head h = {.a = a, .sequence = i / a->heads, .columns = a->width / a->heads};
        h.first = i % a->heads * h.columns;
        while (h.steps < a->steps && a->active[h.steps] > h.sequence) {
            h.steps++;
        }
        h.p = malloc(h.steps * h.steps * sizeof *h.p);
        for (size_t t = 0; h.p && t < h.steps; t++) {
            weigh(&h, t);
        }
        fn(&h, out, d_o);
        free(h.p);
    }
}

static void sum_values(const struct head *h, double *o, const double *d_o)
{
    (void)d_o;
    for (size_t t = 0; t < h->steps; t++) {
        for (size_t c = 0; c < h->columns; c++) {
            double sum = 0;
            for (size_t u = 0; u < h->steps; u++) {
                sum += h->p[t * h->steps + u] * (double)h->a->qkv[place(h, u, 2, c)];
            }
            o[(h->a->starts[t] + h->sequence) * h->a->width + h->first + c] = sum;
        }
    }
}

void ref_attention(double *o, const struct nn_attention *a)
{
    each_head(a, sum_values, o, NULL);
}

/* d loss / d p[t, u] */
static double by_weight(const struct head *h, const double *d_o, size_t t, size_t u)
{
    const double *row = d_o + (h->a->starts[t] + h->sequence) * h->a->width + h->first;
    double sum = 0;
    for (size_t c = 0; c < h->columns; c++) {
        sum += row[c] * (double)h->a->qkv[place(h, u, 2, c)];
    }
    return sum;
}

static void differentiate(const struct head *h, double *d_qkv, const double *d_o)
{
    for (size_t t = 0; t < h->steps; t++) {
        const double *p = h->p + t * h->steps;
        const double *d_row = d_o + (h->a->starts[t] + h->sequence) * h->a->width + h->first;
        double mean = 0;
        for (size_t u = 0; u < h->steps; u++) {
            mean += p[u] * by_weight(h, d_o, t, u);
        }
        for (size_t u = 0; u < h->steps; u++) {
            double d = p[u] * (by_weight(h, d_o, t, u) - mean) / sqrt((double)h->columns);
            for (size_t c = 0; c < h->columns; c++) {
                d_qkv[place(h, t, 0, c)] += d * (double)h->a->qkv[place(h, u, 1, c)];
                d_qkv[place(h, u, 1, c)] += d * (double)h->a->qkv[place(h, t, 0, c)];
                d_qkv[place(h, u, 2, c)] += p[u] * d_row[c];
            }
        }
    }
}

void ref_attention_gradient(double *d_qkv, const struct nn_attention *a, const double *d_o)
{
    each_head(a, differentiate, d_qkv, d_o);
}
