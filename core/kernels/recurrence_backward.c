/* SPDX-License-Identifier: MIT
 *
 * Recurrent layers, backward: step by step from the last to the gradients of the gates, each step
 * cut into strips of units as forward is; then one product over all steps for each weight and the
 * input.
 */
#include <string.h>

#include "core/kernels/matrix.h"
#include "core/kernels/recurrence_internal.h"
#include "core/kernels/table.h"

/* Rows of a weight's gradient at a time, and terms of their sum: that part of d_z stays in the
 * cache.
 */
#define WEIGHT_ROWS  ((size_t)80)
#define WEIGHT_DEPTH ((size_t)256)

/* ---- steps ---- */

struct backward {
    const struct nn_exec *exec;
    const struct nn_recurrence *l;
    const struct nn_recurrence_gradient *g;
    const struct nn_cell *cell;
    struct nn_panels recurrent;
    nn_real *d_h, *d_c; /* [sequences, units]: what comes from the step behind; d_c: of an LSTM */
    size_t t, behind;   /* behind: rows of step t that have such a step */
};

/* Where d_h and d_c begin: sequences whose last step is t. */
static void begin_sequences(const struct backward *p, const struct nn_panel *panel)
{
    const struct nn_recurrence *l = p->l;
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

static void cell_step(const struct backward *p, const struct nn_panel *panel)
{
    const struct nn_recurrence *l = p->l;
    size_t row = l->starts[p->t], width = NN_CELL_COLUMNS * l->units;
    struct nn_cell_gradient_args args = {.rows = l->active[p->t], .units = panel->columns};
    args.stride = l->units;
    args.gates = l->gates + row * width + panel->column;
    args.d_h = p->d_h + panel->column;
    args.d_y = p->g->last ? NULL : p->g->d_y + row * p->g->ldd_y + panel->column;
    args.ldg = width;
    args.ldd = l->units;
    args.ldd_y = p->g->ldd_y;
    if (l->cell == NN_CELL_GRU) {
        args.before = p->t > 0 ? l->h + l->starts[p->t - 1] * l->ldh + panel->column : NULL;
        args.ldb = l->ldh;
        p->exec->kernels->gru_gradient(&args);
    } else {
        args.d_c = p->d_c + panel->column;
        args.c = l->c + row * l->units + panel->column;
        args.before = p->t > 0 ? l->c + l->starts[p->t - 1] * l->units + panel->column : NULL;
        args.ldc = args.ldb = l->units;
        p->exec->kernels->lstm_gradient(&args);
    }
}

static void backward_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct backward *p = ctx;
    const struct nn_recurrence *l = p->l;
    struct nn_panel panel = nn_panel_at(&p->recurrent, chunk);
    size_t width = NN_CELL_COLUMNS * l->units;
    if (p->behind > 0) {
        struct nn_tile_args product = {.m = p->behind, .k = p->recurrent.k, .ldy = l->units};
        product.y = p->d_h + panel.column;
        product.x = l->gates + l->starts[p->t + 1] * width + p->cell->recurrent_column * l->units;
        product.x_row = width;
        product.accumulate = l->cell == NN_CELL_GRU; /* to what its cell left there */
        nn_panel_multiply(p->exec, &panel, product);
    }
    begin_sequences(p, &panel);
    cell_step(p, &panel);
}

/* Storage of backward: packed weights, d_h, d_c; then the operand of the weight gradients. */
static size_t operand_at(size_t units, size_t sequences)
{
    return nn_panels_count(NN_CELL_COLUMNS * units, units) + /* of the most gates */
           2 * nn_round_up(sequences * units, NN_LINE);
}

static void steps_backward(const struct nn_exec *exec, const struct nn_recurrence *l,
                           const struct nn_recurrence_gradient *g)
{
    struct backward p = {.exec = exec, .l = l, .g = g, .cell = &NN_CELLS[l->cell]};
    p.recurrent =
        nn_panels_pack(l->storage, l->w_hh, l->units, false, p.cell->gates * l->units, l->units);
    p.d_h = l->storage + nn_panels_count(NN_CELL_COLUMNS * l->units, l->units);
    p.d_c = p.d_h + nn_round_up(l->active[0] * l->units, NN_LINE);
    for (p.t = l->steps; p.t-- > 0;) {
        p.behind = p.t + 1 < l->steps ? l->active[p.t + 1] : 0;
        nn_parallel_for(nn_recurrence_pool(exec, l, p.t), nn_panels_strips(l->units),
                        backward_chunk, &p);
    }
}

