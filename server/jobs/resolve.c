/* SPDX-License-Identifier: MIT
 *
 * From a submitted job to a plan: defaults of the kind, decoding, the sweep, the resolved job.
 */
#include <stdlib.h>
#include <string.h>

#include "server/jobs/axes_internal.h"
#include "server/jobs/kinds.h"
#include "server/jobs/making_internal.h"

static enum sv_status no_memory(struct sv_error *err)
{
    return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
}

static enum sv_status find_kind(struct jobs_making *m, struct sv_error *err)
{
    const json_t *kind = json_object_get(m->submitted, "kind");
    const char *name = json_string_value(kind);
    if (!name) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/kind",
                          kind ? "a text is expected" : "the field is required");
    }
    m->kind = jobs_kind_find(name);
    if (!m->kind) {
        const char *near = jobs_kind_nearest(name);
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/kind", "there is no such kind of job%s%s%s",
                          near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    return SV_OK;
}

/* The kind's axes stand where the job names no parameters, each where the job does not fix it. */
static bool add_default_sweep(const struct jobs_making *m)
{
    const json_t *search = json_object_get(m->merged, "search");
    if (jx_path_get(m->submitted, "search.parameters") || (search && !json_is_object(search))) {
        return true; /* the latter: decoding will say so */
    }
    json_t *parameters = json_object();
    for (size_t i = 0; m->kind->sweep[i].path; i++) {
        if (jx_path_get(m->submitted, m->kind->sweep[i].unless)) {
            continue;
        }
        json_t *values = json_loads(m->kind->sweep[i].values, 0, NULL);
        if (json_object_set_new(parameters, m->kind->sweep[i].path, values) != 0) {
            json_decref(parameters);
            return false;
        }
    }
    return jx_path_set(m->merged, "search.parameters", parameters, NULL) == NN_OK;
}

/* Thresholds of remaining life would cut off targets that are something else. */
static void trim_default_sweep(const struct jobs_making *m)
{
    if (m->dataset.remaining_life || jx_path_get(m->submitted, "search.parameters")) {
        return;
    }
    json_t *parameters = jx_path_get(m->merged, "search.parameters");
    for (size_t i = 0; m->kind->sweep[i].path; i++) {
        if (m->kind->sweep[i].of_remaining_life) {
            (void)json_object_del(parameters, m->kind->sweep[i].path);
        }
    }
}

/* What field tables have no words for: texts, lists and maps. */
static bool add_default_values(json_t *merged, const struct jobs_kind *kind)
{
    const char *const rows[][2] = {
        {"experiment", "\"default\""},
        {"name", "\"\""},
        {"notes", "\"\""},
        {"labels", "[]"},
        {"search.parameters", "{}"},
        {"freeze", "\"none\""},
        {"evaluation.metrics", kind->metrics},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *value = json_loads(rows[i][1], JSON_DECODE_ANY, NULL);
        if (!value) {
            return false;
        }
        if (jx_path_get(merged, rows[i][0])) {
            json_decref(value);
        } else if (jx_path_set(merged, rows[i][0], value, NULL) != NN_OK) {
            continue; /* what is on the way is no object: decoding will say so */
        }
    }
    return true;
}

/* Adds what is missing. A network is one choice: the fields of another one have no place in it. */
static bool add_missing(json_t *into, json_t *defaults)
{
    const char *key;
    json_t *value;
    json_object_foreach(defaults, key, value)
    {
        json_t *found = json_object_get(into, key);
        if (!found ? json_object_set(into, key, value) != 0
                   : json_is_object(found) && strcmp(key, "network") != 0 &&
                         !add_missing(found, value)) {
            return false;
        }
    }
    return true;
}

