/* SPDX-License-Identifier: MIT
 *
 * /healthz, /readyz, /metrics, /openapi.json: for those who run the service.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/base/embedded.h"
#include "server/store/housekeeping.h"

/* GET /healthz: the process answers. Touches nothing, so that a lost database does not look like a
 * dead process. */
enum sv_status api_healthz_get(void *state, const struct http_request *req,
                               struct http_response *out_resp, struct sv_error *err)
{
    const struct api_ctx *ctx = state;
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    return http_response_json_take(out_resp, 200,
                                   json_pack("{s:s, s:s}", "status", "ok", "build", ctx->build));
}

/* GET /readyz: can serve requests now. 503 database_unavailable, or draining. */
enum sv_status api_readyz_get(void *state, const struct http_request *req,
                              struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct http_server *server = ctx->server;
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    if (server && http_server_is_draining(server)) {
        return sv_fail(err, SV_ERR_DRAINING, "the server is stopping");
    }
    st = store_check(ctx->store, err);
    if (st == SV_ERR_WRONG_STATE) {
        return sv_fail(err, SV_ERR_DATABASE, "migrations are missing");
    }
    if (st != SV_OK) {
        return st;
    }
    return http_response_json_take(out_resp, 200,
                                   json_pack("{s:s, s:b}", "status", "ready", "listening",
                                             changes_is_listening(ctx->changes) ? 1 : 0));
}

/* --------------------------------------------------------------------------------- prometheus */

static void put(FILE *out, const char *name, const char *type, const char *text, double value)
{
    (void)fprintf(out, "# HELP assay_%s %s\n# TYPE assay_%s %s\nassay_%s %.17g\n", name, text, name,
                  type, name, value);
}

static void put_states(FILE *out, const struct store_counters *c)
{
    const struct {
        const char *state;
        int64_t value;
    } rows[] = {{"queued", c->trials_queued},   {"running", c->trials_running},
                {"paused", c->trials_paused},   {"completed", c->trials_completed},
                {"stopped", c->trials_stopped}, {"cancelled", c->trials_cancelled},
                {"failed", c->trials_failed}};
    (void)fputs("# HELP assay_trials Trials by state.\n# TYPE assay_trials gauge\n", out);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)fprintf(out, "assay_trials{state=\"%s\"} %lld\n", rows[i].state,
                      (long long)rows[i].value);
    }
}

static void put_store(FILE *out, const struct store_counters *c)
{
    put_states(out, c);
    put(out, "attempts", "gauge", "Claims of trials that are kept.", (double)c->attempts);
    put(out, "attempts_lost", "gauge", "Claims lost with their process or worker.",
        (double)c->attempts_lost);
    put(out, "jobs", "gauge", "Jobs.", (double)c->jobs);
    put(out, "datasets_ready", "gauge", "Data sets that are ready.", (double)c->datasets_ready);
    put(out, "datasets_waiting", "gauge", "Data sets that wait for a check.",
        (double)c->datasets_waiting);
    put(out, "weights_ready", "gauge", "Pretrained weights that are ready.",
        (double)c->weights_ready);
    put(out, "weights_waiting", "gauge", "Pretrained weights that wait for a check.",
        (double)c->weights_waiting);
    put(out, "imports_running", "gauge", "Checks of data sets and weights that run.",
        (double)c->imports_running);
    put(out, "workers", "gauge", "Workers heard of within the last minute.", (double)c->workers);
    put(out, "workers_in_trouble", "gauge", "Workers that cannot prepare attempts and claim none.",
        (double)c->workers_in_trouble);
    put(out, "blobs", "gauge", "Stored blobs.", (double)c->blobs);
    put(out, "blob_bytes", "gauge", "Bytes of stored blobs.", (double)c->blob_bytes);
    put(out, "events", "gauge", "Events in the outbox.", (double)c->events);
    put(out, "oldest_queued_seconds", "gauge", "Age of the oldest trial that may be claimed.",
        c->oldest_queued_s);
    put(out, "database_bytes", "gauge", "Size of the database.", c->database_bytes);
}

