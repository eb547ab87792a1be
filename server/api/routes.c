/* SPDX-License-Identifier: MIT
 *
 * The route table. api-spec/openapi.yaml describes the same paths; a lint compares the two.
 */
#include "server/api/csv_internal.h"
#include "server/api/handlers_internal.h"

#define READ(pattern_, handler_)                                                                   \
    {                                                                                              \
        .method = "GET", .pattern = (pattern_), .handler = (handler_), .role = HTTP_ROLE_VIEWER    \
    }
/* Polled: a list, and what stands below one job or data set. */
#define LIST(pattern_, handler_)                                                                   \
    {                                                                                              \
        .method = "GET", .pattern = (pattern_), .handler = (handler_), .role = HTTP_ROLE_VIEWER,   \
        .recall = api_list_recall                                                                  \
    }
#define POLL(pattern_, handler_)                                                                   \
    {                                                                                              \
        .method = "GET", .pattern = (pattern_), .handler = (handler_), .role = HTTP_ROLE_VIEWER,   \
        .recall = api_poll_recall                                                                  \
    }
#define POLL_AS(pattern_, handler_, types_)                                                        \
    {                                                                                              \
        .method = "GET", .pattern = (pattern_), .handler = (handler_), .role = HTTP_ROLE_VIEWER,   \
        .produces = (types_), .recall = api_poll_recall                                            \
    }
#define READ_AS(pattern_, handler_, types_)                                                        \
    {                                                                                              \
        .method = "GET", .pattern = (pattern_), .handler = (handler_), .role = HTTP_ROLE_VIEWER,   \
        .produces = (types_)                                                                       \
    }
#define OPEN(pattern_, handler_, recall_)                                                          \
    {                                                                                              \
        .method = "GET", .pattern = (pattern_), .handler = (handler_), .role = HTTP_ROLE_PUBLIC,   \
        .recall = (recall_)                                                                        \
    }
#define WRITE(method_, pattern_, handler_, body_)                                                  \
    {                                                                                              \
        .method = (method_), .pattern = (pattern_), .handler = (handler_),                         \
        .role = HTTP_ROLE_SUBMITTER, .body = (body_)                                               \
    }
#define UPLOAD(pattern_, handler_, before_)                                                        \
    {                                                                                              \
        .method = "PUT", .pattern = (pattern_), .handler = (handler_),                             \
        .role = HTTP_ROLE_SUBMITTER, .body = HTTP_BODY_SPOOL,                                      \
        .content_type = "application/octet-stream", .before_body = (before_)                       \
    }
/* A question to a trial's network, about a picture or what JSON says. */
#define ASK(pattern_, handler_)                                                                    \
    {                                                                                              \
        .method = "POST", .pattern = (pattern_), .handler = (handler_),                            \
        .role = HTTP_ROLE_SUBMITTER, .body = HTTP_BODY_SPOOL, .max_bytes = (uint64_t)32 << 20,     \
        .content_type = "image/png, image/jpeg, image/webp, application/json",                     \
        .before_body = api_trials_before_question                                                  \
    }
#define VERB(pattern_, handler_) WRITE("POST", pattern_, handler_, HTTP_BODY_JSON_OPTIONAL)

#define JSON_OR_CSV "application/json, text/csv"
#define JSON_OR_PNG "application/json, image/png"

