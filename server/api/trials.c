/* SPDX-License-Identifier: MIT
 *
 * /v1/trials/{id} and /v1/jobs/{id}/trials: show, list, edit, verbs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/jobs_internal.h"
#include "server/api/series_internal.h"
#include "server/store/results.h"

/* ------------------------------------------------------------------------------------- encoding */

static const struct {
    const char *class, *text;
} FAILURES[] = {
    {"invalid_input", "The data or the job cannot be trained with"},
    {"diverged", "Training diverged"},
    {"out_of_memory", "The memory limit was reached"},
    {"crashed", "The process crashed"},
    {"timeout", "A time limit was reached"},
    {"worker_lost", "The worker was lost"},
    {"internal", "A bug of the service"},
};

static void explain_failure(const struct store_trial *t, char *out, size_t size)
{
    if (!t->chosen) {
        (void)snprintf(out, size, "The point that the search chose cannot be tried: %s",
                       t->error_text);
        return;
    }
    const char *text = "Failed";
    for (size_t i = 0; i < API_COUNT(FAILURES); i++) {
        text = strcmp(FAILURES[i].class, t->error_class) == 0 ? FAILURES[i].text : text;
    }
    bool memory = strcmp(t->error_class, "out_of_memory") == 0;
    (void)snprintf(out, size, "%s, in attempt %lld of %lld: %s%s", text, (long long)t->attempt,
                   (long long)t->max_attempts, t->error_text,
                   memory
                       ? "; a smaller training.micro_batch_size or batch_size, smaller inputs or "
                         "a higher limits.memory_bytes would help"
                       : "");
}

/* One sentence for a person: what the trial does, or why it is where it is. */
static void explain(const struct store_trial *t, char *out, size_t size)
{
    if (t->error_class) {
        explain_failure(t, out, size);
    } else if (strcmp(t->state, "queued") == 0 && t->held) {
        (void)snprintf(out, size, "Waits: its job is paused.");
    } else if (strcmp(t->state, "queued") == 0 && !t->chosen) {
        (void)snprintf(out, size,
                       "Waits: the search chooses its point when those before have ended.");
    } else if (strcmp(t->state, "queued") == 0 && t->stop_requested) {
        (void)snprintf(out, size, "Waits for a worker to evaluate it as it was at step %lld.",
                       (long long)t->checkpoint_step);
    } else if (strcmp(t->state, "queued") == 0 && t->attempt > 0) {
        (void)snprintf(out, size, "Waits to go on from step %lld after attempt %lld of %lld.",
                       (long long)t->checkpoint_step, (long long)t->attempt,
                       (long long)t->max_attempts);
    } else if (strcmp(t->state, "queued") == 0 && t->checkpoint_step > 0) {
        (void)snprintf(out, size, "Waits to go on from step %lld to step %lld.",
                       (long long)t->checkpoint_step, (long long)t->total_steps);
    } else if (strcmp(t->state, "queued") == 0) {
        (void)snprintf(out, size, "Waits for a worker.");
    } else if (strcmp(t->state, "running") == 0) {
        (void)snprintf(out, size, "Is %s, at step %lld of %lld.",
                       t->phase[0] ? t->phase : "starting", (long long)t->step,
                       (long long)t->total_steps);
    } else if (strcmp(t->state, "paused") == 0) {
        (void)snprintf(out, size, "Paused at step %lld.", (long long)t->step);
    } else if (strcmp(t->state, "completed") == 0) {
        (void)snprintf(out, size, "Completed after %lld step%s.", (long long)t->step,
                       t->step == 1 ? "" : "s");
    } else if (strcmp(t->state, "stopped") == 0) {
        (void)snprintf(out, size, "Stopped by a person after %lld step%s; its result is kept.",
                       (long long)t->step, t->step == 1 ? "" : "s");
    } else {
        (void)snprintf(out, size, "Cancelled; nothing is kept.");
    }
}

static const char *wish(const struct store_trial *t)
{
    return t->cancel_requested  ? "cancel"
           : t->stop_requested  ? "stop"
           : t->pause_requested ? "pause"
                                : NULL;
}

