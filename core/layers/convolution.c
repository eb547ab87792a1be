/* SPDX-License-Identifier: MIT
 *
 * convolution: any kernel, stride, dilation and padding with zeros. With groups a filter sees the
 * channels of its group alone; with as many groups as channels and filters it is depthwise (o = c,
 * no sum over channels).
 *     y[n,i,j,o] = b[o] + sum over u,v,c of x[n, i*s + u - p, j*s + v - p, c] * w[u,v,c,o]
 * The weight is kept as [KH, KW, I, O], filters fastest. The ReLU behind it, if any, is the
 * epilogue of the product; its gradient mask is applied to the rows of d_y just before they are
 * read.
 */
#include "core/layers/convolution_internal.h"
#include "core/layers/kinds_internal.h"

struct options {
    size_t filters, groups;
    struct nn_window_options window;
    bool bias;
    struct nn_initial_options initial;
    struct nn_factor_options factors;
};

static const struct jx_field FIELDS[] = {
    {.name = "filters",
     .type = JX_SIZE,
     .offset = offsetof(struct options, filters),
     .min = 0,
     .max = 1048576,
     .fallback = "0",
     .doc = "output channels; 0: as many as the data set has classes"},
    NN_KERNEL_FIELD(struct options, window),
    NN_WINDOW_FIELDS(struct options, window, "1 if left out"),
    NN_DILATION_FIELD(struct options, window),
    {.name = "groups",
     .type = JX_SIZE,
     .offset = offsetof(struct options, groups),
     .min = 1,
     .max = 1048576,
     .fallback = "1",
     .doc = "runs of equal length into which channels and filters fall; a filter sees the channels "
            "of its run alone"},
    {.name = "bias",
     .type = JX_BOOL,
     .offset = offsetof(struct options, bias),
     .fallback = "true",
     .doc = "whether each filter has a bias"},
    NN_INITIAL_FIELDS(struct options, initial),
    NN_FACTOR_FIELDS(struct options, factors, "weights", "biases", "1"),
    JX_END,
};

struct nn_parameter_plan nn_filters_plan(size_t filters, size_t channels, const struct nn_window *w,
                                         const struct nn_factor_options *factors)
{
    double field = (double)w->kernel_h * (double)w->kernel_w;
    return (struct nn_parameter_plan){
        .suffix = "weight",
        .role = NN_ROLE_WEIGHT,
        .learnable = true,
        .ndim = 4,
        .shape = {filters, channels, w->kernel_h, w->kernel_w},
        .extent = {filters, channels, w->kernel_h, w->kernel_w},
        .order = {2, 3, 1, 0},
        .learning_rate_factor = factors->weight_learning_rate_factor,
        .l2_factor = factors->weight_l2_factor,
        .fan_in = (double)channels * field,
        .fan_out = (double)filters * field,
    };
}

enum nn_status nn_groups_check(size_t groups, size_t filters, size_t channels,
                               struct nn_layer_issue *issue)
{
    if (filters % groups == 0 && channels % groups == 0) {
        return NN_OK;
    }
    return nn_layer_refuse(issue, "groups", "use a number of groups that divides both",
                           "%zu groups divide %zu channels into %zu filters unevenly", groups,
                           channels, filters);
}

