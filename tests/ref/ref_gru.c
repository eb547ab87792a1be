/* SPDX-License-Identifier: MIT
 *
 * Reference of the GRU: each sequence by itself, each number by its formula. Columns of the gates
 * in the layer's order: n, r, z, and the recurrent part of n.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/ref/ref.h"

enum { N, R, Z, A };

/* One sequence: row_of(s, t) is the row of its step t. */
struct sequence {
    const struct nn_recurrence *l;
    size_t k, steps;
};

static size_t row_of(const struct sequence *s, size_t t)
{
    return s->l->starts[t] + s->k;
}

static struct sequence sequence_at(const struct nn_recurrence *l, size_t k)
{
    struct sequence s = {l, k, 0};
    while (s.steps < l->steps && l->active[s.steps] > k) {
        s.steps++;
    }
    return s;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Row j of w_ih x + b_ih: gates r, z, n. */
static double input_sum(const struct sequence *s, size_t t, size_t j)
{
    const struct nn_recurrence *l = s->l;
    double sum = l->bias ? (double)l->bias[j] : 0;
    for (size_t i = 0; i < l->inputs; i++) {
        sum += (double)l->x[row_of(s, t) * l->ldx + i] * (double)l->w_ih[j * l->inputs + i];
    }
    return sum;
}

/* Row j of w_hh h[t-1] + b_hh. */
static double state_sum(const struct sequence *s, size_t t, size_t j, const double *h)
{
    const struct nn_recurrence *l = s->l;
    double sum = l->bias_hh ? (double)l->bias_hh[j] : 0;
    for (size_t u = 0; t > 0 && u < l->units; u++) {
        sum += h[row_of(s, t - 1) * l->units + u] * (double)l->w_hh[j * l->units + u];
    }
    return sum;
}

static void step_forward(const struct sequence *s, size_t t, double *gates, double *h)
{
    size_t units = s->l->units;
    double *g = gates + row_of(s, t) * 4 * units;
    for (size_t u = 0; u < units; u++) {
        double before = t > 0 ? h[row_of(s, t - 1) * units + u] : 0;
        double r = sigmoid(input_sum(s, t, u) + state_sum(s, t, u, h));
        double z = sigmoid(input_sum(s, t, units + u) + state_sum(s, t, units + u, h));
        double a = state_sum(s, t, 2 * units + u, h);
        double n = tanh(input_sum(s, t, 2 * units + u) + r * a);
        g[N * units + u] = n;
        g[R * units + u] = r;
        g[Z * units + u] = z;
        g[A * units + u] = a;
        h[row_of(s, t) * units + u] = (1 - z) * n + z * before;
    }
}

void ref_gru_forward(const struct nn_recurrence *l, double *gates, double *h)
{
    for (size_t k = 0; k < l->active[0]; k++) {
        struct sequence s = sequence_at(l, k);
        for (size_t t = 0; t < s.steps; t++) {
            step_forward(&s, t, gates, h);
        }
    }
}

/* What the backward pass of one sequence carries: d_h [units] to the step before, and of a step the
 * gradients by both sums, [3 units] each in the order of the weights. */
struct carry {
    const double *gates, *h, *d_y;
    struct ref_recurrence_gradient *out;
    double *d_h, *d_input, *d_state;
};

static void gates_backward(const struct sequence *s, const struct carry *p, size_t t)
{
    size_t units = s->l->units;
    const double *g = p->gates + row_of(s, t) * 4 * units;
    for (size_t u = 0; u < units; u++) {
        double n = g[N * units + u], r = g[R * units + u], z = g[Z * units + u];
        double before = t > 0 ? p->h[row_of(s, t - 1) * units + u] : 0;
        double d = p->d_h[u] + p->d_y[row_of(s, t) * units + u];
        double d_sum_n = d * (1 - z) * (1 - n * n);
        p->d_input[u] = d_sum_n * g[A * units + u] * r * (1 - r);
        p->d_input[units + u] = d * (before - n) * z * (1 - z);
        p->d_input[2 * units + u] = d_sum_n;
        p->d_state[u] = p->d_input[u];
        p->d_state[units + u] = p->d_input[units + u];
        p->d_state[2 * units + u] = d_sum_n * r;
        p->d_h[u] = d * z;
    }
}

static void products_backward(const struct sequence *s, const struct carry *p, size_t t)
{
    const struct nn_recurrence *l = s->l;
    size_t units = l->units;
    for (size_t j = 0; j < 3 * units; j++) {
        p->out->d_bias[j] += p->d_input[j];
        p->out->d_bias_hh[j] += p->d_state[j];
        for (size_t i = 0; i < l->inputs; i++) {
            p->out->d_w_ih[j * l->inputs + i] +=
                p->d_input[j] * (double)l->x[row_of(s, t) * l->ldx + i];
            p->out->d_x[row_of(s, t) * l->inputs + i] +=
                p->d_input[j] * (double)l->w_ih[j * l->inputs + i];
        }
        for (size_t u = 0; t > 0 && u < units; u++) {
            p->out->d_w_hh[j * units + u] += p->d_state[j] * p->h[row_of(s, t - 1) * units + u];
            p->d_h[u] += p->d_state[j] * (double)l->w_hh[j * units + u];
        }
    }
}

void ref_gru_backward(const struct nn_recurrence *l, const double *gates, const double *h,
                      const double *d_y, struct ref_recurrence_gradient *out)
{
    double *scratch = malloc(7 * l->units * sizeof *scratch);
    for (size_t k = 0; scratch && k < l->active[0]; k++) {
        struct sequence s = sequence_at(l, k);
        struct carry carry = {
            gates, h, d_y, out, scratch, scratch + l->units, scratch + 4 * l->units};
        for (size_t u = 0; u < l->units; u++) {
            scratch[u] = 0;
        }
        for (size_t t = s.steps; t-- > 0;) {
            gates_backward(&s, &carry, t);
            products_backward(&s, &carry, t);
        }
    }
    free(scratch);
}
