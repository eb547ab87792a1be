/* SPDX-License-Identifier: MIT
 *
 * The grid: every combination of the values of each path, the last path running fastest. A value
 * that is an object changes the fields that it names; a network is replaced as a whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/jobs/spec_internal.h"

/* What may be swept over; everything else belongs to the job, not to a trial. */
static const struct jx_choice ROOTS[] = {
    {"network", 0, NULL},  {"data", 0, NULL},         {"split", 0, NULL},
    {"training", 0, NULL}, {"evaluation", 0, NULL},   {"operators", 0, NULL},
    {"limits", 0, NULL},   {"precision", 0, NULL},    {"threads", 0, NULL},
    {"freeze", 0, NULL},   {"augmentation", 0, NULL}, JX_END,
};

static void axis_pointer(const char *path, char *out, size_t size)
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

static enum sv_status check_values(const json_t *values, const char *pointer, struct sv_error *err)
{
    size_t n = json_array_size(values);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (json_equal(json_array_get(values, i), json_array_get(values, j))) {
                char at[160];
                jx_pointer_index(pointer, i, at, sizeof at);
                return sv_fail_at(err, SV_ERR_INVALID_FIELD, at, "the value stands twice");
            }
        }
    }
    return SV_OK;
}

/* Choices between whole objects: the fields of one have no place in another. */
static bool is_one_choice(const char *path)
{
    return strcmp(path, "network") == 0 || strcmp(path, "freeze") == 0;
}

/* Is `path` below `top`? Then *out_rest is the way from there. */
static bool is_below(const char *path, const char *top, const char **out_rest)
{
    size_t n = strlen(top);
    *out_rest = path + n + 1;
    return strncmp(path, top, n) == 0 && path[n] == '.';
}

/* Two axes that set one field: what a trial gets would hang on their order. */
static enum sv_status check_overlap(const struct jobs_axis *first, const struct jobs_axis *second,
                                    struct sv_error *err)
{
    const char *rest;
    char pointer[160];
    axis_pointer(second->path, pointer, sizeof pointer);
    if (is_below(first->path, second->path, &rest)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                          "%s is swept over as well; it must stand after %s", first->path,
                          second->path);
    }
    bool below = is_below(second->path, first->path, &rest);
    for (size_t i = 0; below && i < json_array_size(first->values); i++) {
        if (jx_path_get(json_array_get(first->values, i), rest)) {
            return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "a value of %s sets it as well",
                              first->path);
        }
    }
    return SV_OK;
}

static enum sv_status check_axis(const char *path, const json_t *values, const json_t *submitted,
                                 struct sv_error *err)
{
    char pointer[160];
    axis_pointer(path, pointer, sizeof pointer);
    enum sv_status st = jobs_refuse_axis_not_built(path, values, err);
    if (st == SV_OK) {
        st = check_root(path, pointer, err);
    }
    if (st == SV_OK) {
        st = check_values(values, pointer, err);
    }
    const json_t *fixed = jx_path_get(submitted, path);
    if (st == SV_OK && fixed && (!json_is_object(fixed) || is_one_choice(path))) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                        "%s is given in the job and swept over as well", path);
    }
    return st;
}

enum sv_status jobs_sweep_init(const struct jobs_job_spec *spec, const json_t *submitted,
                               size_t max_trials, struct jobs_sweep *out_sweep,
                               struct sv_error *err)
{
    struct jobs_sweep sweep = {.points = 1};
    size_t trials = spec->seeds.count;
    const char *path;
    json_t *values;
    enum sv_status st = SV_OK;
    json_t *parameters = json_incref((json_t *)(uintptr_t)spec->parameters);
    sweep.axes = calloc(json_object_size(parameters) + 1, sizeof *sweep.axes);
    if (!sweep.axes) {
        st = sv_fail(err, SV_ERR_INTERNAL, "out of memory");
        goto cleanup;
    }
    json_object_foreach(parameters, path, values)
    {
        st = check_axis(path, values, submitted, err);
        if (st != SV_OK) {
            goto cleanup;
        }
        sweep.axes[sweep.axis_count] = (struct jobs_axis){path, values};
        for (size_t i = 0; i < sweep.axis_count && st == SV_OK; i++) {
            st = check_overlap(&sweep.axes[i], &sweep.axes[sweep.axis_count], err);
        }
        if (st != SV_OK) {
            goto cleanup;
        }
        sweep.axis_count++;
        size_t n = json_array_size(values);
        if (!nn_size_mul(trials, n, &trials) || trials > max_trials) {
            st = sv_fail_at(err, SV_ERR_INVALID_FIELD, "/search/parameters",
                            "the sweep makes more than %zu trials", max_trials);
            goto cleanup;
        }
        sweep.points *= n;
    }
    if (trials > max_trials) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, "/seeds", "the seeds make more than %zu trials",
                        max_trials);
    }