static json_t *encode_error(const struct store_trial *t)
{
    return t->error_class ? json_pack("{s:s, s:s?}", "class", t->error_class, "text", t->error_text)
                          : json_null();
}

static json_t *encode_fork(const struct store_trial *t)
{
    return t->forked_from[0] ? json_pack("{s:s, s:I}", "trial", t->forked_from, "step",
                                         (json_int_t)t->forked_step)
                             : json_null();
}

json_t *api_trial_encode(const struct store_trial *t)
{
    char sentence[768];
    explain(t, sentence, sizeof sentence);
    json_t *headline = isnan(t->headline_value) ? json_null() : jx_number(t->headline_value);
    json_t *total = t->total_steps > 0 ? json_integer(t->total_steps) : json_null();
    return json_pack(
        "{s:s, s:I, s:{s:s, s:I}, s:s, s:I, s:o, s:I, s:s, s:o, s:s?, s:b, s:b, s:s, s:o, s:I, "
        "s:o, "
        "s:I, s:s, s:I, s:I, s:I, s:s, s:o, s:o, s:o, s:s, s:s?, s:o, s:s, s:s, s:s?, s:s?, s:s?}",
        "id", t->id, "number", (json_int_t)t->number, "job", "id", t->job_id, "number",
        (json_int_t)t->job_number, "dataset", t->dataset_id, "index", (json_int_t)t->index,
        "parameters", api_document(t->parameters), "seed", (json_int_t)t->seed, "state", t->state,
        "explanation", jx_text(sentence, SIZE_MAX), "requested", wish(t), "held", t->held ? 1 : 0,
        "discarded", t->discarded ? 1 : 0, "notes", t->notes, "labels",
        api_labels_encode(t->labels, t->n_labels), "step", (json_int_t)t->step, "total_steps",
        total, "epoch", (json_int_t)t->epoch, "phase", t->phase, "checkpoint_step",
        (json_int_t)t->checkpoint_step, "attempt", (json_int_t)t->attempt, "max_attempts",
        (json_int_t)t->max_attempts, "headline_metric", t->headline_metric, "headline_value",
        headline, "error", encode_error(t), "seconds", jx_number(t->seconds), "hash", t->hash,
        "duplicated_from", api_given(t->duplicate_of), "forked_from", encode_fork(t), "created_at",
        t->created_at, "queued_at", t->queued_at, "started_at", api_given(t->started_at),
        "finished_at", api_given(t->finished_at), "progress_at", api_given(t->progress_at));
}

json_t *api_warnings_encode(const struct store_failed_metric_list *failed, const char *trial_id)
{
    json_t *out = json_array();
    for (size_t i = 0; i < failed->n; i++) {
        const struct store_failed_metric *row = &failed->rows[i];
        if (strcmp(row->trial_id, trial_id) == 0) {
            out =
                api_append_take(out, json_pack("{s:s, s:s, s:o}", "part", row->part, "metric",
                                               row->metric, "text", jx_text(row->text, SIZE_MAX)));
        }
    }
    return out;
}

static json_t *encode_attempts(const struct store_attempt_list *list)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < list->n; i++) {
        const struct store_attempt *a = &list->rows[i];
        json_t *resumed = a->resumed_step < 0 ? json_null() : json_integer(a->resumed_step);
        json_t *row = json_pack(
            "{s:I, s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:s?, s:o, s:b, s:s?, s:s?, "
            "s:s?}",
            "fence", (json_int_t)a->fence, "n", (json_int_t)a->n, "worker", a->worker_id, "host",
            a->host, "core_build", a->core_build, "core_type", a->core_type, "instruction_set",
            a->instruction_set, "libraries", a->libraries, "cpu", a->cpu, "threads",
            (json_int_t)a->threads, "claimed_at", a->claimed_at, "ended_at", api_given(a->ended_at),
            "resumed_step", resumed, "bits_may_differ", a->bits_may_differ ? 1 : 0, "outcome",
            a->outcome, "error_class", a->error_class, "error_text", a->error_text);
        rows = api_append_take(rows, row);
    }
    return rows;
}

