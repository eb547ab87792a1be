/* SPDX-License-Identifier: MIT
 *
 * fully_connected: y[n,o] = b[o] + sum over k of x[n,k] * w[o,k]; an image counts as its flattened
 * features. Forward, with features h,w,c in memory order:
 *     y = x w^T + b                   [N,O] = [N,K] [K,O]
 * backward:
 *     d_w += d_y^T x,  d_b += column sums of d_y,  d_x = d_y w
 * The weight is kept as [O, H, W, C]; PyTorch's is [O, C * H * W], the same numbers in another axis
 * order. The ReLU behind it, if any, is the epilogue of the product.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/linear_internal.h"
#include "core/layers/shape_internal.h"

struct options {
    size_t outputs;
    bool bias;
    struct nn_initial_options initial;
    struct nn_factor_options factors;
};

static const struct jx_field FIELDS[] = {
    {.name = "outputs",
     .type = JX_SIZE,
     .offset = offsetof(struct options, outputs),
     .min = 0,
     .max = 1048576,
     .fallback = "0",
     .doc = "number of outputs; 0: as many as the data set has classes or responses"},
    {.name = "bias",
     .type = JX_BOOL,
     .offset = offsetof(struct options, bias),
     .fallback = "true",
     .doc = "whether each output has a bias"},
    NN_INITIAL_FIELDS(struct options, initial),
    NN_FACTOR_FIELDS(struct options, factors, "weights", "biases", "1"),
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    const struct options *options = layer->options;
    size_t wanted = !bind ? 0 : bind->classes > 0 ? bind->classes : bind->responses;
    size_t outputs = options->outputs > 0 ? options->outputs : wanted;
    struct nn_shape image = in[0].image;
    const size_t extent[4] = {outputs, image.channels, image.height, image.width};
    size_t weights;
    if (!nn_layer_count(extent, &weights)) {
        return nn_layer_refuse(issue, "outputs", "pool before it or use fewer outputs",
                               "the weights of this layer are too many to count");
    }
    size_t features = image.channels * image.height * image.width;
    struct nn_layer_plan plan = {
        .out = {1, 1, outputs}, .multiply_adds = (double)weights, .n_parameters = 1};
    plan.parameters[0] = (struct nn_parameter_plan){
        .suffix = "weight",
        .role = NN_ROLE_WEIGHT,
        .learnable = true,
        .ndim = 2,
        .shape = {outputs, features},
        .extent = {outputs, image.channels, image.height, image.width},
        .order = {0, 2, 3, 1},
        .learning_rate_factor = options->factors.weight_learning_rate_factor,
        .l2_factor = options->factors.weight_l2_factor,
        .fan_in = (double)features,
        .fan_out = (double)outputs,
        .initial = options->initial,
    };
    if (options->bias) {
        plan.parameters[1] = nn_vector_plan("bias", NN_ROLE_BIAS, outputs,
                                            options->factors.bias_learning_rate_factor,
                                            options->factors.bias_l2_factor);
        plan.n_parameters = 2;
    }
    *out = outputs > 0 ? plan : (struct nn_layer_plan){0};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_fully_connected = {
    .name = "fully_connected",
    .doc = "every output sees every feature",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = plan,
};

/* ---- running ---- */

static struct nn_linear linear_of(const struct nn_pass *pass, size_t batch)
{
    const struct nn_placed *placed = pass->layers[0];
    return (struct nn_linear){.rows = batch,
                              .inputs =
                                  pass->in[0].height * pass->in[0].width * pass->in[0].channels,
                              .outputs = placed->plan.out.channels,
                              .weight = nn_placed_value(placed, NN_ROLE_WEIGHT),
                              .bias = nn_placed_value(placed, NN_ROLE_BIAS),
                              .relu = nn_relu_behind(pass, 1),
                              .d_weight = nn_placed_grad(placed, NN_ROLE_WEIGHT),
                              .d_bias = nn_placed_grad(placed, NN_ROLE_BIAS)};
}

/* An image as one row: it is dense, while a row of features may be columns of another. */
static struct nn_view as_row(const struct nn_pass *pass, struct nn_view view)
{
    size_t pixels = pass->in[0].height * pass->in[0].width;
    NN_ASSERT(pixels == 1 || !view.data || view.ld == pass->in[0].channels);
    return (struct nn_view){view.data, pixels * view.ld};
}

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    const struct nn_linear linear = linear_of(pass, pass->max_batch);
    out->scratch_bytes = nn_bytes(nn_linear_storage(linear.inputs, linear.outputs));
    out->workspace_bytes = nn_linear_workspace(&linear, pass->sequence, lanes);
    out->needs_input = nn_placed_trains(pass->layers[0]);
    out->needs_output = linear.relu;
    out->overwrites_d_y = linear.relu;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    const struct nn_linear linear = linear_of(pass, run->batch);
    nn_linear_forward(run->exec, &linear, y, as_row(pass, x[0]), pass->scratch);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    const struct nn_linear linear = linear_of(pass, run->batch);
    const struct nn_gradient d_x = {as_row(pass, args->d_x[0].view), args->d_x[0].add};
    if (linear.relu) {
        nn_relu_mask(run, args, linear.rows, linear.outputs);
    }
    nn_linear_gradient(run->exec, &linear, args->d_y, as_row(pass, args->x[0]), &d_x);
}

const struct nn_operator nn_op_fully_connected = {
    .name = "fully_connected",
    .pattern = {"fully_connected"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};

const struct nn_operator nn_op_fully_connected_relu = {
    .name = "fully_connected+relu",
    .pattern = {"fully_connected", "relu"},
    .fused = true,
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
