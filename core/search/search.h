/* SPDX-License-Identifier: MIT
 *
 * Where to look next. A space of axes and what is known of it go in, points come out. Pure: no
 * JSON, clock or file; equal input gives equal points.
 *
 * A point is one number an axis: of choices the index, of a range the value itself.
 */
#ifndef NN_SEARCH_SEARCH_H
#define NN_SEARCH_SEARCH_H

#include "core/base/base.h"

struct nn_search_axis {
    size_t choices;   /* above 0: so many values without an order, and nothing below is read */
    double min, max;  /* else a range, both ends in it; finite, min < max */
    bool logarithmic; /* even in the logarithm instead of the value; min > 0 */
    bool integer;     /* whole values only; min and max are whole, at most 2^53 in size */
};

struct nn_search_space {
    const struct nn_search_axis *axes;
    size_t count; /* of axes; without any there is one point */
};

/* Is the range one? NN_ERR_INVALID with the pointer "/min" or "/max". Not for choices. */
NN_MUST_CHECK enum nn_status nn_search_axis_check(const struct nn_search_axis *axis,
                                                  struct nn_error *err);

/* How many points there are; SIZE_MAX when an axis is continuous, or they are too many to count. */
size_t nn_search_count(const struct nn_search_space *space);

/* Point `index` of a space that can be counted, the last axis running fastest. */
void nn_search_grid(const struct nn_search_space *space, size_t index, double *out_point);

/* Points 0 .. n - 1 of the random search with this seed, n x axes. Point k depends on seed, space
 * and k alone, so fewer points are the first of more. None stands twice where the space can be
 * counted; then n is at most nn_search_count(). Values of a continuous range are cut to some six
 * digits of its width, for people. NN_ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_search_random(const struct nn_search_space *space, uint64_t seed,
                                              size_t n, double *out_points, struct nn_error *err);

#endif