/* -------------------------------------------------------------------------------------- one */

/* Resolved spec, attempts and summaries: what only a trial's own page shows. */
static enum sv_status add_rest(struct api_ctx *ctx, const struct store_scope *scope,
                               const struct store_trial *trial, struct store_memory *memory,
                               json_t *out, struct sv_error *err)
{
    struct store_attempt_list attempts;
    struct store_summary_list summaries;
    struct store_failed_metric_list failed = {0};
    json_t *resolved = api_document(trial->resolved);
    const json_t *custom = jx_path_get(resolved, "evaluation.custom_metrics");
    bool has_custom = json_array_size(custom) > 0;
    const char *kind = json_string_value(json_object_get(resolved, "kind"));
    (void)json_object_set_new(out, "target", jobs_target_of(kind ? kind : "", resolved));
    (void)json_object_set_new(out, "resolved", resolved);
    enum sv_status st = store_attempts_list(ctx->store, scope, trial->id, memory, &attempts, err);
    if (st == SV_OK) {
        st = store_summaries_list(ctx->store, scope, trial->id, memory, &summaries, err);
    }
    if (st == SV_OK && has_custom) {
        st = store_failed_metrics_list(ctx->store, scope, trial->job_id, trial->id, memory, &failed,
                                       err);
    }
    if (st != SV_OK) {
        return st;
    }
    bool ok = json_object_get(out, "resolved") && json_object_get(out, "target") &&
              json_object_set_new(out, "attempts", encode_attempts(&attempts)) == 0 &&
              json_object_set_new(out, "summaries", api_summaries_encode(&summaries)) == 0 &&
              json_object_set_new(out, "warnings", api_warnings_encode(&failed, trial->id)) == 0;
    return ok ? SV_OK : api_no_memory(err);
}

static enum sv_status read_trial(struct api_ctx *ctx, const struct http_request *req,
                                 const char *id, struct api_seen *out_seen, struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_trial trial;
    json_t *json = NULL;
    api_scope(req, &scope);
    enum sv_status st = store_trial_get(ctx->store, &scope, id, &memory, &trial, err);
    if (st == SV_OK) {
        json = api_trial_encode(&trial);
        st = json ? add_rest(ctx, &scope, &trial, &memory, json, err) : api_no_memory(err);
    }
    if (st == SV_OK) {
        st = api_seen(trial.job_id, trial.job_revision, json_incref(json), out_seen, err);
    }
    json_decref(json);
    store_memory_clear(&memory);
    return st;
}

/* GET /v1/trials/{id}: with resolved spec, attempts and metric summaries. 404. */
enum sv_status api_trials_get(void *state, const struct http_request *req,
                              struct http_response *out_resp, struct sv_error *err)
{
    return api_show(state, req, out_resp, read_trial, err);
}

struct patch_body {
    const char *notes;
    const json_t *labels;
    bool discarded, discarded_given;
};
static const struct jx_field LABEL_ITEM = {
    .name = "label", .type = JX_STRING, .min = 1, .max = JOBS_LABEL_MAX};
const struct jx_field api_trial_patch_fields[] = {
    {.name = "notes",
     .type = JX_STRING,
     .offset = offsetof(struct patch_body, notes),
     .max = JOBS_NOTES_MAX,
     .doc = "remarks"},
    {.name = "labels",
     .type = JX_ARRAY,
     .offset = offsetof(struct patch_body, labels),
     .items = &LABEL_ITEM,
     .max_items = JOBS_LABELS_MAX,
     .doc = "words to filter by"},
    {.name = "discarded",
     .type = JX_BOOL,
     .offset = offsetof(struct patch_body, discarded),
     .given = JX_GIVEN(struct patch_body, discarded_given),
     .doc = "left out of results and of the best trial"},
    JX_END,
};

