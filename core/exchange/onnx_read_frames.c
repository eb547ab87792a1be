/* SPDX-License-Identifier: MIT
 *
 * Padding and slices of ONNX as layers.
 */
#include <math.h>
#include <string.h>

#include "core/exchange/onnx_read_rows_internal.h"

/* Sides as numbers before and behind on both axes: [top, bottom, left, right]. */
static json_t *sides_of(double top, double bottom, double left, double right)
{
    return json_pack("{s:[I, I, I, I]}", "size", (json_int_t)top, (json_int_t)bottom,
                     (json_int_t)left, (json_int_t)right);
}

/* Pixels cut off, where all numbers of padding are negative. */
static bool crop(struct nn_onnx_reader *r, const struct nn_onnx_node *node, const double sides[4])
{
    size_t layer;
    return nn_onnx_add_layer(r, node, "cropping",
                             sides_of(-sides[0], -sides[1], -sides[2], -sides[3]), 1, NULL, &layer);
}

static bool pad_pixels(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                       const double sides[4], const char *mode, double value)
{
    size_t layer;
    json_t *options = sides_of(sides[0], sides[1], sides[2], sides[3]);
    (void)json_object_set_new(options, "mode",
                              json_string(strcmp(mode, "edge") == 0 ? "replicate" : mode));
    if (strcmp(mode, "constant") == 0) {
        (void)json_object_set_new(options, "value", json_real(value));
    }
    return nn_onnx_add_layer(r, node, "spatial_padding", options, 1, NULL, &layer);
}

static bool pad_channels(struct nn_onnx_reader *r, const struct nn_onnx_node *node, double before,
                         double after)
{
    size_t layer;
    return nn_onnx_add_layer(
        r, node, "channel_padding",
        json_pack("{s:I, s:I}", "before", (json_int_t)before, "after", (json_int_t)after), 1, NULL,
        &layer);
}

/* Whether all of n numbers are of the sign, or 0, and small enough for the layers. */
static bool are_of_sign(const double *values, size_t n, double sign)
{
    for (size_t i = 0; i < n; i++) {
        if (!(values[i] * sign >= 0 && fabs(values[i]) <= 1048576)) {
            return false;
        }
    }
    return true;
}

/* None at all is what PyTorch writes before some pools. */
bool nn_onnx_read_pad(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const float *n = nn_onnx_numbers_in(r, node, 1, 8);
    const struct nn_onnx_attribute *told = nn_onnx_attribute(node, "mode", NN_ONNX_STRING);
    const struct nn_onnx_known *from = nn_onnx_layer_in(r, node, 0);
    const char *mode = told ? told->text : "constant";
    bool constant = strcmp(mode, "constant") == 0;
    double value = 0;
    (void)nn_onnx_number(r, nn_onnx_tensor_in(r, node, 2), &value);
    if (!n || !from || r->sequences || node->n_inputs > 3 || n[0] != 0 || n[4] != 0 ||
        (!constant && strcmp(mode, "reflect") != 0 && strcmp(mode, "edge") != 0)) {
        return nn_onnx_lacks(r, "other than of images by constant numbers of pixels");
    }
    const double channels[2] = {(double)n[1], (double)n[5]};
    const double sides[4] = {(double)n[2], (double)n[6], (double)n[3], (double)n[7]};
    bool none = are_of_sign(channels, 2, 1) && channels[0] + channels[1] == 0;
    if (none && are_of_sign(sides, 4, 1)) {
        if (sides[0] + sides[1] + sides[2] + sides[3] == 0) {
            nn_onnx_mean(r, node, 0, NN_ONNX_LAYER, from->layer, NULL);
            return true;
        }
        return pad_pixels(r, node, sides, mode, value);
    }
    if (none && are_of_sign(sides, 4, -1)) {
        return crop(r, node, sides);
    }
    return constant && value == 0 && are_of_sign(channels, 2, 1) && are_of_sign(sides, 4, 1) &&
                   sides[0] + sides[1] + sides[2] + sides[3] == 0
               ? pad_channels(r, node, channels[0], channels[1])
               : nn_onnx_lacks(r, "of pixels and channels at once, or channels other than zero");
}

/* Edges cut from an image; ends must count from behind, since sizes are not known here. */
bool nn_onnx_read_slice(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    const struct nn_file_tensor *axes = nn_onnx_tensor_in(r, node, 3);
    size_t n = axes ? axes->count : 0;
    const float *starts = nn_onnx_numbers_in(r, node, 1, n),
                *ends = nn_onnx_numbers_in(r, node, 2, n);
    const float *which = nn_onnx_numbers_in(r, node, 3, n),
                *steps = nn_onnx_numbers_in(r, node, 4, n);
    const struct nn_onnx_known *from = nn_onnx_layer_in(r, node, 0);
    double sides[4] = {0};
    bool fine = n > 0 && n <= 2 && starts && ends && which && (steps || node->n_inputs < 5) &&
                from && !r->sequences && !nn_onnx_is_row(r, from->layer);
    for (size_t i = 0; fine && i < n; i++) {
        float axis = which[i] < 0 ? which[i] + 4 : which[i];
        fine = (axis == 2 || axis == 3) && starts[i] >= 0 && (!steps || steps[i] == 1) &&
               (ends[i] < 0 || ends[i] >= 2147483648.0F);
        if (fine) {
            sides[axis == 2 ? 0 : 2] = -(double)starts[i];
            sides[axis == 2 ? 1 : 3] = ends[i] < 0 ? (double)ends[i] : 0;
        }
    }
    return fine && (n == 1 || which[0] != which[1]) && are_of_sign(sides, 4, -1)
               ? crop(r, node, sides)
               : nn_onnx_lacks(r, "other than edges cut from an image, counted from each end");
}
