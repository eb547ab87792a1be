/* SPDX-License-Identifier: MIT
 *
 * Windows over packed sequences, cut by steps.
 */
#include <string.h>

#include "core/kernels/chunks_internal.h"
#include "core/kernels/sequences.h"
#include "core/kernels/table.h"

#define CHUNK_STEPS ((size_t)8)

struct windows_run {
    const struct nn_exec *exec;
    const struct nn_window_of_steps *w;
    nn_real *out;
    const nn_real *in;
    size_t ld; /* of the matrix that is not of windows */
    bool accumulate;
};

/* The step that tap j of step t sees; NN_NO_STEP when it lies outside of the longest sequence. */
#define NN_NO_STEP SIZE_MAX

static size_t step_seen(const struct nn_window_of_steps *w, size_t t, size_t j)
{
    size_t ahead = t + j * w->dilation;
    return ahead >= w->before && ahead - w->before < w->steps.steps ? ahead - w->before
                                                                    : NN_NO_STEP;
}

/* The step whose tap j sees step t. */
static size_t step_seeing(const struct nn_window_of_steps *w, size_t t, size_t j)
{
    size_t ahead = t + w->before;
    return ahead >= j * w->dilation && ahead - j * w->dilation < w->steps.steps
               ? ahead - j * w->dilation
               : NN_NO_STEP;
}

static void gather_step(const struct windows_run *p, size_t t)
{
    const struct nn_window_of_steps *w = p->w;
    size_t rows = w->steps.active[t], width = w->taps * w->channels;
    for (size_t j = 0; j < w->taps; j++) {
        size_t from = step_seen(w, t, j);
        struct nn_map_args args = {.columns = w->channels, .ldy = width, .lda = p->ld};
        args.y = p->out + w->steps.starts[t] * width + j * w->channels;
        if (from != NN_NO_STEP) {
            args.rows = nn_min(rows, w->steps.active[from]);
            args.a = p->in + w->steps.starts[from] * p->ld;
            p->exec->kernels->copy(&args);
        }
        for (size_t r = args.rows; r < rows; r++) {
            memset(args.y + r * width, 0, w->channels * sizeof *args.y);
        }
    }
}

static void gather_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct windows_run *p = ctx;
    size_t first = chunk * CHUNK_STEPS;
    for (size_t t = first; t < nn_min(first + CHUNK_STEPS, p->w->steps.steps); t++) {
        gather_step(p, t);
    }
}

void nn_windows_gather(const struct nn_exec *exec, const struct nn_window_of_steps *w, nn_real *out,
                       const nn_real *x, size_t ldx)
{
    struct windows_run run = {.exec = exec, .w = w, .out = out, .in = x, .ld = ldx};
    nn_parallel_for(exec->pool, nn_div_up(w->steps.steps, CHUNK_STEPS), gather_chunk, &run);
}

static void scatter_step(const struct windows_run *p, size_t t)
{
    const struct nn_window_of_steps *w = p->w;
    size_t rows = w->steps.active[t], width = w->taps * w->channels;
    nn_real *d_x = p->out + w->steps.starts[t] * p->ld;
    for (size_t r = 0; r < rows && !p->accumulate; r++) {
        memset(d_x + r * p->ld, 0, w->channels * sizeof *d_x);
    }
    for (size_t j = 0; j < w->taps; j++) {
        size_t by = step_seeing(w, t, j);
        if (by != NN_NO_STEP) {
            const struct nn_map_args args = {.rows = nn_min(rows, w->steps.active[by]),
                                             .columns = w->channels,
                                             .y = d_x,
                                             .ldy = p->ld,
                                             .a = p->in + w->steps.starts[by] * width +
                                                  j * w->channels,
                                             .lda = width,
                                             .accumulate = true};
            p->exec->kernels->copy(&args);
        }
    }
}

static void scatter_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct windows_run *p = ctx;
    size_t first = chunk * CHUNK_STEPS;
    for (size_t t = first; t < nn_min(first + CHUNK_STEPS, p->w->steps.steps); t++) {
        scatter_step(p, t);
    }
}

void nn_windows_scatter(const struct nn_exec *exec, const struct nn_window_of_steps *w,
                        nn_real *d_x, size_t ldd_x, bool accumulate, const nn_real *d_windows)
{
    struct windows_run run = {.exec = exec, .w = w, .out = d_x, .in = d_windows, .ld = ldd_x};
    run.accumulate = accumulate;
    nn_parallel_for(exec->pool, nn_div_up(w->steps.steps, CHUNK_STEPS), scatter_chunk, &run);
}
