/* SPDX-License-Identifier: MIT
 *
 * What the kinds share: refusals, checked sizes, windows, parameters, plans that say little.
 */
#include "core/layers/shape_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum nn_status nn_layer_refuse(struct nn_layer_issue *issue, const char *field, const char *mend,
                               const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(issue->text, sizeof issue->text, fmt, args);
    va_end(args);
    (void)snprintf(issue->mend, sizeof issue->mend, "%s", mend);
    issue->field = field;
    return NN_ERR_INVALID;
}

bool nn_layer_count(const size_t extent[4], size_t *out)
{
    size_t product = 1;
    for (size_t i = 0; i < 4; i++) {
        if (!nn_size_mul(product, extent[i], &product) || product > NN_LAYER_COUNT_MAX) {
            return false;
        }
    }
    *out = product;
    return true;
}

enum nn_status nn_same_shape_plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                                  size_t n_in, const struct nn_network_bind *bind,
                                  struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)layer;
    (void)n_in;
    (void)bind;
    (void)issue;
    *out = (struct nn_layer_plan){.out = in[0].shape, .image = in[0].image};
    return NN_OK;
}

void nn_bare_pass_plan(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)pass;
    (void)lanes;
    (void)out;
}

void nn_relu_mask(const struct nn_run *run, const struct nn_backward *args, size_t rows,
                  size_t columns)
{
    struct nn_relu_gradient mask = {.d_x = args->d_y.data,
                                    .ldd_x = args->d_y.ld,
                                    .d_y = args->d_y.data,
                                    .ldd_y = args->d_y.ld,
                                    .y = args->y.data,
                                    .ldy = args->y.ld,
                                    .rows = rows,
                                    .columns = columns};
    nn_relu_gradient(run->exec, &mask);
}

const struct jx_choice nn_initial_choices[] = {
    {"glorot", NN_INITIALISATION_GLOROT, "uniform in +-sqrt(6 / (inputs + outputs))"},
    {"he", NN_INITIALISATION_HE, "normal, variance 2 / inputs"},
    {"he_fan_out", NN_INITIALISATION_HE_FAN_OUT, "normal, variance 2 / outputs"},
    {"he_uniform", NN_INITIALISATION_HE_UNIFORM, "uniform in +-sqrt(6 / inputs)"},
    {"normal", NN_INITIALISATION_NORMAL, "normal, of weight_std"},
    {"truncated_normal", NN_INITIALISATION_TRUNCATED_NORMAL,
     "normal, of weight_std, cut at twice that"},
    {"zeros", NN_INITIALISATION_ZEROS, "all zero"},
    {0},
};

struct nn_parameter_plan nn_vector_plan(const char *suffix, enum nn_role role, size_t n,
                                        double learning_rate_factor, double l2_factor)
{
    return (struct nn_parameter_plan){
        .suffix = suffix,
        .role = role,
        .learnable = true,
        .ndim = 1,
        .shape = {n},
        .extent = {n, 1, 1, 1},
        .order = {0, 1, 2, 3},
        .learning_rate_factor = learning_rate_factor,
        .l2_factor = l2_factor,
    };
}

void nn_vector_of_image(struct nn_parameter_plan *plan, struct nn_shape image)
{
    const size_t extent[4] = {image.channels, image.height, image.width, 1};
    static const unsigned char ORDER[4] = {1, 2, 0, 3};
    memcpy(plan->extent, extent, sizeof extent);
    memcpy(plan->order, ORDER, sizeof ORDER);
}

size_t nn_bytes(size_t n)
{
    return nn_padded_count(n) * sizeof(nn_real);
}

void *nn_piece(void **memory, size_t bytes)
{
    char *piece = *memory;
    NN_ASSERT(bytes % NN_ALIGNMENT == 0);
    *memory = piece + bytes;
    return piece;
}

struct nn_parameter *nn_placed_parameter(const struct nn_placed *placed, enum nn_role role)
{
    for (size_t i = 0; i < placed->plan.n_parameters; i++) {
        if (placed->parameters[i].role == role) {
            return &placed->parameters[i];
        }
    }
    return NULL;
}

nn_real *nn_placed_value(const struct nn_placed *placed, enum nn_role role)
{
    struct nn_parameter *parameter = nn_placed_parameter(placed, role);
    return parameter ? parameter->value : NULL;
}

nn_real *nn_placed_grad(const struct nn_placed *placed, enum nn_role role)
{
    struct nn_parameter *parameter = nn_placed_parameter(placed, role);
    return parameter ? parameter->grad : NULL;
}

bool nn_placed_trains(const struct nn_placed *placed)
{
    for (size_t i = 0; i < placed->plan.n_parameters; i++) {
        if (placed->parameters[i].trainable) {
            return true;
        }
    }
    return false;
}

