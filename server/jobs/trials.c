/* SPDX-License-Identifier: MIT
 *
 * The trials of a job: one resolved spec each, its hash, its share of the estimate.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/jobs/axes_internal.h"
#include "server/jobs/kinds.h"
#include "server/jobs/making_internal.h"

static enum sv_status no_memory(struct sv_error *err)
{
    return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
}

/* Frozen layers keep what they begin with: without weights that is noise. */
static enum sv_status check_start(struct jobs_making *m, const struct jobs_trial_spec *trial,
                                  const char *weights, struct sv_error *err)
{
    bool frozen =
        !json_is_string(trial->freeze) || strcmp(json_string_value(trial->freeze), "none") != 0;
    if (!weights && frozen) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/weights",
                          "freeze needs weights: frozen layers would keep random ones");
    }
    m->plan->without_weights |= m->kind->starts_from_weights && !weights;
    return SV_OK;
}

json_t *jobs_making_base(const struct jobs_making *m)
{
    json_t *base = json_object();
    for (const struct jx_field *row = jobs_trial_fields; base && row->name; row++) {
        json_t *value = json_object_get(m->merged, row->name);
        if (value && json_object_set_new(base, row->name, json_deep_copy(value)) != 0) {
            json_decref(base);
            return NULL;
        }
    }
    return base;
}

/* {kind, seed, everything else}: what a trial's process is given. */
static json_t *encode_trial(const struct jobs_making *m, const struct jobs_trial_spec *trial,
                            const struct jobs_network *network, int64_t seed)
{
    json_t *out = json_pack("{s:s, s:I}", "kind", m->kind->name, "seed", (json_int_t)seed);
    json_t *rest = jx_encode(jobs_trial_fields, trial);
    json_t *weights = network->weights[0] ? json_string(network->weights) : json_null();
    if (!out || !rest || json_object_set_new(out, "weights", weights) != 0 ||
        json_object_set(rest, "network", network->spec) != 0 ||
        json_object_update(out, rest) != 0) {
        json_decref(out);
        out = NULL;
    }
    jobs_data_prune(out, m->kind->samples);
    json_decref(rest);
    return out;
}

/* Decodes, completes and analyses one trial's JSON. */
static enum sv_status understand(struct jobs_making *m, const json_t *json,
                                 struct jobs_trial_spec *out_trial,
                                 const struct jobs_network **out_network, struct sv_error *err)
{
    enum sv_status st = jobs_data_check(json, m->kind->samples, err);
    if (st == SV_OK) {
        st = jobs_decode(jobs_trial_fields, json, out_trial, err);
    }
    if (st == SV_OK) {
        st = jobs_trial_complete(out_trial, &m->dataset, m->context->trial_memory_bytes, err);
    }
    const char *weights = st == SV_OK ? jobs_weights_id(m->spec.weights, out_trial->network) : NULL;
    if (st == SV_OK) {
        st = jobs_networks_get(&m->networks, out_trial, weights, &m->dataset, m->context,
                               out_network, m->out_issues, err);
    }
    if (st == SV_OK && weights) {
        st = jobs_weights_note(m->plan, out_trial->network, weights, err);
    } else if (st != SV_OK && weights && err && strcmp(err->pointer, "/weights") == 0) {
        jobs_weights_pointer(m->spec.weights, out_trial->network, err->pointer,
                             sizeof err->pointer);
    }
    if (st == SV_OK) {
        st = check_start(m, out_trial, weights, err);
    }
    if (st == SV_OK) {
        st =
            jobs_warn_of_trial(m->plan, out_trial, *out_network, m->spec.weights, &m->dataset, err);
    }
    if (st == SV_OK) {
        st = jobs_idle_add(&m->idle, out_trial, err);
    }
    if (st != SV_OK && m->point) {
        jobs_sweep_blame(&m->sweep, m->point, st, err);
    }
    return st;
}

