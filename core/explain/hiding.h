/* SPDX-License-Identifier: MIT
 *
 * What a trained network says of a sample whose parts are hidden by one value:
 *
 *   occlusion (Zeiler and Fergus, 2014): a mask moves over the sample; a place counts as the mean
 *       of how far the score falls under the masks that cover it
 *   LIME (Ribeiro, Singh and Guestrin, 2016): the sample is cut into segments, many copies hide
 *       some of them at random, and a weighted ridge regression says what each is worth
 *
 * Scores are those before the softmax; maps are in their unit and not scaled: above 0 is what
 * speaks for a class, below 0 what speaks against it. Nothing but the scores is asked of the
 * network, so that it needs no maps of its own. Copies go through it in batches of one size, which
 * depends on the network alone. Confined to one thread.
 */
#ifndef NN_EXPLAIN_HIDING_H
#define NN_EXPLAIN_HIDING_H

#include "core/network/network.h"

enum {
    NN_OCCLUSION_PLACES_MAX = 4096,
    NN_LIME_SEGMENTS_MAX = 400,
    NN_LIME_COPIES_MAX = 4096,
    NN_HIDER_CLASSES_MAX = 2, /* of one call */
};

/* The mask stands at 0, stride, 2 stride, ... of each side, and last at the far end. */
struct nn_occlusion {
    size_t mask_height, mask_width;   /* at most the sample's */
    size_t stride_down, stride_right; /* at most the mask's: every value is hidden by some mask */
};
/* Places along a side of `side` values. */
size_t nn_occlusion_places(size_t side, size_t mask, size_t stride);

/* Segments are the cells of a grid whose shape is nearest to the sample's, or superpixels: clusters
 * of like colours near each other, by SLIC (superpixels.c), of pictures alone. Each copy but the
 * first, which is the sample, hides every segment with probability 1/2, by bits that are a function
 * of (seed, copy, segment). With z the segments that a copy shows and D its distance from the
 * sample, D = 1 - sqrt(share of z that is shown),  weight = exp(-8 D^2), the coefficients c are
 * those of: least sum of weight (score - b - z.c)^2, plus |c|^2 (the kernel, its width 0.25, and
 * the ridge of 1 are those of the authors' implementation). */
enum nn_segmentation { NN_SEGMENTATION_GRID, NN_SEGMENTATION_SUPERPIXELS };
struct nn_lime {
    enum nn_segmentation segmentation;
    size_t segments; /* about so many; at least 2 */
    size_t copies;   /* at least 2 */
    uint64_t seed;
};

struct nn_hider_setup {
    const struct nn_description *description; /* of a network that classifies images or windows */
    struct nn_network_bind bind;
    struct nn_network *network;           /* of that description and bind, whose values are used */
    size_t value_bytes;                   /* of the samples: 1, pixels, or 4, float32 */
    const double *fill;                   /* what hides: a value for each channel, in the samples'
                                             unit; of pixels rounded and kept within 0..255 */
    const struct nn_occlusion *occlusion; /* NULL: not asked for */
    const struct nn_lime *lime;           /* likewise */
    bool plain_operators;                 /* as in struct nn_network_options, as are these: */
    const struct nn_kernels *kernels;     /* NULL: the best */
    struct nn_memory *memory;
    struct nn_pool *pool;
    bool (*go_on)(void *ctx); /* asked before each batch; NULL: always */
    void *ctx;
};

struct nn_hider;

/* Everything in the setup but fill and the two methods is borrowed until destroy.
 * NN_ERR_NOT_SUPPORTED: a network of sequences, or that classifies nothing. NN_ERR_LIMIT,
 * NN_ERR_MEMORY: as nn_network_create. */
NN_MUST_CHECK enum nn_status nn_hider_create(const struct nn_hider_setup *setup,
                                             struct nn_hider **out, struct nn_error *err);
void nn_hider_destroy(struct nn_hider *hider);

/* Maps of a sample (height x width x channels values) for n classes, one behind the other, each
 * height x width numbers. Only with what the setup asks for. False: go_on said no, and the maps
 * hold no meaning. */
NN_MUST_CHECK bool nn_hider_occlude(struct nn_hider *hider, const void *sample,
                                    const size_t *classes, size_t n, nn_real *out_maps);
NN_MUST_CHECK bool nn_hider_lime(struct nn_hider *hider, const void *sample, const size_t *classes,
                                 size_t n, nn_real *out_maps);

#endif