/* ---- windows ---- */

size_t nn_side(const struct jx_ints *list, size_t axis, size_t fallback)
{
    if (list->count == 0) {
        return fallback;
    }
    return (size_t)list->value[list->count == 1 ? 0 : axis];
}

enum nn_status nn_sides_plan(const struct jx_ints *list, const char *field, struct nn_sides *out,
                             struct nn_layer_issue *issue)
{
    if (list->count == 3) {
        return nn_layer_refuse(issue, field,
                               "give one number, [height, width] or [top, bottom, left, right]",
                               "the %s has three numbers", field);
    }
    if (list->count == 4) {
        *out = (struct nn_sides){(size_t)list->value[0], (size_t)list->value[1],
                                 (size_t)list->value[2], (size_t)list->value[3]};
        return NN_OK;
    }
    size_t height = nn_side(list, 0, 0), width = nn_side(list, 1, 0);
    *out = (struct nn_sides){height, height, width, width};
    return NN_OK;
}

/* Splits the padding that makes out = ceil(size / stride); the odd pixel goes behind. */
static void same_padding(size_t size, size_t kernel, size_t stride, size_t *before, size_t *after)
{
    size_t out = (size + stride - 1) / stride;
    size_t covered = (out - 1) * stride + kernel;
    size_t total = covered > size ? covered - size : 0;
    *before = total / 2;
    *after = total - *before;
}

/* Number of windows; 0 when none fits. With ceil, one more (or the only one) may hang over the end
 * by less than a stride, as long as it begins on the image or the padding before it (torch's rule).
 */
static size_t window_count(size_t size, size_t kernel, size_t stride, const size_t pad[2],
                           bool ceil)
{
    size_t padded = size + pad[0] + pad[1];
    if (kernel > padded) {
        return ceil && kernel - padded < stride ? 1 : 0;
    }
    size_t count = (padded - kernel) / stride + 1;
    bool rest = (padded - kernel) % stride != 0;
    if (ceil && rest && count * stride < size + pad[0]) {
        count++;
    }
    return count;
}

enum nn_status nn_window_sides(const struct nn_window_options *options, size_t default_stride,
                               struct nn_window *out, struct nn_layer_issue *issue)
{
    struct nn_window w = {.kernel_h = nn_side(&options->kernel, 0, 1),
                          .kernel_w = nn_side(&options->kernel, 1, 1)};
    w.dilation_h = nn_side(&options->dilation, 0, 1);
    w.dilation_w = nn_side(&options->dilation, 1, 1);
    if (!nn_size_mul(w.kernel_h - 1, w.dilation_h, &w.span_h) ||
        !nn_size_mul(w.kernel_w - 1, w.dilation_w, &w.span_w)) {
        return nn_layer_refuse(issue, "dilation", "make it smaller", "the dilation is too large");
    }
    w.span_h++;
    w.span_w++;
    w.stride_h = nn_side(&options->stride, 0, default_stride > 0 ? default_stride : w.kernel_h);
    w.stride_w = nn_side(&options->stride, 1, default_stride > 0 ? default_stride : w.kernel_w);
    enum nn_status status = nn_sides_plan(&options->padding, "padding", &w.pad, issue);
    if (status == NN_OK) {
        *out = w;
    }
    return status;
}

enum nn_status nn_window_plan(const struct nn_window_options *options, size_t default_stride,
                              struct nn_shape in, struct nn_window *out,
                              struct nn_layer_issue *issue)
{
    struct nn_window w;
    enum nn_status status = nn_window_sides(options, default_stride, &w, issue);
    if (status != NN_OK) {
        return status;
    }
    if (options->same_padding) {
        if (options->padding.count > 0) {
            return nn_layer_refuse(issue, "padding", "leave one of the two out",
                                   "padding and same_padding are both given");
        }
        same_padding(in.height, w.span_h, w.stride_h, &w.pad.top, &w.pad.bottom);
        same_padding(in.width, w.span_w, w.stride_w, &w.pad.left, &w.pad.right);
    }
    w.out_height = window_count(in.height, w.span_h, w.stride_h,
                                (size_t[2]){w.pad.top, w.pad.bottom}, options->ceil_mode);
    w.out_width = window_count(in.width, w.span_w, w.stride_w, (size_t[2]){w.pad.left, w.pad.right},
                               options->ceil_mode);
    if (w.out_height == 0 || w.out_width == 0) {
        return nn_layer_refuse(issue, "kernel", "make the kernel smaller or the padding larger",
                               "the %zux%zu kernel does not fit the %zux%zu image", w.kernel_h,
                               w.kernel_w, in.height, in.width);
    }
    *out = w;
    return NN_OK;
}
