/* SPDX-License-Identifier: MIT
 *
 * A job, or one trial of it, submitted again: from the spec as it was submitted, so that a merge
 * patch (RFC 7386) names fields where the submitter put them, and defaults follow what it changes.
 */
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/jobs_internal.h"

/* The spec of a job as it was submitted and (NULL: not wanted) with its defaults; both new, also
 * after a failure. */
static enum sv_status spec_of_job(struct api_ctx *ctx, const struct http_request *req,
                                  const char *job_id, json_t **out_spec, json_t **out_resolved,
                                  struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_job job;
    api_scope(req, &scope);
    enum sv_status st = store_job_get(ctx->store, &scope, job_id, &memory, &job, err);
    if (st == SV_OK) {
        *out_spec = api_document(job.submitted);
        bool whole = *out_spec != NULL;
        if (out_resolved) {
            *out_resolved = api_document(job.resolved);
            whole = whole && *out_resolved;
        }
        st = whole ? SV_OK : api_no_memory(err);
    }
    store_memory_clear(&memory);
    return st;
}

/* The spec of a job that has one trial of another, new, and the id of that one. */
static enum sv_status spec_of_trial(struct api_ctx *ctx, const struct http_request *req,
                                    const char *trial_id, char out_job_id[SV_ID_SIZE],
                                    json_t **out_spec, struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_trial trial;
    json_t *submitted = NULL, *job_resolved = NULL;
    api_scope(req, &scope);
    enum sv_status st = store_trial_get(ctx->store, &scope, trial_id, &memory, &trial, err);
    if (st == SV_OK) {
        st = spec_of_job(ctx, req, trial.job_id, &submitted, &job_resolved, err);
    }
    if (st == SV_OK) {
        json_auto_t *parameters = api_document(trial.parameters);
        json_auto_t *resolved = api_document(trial.resolved);
        const struct jobs_settled settled = {submitted, job_resolved, parameters, resolved,
                                             trial.seed};
        memcpy(out_job_id, trial.job_id, SV_ID_SIZE);
        st = parameters && resolved ? jobs_of_trial(&settled, out_spec, err) : api_no_memory(err);
    }
    json_decref(submitted);
    json_decref(job_resolved);
    store_memory_clear(&memory);
    return st;
}

/* Lays the request's patch over the spec and submits it. */
static enum sv_status submit(struct api_ctx *ctx, const struct http_request *req,
                             struct http_response *resp, const struct api_submission *submission,
                             struct sv_error *err)
{
    if (req->json && !json_is_object(req->json)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "", "a patch of a job is an object");
    }
    if (req->json && !jx_merge(submission->spec, req->json)) {
        return api_no_memory(err);
    }
    return api_submit(ctx, req, resp, submission, err);
}

/* POST /v1/jobs/{id}/duplicate: 201 with the new job, or 200 for dry_run; 404; 422 as a submission.
 */
enum sv_status api_jobs_duplicate(void *state, const struct http_request *req,
                                  struct http_response *out_resp, struct sv_error *err)
{
    struct api_submission submission = {.job_id = http_path(req, "id")};
    enum sv_status st = spec_of_job(state, req, submission.job_id, &submission.spec, NULL, err);
    if (st == SV_OK) {
        st = submit(state, req, out_resp, &submission, err);
    }
    json_decref(submission.spec);
    return st;
}

/* POST /v1/trials/{id}/duplicate: likewise, a job of this trial alone. */
enum sv_status api_trials_duplicate(void *state, const struct http_request *req,
                                    struct http_response *out_resp, struct sv_error *err)
{
    char job_id[SV_ID_SIZE] = "";
    struct api_submission submission = {.job_id = job_id, .trial_id = http_path(req, "id")};
    enum sv_status st =
        spec_of_trial(state, req, submission.trial_id, job_id, &submission.spec, err);
    if (st == SV_OK) {
        st = submit(state, req, out_resp, &submission, err);
    }
    json_decref(submission.spec);
    return st;
}

enum sv_status api_duplicate(struct api_ctx *ctx, const struct http_request *req,
                             const char *job_id, struct store_created *out_created,
                             struct sv_error *err)
{
    struct api_submission submission = {.job_id = job_id};
    enum sv_status st = spec_of_job(ctx, req, job_id, &submission.spec, NULL, err);
    if (st == SV_OK) {
        st = api_submit_quietly(ctx, req, &submission, out_created, err);
    }
    json_decref(submission.spec);
    return st;
}