static enum sv_status decode_patch(const struct http_request *req, struct patch_body *body,
                                   struct sv_error *err)
{
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = api_decode_patch(api_trial_patch_fields, req->json, body, err);
    }
    return st == SV_OK && body->labels ? jobs_labels_check(body->labels, err) : st;
}

/* PATCH /v1/trials/{id}: notes, labels, discarded. 404; 422. */
enum sv_status api_trials_patch(void *state, const struct http_request *req,
                                struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct patch_body body = {0};
    struct store_scope scope;
    const char **labels = NULL;
    const char *id = http_path(req, "id");
    api_scope(req, &scope);
    enum sv_status st = decode_patch(req, &body, err);
    if (st == SV_OK) {
        struct store_trial_patch patch = {.notes = body.notes,
                                          .discarded = !body.discarded_given ? -1
                                                       : body.discarded      ? 1
                                                                             : 0};
        if (body.labels) {
            labels = api_labels(body.labels, &patch.n_labels);
            st = labels ? SV_OK : api_no_memory(err);
        }
        patch.labels = labels;
        st = st == SV_OK ? store_trial_patch(ctx->store, &scope, id, &patch, err) : st;
    }
    free(labels);
    return st == SV_OK
               ? api_show_changed_take(ctx, req, out_resp, 200, id, read_trial, NULL, NULL, err)
               : st;
}

/* A trial that waits has nothing to be paused; that it goes on waiting is asked of its job. */
static enum sv_status refuse_pause(struct api_ctx *ctx, const struct store_scope *scope,
                                   const char *id, struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_trial trial;
    struct sv_error ignored = {0};
    enum sv_status st = SV_ERR_WRONG_STATE;
    if (store_trial_get(ctx->store, scope, id, &memory, &trial, &ignored) == SV_OK &&
        strcmp(trial.state, "queued") == 0) {
        st = sv_fail(err, st,
                     "the trial is queued: only a running one can be paused; "
                     "POST /v1/jobs/%s/pause keeps all waiting trials of its job from starting",
                     trial.job_id);
    }
    store_memory_clear(&memory);
    return st;
}

enum sv_status api_trial_answer(struct api_ctx *ctx, const struct http_request *req,
                                struct http_response *resp, const char *id, const char *effect,
                                struct sv_error *err)
{
    json_t *name = json_string(effect);
    return name ? api_show_changed_take(ctx, req, resp, 200, id, read_trial, "effect", name, err)
                : api_no_memory(err);
}

static enum sv_status run(void *state, const struct http_request *req, struct http_response *resp,
                          enum jobs_event event, struct sv_error *err)
{
    static const char *const effects[] = {[STORE_REFUSED] = "refused",
                                          [STORE_UNCHANGED] = "unchanged",
                                          [STORE_REQUESTED] = "requested",
                                          [STORE_CHANGED] = "changed"};
    static const struct jx_field no_fields[] = {JX_END};
    struct api_ctx *ctx = state;
    struct jobs_verb verb;
    struct store_scope scope;
    enum store_effect effect = STORE_REFUSED;
    char nothing;
    api_scope(req, &scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK && req->json) {
        st = api_decode(no_fields, req->json, &nothing, err);
    }
    if (st == SV_OK) {
        jobs_verb_make(event, JOBS_ALL_STATES, &verb);
        st = store_trial_apply(ctx->store, &scope, http_path(req, "id"), &verb.store, &effect, err);
    }
    if (st == SV_ERR_WRONG_STATE && event == JOBS_EVENT_PAUSE) {
        st = refuse_pause(ctx, &scope, http_path(req, "id"), err);
    }
    if (st != SV_OK) {
        return st;
    }
    return api_trial_answer(ctx, req, resp, http_path(req, "id"), effects[effect], err);
}

/* POST /v1/trials/{id}/<verb>: 200 with the trial and what happened; 404; 409. */
#define TRIAL_VERB(verb, event)                                                                    \
    enum sv_status api_trials_##verb(void *state, const struct http_request *req,                  \
                                     struct http_response *out_resp, struct sv_error *err)         \
    {                                                                                              \
        return run(state, req, out_resp, event, err);                                              \
    }
