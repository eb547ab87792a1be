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
    double min, max;  /* else a range, both ends in it; finite, min < max, and not by a hair */
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

enum nn_search_state {
    NN_SEARCH_MEASURED,
    NN_SEARCH_FAILED, /* counts as the worst that was measured */
    NN_SEARCH_UNKNOWN /* tells nothing, but is not tried again */
};

/* What was tried, in the order in which it was chosen. */
struct nn_search_history {
    size_t n;
    const double *points;               /* [n x axes], inside the space */
    const double *values;               /* [n] smaller is better; finite where measured */
    const enum nn_search_state *states; /* [n] */
};

enum { NN_SEARCH_BAYESIAN_MAX = 500 }; /* points of one search: their cube is work */

/* The next n points after those of the history, chosen together: n >= 1, and no more than the
 * history leaves of a space that can be counted. In ranges that the check above takes none of them
 * was tried before. They depend on the arguments alone. Work grows with the cube of the points.
 * NN_ERR_MEMORY, NN_ERR_INTERNAL. */
NN_MUST_CHECK enum nn_status nn_search_bayesian(const struct nn_search_space *space, uint64_t seed,
                                                const struct nn_search_history *history, size_t n,
                                                double *out_points, struct nn_error *err);

#endif