/* One more trial of the plan, empty; NULL when out of memory. */
static struct jobs_trial *add_trial(struct jobs_making *m, size_t index, size_t seed)
{
    struct jobs_plan *plan = m->plan;
    struct jobs_trial *trials =
        reallocarray(plan->trials, plan->trial_count + 1, sizeof *plan->trials);
    if (!trials) {
        return NULL;
    }
    plan->trials = trials;
    trials[plan->trial_count] =
        (struct jobs_trial){.index = index, .seed = (uint64_t)m->spec.seeds.value[seed]};
    return &trials[plan->trial_count++];
}

static enum sv_status make_trial(struct jobs_making *m, const struct jobs_trial_spec *spec,
                                 const struct jobs_network *network, json_t *parameters,
                                 size_t index, size_t seed, struct sv_error *err)
{
    struct jobs_trial *trial = add_trial(m, index, seed);
    if (!trial) {
        return no_memory(err);
    }
    trial->parameters = json_incref(parameters);
    trial->total_steps = jobs_estimate_steps(spec, &m->dataset);
    trial->resolved = encode_trial(m, spec, network, m->spec.seeds.value[seed]);
    if (!trial->resolved || !jobs_hash(trial->resolved, trial->hash)) {
        return no_memory(err);
    }
    enum sv_status st = jobs_estimate_add(&m->plan->estimate, spec, network, &m->dataset, err);
    if (st != SV_OK) {
        jobs_sweep_blame(&m->sweep, m->point, st, err);
    }
    return st;
}

/* The trials of m->point, one a seed; wanted NULL: of every seed, else of those it is true for. */
static enum sv_status make_point(struct jobs_making *m, size_t number, const bool *wanted,
                                 json_t *parameters, struct sv_error *err)
{
    struct jobs_trial_spec spec = {0};
    const struct jobs_network *network = NULL;
    json_auto_t *json = json_deep_copy(m->base);
    size_t seeds = m->spec.seeds.count;
    if (!json) {
        return no_memory(err);
    }
    enum sv_status st = jobs_sweep_put(&m->sweep, m->point, json, parameters, err);
    if (st == SV_OK) {
        st = understand(m, json, &spec, &network, err);
    }
    for (size_t i = 0; st == SV_OK && i < seeds; i++) {
        if (!wanted || wanted[i]) {
            st = make_trial(m, &spec, network, parameters, number * seeds + i + 1, i, err);
        }
    }
    return st;
}

enum sv_status jobs_making_point(struct jobs_making *m, const double *point, size_t number,
                                 const bool *wanted, struct sv_error *err)
{
    json_auto_t *parameters = json_object();
    m->point = point;
    enum sv_status st =
        parameters ? make_point(m, number, wanted, parameters, err) : no_memory(err);
    m->point = NULL;
    return st;
}

static char *refusal_of(const struct sv_error *why)
{
    char text[sizeof why->text + sizeof why->pointer + 8];
    (void)snprintf(text, sizeof text, why->pointer[0] ? "%s (%s)" : "%s", why->text, why->pointer);
    return strdup(text);
}

static enum sv_status refuse_trial(struct jobs_making *m, json_t *parameters, size_t index,
                                   size_t seed, struct sv_error *why)
{
    struct jobs_trial *trial = add_trial(m, index, seed);
    if (!trial) {
        return no_memory(why);
    }
    trial->parameters = json_incref(parameters);
    trial->refusal = refusal_of(why);
    return trial->refusal ? SV_OK : no_memory(why);
}

enum sv_status jobs_making_refuse(struct jobs_making *m, const double *point, size_t number,
                                  const bool *wanted, size_t from, struct sv_error *why)
{
    size_t seeds = m->spec.seeds.count;
    json_auto_t *parameters = json_object();
    while (m->plan->trial_count > from) {
        jobs_trial_clear(&m->plan->trials[--m->plan->trial_count]);
    }
    enum sv_status st = parameters ? SV_OK : no_memory(why);
    for (size_t i = 0; st == SV_OK && i < m->sweep.axis_count; i++) {
        json_t *value = jobs_axis_value(&m->sweep.axes[i], point[i]);
        if (json_object_set_new(parameters, m->sweep.axes[i].path, value) != 0) {
            st = no_memory(why);
        }
    }
    for (size_t i = 0; st == SV_OK && i < seeds; i++) {
        if (wanted[i]) {
            st = refuse_trial(m, parameters, number * seeds + i + 1, i, why);
        }
    }
    return st;
}

