/* SPDX-License-Identifier: MIT
 *
 * A job, or one trial of it, submitted again: from the spec as it was submitted, so that a merge
 * patch (RFC 7386) names fields where the submitter put them, and defaults follow what it changes.
 * A fork is the same of a trial, but begins with its weights; again, a fork is a fork.
 */
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/jobs_internal.h"

/* What is submitted again. */
struct source {
    struct store_scope scope;
    char job_id[SV_ID_SIZE];
    json_t *spec, *resolved; /* of the job, and with its defaults */
    struct store_fork fork;
    bool is_fork;
};

static void source_deinit(struct source *source)
{
    json_decref(source->spec);
    json_decref(source->resolved);
}

static enum sv_status take_job(struct api_ctx *ctx, const char *job_id, struct source *source,
                               struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_job job;
    enum sv_status st = store_job_get(ctx->store, &source->scope, job_id, &memory, &job, err);
    if (st == SV_OK) {
        memcpy(source->job_id, job.id, sizeof source->job_id);
        source->spec = api_document(job.submitted);
        source->resolved = api_document(job.resolved);
        st = source->spec && source->resolved ? SV_OK : api_no_memory(err);
    }
    if (st == SV_OK) {
        st = store_fork_get(ctx->store, &source->scope, job_id, &source->is_fork, &source->fork,
                            err);
    }
    store_memory_clear(&memory);
    return st;
}

/* The job that has this trial alone. */
static enum sv_status take_trial(struct api_ctx *ctx, const char *trial_id, struct source *source,
                                 struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_trial trial;
    json_t *spec = NULL;
    enum sv_status st = store_trial_get(ctx->store, &source->scope, trial_id, &memory, &trial, err);
    if (st == SV_OK && !trial.chosen) {
        st = sv_fail(err, SV_ERR_WRONG_STATE, "the search has given this trial no values yet");
    }
    if (st == SV_OK) {
        st = take_job(ctx, trial.job_id, source, err);
    }
    if (st == SV_OK) {
        json_auto_t *parameters = api_document(trial.parameters);
        json_auto_t *resolved = api_document(trial.resolved);
        const struct jobs_settled settled = {source->spec, source->resolved, parameters, resolved,
                                             trial.seed};
        st = parameters && resolved ? jobs_of_trial(&settled, &spec, err) : api_no_memory(err);
    }
    if (st == SV_OK) {
        json_decref(source->spec);
        source->spec = spec;
    }
    store_memory_clear(&memory);
    return st;
}

/* Lays the request's patch over the spec and submits it. */
static enum sv_status submit(struct api_ctx *ctx, const struct http_request *req,
                             struct http_response *resp, const struct source *source,
                             struct api_submission *submission, struct sv_error *err)
{
    enum sv_status st = SV_OK;
    if (req->json && !json_is_object(req->json)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "", "a patch of a job is an object");
    }
    if (source->is_fork) {
        submission->fork = &source->fork;
        st = jobs_fork_check(req->json, err);
    }
    submission->spec = source->spec;
    if (st == SV_OK && req->json && !jx_merge(submission->spec, req->json)) {
        st = api_no_memory(err);
    }
    return st == SV_OK ? api_submit(ctx, req, resp, submission, err) : st;
}

/* POST /v1/jobs/{id}/duplicate: 201 with the new job, or 200 for dry_run; 404; 422 as a submission.
 */
enum sv_status api_jobs_duplicate(void *state, const struct http_request *req,
                                  struct http_response *out_resp, struct sv_error *err)
{
    struct source source = {0};
    struct api_submission submission = {.job_id = source.job_id};
    api_scope(req, &source.scope);
    enum sv_status st = take_job(state, http_path(req, "id"), &source, err);
    if (st == SV_OK) {
        st = submit(state, req, out_resp, &source, &submission, err);
    }
    source_deinit(&source);
    return st;
}

/* POST /v1/trials/{id}/duplicate: likewise, a job of this trial alone. */
enum sv_status api_trials_duplicate(void *state, const struct http_request *req,
                                    struct http_response *out_resp, struct sv_error *err)
{
    struct source source = {0};
    struct api_submission submission = {.job_id = source.job_id, .trial_id = http_path(req, "id")};
    api_scope(req, &source.scope);
    enum sv_status st = take_trial(state, submission.trial_id, &source, err);
    if (st == SV_OK) {
        st = submit(state, req, out_resp, &source, &submission, err);
    }
    source_deinit(&source);
    return st;
}

/* POST /v1/trials/{id}/fork: 201 with a job of one trial that begins with the weights of this one's
 * last checkpoint, or 200 for dry_run; 404; 409 when there is no checkpoint; 422. */
enum sv_status api_trials_fork(void *state, const struct http_request *req,
                               struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct source source = {0};
    struct api_submission submission = {0};
    const char *trial_id = http_path(req, "id");
    api_scope(req, &source.scope);
    enum sv_status st = take_trial(ctx, trial_id, &source, err);
    if (st == SV_OK) {
        st = store_fork_find(ctx->store, &source.scope, trial_id, &source.fork, err);
    }
    if (st == SV_OK) {
        source.is_fork = true;
        st = submit(ctx, req, out_resp, &source, &submission, err);
    }
    source_deinit(&source);
    return st;
}

enum sv_status api_duplicate(struct api_ctx *ctx, const struct http_request *req,
                             const char *job_id, struct store_created *out_created,
                             struct sv_error *err)
{
    struct source source = {0};
    api_scope(req, &source.scope);
    enum sv_status st = take_job(ctx, job_id, &source, err);
    if (st == SV_OK) {
        const struct api_submission submission = {.spec = source.spec,
                                                  .job_id = source.job_id,
                                                  .fork = source.is_fork ? &source.fork : NULL};
        st = api_submit_quietly(ctx, req, &submission, out_created, err);
    }
    source_deinit(&source);
    return st;
}
