/* SPDX-License-Identifier: MIT
 *
 * POST /v1/jobs: understand a job, and store it with all its trials, or only say what it would be.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/sha256.h"
#include "core/metrics/metrics.h"
#include "server/api/handlers_internal.h"
#include "server/api/jobs_internal.h"
#include "server/api/resolving_internal.h"
#include "server/store/history.h"

static double history(void *ctx, const struct jobs_pace *pace, const struct jobs_dataset *dataset)
{
    const struct api_resolving *resolving = ctx;
    double speed = 0;
    bool s = dataset->sequences; /* whose row has other numbers in these places */
    struct store_speed_query query = {.network = pace->network,
                                      .pace = pace->rest,
                                      .height = (int64_t)(s ? dataset->longest : dataset->height),
                                      .width = (int64_t)(s ? dataset->targets : dataset->width),
                                      .channels =
                                          (int64_t)(s ? dataset->inputs : dataset->channels)};
    /* An estimate: without an answer of the database the other basis serves. */
    enum sv_status st =
        store_speed_read(resolving->api->store, &resolving->scope, &query, &speed, NULL);
    return st == SV_OK ? speed : 0;
}

/* "validation_accuracy" is the accuracy of the validation part. */
static bool higher_is_better(const char *headline)
{
    const char *name = strchr(headline, '_');
    const struct nn_metric *metric = name ? nn_metric_find(name + 1) : NULL;
    return !metric || metric->direction == NN_DIRECTION_HIGHER;
}

/* Texts of the trials, in one array each, freed by free_texts. */
static void free_texts(struct store_trial_new *trials, size_t n)
{
    for (size_t i = 0; trials && i < n; i++) {
        free((void *)(uintptr_t)trials[i].parameters);
        free((void *)(uintptr_t)trials[i].resolved);
    }
    free(trials);
}

static struct store_trial_new *make_trials(const struct jobs_plan *plan)
{
    struct store_trial_new *trials = calloc(plan->trial_count, sizeof *trials);
    for (size_t i = 0; trials && i < plan->trial_count; i++) {
        const struct jobs_trial *from = &plan->trials[i];
        json_t *attempts = json_object_get(from->resolved, "max_attempts");
        trials[i].parameters = jx_dump(from->parameters, NULL);
        trials[i].resolved = from->resolved ? jx_dump(from->resolved, NULL) : NULL;
        trials[i].seed = from->seed;
        trials[i].total_steps = (int64_t)from->total_steps;
        trials[i].max_attempts = attempts ? (int)json_integer_value(attempts) : 1;
        memcpy(trials[i].hash, from->hash, sizeof trials[i].hash);
        if (!trials[i].parameters || (from->resolved && !trials[i].resolved)) {
            free_texts(trials, plan->trial_count);
            return NULL;
        }
    }
    return trials;
}

static struct store_job_weights *make_starts(const struct jobs_plan *plan)
{
    struct store_job_weights *starts = calloc(plan->start_count + 1, sizeof *starts);
    for (size_t i = 0; starts && i < plan->start_count; i++) {
        starts[i] = (struct store_job_weights){.network = plan->starts[i].network,
                                               .weights_id = plan->starts[i].weights_id};
    }
    return starts;
}

static enum sv_status store_plan(struct api_ctx *ctx, const struct http_request *req,
                                 const struct api_submission *submission,
                                 const struct jobs_plan *plan, const struct store_idempotency *key,
                                 struct store_created *out_created, struct sv_error *err)
{
    struct store_scope scope;
    size_t n_labels = 0;
    char *submitted = jx_dump(submission->spec, NULL), *resolved = jx_dump(plan->resolved, NULL);
    char *warnings = jx_dump(plan->warnings, NULL);
    const char **labels = api_labels(plan->labels, &n_labels);
    struct store_trial_new *trials = make_trials(plan);
    struct store_job_weights *starts = make_starts(plan);
    enum sv_status st = api_no_memory(err);
    if (submitted && resolved && warnings && labels && trials && starts) {
        struct store_job_new job = {
            .name = plan->name,
            .experiment = plan->experiment,
            .dataset_id = plan->dataset_id,
            .kind = plan->kind,
            .submitted = submitted,
            .resolved = resolved,
            .warnings = warnings,
            .headline_metric = plan->headline_metric,
            .headline_higher_is_better = higher_is_better(plan->headline_metric),
            .notes = plan->notes,
            .labels = labels,
            .n_labels = n_labels,
            .duplicate_of = submission->job_id,
            .duplicate_of_trial = submission->trial_id,
            .fork = submission->fork,
            .trials = trials,
            .n_trials = plan->trial_count,
            .weights = starts,
            .n_weights = plan->start_count,
        };
        memcpy(job.hash, plan->hash, sizeof job.hash);
        api_scope(req, &scope);
        st = store_job_submit(ctx->store, &scope, &job, key, out_created, err);
    }
    free(submitted);
    free(resolved);
    free(warnings);
    free(labels);
    free(starts);
    free_texts(trials, plan->trial_count);
    return st;
}

