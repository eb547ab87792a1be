/* SPDX-License-Identifier: MIT
 *
 * LSTM. The input product over all steps is one product (of few inputs it is done step by step:
 * there is little to gain, and the sums need not travel to memory and back), and so is each weight
 * gradient; between them the steps follow each other, each cut into strips of units: a strip's part
 * of the recurrent product and its gates, while they are in the cache. Weights are packed once a
 * call.
 */
#include "core/kernels/lstm.h"

#include <string.h>

#include "core/kernels/gemm_internal.h"
#include "core/kernels/panels_internal.h"
#include "core/kernels/table.h"

#define GATES      ((size_t)4)
#define FEW_INPUTS 64                /* inputs that are multiplied step by step */
#define INPUT_ROWS 96                /* rows of the input product at a time */
#define STEP_WORK  ((size_t)1 << 19) /* multiply-adds of a step that are worth waking threads */

/* y [rows, columns of the panel] = x [rows, k] panel, or added to y. */
static void multiply(const struct nn_exec *exec, const struct nn_panel *panel,
                     struct nn_tile_args args)
{
    args.n = panel->columns;
    args.b = panel->data;
    args.ldb = panel->width;
    args.x_step = 1;
    args.b_padded = true;
    exec->kernels->gemm_tile(&args);
}

static struct nn_pool *pool_of_step(const struct nn_exec *exec, const struct nn_lstm *l, size_t t)
{
    return l->active[t] * GATES * l->units * l->units >= STEP_WORK ? exec->pool : NULL;
}

/* ---- forward ---- */

struct forward {
    const struct nn_exec *exec;
    const struct nn_lstm *l;
    struct nn_panels input;             /* many inputs: w_ih^T, for all steps at once */
    struct nn_panels step_input[GATES]; /* few: each gate's part, while its step is in the cache */
    struct nn_panels recurrent[GATES];
    size_t t;
};

static bool has_few_inputs(const struct nn_lstm *l)
{
    return l->inputs <= FEW_INPUTS;
}

static void input_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct forward *p = ctx;
    const struct nn_lstm *l = p->l;
    size_t row = chunk * INPUT_ROWS, width = GATES * l->units;
    for (size_t s = 0; s < nn_panels_strips(width); s++) {
        struct nn_panel panel = nn_panel_at(&p->input, s);
        struct nn_tile_args args = {.m = nn_min(INPUT_ROWS, l->starts[l->steps] - row)};
        args.k = l->inputs;
        args.y = l->gates + row * width + panel.column;
        args.x = l->x + row * l->ldx;
        args.bias = l->bias ? l->bias + panel.column : NULL;
        args.ldy = width;
        args.x_row = l->ldx;
        multiply(p->exec, &panel, args);
    }
}

/* The strip's part of a gate's sums for one step: the input's, if that is not there yet, and that
 * of the state before. */
static void gate_products(const struct forward *p, size_t strip, size_t g)
{
    const struct nn_lstm *l = p->l;
    size_t row = l->starts[p->t];
    struct nn_panel panel = nn_panel_at(&p->recurrent[g], strip);
    struct nn_tile_args args = {.m = l->active[p->t], .ldy = GATES * l->units};
    args.y = l->gates + row * GATES * l->units + g * l->units + panel.column;
    if (has_few_inputs(l)) {
        struct nn_panel input = nn_panel_at(&p->step_input[g], strip);
        args.k = l->inputs;
        args.x = l->x + row * l->ldx;
        args.x_row = l->ldx;
        args.bias = l->bias ? l->bias + g * l->units + panel.column : NULL;
        multiply(p->exec, &input, args);
    }
    if (p->t > 0) {
        args.k = l->units;
        args.x = l->h + l->starts[p->t - 1] * l->ldh;
        args.x_row = l->ldh;
        args.bias = NULL;
        args.accumulate = true;
        multiply(p->exec, &panel, args);
    }
}

static void forward_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct forward *p = ctx;
    const struct nn_lstm *l = p->l;
    struct nn_panel panel = nn_panel_at(&p->recurrent[0], chunk);
    size_t row = l->starts[p->t];
    for (size_t g = 0; g < GATES; g++) {
        gate_products(p, chunk, g);
    }
    struct nn_lstm_args args = {.rows = l->active[p->t], .units = panel.columns};
    args.stride = l->units;
    args.gates = l->gates + row * GATES * l->units + panel.column;
    args.c = l->c + row * l->units + panel.column;
    args.h = l->h + row * l->ldh + panel.column;
    args.c_before = p->t > 0 ? l->c + l->starts[p->t - 1] * l->units + panel.column : NULL;
    args.ldg = GATES * l->units;
    args.ldc = l->units;
    args.ldh = l->ldh;
    p->exec->kernels->lstm(&args);
}

/* Each gate's part of a weight [4 units, k], transposed. */
static void pack_gates(struct nn_panels out[GATES], nn_real *storage, const nn_real *w, size_t k,
                       size_t units)
{
    for (size_t g = 0; g < GATES; g++) {
        out[g] = nn_panels_pack(storage + g * nn_panels_count(k, units), w + g * units * k, k, true,
                                k, units);
    }
}

void nn_lstm_forward(const struct nn_exec *exec, const struct nn_lstm *l)
{
    struct forward p = {.exec = exec, .l = l};
    nn_real *rest = l->storage + GATES * nn_panels_count(l->units, l->units);
    pack_gates(p.recurrent, l->storage, l->w_hh, l->units, l->units);
    if (has_few_inputs(l)) {
        pack_gates(p.step_input, rest, l->w_ih, l->inputs, l->units);
    } else {
        p.input = nn_panels_pack(rest, l->w_ih, l->inputs, true, l->inputs, GATES * l->units);
        nn_parallel_for(exec->pool, nn_div_up(l->starts[l->steps], INPUT_ROWS), input_chunk, &p);
    }
    for (p.t = 0; p.t < l->steps; p.t++) {
        nn_parallel_for(pool_of_step(exec, l, p.t), nn_panels_strips(l->units), forward_chunk, &p);
    }
}

