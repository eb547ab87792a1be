/* SPDX-License-Identifier: MIT
 *
 * What a trial leaves behind as bytes and lines: its network and its log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/assets_internal.h"
#include "server/api/handlers_internal.h"
#include "server/api/network_onnx_internal.h"
#include "server/api/trial_read_internal.h"
#include "server/store/results.h"

/* ------------------------------------------------------------------------------------------ log */

struct log_query {
    int64_t limit, wait;
    const char *cursor;
};
static const struct http_param LOG_PARAMS[] = {
    HTTP_PARAM_ROW_LIMIT(struct log_query, limit),
    HTTP_PARAM_ROW_CURSOR(struct log_query, cursor),
    HTTP_PARAM_ROW_WAIT(struct log_query, wait),
};

static json_t *encode_log(const struct store_log_list *list)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < list->n; i++) {
        const struct store_logged_line *line = &list->rows[i];
        rows =
            api_append_take(rows, json_pack("{s:I, s:I, s:s, s:s, s:s}", "n", (json_int_t)line->n,
                                            "fence", (json_int_t)line->fence, "level", line->level,
                                            "text", line->text, "created_at", line->created_at));
    }
    return rows;
}

/* GET /v1/trials/{id}/log: lines of all attempts, oldest first. 404. */
enum sv_status api_trials_log(void *state, const struct http_request *req,
                              struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct log_query query = {.limit = HTTP_LIMIT_DEFAULT};
    struct api_trial_read read;
    struct store_log_list list;
    json_t *json = NULL;
    bool done = false;
    struct api_params params = {LOG_PARAMS, API_COUNT(LOG_PARAMS), &query};
    enum sv_status st =
        api_trial_read_begin(ctx, req, out_resp, &params, &query.wait, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    struct api_page page;
    st = api_page_open(req, &params, query.limit, query.cursor, &page, err);
    if (st == SV_OK) {
        st =
            store_log_read(ctx->store, &read.scope, read.id, &page.store, &read.memory, &list, err);
    }
    if (st == SV_OK) {
        json = api_list_take(encode_log(&list), api_page_next(req, &page, list.next));
    }
    return api_trial_read_end_take(ctx, req, out_resp, &read, st, json, err);
}

/* -------------------------------------------------------------------------------------- network */

enum { SAFETENSORS, ONNX };
static const char *const FORMATS[] = {[SAFETENSORS] = "safetensors", [ONNX] = "onnx", NULL};
struct network_query {
    int format;
};
static const struct http_param NETWORK_PARAMS[] = {
    {"format", HTTP_PARAM_CHOICE, offsetof(struct network_query, format), 0, 0, FORMATS}};

/* GET /v1/trials/{id}/network: the weights as safetensors in PyTorch's order, whose ETag is the
 * content's digest, or the network as ONNX. 404 before there is one; 422 when ONNX has no operators
 * for a layer. */
enum sv_status api_trials_network(void *state, const struct http_request *req,
                                  struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct network_query query = {0};
    struct store_trial trial;
    struct store_artefact network;
    bool found = false;
    char name[80];
    struct api_trial_read read = {.id = http_path(req, "id")};
    enum sv_status st =
        http_query_decode(req, NETWORK_PARAMS, API_COUNT(NETWORK_PARAMS), &query, err);
    if (st != SV_OK) {
        return st;
    }
    api_scope(req, &read.scope);
    st = store_trial_get(ctx->store, &read.scope, read.id, &read.memory, &trial, err);
    if (st == SV_OK) {
        st = api_trial_artefact(ctx, &read, "network", &network, &found, err);
    }
    if (st == SV_OK && !found) {
        st = sv_fail(err, SV_ERR_NOT_FOUND, "the trial has no network yet");
    }
    if (st == SV_OK && query.format == ONNX) {
        st = api_network_onnx_send(ctx, req, out_resp, &read.scope, &trial, &network, err);
    } else if (st == SV_OK) {
        (void)snprintf(name, sizeof name, "%s.safetensors", read.id);
        st = api_blob_send(ctx, req, out_resp, &read.scope, &network.blob, name, err);
    }
    store_memory_clear(&read.memory);
    return st;
}
