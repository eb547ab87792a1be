/* SPDX-License-Identifier: MIT
 *
 * Augmentation: random changes of the images that train. What happens to an image is a function of
 * (seed, epoch, item) alone, so it depends neither on threads nor on where a run was resumed.
 */
#ifndef NN_DATA_AUGMENT_H
#define NN_DATA_AUGMENT_H

#include "core/base/base.h"
#include "core/json/json.h"

/* The "augmentation" object of a spec. All zero: nothing happens. */
struct nn_augmentation {
    bool x_reflection;    /* mirrored left and right with probability 1/2 */
    int64_t crop_padding; /* cut out of the image in a frame of so many black pixels, at a place
                             drawn evenly: moved by -n..n in each direction */
};
extern const struct jx_field nn_augmentation_fields[];

bool nn_augmentation_is_on(const struct nn_augmentation *augmentation);

struct nn_augment_key {
    uint64_t seed, epoch, item;
};

/* dst = src changed; height x width x channels bytes each, channels last, not overlapping. */
void nn_augment(const struct nn_augmentation *augmentation, const struct nn_augment_key *key,
                const uint8_t *src, uint8_t *dst, size_t height, size_t width, size_t channels);

#endif
