/* SPDX-License-Identifier: MIT
 *
 * The sweep: which points of the axes become trials, and what a point changes in a job. A value
 * that is an object changes the fields that it names; a network is replaced as a whole.
 */
#include <stddef.h>
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

/* Which strategies an option is of, as bits. */
#define OF(strategy)  (1u << (strategy))
#define OF_CHOOSING   (OF(JOBS_RANDOM) | OF(JOBS_BAYESIAN))
#define GIVEN(member) offsetof(struct jobs_search_options, member##_given)
static const struct {
    const char *name;
    size_t given;
    unsigned of;
    const char *words;
} OPTIONS[] = {
    {"trials", GIVEN(trials), OF_CHOOSING, "\"random\" and \"bayesian\""},
    {"seed", GIVEN(seed), OF_CHOOSING, "\"random\" and \"bayesian\""},
    {"initial_trials", GIVEN(initial_trials), OF(JOBS_BAYESIAN), "\"bayesian\""},
    {"at_once", GIVEN(at_once), OF(JOBS_BAYESIAN), "\"bayesian\""},
};

static enum sv_status check_options(const struct jobs_search_options *search, struct sv_error *err)
{
    for (size_t i = 0; i < sizeof OPTIONS / sizeof OPTIONS[0]; i++) {
        bool given;
        memcpy(&given, (const char *)search + OPTIONS[i].given, sizeof given);
        if (given && !(OPTIONS[i].of & OF(search->strategy))) {
            char pointer[64];
            jx_pointer_key("/search", OPTIONS[i].name, pointer, sizeof pointer);
            return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                              "this is an option of the strategies %s", OPTIONS[i].words);
        }
    }
    return SV_OK;
}

/* A grid has every point, so there must be so many. */
static enum sv_status check_grid(const struct jobs_sweep *sweep, struct sv_error *err)
{
    for (size_t i = 0; i < sweep->axis_count; i++) {
        if (!sweep->axes[i].values) {
            char pointer[160];
            jobs_axis_pointer(sweep->axes[i].path, pointer, sizeof pointer);
            return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                              "a grid takes lists of values; ranges are for the strategies "
                              "\"random\" and \"bayesian\"");
        }
    }
    return SV_OK;
}

static void fill(int64_t *option, bool *given, int64_t value)
{
    *option = *given ? *option : value;
    *given = true;
}

static int64_t at_most(size_t n, size_t most)
{
    return (int64_t)(n < most ? n : most);
}

/* Of a Bayesian search: begins with as many points as say something of every axis. */
static enum sv_status complete_bayesian(struct jobs_search_options *search,
                                        struct jobs_sweep *sweep, struct sv_error *err)
{
    fill(&search->initial_trials, &search->initial_trials_given,
         at_most(2 * sweep->axis_count + 2, sweep->points));
    fill(&search->at_once, &search->at_once_given, 1);
    sweep->chosen = (size_t)search->initial_trials;
    if (sweep->chosen > sweep->points) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/search/initial_trials",
                          "the search has no more than %zu trials", sweep->points);
    }
    if (sweep->points > NN_SEARCH_BAYESIAN_MAX) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/search/trials",
                          "a Bayesian search has at most %d", NN_SEARCH_BAYESIAN_MAX);
    }
    return SV_OK;
}

/* How many points are tried; fills the options that the job left out. */
static enum sv_status count_points(struct jobs_search_options *search, struct jobs_sweep *sweep,
                                   struct sv_error *err)
{
    struct nn_search_space space = space_of(sweep);
    size_t there = nn_search_count(&space);
    enum sv_status st = check_options(search, err);
    if (st == SV_OK && search->strategy == JOBS_GRID) {
        sweep->points = sweep->chosen = there;
        st = check_grid(sweep, err);
    }
    if (st != SV_OK || search->strategy == JOBS_GRID) {
        return st;
    }
    fill(&search->trials, &search->trials_given, at_most(there, TRIALS_UNLESS_GIVEN));
    fill(&search->seed, &search->seed_given, 1);
    sweep->points = sweep->chosen = (size_t)search->trials;
    if (sweep->points > there) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/search/trials",
                          "there are no more than %zu different points", there);
    }
    return search->strategy == JOBS_BAYESIAN ? complete_bayesian(search, sweep, err) : SV_OK;
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
    sweep->coordinates = calloc(sweep->chosen * space.count + 1, sizeof *sweep->coordinates);
    if (!sweep->coordinates) {
        return no_memory(err);
    }
    for (size_t i = 0; search->strategy == JOBS_GRID && i < sweep->chosen; i++) {
        nn_search_grid(&space, i, sweep->coordinates + i * space.count);
    }
    if (search->strategy != JOBS_GRID &&
        nn_search_random(&space, (uint64_t)search->seed, sweep->chosen, sweep->coordinates, NULL) !=
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

enum sv_status jobs_sweep_put_value(const char *path, const json_t *value, json_t *trial,
                                    struct sv_error *err)
{
    struct nn_error nn = {0};
    json_t *put = put_over(jx_path_get(trial, path), value, jobs_axis_is_one_choice(path));
    if (!put) {
        return no_memory(err);
    }
    if (jx_path_set(trial, path, put, &nn) != NN_OK) {
        char pointer[160];
        jobs_axis_pointer(path, pointer, sizeof pointer);
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
        enum sv_status st = jobs_sweep_put_value(sweep->axes[i].path, value, trial, err);
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
