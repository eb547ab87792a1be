/* SPDX-License-Identifier: MIT
 *
 * A Bayesian search goes on: what its trials came to, as the history of points that core/search
 * takes, and trials of the points that it gives.
 *
 * After the initial points the search goes in groups of `at_once`. A group is chosen from the
 * points before it alone, when all of their trials have ended: so the same points come about
 * whoever asks, how often, and in whatever order trials end.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/jobs/axes_internal.h"
#include "server/jobs/making_internal.h"

struct choosing {
    struct jobs_making m;
    const struct jobs_tried *tried; /* [points x seeds] */
    bool higher;
    size_t first, end; /* the group */
    double *points;    /* [points x axes], where known */
    double *values;    /* the history: [points] */
    enum nn_search_state *states;
    size_t n;     /* points of the history, which may leave some out */
    double *past; /* [n x axes] */
};

static size_t seeds_of(const struct choosing *c)
{
    return c->m.spec.seeds.count;
}

static const struct jobs_tried *trial_of(const struct choosing *c, size_t point, size_t seed)
{
    return &c->tried[point * seeds_of(c) + seed];
}

/* The group of the first open trial; false when there is none. */
static bool find_group(struct choosing *c)
{
    size_t initial = (size_t)c->m.spec.search.initial_trials;
    size_t at_once = (size_t)c->m.spec.search.at_once, points = c->m.sweep.points;
    for (size_t i = 0; i < points * seeds_of(c); i++) {
        if (c->tried[i].state == JOBS_TRIED_OPEN) {
            size_t point = i / seeds_of(c);
            c->first = point < initial ? point : point - (point - initial) % at_once;
            c->end = c->first + (point < initial ? 1 : at_once);
            c->end = c->end < points ? c->end : points;
            return true;
        }
    }
    return false;
}

/* The coordinates of swept values; false when a value is not one of the axis, as where there is
 * none yet. */
static bool read_point(const struct choosing *c, const json_t *parameters, double *out_point)
{
    for (size_t i = 0; i < c->m.sweep.axis_count; i++) {
        const struct jobs_axis *axis = &c->m.sweep.axes[i];
        if (!jobs_axis_find(axis, json_object_get(parameters, axis->path), &out_point[i])) {
            return false;
        }
    }
    return true;
}

/* The point of a number, if one of its trials has it: those of an open one do not count. */
static bool is_known(const struct choosing *c, size_t number, double *out_point)
{
    for (size_t i = 0; i < seeds_of(c); i++) {
        const struct jobs_tried *trial = trial_of(c, number, i);
        if (trial->state != JOBS_TRIED_OPEN && read_point(c, trial->parameters, out_point)) {
            return true;
        }
    }
    return false;
}

/* A point that failed with one seed has failed; else it is worth the mean of its seeds. */
static enum nn_search_state judge(const struct choosing *c, size_t number, double *out_value)
{
    double sum = 0;
    size_t measured = 0;
    for (size_t i = 0; i < seeds_of(c); i++) {
        const struct jobs_tried *trial = trial_of(c, number, i);
        bool has_value = trial->state == JOBS_TRIED_MEASURED && isfinite(trial->value);
        if (trial->state == JOBS_TRIED_FAILED ||
            (trial->state == JOBS_TRIED_MEASURED && !has_value)) {
            return NN_SEARCH_FAILED;
        }
        sum += has_value ? trial->value : 0;
        measured += has_value;
    }
    *out_value = measured > 0 ? (c->higher ? -sum : sum) / (double)measured : 0;
    return measured > 0 ? NN_SEARCH_MEASURED : NN_SEARCH_UNKNOWN;
}

/* Points before the group as they came out. Those of the group and after it that are there already,
 * as when a cancelled trial was restarted, are not tried again; what they came to was not known. */
static void write_history(struct choosing *c)
{
    size_t axes = c->m.sweep.axis_count;
    for (size_t i = 0; i < c->m.sweep.points; i++) {
        double *past = c->past + c->n * axes;
        if (is_known(c, i, past)) {
            c->values[c->n] = 0;
            c->states[c->n] = i < c->first ? judge(c, i, &c->values[c->n]) : NN_SEARCH_UNKNOWN;
            c->n++;
        }
    }
}

static bool is_open(const struct choosing *c, size_t number, bool *wanted)
{
    bool any = false;
    for (size_t i = 0; i < seeds_of(c); i++) {
        wanted[i] = trial_of(c, number, i)->state == JOBS_TRIED_OPEN;
        any = any || wanted[i];
    }
    return any;
}

