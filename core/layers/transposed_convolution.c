/* SPDX-License-Identifier: MIT
 *
 * transposed_convolution: a convolution run backward, from its output's size to its input's:
 *     y[n, i*s + u*d - p, j*s + v*d - p, o] += x[n,i,j,c] * w[u,v,o,c], from b[o] on
 *     height = (input - 1) * s + (kernel - 1) * d + 1 - top - bottom + output_padding
 * Parameters are torch.nn.ConvTranspose2d's, weight [channels, filters / groups, KH, KW]; in memory
 * it is that of the convolution from y to x. So every pass here is another pass of that one.
 */
#include "core/layers/convolution_internal.h"
#include "core/layers/kinds_internal.h"

struct options {
    size_t filters, groups;
    struct nn_window_options window;
    struct jx_ints output_padding;
    bool bias;
    struct nn_initial_options initial;
    struct nn_factor_options factors;
};

static const struct jx_field FIELDS[] = {
    {.name = "filters",
     .type = JX_SIZE,
     .offset = offsetof(struct options, filters),
     .min = 1,
     .max = 1048576,
     .required = true,
     .doc = "output channels"},
    NN_KERNEL_FIELD(struct options, window),
    NN_PAIR_FIELD("stride", struct options, window.stride, 1,
                  "output pixels from one window to the next (1 if left out)"),
    NN_SIDES_FIELD("padding", struct options, window.padding, "pixels of the output cut off"),
    NN_PAIR_FIELD("output_padding", struct options, output_padding, 0,
                  "pixels added to the output below and on the right, fewer than the stride or the "
                  "dilation"),
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

/* Pixels of a side of the output; 0: none are left. */
static size_t out_side(size_t side, size_t stride, size_t span, size_t cut, size_t more)
{
    size_t whole = (side - 1) * stride + span + more;
    return whole > cut ? whole - cut : 0;
}

static enum nn_status window_of(const struct options *options, struct nn_shape in,
                                struct nn_window *out, struct nn_layer_issue *issue)
{
    const struct jx_ints *more = &options->output_padding;
    enum nn_status status = nn_window_sides(&options->window, 1, out, issue);
    if (status != NN_OK) {
        return status;
    }
    size_t more_h = nn_side(more, 0, 0), more_w = nn_side(more, 1, 0);
    if (more_h >= nn_larger(out->stride_h, out->dilation_h) ||
        more_w >= nn_larger(out->stride_w, out->dilation_w)) {
        return nn_layer_refuse(issue, "output_padding", "make it smaller, or the stride larger",
                               "the output padding is not below the stride or the dilation");
    }
    out->out_height =
        out_side(in.height, out->stride_h, out->span_h, out->pad.top + out->pad.bottom, more_h);
    out->out_width =
        out_side(in.width, out->stride_w, out->span_w, out->pad.left + out->pad.right, more_w);
    if (out->out_height == 0 || out->out_width == 0) {
        return nn_layer_refuse(issue, "padding", "cut fewer pixels off",
                               "the padding cuts the whole output off");
    }
    if (out->out_height > NN_LAYER_SIDE_MAX || out->out_width > NN_LAYER_SIDE_MAX) {
        return nn_layer_refuse(issue, "stride", "use a smaller stride, kernel or dilation",
                               "the output is too large: %zux%zu", out->out_height, out->out_width);
    }
    return NN_OK;
}

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    const struct options *options = layer->options;
    struct nn_window w;
    size_t filters = options->filters, channels = in[0].shape.channels, weights;
    enum nn_status status = window_of(options, in[0].shape, &w, issue);
    if (status == NN_OK) {
        status = nn_groups_check(options->groups, filters, channels, issue);
    }
    if (status != NN_OK) {
        return status;
    }
    struct nn_layer_plan plan = {.out = {w.out_height, w.out_width, filters}, .n_parameters = 1};
    plan.parameters[0] =
        nn_filters_plan(channels, filters / options->groups, &w, &options->factors);
    plan.parameters[0].initial = options->initial;
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
    plan.multiply_adds = (double)in[0].shape.height * (double)in[0].shape.width * (double)weights;
    *out = plan;
    return NN_OK;
}

