/* SPDX-License-Identifier: MIT
 *
 * What max_pool and average_pool share: windows that each hold at least one pixel.
 */
#include "core/layers/pool_internal.h"

static enum nn_status check_window(const struct nn_window *w, struct nn_layer_issue *issue)
{
    if (w->pad.top >= w->kernel_h || w->pad.bottom >= w->kernel_h || w->pad.left >= w->kernel_w ||
        w->pad.right >= w->kernel_w) {
        return nn_layer_refuse(issue, "padding", "make the padding smaller than the kernel",
                               "with padding as large as the kernel a window could lie outside of "
                               "the image");
    }
    size_t pixels;
    if (!nn_size_mul(w->kernel_h, w->kernel_w, &pixels) || pixels > UINT16_MAX) {
        return nn_layer_refuse(issue, "kernel", "use a smaller kernel or global_average_pool",
                               "a window of %zux%zu has more than 65535 pixels", w->kernel_h,
                               w->kernel_w);
    }
    return NN_OK;
}

enum nn_status nn_pool_plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                            size_t n_in, const struct nn_network_bind *bind,
                            struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    const struct nn_pool_options *options = layer->options;
    struct nn_window w;
    enum nn_status status = nn_window_plan(&options->window, 0, in[0].shape, &w, issue);
    status = status == NN_OK ? check_window(&w, issue) : status;
    if (status != NN_OK) {
        return status;
    }
    *out = (struct nn_layer_plan){
        .out = {w.out_height, w.out_width, in[0].shape.channels},
        .multiply_adds = (double)w.out_height * (double)w.out_width * (double)in[0].shape.channels *
                         (double)w.kernel_h * (double)w.kernel_w,
    };
    return NN_OK;
}

struct nn_pool2d nn_pool_sizes(const struct nn_pass *pass, size_t batch)
{
    const struct nn_pool_options *options = pass->layers[0]->layer->options;
    struct nn_layer_issue issue;
    struct nn_window w = {0};
    enum nn_status status = nn_window_plan(&options->window, 0, pass->in[0], &w, &issue);
    NN_ASSERT(status == NN_OK); /* it was when the network was built */
    return (struct nn_pool2d){
        .batch = batch,
        .height = pass->in[0].height,
        .width = pass->in[0].width,
        .channels = pass->in[0].channels,
        .kernel_h = w.kernel_h,
        .kernel_w = w.kernel_w,
        .stride_h = w.stride_h,
        .stride_w = w.stride_w,
        .pad_top = w.pad.top,
        .pad_left = w.pad.left,
        .pad_bottom = w.pad.bottom,
        .pad_right = w.pad.right,
        .out_height = w.out_height,
        .out_width = w.out_width,
        .count_padding = options->count_padding,
    };
}
