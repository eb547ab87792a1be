/* SPDX-License-Identifier: MIT
 *
 * GET /v1/weights/{id}/network: the graph of an ONNX file as a description, from the report of its
 * import; no file is opened.
 */
#include <stdio.h>

#include "server/api/handlers_internal.h"
#include "server/api/weights_internal.h"

/* As a job takes it. 404; 409 not ready; 422 for files without a graph, or with one that is no
 * network of ours: the operators that lack are named. */
static enum sv_status find_network(const struct store_weights *weights, json_t **out,
                                   struct sv_error *err)
{
    json_auto_t *report = api_document(weights->report);
    const json_t *graph = json_object_get(report, "graph");
    json_t *network = json_object_get(report, "network");
    const char *refused = json_string_value(json_object_get(graph, "refused"));
    if (!network) {
        return sv_fail(err, SV_ERR_NOT_SUPPORTED, "%s",
                       refused ? refused : "only an ONNX file holds a graph");
    }
    *out = json_incref(network);
    return SV_OK;
}

enum sv_status api_weights_network(void *state, const struct http_request *req,
                                   struct http_response *out_resp, struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_weights weights = {0};
    json_t *network = NULL;
    char etag[80];
    api_scope(req, &scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = api_weights_find_ready(state, req, &scope, &memory, &weights, err);
    }
    st = st == SV_OK ? find_network(&weights, &network, err) : st;
    if (st == SV_OK) {
        (void)snprintf(etag, sizeof etag, "\"%s-network\"", weights.digest);
        st = http_response_json_take(out_resp, 200, network);
        http_response_etag(out_resp, etag);
    }
    store_memory_clear(&memory);
    return st;
}