/* ---- gradients of the weights ---- */

/* d_w_hh += d_z^T h_before and d_w_ih += d_z^T x, over all rows. What stands on the right is
 * gathered first: the rows of a step were reached from rows that are not as far before them at
 * every step, and padded rows need no copies later. Then the rows of d_z are read once for both. */
struct weight_gradient {
    const struct nn_exec *exec;
    const struct nn_recurrence *l;
    const struct nn_recurrence_gradient *g;
    const struct nn_gate_block *block;
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
    const struct nn_recurrence *l = p->l;
    for (size_t k = 0; k < l->active[t]; k++) {
        size_t row = l->starts[t] + k;
        nn_real *out = p->operand + row * p->ld;
        copy_padded(out, t > 0 ? l->h + (l->starts[t - 1] + k) * l->ldh : NULL, l->units);
        copy_padded(out + p->x_column, l->x + row * l->ldx, l->inputs);
    }
}

/* Some rows of the block's part of both weights. */
static void weight_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct weight_gradient *p = ctx;
    const struct nn_recurrence *l = p->l;
    size_t width = NN_CELL_COLUMNS * l->units, first = chunk * WEIGHT_ROWS,
           rows = l->starts[l->steps], target = p->block->gate * l->units + first;
    struct nn_tile_args args = {.x_row = 1};
    args.m = nn_min(WEIGHT_ROWS, p->block->count * l->units - first);
    args.x_step = width;
    args.ldb = p->ld;
    args.b_padded = true;
    args.accumulate = true;
    for (size_t row = 0; row < rows; row += WEIGHT_DEPTH) {
        args.k = nn_min(WEIGHT_DEPTH, rows - row);
        args.x = l->gates + row * width + p->block->column * l->units + first;
        if (p->g->d_w_hh && p->block->recurrent) {
            args.n = args.ldy = l->units;
            args.b = p->operand + row * p->ld;
            args.y = p->g->d_w_hh + target * l->units;
            p->exec->kernels->gemm_tile(&args);
        }
        if (p->g->d_w_ih && p->block->input) {
            args.n = args.ldy = l->inputs;
            args.b = p->operand + row * p->ld + p->x_column;
            args.y = p->g->d_w_ih + target * l->inputs;
            p->exec->kernels->gemm_tile(&args);
        }
    }
}

static size_t operand_width(size_t inputs, size_t units)
{
    return nn_round_up(units, NN_LINE) + nn_round_up(inputs, NN_LINE);
}

static void weights_backward(const struct nn_exec *exec, const struct nn_recurrence *l,
                             const struct nn_recurrence_gradient *g)
{
    struct weight_gradient p = {.exec = exec, .l = l, .g = g};
    p.operand = l->storage + operand_at(l->units, l->active[0]);
    p.ld = operand_width(l->inputs, l->units);
    p.x_column = nn_round_up(l->units, NN_LINE);
    nn_parallel_for(exec->pool, l->steps, gather_step, &p);
    for (size_t b = 0; b < NN_CELLS[l->cell].n_blocks; b++) {
        p.block = &NN_CELLS[l->cell].blocks[b];
        nn_parallel_for(exec->pool, nn_div_up(p.block->count * l->units, WEIGHT_ROWS), weight_chunk,
                        &p);
    }
}