static void put_http(FILE *out, const struct http_stats *s)
{
    put(out, "http_requests_total", "counter", "Requests handled or refused.", (double)s->requests);
    (void)fputs("# HELP assay_http_answers_total Answers by class of status.\n"
                "# TYPE assay_http_answers_total counter\n",
                out);
    for (int k = 1; k < 6; k++) {
        (void)fprintf(out, "assay_http_answers_total{class=\"%dxx\"} %llu\n", k,
                      (unsigned long long)s->by_class[k]);
    }
    put(out, "http_refused_queue_total", "counter", "Requests refused because the queue was full.",
        (double)s->refused_queue);
    put(out, "http_connections", "gauge", "Open connections.", (double)s->connections);
    put(out, "http_queued", "gauge", "Requests that wait for a thread.", (double)s->queued);
    put(out, "http_running", "gauge", "Requests in a handler.", (double)s->running);
    put(out, "http_parked", "gauge", "Requests that wait for a change.", (double)s->parked);
}

static void put_pool(FILE *out, const struct store_pool_counters *p)
{
    put(out, "database_connections", "gauge", "Open database connections.", (double)p->open);
    put(out, "database_connections_busy", "gauge", "Database connections in use.", (double)p->busy);
    put(out, "database_connects_total", "counter", "Connections made.", (double)p->connects);
    put(out, "database_failures_total", "counter", "Connections lost or refused.",
        (double)p->failures);
    put(out, "database_retries_total", "counter", "Transactions run again.", (double)p->retries);
}

/* counters NULL: the database did not say. */
static enum sv_status answer_metrics(struct api_ctx *ctx, const struct store_counters *counters,
                                     struct http_response *out_resp, struct sv_error *err)
{
    struct store_pool_counters pool = {0};
    struct http_stats http = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return api_no_memory(err);
    }
    put(out, "database_answers", "gauge",
        "1 when the database has answered; else its figures are missing.", counters ? 1 : 0);
    if (counters) {
        put_store(out, counters);
    }
    store_pool_counters(ctx->store, &pool);
    put_pool(out, &pool);
    if (ctx->server) {
        http_server_stats(ctx->server, &http);
        put_http(out, &http);
    }
    if (fclose(out) != 0) {
        free(text);
        return api_no_memory(err);
    }
    return http_response_bytes_take(out_resp, 200, "text/plain; version=0.0.4; charset=utf-8", text,
                                    size);
}

/* GET /metrics: figures in the text format of Prometheus. Those of this process are there also
 * while the database is away, when they are needed most. */
enum sv_status api_metrics_get(void *state, const struct http_request *req,
                               struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct store_counters counters = {0};
    struct sv_error why = {0};
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    bool known = store_counters_read(ctx->store, &counters, &why) == SV_OK;
    return answer_metrics(ctx, known ? &counters : NULL, out_resp, err);
}

bool api_metrics_recall(void *ctx, const struct http_request *req, struct http_response *out_resp)
{
    struct api_ctx *api = ctx;
    struct sv_error err = {0};
    return store_is_silent(api->store) && http_query_decode(req, NULL, 0, NULL, &err) == SV_OK &&
           answer_metrics(api, NULL, out_resp, &err) == SV_OK;
}

/* GET /openapi.json: the contract. */
enum sv_status api_openapi_get(void *state, const struct http_request *req,
                               struct http_response *out_resp, struct sv_error *err)
{
    (void)state;
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    for (const struct sv_embedded_file *file = sv_embedded_table; file->name; file++) {
        if (strcmp(file->name, "openapi.json") == 0) {
            http_response_static(out_resp, 200, "application/json", file->data, file->size);
            return SV_OK;
        }
    }
    return sv_fail(err, SV_ERR_INTERNAL, "the description is missing");
}

/* On an I/O thread: what these two answer is in memory. */
bool api_openapi_recall(void *ctx, const struct http_request *req, struct http_response *out_resp)
{
    struct sv_error err = {0};
    return api_openapi_get(ctx, req, out_resp, &err) == SV_OK;
}

bool api_healthz_recall(void *ctx, const struct http_request *req, struct http_response *out_resp)
{
    struct sv_error err = {0};
    return api_healthz_get(ctx, req, out_resp, &err) == SV_OK;
}
