/* SPDX-License-Identifier: MIT
 *
 * The grid: every combination of the values of each path, the last path running fastest.
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
    if (st == SV_OK && fixed && !json_is_object(fixed)) {
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
        sweep.axes[sweep.axis_count++] = (struct jobs_axis){path, values};
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

enum sv_status jobs_sweep_put(const struct jobs_sweep *sweep, size_t axis, size_t value,
                              json_t *trial, struct sv_error *err)
{
    struct nn_error nn = {0};
    const struct jobs_axis *row = &sweep->axes[axis];
    json_t *copy = json_deep_copy(json_array_get(row->values, value));
    if (!copy) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    if (jx_path_set(trial, row->path, copy, &nn) != NN_OK) {
        char pointer[160];
        axis_pointer(row->path, pointer, sizeof pointer);
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "%s", nn.text);
    }
    return SV_OK;
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
