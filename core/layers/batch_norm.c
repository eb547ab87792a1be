/* SPDX-License-Identifier: MIT
 *
 * batch_norm: each channel to mean 0 and variance 1 over the batch, then scaled and shifted:
 *     y = (x - mean) / sqrt(var + epsilon) * scale + shift
 * and the fused pass with the ReLU behind it. batch_norm_internal.h says which statistics are used
 * when.
 */
#include "core/layers/batch_norm_internal.h"

#include <string.h>

#include "core/layers/kinds_internal.h"

struct options {
    double epsilon, momentum;
    struct nn_factor_options factors;
};

static const struct jx_field FIELDS[] = {
    {.name = "epsilon",
     .type = JX_REAL,
     .offset = offsetof(struct options, epsilon),
     .min = 0,
     .max = 1,
     .above_min = true,
     .fallback = "1e-5",
     .doc = "added to the variance"},
    {.name = "momentum",
     .type = JX_REAL,
     .offset = offsetof(struct options, momentum),
     .min = 0,
     .max = 1,
     .fallback = "0.1",
     .doc = "share of the batch in the running statistics"},
    NN_FACTOR_FIELDS(struct options, factors, "scales", "shifts", "0"),
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    (void)issue;
    const struct nn_factor_options *f = &((const struct options *)layer->options)->factors;
    size_t c = in[0].shape.channels;
    *out = (struct nn_layer_plan){
        .out = in[0].shape,
        .image = in[0].image,
        .n_parameters = 4,
        .parameters =
            {
                nn_vector_plan("weight", NN_ROLE_SCALE, c, f->weight_learning_rate_factor,
                               f->weight_l2_factor),
                nn_vector_plan("bias", NN_ROLE_SHIFT, c, f->bias_learning_rate_factor,
                               f->bias_l2_factor),
                nn_vector_plan("running_mean", NN_ROLE_RUNNING_MEAN, c, 0, 0),
                nn_vector_plan("running_var", NN_ROLE_RUNNING_VAR, c, 0, 0),
            },
        .multiply_adds = nn_values(in[0].shape),
    };
    for (size_t i = 0; i < 4 && !nn_shape_equal(in[0].image, in[0].shape); i++) {
        nn_vector_of_image(&out->parameters[i], in[0].image);
    }
    out->parameters[2].learnable = false;
    out->parameters[3].learnable = false;
    return NN_OK;
}

const struct nn_layer_kind nn_kind_batch_norm = {
    .name = "batch_norm",
    .doc = "each channel normalised over the batch",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = plan,
};

/* ---- statistics ---- */

size_t nn_batch_norm_saved_bytes(size_t channels)
{
    return 2 * nn_bytes(channels) + nn_bytes(nn_batch_norm_factors_count(channels));
}

struct nn_batch_norm_saved nn_batch_norm_saved_at(void *memory, size_t channels)
{
    struct nn_batch_norm_saved saved;
    saved.mean = nn_piece(&memory, nn_bytes(channels));
    saved.var = nn_piece(&memory, nn_bytes(channels));
    saved.factors = memory;
    return saved;
}

/* Pooled over batches: rows, then means, then sums of squared deviations. */
size_t nn_batch_norm_kept_bytes(size_t channels)
{
    return nn_bytes(((1 + 2 * channels) * sizeof(double) + sizeof(nn_real) - 1) / sizeof(nn_real));
}

size_t nn_batch_norm_moments_bytes(size_t chunks, size_t channels)
{
    size_t doubles = nn_moments_count(chunks, channels);
    return nn_bytes((doubles * sizeof(double) + sizeof(nn_real) - 1) / sizeof(nn_real));
}

bool nn_batch_norm_is_stored(const struct nn_placed *placed, enum nn_phase phase, size_t rows)
{
    return phase == NN_PHASE_INFERENCE || phase == NN_PHASE_EXPLANATION || placed->frozen ||
           rows == 1;
}

static void move_running(const struct nn_placed *placed, size_t rows,
                         const struct nn_batch_norm_saved *saved)
{
    const struct options *options = placed->layer->options;
    nn_real *mean = nn_placed_value(placed, NN_ROLE_RUNNING_MEAN);
    nn_real *var = nn_placed_value(placed, NN_ROLE_RUNNING_VAR);
    nn_real share = (nn_real)options->momentum;
    nn_real rest = (nn_real)(1 - options->momentum);
    nn_real unbiased = (nn_real)((double)rows / (double)(rows - 1));
    for (size_t c = 0; c < placed->plan.out.channels; c++) {
        mean[c] = rest * mean[c] + share * saved->mean[c];
        var[c] = rest * var[c] + share * (saved->var[c] * unbiased);
    }
}

/* Chan, Golub, LeVeque (1983): pools two groups' means and sums of squared deviations. */
static void pool(size_t channels, size_t rows, const struct nn_batch_norm_saved *saved,
                 double *kept)
{
    double before = kept[0];
    double count = (double)rows;
    double total = before + count;
    double *mean = kept + 1;
    double *square = mean + channels;
    for (size_t c = 0; c < channels; c++) {
        double delta = (double)saved->mean[c] - mean[c];
        mean[c] += delta * (count / total);
        square[c] += (double)saved->var[c] * count + delta * delta * (before * count / total);
    }
    kept[0] = total;
}