static enum sv_status merge_defaults(struct jobs_making *m, struct sv_error *err)
{
    json_auto_t *defaults = json_loads(m->kind->defaults, 0, NULL);
    m->merged = json_deep_copy(m->submitted);
    if (!defaults || !m->merged || !add_missing(m->merged, defaults) || !add_default_sweep(m) ||
        !add_default_values(m->merged, m->kind)) {
        return no_memory(err);
    }
    return SV_OK;
}

static bool is_id(const char *text)
{
    return strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}

static enum sv_status check_dataset(const struct jobs_making *m, struct sv_error *err)
{
    enum jobs_samples samples = jobs_samples_of(&m->dataset);
    if (m->kind->samples != samples) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/dataset",
                          "%s trains on %s, and the data set holds %s", m->kind->name,
                          jobs_samples_name(m->kind->samples), jobs_samples_name(samples));
    }
    if (m->dataset.train == 0) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/dataset",
                          "the data set has no train part: nothing can be learned from it");
    }
    return m->kind->check ? m->kind->check(&m->dataset, err) : SV_OK;
}

static enum sv_status find_dataset(struct jobs_making *m, struct sv_error *err)
{
    enum sv_status st =
        is_id(m->spec.dataset)
            ? m->context->find_dataset(m->context->ctx, m->spec.dataset, &m->dataset, err)
            : SV_ERR_NOT_FOUND;
    switch (st) {
    case SV_OK:
        return check_dataset(m, err);
    case SV_ERR_NOT_FOUND:
        return sv_fail_at(
            err, SV_ERR_INVALID_FIELD, "/dataset", "there is no such data set%s",
            is_id(m->spec.dataset)
                ? ""
                : ": an id of 32 hex digits is expected, GET /v1/datasets lists them");
    default: /* SV_ERR_WRONG_STATE says which state */
        return st;
    }
}

/* A Bayesian search ranks its points by errors, so all of them must be of one target. */
static enum sv_status check_target(const struct jobs_making *m, struct sv_error *err)
{
    json_auto_t *paths = jobs_target_parameters(m->kind->name, m->spec.search.parameters);
    const char *path = json_string_value(json_array_get(paths, 0));
    if (!paths) {
        return no_memory(err);
    }
    if (!path || m->spec.search.strategy != JOBS_BAYESIAN) {
        return SV_OK;
    }
    char pointer[160];
    jobs_axis_pointer(path, pointer, sizeof pointer);
    return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                      "it changes what is to be predicted, and errors of different targets cannot "
                      "be compared: give it one value, or search by \"grid\"");
}

static enum sv_status encode_job(struct jobs_making *m, struct sv_error *err)
{
    struct jobs_job_spec *spec = &m->spec;
    struct jobs_split_options given = spec->trial.split;
    bool swept = jobs_sweep_has(&m->sweep, "training.solver");
    struct jobs_trial_spec complete = spec->trial;
    enum sv_status st =
        jobs_trial_complete(&complete, &m->dataset, m->context->trial_memory_bytes, err);
    if (st != SV_OK) { /* a swept value mends it, or no trial would have come about */
        complete.split = given;
    }
    spec->trial.split = complete.split;
    spec->trial.limits = complete.limits;
    spec->trial.data = complete.data;
    spec->trial.explain = complete.explain;
    bool validates = m->dataset.validation > 0 || complete.split.validation > 0;
    bool tests =
        m->dataset.test > 0 || complete.split.train + complete.split.validation < 1.0 - 1e-9;
    if (st == SV_OK && !validates && tests && m->kind->headline_of_test) {
        m->plan->headline_metric = m->kind->headline_of_test;
    }
    if (st == SV_OK && !validates && spec->search.strategy == JOBS_BAYESIAN) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/search/strategy",
                          "there is no validation part to choose points by");
    }
    if (!swept) {
        spec->trial.training = complete.training;
    }
    m->plan->resolved = jx_encode(jobs_job_fields, spec);
    if (!m->plan->resolved) {
        return no_memory(err);
    }
    jobs_data_prune(m->plan->resolved, m->kind->samples);
    jobs_sweep_remove(&m->sweep, m->plan->resolved); /* what is swept has no one value */
    return jobs_hash(m->plan->resolved, m->plan->hash) ? SV_OK : no_memory(err);
}

