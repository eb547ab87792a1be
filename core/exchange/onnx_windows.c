/* SPDX-License-Identifier: MIT
 *
 * Convolution and pooling as ONNX: padding is written as numbers, whichever way it was asked for.
 * A last window that hangs over the edge becomes padding too, so that nobody's reading of ceil_mode
 * matters; only an average that counts padded pixels needs the mode itself, since what hangs over
 * does not count.
 */
#include <string.h>

#include "core/exchange/onnx_write_internal.h"

struct window {
    int64_t kernel[2], stride[2], dilation[2];
    int64_t pads[4]; /* top, left, bottom, right, as ONNX has them */
    bool over;       /* the last window hangs over, and does so by more than padding may be */
    bool extended;   /* pads hold what hangs over */
};

static const int64_t ONES[2] = {1, 1};

/* One number for both sides, or two; none: fallback. */
static void pair(const json_t *options, const char *name, const int64_t fallback[2], int64_t out[2])
{
    const json_t *list = json_object_get(options, name);
    size_t n = json_array_size(list);
    for (size_t i = 0; i < 2; i++) {
        out[i] = n == 0 ? fallback[i] : json_integer_value(json_array_get(list, i < n ? i : n - 1));
    }
}

static struct window window_of(const struct nn_onnx_layer *layer, const int64_t *default_stride)
{
    struct window w = {.over = false};
    int64_t before[2], after[2];
    const int64_t in[2] = {(int64_t)layer->in[0].height, (int64_t)layer->in[0].width};
    const int64_t out[2] = {(int64_t)layer->out.height, (int64_t)layer->out.width};
    pair(layer->options, "kernel", ONES, w.kernel);
    pair(layer->options, "stride", default_stride ? default_stride : w.kernel, w.stride);
    pair(layer->options, "dilation", ONES, w.dilation);
    nn_onnx_sides_option(layer, "padding", before, after);
    for (size_t axis = 0; axis < 2; axis++) {
        int64_t span = (w.kernel[axis] - 1) * w.dilation[axis] + 1;
        int64_t total = (out[axis] - 1) * w.stride[axis] + span - in[axis];
        if (json_is_true(json_object_get(layer->options, "same_padding"))) {
            total = total > 0 ? total : 0;
            before[axis] = total / 2; /* the odd pixel goes behind */
            after[axis] = total - total / 2;
        } else if (total > before[axis] + after[axis]) {
            w.extended = true;
            after[axis] = total - before[axis];
        }
        w.over = w.over || after[axis] >= span;
        w.pads[axis] = before[axis];
        w.pads[2 + axis] = after[axis];
    }
    return w;
}

static void window_write(struct nn_onnx_writer *w, const struct window *window)
{
    nn_onnx_ints(w, "kernel_shape", window->kernel, 2);
    nn_onnx_ints(w, "strides", window->stride, 2);
    nn_onnx_ints(w, "pads", window->pads, 4);
}

/* A node with its inputs and output; its attributes follow. */
static void filters_begin(struct nn_onnx_writer *w, struct nn_onnx_layer *layer, const char *op)
{
    char input[NN_ONNX_NAME_SIZE], weight[NN_ONNX_NAME_SIZE], bias[NN_ONNX_NAME_SIZE];
    bool with_bias = nn_onnx_has_parameter(w, layer, "bias");
    nn_onnx_input_as(w, layer, 0, NN_ONNX_IMAGE, input);
    nn_onnx_parameter(w, layer, "weight", weight);
    if (with_bias) {
        nn_onnx_parameter(w, layer, "bias", bias);
    }
    nn_onnx_begin(w, op, layer->out.name);
    nn_onnx_in(w, input);
    nn_onnx_in(w, weight);
    if (with_bias) {
        nn_onnx_in(w, bias);
    }
    nn_onnx_out(w, layer->out.name);
    layer->out.rank = NN_ONNX_IMAGE;
}

bool nn_onnx_write_convolution(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    struct window window = window_of(layer, ONES);
    filters_begin(w, layer, "Conv");
    window_write(w, &window);
    nn_onnx_ints(w, "dilations", window.dilation, 2);
    nn_onnx_int(w, "group", nn_onnx_int_option(layer, "groups"));
    nn_onnx_end(w);
    return true;
}

