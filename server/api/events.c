/* SPDX-License-Identifier: MIT
 *
 * /v1/events: what changed, as it changes (text/event-stream). Event ids rise in order of commit,
 * so a client that comes back with Last-Event-ID misses nothing; where the outbox has been trimmed
 * since, an event "gap" says that the state must be read anew.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/store/events.h"

enum { BATCH = 100 };

struct stream {
    struct store_scope scope;
    char job_id[SV_ID_SIZE]; /* "": all of the project */
    int64_t after;
};

static json_t *encode(const struct store_event *e)
{
    return json_pack("{s:I, s:s, s:s?, s:s?, s:s?, s:s?, s:I, s:o, s:s, s:s}", "id",
                     (json_int_t)e->id, "kind", e->kind, "job", api_given(e->job_id), "trial",
                     api_given(e->trial_id), "dataset", api_given(e->dataset_id), "weights",
                     api_given(e->weights_id), "revision", (json_int_t)e->revision, "detail",
                     api_document(e->detail), "actor", e->actor, "created_at", e->created_at);
}

static enum sv_status send_one(const struct store_event *event, struct http_events *out,
                               struct sv_error *err)
{
    char id[32];
    json_t *json = encode(event);
    char *text = json ? jx_dump(json, NULL) : NULL;
    json_decref(json);
    if (!text) {
        return api_no_memory(err);
    }
    (void)snprintf(id, sizeof id, "%" PRId64, event->id);
    enum sv_status st = http_events_send(out, id, event->kind, text);
    free(text);
    return st;
}

static enum sv_status fill(void *stream_ctx, void *state, struct http_ticket ticket,
                           struct http_events *out, struct sv_error *err)
{
    struct stream *stream = stream_ctx;
    struct api_ctx *ctx = state;
    struct store_memory memory = {0};
    struct store_event_list list;
    changes_watch(ctx->changes, ticket); /* before the read: what comes after it wakes */
    enum sv_status st = store_events_read(ctx->store, &stream->scope, api_given(stream->job_id),
                                          stream->after, BATCH, &memory, &list, err);
    if (st == SV_OK && list.gap) {
        st = http_events_send(out, NULL, "gap", "{}");
    }
    for (size_t i = 0; st == SV_OK && i < list.n; i++) {
        st = send_one(&list.rows[i], out, err);
        stream->after = st == SV_OK ? list.rows[i].id : stream->after;
    }
    store_memory_clear(&memory);
    return st;
}

struct events_query {
    const char *job;
    int64_t after;
};
static const struct http_param PARAMS[] = {
    {"job", HTTP_PARAM_ID, offsetof(struct events_query, job), 0, 0, NULL},
    {"after", HTTP_PARAM_INT, offsetof(struct events_query, after), 0, INT64_MAX, NULL},
};

/* Where to begin: Last-Event-ID, else after=, else with what comes next. */
static enum sv_status first_event(struct api_ctx *ctx, const struct http_request *req,
                                  const struct store_scope *scope, int64_t asked,
                                  int64_t *out_after, struct sv_error *err)
{
    const char *last = http_header(req, "Last-Event-ID");
    if (last) {
        size_t n = strlen(last);
        if (n == 0 || n > 18 || strspn(last, "0123456789") != n) {
            return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "Last-Event-ID",
                                     "must be the id of an event");
        }
        *out_after = strtoll(last, NULL, 10);
        return SV_OK;
    }
    if (asked >= 0) {
        *out_after = asked;
        return SV_OK;
    }
    return store_events_latest(ctx->store, scope, out_after, err);
}

/* GET /v1/events?job=ID: the stream. 404 unknown job; 429 too many streams. */
enum sv_status api_events_get(void *state, const struct http_request *req,
                              struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct events_query query = {.after = -1};
    int64_t revision;
    enum sv_status st = http_query_decode(req, PARAMS, API_COUNT(PARAMS), &query, err);
    if (st != SV_OK) {
        return st;
    }
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        return api_no_memory(err);
    }
    api_scope(req, &stream->scope);
    if (query.job) {
        memcpy(stream->job_id, query.job, sizeof stream->job_id);
        st = store_revision_get(ctx->store, &stream->scope, STORE_SUBJECT_JOB, query.job, &revision,
                                err);
    }
    if (st == SV_OK) {
        st = first_event(ctx, req, &stream->scope, query.after, &stream->after, err);
    }
    if (st != SV_OK) {
        free(stream);
        return st;
    }
    return http_response_events_take(req, out_resp, fill, free, stream, err);
}
