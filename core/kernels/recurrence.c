/* SPDX-License-Identifier: MIT
 *
 * Recurrent layers, forward. The input product over all steps is one product (of few inputs it is
 * done step by step: there is little to gain, and the sums need not travel to memory and back).
 * Then the steps follow each other, each cut into strips of units: a strip's part of the recurrent
 * product and its gates, while they are in the cache. Weights are packed once a call.
 */
#include <string.h>

#include "core/kernels/recurrence_internal.h"
#include "core/kernels/table.h"

#define FEW_INPUTS 64 /* inputs that are multiplied step by step */

struct forward {
    const struct nn_exec *exec;
    const struct nn_recurrence *l;
    const struct nn_cell *cell;
    const nn_real *bias; /* of each column, or NULL */
    /* many inputs: of each block w_ih^T, for all steps at once */
    struct nn_panels input[NN_CELL_BLOCKS_MAX];
    bool ready[NN_CELL_COLUMNS]; /* columns that hold these products */
    /* few: of each column, while its step is in the cache; data NULL: it has no such part */
    struct nn_panels step_input[NN_CELL_COLUMNS];
    struct nn_panels recurrent[NN_CELL_COLUMNS];
    size_t t;
};

static bool has_few_inputs(const struct nn_recurrence *l)
{
    return l->inputs <= FEW_INPUTS;
}

static void input_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct forward *p = ctx;
    const struct nn_recurrence *l = p->l;
    size_t row = chunk * NN_RECURRENCE_ROWS, width = NN_CELL_COLUMNS * l->units;
    for (size_t b = 0; b < p->cell->n_blocks; b++) {
        size_t first = p->cell->blocks[b].column * l->units;
        size_t strips = p->input[b].data ? nn_panels_strips(p->input[b].n) : 0;
        for (size_t s = 0; s < strips; s++) {
            struct nn_panel panel = nn_panel_at(&p->input[b], s);
            struct nn_tile_args args = {.m = nn_min(NN_RECURRENCE_ROWS, l->starts[l->steps] - row),
                                        .k = l->inputs};
            args.y = l->gates + row * width + first + panel.column;
            args.x = l->x + row * l->ldx;
            args.bias = p->bias ? p->bias + first + panel.column : NULL;
            args.ldy = width;
            args.x_row = l->ldx;
            nn_panel_multiply(p->exec, &panel, args);
        }
    }
}

/* The sums of a column that nothing adds to at the first step: its bias, or 0. */
static void fill_rows(const struct nn_tile_args *args, size_t columns)
{
    for (size_t r = 0; r < args->m; r++) {
        nn_real *y = args->y + r * args->ldy;
        if (args->bias) {
            memcpy(y, args->bias, columns * sizeof *y);
        } else {
            memset(y, 0, columns * sizeof *y);
        }
    }
}

/* The strip's part of a column's sums for one step: the input's, if that is not there yet, and that
 * of the state before. */
static void column_products(const struct forward *p, const struct nn_panel *strip, size_t chunk,
                            size_t q)
{
    const struct nn_recurrence *l = p->l;
    size_t row = l->starts[p->t], column = q * l->units + strip->column;
    bool begun = p->ready[q];
    struct nn_tile_args args = {.m = l->active[p->t], .ldy = NN_CELL_COLUMNS * l->units};
    args.y = l->gates + row * args.ldy + column;
    args.bias = p->bias && !begun ? p->bias + column : NULL;
    if (p->step_input[q].data) {
        struct nn_panel input = nn_panel_at(&p->step_input[q], chunk);
        args.k = l->inputs;
        args.x = l->x + row * l->ldx;
        args.x_row = l->ldx;
        nn_panel_multiply(p->exec, &input, args);
        args.bias = NULL;
        begun = true;
    }
    if (p->t > 0 && p->recurrent[q].data) {
        struct nn_panel state = nn_panel_at(&p->recurrent[q], chunk);
        args.k = l->units;
        args.x = l->h + l->starts[p->t - 1] * l->ldh;
        args.x_row = l->ldh;
        args.accumulate = begun;
        nn_panel_multiply(p->exec, &state, args);
    } else if (!begun) {
        fill_rows(&args, strip->columns);
    }
}

static void cell_step(const struct forward *p, const struct nn_panel *strip)
{
    const struct nn_recurrence *l = p->l;
    size_t row = l->starts[p->t], width = NN_CELL_COLUMNS * l->units;
    struct nn_cell_args args = {.rows = l->active[p->t], .units = strip->columns};
    args.stride = l->units;
    args.gates = l->gates + row * width + strip->column;
    args.h = l->h + row * l->ldh + strip->column;
    args.ldg = width;
    args.ldh = l->ldh;
    if (l->cell == NN_CELL_GRU) {
        args.before = p->t > 0 ? l->h + l->starts[p->t - 1] * l->ldh + strip->column : NULL;
        args.ldb = l->ldh;
        p->exec->kernels->gru(&args);
    } else {
        args.c = l->c + row * l->units + strip->column;
        args.before = p->t > 0 ? l->c + l->starts[p->t - 1] * l->units + strip->column : NULL;
        args.ldc = args.ldb = l->units;
        p->exec->kernels->lstm(&args);
    }
}