/* Pixels that are cut off and pixels that are added behind them cancel out. */
static bool output_padding_fits(const struct window *window, int64_t after[2], int64_t more[2])
{
    bool fits = true;
    for (size_t axis = 0; axis < 2; axis++) {
        int64_t both = more[axis] < after[axis] ? more[axis] : after[axis];
        if (more[axis] >= window->stride[axis]) { /* below a dilation; onnxruntime refuses it */
            more[axis] -= both;
            after[axis] -= both;
        }
        fits = fits && more[axis] < window->stride[axis];
    }
    return fits;
}

bool nn_onnx_write_transposed_convolution(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    int64_t before[2], after[2], more[2];
    struct window window;
    nn_onnx_sides_option(layer, "padding", before, after);
    pair(layer->options, "kernel", ONES, window.kernel);
    pair(layer->options, "stride", ONES, window.stride);
    pair(layer->options, "dilation", ONES, window.dilation);
    pair(layer->options, "output_padding", (const int64_t[2]){0, 0}, more);
    if (!output_padding_fits(&window, after, more)) {
        (void)strcpy(w->lack, "an output padding of a stride or more");
        return false;
    }
    memcpy(window.pads, before, sizeof before);
    memcpy(window.pads + 2, after, sizeof after);
    filters_begin(w, layer, "ConvTranspose");
    window_write(w, &window);
    nn_onnx_ints(w, "dilations", window.dilation, 2);
    nn_onnx_ints(w, "output_padding", more, 2);
    nn_onnx_int(w, "group", nn_onnx_int_option(layer, "groups"));
    nn_onnx_end(w);
    return true;
}

static bool pool(struct nn_onnx_writer *w, struct nn_onnx_layer *layer, const char *op)
{
    char input[NN_ONNX_NAME_SIZE];
    bool average = op[0] == 'A';
    bool counted = average && json_is_true(json_object_get(layer->options, "count_padding"));
    struct window window = window_of(layer, NULL);
    bool ceil_mode = window.extended && (window.over || counted);
    if (ceil_mode) {
        int64_t before[2], after[2];
        nn_onnx_sides_option(layer, "padding", before, after);
        memcpy(window.pads + 2, after, sizeof after);
    }
    nn_onnx_input_as(w, layer, 0, NN_ONNX_IMAGE, input);
    nn_onnx_begin(w, op, layer->out.name);
    nn_onnx_in(w, input);
    nn_onnx_out(w, layer->out.name);
    window_write(w, &window);
    nn_onnx_int(w, "ceil_mode", ceil_mode ? 1 : 0);
    if (average) {
        nn_onnx_int(w, "count_include_pad", counted ? 1 : 0);
    }
    nn_onnx_end(w);
    layer->out.rank = NN_ONNX_IMAGE;
    return true;
}

bool nn_onnx_write_max_pool(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return pool(w, layer, "MaxPool");
}

bool nn_onnx_write_average_pool(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return pool(w, layer, "AveragePool");
}

/* Only where every window has one size. */
bool nn_onnx_write_adaptive_pool(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    const struct nn_onnx_term *in = &layer->in[0], *out = &layer->out;
    char input[NN_ONNX_NAME_SIZE];
    if (in->height % out->height != 0 || in->width % out->width != 0) {
        (void)strcpy(w->lack, "windows of several sizes");
        return false;
    }
    const int64_t kernel[2] = {(int64_t)(in->height / out->height),
                               (int64_t)(in->width / out->width)};
    nn_onnx_input_as(w, layer, 0, NN_ONNX_IMAGE, input);
    nn_onnx_begin(w, "AveragePool", layer->out.name);
    nn_onnx_in(w, input);
    nn_onnx_out(w, out->name);
    nn_onnx_ints(w, "kernel_shape", kernel, 2);
    nn_onnx_ints(w, "strides", kernel, 2);
    nn_onnx_end(w);
    layer->out.rank = NN_ONNX_IMAGE;
    return true;
}