cleanup:
    json_decref(parameters);
    if (st != SV_OK) {
        jobs_sweep_deinit(&sweep);
        return st;
    }
    *out_sweep = sweep;
    return SV_OK;
}

void jobs_sweep_deinit(struct jobs_sweep *sweep)
{
    free(sweep->axes);
    *sweep = (struct jobs_sweep){0};
}

size_t jobs_sweep_value_index(const struct jobs_sweep *sweep, size_t point, size_t axis)
{
    for (size_t later = sweep->axis_count; later-- > axis + 1;) {
        point /= json_array_size(sweep->axes[later].values);
    }
    return point % json_array_size(sweep->axes[axis].values);
}

/* What the trial gets at a path where `there` stands already; a new reference. */
static json_t *put_over(const json_t *there, const json_t *value, bool whole)
{
    json_t *copy = json_deep_copy(value);
    if (whole || !json_is_object(there) || !json_is_object(value)) {
        return copy;
    }
    json_t *merged = json_deep_copy(there);
    if (!copy || !merged || json_object_update_recursive(merged, copy) != 0) {
        json_decref(merged);
        merged = NULL;
    }
    json_decref(copy);
    return merged;
}

enum sv_status jobs_sweep_put(const struct jobs_sweep *sweep, size_t axis, size_t value,
                              json_t *trial, struct sv_error *err)
{
    struct nn_error nn = {0};
    const struct jobs_axis *row = &sweep->axes[axis];
    json_t *put = put_over(jx_path_get(trial, row->path), json_array_get(row->values, value),
                           is_one_choice(row->path));
    if (!put) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    if (jx_path_set(trial, row->path, put, &nn) != NN_OK) {
        char pointer[160];
        axis_pointer(row->path, pointer, sizeof pointer);
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "%s", nn.text);
    }
    return SV_OK;
}

/* Takes out what `value` names; true when nothing is left. */
static bool remove_named(json_t *from, const json_t *value)
{
    const char *key;
    json_t *inner;
    json_object_foreach((json_t *)(uintptr_t)value, key, inner)
    {
        json_t *there = json_object_get(from, key);
        if (!json_is_object(there) || !json_is_object(inner) || remove_named(there, inner)) {
            (void)json_object_del(from, key);
        }
    }
    return json_object_size(from) == 0;
}

/* Takes the field at a dotted path out of an object. */
static void remove_path(json_t *root, const char *path)
{
    char parent[160];
    const char *dot = strrchr(path, '.');
    size_t n = dot ? (size_t)(dot - path) : 0;
    if (n >= sizeof parent) {
        return;
    }
    memcpy(parent, path, n);
    parent[n] = '\0';
    (void)json_object_del(dot ? jx_path_get(root, parent) : root, dot ? dot + 1 : path);
}

void jobs_sweep_remove(const struct jobs_sweep *sweep, json_t *job)
{
    for (size_t axis = 0; axis < sweep->axis_count; axis++) {
        const struct jobs_axis *row = &sweep->axes[axis];
        json_t *there = jx_path_get(job, row->path);
        bool whole = is_one_choice(row->path);
        for (size_t i = 0; i < json_array_size(row->values); i++) {
            const json_t *value = json_array_get(row->values, i);
            whole = whole || !json_is_object(value) || !json_is_object(there) ||
                    remove_named(there, value);
        }
        if (whole) {
            remove_path(job, row->path);
        }
    }
}

bool jobs_sweep_has(const struct jobs_sweep *sweep, const char *path)
{
    for (size_t axis = 0; axis < sweep->axis_count; axis++) {
        const struct jobs_axis *row = &sweep->axes[axis];
        const char *rest;
        if (strcmp(row->path, path) == 0) {
            return true;
        }
        bool below = is_below(path, row->path, &rest);
        for (size_t i = 0; below && i < json_array_size(row->values); i++) {
            if (jx_path_get(json_array_get(row->values, i), rest)) {
                return true;
            }
        }
    }
    return false;
}

void jobs_sweep_blame(const struct jobs_sweep *sweep, const size_t *value_of_axis,
                      enum sv_status status, struct sv_error *err)
{
    if (!err) {
        return;
    }
    for (size_t axis = 0; axis < sweep->axis_count; axis++) {
        char field[160], key[160], at[160];
        jx_path_pointer(sweep->axes[axis].path, field, sizeof field);
        size_t n = strlen(field);
        if (strncmp(err->pointer, field, n) != 0 ||
            (err->pointer[n] != '\0' && err->pointer[n] != '/')) {
            continue;
        }
        axis_pointer(sweep->axes[axis].path, key, sizeof key);
        jx_pointer_index(key, value_of_axis[axis], at, sizeof at);
        bool whole =
            status == SV_ERR_UNKNOWN_FIELD && err->pointer[n] == '\0'; /* the path itself */
        (void)snprintf(err->pointer, sizeof err->pointer, "%s", whole ? key : at);
        return;
    }
}
