/* SPDX-License-Identifier: MIT
 *
 * Augmentation: random changes of the images that train. What happens to an image is a function of
 * (seed, epoch, item) alone, so it depends neither on threads nor on where a run was resumed.
 *
 * The chain, each step drawn evenly from its range and done about the image's centre: reflection,
 * scale, shear (x, then y), rotation, translation, the padded crop, the resized crop. All of it is
 * one affine map with one bilinear interpolation between pixel centres; a neighbour outside the
 * image has the fill value. A chain of reflections and padded crops alone copies pixels. Colours
 * are changed before the map: brightness, contrast, saturation, hue, as one affine map of the
 * channels that is cut off to 0..255 once.
 */
#ifndef NN_DATA_AUGMENT_H
#define NN_DATA_AUGMENT_H

#include "core/base/base.h"
#include "core/json/json.h"

/* A window of the image, stretched to its size (Inception's crop): a share of the area and the
 * width over the height, the latter drawn evenly in its logarithm; cut to the image. */
struct nn_resized_crop {
    struct jx_reals area, aspect_ratio; /* [low, high] */
};

/* Each a factor from max(0, 1 - x) to 1 + x; hue turns by -x..x of a full turn. */
struct nn_color_jitter {
    double brightness, contrast; /* times the levels; the distance from the image's mean grey */
    double saturation, hue;      /* the distance from the pixel's grey; its angle in YIQ */
};

/* The "augmentation" object of a spec; ranges are [low, high], none (count 0) means no change. All
 * zero: nothing happens. */
struct nn_augmentation {
    bool x_reflection, y_reflection;         /* each with probability 1/2 */
    struct jx_reals rotation_degrees;        /* clockwise */
    struct jx_reals scale, x_scale, y_scale; /* the first: both axes alike */
    struct jx_reals x_shear_degrees;         /* x += tan(angle) y, y downwards */
    struct jx_reals y_shear_degrees;         /* y += tan(angle) x */
    struct jx_reals x_translation;           /* pixels to the right */
    struct jx_reals y_translation;           /* pixels down */
    struct jx_reals fill_value;              /* a level, or one for each channel; none: 0 */
    int64_t crop_padding;                    /* cut out of the image in a frame of so many pixels,
                                                at a place drawn evenly: moved by -n..n */
    bool resized_crop_given;
    struct nn_resized_crop resized_crop;
    struct nn_color_jitter color_jitter;
};
extern const struct jx_field nn_augmentation_fields[];

bool nn_augmentation_is_on(const struct nn_augmentation *augmentation);

/* What ranges of fields cannot say, for images of so many channels: low over high, a scale beside
 * that of an axis, a fill value for other channels, colours that grey images do not have.
 * ERR_INVALID, the pointer relative to the object. */
NN_MUST_CHECK enum nn_status nn_augmentation_check(const struct nn_augmentation *augmentation,
                                                   size_t channels, struct nn_error *err);

struct nn_augment_key {
    uint64_t seed, epoch, item;
};

/* dst = src changed; height x width x channels bytes each, channels last (1 to 4), not
 * overlapping. */
void nn_augment(const struct nn_augmentation *augmentation, const struct nn_augment_key *key,
                const uint8_t *src, uint8_t *dst, size_t height, size_t width, size_t channels);

#endif
