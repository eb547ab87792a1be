/* SPDX-License-Identifier: MIT
 *
 * One axis: its values one by one, and the way between a range and [0, 1].
 */
#ifndef NN_SEARCH_AXIS_INTERNAL_H
#define NN_SEARCH_AXIS_INTERNAL_H

#include "core/search/search.h"

/* SIZE_MAX for a continuous range. */
size_t nn_search_axis_count(const struct nn_search_axis *axis);
/* Value `index` of an axis that can be counted. */
double nn_search_axis_value(const struct nn_search_axis *axis, size_t index);
/* The share of a random search that falls on this value of such an axis. */
double nn_search_axis_share(const struct nn_search_axis *axis, double value);
/* Of any axis: the value at u in [0, 1], even over the axis as its scale has it. */
double nn_search_axis_at(const struct nn_search_axis *axis, double u);
/* The reverse of a range: where its value lies in [0, 1]. Of choices the index, as it is. */
double nn_search_axis_unit(const struct nn_search_axis *axis, double value);

#endif
