/* SPDX-License-Identifier: MIT
 *
 * Cases of recurrence.h: whole layers over sequences of unequal lengths.
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

/* A layer with what it reads and writes; c is an LSTM's, bias_hh a GRU's. */
struct layer {
    const struct shape *shape;
    struct nn_recurrence l;
    struct field x, w_ih, w_hh, bias, bias_hh, gates, c, h;
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
    p->l = (struct nn_recurrence){
        .inputs = s->inputs, .units = s->units, .steps = steps, .active = active, .starts = starts};
}

/* Some gates far out. */
static struct field make_bias(struct numeric *t, size_t n)
{
    struct field bias = numeric_field(t, 1, n, 0);
    for (size_t e = 0; e < n; e++) {
        bias.data[e] *= e % 7 == 0 ? 40 : 1;
    }
    numeric_sealed(t, bias);
    return bias;
}

static struct layer layer_make(struct numeric *t, const struct shape *s, enum nn_cell_kind cell)
{
    size_t weights = nn_cell_gates(cell) * s->units;
    struct layer p = {.shape = s};
    set_steps(t, &p);
    p.x = numeric_field(t, p.rows, s->inputs, s->gap);
    p.w_ih = numeric_field(t, weights, s->inputs, 0);
    p.w_hh = numeric_field(t, weights, s->units, 0);
    p.bias = make_bias(t, weights);
    p.bias_hh = make_bias(t, weights);
    p.gates = numeric_field(t, p.rows, 4 * s->units, 0);
    p.c = numeric_field(t, p.rows, s->units, 0);
    p.h = numeric_field(t, p.rows, s->units, s->gap);
    p.l.cell = cell;
    p.l.x = p.x.data;
    p.l.ldx = p.x.ld;
    p.l.w_ih = p.w_ih.data;
    p.l.w_hh = p.w_hh.data;
    p.l.bias = s->bias ? p.bias.data : NULL;
    p.l.bias_hh = s->bias && cell == NN_CELL_GRU ? p.bias_hh.data : NULL;
    p.l.gates = p.gates.data;
    p.l.c = cell == NN_CELL_LSTM ? p.c.data : NULL;
    p.l.h = p.h.data;
    p.l.ldh = p.h.ld;
    p.l.storage = numeric_array(t, nn_recurrence_storage(s->inputs, s->units, s->sequences, p.rows),
                                sizeof *p.l.storage);
    p.ref_gates = numeric_doubles(t, p.gates);
    p.ref_c = numeric_doubles(t, p.c);
    p.ref_h = numeric_doubles(t, p.h);
    return p;
}

static const char *cell_name(const struct layer *p)
{
    return p->l.cell == NN_CELL_GRU ? "gru" : "lstm";
}

static void check_forward(struct numeric *t, const struct layer *p)
{
    nn_recurrence_forward(&t->exec, &p->l);
    if (p->l.cell == NN_CELL_GRU) {
        ref_gru_forward(&p->l, p->ref_gates, p->ref_h);
    } else {
        ref_lstm_forward(&p->l, p->ref_gates, p->ref_c, p->ref_h);
        numeric_compare(t, p->c, p->ref_c, 0, "lstm c units=%zu rows=%zu", p->l.units, p->rows);
    }
    numeric_compare(t, p->h, p->ref_h, 0, "%s h units=%zu rows=%zu", cell_name(p), p->l.units,
                    p->rows);
}

static void forward_of(struct numeric *t, enum nn_cell_kind cell)
{
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        struct layer p = layer_make(t, &SHAPES[i], cell);
        check_forward(t, &p);
        numeric_compare(t, p.gates, p.ref_gates, 0, "%s gates units=%zu", cell_name(&p), p.l.units);
    }
}

static void lstm_forward(struct numeric *t)
{
    forward_of(t, NN_CELL_LSTM);
}