bool nn_is_depthwise(size_t groups, size_t filters, size_t channels, const struct nn_window *w)
{
    return groups > 1 && groups == filters && groups == channels && w->pad.top < w->span_h &&
           w->pad.left < w->span_w;
}

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    const struct options *options = layer->options;
    struct nn_window w;
    enum nn_status status = nn_window_plan(&options->window, 1, in[0].shape, &w, issue);
    if (status != NN_OK) {
        return status;
    }
    size_t filters = options->filters > 0 ? options->filters : (bind ? bind->classes : 0);
    size_t channels = in[0].shape.channels;
    status = nn_groups_check(options->groups, filters, channels, issue);
    if (status != NN_OK) {
        return status;
    }
    struct nn_layer_plan plan = {.out = {w.out_height, w.out_width, filters}};
    plan.parameters[0] =
        nn_filters_plan(filters, channels / options->groups, &w, &options->factors);
    plan.parameters[0].initial = options->initial;
    plan.n_parameters = 1;
    size_t weights;
    if (!nn_layer_count(plan.parameters[0].extent, &weights)) {
        return nn_layer_refuse(issue, "filters", "use fewer filters or a smaller kernel",
                               "the weights of this layer are too many to count");
    }
    if (options->bias) {
        plan.parameters[1] = nn_vector_plan("bias", NN_ROLE_BIAS, filters,
                                            options->factors.bias_learning_rate_factor,
                                            options->factors.bias_l2_factor);
        plan.n_parameters = 2;
    }
    plan.multiply_adds = (double)w.out_height * (double)w.out_width * (double)weights;
    *out = filters > 0 ? plan : (struct nn_layer_plan){0};
    return NN_OK;
}

const struct nn_layer_kind nn_kind_convolution = {
    .name = "convolution",
    .doc = "filters that slide over the image",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .plan = plan,
};

/* ---- running ---- */

struct nn_conv2d nn_convolution_sizes(const struct nn_pass *pass, size_t batch)
{
    const struct nn_placed *placed = pass->layers[0];
    const struct options *options = placed->layer->options;
    struct nn_layer_issue issue;
    struct nn_window w = {0};
    enum nn_status status = nn_window_plan(&options->window, 1, pass->in[0], &w, &issue);
    NN_ASSERT(status == NN_OK); /* it was when the network was built */
    bool depthwise =
        nn_is_depthwise(options->groups, placed->plan.out.channels, pass->in[0].channels, &w);
    return (struct nn_conv2d){
        .batch = batch,
        .height = pass->in[0].height,
        .width = pass->in[0].width,
        .channels = pass->in[0].channels,
        .filters = placed->plan.out.channels,
        .kernel_h = w.kernel_h,
        .kernel_w = w.kernel_w,
        .stride_h = w.stride_h,
        .stride_w = w.stride_w,
        .pad_top = w.pad.top,
        .pad_left = w.pad.left,
        .out_height = w.out_height,
        .out_width = w.out_width,
        .dilation_h = w.dilation_h,
        .dilation_w = w.dilation_w,
        .depthwise = depthwise,
        .groups = depthwise ? 1 : options->groups,
    };
}

size_t nn_convolution_rows(const struct nn_conv2d *conv)
{
    return conv->batch * conv->out_height * conv->out_width;
}

size_t nn_convolution_workspace(const struct nn_conv2d *conv, size_t lanes)
{
    size_t bytes = nn_conv2d_workspace(conv, lanes);
    return nn_larger(bytes, nn_column_sums_workspace(nn_convolution_rows(conv), conv->filters));
}

void nn_convolution_gradients(const struct nn_pass *pass, const struct nn_run *run,
                              const struct nn_backward *args, const struct nn_conv2d *conv,
                              const struct nn_rows_source *source, void *scratch)
{
    const struct nn_placed *placed = pass->layers[0];
    nn_real *d_w = nn_placed_grad(placed, NN_ROLE_WEIGHT);
    if (d_w) {
        nn_conv2d_weight_gradient(run->exec, conv, d_w, args->x[0].data, args->x[0].ld,
                                  args->d_y.data, args->d_y.ld, source);
    }
    if (args->d_x[0].view.data) {
        struct nn_conv2d_weights packed;
        nn_conv2d_pack_backward(run->exec, conv, &packed, scratch,
                                nn_placed_value(placed, NN_ROLE_WEIGHT));
        nn_conv2d_input_gradient(run->exec, conv, args->d_x[0].view.data, args->d_x[0].view.ld,
                                 args->d_x[0].add, args->d_y.data, args->d_y.ld, &packed);
    }
}

