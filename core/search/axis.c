/* SPDX-License-Identifier: MIT
 *
 * Axes. A whole value v stands for the piece from v - 1/2 to v + 1/2 of its scale, so that values
 * are equally likely on a linear one, and both ends have their full share.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/search/axis_internal.h"

#define WHOLE_MAX 9007199254740992.0 /* 2^53 */
#define NARROW    1e-9               /* of the larger end: what is left are a million values */
#define WIDTH_MIN 1e-300             /* far from where numbers lose their digits */

enum { DIGITS = 6, DIGITS_MAX = 17 };

static bool is_whole(double x)
{
    return trunc(x) == x && fabs(x) <= WHOLE_MAX;
}

enum nn_status nn_search_axis_check(const struct nn_search_axis *axis, struct nn_error *err)
{
    if (axis->integer && !is_whole(axis->min)) {
        return nn_fail_at(err, NN_ERR_INVALID, "/min", "a range of integers begins with one");
    }
    if (axis->integer && !is_whole(axis->max)) {
        return nn_fail_at(err, NN_ERR_INVALID, "/max", "a range of integers ends with one");
    }
    if (axis->logarithmic && !(axis->min > 0)) {
        return nn_fail_at(err, NN_ERR_INVALID, "/min", "a logarithmic range begins above 0");
    }
    if (!(axis->min < axis->max)) {
        return nn_fail_at(err, NN_ERR_INVALID, "/max", "the end of a range is above its beginning");
    }
    double least = fmax(NARROW * fmax(fabs(axis->min), fabs(axis->max)), WIDTH_MIN);
    if (!axis->integer && !(axis->max - axis->min > least)) {
        return nn_fail_at(err, NN_ERR_INVALID, "/max",
                          "the range is too narrow to hold different values: it must be wider than "
                          "a billionth of its larger end");
    }
    return NN_OK;
}

size_t nn_search_axis_count(const struct nn_search_axis *axis)
{
    if (axis->choices > 0) {
        return axis->choices;
    }
    return axis->integer ? (size_t)(axis->max - axis->min) + 1 : SIZE_MAX;
}

double nn_search_axis_value(const struct nn_search_axis *axis, size_t index)
{
    return axis->choices > 0 ? (double)index : axis->min + (double)index;
}

/* Where the scale begins and ends; of whole values with their halves. */
static double scale_of(const struct nn_search_axis *axis, double value)
{
    return axis->logarithmic ? log(value) : value;
}

static double half_of(const struct nn_search_axis *axis)
{
    return axis->integer ? 0.5 : 0.0;
}

double nn_search_axis_share(const struct nn_search_axis *axis, double value)
{
    if (axis->choices > 0) {
        return 1.0 / (double)axis->choices;
    }
    double whole = scale_of(axis, axis->max + 0.5) - scale_of(axis, axis->min - 0.5);
    return (scale_of(axis, value + 0.5) - scale_of(axis, value - 0.5)) / whole;
}

/* To six digits of the width: nobody tells 0.0031622776601683794 from 0.00316228. */
static double cut(const struct nn_search_axis *axis, double value)
{
    char text[40];
    double largest = fmax(fabs(axis->min), fabs(axis->max));
    double narrow = largest / fmin(axis->max - axis->min, DBL_MAX); /* above 1: shared digits */
    int digits = DIGITS + (narrow > 1 ? (int)log10(narrow) : 0);
    (void)snprintf(text, sizeof text, "%.*e", (digits < DIGITS_MAX ? digits : DIGITS_MAX) - 1,
                   value);
    return strtod(text, NULL);
}

double nn_search_axis_at(const struct nn_search_axis *axis, double u)
{
    if (axis->choices > 0) {
        size_t index = (size_t)(u * (double)axis->choices);
        return (double)(index < axis->choices ? index : axis->choices - 1);
    }
    double low = scale_of(axis, axis->min - half_of(axis));
    double high = scale_of(axis, axis->max + half_of(axis));
    double at = low * (1.0 - u) + high * u;
    double value = axis->logarithmic ? exp(at) : at;
    value = axis->integer ? round(value) : cut(axis, value);
    return fmin(fmax(value, axis->min), axis->max) + 0.0; /* never -0, which is 0 */
}

double nn_search_axis_unit(const struct nn_search_axis *axis, double value)
{
    if (axis->choices > 0) {
        return value;
    }
    double low = scale_of(axis, axis->min - half_of(axis));
    double high = scale_of(axis, axis->max + half_of(axis));
    return (scale_of(axis, value) / 2 - low / 2) / (high / 2 - low / 2);
}
