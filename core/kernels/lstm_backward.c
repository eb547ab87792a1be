/* SPDX-License-Identifier: MIT
 *
 * LSTM backward: step by step from the last to the gradients of the gates, each step cut into
 * strips of units as forward is; then one product over all steps for each weight and the input.
 */
#include <string.h>

#include "core/kernels/lstm_internal.h"
#include "core/kernels/matrix.h"
#include "core/kernels/table.h"

/* Rows of a weight's gradient at a time, and terms of their sum: that part of d_z stays in the
 * cache.
 */
#define WEIGHT_ROWS  ((size_t)80)
#define WEIGHT_DEPTH ((size_t)256)

/* ---- steps ---- */

struct backward {
    const struct nn_exec *exec;
    const struct nn_lstm *l;
    const struct nn_lstm_gradient *g;
    struct nn_panels recurrent;
    nn_real *d_h, *d_c; /* [sequences, units]: what comes from the step behind */
    size_t t, behind;   /* behind: rows of step t that have such a step */
};

/* Where d_h and d_c begin: sequences whose last step is t. */
static void begin_sequences(const struct backward *p, const struct nn_panel *panel)
{
    const struct nn_lstm *l = p->l;
    for (size_t k = p->behind; k < l->active[p->t]; k++) {
        size_t at = k * l->units + panel->column;
        memset(p->d_c + at, 0, panel->columns * sizeof *p->d_c);
        if (p->g->last) {
            memcpy(p->d_h + at, p->g->d_y + p->g->last[k] * p->g->ldd_y + panel->column,
                   panel->columns * sizeof *p->d_h);
        } else {
            memset(p->d_h + at, 0, panel->columns * sizeof *p->d_h);
        }
    }
}

static void backward_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct backward *p = ctx;
    const struct nn_lstm *l = p->l;
    struct nn_panel panel = nn_panel_at(&p->recurrent, chunk);
    size_t row = l->starts[p->t], width = NN_LSTM_GATES * l->units;
    if (p->behind > 0) {
        struct nn_tile_args product = {.m = p->behind, .k = width, .ldy = l->units};
        product.y = p->d_h + panel.column;
        product.x = l->gates + l->starts[p->t + 1] * width;
        product.x_row = width;
        nn_panel_multiply(p->exec, &panel, product);
    }
    begin_sequences(p, &panel);
    struct nn_lstm_gradient_args args = {.rows = l->active[p->t], .units = panel.columns};
    args.stride = l->units;
    args.gates = l->gates + row * width + panel.column;
    args.d_c = p->d_c + panel.column;
    args.c = l->c + row * l->units + panel.column;
    args.c_before = p->t > 0 ? l->c + l->starts[p->t - 1] * l->units + panel.column : NULL;
    args.d_h = p->d_h + panel.column;
    args.d_y = p->g->last ? NULL : p->g->d_y + row * p->g->ldd_y + panel.column;
    args.ldg = width;
    args.ldc = args.ldd = l->units;
    args.ldd_y = p->g->ldd_y;
    p->exec->kernels->lstm_gradient(&args);
}

/* Storage of backward: packed weights, d_h, d_c; then the operand of the weight gradients. */
static size_t operand_at(size_t units, size_t sequences)
{
    return nn_panels_count(NN_LSTM_GATES * units, units) +
           2 * nn_round_up(sequences * units, NN_LINE);
}

static void steps_backward(const struct nn_exec *exec, const struct nn_lstm *l,
                           const struct nn_lstm_gradient *g)
{
    struct backward p = {.exec = exec, .l = l, .g = g};
    p.recurrent =
        nn_panels_pack(l->storage, l->w_hh, l->units, false, NN_LSTM_GATES * l->units, l->units);
    p.d_h = l->storage + nn_panels_count(NN_LSTM_GATES * l->units, l->units);
    p.d_c = p.d_h + nn_round_up(l->active[0] * l->units, NN_LINE);
    for (p.t = l->steps; p.t-- > 0;) {
        p.behind = p.t + 1 < l->steps ? l->active[p.t + 1] : 0;
        nn_parallel_for(nn_lstm_pool(exec, l, p.t), nn_panels_strips(l->units), backward_chunk, &p);
    }
}

/* ---- gradients of the weights ---- */

/* d_w_hh += d_z^T h_before and d_w_ih += d_z^T x, over all rows. What stands on the right is
 * gathered first: the rows of a step were reached from rows that are not as far before them at
 * every step, and padded rows need no copies later. Then the rows of d_z are read once for both. */
struct weight_gradient {
    const struct nn_exec *exec;
    const struct nn_lstm *l;
    const struct nn_lstm_gradient *g;
    nn_real *operand; /* [rows, ld]: h_before, x, each padded to whole lines with zeros */
    size_t ld, x_column;
};

static void copy_padded(nn_real *out, const nn_real *in, size_t n)
{
    size_t filled = in ? n : 0;
    if (filled > 0) {
        memcpy(out, in, filled * sizeof *out);
    }
    memset(out + filled, 0, (nn_round_up(n, NN_LINE) - filled) * sizeof *out);
}