void nn_convolution_bias_gradient(const struct nn_pass *pass, const struct nn_run *run,
                                  const struct nn_backward *args, const struct nn_conv2d *conv)
{
    nn_real *d_b = nn_placed_grad(pass->layers[0], NN_ROLE_BIAS);
    if (d_b) {
        nn_column_sums(run->exec, d_b, args->d_y.data, args->d_y.ld, nn_convolution_rows(conv),
                       conv->filters);
    }
}

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    struct nn_conv2d conv = nn_convolution_sizes(pass, pass->max_batch);
    bool relu = nn_relu_behind(pass, 1);
    out->scratch_bytes = nn_bytes(nn_conv2d_pack_count(&conv));
    out->workspace_bytes = nn_convolution_workspace(&conv, lanes);
    out->needs_input = nn_placed_trains(pass->layers[0]);
    out->needs_output = relu;
    out->overwrites_d_y = relu;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    struct nn_conv2d conv = nn_convolution_sizes(pass, run->batch);
    struct nn_conv2d_weights packed;
    struct nn_conv2d_output output = {.y = y.data,
                                      .ldy = y.ld,
                                      .bias = nn_placed_value(pass->layers[0], NN_ROLE_BIAS),
                                      .activation = nn_relu_behind(pass, 1) ? NN_ACTIVATION_RELU
                                                                            : NN_ACTIVATION_NONE};
    nn_conv2d_pack_forward(run->exec, &conv, &packed, pass->scratch,
                           nn_placed_value(pass->layers[0], NN_ROLE_WEIGHT));
    nn_conv2d_forward(run->exec, &conv, &output, x[0].data, x[0].ld, &packed);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    struct nn_conv2d conv = nn_convolution_sizes(pass, run->batch);
    nn_convolution_gradients(pass, run, args, &conv, NULL, pass->scratch);
    nn_convolution_bias_gradient(pass, run, args, &conv);
}

/* The ReLU's gradient on some rows, in place: d_y = d_y where y > 0. */
struct relu_mask {
    struct nn_exec exec;
    struct nn_view d_y, y;
    size_t columns;
};

static void mask_rows(void *ctx, size_t first, size_t rows)
{
    const struct relu_mask *mask = ctx;
    struct nn_view d_y = nn_view_rows(mask->d_y, first);
    struct nn_view y = nn_view_rows(mask->y, first);
    struct nn_relu_gradient args = {.d_x = d_y.data,
                                    .ldd_x = d_y.ld,
                                    .d_y = d_y.data,
                                    .ldd_y = d_y.ld,
                                    .y = y.data,
                                    .ldy = y.ld,
                                    .rows = rows,
                                    .columns = mask->columns};
    nn_relu_gradient(&mask->exec, &args);
}

static void backward_relu(const struct nn_pass *pass, const struct nn_run *run,
                          const struct nn_backward *args)
{
    struct nn_conv2d conv = nn_convolution_sizes(pass, run->batch);
    struct relu_mask mask = {
        .exec = *run->exec, .d_y = args->d_y, .y = args->y, .columns = conv.filters};
    if (!nn_placed_grad(pass->layers[0], NN_ROLE_WEIGHT)) {
        mask_rows(&mask, 0, nn_convolution_rows(&conv));
        nn_convolution_gradients(pass, run, args, &conv, NULL, pass->scratch);
    } else {
        mask.exec.pool = NULL; /* mask_rows is called from inside of chunks */
        struct nn_rows_source source = {mask_rows, &mask};
        nn_convolution_gradients(pass, run, args, &conv, &source, pass->scratch);
    }
    nn_convolution_bias_gradient(pass, run, args, &conv);
}

const struct nn_operator nn_op_convolution = {
    .name = "convolution",
    .pattern = {"convolution"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};

const struct nn_operator nn_op_convolution_relu = {
    .name = "convolution+relu",
    .pattern = {"convolution", "relu"},
    .fused = true,
    .plan = plan_pass,
    .forward = forward,
    .backward = backward_relu,
};
