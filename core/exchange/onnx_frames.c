/* SPDX-License-Identifier: MIT
 *
 * Padding and cropping as operators of ONNX.
 */
#include <stdint.h>
#include <string.h>

#include "core/exchange/onnx_write_internal.h"

/* pads: before on each axis, then behind. value: of constant pixels, or NULL for 0. */
static bool pad(struct nn_onnx_writer *w, struct nn_onnx_layer *layer, const int64_t pads[8],
                const char *mode, const double *value)
{
    char input[NN_ONNX_NAME_SIZE], sizes[NN_ONNX_NAME_SIZE], pixel[NN_ONNX_NAME_SIZE];
    nn_onnx_input_as(w, layer, 0, NN_ONNX_IMAGE, input);
    nn_onnx_inner(layer, "pads", sizes);
    nn_onnx_axes(w, sizes, pads, 8);
    if (value) {
        nn_onnx_inner(layer, "pixel", pixel);
        nn_onnx_scalar(w, pixel, (float)*value);
    }
    nn_onnx_begin(w, "Pad", layer->out.name);
    nn_onnx_in(w, input);
    nn_onnx_in(w, sizes);
    if (value) {
        nn_onnx_in(w, pixel);
    }
    nn_onnx_out(w, layer->out.name);
    nn_onnx_string(w, "mode", mode);
    nn_onnx_end(w);
    layer->out.rank = NN_ONNX_IMAGE;
    return true;
}

bool nn_onnx_write_channel_padding(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    const int64_t pads[8] = {0, nn_onnx_int_option(layer, "before"), 0, 0,
                             0, nn_onnx_int_option(layer, "after"),  0, 0};
    return pad(w, layer, pads, "constant", NULL);
}

bool nn_onnx_write_spatial_padding(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    const char *mode = json_string_value(json_object_get(layer->options, "mode"));
    double value = nn_onnx_real_option(layer, "value");
    int64_t before[2], after[2];
    nn_onnx_sides_option(layer, "size", before, after);
    const int64_t pads[8] = {0, 0, before[0], before[1], 0, 0, after[0], after[1]};
    if (strcmp(mode, "constant") == 0) {
        return pad(w, layer, pads, mode, &value);
    }
    return pad(w, layer, pads, strcmp(mode, "replicate") == 0 ? "edge" : mode, NULL);
}

/* Ends are counted from behind, so that the size of the image does not matter. */
bool nn_onnx_write_cropping(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    static const char *const NAMES[] = {"starts", "ends", "axes"};
    static const int64_t SIDES[2] = {2, 3};
    char input[NN_ONNX_NAME_SIZE], names[3][NN_ONNX_NAME_SIZE];
    int64_t starts[2], ends[2];
    nn_onnx_sides_option(layer, "size", starts, ends);
    for (size_t i = 0; i < 2; i++) {
        ends[i] = ends[i] > 0 ? -ends[i] : INT64_MAX;
    }
    const int64_t *const values[] = {starts, ends, SIDES};
    nn_onnx_input_as(w, layer, 0, NN_ONNX_IMAGE, input);
    for (size_t i = 0; i < 3; i++) {
        nn_onnx_inner(layer, NAMES[i], names[i]);
        nn_onnx_axes(w, names[i], values[i], 2);
    }
    nn_onnx_begin(w, "Slice", layer->out.name);
    nn_onnx_in(w, input);
    for (size_t i = 0; i < 3; i++) {
        nn_onnx_in(w, names[i]);
    }
    nn_onnx_out(w, layer->out.name);
    nn_onnx_end(w);
    layer->out.rank = NN_ONNX_IMAGE;
    return true;
}