const struct nn_layer_kind nn_kind_transposed_convolution = {
    .name = "transposed_convolution",
    .doc = "filters that are laid down side by side, to make images larger",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .plan = plan,
};

/* ---- running ---- */

/* The convolution from y to x. */
static struct nn_conv2d sizes_of(const struct nn_pass *pass, size_t batch)
{
    const struct options *options = pass->layers[0]->layer->options;
    struct nn_shape in = pass->in[0], out = pass->out;
    struct nn_layer_issue issue;
    struct nn_window w = {0};
    enum nn_status status = window_of(options, in, &w, &issue);
    NN_ASSERT(status == NN_OK); /* it was when the network was built */
    bool depthwise = nn_is_depthwise(options->groups, in.channels, out.channels, &w);
    return (struct nn_conv2d){
        .batch = batch,
        .height = out.height,
        .width = out.width,
        .channels = out.channels,
        .filters = in.channels,
        .kernel_h = w.kernel_h,
        .kernel_w = w.kernel_w,
        .stride_h = w.stride_h,
        .stride_w = w.stride_w,
        .pad_top = w.pad.top,
        .pad_left = w.pad.left,
        .out_height = in.height,
        .out_width = in.width,
        .dilation_h = w.dilation_h,
        .dilation_w = w.dilation_w,
        .depthwise = depthwise,
        .groups = depthwise ? 1 : options->groups,
    };
}

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    struct nn_conv2d conv = sizes_of(pass, pass->max_batch);
    size_t sums = nn_column_sums_workspace(nn_pass_rows(pass, pass->max_batch), conv.channels);
    out->scratch_bytes = nn_bytes(nn_conv2d_pack_count(&conv));
    out->workspace_bytes = nn_larger(nn_conv2d_workspace(&conv, lanes), sums);
    out->needs_input = nn_placed_trains(pass->layers[0]);
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    const struct nn_placed *placed = pass->layers[0];
    struct nn_conv2d conv = sizes_of(pass, run->batch);
    struct nn_conv2d_weights packed;
    nn_conv2d_pack_backward(run->exec, &conv, &packed, pass->scratch,
                            nn_placed_value(placed, NN_ROLE_WEIGHT));
    nn_conv2d_transposed(run->exec, &conv, y.data, y.ld, nn_placed_value(placed, NN_ROLE_BIAS),
                         x[0].data, x[0].ld, &packed);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    const struct nn_placed *placed = pass->layers[0];
    struct nn_conv2d conv = sizes_of(pass, run->batch);
    nn_real *d_w = nn_placed_grad(placed, NN_ROLE_WEIGHT);
    nn_real *d_b = nn_placed_grad(placed, NN_ROLE_BIAS);
    if (d_w) {
        nn_conv2d_weight_gradient(run->exec, &conv, d_w, args->d_y.data, args->d_y.ld,
                                  args->x[0].data, args->x[0].ld, NULL);
    }
    if (d_b) {
        nn_column_sums(run->exec, d_b, args->d_y.data, args->d_y.ld, nn_pass_rows(pass, run->batch),
                       conv.channels);
    }
    if (args->d_x[0].view.data) {
        struct nn_conv2d_weights packed;
        struct nn_conv2d_output d_x = {.y = args->d_x[0].view.data,
                                       .ldy = args->d_x[0].view.ld,
                                       .accumulate = args->d_x[0].add};
        nn_conv2d_pack_forward(run->exec, &conv, &packed, pass->scratch,
                               nn_placed_value(placed, NN_ROLE_WEIGHT));
        nn_conv2d_forward(run->exec, &conv, &d_x, args->d_y.data, args->d_y.ld, &packed);
    }
}

const struct nn_operator nn_op_transposed_convolution = {
    .name = "transposed_convolution",
    .pattern = {"transposed_convolution"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