TRIAL_VERB(pause, JOBS_EVENT_PAUSE)
TRIAL_VERB(resume, JOBS_EVENT_RESUME)
TRIAL_VERB(stop, JOBS_EVENT_STOP)
TRIAL_VERB(cancel, JOBS_EVENT_CANCEL)
TRIAL_VERB(restart, JOBS_EVENT_RESTART)

/* ---------------------------------------------------------------------------------------- list */

static const char *const STATES[] = {"queued",  "running",   "paused", "completed",
                                     "stopped", "cancelled", "failed", NULL};
static const char *const CLASSES[] = {"invalid_input", "diverged",    "out_of_memory", "crashed",
                                      "timeout",       "worker_lost", "internal",      NULL};
static const char *const DISCARDED[] = {"false", "true", "any", NULL};
static const int DISCARDED_OF[] = {0, 1, -1};
static const char *const SORTS[] = {"index", "-created_at", "best",        "worst",
                                    "state", "started_at",  "finished_at", NULL};
static const enum store_trial_sort SORT_OF[] = {
    STORE_TRIALS_BY_INDEX, STORE_TRIALS_NEWEST,  STORE_TRIALS_BEST,    STORE_TRIALS_WORST,
    STORE_TRIALS_BY_STATE, STORE_TRIALS_STARTED, STORE_TRIALS_FINISHED};
static const char *const FIELDS[] = {API_TRIAL_FIELDS, NULL};

struct list_query {
    struct api_list_query list;
    const char *label;
    int state, error_class, discarded, sort;
};

#define QUERY(member) offsetof(struct list_query, member)
static const struct http_param LIST_PARAMS[] = {
    API_LIST_ROWS(FIELDS),
    API_LIST_ROW_WAIT,
    {"state", HTTP_PARAM_CHOICE, QUERY(state), 0, 0, STATES},
    {"label", HTTP_PARAM_TEXT, QUERY(label), 1, JOBS_LABEL_MAX, NULL},
    {"error_class", HTTP_PARAM_CHOICE, QUERY(error_class), 0, 0, CLASSES},
    {"discarded", HTTP_PARAM_CHOICE, QUERY(discarded), 0, 0, DISCARDED},
    {"sort", HTTP_PARAM_CHOICE, QUERY(sort), 0, 0, SORTS},
};

static enum sv_status read_list(struct api_ctx *ctx, const struct http_request *req,
                                const void *query, const struct store_page *page,
                                struct store_memory *memory, struct api_rows *out_rows,
                                struct sv_error *err)
{
    const struct list_query *q = query;
    struct store_scope scope;
    struct store_trial_list list;
    struct store_trial_filter filter = {.job_id = http_path(req, "id"),
                                        .state = api_choice(STATES, q->state),
                                        .error_class = api_choice(CLASSES, q->error_class),
                                        .label = q->label,
                                        .discarded = DISCARDED_OF[q->discarded],
                                        .sort = SORT_OF[q->sort]};
    api_scope(req, &scope);
    enum sv_status st = store_trials_list(ctx->store, &scope, &filter, page, memory, &list, err);
    if (st == SV_OK) {
        *out_rows = (struct api_rows){list.rows, list.n, list.next};
    }
    return st;
}

static json_t *encode_row(const void *row, bool in_list)
{
    (void)in_list;
    return api_trial_encode(row);
}

/* GET /v1/jobs/{id}/trials. 404; 400 for a wrong parameter. */
enum sv_status api_jobs_trials(void *state, const struct http_request *req,
                               struct http_response *out_resp, struct sv_error *err)
{
    static const struct api_list_kind KIND = {.params = LIST_PARAMS,
                                              .n_params = API_COUNT(LIST_PARAMS),
                                              .read = read_list,
                                              .row_size = sizeof(struct store_trial),
                                              .encode = encode_row};
    struct list_query query = {
        .list = API_LIST_DEFAULTS, .state = -1, .error_class = -1, .discarded = 2};
    return api_list_below(state, req, out_resp, &KIND, &query.list, err);
}
