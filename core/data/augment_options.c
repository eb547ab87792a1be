/* SPDX-License-Identifier: MIT
 *
 * The "augmentation" object: its field table and what that cannot say.
 */
#include <stdio.h>

#include "core/data/augment.h"

#define RANGE(field, owner, low, high, text, of, about)                                            \
    {                                                                                              \
        .name = #field, .type = JX_REALS, .offset = offsetof(struct owner, field), .min = (low),   \
        .max = (high), .min_items = 2, .max_items = 2, .fallback = text, .unit = of, .doc = about  \
    }

static const struct jx_field CROP_FIELDS[] = {
    RANGE(area, nn_resized_crop, 1e-4, 1, "[0.08, 1]", NULL, "share of the area, from and to"),
    RANGE(aspect_ratio, nn_resized_crop, 1e-2, 100, "[0.75, 1.3333333333333333]", NULL,
          "width over height, from and to"),
    JX_END,
};

#define JITTER(field, high, about)                                                                 \
    {                                                                                              \
        .name = #field, .type = JX_REAL, .offset = offsetof(struct nn_color_jitter, field),        \
        .max = (high), .fallback = "0", .doc = about                                               \
    }
static const struct jx_field JITTER_FIELDS[] = {
    JITTER(brightness, 10, "levels times a factor from max(0, 1 - x) to 1 + x"),
    JITTER(contrast, 10, "distance from the picture's mean grey, likewise"),
    JITTER(saturation, 10, "distance from the pixel's grey, likewise"),
    JITTER(hue, 0.5, "turn of the hue, up to so much of a full turn to either side"),
    JX_END,
};

#define OFFSET(member) offsetof(struct nn_augmentation, member)
const struct jx_field nn_augmentation_fields[] = {
    {.name = "x_reflection",
     .type = JX_BOOL,
     .offset = OFFSET(x_reflection),
     .fallback = "false",
     .doc = "mirror left and right, every other time"},
    {.name = "y_reflection",
     .type = JX_BOOL,
     .offset = OFFSET(y_reflection),
     .fallback = "false",
     .doc = "mirror top and bottom, every other time"},
    RANGE(rotation_degrees, nn_augmentation, -360, 360, "[0, 0]", "degrees",
          "rotation clockwise, from and to"),
    RANGE(scale, nn_augmentation, 0.01, 100, "[1, 1]", NULL, "scale of both axes, from and to"),
    RANGE(x_scale, nn_augmentation, 0.01, 100, "[1, 1]", NULL, "scale of x, from and to"),
    RANGE(y_scale, nn_augmentation, 0.01, 100, "[1, 1]", NULL, "scale of y, from and to"),
    RANGE(x_shear_degrees, nn_augmentation, -89, 89, "[0, 0]", "degrees",
          "horizontal shear, from and to"),
    RANGE(y_shear_degrees, nn_augmentation, -89, 89, "[0, 0]", "degrees",
          "vertical shear, from and to"),
    RANGE(x_translation, nn_augmentation, -4096, 4096, "[0, 0]", "pixels",
          "move to the right, from and to"),
    RANGE(y_translation, nn_augmentation, -4096, 4096, "[0, 0]", "pixels",
          "move down, from and to"),
    {.name = "fill_value",
     .type = JX_REALS,
     .offset = OFFSET(fill_value),
     .max = 255,
     .min_items = 1,
     .max_items = 4,
     .scalar_too = true,
     .fallback = "[0]",
     .doc = "level of what comes in from outside, one for all channels or one for each"},
    {.name = "crop_padding",
     .type = JX_INT,
     .offset = OFFSET(crop_padding),
     .min = 0,
     .max = 1024,
     .fallback = "0",
     .doc = "move by up to so many whole pixels in each direction",
     .unit = "pixels"},
    {.name = "random_resized_crop",
     .type = JX_OBJECT,
     .offset = OFFSET(resized_crop),
     .given = JX_GIVEN(struct nn_augmentation, resized_crop_given),
     .nullable = true,
     .fields = CROP_FIELDS,
     .doc = "a window at a place of chance, stretched to the whole picture"},
    {.name = "color_jitter",
     .type = JX_OBJECT,
     .offset = OFFSET(color_jitter),
     .fields = JITTER_FIELDS,
     .doc = "changes of the colours, in the order of the fields, cut off to 0..255 at the end"},
    JX_END,
};

struct range_row {
    const char *pointer;
    const struct jx_reals *range;
};

static bool is_other_than(const struct jx_reals *range, double neutral)
{
    return range->count == 2 && (range->value[0] != neutral || range->value[1] != neutral);
}

static bool has_jitter(const struct nn_color_jitter *j)
{
    return j->brightness > 0 || j->contrast > 0 || j->saturation > 0 || j->hue > 0;
}

bool nn_augmentation_is_on(const struct nn_augmentation *a)
{
    return a->x_reflection || a->y_reflection || a->crop_padding > 0 || a->resized_crop_given ||
           is_other_than(&a->rotation_degrees, 0) || is_other_than(&a->scale, 1) ||
           is_other_than(&a->x_scale, 1) || is_other_than(&a->y_scale, 1) ||
           is_other_than(&a->x_shear_degrees, 0) || is_other_than(&a->y_shear_degrees, 0) ||
           is_other_than(&a->x_translation, 0) || is_other_than(&a->y_translation, 0) ||
           has_jitter(&a->color_jitter);
}

static enum nn_status check_channels(const struct nn_augmentation *a, size_t channels,
                                     struct nn_error *err)
{
    if (a->fill_value.count > 1 && a->fill_value.count != channels) {
        return nn_fail_at(err, NN_ERR_INVALID, "/fill_value", "%zu levels for %zu channels",
                          a->fill_value.count, channels);
    }
    if (channels != 3 && (a->color_jitter.saturation > 0 || a->color_jitter.hue > 0)) {
        return nn_fail_at(err, NN_ERR_INVALID,
                          a->color_jitter.hue > 0 ? "/color_jitter/hue"
                                                  : "/color_jitter/saturation",
                          "pictures of %zu channels have no colours", channels);
    }
    return NN_OK;
}

enum nn_status nn_augmentation_check(const struct nn_augmentation *a, size_t channels,
                                     struct nn_error *err)
{
    const struct range_row rows[] = {
        {"/rotation_degrees", &a->rotation_degrees},
        {"/scale", &a->scale},
        {"/x_scale", &a->x_scale},
        {"/y_scale", &a->y_scale},
        {"/x_shear_degrees", &a->x_shear_degrees},
        {"/y_shear_degrees", &a->y_shear_degrees},
        {"/x_translation", &a->x_translation},
        {"/y_translation", &a->y_translation},
        {"/random_resized_crop/area", &a->resized_crop.area},
        {"/random_resized_crop/aspect_ratio", &a->resized_crop.aspect_ratio},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].range->count == 2 && rows[i].range->value[0] > rows[i].range->value[1]) {
            return nn_fail_at(err, NN_ERR_INVALID, rows[i].pointer,
                              "a range is [low, high], and %g is over %g", rows[i].range->value[0],
                              rows[i].range->value[1]);
        }
    }
    if (is_other_than(&a->scale, 1) &&
        (is_other_than(&a->x_scale, 1) || is_other_than(&a->y_scale, 1))) {
        return nn_fail_at(err, NN_ERR_INVALID, "/scale", "x_scale and y_scale set it already");
    }
    return check_channels(a, channels, err);
}