void nn_batch_norm_take(const struct nn_placed *placed, enum nn_phase phase, double *moments,
                        size_t chunks, size_t rows, const struct nn_batch_norm_saved *saved,
                        void *kept)
{
    size_t channels = placed->plan.out.channels;
    nn_moments_merge(moments, chunks, channels, saved->mean, saved->var);
    if (phase == NN_PHASE_TRAINING) {
        move_running(placed, rows, saved);
    } else {
        pool(channels, rows, saved, kept);
    }
}

void nn_batch_norm_statistics(const struct nn_placed *placed, void *kept, enum nn_statistics what)
{
    size_t channels = placed->plan.out.channels;
    double *pooled = kept;
    if (what == NN_STATISTICS_BEGIN) {
        memset(kept, 0, nn_batch_norm_kept_bytes(channels));
        return;
    }
    if (pooled[0] < 2) {
        return;
    }
    nn_real *mean = nn_placed_value(placed, NN_ROLE_RUNNING_MEAN);
    nn_real *var = nn_placed_value(placed, NN_ROLE_RUNNING_VAR);
    for (size_t c = 0; c < channels; c++) {
        mean[c] = (nn_real)pooled[1 + c];
        var[c] = (nn_real)(pooled[1 + channels + c] / (pooled[0] - 1));
    }
}

struct nn_batch_norm nn_batch_norm_args(const struct nn_placed *placed, size_t rows,
                                        const struct nn_batch_norm_saved *saved, bool stored,
                                        bool relu)
{
    const struct options *options = placed->layer->options;
    return (struct nn_batch_norm){
        .rows = rows,
        .channels = placed->plan.out.channels,
        .mean = stored ? nn_placed_value(placed, NN_ROLE_RUNNING_MEAN) : saved->mean,
        .var = stored ? nn_placed_value(placed, NN_ROLE_RUNNING_VAR) : saved->var,
        .epsilon = (nn_real)options->epsilon,
        .scale = nn_placed_value(placed, NN_ROLE_SCALE),
        .shift = nn_placed_value(placed, NN_ROLE_SHIFT),
        .relu = relu,
    };
}

/* ---- running ---- */

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)lanes;
    size_t rows = nn_pass_rows(pass, pass->max_batch);
    size_t channels = pass->out.channels;
    out->saved_bytes = nn_batch_norm_saved_bytes(channels);
    out->kept_bytes = nn_batch_norm_kept_bytes(channels);
    out->scratch_bytes = nn_batch_norm_moments_bytes(nn_moments_chunks(rows), channels);
    out->workspace_bytes = nn_batch_norm_workspace(rows, channels);
    out->needs_input = true;
    out->in_place = !pass->backward;
    out->gradient_in_place = true;
    out->overwrites_d_y = false;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    const struct nn_placed *placed = pass->layers[0];
    size_t channels = pass->out.channels;
    size_t rows = nn_pass_rows(pass, run->batch);
    struct nn_batch_norm_saved saved = nn_batch_norm_saved_at(pass->saved, channels);
    bool stored = nn_batch_norm_is_stored(placed, run->phase, rows);
    if (!stored) {
        nn_moments_take(run->exec, pass->scratch, x[0].data, x[0].ld, rows, channels);
        nn_batch_norm_take(placed, run->phase, pass->scratch, nn_moments_chunks(rows), rows, &saved,
                           pass->kept);
    }
    struct nn_batch_norm norm =
        nn_batch_norm_args(placed, rows, &saved, stored, nn_relu_behind(pass, 1));
    nn_batch_norm_apply(run->exec, &norm, y.data, y.ld, x[0].data, x[0].ld);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    const struct nn_placed *placed = pass->layers[0];
    size_t rows = nn_pass_rows(pass, run->batch);
    struct nn_batch_norm_saved saved = nn_batch_norm_saved_at(pass->saved, pass->out.channels);
    bool stored = nn_batch_norm_is_stored(placed, run->phase, rows);
    struct nn_batch_norm_gradient grad = {
        .norm = nn_batch_norm_args(placed, rows, &saved, stored, nn_relu_behind(pass, 1)),
        .frozen = stored,
        .x = args->x[0].data,
        .ldx = args->x[0].ld,
        .d_y = args->d_y.data,
        .ldd_y = args->d_y.ld,
        .d_x = args->d_x[0].view.data,
        .ldd_x = args->d_x[0].view.ld,
        .accumulate = args->d_x[0].add,
        .d_scale = nn_placed_grad(placed, NN_ROLE_SCALE),
        .d_shift = nn_placed_grad(placed, NN_ROLE_SHIFT),
        .factors = saved.factors,
    };
    nn_batch_norm_gradient(run->exec, &grad); /* sums, and d_x if wanted */
}

static void statistics(const struct nn_pass *pass, enum nn_statistics what)
{
    nn_batch_norm_statistics(pass->layers[0], pass->kept, what);
}

const struct nn_operator nn_op_batch_norm = {
    .name = "batch_norm",
    .pattern = {"batch_norm"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
    .statistics = statistics,
};

const struct nn_operator nn_op_batch_norm_relu = {
    .name = "batch_norm+relu",
    .pattern = {"batch_norm", "relu"},
    .fused = true,
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
    .statistics = statistics,
};
