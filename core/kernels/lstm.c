/* SPDX-License-Identifier: MIT
 *
 * LSTM forward. The input product over all steps is one product (of few inputs it is done step by
 * step: there is little to gain, and the sums need not travel to memory and back). Then the steps
 * follow each other, each cut into strips of units: a strip's part of the recurrent product and its
 * gates, while they are in the cache. Weights are packed once a call.
 */
#include "core/kernels/lstm_internal.h"
#include "core/kernels/table.h"

#define FEW_INPUTS 64 /* inputs that are multiplied step by step */

/* ---- forward ---- */

struct forward {
    const struct nn_exec *exec;
    const struct nn_lstm *l;
    struct nn_panels input; /* many inputs: w_ih^T, for all steps at once */
    struct nn_panels
        step_input[NN_LSTM_GATES]; /* few: each gate's part, while its step is in the cache */
    struct nn_panels recurrent[NN_LSTM_GATES];
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
    size_t row = chunk * NN_LSTM_ROWS, width = NN_LSTM_GATES * l->units;
    for (size_t s = 0; s < nn_panels_strips(width); s++) {
        struct nn_panel panel = nn_panel_at(&p->input, s);
        struct nn_tile_args args = {.m = nn_min(NN_LSTM_ROWS, l->starts[l->steps] - row)};
        args.k = l->inputs;
        args.y = l->gates + row * width + panel.column;
        args.x = l->x + row * l->ldx;
        args.bias = l->bias ? l->bias + panel.column : NULL;
        args.ldy = width;
        args.x_row = l->ldx;
        nn_panel_multiply(p->exec, &panel, args);
    }
}

/* The strip's part of a gate's sums for one step: the input's, if that is not there yet, and that
 * of the state before. */
static void gate_products(const struct forward *p, size_t strip, size_t g)
{
    const struct nn_lstm *l = p->l;
    size_t row = l->starts[p->t];
    struct nn_panel panel = nn_panel_at(&p->recurrent[g], strip);
    struct nn_tile_args args = {.m = l->active[p->t], .ldy = NN_LSTM_GATES * l->units};
    args.y = l->gates + row * NN_LSTM_GATES * l->units + g * l->units + panel.column;
    if (has_few_inputs(l)) {
        struct nn_panel input = nn_panel_at(&p->step_input[g], strip);
        args.k = l->inputs;
        args.x = l->x + row * l->ldx;
        args.x_row = l->ldx;
        args.bias = l->bias ? l->bias + g * l->units + panel.column : NULL;
        nn_panel_multiply(p->exec, &input, args);
    }
    if (p->t > 0) {
        args.k = l->units;
        args.x = l->h + l->starts[p->t - 1] * l->ldh;
        args.x_row = l->ldh;
        args.bias = NULL;
        args.accumulate = true;
        nn_panel_multiply(p->exec, &panel, args);
    }
}

static void forward_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct forward *p = ctx;
    const struct nn_lstm *l = p->l;
    struct nn_panel panel = nn_panel_at(&p->recurrent[0], chunk);
    size_t row = l->starts[p->t];
    for (size_t g = 0; g < NN_LSTM_GATES; g++) {
        gate_products(p, chunk, g);
    }
    struct nn_lstm_args args = {.rows = l->active[p->t], .units = panel.columns};
    args.stride = l->units;
    args.gates = l->gates + row * NN_LSTM_GATES * l->units + panel.column;
    args.c = l->c + row * l->units + panel.column;
    args.h = l->h + row * l->ldh + panel.column;
    args.c_before = p->t > 0 ? l->c + l->starts[p->t - 1] * l->units + panel.column : NULL;
    args.ldg = NN_LSTM_GATES * l->units;
    args.ldc = l->units;
    args.ldh = l->ldh;
    p->exec->kernels->lstm(&args);
}

/* Each gate's part of a weight [4 units, k], transposed. */
static void pack_gates(struct nn_panels out[NN_LSTM_GATES], nn_real *storage, const nn_real *w,
                       size_t k, size_t units)
{
    for (size_t g = 0; g < NN_LSTM_GATES; g++) {
        out[g] = nn_panels_pack(storage + g * nn_panels_count(k, units), w + g * units * k, k, true,
                                k, units);
    }
}

void nn_lstm_forward(const struct nn_exec *exec, const struct nn_lstm *l)
{
    struct forward p = {.exec = exec, .l = l};
    nn_real *rest = l->storage + NN_LSTM_GATES * nn_panels_count(l->units, l->units);
    pack_gates(p.recurrent, l->storage, l->w_hh, l->units, l->units);
    if (has_few_inputs(l)) {
        pack_gates(p.step_input, rest, l->w_ih, l->inputs, l->units);
    } else {
        p.input =
            nn_panels_pack(rest, l->w_ih, l->inputs, true, l->inputs, NN_LSTM_GATES * l->units);
        nn_parallel_for(exec->pool, nn_div_up(l->starts[l->steps], NN_LSTM_ROWS), input_chunk, &p);
    }
    for (p.t = 0; p.t < l->steps; p.t++) {
        nn_parallel_for(nn_lstm_pool(exec, l, p.t), nn_panels_strips(l->units), forward_chunk, &p);
    }
}
