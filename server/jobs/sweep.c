/* SPDX-License-Identifier: MIT
 *
 * The sweep: which points of the axes become trials, and what a point changes in a job. A value
 * that is an object changes the fields that it names; a network is replaced as a whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/jobs/axes_internal.h"

enum { TRIALS_UNLESS_GIVEN = 30 };

static struct nn_search_space space_of(const struct jobs_sweep *sweep)
{
    return (struct nn_search_space){sweep->space, sweep->axis_count};
}

static enum sv_status no_memory(struct sv_error *err)
{
    return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
}

static enum sv_status init_axes(const struct jobs_search_options *search, const json_t *submitted,
                                struct jobs_sweep *sweep, struct sv_error *err)
{
    const char *path;
    json_t *json;
    json_object_foreach((json_t *)(uintptr_t)search->parameters, path, json)
    {
        struct jobs_axis *axis = &sweep->axes[sweep->axis_count];
        enum sv_status st = jobs_axis_init(path, json, submitted, axis, err);
        for (size_t i = 0; i < sweep->axis_count && st == SV_OK; i++) {
            st = jobs_axis_check_apart(&sweep->axes[i], axis, err);
        }
        if (st != SV_OK) {
            return st;
        }
        sweep->space[sweep->axis_count++] = axis->search;
    }
    return SV_OK;
}

/* A grid has every point and nothing to choose. */
static enum sv_status check_grid(const struct jobs_search_options *search,
                                 const struct jobs_sweep *sweep, struct sv_error *err)
{
    for (size_t i = 0; i < sweep->axis_count; i++) {
        if (!sweep->axes[i].values) {
            char pointer[160];
            jobs_axis_pointer(sweep->axes[i].path, pointer, sizeof pointer);
            return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                              "a grid takes lists of values; ranges are for the strategy "
                              "\"random\"");
        }
    }
    if (search->trials_given || search->seed_given) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD,
                          search->trials_given ? "/search/trials" : "/search/seed",
                          "a grid tries every combination; this is for the strategy \"random\"");
    }
    return SV_OK;
}

/* How many points are tried; fills the options that the job left out. */
static enum sv_status count_points(struct jobs_search_options *search, struct jobs_sweep *sweep,
                                   struct sv_error *err)
{
    struct nn_search_space space = space_of(sweep);
    size_t there = nn_search_count(&space);
    if (search->strategy == JOBS_GRID) {
        sweep->points = there;
        return check_grid(search, sweep, err);
    }
    if (!search->trials_given) {
        search->trials = (int64_t)(there < TRIALS_UNLESS_GIVEN ? there : TRIALS_UNLESS_GIVEN);
    }
    if (!search->seed_given) {
        search->seed = 1;
    }
    search->trials_given = search->seed_given = true;
    sweep->points = (size_t)search->trials;
    if (sweep->points > there) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/search/trials",
                          "there are no more than %zu different points", there);
    }
    return SV_OK;
}

/* Whose number is too large is whoever made it so. */
static enum sv_status check_trials(const struct jobs_job_spec *spec, const struct jobs_sweep *sweep,
                                   size_t max_trials, struct sv_error *err)
{
    size_t trials;
    if (spec->seeds.count > max_trials) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/seeds",
                          "the seeds make more than %zu trials", max_trials);
    }
    if (!nn_size_mul(sweep->points, spec->seeds.count, &trials) || trials > max_trials) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD,
                          spec->search.strategy == JOBS_GRID ? "/search/parameters"
                                                             : "/search/trials",
                          "the sweep makes more than %zu trials", max_trials);
    }
    return SV_OK;
}

static enum sv_status make_points(const struct jobs_search_options *search,
                                  struct jobs_sweep *sweep, struct sv_error *err)
{
    struct nn_search_space space = space_of(sweep);
    sweep->coordinates = calloc(sweep->points * space.count + 1, sizeof *sweep->coordinates);
    if (!sweep->coordinates) {
        return no_memory(err);
    }
    for (size_t i = 0; search->strategy == JOBS_GRID && i < sweep->points; i++) {
        nn_search_grid(&space, i, sweep->coordinates + i * space.count);
    }
    if (search->strategy == JOBS_RANDOM &&
        nn_search_random(&space, (uint64_t)search->seed, sweep->points, sweep->coordinates, NULL) !=
            NN_OK) {
        return no_memory(err);
    }
    return SV_OK;
}

