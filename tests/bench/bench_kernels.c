/* SPDX-License-Identifier: MIT
 *
 * Speed of the kernels: the operations of one training step of the default network (convolution
 * 5x5x20 on 28x28x1, batch norm, ReLU, fully connected 10; batch 128) and some products, on one
 * thread, for each table this processor can run. One JSON line each: median of some rounds.
 * Compare lines of one run with each other, never with another run's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/memory.h"
#include "core/kernels/kernels.h"

#define ROUNDS   15
#define BATCH    128
#define CLASSES  10
#define FILTERS  20
#define PIXELS   ((size_t)24 * 24)
#define ROWS     (BATCH * PIXELS)
#define FEATURES (PIXELS * FILTERS)

struct bench {
    struct nn_exec exec;
    struct nn_conv2d conv;
    nn_real *image, *w, *d_w, *storage, *y, *z, *d_y, *dense, *d_dense, *logits, *d_logits;
    nn_real *mean, *var, *scale, *shift, *d_scale, *d_shift, *factors, *slot;
    double *moments;
    uint32_t *labels;
    struct nn_conv2d_weights weights;
    struct nn_batch_norm norm;
    struct nn_batch_norm_gradient norm_gradient;
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

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef void (*bench_fn)(struct bench *b);

static void measure(struct bench *b, const char *name, bench_fn fn, double flops)
{
    double ms[ROUNDS];
    fn(b);
    for (int i = 0; i < ROUNDS; i++) {
        double start = now_ms();
        fn(b);
        ms[i] = now_ms() - start;
    }
    qsort(ms, ROUNDS, sizeof *ms, compare);
    printf("{\"bench\": \"%s\", \"isa\": \"%s\", \"median_ms\": %.3f, \"best_ms\": %.3f", name,
           nn_isa_name(nn_kernels_isa(b->exec.kernels)), ms[ROUNDS / 2], ms[0]);
    if (flops > 0) {
        printf(", \"gflops\": %.1f", flops / ms[ROUNDS / 2] / 1e6);
    }
    printf("}\n");
}

/* ---- the step, operation by operation ---- */

static void conv_forward(struct bench *b)
{
    struct nn_conv2d_output output = {.y = b->y, .ldy = FILTERS, .moments = b->moments};
    nn_conv2d_pack_forward(&b->exec, &b->conv, &b->weights, b->storage, b->w);
    nn_conv2d_forward(&b->exec, &b->conv, &output, b->image, 1, &b->weights);
    nn_moments_merge(b->moments, nn_conv2d_chunks(&b->conv), FILTERS, b->mean, b->var);
}

static void conv_forward_alone(struct bench *b)
{
    struct nn_conv2d_output output = {.y = b->y, .ldy = FILTERS};
    nn_conv2d_forward(&b->exec, &b->conv, &output, b->image, 1, &b->weights);
}

static void norm_apply(struct bench *b)
{
    nn_batch_norm_apply(&b->exec, &b->norm, b->z, FILTERS, b->y, FILTERS);
}

static void dense_forward(struct bench *b)
{
    struct nn_packed packed;
    struct nn_epilogue epilogue = {.bias = b->shift};
    nn_gemm_pack(&b->exec, &packed, b->storage, b->dense, FEATURES, true, FEATURES, CLASSES);
    nn_gemm_packed(&b->exec, b->logits, CLASSES, b->z, FEATURES, BATCH, &packed, &epilogue);
}

static void loss(struct bench *b)
{
    struct nn_cross_entropy args = {.rows = BATCH, .classes = CLASSES, .logits = b->logits};
    args.ld = args.ldd = CLASSES;
    args.labels = b->labels;
    args.d_logits = b->d_logits;
    args.factor = (nn_real)(1.0 / BATCH);
    (void)nn_cross_entropy(&b->exec, &args);
}

static void dense_weight(struct bench *b)
{
    struct nn_gemm gemm = {.m = CLASSES, .n = FEATURES, .k = BATCH, .a = b->d_logits, .b = b->z};
    gemm.transpose_a = true;
    gemm.lda = CLASSES;
    gemm.ldb = gemm.ldc = FEATURES;
    gemm.c = b->d_dense;
    gemm.accumulate = true;
    nn_gemm(&b->exec, &gemm);
}

static void dense_input(struct bench *b)
{
    struct nn_packed packed;
    nn_gemm_pack(&b->exec, &packed, b->storage, b->dense, FEATURES, false, CLASSES, FEATURES);
    nn_gemm_packed(&b->exec, b->d_y, FEATURES, b->d_logits, CLASSES, BATCH, &packed, NULL);
}

static void norm_sums(struct bench *b)
{
    nn_batch_norm_gradient_sums(&b->exec, &b->norm_gradient);
}

static void norm_gradient(struct bench *b)
{
    nn_batch_norm_gradient_rows(&b->norm_gradient, 0, ROWS);
}

static void conv_weight(struct bench *b)
{
    nn_conv2d_weight_gradient(&b->exec, &b->conv, b->d_w, b->image, 1, b->d_y, FILTERS, NULL);
}

