/* SPDX-License-Identifier: MIT
 *
 * What people ask of jobs: pause, resume, stop, cancel, restart, extend, archive, for one job; for
 * many in bulk.c.
 *
 *   pause    starts no new trials; running ones go on
 *   resume   starts trials again, paused ones too
 *   stop     running trials finish their step, are evaluated and kept, and so are waiting ones that
 *            have a checkpoint; other waiting ones are cancelled; a paused job is let go for that
 *   cancel   nothing is kept of trials that are not finished
 *   restart  stopped, cancelled and failed trials (or those in the states named) run again
 *   extend   completed and stopped trials go on with more epochs (extend.c)
 *   duplicate  another job of the same spec (duplicate.c)
 */
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/jobs_internal.h"

const struct api_verb api_verbs[] = {
    {.name = "pause", .event = JOBS_EVENT_PAUSE},
    {.name = "resume", .event = JOBS_EVENT_RESUME},
    {.name = "stop", .event = JOBS_EVENT_STOP},
    {.name = "cancel", .event = JOBS_EVENT_CANCEL},
    {.name = "restart", .event = JOBS_EVENT_RESTART},
    {.name = "extend", .event = JOBS_EVENT_EXTEND},
    {.name = "duplicate", .event = JOBS_EVENT_COUNT, .creates = true},
    {.name = "archive", .event = JOBS_EVENT_COUNT, .is_archive = true, .archived = true},
    {.name = "unarchive", .event = JOBS_EVENT_COUNT, .is_archive = true},
    {0},
};

const struct api_verb *api_verb_find(const char *name)
{
    for (const struct api_verb *verb = api_verbs; verb->name; verb++) {
        if (strcmp(verb->name, name) == 0) {
            return verb;
        }
    }
    return NULL;
}

/* -------------------------------------------------------------------------------------- bodies */

static const struct jx_choice RESTARTABLE[] = {
    {"stopped", JOBS_STOPPED, "ended early by a person"},
    {"cancelled", JOBS_CANCELLED, "ended without a result"},
    {"failed", JOBS_FAILED, "ended by a mistake"},
    JX_END,
};
const struct jx_field api_restart_state = {
    .name = "state", .type = JX_ENUM, .choices = RESTARTABLE};

struct verb_body {
    const json_t *states;
    int64_t epochs;
};
static const struct jx_field NO_FIELDS[] = {JX_END};
const struct jx_field api_restart_fields[] = {
    {.name = "states",
     .type = JX_ARRAY,
     .offset = offsetof(struct verb_body, states),
     .items = &api_restart_state,
     .min_items = 1,
     .max_items = 3,
     .doc = "which trials run again; default: all that can"},
    JX_END,
};

const struct jx_field api_extend_fields[] = {
    {.name = "epochs",
     .type = JX_INT,
     .offset = offsetof(struct verb_body, epochs),
     .min = 1,
     .max = API_EPOCHS_MAX,
     .required = true,
     .doc = "of the whole training, those that the trial has had too",
     .unit = "epochs"},
    JX_END,
};

static const struct jx_field *fields_of(const struct api_verb *verb)
{
    return verb->event == JOBS_EVENT_RESTART  ? api_restart_fields
           : verb->event == JOBS_EVENT_EXTEND ? api_extend_fields
                                              : NO_FIELDS;
}

enum sv_status api_verb_decode(const json_t *body, const struct api_verb *verb,
                               struct api_wish *out_wish, struct sv_error *err)
{
    struct verb_body decoded = {0};
    json_auto_t *nothing = json_object();
    if (!nothing) {
        return api_no_memory(err);
    }
    enum sv_status st = api_decode(fields_of(verb), body ? body : nothing, &decoded, err);
    if (st != SV_OK) {
        return st;
    }
    unsigned states = decoded.states ? 0 : JOBS_ALL_STATES;
    for (size_t i = 0; i < json_array_size(decoded.states); i++) {
        const char *name = json_string_value(json_array_get(decoded.states, i));
        const struct jx_choice *choice = jx_choice_find(RESTARTABLE, name);
        states |= choice ? 1u << choice->value : 0u;
    }
    *out_wish = (struct api_wish){.states = states, .epochs = decoded.epochs};
    return SV_OK;
}