/* The resolved job says every default of a range. */
static enum sv_status complete_parameters(const struct jobs_search_options *search,
                                          const struct jobs_sweep *sweep, struct sv_error *err)
{
    json_t *parameters = (json_t *)(uintptr_t)search->parameters;
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct jobs_axis *axis = &sweep->axes[i];
        if (!axis->values &&
            json_object_set_new(parameters, axis->path, jobs_axis_encode(axis)) != 0) {
            return no_memory(err);
        }
    }
    return SV_OK;
}

enum sv_status jobs_sweep_init(struct jobs_job_spec *spec, const json_t *submitted,
                               size_t max_trials, struct jobs_sweep *out_sweep,
                               struct sv_error *err)
{
    size_t n = json_object_size(spec->search.parameters);
    struct jobs_sweep sweep = {.axes = calloc(n + 1, sizeof *sweep.axes),
                               .space = calloc(n + 1, sizeof *sweep.space)};
    enum sv_status st = sweep.axes && sweep.space ? SV_OK : no_memory(err);
    if (st == SV_OK) {
        st = init_axes(&spec->search, submitted, &sweep, err);
    }
    if (st == SV_OK) {
        st = count_points(&spec->search, &sweep, err);
    }
    if (st == SV_OK) {
        st = check_trials(spec, &sweep, max_trials, err);
    }
    if (st == SV_OK) {
        st = make_points(&spec->search, &sweep, err);
    }
    if (st == SV_OK) {
        st = complete_parameters(&spec->search, &sweep, err);
    }
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
    free(sweep->space);
    free(sweep->coordinates);
    *sweep = (struct jobs_sweep){0};
}

const double *jobs_sweep_point(const struct jobs_sweep *sweep, size_t point)
{
    return sweep->coordinates + point * sweep->axis_count;
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

static enum sv_status put_axis(const struct jobs_axis *axis, const json_t *value, json_t *trial,
                               struct sv_error *err)
{
    struct nn_error nn = {0};
    json_t *put =
        put_over(jx_path_get(trial, axis->path), value, jobs_axis_is_one_choice(axis->path));
    if (!put) {
        return no_memory(err);
    }
    if (jx_path_set(trial, axis->path, put, &nn) != NN_OK) {
        char pointer[160];
        jobs_axis_pointer(axis->path, pointer, sizeof pointer);
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "%s", nn.text);
    }
    return SV_OK;
}

enum sv_status jobs_sweep_put(const struct jobs_sweep *sweep, const double *point, json_t *trial,
                              json_t *parameters, struct sv_error *err)
{
    for (size_t i = 0; i < sweep->axis_count; i++) {
        json_auto_t *value = jobs_axis_value(&sweep->axes[i], point[i]);
        if (!value || json_object_set(parameters, sweep->axes[i].path, value) != 0) {
            return no_memory(err);
        }
        enum sv_status st = put_axis(&sweep->axes[i], value, trial, err);
        if (st != SV_OK) {
            return st;
        }
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
        bool whole = !row->values || jobs_axis_is_one_choice(row->path);
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
        bool below = jobs_axis_is_below(path, row->path, &rest);
        for (size_t i = 0; below && i < json_array_size(row->values); i++) {
            if (jx_path_get(json_array_get(row->values, i), rest)) {
                return true;
            }
        }
    }
    return false;
}

void jobs_sweep_blame(const struct jobs_sweep *sweep, const double *point, enum sv_status status,
                      struct sv_error *err)
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
        jobs_axis_pointer(sweep->axes[axis].path, key, sizeof key);
        jx_pointer_index(key, (size_t)point[axis], at, sizeof at);
        bool whole = !sweep->axes[axis].values || /* or the path itself: */
                     (status == SV_ERR_UNKNOWN_FIELD && err->pointer[n] == '\0');
        (void)snprintf(err->pointer, sizeof err->pointer, "%s", whole ? key : at);
        return;
    }
}
