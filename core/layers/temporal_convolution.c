/* SPDX-License-Identifier: MIT
 *
 * temporal_convolution: a dilated convolution over the steps of sequences. With taps j, dilation d
 * and p steps of padding before a sequence, d (kernel - 1) of them when causal:
 *     y[t, o] = b[o] + sum over j, c of x[t + j d - p, c] w[o, c, j]
 * Steps outside of a sequence are zeros, whatever its mates in the batch have there. The weight is
 * that of torch.nn.Conv1d, kept as [filters, kernel, channels]: of gathered windows the layer is an
 * affine map.
 */
#include "core/layers/linear_internal.h"
#include "core/layers/steps_internal.h"

enum padding { PADDING_CAUSAL, PADDING_SAME };

struct options {
    size_t filters, kernel, dilation;
    int padding;
    bool bias;
    struct nn_factor_options factors;
};

static const struct jx_choice PADDINGS[] = {
    {"causal", PADDING_CAUSAL, "a step sees itself and steps before it"},
    {"same", PADDING_SAME, "a step sees as many before it as behind it"},
    JX_END,
};

static const struct jx_field FIELDS[] = {
    {.name = "filters",
     .type = JX_SIZE,
     .offset = offsetof(struct options, filters),
     .min = 1,
     .max = 65536,
     .required = true,
     .doc = "numbers that it gives for each step"},
    {.name = "kernel",
     .type = JX_SIZE,
     .offset = offsetof(struct options, kernel),
     .min = 1,
     .max = 1024,
     .fallback = "3",
     .doc = "steps that it looks at"},
    {.name = "dilation",
     .type = JX_SIZE,
     .offset = offsetof(struct options, dilation),
     .min = 1,
     .max = 65536,
     .fallback = "1",
     .doc = "distance between them"},
    {.name = "padding",
     .type = JX_ENUM,
     .offset = offsetof(struct options, padding),
     .choices = PADDINGS,
     .fallback = "\"causal\"",
     .doc = "where they lie; the output has the steps of the input"},
    {.name = "bias",
     .type = JX_BOOL,
     .offset = offsetof(struct options, bias),
     .fallback = "true",
     .doc = "whether each filter has a bias"},
    NN_FACTOR_FIELDS(struct options, factors, "weights", "biases", "1"),
    JX_END,
};

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    const struct options *options = layer->options;
    size_t channels = in[0].shape.channels, weights;
    const size_t extent[4] = {options->filters, channels, options->kernel, 1};
    if (!nn_layer_count(extent, &weights)) {
        return nn_layer_refuse(issue, "filters", "use fewer filters or a smaller kernel",
                               "the weights of this layer are too many to count");
    }
    *out = (struct nn_layer_plan){
        .out = {1, 1, options->filters},
        .sequence = true,
        .n_parameters = options->bias ? 2 : 1,
        .multiply_adds = (double)weights,
    };
    out->parameters[0] = (struct nn_parameter_plan){
        .suffix = "weight",
        .role = NN_ROLE_WEIGHT,
        .learnable = true,
        .ndim = 3,
        .shape = {options->filters, channels, options->kernel},
        .extent = {options->filters, channels, options->kernel, 1},
        .order = {0, 2, 1, 3},
        .learning_rate_factor = options->factors.weight_learning_rate_factor,
        .l2_factor = options->factors.weight_l2_factor,
        .fan_in = (double)(channels * options->kernel),
        .fan_out = (double)(options->filters * options->kernel),
    };
    out->parameters[1] =
        nn_vector_plan("bias", NN_ROLE_BIAS, options->filters,
                       options->factors.bias_learning_rate_factor, options->factors.bias_l2_factor);
    return NN_OK;
}

const struct nn_layer_kind nn_kind_temporal_convolution = {
    .name = "temporal_convolution",
    .doc = "filters that slide over the steps of sequences",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .on_sequences = NN_SEQUENCES_WHOLE,
    .plan = plan,
};

/* ---- running ---- */

static const struct options *options_of(const struct nn_pass *pass)
{
    return pass->layers[0]->layer->options;
}

static size_t window_width(const struct nn_pass *pass)
{
    return options_of(pass)->kernel * pass->in[0].channels;
}

static struct nn_window_of_steps window_of(const struct nn_pass *pass, const struct nn_run *run)
{
    const struct options *options = options_of(pass);
    size_t padding = options->dilation * (options->kernel - 1);
    return (struct nn_window_of_steps){
        .steps = nn_steps_of(run),
        .channels = pass->in[0].channels,
        .taps = options->kernel,
        .dilation = options->dilation,
        .before = options->padding == PADDING_CAUSAL ? padding : padding / 2,
    };
}

static struct nn_linear linear_of(const struct nn_pass *pass, size_t rows)
{
    const struct nn_placed *placed = pass->layers[0];
    return (struct nn_linear){.rows = rows,
                              .inputs = window_width(pass),
                              .outputs = pass->out.channels,
                              .weight = nn_placed_value(placed, NN_ROLE_WEIGHT),
                              .bias = nn_placed_value(placed, NN_ROLE_BIAS),
                              .d_weight = nn_placed_grad(placed, NN_ROLE_WEIGHT),
                              .d_bias = nn_placed_grad(placed, NN_ROLE_BIAS)};
}

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    const struct nn_linear linear = linear_of(pass, pass->max_batch);
    out->scratch_bytes = nn_bytes(pass->max_batch * linear.inputs) +
                         nn_bytes(nn_linear_storage(linear.inputs, linear.outputs));
    out->workspace_bytes = nn_linear_workspace(&linear, true, lanes);
    out->needs_input = nn_placed_trains(pass->layers[0]);
}

/* The windows, and behind them the storage of the product. */
static struct nn_view windows_at(const struct nn_pass *pass, nn_real **storage)
{
    void *memory = pass->scratch;
    struct nn_view windows = {NULL, window_width(pass)};
    windows.data = nn_piece(&memory, nn_bytes(pass->max_batch * windows.ld));
    *storage = memory;
    return windows;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    nn_real *storage;
    struct nn_view windows = windows_at(pass, &storage);
    const struct nn_window_of_steps window = window_of(pass, run);
    const struct nn_linear linear = linear_of(pass, run->batch);
    nn_windows_gather(run->exec, &window, windows.data, x[0].data, x[0].ld);
    nn_linear_forward(run->exec, &linear, y, windows, storage);
}

/* The windows of x for the weight's gradient; then their place is that of the windows' gradients.
 */
static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    nn_real *storage;
    struct nn_view windows = windows_at(pass, &storage), d_x = args->d_x[0].view;
    const struct nn_window_of_steps window = window_of(pass, run);
    const struct nn_linear linear = linear_of(pass, run->batch);
    const struct nn_gradient d_windows = {{d_x.data ? windows.data : NULL, windows.ld}, false};
    if (linear.d_weight) {
        nn_windows_gather(run->exec, &window, windows.data, args->x[0].data, args->x[0].ld);
    }
    nn_linear_gradient(run->exec, &linear, args->d_y, windows, &d_windows);
    if (d_x.data) {
        nn_windows_scatter(run->exec, &window, d_x.data, d_x.ld, args->d_x[0].add, windows.data);
    }
}

const struct nn_operator nn_op_temporal_convolution = {
    .name = "temporal_convolution",
    .pattern = {"temporal_convolution"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
