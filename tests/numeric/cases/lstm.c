/* SPDX-License-Identifier: MIT
 *
 * Cases of lstm.h: whole layers over sequences of unequal lengths.
 */
#include <string.h>

#include "tests/numeric/cases/cases.h"
#include "tests/ref/ref.h"

#define SEQUENCES_MAX 21

static const struct shape {
    size_t inputs, units, sequences;
    size_t lengths[SEQUENCES_MAX]; /* not increasing */
    bool bias, last, add;
    size_t gap;
} SHAPES[] = {
    {1, 1, 1, {1}, true, false, false, 0},
    {3, 5, 1, {7}, true, false, true, 1},
    {3, 5, 2, {1, 1}, false, true, false, 2},
    {17, 50, 3, {9, 4, 1}, true, false, false, 0},
    {2, 16, 4, {6, 6, 6, 6}, true, true, true, 3},
    {20, 33, 5, {5, 5, 3, 2, 2}, true, false, true, 2},
    {7, 100, 2, {11, 10}, false, false, false, 1},
    {5,
     24,
     21,
     {30, 29, 21, 20, 20, 19, 18, 15, 15, 15, 14, 12, 11, 10, 9, 8, 6, 5, 3, 1, 1},
     true,
     false,
     false,
     0},
    {65, 200, 9, {6, 6, 5, 4, 4, 4, 2, 2, 1}, true, false, true, 0},
};

/* An LSTM with what it reads and writes. */
struct layer {
    const struct shape *shape;
    struct nn_lstm l;
    struct field x, w_ih, w_hh, bias, gates, c, h;
    size_t rows;
    double *ref_gates, *ref_c, *ref_h;
};

static void set_steps(struct numeric *t, struct layer *p)
{
    const struct shape *s = p->shape;
    size_t steps = s->lengths[0];
    size_t *active = numeric_array(t, steps, sizeof *active);
    size_t *starts = numeric_array(t, steps + 1, sizeof *starts);
    for (size_t i = 0; i < steps; i++) {
        for (size_t k = 0; k < s->sequences; k++) {
            active[i] += s->lengths[k] > i;
        }
        starts[i + 1] = starts[i] + active[i];
    }
    p->rows = starts[steps];
    p->l = (struct nn_lstm){
        .inputs = s->inputs, .units = s->units, .steps = steps, .active = active, .starts = starts};
}

static struct layer layer_make(struct numeric *t, const struct shape *s)
{
    struct layer p = {.shape = s};
    set_steps(t, &p);
    p.x = numeric_field(t, p.rows, s->inputs, s->gap);
    p.w_ih = numeric_field(t, 4 * s->units, s->inputs, 0);
    p.w_hh = numeric_field(t, 4 * s->units, s->units, 0);
    p.bias = numeric_field(t, 1, 4 * s->units, 0);
    p.gates = numeric_field(t, p.rows, 4 * s->units, 0);
    p.c = numeric_field(t, p.rows, s->units, 0);
    p.h = numeric_field(t, p.rows, s->units, s->gap);
    for (size_t e = 0; e < 4 * s->units; e++) {
        p.bias.data[e] *= e % 7 == 0 ? 40 : 1; /* some gates far out */
    }
    numeric_sealed(t, p.bias);
    p.l.x = p.x.data;
    p.l.ldx = p.x.ld;
    p.l.w_ih = p.w_ih.data;
    p.l.w_hh = p.w_hh.data;
    p.l.bias = s->bias ? p.bias.data : NULL;
    p.l.gates = p.gates.data;
    p.l.c = p.c.data;
    p.l.h = p.h.data;
    p.l.ldh = p.h.ld;
    p.l.storage = numeric_array(t, nn_lstm_storage(s->inputs, s->units, s->sequences, p.rows),
                                sizeof *p.l.storage);
    p.ref_gates = numeric_doubles(t, p.gates);
    p.ref_c = numeric_doubles(t, p.c);
    p.ref_h = numeric_doubles(t, p.h);
    return p;
}

static void check_forward(struct numeric *t, const struct layer *p)
{
    nn_lstm_forward(&t->exec, &p->l);
    ref_lstm_forward(&p->l, p->ref_gates, p->ref_c, p->ref_h);
    numeric_compare(t, p->h, p->ref_h, 0, "lstm h units=%zu rows=%zu", p->l.units, p->rows);
    numeric_compare(t, p->c, p->ref_c, 0, "lstm c units=%zu rows=%zu", p->l.units, p->rows);
}

static void forward(struct numeric *t)
{
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        struct layer p = layer_make(t, &SHAPES[i]);
        check_forward(t, &p);
        numeric_compare(t, p.gates, p.ref_gates, 0, "lstm gates units=%zu", p.l.units);
    }
}

