/* SPDX-License-Identifier: MIT
 *
 * How many axes the values of a graph have, and how many pixels and channels, as far as its sizes
 * tell: what an axis means, and which of two inputs has one value for all, hangs on them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/onnx_read_internal.h"

/* ---- sizes ---- */

/* Numbers of a file may be anything. */
static size_t known(double size)
{
    return size >= 1 && size <= 1048576 ? (size_t)size : 0;
}

static double at(const json_t *options, const char *name, size_t i, double fallback)
{
    const json_t *number = json_array_get(json_object_get(options, name), i);
    return number ? json_number_value(number) : fallback;
}

/* What a window gives on one axis. */
static size_t windows(const json_t *options, size_t axis, size_t size)
{
    double stride = at(options, "stride", axis, 1);
    double span = at(options, "dilation", axis, 1) * (at(options, "kernel", axis, 1) - 1) + 1;
    double all = (double)size + at(options, "padding", 2 * axis, 0) +
                 at(options, "padding", 2 * axis + 1, 0);
    if (size == 0 || stride < 1) {
        return 0;
    }
    if (json_is_true(json_object_get(options, "same_padding"))) {
        return known(ceil((double)size / stride));
    }
    double steps = (all - span) / stride;
    bool whole = steps == floor(steps) || !json_is_true(json_object_get(options, "ceil_mode"));
    return whole ? known(floor(steps) + 1) : 0;
}

static void size_of_pool(const json_t *options, struct nn_onnx_extent *extent)
{
    extent->row = false;
    extent->height = windows(options, 0, extent->height);
    extent->width = windows(options, 1, extent->width);
}

static void size_of_filters(const json_t *options, struct nn_onnx_extent *extent)
{
    size_of_pool(options, extent);
    extent->channels = known(json_number_value(json_object_get(options, "filters")));
}

static void size_of_larger(const json_t *options, struct nn_onnx_extent *extent)
{
    *extent = (struct nn_onnx_extent){
        .channels = known(json_number_value(json_object_get(options, "filters")))};
}

static void size_of_frame(const json_t *options, struct nn_onnx_extent *extent)
{
    (void)options;
    extent->height = extent->width = 0;
}

static void size_of_mean(const json_t *options, struct nn_onnx_extent *extent)
{
    (void)options;
    extent->height = extent->width = 1;
}

static void size_of_channel(const json_t *options, struct nn_onnx_extent *extent)
{
    (void)options;
    extent->channels = 1;
}

static void size_of_more_channels(const json_t *options, struct nn_onnx_extent *extent)
{
    (void)options;
    extent->channels = 0;
}

static void size_of_outputs(const json_t *options, struct nn_onnx_extent *extent)
{
    extent->row = extent->row || !extent->steps;
    extent->height = extent->width = 1;
    extent->channels = known(json_number_value(json_object_get(options, "outputs")));
}

static void size_of_flat(const json_t *options, struct nn_onnx_extent *extent)
{
    (void)options;
    extent->channels =
        known((double)extent->height * (double)extent->width * (double)extent->channels);
    extent->row = extent->row || !extent->steps;
    extent->height = extent->width = 1;
}

/* Other kinds give what their first input has. */
static const struct {
    const char *kind;
    void (*size)(const json_t *options, struct nn_onnx_extent *extent);
} RULES[] = {
    {"average_pool", size_of_pool},
    {"channel_mean", size_of_channel},
    {"channel_padding", size_of_more_channels},
    {"concatenation", size_of_more_channels},
    {"convolution", size_of_filters},
    {"cropping", size_of_frame},
    {"embedding", size_of_outputs},
    {"flatten", size_of_flat},
    {"fully_connected", size_of_outputs},
    {"global_average_pool", size_of_mean},
    {"gru", size_of_more_channels},
    {"lstm", size_of_more_channels},
    {"max_pool", size_of_pool},
    {"spatial_padding", size_of_frame},
    {"temporal_convolution", size_of_more_channels},
    {"transposed_convolution", size_of_larger},
};

/* ---- of layers ---- */

struct nn_onnx_extent nn_onnx_extent_of(const struct nn_onnx_reader *r, size_t layer)
{
    return layer < r->room_extents ? r->extents[layer] : (struct nn_onnx_extent){.row = false};
}

bool nn_onnx_is_row(const struct nn_onnx_reader *r, size_t layer)
{
    return nn_onnx_extent_of(r, layer).row;
}

void nn_onnx_set_extent(struct nn_onnx_reader *r, size_t layer, struct nn_onnx_extent extent)
{
    if (layer >= r->room_extents) {
        size_t room = 2 * layer + 64;
        struct nn_onnx_extent *grown = realloc(r->extents, room * sizeof *grown);
        if (!grown) {
            r->status = NN_ERR_MEMORY;
            return;
        }
        memset(grown + r->room_extents, 0, (room - r->room_extents) * sizeof *grown);
        r->extents = grown;
        r->room_extents = room;
    }
    r->extents[layer] = extent;
}

void nn_onnx_mark_row(struct nn_onnx_reader *r, size_t layer)
{
    struct nn_onnx_extent extent = nn_onnx_extent_of(r, layer);
    extent.row = true;
    nn_onnx_set_extent(r, layer, extent);
}

void nn_onnx_extend(struct nn_onnx_reader *r, size_t layer, struct nn_onnx_extent before)
{
    const json_t *options = nn_onnx_options(r, layer);
    const char *kind = json_string_value(json_object_get(options, "kind"));
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++) {
        if (strcmp(kind, RULES[i].kind) == 0) {
            RULES[i].size(options, &before);
        }
    }
    nn_onnx_set_extent(r, layer, before);
}

bool nn_onnx_is_one_pixel(const struct nn_onnx_reader *r, size_t layer)
{
    struct nn_onnx_extent extent = nn_onnx_extent_of(r, layer);
    return extent.height == 1 && extent.width == 1;
}

/* ---- of values ---- */

size_t nn_onnx_rank(const struct nn_onnx_reader *r, const struct nn_onnx_known *value)
{
    if (value->meaning == NN_ONNX_CHANNELS_LAST || value->sides) {
        return 4;
    }
    return nn_onnx_is_row(r, value->layer) ? 2 : r->sequences ? 3 : 4;
}

int64_t nn_onnx_axis(const struct nn_onnx_reader *r, const struct nn_onnx_known *value,
                     int64_t axis)
{
    return axis >= 0 ? axis : axis + (int64_t)nn_onnx_rank(r, value);
}

bool nn_onnx_is_channels(const struct nn_onnx_reader *r, const struct nn_onnx_known *value,
                         int64_t axis)
{
    size_t rank = nn_onnx_rank(r, value);
    bool last = rank == 3 || value->meaning == NN_ONNX_CHANNELS_LAST;
    return nn_onnx_axis(r, value, axis) == (last ? (int64_t)rank - 1 : 1);
}
