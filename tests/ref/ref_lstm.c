/* SPDX-License-Identifier: MIT
 *
 * Reference of the LSTM: each sequence by itself, each number by its formula.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/ref/ref.h"

/* One sequence: row(t) is the row of its step t. */
struct sequence {
    const struct nn_recurrence *l;
    size_t k, steps;
};

static size_t row_of(const struct sequence *s, size_t t)
{
    return s->l->starts[t] + s->k;
}

static double sum_of_gate(const struct sequence *s, size_t t, size_t z, const double *h)
{
    const struct nn_recurrence *l = s->l;
    double sum = l->bias ? (double)l->bias[z] : 0;
    for (size_t i = 0; i < l->inputs; i++) {
        sum += (double)l->x[row_of(s, t) * l->ldx + i] * (double)l->w_ih[z * l->inputs + i];
    }
    for (size_t u = 0; t > 0 && u < l->units; u++) {
        sum += h[row_of(s, t - 1) * l->units + u] * (double)l->w_hh[z * l->units + u];
    }
    return sum;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* gates [rows, 4 units] activated, c and h [rows, units]. */
static void forward_of(const struct sequence *s, double *gates, double *c, double *h)
{
    size_t units = s->l->units;
    for (size_t t = 0; t < s->steps; t++) {
        double *z = gates + row_of(s, t) * 4 * units;
        for (size_t j = 0; j < 4 * units; j++) {
            double sum = sum_of_gate(s, t, j, h);
            z[j] = j / units == 2 ? tanh(sum) : sigmoid(sum);
        }
        for (size_t u = 0; u < units; u++) {
            size_t at = row_of(s, t) * units + u;
            double before = t > 0 ? c[row_of(s, t - 1) * units + u] : 0;
            c[at] = z[units + u] * before + z[u] * z[2 * units + u];
            h[at] = z[3 * units + u] * tanh(c[at]);
        }
    }
}

static struct sequence sequence_at(const struct nn_recurrence *l, size_t k)
{
    struct sequence s = {l, k, 0};
    while (s.steps < l->steps && l->active[s.steps] > k) {
        s.steps++;
    }
    return s;
}

void ref_lstm_forward(const struct nn_recurrence *l, double *gates, double *c, double *h)
{
    for (size_t k = 0; k < l->active[0]; k++) {
        struct sequence s = sequence_at(l, k);
        forward_of(&s, gates, c, h);
    }
}

/* What the backward pass of one sequence carries. */
struct carry {
    const double *gates, *c, *h, *d_y;
    struct ref_recurrence_gradient *out;
    double *d_h, *d_c; /* [units], to the step before */
    double *d_z;       /* [4 units] */
};

static void gates_backward(const struct sequence *s, const struct carry *p, size_t t)
{
    size_t units = s->l->units;
    const double *z = p->gates + row_of(s, t) * 4 * units;
    for (size_t u = 0; u < units; u++) {
        size_t at = row_of(s, t) * units + u;
        double i = z[u], f = z[units + u], g = z[2 * units + u], o = z[3 * units + u];
        double before = t > 0 ? p->c[row_of(s, t - 1) * units + u] : 0;
        double d = p->d_h[u] + p->d_y[at];
        double e = p->d_c[u] + d * o * (1 - pow(tanh(p->c[at]), 2));
        p->d_z[u] = e * g * i * (1 - i);
        p->d_z[units + u] = e * before * f * (1 - f);
        p->d_z[2 * units + u] = e * i * (1 - g * g);
        p->d_z[3 * units + u] = d * tanh(p->c[at]) * o * (1 - o);
        p->d_c[u] = e * f;
    }
}

static void products_backward(const struct sequence *s, const struct carry *p, size_t t)
{
    const struct nn_recurrence *l = s->l;
    size_t units = l->units;
    for (size_t u = 0; u < units; u++) {
        p->d_h[u] = 0;
    }
    for (size_t z = 0; z < 4 * units; z++) {
        double d = p->d_z[z];
        p->out->d_bias[z] += d;
        for (size_t i = 0; i < l->inputs; i++) {
            p->out->d_w_ih[z * l->inputs + i] += d * (double)l->x[row_of(s, t) * l->ldx + i];
            p->out->d_x[row_of(s, t) * l->inputs + i] += d * (double)l->w_ih[z * l->inputs + i];
        }
        for (size_t u = 0; t > 0 && u < units; u++) {
            p->out->d_w_hh[z * units + u] += d * p->h[row_of(s, t - 1) * units + u];
            p->d_h[u] += d * (double)l->w_hh[z * units + u];
        }
    }
}

void ref_lstm_backward(const struct nn_recurrence *l, const double *gates, const double *c,
                       const double *h, const double *d_y, struct ref_recurrence_gradient *out)
{
    double *scratch = malloc(6 * l->units * sizeof *scratch);
    for (size_t k = 0; scratch && k < l->active[0]; k++) {
        struct sequence s = sequence_at(l, k);
        struct carry carry = {
            gates, c, h, d_y, out, scratch, scratch + l->units, scratch + 2 * l->units};
        for (size_t u = 0; u < 2 * l->units; u++) {
            scratch[u] = 0;
        }
        for (size_t t = s.steps; t-- > 0;) {
            gates_backward(&s, &carry, t);
            products_backward(&s, &carry, t);
        }
    }
    free(scratch);
}
