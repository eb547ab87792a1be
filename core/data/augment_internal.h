/* SPDX-License-Identifier: MIT
 *
 * What was drawn for one image, and how it is done; private to the room.
 */
#ifndef NN_DATA_AUGMENT_INTERNAL_H
#define NN_DATA_AUGMENT_INTERNAL_H

#include "core/data/augment.h"

struct nn_augment_image {
    size_t height, width, channels;
};

/* In the units of struct nn_augmentation. */
struct nn_augment_change {
    bool x_mirrored, y_mirrored;
    double scale[2], shear_degrees[2], rotation_degrees, translation[2]; /* x, y */
    int64_t padded[2];                                                   /* x, y: dst's pixel is
                                                  src's so much further right and down */
    double window[4];                                                    /* x, y, width, height */
    double brightness, contrast, saturation, hue;
    double fill[4]; /* a channel */
};

/* One that changes nothing. */
struct nn_augment_change nn_augment_nothing(const struct nn_augment_image *image);

void nn_augment_apply(const struct nn_augment_change *change, const struct nn_augment_image *image,
                      const uint8_t *src, uint8_t *dst);

/* colour.c: levels become matrix * levels + offset; returns false when they stay as they are. */
struct nn_augment_colour {
    double matrix[3][3], offset[3];
};
bool nn_augment_colour(const struct nn_augment_change *change, const struct nn_augment_image *image,
                       const uint8_t *src, struct nn_augment_colour *out);

/* warp.c: dst's pixel centre (u, v), in pixels from the corner, is src's (m[0] u + m[1] v + m[2],
 * m[3] u + m[4] v + m[5]); colour may be NULL. */
struct nn_augment_warp {
    double map[6];
    const struct nn_augment_colour *colour;
    const double *fill;
};
void nn_augment_warp(const struct nn_augment_warp *warp, const struct nn_augment_image *image,
                     const uint8_t *src, uint8_t *dst);

#endif
