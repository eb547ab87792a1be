/* SPDX-License-Identifier: MIT
 *
 * convolution + batch_norm (+ relu) in one pass.
 *
 * Training: the moments of the convolution's output are taken chunk by chunk while it is in the
 * cache; one pass then normalises and clips. Backward: after one pass that takes the sums, the rows
 * of the convolution's output gradient are made in place of d_y just before the weight gradient
 * reads them, so that no pass over them is needed. With the batch's own statistics those rows sum
 * to zero in every channel, so the convolution's bias has no gradient and none is computed.
 *
 * With stored statistics and no backward, scale and shift are folded into the weights:
 *     w' = w * g,  b' = (b - mean) * g + shift,  g = scale / sqrt(var + epsilon)
 */
#include <math.h>

#include "core/layers/batch_norm_internal.h"
#include "core/layers/convolution_internal.h"
#include "core/layers/kinds_internal.h"

/* Parts of pass->saved and pass->scratch. */
struct parts {
    nn_real *conv_y; /* the convolution's output, dense; NULL without backward */
    struct nn_batch_norm_saved norm;
    nn_real *storage; /* packed weights */
    double *moments;
    nn_real *weight, *bias; /* folded */
};

static size_t weight_count(const struct nn_pass *pass)
{
    const size_t *e = pass->layers[0]->plan.parameters[0].extent;
    return e[0] * e[1] * e[2] * e[3];
}

static size_t conv_y_bytes(const struct nn_pass *pass, const struct nn_conv2d *conv)
{
    return pass->backward ? nn_bytes(nn_convolution_rows(conv) * conv->filters) : 0;
}

/* The layout is that of max_batch, whatever the batch. */
static struct parts parts_of(const struct nn_pass *pass)
{
    struct nn_conv2d conv = nn_convolution_sizes(pass, pass->max_batch);
    void *saved = pass->saved;
    void *scratch = pass->scratch;
    struct parts parts = {0};
    if (pass->backward) {
        parts.conv_y = nn_piece(&saved, conv_y_bytes(pass, &conv));
        parts.norm = nn_batch_norm_saved_at(saved, conv.filters);
    }
    parts.storage = nn_piece(&scratch, nn_bytes(nn_conv2d_pack_count(&conv)));
    parts.moments =
        nn_piece(&scratch, nn_batch_norm_moments_bytes(nn_conv2d_chunks(&conv), conv.filters));
    parts.weight = nn_piece(&scratch, nn_bytes(weight_count(pass)));
    parts.bias = scratch;
    return parts;
}

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    struct nn_conv2d conv = nn_convolution_sizes(pass, pass->max_batch);
    size_t rows = nn_convolution_rows(&conv);
    out->saved_bytes =
        pass->backward ? conv_y_bytes(pass, &conv) + nn_batch_norm_saved_bytes(conv.filters) : 0;
    out->kept_bytes = nn_batch_norm_kept_bytes(conv.filters);
    out->scratch_bytes = nn_bytes(nn_conv2d_pack_count(&conv)) +
                         nn_batch_norm_moments_bytes(nn_conv2d_chunks(&conv), conv.filters) +
                         nn_bytes(weight_count(pass)) + nn_bytes(conv.filters);
    out->workspace_bytes = nn_larger(nn_convolution_workspace(&conv, lanes),
                                     nn_batch_norm_workspace(rows, conv.filters));
    out->needs_input = nn_placed_trains(pass->layers[0]);
    out->overwrites_d_y = true;
}

static void convolve(const struct nn_run *run, const struct nn_conv2d *conv,
                     const struct parts *parts, struct nn_view x,
                     const struct nn_conv2d_output *output, const nn_real *weight)
{
    struct nn_conv2d_weights packed;
    nn_conv2d_pack_forward(run->exec, conv, &packed, parts->storage, weight);
    nn_conv2d_forward(run->exec, conv, output, x.data, x.ld, &packed);
}

static void fold(const struct nn_pass *pass, const struct parts *parts)
{
    const struct nn_placed *convolution = pass->layers[0];
    const nn_real *w = nn_placed_value(convolution, NN_ROLE_WEIGHT);
    const nn_real *b = nn_placed_value(convolution, NN_ROLE_BIAS);
    struct nn_batch_norm norm = nn_batch_norm_args(pass->layers[1], 1, NULL, true, false);
    nn_real *g = parts->bias; /* first the factors, then the folded bias */
    for (size_t o = 0; o < norm.channels; o++) {
        g[o] = norm.scale[o] / (nn_real)sqrt((double)(norm.var[o] + norm.epsilon));
    }
    size_t rows = weight_count(pass) / norm.channels;
    for (size_t k = 0; k < rows; k++) {
        for (size_t o = 0; o < norm.channels; o++) {
            parts->weight[k * norm.channels + o] = w[k * norm.channels + o] * g[o];
        }
    }
    for (size_t o = 0; o < norm.channels; o++) {
        nn_real bias = b ? b[o] : 0;
        parts->bias[o] = (bias - norm.mean[o]) * g[o] + norm.shift[o];
    }
}

