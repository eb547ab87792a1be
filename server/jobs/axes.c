/* SPDX-License-Identifier: MIT
 *
 * One axis of a search: a dotted path into the job with a list of values or a range. What may
 * stand there, and what two axes must not do to each other.
 */
#include <stdio.h>
#include <string.h>

#include "server/jobs/axes_internal.h"

/* What may be swept over; everything else belongs to the job, not to a trial. */
static const struct jx_choice ROOTS[] = {
    {"network", 0, NULL},  {"data", 0, NULL},         {"split", 0, NULL},
    {"training", 0, NULL}, {"evaluation", 0, NULL},   {"operators", 0, NULL},
    {"limits", 0, NULL},   {"precision", 0, NULL},    {"threads", 0, NULL},
    {"freeze", 0, NULL},   {"augmentation", 0, NULL}, JX_END,
};

enum { LINEAR, LOGARITHMIC, VALUES_MAX = 10000 };

static const struct jx_choice SCALES[] = {
    {"linear", LINEAR, "even in the value"},
    {"log", LOGARITHMIC, "even in the logarithm of the value"},
    JX_END,
};

struct range {
    double min, max;
    int scale;
    bool integer;
};

#define RANGE(member) offsetof(struct range, member)
const struct jx_field jobs_range_fields[] = {
    {.name = "min",
     .type = JX_REAL,
     .offset = RANGE(min),
     .required = true,
     .doc = "the least value; above 0 where the scale is \"log\""},
    {.name = "max",
     .type = JX_REAL,
     .offset = RANGE(max),
     .required = true,
     .doc =
         "the largest value; unless whole, above the least by more than a billionth of the larger"},
    {.name = "scale",
     .type = JX_ENUM,
     .offset = RANGE(scale),
     .choices = SCALES,
     .fallback = "\"linear\"",
     .doc = "how values lie in it"},
    {.name = "integer",
     .type = JX_BOOL,
     .offset = RANGE(integer),
     .fallback = "false",
     .doc = "whole values only, as for sizes and counts"},
    JX_END,
};

json_t *jobs_range_schema(void)
{
    return jx_schema(jobs_range_fields);
}

void jobs_axis_pointer(const char *path, char *out, size_t size)
{
    jx_pointer_key("/search/parameters", path, out, size);
}

/* Metrics of a job are columns of its results, so they are the same for every trial. */
static bool changes_columns(const char *path)
{
    static const char CUSTOM[] = "evaluation.custom_metrics";
    return strcmp(path, "evaluation") == 0 || strncmp(path, CUSTOM, sizeof CUSTOM - 1) == 0;
}

static enum sv_status check_root(const char *path, const char *pointer, struct sv_error *err)
{
    char root[64];
    if (changes_columns(path)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                          "%s belongs to the job and cannot differ between its trials", path);
    }
    size_t n = strcspn(path, ".");
    (void)snprintf(root, sizeof root, "%.*s", (int)(n < sizeof root ? n : sizeof root - 1), path);
    if (jx_choice_find(ROOTS, root)) {
        return SV_OK;
    }
    if (jx_field_find(jobs_job_fields, root)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                          "%s belongs to the job and cannot differ between its trials", root);
    }
    const char *near = jx_nearest(root, ROOTS, sizeof ROOTS[0]);
    return sv_fail_at(err, SV_ERR_UNKNOWN_FIELD, pointer, "unknown field%s%s%s",
                      near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static enum sv_status take_values(const json_t *values, const char *pointer, struct jobs_axis *axis,
                                  struct sv_error *err)
{
    size_t n = json_array_size(values);
    if (n < 1 || n > VALUES_MAX) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "must have 1 to %d values, not %zu",
                          VALUES_MAX, n);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (json_equal(json_array_get(values, i), json_array_get(values, j))) {
                char at[160];
                jx_pointer_index(pointer, i, at, sizeof at);
                return sv_fail_at(err, SV_ERR_INVALID_FIELD, at, "the value stands twice");
            }
        }
    }
    axis->values = values;
    axis->search = (struct nn_search_axis){.choices = n};
    return SV_OK;
}

