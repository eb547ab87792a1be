/* SPDX-License-Identifier: MIT
 *
 * The body of a hider, for the files of this room.
 */
#ifndef NN_EXPLAIN_HIDING_INTERNAL_H
#define NN_EXPLAIN_HIDING_INTERNAL_H

#include "core/explain/hiding.h"

/* Scratch of nn_segments_superpixels. */
struct nn_superpixels_room {
    double *numbers;
    int32_t *pieces;
    uint32_t *queue;
};

struct nn_hider {
    struct nn_hider_setup setup;
    struct nn_occlusion occlusion;
    struct nn_lime lime;
    struct nn_network *network;
    size_t batch; /* copies that go through it at a time */
    size_t height, width;
    size_t pixel_bytes, sample_bytes; /* of all channels of a place; of a sample */
    uint8_t *fill;                    /* pixel_bytes */
    uint8_t *copies;                  /* batch x sample_bytes */
    double *scores;                   /* copies of a method x classes of the call */
    /* occlusion; NULL without it */
    double *sums, *masks_over; /* height x width: falls of the score, and masks that cover it */
    /* LIME; NULL without it */
    uint32_t *segment_of; /* height x width; of superpixels those of the last sample */
    size_t segments;
    struct nn_superpixels_room room; /* empty without superpixels */
    uint8_t *shown;                  /* copies x segments: 1 or 0 */
    double *work;                    /* nn_lime_work numbers */
    double *coefficients;            /* segments */
};

/* Makes copy `copy`, at least 1, out of the sample that `slot` holds. */
typedef void (*nn_hide_fn)(const struct nn_hider *hider, size_t copy, uint8_t *slot);

/* Scores of the sample, as copy 0, and of its n - 1 copies: hider->scores[copy * n_classes + k]. */
NN_MUST_CHECK bool nn_hider_run(struct nn_hider *hider, const void *sample, size_t n,
                                nn_hide_fn hide, const size_t *classes, size_t n_classes);

/* Each method's own memory, and what does not depend on a sample. */
NN_MUST_CHECK enum nn_status nn_occlusion_init(struct nn_hider *hider, struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_lime_init(struct nn_hider *hider, struct nn_error *err);

/* Cuts height x width into about `wanted` cells of a grid, rows x columns; returns how many there
 * are.
 */
struct nn_grid {
    size_t rows, columns;
};
struct nn_grid nn_segments_shape(size_t height, size_t width, size_t wanted);
size_t nn_segments_grid(size_t height, size_t width, size_t wanted, uint32_t *out);
/* Cuts a picture into at most as many connected superpixels; room->numbers holds
 * nn_superpixels_numbers, the others one for each pixel. */
size_t nn_superpixels_numbers(size_t pixels, size_t seeds);
size_t nn_segments_superpixels(const uint8_t *pixels, size_t height, size_t width, size_t channels,
                               size_t wanted, const struct nn_superpixels_room *room,
                               uint32_t *out);

/* The regression of hiding.h over n copies and d segments. score[i * stride] is that of copy i. */
size_t nn_lime_work(size_t d);
void nn_lime_fit(const uint8_t *shown, size_t n, size_t d, const double *score, size_t stride,
                 double *work, double *out_coefficients);

#endif