/* Sums of the columns over all rows. */
static void biases_backward(const struct nn_exec *exec, const struct nn_recurrence *l,
                            const struct nn_recurrence_gradient *g)
{
    size_t width = NN_CELL_COLUMNS * l->units, rows = l->starts[l->steps];
    for (size_t b = 0; b < NN_CELLS[l->cell].n_blocks; b++) {
        const struct nn_gate_block *block = &NN_CELLS[l->cell].blocks[b];
        const nn_real *columns = l->gates + block->column * l->units;
        size_t target = block->gate * l->units, count = block->count * l->units;
        if (g->d_bias && block->input) {
            nn_column_sums(exec, g->d_bias + target, columns, width, rows, count);
        }
        if (g->d_bias_hh && block->recurrent) {
            nn_column_sums(exec, g->d_bias_hh + target, columns, width, rows, count);
        }
    }
}

/* ---- gradient of the input ---- */

struct input_gradient {
    const struct nn_exec *exec;
    const struct nn_recurrence *l;
    const struct nn_recurrence_gradient *g;
    struct nn_panels w_ih[NN_CELL_BLOCKS_MAX]; /* data NULL: the block has no part in it */
};

static void input_gradient_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct input_gradient *p = ctx;
    const struct nn_recurrence *l = p->l;
    const struct nn_cell *cell = &NN_CELLS[l->cell];
    size_t row = chunk * NN_RECURRENCE_ROWS, width = NN_CELL_COLUMNS * l->units;
    for (size_t s = 0; s < nn_panels_strips(l->inputs); s++) {
        struct nn_tile_args args = {.m = nn_min(NN_RECURRENCE_ROWS, l->starts[l->steps] - row)};
        args.ldy = p->g->ldd_x;
        args.x_row = width;
        args.accumulate = p->g->add_to_x;
        for (size_t b = 0; b < cell->n_blocks; b++) {
            if (!p->w_ih[b].data) {
                continue;
            }
            struct nn_panel panel = nn_panel_at(&p->w_ih[b], s);
            args.k = p->w_ih[b].k;
            args.y = p->g->d_x + row * p->g->ldd_x + panel.column;
            args.x = l->gates + row * width + cell->blocks[b].column * l->units;
            nn_panel_multiply(p->exec, &panel, args);
            args.accumulate = true;
        }
    }
}

static void input_backward(const struct nn_exec *exec, const struct nn_recurrence *l,
                           const struct nn_recurrence_gradient *g)
{
    struct input_gradient p = {.exec = exec, .l = l, .g = g};
    nn_real *storage = l->storage;
    for (size_t b = 0; b < NN_CELLS[l->cell].n_blocks; b++) {
        const struct nn_gate_block *block = &NN_CELLS[l->cell].blocks[b];
        if (block->input) {
            size_t rows = block->count * l->units;
            p.w_ih[b] = nn_panels_pack(storage, l->w_ih + block->gate * l->units * l->inputs,
                                       l->inputs, false, rows, l->inputs);
            storage += nn_panels_count(rows, l->inputs);
        }
    }
    nn_parallel_for(exec->pool, nn_div_up(l->starts[l->steps], NN_RECURRENCE_ROWS),
                    input_gradient_chunk, &p);
}

void nn_recurrence_backward(const struct nn_exec *exec, const struct nn_recurrence *l,
                            const struct nn_recurrence_gradient *g)
{
    steps_backward(exec, l, g);
    if (g->d_w_ih || g->d_w_hh) {
        weights_backward(exec, l, g);
    }
    biases_backward(exec, l, g);
    if (g->d_x) {
        input_backward(exec, l, g);
    }
}

/* ---- sizes ---- */

size_t nn_recurrence_storage(size_t inputs, size_t units, size_t sequences, size_t rows)
{
    size_t forward =
        nn_round_up(NN_CELL_COLUMNS * units, NN_LINE) + /* of the most gates, as below */
        NN_CELL_COLUMNS * (nn_panels_count(units, units) + nn_panels_count(inputs, units));
    size_t backward = operand_at(units, sequences) + rows * operand_width(inputs, units);
    size_t input_gradient = nn_panels_count(NN_CELL_COLUMNS * units, inputs);
    return nn_round_up(nn_max(nn_max(forward, backward), input_gradient), NN_LINE);
}

size_t nn_recurrence_workspace(size_t units, size_t rows)
{
    return nn_column_sums_workspace(rows, NN_CELL_COLUMNS * units);
}
