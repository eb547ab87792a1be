/* SPDX-License-Identifier: MIT
 *
 * Softmax and cross-entropy, cut by rows.
 */
#include "core/kernels/softmax.h"

#include "core/kernels/chunks_internal.h"
#include "core/kernels/table.h"

#define LOSS_ROWS 64

struct softmax_run {
    const struct nn_exec *exec;
    struct nn_map_args all;
    bool gradient;
};

static void softmax_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct softmax_run *p = ctx;
    size_t first = chunk * LOSS_ROWS;
    struct nn_map_args args = p->all;
    args.rows = nn_min(LOSS_ROWS, p->all.rows - first);
    args.y += first * args.ldy;
    args.a += first * args.lda;
    if (p->gradient) {
        args.b += first * args.ldb;
        p->exec->kernels->softmax_gradient(&args);
    } else {
        p->exec->kernels->softmax(&args);
    }
}

void nn_softmax_forward(const struct nn_exec *exec, nn_real *y, size_t ldy, const nn_real *x,
                        size_t ldx, size_t rows, size_t columns)
{
    struct softmax_run run = {.exec = exec, .all = {.rows = rows, .columns = columns}};
    run.all.y = y;
    run.all.a = x;
    run.all.ldy = ldy;
    run.all.lda = ldx;
    nn_parallel_for(exec->pool, nn_div_up(rows, LOSS_ROWS), softmax_chunk, &run);
}

void nn_softmax_gradient(const struct nn_exec *exec, const struct nn_softmax_gradient *g)
{
    struct softmax_run run = {.exec = exec, .all = {.rows = g->rows, .columns = g->columns}};
    run.gradient = true;
    run.all.y = g->d_x;
    run.all.a = g->d_y;
    run.all.b = g->y;
    run.all.ldy = g->ldd_x;
    run.all.lda = g->ldd_y;
    run.all.ldb = g->ldy;
    nn_parallel_for(exec->pool, nn_div_up(g->rows, LOSS_ROWS), softmax_chunk, &run);
}

struct loss_part {
    double loss;
    size_t correct;
};

struct loss_run {
    const struct nn_exec *exec;
    const struct nn_cross_entropy *args;
    struct loss_part *parts;
    nn_real weight_sum;
};

size_t nn_cross_entropy_workspace(size_t rows)
{
    return nn_bytes(nn_div_up(rows, LOSS_ROWS), sizeof(struct loss_part));
}

static void loss_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct loss_run *p = ctx;
    const struct nn_cross_entropy *all = p->args;
    size_t first = chunk * LOSS_ROWS;
    struct nn_cross_entropy_args args = {.classes = all->classes, .factor = all->factor};
    args.smoothing = all->smoothing;
    args.weights = all->weights;
    args.weight_sum = p->weight_sum;
    args.rows = nn_min(LOSS_ROWS, all->rows - first);
    args.logits = all->logits + first * all->ld;
    args.ld = all->ld;
    args.labels = all->labels + first;
    args.d_logits = all->d_logits ? all->d_logits + first * all->ldd : NULL;
    args.ldd = all->ldd;
    args.probabilities = all->probabilities ? all->probabilities + first * all->ldp : NULL;
    args.ldp = all->ldp;
    args.predicted = all->predicted ? all->predicted + first : NULL;
    args.loss = &p->parts[chunk].loss;
    args.correct = &p->parts[chunk].correct;
    p->exec->kernels->cross_entropy(&args);
}

static nn_real weight_sum(const struct nn_cross_entropy *args)
{
    nn_real sum = 0;
    for (size_t c = 0; c < args->classes && args->weights; c++) {
        sum += args->weights[c];
    }
    return args->weights ? sum : (nn_real)args->classes;
}

struct nn_cross_entropy_result nn_cross_entropy(const struct nn_exec *exec,
                                                const struct nn_cross_entropy *args)
{
    size_t chunks = nn_div_up(args->rows, LOSS_ROWS);
    struct loss_run run = {exec, args, NULL, weight_sum(args)};
    run.parts = nn_workspace_piece(exec, 0, nn_cross_entropy_workspace(args->rows), 0);
    struct nn_cross_entropy_result result = {0, 0};
    nn_parallel_for(exec->pool, chunks, loss_chunk, &run);
    for (size_t i = 0; i < chunks; i++) {
        result.loss_sum += run.parts[i].loss;
        result.correct += run.parts[i].correct;
    }
    return result;
}