static void gather_step(void *ctx, size_t t, size_t lane)
{
    (void)lane;
    const struct weight_gradient *p = ctx;
    const struct nn_lstm *l = p->l;
    for (size_t k = 0; k < l->active[t]; k++) {
        size_t row = l->starts[t] + k;
        nn_real *out = p->operand + row * p->ld;
        copy_padded(out, t > 0 ? l->h + (l->starts[t - 1] + k) * l->ldh : NULL, l->units);
        copy_padded(out + p->x_column, l->x + row * l->ldx, l->inputs);
    }
}

/* Some rows of both weights. */
static void weight_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct weight_gradient *p = ctx;
    const struct nn_lstm *l = p->l;
    size_t width = NN_LSTM_GATES * l->units, first = chunk * WEIGHT_ROWS,
           rows = l->starts[l->steps];
    struct nn_tile_args args = {.m = nn_min(WEIGHT_ROWS, width - first), .x_row = 1};
    args.x_step = width;
    args.ldb = p->ld;
    args.b_padded = true;
    args.accumulate = true;
    for (size_t row = 0; row < rows; row += WEIGHT_DEPTH) {
        args.k = nn_min(WEIGHT_DEPTH, rows - row);
        args.x = l->gates + row * width + first;
        if (p->g->d_w_hh) {
            args.n = args.ldy = l->units;
            args.b = p->operand + row * p->ld;
            args.y = p->g->d_w_hh + first * l->units;
            p->exec->kernels->gemm_tile(&args);
        }
        if (p->g->d_w_ih) {
            args.n = args.ldy = l->inputs;
            args.b = p->operand + row * p->ld + p->x_column;
            args.y = p->g->d_w_ih + first * l->inputs;
            p->exec->kernels->gemm_tile(&args);
        }
    }
}

static size_t operand_width(size_t inputs, size_t units)
{
    return nn_round_up(units, NN_LINE) + nn_round_up(inputs, NN_LINE);
}

static void weights_backward(const struct nn_exec *exec, const struct nn_lstm *l,
                             const struct nn_lstm_gradient *g)
{
    struct weight_gradient p = {.exec = exec, .l = l, .g = g};
    p.operand = l->storage + operand_at(l->units, l->active[0]);
    p.ld = operand_width(l->inputs, l->units);
    p.x_column = nn_round_up(l->units, NN_LINE);
    nn_parallel_for(exec->pool, l->steps, gather_step, &p);
    nn_parallel_for(exec->pool, nn_div_up(NN_LSTM_GATES * l->units, WEIGHT_ROWS), weight_chunk, &p);
}

/* ---- gradient of the input ---- */

struct input_gradient {
    const struct nn_exec *exec;
    const struct nn_lstm *l;
    const struct nn_lstm_gradient *g;
    struct nn_panels w_ih;
};

static void input_gradient_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct input_gradient *p = ctx;
    size_t row = chunk * NN_LSTM_ROWS, width = NN_LSTM_GATES * p->l->units;
    for (size_t s = 0; s < nn_panels_strips(p->l->inputs); s++) {
        struct nn_panel panel = nn_panel_at(&p->w_ih, s);
        struct nn_tile_args args = {.m = nn_min(NN_LSTM_ROWS, p->l->starts[p->l->steps] - row)};
        args.k = width;
        args.y = p->g->d_x + row * p->g->ldd_x + panel.column;
        args.x = p->l->gates + row * width;
        args.ldy = p->g->ldd_x;
        args.x_row = width;
        args.accumulate = p->g->add_to_x;
        nn_panel_multiply(p->exec, &panel, args);
    }
}

void nn_lstm_backward(const struct nn_exec *exec, const struct nn_lstm *l,
                      const struct nn_lstm_gradient *g)
{
    size_t rows = l->starts[l->steps], width = NN_LSTM_GATES * l->units;
    steps_backward(exec, l, g);
    if (g->d_w_ih || g->d_w_hh) {
        weights_backward(exec, l, g);
    }
    if (g->d_bias) {
        nn_column_sums(exec, g->d_bias, l->gates, width, rows, width);
    }
    if (g->d_x) {
        struct input_gradient p = {.exec = exec, .l = l, .g = g};
        p.w_ih = nn_panels_pack(l->storage, l->w_ih, l->inputs, false, width, l->inputs);
        nn_parallel_for(exec->pool, nn_div_up(rows, NN_LSTM_ROWS), input_gradient_chunk, &p);
    }
}

/* ---- sizes ---- */

size_t nn_lstm_storage(size_t inputs, size_t units, size_t sequences, size_t rows)
{
    size_t forward =
        NN_LSTM_GATES * (nn_panels_count(units, units) + nn_panels_count(inputs, units));
    size_t backward = operand_at(units, sequences) + rows * operand_width(inputs, units);
    size_t input_gradient = nn_panels_count(NN_LSTM_GATES * units, inputs);
    return nn_round_up(nn_max(nn_max(forward, backward), input_gradient), NN_LINE);
}

size_t nn_lstm_workspace(size_t units, size_t rows)
{
    return nn_column_sums_workspace(rows, NN_LSTM_GATES * units);
}