static void conv_weight_fused(struct bench *b)
{
    struct nn_rows_source source = {nn_batch_norm_gradient_rows, &b->norm_gradient};
    nn_conv2d_weight_gradient(&b->exec, &b->conv, b->d_w, b->image, 1, b->d_y, FILTERS, &source);
}

static void update(struct bench *b)
{
    struct nn_update args = {FEATURES * CLASSES, b->dense,     b->d_dense, 1,
                             (nn_real)1e-4,      (nn_real)1e-9};
    nn_fill(&b->exec, b->slot, FEATURES * CLASSES, 0);
    nn_update_sgdm(&b->exec, &args, b->slot, 0.9);
}

static void whole_step(struct bench *b)
{
    conv_forward(b);
    norm_apply(b);
    dense_forward(b);
    loss(b);
    dense_weight(b);
    dense_input(b);
    norm_sums(b);
    conv_weight_fused(b);
    update(b);
}

static void measure_step(struct bench *b)
{
    const double conv_flops = 2.0 * ROWS * FILTERS * 25, dense = 2.0 * BATCH * FEATURES * CLASSES;
    measure(b, "conv_forward_moments", conv_forward, conv_flops);
    measure(b, "conv_forward", conv_forward_alone, conv_flops);
    measure(b, "norm_apply_relu", norm_apply, 0);
    measure(b, "dense_forward", dense_forward, dense);
    measure(b, "loss", loss, 0);
    measure(b, "dense_weight", dense_weight, dense);
    measure(b, "dense_input", dense_input, dense);
    measure(b, "norm_sums", norm_sums, 0);
    measure(b, "norm_gradient", norm_gradient, 0);
    measure(b, "conv_weight", conv_weight, conv_flops);
    measure(b, "conv_weight_fused", conv_weight_fused, conv_flops);
    measure(b, "update_sgdm", update, 0);
    measure(b, "whole_step", whole_step, 2 * conv_flops + 3 * dense);
}

static size_t workspace_bytes(const struct bench *b)
{
    const size_t asked[] = {
        nn_conv2d_workspace(&b->conv, 1), nn_batch_norm_workspace(ROWS, FILTERS),
        nn_gemm_workspace(CLASSES, FEATURES, BATCH, 1), nn_cross_entropy_workspace(BATCH)};
    size_t most = 0;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        most = asked[i] > most ? asked[i] : most;
    }
    return most;
}

static void prepare(struct bench *b)
{
    b->conv =
        (struct nn_conv2d){BATCH, 28, 28, 1, FILTERS, 5, 5, 1, 1, 0, 0, 24, 24, 1, 1, false, 1};
    b->image = numbers((size_t)BATCH * 28 * 28);
    b->w = numbers((size_t)25 * FILTERS);
    b->d_w = numbers((size_t)25 * FILTERS);
    b->storage = numbers(FEATURES * 16);
    b->y = numbers(ROWS * FILTERS);
    b->z = numbers(ROWS * FILTERS);
    b->d_y = numbers(ROWS * FILTERS);
    b->dense = numbers(FEATURES * CLASSES);
    b->d_dense = numbers(FEATURES * CLASSES);
    b->slot = numbers(FEATURES * CLASSES);
    b->logits = numbers((size_t)BATCH * CLASSES);
    b->d_logits = numbers((size_t)BATCH * CLASSES);
    b->mean = numbers(FILTERS);
    b->var = numbers(FILTERS);
    b->scale = numbers(FILTERS);
    b->shift = numbers(FILTERS);
    b->d_scale = numbers(FILTERS);
    b->d_shift = numbers(FILTERS);
    b->factors = numbers(nn_batch_norm_factors_count(FILTERS));
    b->moments = nn_memory_alloc(NULL, nn_moments_count(nn_conv2d_chunks(&b->conv), FILTERS),
                                 sizeof(double));
    b->labels = nn_memory_alloc(NULL, BATCH, sizeof *b->labels);
    NN_ASSERT(b->moments && b->labels);
    b->exec.workspace_bytes = workspace_bytes(b);
    b->exec.workspace = nn_memory_alloc(NULL, b->exec.workspace_bytes, 1);
    NN_ASSERT(b->exec.workspace);
    b->norm = (struct nn_batch_norm){ROWS,          FILTERS,  b->mean,  b->var,
                                     (nn_real)1e-5, b->scale, b->shift, true};
    struct nn_batch_norm_gradient gradient = {.norm = b->norm, .x = b->y, .d_y = b->d_y};
    gradient.ldx = gradient.ldd_y = gradient.ldd_x = FILTERS;
    gradient.d_x = b->d_y;
    gradient.d_scale = b->d_scale;
    gradient.d_shift = b->d_shift;
    gradient.factors = b->factors;
    b->norm_gradient = gradient;
}

int main(void)
{
    static struct bench bench;
    nn_cpu_flush_denormals();
    prepare(&bench);
    printf("{\"bench\": \"environment\", \"blas\": \"%s\"}\n", nn_blas_core());
    for (int isa = NN_ISA_COUNT - 1; isa >= 0; isa--) {
        bench.exec.kernels = nn_kernels_get((enum nn_isa)isa);
        if (bench.exec.kernels) {
            measure_step(&bench);
        }
    }
    return 0;
}