static enum sv_status take_range(const json_t *json, const char *pointer, struct jobs_axis *axis,
                                 struct sv_error *err)
{
    struct range range;
    struct nn_error nn = {0};
    enum sv_status st = jobs_decode_at(jobs_range_fields, json, pointer, &range, err);
    if (st != SV_OK) {
        return st;
    }
    axis->search = (struct nn_search_axis){.min = range.min,
                                           .max = range.max,
                                           .logarithmic = range.scale == LOGARITHMIC,
                                           .integer = range.integer};
    if (nn_search_axis_check(&axis->search, &nn) != NN_OK) {
        char at[160 + sizeof nn.pointer];
        (void)snprintf(at, sizeof at, "%s%s", pointer, nn.pointer);
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, at, "%s", nn.text);
    }
    return SV_OK;
}

json_t *jobs_axis_encode(const struct jobs_axis *axis)
{
    const struct nn_search_axis *from = &axis->search;
    struct range range = {from->min, from->max, from->logarithmic ? LOGARITHMIC : LINEAR,
                          from->integer};
    return jx_encode(jobs_range_fields, &range);
}

/* Choices between whole objects: the fields of one have no place in another. */
bool jobs_axis_is_one_choice(const char *path)
{
    return strcmp(path, "network") == 0 || strcmp(path, "freeze") == 0;
}

bool jobs_axis_is_below(const char *path, const char *top, const char **out_rest)
{
    size_t n = strlen(top);
    *out_rest = path + n + 1;
    return strncmp(path, top, n) == 0 && path[n] == '.';
}

enum sv_status jobs_axis_check_apart(const struct jobs_axis *first, const struct jobs_axis *second,
                                     struct sv_error *err)
{
    const char *rest;
    char pointer[160];
    jobs_axis_pointer(second->path, pointer, sizeof pointer);
    if (jobs_axis_is_below(first->path, second->path, &rest)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                          "%s is swept over as well; it must stand after %s", first->path,
                          second->path);
    }
    bool below = jobs_axis_is_below(second->path, first->path, &rest);
    for (size_t i = 0; below && i < json_array_size(first->values); i++) {
        if (jx_path_get(json_array_get(first->values, i), rest)) {
            return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "a value of %s sets it as well",
                              first->path);
        }
    }
    return SV_OK;
}

enum sv_status jobs_axis_init(const char *path, const json_t *json, const json_t *submitted,
                              struct jobs_axis *out_axis, struct sv_error *err)
{
    char pointer[160];
    struct jobs_axis axis = {.path = path};
    jobs_axis_pointer(path, pointer, sizeof pointer);
    enum sv_status st = jobs_refuse_axis_not_built(path, json, err);
    if (st == SV_OK) {
        st = check_root(path, pointer, err);
    }
    if (st == SV_OK && !json_is_array(json) && !json_is_object(json)) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                        "must be a list of values or a range {\"min\", \"max\"}");
    }
    if (st == SV_OK) {
        st = json_is_array(json) ? take_values(json, pointer, &axis, err)
                                 : take_range(json, pointer, &axis, err);
    }
    const json_t *fixed = jx_path_get(submitted, path);
    if (st == SV_OK && fixed && (!json_is_object(fixed) || jobs_axis_is_one_choice(path))) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                        "%s is given in the job and swept over as well", path);
    }
    if (st == SV_OK) {
        *out_axis = axis;
    }
    return st;
}

json_t *jobs_axis_value(const struct jobs_axis *axis, double coordinate)
{
    if (axis->values) {
        return json_incref(json_array_get(axis->values, (size_t)coordinate));
    }
    return axis->search.integer ? json_integer((json_int_t)coordinate) : json_real(coordinate);
}

bool jobs_axis_find(const struct jobs_axis *axis, const json_t *value, double *out_coordinate)
{
    size_t n = json_array_size(axis->values);
    for (size_t i = 0; i < n; i++) {
        if (json_equal(json_array_get(axis->values, i), value)) {
            *out_coordinate = (double)i;
            return true;
        }
    }
    if (axis->values || !json_is_number(value)) {
        return false;
    }
    *out_coordinate = json_number_value(value);
    return true;
}