/* ---------------------------------------------------------------------------------------- jobs */

/* Pause and resume hold and let go the queue; resume also takes up paused trials. */
static enum sv_status hold(struct api_ctx *ctx, const struct store_scope *scope, const char *job_id,
                           const struct api_verb *verb, struct store_applied *out_applied,
                           struct sv_error *err)
{
    struct jobs_verb rows;
    bool pause = verb->event == JOBS_EVENT_PAUSE;
    enum sv_status st = store_job_hold(ctx->store, scope, job_id, pause, err);
    if (st == SV_OK && !pause) {
        jobs_verb_make(verb->event, JOBS_ALL_STATES, &rows);
        st = store_job_apply(ctx->store, scope, job_id, &rows.store, out_applied, err);
    }
    return st;
}

enum sv_status api_verb_apply(struct api_ctx *ctx, const struct store_scope *scope,
                              const char *job_id, const struct api_verb *verb,
                              const struct api_wish *wish, struct store_applied *out_applied,
                              struct sv_error *err)
{
    struct store_applied applied = {0};
    struct jobs_verb rows;
    enum sv_status st;
    if (verb->is_archive) {
        struct store_job_patch patch = {.archived = verb->archived ? 1 : 0};
        return store_job_patch(ctx->store, scope, job_id, &patch, err);
    }
    if (verb->event == JOBS_EVENT_PAUSE || verb->event == JOBS_EVENT_RESUME) {
        st = hold(ctx, scope, job_id, verb, &applied, err);
    } else if (verb->event == JOBS_EVENT_EXTEND) {
        st = api_extend(ctx, scope, job_id, NULL, wish->epochs, &applied, err);
    } else {
        jobs_verb_make(verb->event, wish->states, &rows);
        st = store_job_apply(ctx->store, scope, job_id, &rows.store, &applied, err);
        if (st == SV_OK && applied.changed + applied.requested + applied.unchanged == 0) {
            st = sv_fail(err, SV_ERR_WRONG_STATE, "no trial of the job is in a state to %s",
                         verb->name);
        }
    }
    if (st == SV_OK) {
        *out_applied = applied;
    }
    return st;
}

static enum sv_status run(void *state, const struct http_request *req, struct http_response *resp,
                          const char *name, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    const struct api_verb *verb = api_verb_find(name);
    struct store_applied applied = {0};
    struct store_scope scope;
    struct api_wish wish = {0};
    const char *id = http_path(req, "id");
    api_scope(req, &scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = api_verb_decode(req->json, verb, &wish, err);
    }
    if (st == SV_OK) {
        st = api_verb_apply(ctx, &scope, id, verb, &wish, &applied, err);
    }
    if (st != SV_OK) {
        return st;
    }
    return api_job_answer(ctx, req, resp, id, verb->is_archive ? NULL : &applied, err);
}

/* POST /v1/jobs/{id}/<verb>: 200 with the job and how many trials took it; 404; 409 when none
 * could. Repeating is harmless. */
#define JOB_VERB(verb)                                                                             \
    enum sv_status api_jobs_##verb(void *state, const struct http_request *req,                    \
                                   struct http_response *out_resp, struct sv_error *err)           \
    {                                                                                              \
        return run(state, req, out_resp, #verb, err);                                              \
    }
JOB_VERB(pause)
JOB_VERB(resume)
JOB_VERB(stop)
JOB_VERB(cancel)
JOB_VERB(restart)
JOB_VERB(extend)
JOB_VERB(archive)
JOB_VERB(unarchive)
