/* SPDX-License-Identifier: MIT
 *
 * Speed of convolutions of several sorts, all three passes, on one thread, with the best table of
 * this processor. One JSON line a shape: processor time and speed of each pass. Compare lines of
 * one run with each other, never with another run's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/memory.h"
#include "core/kernels/kernels.h"

#define ROUNDS 9

struct shape {
    const char *name;
    struct nn_conv2d conv;
    bool transposed; /* time the transposed convolution from the output's size to the input's */
};

#define SHAPE(n, side, c, f, k, s, p, out, d, g)                                                   \
    {                                                                                              \
        .batch = n, .height = side, .width = side, .channels = c, .filters = f, .kernel_h = k,     \
        .kernel_w = k, .stride_h = s, .stride_w = s, .pad_top = p, .pad_left = p,                  \
        .out_height = out, .out_width = out, .dilation_h = d, .dilation_w = d, .groups = g         \
    }

static const struct shape SHAPES[] = {
    {"plain", SHAPE(8, 28, 128, 128, 3, 1, 1, 28, 1, 1), false},
    {"groups of 32", SHAPE(8, 28, 128, 128, 3, 1, 1, 28, 1, 4), false},
    {"groups of 4", SHAPE(8, 28, 128, 128, 3, 1, 1, 28, 1, 32), false},
    {"dilated", SHAPE(8, 28, 128, 128, 3, 1, 2, 28, 2, 1), false},
    {"transposed by 2", SHAPE(8, 56, 64, 128, 2, 2, 0, 28, 1, 1), true},
    {"transposed 4x4 by 2", SHAPE(8, 56, 64, 128, 4, 2, 1, 28, 1, 1), true},
    {"transposed by 1", SHAPE(8, 28, 128, 128, 3, 1, 1, 28, 1, 1), true},
};

struct bench {
    struct nn_exec exec;
    const struct shape *shape;
    nn_real *x, *y, *w, *d_w, *storage;
};

static nn_real *numbers(size_t n)
{
    nn_real *x = nn_memory_alloc(NULL, n, sizeof *x);
    NN_ASSERT(x);
    for (size_t i = 0; i < n; i++) {
        x[i] = (nn_real)((double)(i * 2654435761u % 1000) / 500 - 1);
    }
    return x;
}

static void forward(struct bench *b)
{
    const struct nn_conv2d *c = &b->shape->conv;
    const struct nn_conv2d_output y = {.y = b->y, .ldy = c->filters};
    struct nn_conv2d_weights weights;
    nn_conv2d_pack_forward(&b->exec, c, &weights, b->storage, b->w);
    nn_conv2d_forward(&b->exec, c, &y, b->x, c->channels, &weights);
}

static void input(struct bench *b)
{
    const struct nn_conv2d *c = &b->shape->conv;
    struct nn_conv2d_weights weights;
    nn_conv2d_pack_backward(&b->exec, c, &weights, b->storage, b->w);
    nn_conv2d_transposed(&b->exec, c, b->x, c->channels, NULL, b->y, c->filters, &weights);
}

static void weight(struct bench *b)
{
    const struct nn_conv2d *c = &b->shape->conv;
    nn_conv2d_weight_gradient(&b->exec, c, b->d_w, b->x, c->channels, b->y, c->filters, NULL);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Median of some rounds, in milliseconds of processor time. */
static double measure(struct bench *b, void (*pass)(struct bench *b))
{
    double ms[ROUNDS];
    pass(b);
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec t, u;
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        pass(b);
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &u);
        ms[i] = (double)(u.tv_sec - t.tv_sec) * 1e3 + (double)(u.tv_nsec - t.tv_nsec) * 1e-6;
    }
    qsort(ms, ROUNDS, sizeof *ms, compare);
    return ms[ROUNDS / 2];
}

static void run(struct bench *b)
{
    const struct nn_conv2d *c = &b->shape->conv;
    size_t area = c->kernel_h * c->kernel_w, in = c->batch * c->height * c->width;
    size_t out = c->batch * c->out_height * c->out_width;
    size_t weights = area * c->channels / c->groups * c->filters;
    double flops = 2.0 * (double)out * (double)weights;
    b->x = numbers(in * c->channels);
    b->y = numbers(out * c->filters);
    b->w = numbers(weights);
    b->d_w = numbers(weights);
    b->storage = numbers(nn_conv2d_pack_count(c));
    b->exec.workspace_bytes = nn_conv2d_workspace(c, 1);
    b->exec.workspace = nn_memory_alloc(NULL, b->exec.workspace_bytes, 1);
    NN_ASSERT(b->exec.workspace);
    const double ms[3] = {measure(b, b->shape->transposed ? input : forward),
                          measure(b, b->shape->transposed ? forward : input), measure(b, weight)};
    printf("{\"bench\": \"%s\"", b->shape->name);
    for (size_t i = 0; i < 3; i++) {
        static const char *const PASSES[] = {"forward", "input", "weight"};
        printf(", \"%s_ms\": %.3f, \"%s_gflops\": %.1f", PASSES[i], ms[i], PASSES[i],
               flops / ms[i] / 1e6);
    }
    printf("}\n");
    nn_real *const buffers[] = {b->x, b->y, b->w, b->d_w, b->storage, b->exec.workspace};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        nn_memory_free(NULL, buffers[i]);
    }
}

int main(void)
{
    struct bench b = {.exec.kernels = nn_kernels_best()};
    nn_cpu_flush_denormals();
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        b.shape = &SHAPES[i];
        run(&b);
    }
    return 0;
}