static const struct http_route ROUTES[] = {
    OPEN("/healthz", api_healthz_get, api_healthz_recall),
    OPEN("/readyz", api_readyz_get, NULL),
    OPEN("/openapi.json", api_openapi_get, api_openapi_recall),
    {.method = "GET",
     .pattern = "/metrics",
     .handler = api_metrics_get,
     .role = HTTP_ROLE_VIEWER,
     .produces = "text/plain",
     .recall = api_metrics_recall},
    READ_AS("/v1/events", api_events_get, "text/event-stream"),

    READ("/v1/layers", api_layers_list),
    READ("/v1/networks", api_networks_list),
    /* Reads only, but with a body. */
    {.method = "POST",
     .pattern = "/v1/networks/analyze",
     .handler = api_networks_analyze,
     .role = HTTP_ROLE_VIEWER,
     .body = HTTP_BODY_JSON,
     .produces = "application/json, " API_GRAPHVIZ ", text/plain"},
    READ("/v1/networks/{name}", api_networks_get),

    LIST("/v1/datasets", api_datasets_list),
    WRITE("POST", "/v1/datasets", api_datasets_post, HTTP_BODY_JSON),
    POLL("/v1/datasets/{id}", api_datasets_get),
    WRITE("PATCH", "/v1/datasets/{id}", api_datasets_patch, HTTP_BODY_JSON),
    WRITE("DELETE", "/v1/datasets/{id}", api_datasets_delete, HTTP_BODY_NONE),
    UPLOAD("/v1/datasets/{id}/files/{name}", api_datasets_put_file, api_datasets_before_file),
    POLL("/v1/datasets/{id}/items", api_items_list),
    POLL_AS("/v1/datasets/{id}/items/{n}/image", api_items_image, "image/png"),

    LIST("/v1/weights", api_weights_list),
    WRITE("POST", "/v1/weights", api_weights_post, HTTP_BODY_JSON),
    POLL("/v1/weights/{id}", api_weights_get),
    WRITE("PATCH", "/v1/weights/{id}", api_weights_patch, HTTP_BODY_JSON),
    WRITE("DELETE", "/v1/weights/{id}", api_weights_delete, HTTP_BODY_NONE),
    UPLOAD("/v1/weights/{id}/files/{name}", api_weights_put_file, api_weights_before_file),
    POLL("/v1/weights/{id}/tensors", api_weights_tensors),
    READ_AS("/v1/weights/{id}/content", api_weights_content, "application/octet-stream"),
    READ("/v1/weights/{id}/network", api_weights_network),
    /* Reads only, but with a body. */
    {.method = "POST",
     .pattern = "/v1/weights/{id}/match",
     .handler = api_weights_match,
     .role = HTTP_ROLE_VIEWER,
     .body = HTTP_BODY_JSON},

    READ("/v1/experiments", api_experiments_list),
    WRITE("POST", "/v1/experiments", api_experiments_post, HTTP_BODY_JSON),
    READ("/v1/experiments/{id}", api_experiments_get),
    WRITE("PATCH", "/v1/experiments/{id}", api_experiments_patch, HTTP_BODY_JSON),

    LIST("/v1/jobs", api_jobs_list),
    WRITE("POST", "/v1/jobs", api_jobs_post, HTTP_BODY_JSON),
    WRITE("POST", "/v1/jobs/bulk", api_jobs_bulk, HTTP_BODY_JSON),
    POLL("/v1/jobs/{id}", api_jobs_get),
    WRITE("PATCH", "/v1/jobs/{id}", api_jobs_patch, HTTP_BODY_JSON),
    VERB("/v1/jobs/{id}/pause", api_jobs_pause),
    VERB("/v1/jobs/{id}/resume", api_jobs_resume),
    VERB("/v1/jobs/{id}/stop", api_jobs_stop),
    VERB("/v1/jobs/{id}/cancel", api_jobs_cancel),
    VERB("/v1/jobs/{id}/restart", api_jobs_restart),
    VERB("/v1/jobs/{id}/archive", api_jobs_archive),
    VERB("/v1/jobs/{id}/unarchive", api_jobs_unarchive),
    VERB("/v1/jobs/{id}/extend", api_jobs_extend),
    VERB("/v1/jobs/{id}/duplicate", api_jobs_duplicate),
    POLL("/v1/jobs/{id}/trials", api_jobs_trials),
    READ_AS("/v1/jobs/{id}/results", api_jobs_results, JSON_OR_CSV),
    READ_AS("/v1/jobs/{id}/results.csv", api_jobs_results_csv, "text/csv"),

    POLL("/v1/trials/{id}", api_trials_get),
    WRITE("PATCH", "/v1/trials/{id}", api_trials_patch, HTTP_BODY_JSON),
    VERB("/v1/trials/{id}/pause", api_trials_pause),
    VERB("/v1/trials/{id}/resume", api_trials_resume),
    VERB("/v1/trials/{id}/stop", api_trials_stop),
    VERB("/v1/trials/{id}/cancel", api_trials_cancel),
    VERB("/v1/trials/{id}/restart", api_trials_restart),
    VERB("/v1/trials/{id}/extend", api_trials_extend),
    VERB("/v1/trials/{id}/duplicate", api_trials_duplicate),
    VERB("/v1/trials/{id}/fork", api_trials_fork),
    POLL("/v1/trials/{id}/metrics", api_trials_metrics),
    POLL("/v1/trials/{id}/evaluations", api_trials_evaluations),
    READ_AS("/v1/trials/{id}/confusion-matrix", api_trials_confusion, JSON_OR_CSV),
    READ_AS("/v1/trials/{id}/confusion-matrix.csv", api_trials_confusion_csv, "text/csv"),
    POLL("/v1/trials/{id}/predictions", api_trials_predictions),
    READ_AS("/v1/trials/{id}/predictions.csv", api_trials_predictions_csv, "text/csv"),
    POLL("/v1/trials/{id}/regression", api_trials_regression),
    POLL("/v1/trials/{id}/log", api_trials_log),
    POLL("/v1/trials/{id}/profile", api_trials_profile),
    POLL("/v1/trials/{id}/explanations", api_trials_explanations),
    READ_AS("/v1/trials/{id}/explanations/{n}", api_trials_explanation, JSON_OR_PNG),
    READ_AS("/v1/trials/{id}/activations", api_trials_activations, JSON_OR_PNG),
    ASK("/v1/trials/{id}/explanations", api_trials_explain),
    POLL("/v1/explanations/{id}", api_explanations_get),
    READ_AS("/v1/explanations/{id}/{n}", api_explanations_array, JSON_OR_PNG),
    ASK("/v1/trials/{id}/predict", api_trials_predict),
    POLL("/v1/predictions/{id}", api_predictions_get),
    READ_AS("/v1/trials/{id}/network", api_trials_network, "application/octet-stream"),
};

const struct http_route *api_routes(size_t *out_count)
{
    *out_count = API_COUNT(ROUTES);
    return ROUTES;
}