/* The gradient by every h: d_y itself, or that of each sequence's last step. */
static double *whole_gradient(struct numeric *t, const struct layer *p, struct field d_y,
                              const size_t *last)
{
    double *all = numeric_array(t, p->rows * p->l.units, sizeof *all);
    for (size_t k = 0; k < p->shape->sequences; k++) {
        for (size_t i = 0; i < p->shape->lengths[k]; i++) {
            bool ends = i + 1 == p->shape->lengths[k];
            size_t row = p->l.starts[i] + k, from = last ? last[k] : row;
            for (size_t u = 0; (ends || !last) && u < p->l.units; u++) {
                all[row * p->l.units + u] = (double)d_y.data[from * d_y.ld + u];
            }
        }
    }
    return all;
}

static void check_backward(struct numeric *t, const struct layer *p)
{
    const struct shape *s = p->shape;
    size_t *last = numeric_array(t, s->sequences, sizeof *last);
    for (size_t k = 0; k < s->sequences; k++) {
        last[k] = (k * 3 + 1) % s->sequences; /* another order, of 4 and 2 without a clash */
    }
    struct field d_y = numeric_field(t, s->last ? s->sequences : p->rows, s->units, s->gap);
    struct field d_x = numeric_field(t, p->rows, s->inputs, s->gap);
    struct field d_w_ih = numeric_field(t, 4 * s->units, s->inputs, 0);
    struct field d_w_hh = numeric_field(t, 4 * s->units, s->units, 0);
    struct field d_bias = numeric_field(t, 1, 4 * s->units, 0);
    struct ref_lstm_gradient ref = {numeric_doubles(t, d_x), numeric_doubles(t, d_w_ih),
                                    numeric_doubles(t, d_w_hh), numeric_doubles(t, d_bias)};
    if (!s->add) {
        memset(ref.d_x, 0, p->rows * s->inputs * sizeof *ref.d_x);
    }
    ref_lstm_backward(&p->l, p->ref_gates, p->ref_c, p->ref_h,
                      whole_gradient(t, p, d_y, s->last ? last : NULL), &ref);
    struct nn_lstm_gradient g = {.d_y = d_y.data, .ldd_y = d_y.ld, .add_to_x = s->add};
    g.last = s->last ? last : NULL;
    g.d_x = d_x.data;
    g.ldd_x = d_x.ld;
    g.d_w_ih = d_w_ih.data;
    g.d_w_hh = d_w_hh.data;
    g.d_bias = d_bias.data;
    numeric_workspace(t, nn_lstm_workspace(s->units, p->rows));
    nn_lstm_backward(&t->exec, &p->l, &g);
    numeric_compare(t, d_x, ref.d_x, 0, "lstm d_x units=%zu rows=%zu", s->units, p->rows);
    numeric_compare(t, d_w_ih, ref.d_w_ih, 0, "lstm d_w_ih units=%zu", s->units);
    numeric_compare(t, d_w_hh, ref.d_w_hh, 0, "lstm d_w_hh units=%zu", s->units);
    numeric_compare(t, d_bias, ref.d_bias, 0, "lstm d_bias units=%zu", s->units);
}

static void backward(struct numeric *t)
{
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        struct layer p = layer_make(t, &SHAPES[i]);
        check_forward(t, &p);
        check_backward(t, &p);
        numeric_sealed(t, p.gates);
    }
}

/* exp, sigmoid and tanh over their whole range, one step of one unit a row. */
static void functions(struct numeric *t)
{
    size_t rows = 4001, active = rows, starts[2] = {0, rows};
    struct field x = numeric_field(t, rows, 1, 0), w_ih = numeric_field(t, 4, 1, 0);
    struct field w_hh = numeric_field(t, 4, 1, 0), gates = numeric_field(t, rows, 4, 0);
    struct field c = numeric_field(t, rows, 1, 0), h = numeric_field(t, rows, 1, 0);
    for (size_t r = 0; r < rows; r++) {
        double u = ((double)r - 2000) / 2000;
        x.data[r] = (nn_real)(100 * u * u * u);
    }
    for (size_t g = 0; g < 4; g++) {
        w_ih.data[g] = 1;
    }
    numeric_sealed(t, x);
    numeric_sealed(t, w_ih);
    struct nn_lstm l = {.inputs = 1, .units = 1, .steps = 1, .active = &active, .starts = starts};
    l.w_ih = w_ih.data;
    l.w_hh = w_hh.data;
    l.x = x.data;
    l.ldx = l.ldh = 1;
    l.gates = gates.data;
    l.c = c.data;
    l.h = h.data;
    l.storage = numeric_array(t, nn_lstm_storage(1, 1, rows, rows), sizeof *l.storage);
    double *ref_gates = numeric_doubles(t, gates), *ref_c = numeric_doubles(t, c);
    double *ref_h = numeric_doubles(t, h);
    ref_lstm_forward(&l, ref_gates, ref_c, ref_h);
    nn_lstm_forward(&t->exec, &l);
    numeric_compare(t, gates, ref_gates, 0, "sigmoid and tanh");
    numeric_compare(t, h, ref_h, 0, "h of extremes");
    numeric_compare(t, c, ref_c, 0, "c of extremes");
}

const struct numeric_case lstm_cases[] = {
    {"lstm", "lstm gemm_tile", forward},
    {"lstm_gradient", "lstm lstm_gradient gemm_tile", backward},
    {"lstm_functions", "lstm", functions},
    {NULL, NULL, NULL},
};