static enum sv_status warn_of_job(struct jobs_making *m, struct sv_error *err)
{
    enum sv_status st = SV_OK;
    /* Trials that a search makes later may let an option count. */
    if (m->sweep.chosen == m->sweep.points) {
        st = jobs_idle_warn(&m->idle, m->submitted, &m->sweep, m->plan, err);
    }
    if (st == SV_OK && m->plan->without_weights) {
        st = jobs_warn(m->plan, err, "no_weights", "/weights",
                       "no weights are named: the network begins from random numbers, and nothing "
                       "is transferred");
    }
    return st;
}

static enum sv_status fill_plan(struct jobs_making *m, struct sv_error *err)
{
    struct jobs_plan *plan = m->plan;
    plan->kind = m->kind->name;
    plan->headline_metric = m->kind->headline_metric;
    memcpy(plan->dataset_id, m->dataset.id, sizeof plan->dataset_id);
    plan->name = strdup(m->spec.name);
    plan->experiment = strdup(m->spec.experiment);
    plan->notes = strdup(m->spec.notes);
    plan->labels = json_deep_copy(m->spec.labels);
    return plan->name && plan->experiment && plan->notes && plan->labels ? SV_OK : no_memory(err);
}

enum sv_status jobs_making_begin(struct jobs_making *m, struct sv_error *err)
{
    m->plan = calloc(1, sizeof *m->plan);
    if (m->plan) {
        m->plan->warnings = json_array();
    }
    enum sv_status st = m->plan && m->plan->warnings ? find_kind(m, err) : no_memory(err);
    if (st == SV_OK) {
        st = jobs_refuse_not_built(m->submitted, err);
    }
    if (st == SV_OK) {
        st = merge_defaults(m, err);
    }
    if (st == SV_OK) {
        st = jobs_decode(jobs_job_fields, m->merged, &m->spec, err);
    }
    if (st == SV_OK) {
        st = jobs_job_check(&m->spec, err);
    }
    if (st == SV_OK) {
        st = find_dataset(m, err);
    }
    if (st == SV_OK) {
        trim_default_sweep(m);
        st = jobs_sweep_init(&m->spec, m->submitted, m->context->max_trials, &m->sweep, err);
    }
    if (st == SV_OK) {
        m->base = jobs_making_base(m);
        st = m->base ? SV_OK : no_memory(err);
    }
    return st;
}

enum sv_status jobs_making_end(struct jobs_making *m, enum sv_status st,
                               struct jobs_plan **out_plan)
{
    if (st == SV_OK) {
        *out_plan = m->plan;
    } else {
        jobs_plan_destroy(m->plan);
    }
    jobs_sweep_deinit(&m->sweep);
    jobs_networks_deinit(&m->networks);
    json_decref(m->base);
    json_decref(m->merged);
    return st;
}

enum sv_status jobs_resolve(json_t *submitted, const struct jobs_context *context,
                            struct jobs_plan **out_plan, json_t **out_issues, struct sv_error *err)
{
    struct jobs_making m = {.context = context, .submitted = submitted, .out_issues = out_issues};
    if (!json_is_object(submitted)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "", "a job is an object");
    }
    enum sv_status st = jobs_making_begin(&m, err);
    if (st == SV_OK) {
        st = jobs_making_trials(&m, err);
    }
    if (st == SV_OK) {
        st = fill_plan(&m, err);
    }
    if (st == SV_OK) {
        st = check_target(&m, err);
    }
    if (st == SV_OK) {
        st = encode_job(&m, err);
    }
    if (st == SV_OK) {
        st = warn_of_job(&m, err);
    }
    return jobs_making_end(&m, st, out_plan);
}
