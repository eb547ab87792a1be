/* SPDX-License-Identifier: MIT
 *
 * What a request thread does with an exchange it took from the queue. Every path ends by parking,
 * by queueing it again, or by resuming its connection; after that the exchange is not ours.
 */
#include <string.h>

#include "server/http/server_internal.h"

enum sv_status http_authenticate(struct http_exchange *ex, void *state, struct sv_error *err)
{
    const struct http_settings *settings = &ex->server->settings;
    struct http_request *req = &ex->request;
    enum sv_status status = SV_OK;
    struct http_actor actor = {.role = HTTP_ROLE_ADMIN};
    memcpy(actor.project_id, settings->default_project, sizeof actor.project_id);
    if (ex->route->role == HTTP_ROLE_PUBLIC) {
        actor.role = HTTP_ROLE_PUBLIC;
    } else if (settings->authenticate) {
        status = settings->authenticate(state, req, &actor, err);
    } else if (!req->peer_is_loopback) {
        status = sv_fail(err, SV_ERR_UNAUTHENTICATED,
                         "without tokens only this machine itself is served");
    }
    if (status == SV_OK && actor.role < ex->route->role) {
        status = sv_fail(err, SV_ERR_FORBIDDEN, "%s", "");
    }
    if (status == SV_OK) {
        req->actor = actor;
        ex->admitted = true;
    }
    return status;
}

enum sv_status http_still_allowed(struct http_exchange *ex, void *state, struct sv_error *err)
{
    struct sv_error why = {0};
    enum sv_status status = http_authenticate(ex, state, &why);
    if (status != SV_ERR_UNAUTHENTICATED && status != SV_ERR_FORBIDDEN) {
        return SV_OK;
    }
    *err = why;
    return status;
}

static void log_error(const struct http_exchange *ex, enum sv_status status,
                      const struct sv_error *err)
{
    log_event(ex->server->settings.log, SV_LOG_ERROR, "http_request_failed",
              LOG_TEXT("request", ex->request_id), LOG_TEXT("method", ex->route->method),
              LOG_TEXT("route", ex->route->pattern), LOG_TEXT("code", sv_status_slug(status)),
              LOG_TEXT("detail", err->text));
}

/* Drops what the handler has built but for what belongs to an error. */
static void answer_error(struct http_exchange *ex, enum sv_status status,
                         const struct sv_error *err)
{
    struct http_response *resp = &ex->response;
    json_t *extra = json_incref(resp->extra);
    unsigned retry_after = resp->retry_after;
    if (sv_status_http(status) >= 500) {
        log_error(ex, status, err);
    }
    http_response_reset(resp);
    resp->extra = extra;
    resp->retry_after = retry_after;
    http_answer_problem(ex, status, err);
}

static enum sv_status explain_number(struct http_exchange *ex, void *state, struct sv_error *err)
{
    const struct http_settings *settings = &ex->server->settings;
    return !ex->number
               ? SV_OK
               : settings->explain_number(state, &ex->request, ex->route->pattern, ex->number, err);
}

static void run_admit(struct http_exchange *ex, void *state)
{
    struct sv_error err = {0};
    enum sv_status status = http_authenticate(ex, state, &err);
    status = status ? status : explain_number(ex, state, &err);
    if (status == SV_OK && ex->route->before_body) {
        status = ex->route->before_body(state, &ex->request, &ex->response, &err);
    }
    if (status != SV_OK) {
        answer_error(ex, status, &err);
    } else {
        http_response_reset(&ex->response);
    }
    http_exchange_resume(ex);
}

static void tell_written(const struct http_exchange *ex, void *state)
{
    if (ex->server->settings.written && strcmp(ex->route->method, "GET") != 0) {
        ex->server->settings.written(state);
    }
}

/* Once a request, and once more when it has waited or its long body has come: a right may be gone
 * by then. */
static enum sv_status admit(struct http_exchange *ex, void *state, struct sv_error *err)
{
    return ex->admitted ? http_still_allowed(ex, state, err) : http_authenticate(ex, state, err);
}

static void run_handler(struct http_exchange *ex, void *state)
{
    struct sv_error err = {0};
    enum sv_status status = admit(ex, state, &err);
    status = status ? status : explain_number(ex, state, &err);
    status = status ? status : http_body_finish(ex, &err);
    if (status == SV_OK) {
        http_response_reset(&ex->response);
        status = ex->route->handler(state, &ex->request, &ex->response, &err);
        tell_written(ex, state);
    }
    if (status == SV_OK && ex->response.kind == HTTP_KIND_PARK) {
        if (http_park_commit(ex, ex->wait_until_ms)) {
            return;
        }
        status = SV_ERR_DRAINING;
    }
    if (ex->response.kind != HTTP_KIND_STREAM || status != SV_OK) {
        http_park_release(ex);
    }
    if (status == SV_OK) {
        http_answer_make(ex);
    } else {
        answer_error(ex, status, &err);
    }
    http_exchange_resume(ex);
}

void http_exchange_run(struct http_exchange *ex, void *state)
{
    switch (ex->task) {
    case HTTP_TASK_ADMIT:
        run_admit(ex, state);
        break;
    case HTTP_TASK_WRITE:
        http_body_write(ex);
        http_exchange_resume(ex);
        break;
    case HTTP_TASK_HANDLE:
        run_handler(ex, state);
        break;
    case HTTP_TASK_FILL:
        http_stream_fill(ex, state);
        break;
    }
}

void http_exchange_abandon(struct http_exchange *ex)
{
    ex->close = true;
    switch (ex->task) {
    case HTTP_TASK_ADMIT:
    case HTTP_TASK_HANDLE:
        http_response_reset(&ex->response);
        http_answer_problem(ex, SV_ERR_DRAINING, NULL);
        break;
    case HTTP_TASK_WRITE:
        ex->error = SV_ERR_DRAINING;
        ex->body.used = 0;
        break;
    case HTTP_TASK_FILL:
        ex->response.stream->failed = true;
        break;
    }
    http_exchange_resume(ex);
}
