/* SPDX-License-Identifier: MIT
 *
 * The axes that a job is swept over, one by one.
 */
#ifndef JOBS_AXES_INTERNAL_H
#define JOBS_AXES_INTERNAL_H

#include "server/jobs/spec_internal.h"

/* A range of an axis: {min, max, scale, integer}. */
extern const struct jx_field jobs_range_fields[];

/* Checks and takes what the job says of a path, an array or an object, which is borrowed.
 * submitted is the job as it came: what it names must not be swept over as well. */
SV_MUST_CHECK enum sv_status jobs_axis_init(const char *path, const json_t *json,
                                            const json_t *submitted, struct jobs_axis *out_axis,
                                            struct sv_error *err);
/* Refuses two axes that set one field: what a trial gets would hang on their order. */
SV_MUST_CHECK enum sv_status jobs_axis_check_apart(const struct jobs_axis *first,
                                                   const struct jobs_axis *second,
                                                   struct sv_error *err);
/* A range with every default; a new reference, NULL when out of memory. */
json_t *jobs_axis_encode(const struct jobs_axis *axis);
/* The value of a coordinate; a new reference, NULL when out of memory. */
json_t *jobs_axis_value(const struct jobs_axis *axis, double coordinate);

/* The coordinate of a value; false when it is none of the axis, as null. */
bool jobs_axis_find(const struct jobs_axis *axis, const json_t *value, double *out_coordinate);

/* "/search/parameters/<path>" */
void jobs_axis_pointer(const char *path, char *out, size_t size);
/* Is the path a choice between whole objects? */
bool jobs_axis_is_one_choice(const char *path);
/* Is `path` below `top`? Then *out_rest is the way from there. */
bool jobs_axis_is_below(const char *path, const char *top, const char **out_rest);

#endif