/* Is it a value that the field can have? Networks are looked at whole: what they start from is to
 * be known from the beginning. */
static enum sv_status probe_value(struct jobs_making *m, const char *path, const json_t *json,
                                  struct sv_error *err)
{
    struct jobs_trial_spec spec = {0};
    const struct jobs_network *network = NULL;
    if (strncmp(path, "network", strcspn(path, ".")) == 0) {
        return understand(m, json, &spec, &network, err);
    }
    enum sv_status st = jobs_data_check(json, m->kind->samples, err);
    if (st == SV_OK) {
        st = jobs_decode(jobs_trial_fields, json, &spec, err);
    }
    if (st != SV_OK) {
        jobs_sweep_blame(&m->sweep, m->point, st, err);
    }
    return st;
}

/* The first point with another value: chance may come to it late, or never. */
static enum sv_status probe(struct jobs_making *m, double *point, size_t axis, double value,
                            struct sv_error *err)
{
    json_auto_t *json = json_deep_copy(m->base);
    json_auto_t *parameters = json_object();
    if (!json || !parameters) {
        return no_memory(err);
    }
    double before = point[axis];
    point[axis] = value;
    m->point = point;
    enum sv_status st = jobs_sweep_put(&m->sweep, point, json, parameters, err);
    if (st == SV_OK) {
        st = probe_value(m, m->sweep.axes[axis].path, json, err);
    }
    m->point = NULL;
    point[axis] = before;
    return st;
}

/* Each value of a list, and both ends of a range. */
static enum sv_status probe_axes(struct jobs_making *m, struct sv_error *err)
{
    enum sv_status st = SV_OK;
    for (size_t i = 0; i < m->sweep.axis_count; i++) {
        const struct nn_search_axis *axis = &m->sweep.space[i];
        for (size_t k = 0; k < axis->choices && k < m->context->max_trials && st == SV_OK; k++) {
            st = probe(m, m->sweep.coordinates, i, (double)k, err);
        }
        for (size_t k = 0; k < 2 && axis->choices == 0 && st == SV_OK; k++) {
            st = probe(m, m->sweep.coordinates, i, k == 0 ? axis->min : axis->max, err);
        }
    }
    return st;
}

/* Trials whose points the search chooses later. */
static enum sv_status leave_open(struct jobs_making *m, size_t number, struct sv_error *err)
{
    size_t seeds = m->spec.seeds.count;
    json_auto_t *parameters = json_object();
    for (size_t i = 0; i < m->sweep.axis_count; i++) {
        if (json_object_set_new(parameters, m->sweep.axes[i].path, json_null()) != 0) {
            return no_memory(err);
        }
    }
    for (size_t i = 0; i < seeds; i++) {
        struct jobs_trial *trial = add_trial(m, number * seeds + i + 1, i);
        if (!trial) {
            return no_memory(err);
        }
        trial->parameters = json_incref(parameters);
        trial->total_steps = m->plan->trials[0].total_steps;
    }
    return SV_OK;
}

enum sv_status jobs_making_trials(struct jobs_making *m, struct sv_error *err)
{
    const struct jobs_sweep *sweep = &m->sweep;
    enum sv_status st = m->spec.search.strategy == JOBS_GRID ? SV_OK : probe_axes(m, err);
    for (size_t i = 0; st == SV_OK && i < sweep->chosen; i++) {
        st = jobs_making_point(m, jobs_sweep_point(sweep, i), i, NULL, err);
    }
    for (size_t i = sweep->chosen; st == SV_OK && i < sweep->points; i++) {
        st = leave_open(m, i, err);
    }
    double times = (double)sweep->points / (double)sweep->chosen;
    m->plan->estimate.seconds *= times;
    m->plan->estimate.multiply_adds *= times;
    return st == SV_OK ? jobs_weights_check_used(m->plan, m->spec.weights, err) : st;
}