/* Those of the group that have no point yet; then their points, in c->points. */
static enum sv_status choose_points(struct choosing *c, bool *wanted, struct sv_error *err)
{
    const struct jobs_sweep *sweep = &c->m.sweep;
    const struct nn_search_space space = {sweep->space, sweep->axis_count};
    const struct nn_search_history history = {c->n, c->past, c->values, c->states};
    struct nn_error nn = {0};
    size_t missing = 0;
    for (size_t i = c->first; i < c->end; i++) {
        bool open = is_open(c, i, wanted);
        missing += open && !is_known(c, i, c->points + i * sweep->axis_count);
    }
    double *next = calloc(missing * space.count + 1, sizeof *next);
    if (!next || (missing > 0 && nn_search_bayesian(&space, (uint64_t)c->m.spec.search.seed,
                                                    &history, missing, next, &nn) != NN_OK)) {
        free(next);
        return sv_fail(err, SV_ERR_INTERNAL, "%s", nn.text[0] ? nn.text : "out of memory");
    }
    size_t taken = 0;
    for (size_t i = c->first; i < c->end; i++) {
        double *point = c->points + i * space.count;
        if (is_open(c, i, wanted) && !is_known(c, i, point)) {
            memcpy(point, next + taken++ * space.count, space.count * sizeof *point);
        }
    }
    free(next);
    return SV_OK;
}

/* Is it the point that is at fault? */
static bool is_refusal(enum sv_status st)
{
    return st == SV_ERR_INVALID_FIELD || st == SV_ERR_UNKNOWN_FIELD || st == SV_ERR_NOT_SUPPORTED ||
           st == SV_ERR_INVALID_NETWORK;
}

static enum sv_status make_group(struct choosing *c, bool *wanted, struct sv_error *err)
{
    for (size_t i = c->first; i < c->end; i++) {
        const double *point = c->points + i * c->m.sweep.axis_count;
        struct sv_error why = {0};
        if (!is_open(c, i, wanted)) {
            continue;
        }
        size_t before = c->m.plan->trial_count;
        enum sv_status st = jobs_making_point(&c->m, point, i, wanted, &why);
        if (is_refusal(st)) {
            st = jobs_making_refuse(&c->m, point, i, wanted, before, &why);
        }
        if (st != SV_OK) {
            *err = why;
            return st;
        }
    }
    return SV_OK;
}

static enum sv_status choose(struct choosing *c, size_t n, struct sv_error *err)
{
    size_t points = c->m.sweep.points, axes = c->m.sweep.axis_count;
    if (c->m.spec.search.strategy != JOBS_BAYESIAN || n < points * seeds_of(c)) {
        return sv_fail(err, SV_ERR_INTERNAL, "the trials are not those of the search");
    }
    if (!find_group(c)) {
        return SV_OK;
    }
    bool *wanted = calloc(seeds_of(c), sizeof *wanted);
    c->points = calloc(points * axes + 1, sizeof *c->points);
    c->past = calloc(points * axes + 1, sizeof *c->past);
    c->values = calloc(points, sizeof *c->values);
    c->states = calloc(points, sizeof *c->states);
    enum sv_status st = SV_OK;
    if (!wanted || !c->points || !c->past || !c->values || !c->states) {
        st = sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    if (st == SV_OK) {
        write_history(c);
        st = choose_points(c, wanted, err);
    }
    if (st == SV_OK) {
        st = make_group(c, wanted, err);
    }
    free(wanted);
    free(c->points);
    free(c->past);
    free(c->values);
    free(c->states);
    return st;
}

json_t *jobs_search_job(const json_t *submitted, const json_t *resolved)
{
    static const char LIMIT[] = "limits.memory_bytes";
    json_t *job = json_deep_copy(submitted);
    json_t *limit = jx_path_get(resolved, LIMIT); /* NULL: it is swept */
    if (json_object_set(job, "search", json_object_get(resolved, "search")) != 0 ||
        (limit && jx_path_set(job, LIMIT, json_incref(limit), NULL) != NN_OK)) {
        json_decref(job);
        return NULL;
    }
    return job;
}

enum sv_status jobs_search_next(json_t *job, const struct jobs_context *context,
                                const struct jobs_tried *tried, size_t n, bool higher,
                                struct jobs_plan **out_plan, struct sv_error *err)
{
    json_t *issues = NULL;
    struct choosing c = {.m = {.context = context, .submitted = job, .out_issues = &issues},
                         .tried = tried,
                         .higher = higher};
    enum sv_status st = jobs_making_begin(&c.m, err);
    if (st == SV_OK) {
        st = choose(&c, n, err);
    }
    json_decref(issues);
    return jobs_making_end(&c.m, st, out_plan);
}
