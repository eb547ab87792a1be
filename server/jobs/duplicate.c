/* SPDX-License-Identifier: MIT
 *
 * One trial of a job as a job of its own: what the sweep chose is settled, the seed is the trial's.
 * A fork is one that begins with the weights that the trial came to.
 */
#include <string.h>

#include "core/json/json.h"
#include "server/jobs/spec_internal.h"

/* Puts what the sweep chose where a trial gets it: into the kind's network where the job names
 * none. */
static enum sv_status settle(json_t *spec, const struct jobs_settled *trial, struct sv_error *err)
{
    const char *path;
    json_t *value, *chosen = json_incref((json_t *)(uintptr_t)trial->parameters);
    json_t *network = json_object_get(trial->job_resolved, "network");
    enum sv_status st = SV_OK;
    if (network && !json_object_get(spec, "network") &&
        json_object_set_new(spec, "network", json_deep_copy(network)) != 0) {
        st = sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    json_object_foreach(chosen, path, value)
    {
        if (st == SV_OK) {
            st = jobs_sweep_put_value(path, value, spec, err);
        }
    }
    json_decref(chosen);
    return st;
}

/* A trial that was extended has more epochs than its job, and a cosine's period is that of before.
 */
static bool put_epochs(json_t *spec, const json_t *training)
{
    json_t *epochs = json_object_get(training, "epochs");
    json_t *schedule = json_object_get(training, "schedule");
    const char *kind = json_string_value(json_object_get(schedule, "kind"));
    json_t *period = json_object_get(schedule, "period");
    bool own_period = kind && strcmp(kind, "cosine") == 0 && !json_equal(period, epochs);
    return jx_path_set(spec, "training.epochs", json_incref(epochs), NULL) == NN_OK &&
           (!own_period ||
            jx_path_set(spec, "training.schedule.period", json_incref(period), NULL) == NN_OK);
}

/* Of weights by network those of the trial's stay: others would be refused as being of no use. */
static bool put_weights(json_t *spec)
{
    const json_t *weights = json_object_get(spec, "weights");
    if (!json_is_object(weights)) {
        return true;
    }
    const char *id = jobs_weights_id(weights, json_object_get(spec, "network"));
    return id ? json_object_set_new(spec, "weights", json_string(id)) == 0
              : json_object_del(spec, "weights") == 0;
}

enum sv_status jobs_of_trial(const struct jobs_settled *trial, json_t **out_spec,
                             struct sv_error *err)
{
    json_t *spec = json_deep_copy(trial->submitted);
    json_t *seeds = json_pack("[I]", (json_int_t)trial->seed);
    json_t *search = json_pack("{s:{}}", "parameters");
    enum sv_status st = spec && seeds && search ? settle(spec, trial, err)
                                                : sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    bool put = st == SV_OK && json_object_set(spec, "seeds", seeds) == 0 &&
               json_object_set(spec, "search", search) == 0 &&
               put_epochs(spec, json_object_get(trial->resolved, "training")) && put_weights(spec);
    json_decref(seeds);
    json_decref(search);
    if (put) {
        *out_spec = spec;
        return SV_OK;
    }
    json_decref(spec);
    return st == SV_OK ? sv_fail(err, SV_ERR_INTERNAL, "out of memory") : st;
}

/* --------------------------------------------------------------------------------------- forks */

/* A checkpoint's weights fit one network, and its seed has been used up. */
static const struct jx_choice CHANGEABLE[] = {
    {"training", 0, NULL},
    {"evaluation", 0, NULL},
    {"explain", 0, NULL},
    {"operators", 0, NULL},
    {"limits", 0, NULL},
    {"max_attempts", 0, NULL},
    {"threads", 0, NULL},
    {"name", 0, NULL},
    {"experiment", 0, NULL},
    {"notes", 0, NULL},
    {"labels", 0, NULL},
    {"augmentation", 0, NULL},
    JX_END,
};

enum sv_status jobs_fork_check(const json_t *patch, struct sv_error *err)
{
    const char *key;
    json_t *value, *changes = json_incref((json_t *)(uintptr_t)patch);
    enum sv_status st = SV_OK;
    json_object_foreach(changes, key, value)
    {
        char pointer[160];
        jx_pointer_key("", key, pointer, sizeof pointer);
        if (st == SV_OK && !jx_choice_find(CHANGEABLE, key) &&
            jx_field_find(jobs_job_fields, key)) {
            st = sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                            "cannot change: a fork goes on with what its weights were trained for");
        }
    }
    json_decref(changes);
    return st;
}

enum sv_status jobs_plan_fork(struct jobs_plan *plan, const char *sha256, struct sv_error *err)
{
    for (size_t i = 0; i < plan->trial_count; i++) {
        struct jobs_trial *trial = &plan->trials[i];
        if (json_object_set_new(trial->resolved, "initial_checkpoint", json_string(sha256)) != 0 ||
            !jobs_hash(trial->resolved, trial->hash)) {
            return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
        }
    }
    return SV_OK;
}