static void gru_forward(struct numeric *t)
{
    forward_of(t, NN_CELL_GRU);
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

static void ref_backward(const struct layer *p, const double *d_y,
                         struct ref_recurrence_gradient *out)
{
    if (p->l.cell == NN_CELL_GRU) {
        ref_gru_backward(&p->l, p->ref_gates, p->ref_h, d_y, out);
    } else {
        ref_lstm_backward(&p->l, p->ref_gates, p->ref_c, p->ref_h, d_y, out);
    }
}

static void check_backward(struct numeric *t, const struct layer *p)
{
    const struct shape *s = p->shape;
    const char *cell = cell_name(p);
    bool gru = p->l.cell == NN_CELL_GRU;
    size_t weights = nn_cell_gates(p->l.cell) * s->units;
    size_t *last = numeric_array(t, s->sequences, sizeof *last);
    for (size_t k = 0; k < s->sequences; k++) {
        last[k] = (k * 3 + 1) % s->sequences; /* another order, of 4 and 2 without a clash */
    }
    struct field d_y = numeric_field(t, s->last ? s->sequences : p->rows, s->units, s->gap);
    struct field d_x = numeric_field(t, p->rows, s->inputs, s->gap);
    struct field d_w_ih = numeric_field(t, weights, s->inputs, 0);
    struct field d_w_hh = numeric_field(t, weights, s->units, 0);
    struct field d_bias = numeric_field(t, 1, weights, 0);
    struct field d_bias_hh = numeric_field(t, 1, weights, 0);
    struct ref_recurrence_gradient ref = {numeric_doubles(t, d_x), numeric_doubles(t, d_w_ih),
                                          numeric_doubles(t, d_w_hh), numeric_doubles(t, d_bias),
                                          numeric_doubles(t, d_bias_hh)};
    if (!s->add) {
        memset(ref.d_x, 0, p->rows * s->inputs * sizeof *ref.d_x);
    }
    ref_backward(p, whole_gradient(t, p, d_y, s->last ? last : NULL), &ref);
    struct nn_recurrence_gradient g = {.d_y = d_y.data, .ldd_y = d_y.ld, .add_to_x = s->add};
    g.last = s->last ? last : NULL;
    g.d_x = d_x.data;
    g.ldd_x = d_x.ld;
    g.d_w_ih = d_w_ih.data;
    g.d_w_hh = d_w_hh.data;
    g.d_bias = d_bias.data;
    g.d_bias_hh = gru ? d_bias_hh.data : NULL;
    numeric_workspace(t, nn_recurrence_workspace(s->units, p->rows));
    nn_recurrence_backward(&t->exec, &p->l, &g);
    numeric_compare(t, d_x, ref.d_x, 0, "%s d_x units=%zu rows=%zu", cell, s->units, p->rows);
    numeric_compare(t, d_w_ih, ref.d_w_ih, 0, "%s d_w_ih units=%zu", cell, s->units);
    numeric_compare(t, d_w_hh, ref.d_w_hh, 0, "%s d_w_hh units=%zu", cell, s->units);
    numeric_compare(t, d_bias, ref.d_bias, 0, "%s d_bias units=%zu", cell, s->units);
    numeric_compare(t, d_bias_hh, ref.d_bias_hh, 0, "%s d_bias_hh units=%zu", cell, s->units);
}

static void backward_of(struct numeric *t, enum nn_cell_kind cell)
{
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        struct layer p = layer_make(t, &SHAPES[i], cell);
        check_forward(t, &p);
        check_backward(t, &p);
        numeric_sealed(t, p.gates);
    }
}

static void lstm_backward(struct numeric *t)
{
    backward_of(t, NN_CELL_LSTM);
}

static void gru_backward(struct numeric *t)
{
    backward_of(t, NN_CELL_GRU);
}

/* Written and added to, whose lengths are 3, 2, 2, 1; row by row what the formula says. */
static void reversal(struct numeric *t)
{
    static const size_t ACTIVE[] = {4, 3, 1}, STARTS[] = {0, 4, 7, 8}, LENGTHS[] = {3, 2, 2, 1};
    for (size_t columns = 1; columns < 20; columns += 6) {
        struct field in = numeric_field(t, 8, columns, columns % 3);
        struct field out = numeric_field(t, 8, columns, 2);
        bool add = columns % 2 == 0 || columns == 7;
        double *expected = numeric_doubles(t, out);
        for (size_t k = 0; k < 4; k++) {
            for (size_t e = 0; e < LENGTHS[k] * columns; e++) {
                size_t step = e / columns, c = e % columns;
                size_t from = STARTS[LENGTHS[k] - 1 - step] + k;
                double *to = expected + (STARTS[step] + k) * columns + c;
                *to = (add ? *to : 0) + (double)in.data[from * in.ld + c];
            }
        }
        const struct nn_sequence_reversal r = {3,       columns, ACTIVE, STARTS, out.data,
                                               in.data, out.ld,  in.ld,  add};
        nn_sequences_reverse(&t->exec, &r);
        numeric_compare(t, out, expected, 0, "reversal of %zu columns", columns);
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
    struct nn_recurrence l = {
        .inputs = 1, .units = 1, .steps = 1, .active = &active, .starts = starts};
    l.w_ih = w_ih.data;
    l.w_hh = w_hh.data;
    l.x = x.data;
    l.ldx = l.ldh = 1;
    l.gates = gates.data;
    l.c = c.data;
    l.h = h.data;
    l.storage = numeric_array(t, nn_recurrence_storage(1, 1, rows, rows), sizeof *l.storage);
    double *ref_gates = numeric_doubles(t, gates), *ref_c = numeric_doubles(t, c);
    double *ref_h = numeric_doubles(t, h);
    ref_lstm_forward(&l, ref_gates, ref_c, ref_h);
    nn_recurrence_forward(&t->exec, &l);
    numeric_compare(t, gates, ref_gates, 0, "sigmoid and tanh");
    numeric_compare(t, h, ref_h, 0, "h of extremes");
    numeric_compare(t, c, ref_c, 0, "c of extremes");
}

const struct numeric_case recurrence_cases[] = {
    {"lstm", "lstm gemm_tile", lstm_forward},
    {"lstm_gradient", "lstm lstm_gradient gemm_tile", lstm_backward},
    {"lstm_functions", "lstm", functions},
    {"gru", "gru gemm_tile", gru_forward},
    {"gru_gradient", "gru gru_gradient gemm_tile", gru_backward},
    {"reversal", "", reversal},
    {NULL, NULL, NULL},
};
