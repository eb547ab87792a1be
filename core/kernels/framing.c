/* SPDX-License-Identifier: MIT
 *
 * Pixels around an image or cut from it: one chunk a line. The gradient gathers, line by line of
 * the image, what was made of it, in the order of the output.
 */
#include "core/kernels/framing.h"

#include <string.h>

#include "core/kernels/chunks_internal.h"
#include "core/kernels/table.h"

#define OUTSIDE (-1L)

struct framing_run {
    const struct nn_exec *exec;
    const struct nn_framing *framing;
    nn_real *to;
    const nn_real *from;
    size_t ldt, ldf;
    bool accumulate;
    long begin, end; /* output columns that show the image itself */
};

/* The pixel of a side of n that position k shows, or OUTSIDE. */
static long source_of(enum nn_framing_mode mode, long k, size_t side)
{
    long last = (long)side - 1;
    if (k >= 0 && k <= last) {
        return k;
    }
    switch (mode) {
    case NN_FRAMING_CONSTANT:
        break;
    case NN_FRAMING_REFLECT:
        return k < 0 ? -k : 2 * last - k;
    case NN_FRAMING_REPLICATE:
        return k < 0 ? 0 : last;
    }
    return OUTSIDE;
}

static long clamped(long k, long last)
{
    return k < 0 ? 0 : (k > last ? last : k);
}

static struct framing_run run_of(const struct nn_exec *exec, const struct nn_framing *f)
{
    struct framing_run run = {.exec = exec, .framing = f};
    run.begin = clamped(f->left, (long)f->out_width);
    run.end = clamped(f->left + (long)f->width, (long)f->out_width);
    run.end = run.end < run.begin ? run.begin : run.end;
    return run;
}

/* to = from, or added to it, for n pixels. */
static void copy_rows(const struct framing_run *p, nn_real *to, const nn_real *from, size_t n,
                      bool accumulate)
{
    struct nn_map_args args = {.rows = n, .columns = p->framing->channels};
    args.y = to;
    args.ldy = p->ldt;
    args.a = from;
    args.lda = p->ldf;
    args.accumulate = accumulate;
    if (n > 0) {
        p->exec->kernels->copy(&args);
    }
}

static void fill_rows(const struct framing_run *p, nn_real *to, long n)
{
    for (long r = 0; r < n; r++) {
        struct nn_vector_args args = {.n = p->framing->channels, .value = p->framing->value};
        args.y = to + (size_t)r * p->ldt;
        p->exec->kernels->fill(&args);
    }
}

/* Output columns [j, end) beside the image. */
static void frame_columns(const struct framing_run *p, nn_real *to, const nn_real *from, long j,
                          long end)
{
    const struct nn_framing *f = p->framing;
    if (f->mode == NN_FRAMING_CONSTANT) {
        fill_rows(p, to + (size_t)j * p->ldt, end - j);
        return;
    }
    for (; j < end; j++) {
        long s = source_of(f->mode, j - f->left, f->width);
        copy_rows(p, to + (size_t)j * p->ldt, from + (size_t)s * p->ldf, 1, false);
    }
}

static void forward_line(void *ctx, size_t line, size_t lane)
{
    (void)lane;
    const struct framing_run *p = ctx;
    const struct nn_framing *f = p->framing;
    long i = (long)(line % f->out_height), width = (long)f->out_width;
    long s = source_of(f->mode, i - f->top, f->height);
    nn_real *to = p->to + line * f->out_width * p->ldt;
    if (s == OUTSIDE) {
        fill_rows(p, to, width);
        return;
    }
    const nn_real *from =
        p->from + (line / f->out_height * f->height + (size_t)s) * f->width * p->ldf;
    frame_columns(p, to, from, 0, p->begin);
    copy_rows(p, to + (size_t)p->begin * p->ldt, from + (p->begin - f->left) * (long)p->ldf,
              (size_t)(p->end - p->begin), false);
    frame_columns(p, to, from, p->end, width);
}

void nn_framing_forward(const struct nn_exec *exec, const struct nn_framing *framing, nn_real *y,
                        size_t ldy, const nn_real *x, size_t ldx)
{
    struct framing_run run = run_of(exec, framing);
    run.to = y;
    run.ldt = ldy;
    run.from = x;
    run.ldf = ldx;
    nn_parallel_for(exec->pool, framing->batch * framing->out_height, forward_line, &run);
}

/* d_x's line += a line of d_y that shows it. */
static void gather_line(const struct framing_run *p, nn_real *d_x, const nn_real *d_y)
{
    const struct nn_framing *f = p->framing;
    copy_rows(p, d_x + (p->begin - f->left) * (long)p->ldt, d_y + (size_t)p->begin * p->ldf,
              (size_t)(p->end - p->begin), true);
    for (long j = 0; f->mode != NN_FRAMING_CONSTANT && j < (long)f->out_width; j++) {
        if (j >= p->begin && j < p->end) {
            continue;
        }
        long s = source_of(f->mode, j - f->left, f->width);
        copy_rows(p, d_x + (size_t)s * p->ldt, d_y + (size_t)j * p->ldf, 1, true);
    }
}

static void gradient_line(void *ctx, size_t line, size_t lane)
{
    (void)lane;
    const struct framing_run *p = ctx;
    const struct nn_framing *f = p->framing;
    size_t image = line / f->height;
    long h = (long)(line % f->height);
    nn_real *d_x = p->to + line * f->width * p->ldt;
    for (size_t r = 0; !p->accumulate && r < f->width; r++) {
        memset(d_x + r * p->ldt, 0, f->channels * sizeof *d_x);
    }
    for (size_t i = 0; i < f->out_height; i++) {
        if (source_of(f->mode, (long)i - f->top, f->height) == h) {
            gather_line(p, d_x, p->from + (image * f->out_height + i) * f->out_width * p->ldf);
        }
    }
}

void nn_framing_gradient(const struct nn_exec *exec, const struct nn_framing *framing, nn_real *d_x,
                         size_t ldd_x, bool accumulate, const nn_real *d_y, size_t ldd_y)
{
    struct framing_run run = run_of(exec, framing);
    run.to = d_x;
    run.ldt = ldd_x;
    run.from = d_y;
    run.ldf = ldd_y;
    run.accumulate = accumulate;
    nn_parallel_for(exec->pool, framing->batch * framing->height, gradient_line, &run);
}