/* ---- backward ---- */

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
    size_t row = l->starts[p->t], width = GATES * l->units;
    if (p->behind > 0) {
        struct nn_tile_args product = {.m = p->behind, .k = width, .ldy = l->units};
        product.y = p->d_h + panel.column;
        product.x = l->gates + l->starts[p->t + 1] * width;
        product.x_row = width;
        multiply(p->exec, &panel, product);
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

/* Storage of backward: packed weights, d_h, d_c; then the states before each step. */
static size_t states_at(size_t units, size_t sequences)
{
    return nn_panels_count(GATES * units, units) + 2 * nn_round_up(sequences * units, NN_LINE);
}

static void steps_backward(const struct nn_exec *exec, const struct nn_lstm *l,
                           const struct nn_lstm_gradient *g)
{
    struct backward p = {.exec = exec, .l = l, .g = g};
    p.recurrent = nn_panels_pack(l->storage, l->w_hh, l->units, false, GATES * l->units, l->units);
    p.d_h = l->storage + nn_panels_count(GATES * l->units, l->units);
    p.d_c = p.d_h + nn_round_up(l->active[0] * l->units, NN_LINE);
    for (p.t = l->steps; p.t-- > 0;) {
        p.behind = p.t + 1 < l->steps ? l->active[p.t + 1] : 0;
        nn_parallel_for(pool_of_step(exec, l, p.t), nn_panels_strips(l->units), backward_chunk, &p);
    }
}

/* d_w [4 units, n] += d_z^T x over some rows. */
static void weight_gradient(const struct nn_exec *exec, const struct nn_lstm *l, nn_real *d_w,
                            const nn_real *x, size_t ldx, size_t first_row, size_t n)
{
    struct nn_gemm gemm = {.m = GATES * l->units, .n = n, .k = l->starts[l->steps] - first_row};
    gemm.a = l->gates + first_row * gemm.m;
    gemm.lda = gemm.m;
    gemm.transpose_a = true;
    gemm.b = x;
    gemm.ldb = ldx;
    gemm.c = d_w;
    gemm.ldc = n;
    gemm.accumulate = true;
    nn_gemm(exec, &gemm);
}

/* The rows of step t were reached from rows that are not as far before them at every step: gathered
 * first, they make one product. */
static void recurrent_gradient(const struct nn_exec *exec, const struct nn_lstm *l, nn_real *d_w)
{
    nn_real *before = l->storage + states_at(l->units, l->active[0]);
    nn_real *out = before;
    if (l->steps == 1) {
        return;
    }
    for (size_t t = 1; t < l->steps; t++) {
        const nn_real *h = l->h + l->starts[t - 1] * l->ldh;
        for (size_t k = 0; k < l->active[t]; k++, out += l->units) {
            memcpy(out, h + k * l->ldh, l->units * sizeof *out);
        }
    }
    weight_gradient(exec, l, d_w, before, l->units, l->starts[1], l->units);
}

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
    size_t row = chunk * INPUT_ROWS, width = GATES * p->l->units;
    for (size_t s = 0; s < nn_panels_strips(p->l->inputs); s++) {
        struct nn_panel panel = nn_panel_at(&p->w_ih, s);
        struct nn_tile_args args = {.m = nn_min(INPUT_ROWS, p->l->starts[p->l->steps] - row)};
        args.k = width;
        args.y = p->g->d_x + row * p->g->ldd_x + panel.column;
        args.x = p->l->gates + row * width;
        args.ldy = p->g->ldd_x;
        args.x_row = width;
        args.accumulate = p->g->add_to_x;
        multiply(p->exec, &panel, args);
    }
}

void nn_lstm_backward(const struct nn_exec *exec, const struct nn_lstm *l,
                      const struct nn_lstm_gradient *g)
{
    size_t rows = l->starts[l->steps], width = GATES * l->units;
    steps_backward(exec, l, g);
    if (g->d_w_ih) {
        weight_gradient(exec, l, g->d_w_ih, l->x, l->ldx, 0, l->inputs);
    }
    if (g->d_w_hh) {
        recurrent_gradient(exec, l, g->d_w_hh);
    }
    if (g->d_bias) {
        nn_column_sums(exec, g->d_bias, l->gates, width, rows, width);
    }
    if (g->d_x) {
        struct input_gradient p = {.exec = exec, .l = l, .g = g};
        p.w_ih = nn_panels_pack(l->storage, l->w_ih, l->inputs, false, width, l->inputs);
        nn_parallel_for(exec->pool, nn_div_up(rows, INPUT_ROWS), input_gradient_chunk, &p);
    }
}

/* ---- sizes ---- */

size_t nn_lstm_storage(size_t inputs, size_t units, size_t sequences, size_t rows)
{
    size_t forward = GATES * (nn_panels_count(units, units) + nn_panels_count(inputs, units));
    size_t backward = states_at(units, sequences) + nn_round_up(rows * units, NN_LINE);
    size_t input_gradient = nn_panels_count(GATES * units, inputs);
    return nn_round_up(nn_max(nn_max(forward, backward), input_gradient), NN_LINE);
}

size_t nn_lstm_workspace(size_t inputs, size_t units, size_t rows)
{
    size_t width = GATES * units;
    size_t most = nn_max(nn_gemm_workspace_up_to(width, inputs, rows),
                         nn_gemm_workspace_up_to(width, units, rows));
    return nn_max(most, nn_column_sums_workspace(rows, width));
}