static void forward_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct forward *p = ctx;
    struct nn_panel strip = nn_panel_at(&p->recurrent[p->cell->recurrent_column], chunk);
    for (size_t q = 0; q < NN_CELL_COLUMNS; q++) {
        column_products(p, &strip, chunk, q);
    }
    cell_step(p, &strip);
}

/* Each gate's part of a weight [G units, k], transposed, to the columns of the blocks it has a part
 * in. */
static void pack_columns(struct nn_panels out[NN_CELL_COLUMNS], const struct nn_cell *cell,
                         bool recurrent, nn_real *storage, const nn_real *w, size_t k, size_t units)
{
    for (size_t b = 0; b < cell->n_blocks; b++) {
        const struct nn_gate_block *block = &cell->blocks[b];
        for (size_t i = 0; (recurrent ? block->recurrent : block->input) && i < block->count; i++) {
            size_t gate = block->gate + i;
            out[block->column + i] = nn_panels_pack(storage + gate * nn_panels_count(k, units),
                                                    w + gate * units * k, k, true, k, units);
        }
    }
}

static void all_inputs(struct forward *p, nn_real *storage)
{
    const struct nn_recurrence *l = p->l;
    for (size_t b = 0; b < p->cell->n_blocks; b++) {
        const struct nn_gate_block *block = &p->cell->blocks[b];
        if (!block->input) {
            continue;
        }
        p->input[b] = nn_panels_pack(storage, l->w_ih + block->gate * l->units * l->inputs,
                                     l->inputs, true, l->inputs, block->count * l->units);
        storage += nn_panels_count(l->inputs, block->count * l->units);
        for (size_t i = 0; i < block->count; i++) {
            p->ready[block->column + i] = true;
        }
    }
    nn_parallel_for(p->exec->pool, nn_div_up(l->starts[l->steps], NN_RECURRENCE_ROWS), input_chunk,
                    p);
}

/* The biases in the order of the columns: of a sum that both weights have a part in, both. */
static const nn_real *column_biases(const struct nn_recurrence *l, nn_real *storage)
{
    const struct nn_cell *cell = &NN_CELLS[l->cell];
    if (!l->bias_hh) {
        return l->bias;
    }
    for (size_t b = 0; b < cell->n_blocks; b++) {
        const struct nn_gate_block *block = &cell->blocks[b];
        for (size_t i = 0; i < block->count * l->units; i++) {
            size_t at = block->gate * l->units + i;
            storage[block->column * l->units + i] =
                (block->input ? l->bias[at] : 0) + (block->recurrent ? l->bias_hh[at] : 0);
        }
    }
    return storage;
}

void nn_recurrence_forward(const struct nn_exec *exec, const struct nn_recurrence *l)
{
    struct forward p = {.exec = exec, .l = l, .cell = &NN_CELLS[l->cell]};
    nn_real *weights = l->storage + nn_round_up(NN_CELL_COLUMNS * l->units, NN_LINE);
    nn_real *rest = weights + p.cell->gates * nn_panels_count(l->units, l->units);
    p.bias = column_biases(l, l->storage);
    pack_columns(p.recurrent, p.cell, true, weights, l->w_hh, l->units, l->units);
    if (has_few_inputs(l)) {
        pack_columns(p.step_input, p.cell, false, rest, l->w_ih, l->inputs, l->units);
    } else {
        all_inputs(&p, rest);
    }
    for (p.t = 0; p.t < l->steps; p.t++) {
        nn_parallel_for(nn_recurrence_pool(exec, l, p.t), nn_panels_strips(l->units), forward_chunk,
                        &p);
    }
}

size_t nn_cell_gates(enum nn_cell_kind cell)
{
    return NN_CELLS[cell].gates;
}

/* ---- reversal ---- */

static void reverse_sequence(void *ctx, size_t k, size_t lane)
{
    (void)lane;
    const struct nn_sequence_reversal *r = ctx;
    size_t steps = 0;
    while (steps < r->steps && r->active[steps] > k) {
        steps++;
    }
    for (size_t t = 0; t < steps; t++) {
        nn_real *out = r->out + (r->starts[t] + k) * r->ldo;
        const nn_real *in = r->in + (r->starts[steps - 1 - t] + k) * r->ldi;
        if (!r->add) {
            memcpy(out, in, r->columns * sizeof *out);
            continue;
        }
        for (size_t c = 0; c < r->columns; c++) {
            out[c] += in[c];
        }
    }
}

void nn_sequences_reverse(const struct nn_exec *exec, const struct nn_sequence_reversal *reversal)
{
    struct nn_sequence_reversal copy = *reversal;
    nn_parallel_for(exec->pool, copy.active[0], reverse_sequence, &copy);
}