static void forward_folded(const struct nn_pass *pass, const struct nn_run *run,
                           const struct nn_conv2d *conv, struct nn_view x, struct nn_view y)
{
    struct parts parts = parts_of(pass);
    fold(pass, &parts);
    struct nn_conv2d_output output = {.y = y.data,
                                      .ldy = y.ld,
                                      .bias = parts.bias,
                                      .activation = nn_relu_behind(pass, 2) ? NN_ACTIVATION_RELU
                                                                            : NN_ACTIVATION_NONE};
    convolve(run, conv, &parts, x, &output, parts.weight);
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    const struct nn_placed *norm_layer = pass->layers[1];
    struct nn_conv2d conv = nn_convolution_sizes(pass, run->batch);
    size_t rows = nn_convolution_rows(&conv);
    bool stored = nn_batch_norm_is_stored(norm_layer, run->phase, rows);
    bool backward_follows = run->phase == NN_PHASE_TRAINING || run->phase == NN_PHASE_EXPLANATION;
    if (!pass->backward || (stored && !backward_follows)) {
        NN_ASSERT(stored);
        forward_folded(pass, run, &conv, x[0], y);
        return;
    }
    struct parts parts = parts_of(pass);
    struct nn_conv2d_output output = {.y = parts.conv_y,
                                      .ldy = conv.filters,
                                      .bias = nn_placed_value(pass->layers[0], NN_ROLE_BIAS),
                                      .moments = stored ? NULL : parts.moments};
    convolve(run, &conv, &parts, x[0], &output, nn_placed_value(pass->layers[0], NN_ROLE_WEIGHT));
    if (!stored) {
        nn_batch_norm_take(norm_layer, run->phase, parts.moments, nn_conv2d_chunks(&conv), rows,
                           &parts.norm, pass->kept);
    }
    struct nn_batch_norm norm =
        nn_batch_norm_args(norm_layer, rows, &parts.norm, stored, nn_relu_behind(pass, 2));
    nn_batch_norm_apply(run->exec, &norm, y.data, y.ld, parts.conv_y, conv.filters);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    const struct nn_placed *norm_layer = pass->layers[1];
    struct nn_conv2d conv = nn_convolution_sizes(pass, run->batch);
    size_t rows = nn_convolution_rows(&conv);
    struct parts parts = parts_of(pass);
    bool stored = nn_batch_norm_is_stored(norm_layer, run->phase, rows);
    struct nn_batch_norm_gradient grad = {
        .norm = nn_batch_norm_args(norm_layer, rows, &parts.norm, stored, nn_relu_behind(pass, 2)),
        .frozen = stored,
        .x = parts.conv_y,
        .ldx = conv.filters,
        .d_y = args->d_y.data,
        .ldd_y = args->d_y.ld,
        .d_x = args->d_y.data, /* in place: d_y becomes the convolution's output gradient */
        .ldd_x = args->d_y.ld,
        .d_scale = nn_placed_grad(norm_layer, NN_ROLE_SCALE),
        .d_shift = nn_placed_grad(norm_layer, NN_ROLE_SHIFT),
        .factors = parts.norm.factors,
    };
    struct nn_rows_source source = {nn_batch_norm_gradient_rows, &grad};
    bool trains = nn_placed_trains(pass->layers[0]);
    if (trains) {
        nn_batch_norm_gradient_sums(run->exec, &grad); /* the source makes the rows */
    } else {
        nn_batch_norm_gradient(run->exec, &grad);
    }
    nn_convolution_gradients(pass, run, args, &conv, trains ? &source : NULL, parts.storage);
    if (stored) {
        nn_convolution_bias_gradient(pass, run, args, &conv);
    }
}

static void statistics(const struct nn_pass *pass, enum nn_statistics what)
{
    nn_batch_norm_statistics(pass->layers[1], pass->kept, what);
}

const struct nn_operator nn_op_convolution_batch_norm = {
    .name = "convolution+batch_norm",
    .pattern = {"convolution", "batch_norm"},
    .fused = true,
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
    .statistics = statistics,
};

const struct nn_operator nn_op_convolution_batch_norm_relu = {
    .name = "convolution+batch_norm+relu",
    .pattern = {"convolution", "batch_norm", "relu"},
    .fused = true,
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
    .statistics = statistics,
};