struct submit_query {
    bool dry_run;
};
static const struct http_param SUBMIT_PARAMS[] = {
    {"dry_run", HTTP_PARAM_BOOL, offsetof(struct submit_query, dry_run), 0, 0, NULL}};

static enum sv_status resolve_spec(struct api_ctx *ctx, const struct http_request *req,
                                   const struct api_submission *submission, bool estimates,
                                   struct jobs_plan **out_plan, json_t **out_issues,
                                   struct sv_error *err)
{
    struct api_resolving resolving = {.api = ctx};
    struct jobs_context context;
    api_scope(req, &resolving.scope);
    api_resolving_context(&resolving, &context);
    context.history = estimates ? history : NULL;
    enum sv_status st = jobs_resolve(submission->spec, &context, out_plan, out_issues, err);
    return st == SV_OK && submission->fork
               ? jobs_plan_fork(*out_plan, submission->fork->blob.sha256, err)
               : st;
}

/* A request that makes many jobs has one key: each job gets one of its own from it. */
static void key_of_job(const char *key, const char *job_id, char out[NN_SHA256_HEX])
{
    struct nn_sha256 hash;
    uint8_t digest[NN_SHA256_SIZE];
    nn_sha256_init(&hash);
    nn_sha256_update(&hash, key, strlen(key) + 1);
    nn_sha256_update(&hash, job_id, strlen(job_id));
    nn_sha256_finish(&hash, digest);
    nn_sha256_hex(digest, out);
}

enum sv_status api_submit_quietly(struct api_ctx *ctx, const struct http_request *req,
                                  const struct api_submission *submission,
                                  struct store_created *out_created, struct sv_error *err)
{
    struct jobs_plan *plan = NULL;
    json_t *issues = NULL;
    struct store_idempotency key;
    char own[NN_SHA256_HEX];
    bool has_key = false;
    enum sv_status st = api_idempotency(req, &key, &has_key, err);
    if (st == SV_OK && has_key) {
        key_of_job(key.key, submission->job_id, own);
        key.key = own;
    }
    if (st == SV_OK) {
        st = resolve_spec(ctx, req, submission, false, &plan, &issues, err);
    }
    if (st == SV_OK) {
        st = store_plan(ctx, req, submission, plan, has_key ? &key : NULL, out_created, err);
    }
    json_decref(issues);
    jobs_plan_destroy(plan);
    return st;
}

enum sv_status api_submit(struct api_ctx *ctx, const struct http_request *req,
                          struct http_response *resp, const struct api_submission *submission,
                          struct sv_error *err)
{
    struct submit_query query = {0};
    struct jobs_plan *plan = NULL;
    json_t *issues = NULL;
    struct store_idempotency key;
    struct store_created created;
    bool has_key = false;
    enum sv_status st =
        http_query_decode(req, SUBMIT_PARAMS, API_COUNT(SUBMIT_PARAMS), &query, err);
    if (st == SV_OK) {
        st = api_idempotency(req, &key, &has_key, err);
    }
    if (st == SV_OK) {
        st = resolve_spec(ctx, req, submission, query.dry_run, &plan, &issues, err);
    }
    if (issues) {
        http_response_extra_take(resp, "issues", issues);
    }
    if (st == SV_OK && query.dry_run) {
        st = http_response_json_take(resp, 200, jobs_plan_encode(plan));
    } else if (st == SV_OK) {
        st = store_plan(ctx, req, submission, plan, has_key ? &key : NULL, &created, err);
        if (st == SV_OK) {
            st = api_show_created(ctx, req, resp, "/v1/jobs", &created, api_job_read, err);
        }
    }
    jobs_plan_destroy(plan);
    return st;
}

/* POST /v1/jobs: 201 with the job; 200 with the plan for dry_run=true; 409 data set not ready; 422
 * with the pointer of the mistake, and all issues of a network that cannot be built. */
enum sv_status api_jobs_post(void *state, const struct http_request *req,
                             struct http_response *out_resp, struct sv_error *err)
{
    const struct api_submission submission = {.spec = req->json};
    return api_submit(state, req, out_resp, &submission, err);
}
