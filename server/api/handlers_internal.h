/* SPDX-License-Identifier: MIT
 *
 * Every handler of the route table, and what the files of one resource ask of each other. What a
 * handler answers is said where it is defined.
 */
#ifndef API_HANDLERS_INTERNAL_H
#define API_HANDLERS_INTERNAL_H

#include "server/api/answer_internal.h"

/* Media type of a graph. */
#define API_GRAPHVIZ "text/vnd.graphviz"

/* One line a handler: the table in routes.c has its method and path. */
#define API_HANDLER(name)                                                                          \
    enum sv_status name(void *state, const struct http_request *req,                               \
                        struct http_response *out_resp, struct sv_error *err)

API_HANDLER(api_healthz_get);
API_HANDLER(api_readyz_get);
API_HANDLER(api_metrics_get);
API_HANDLER(api_openapi_get);
API_HANDLER(api_events_get);
bool api_healthz_recall(void *ctx, const struct http_request *req, struct http_response *out_resp);
bool api_metrics_recall(void *ctx, const struct http_request *req, struct http_response *out_resp);
bool api_openapi_recall(void *ctx, const struct http_request *req, struct http_response *out_resp);

API_HANDLER(api_layers_list);
API_HANDLER(api_networks_list);
API_HANDLER(api_networks_get);
API_HANDLER(api_networks_analyze);

API_HANDLER(api_datasets_list);
API_HANDLER(api_datasets_post);
API_HANDLER(api_datasets_get);
API_HANDLER(api_datasets_patch);
API_HANDLER(api_datasets_delete);
API_HANDLER(api_datasets_before_file);
API_HANDLER(api_datasets_put_file);
API_HANDLER(api_items_list);
API_HANDLER(api_items_image);

API_HANDLER(api_weights_list);
API_HANDLER(api_weights_post);
API_HANDLER(api_weights_get);
API_HANDLER(api_weights_patch);
API_HANDLER(api_weights_delete);
API_HANDLER(api_weights_before_file);
API_HANDLER(api_weights_put_file);
API_HANDLER(api_weights_tensors);
API_HANDLER(api_weights_content);
API_HANDLER(api_weights_network);
API_HANDLER(api_weights_match);

API_HANDLER(api_experiments_list);
API_HANDLER(api_experiments_post);
API_HANDLER(api_experiments_get);
API_HANDLER(api_experiments_patch);

API_HANDLER(api_jobs_list);
API_HANDLER(api_jobs_post);
API_HANDLER(api_jobs_get);
API_HANDLER(api_jobs_patch);
API_HANDLER(api_jobs_bulk);
API_HANDLER(api_jobs_pause);
API_HANDLER(api_jobs_resume);
API_HANDLER(api_jobs_stop);
API_HANDLER(api_jobs_cancel);
API_HANDLER(api_jobs_restart);
API_HANDLER(api_jobs_archive);
API_HANDLER(api_jobs_unarchive);
API_HANDLER(api_jobs_extend);
API_HANDLER(api_jobs_duplicate);
API_HANDLER(api_jobs_trials);
API_HANDLER(api_jobs_results);
API_HANDLER(api_jobs_results_csv);

API_HANDLER(api_trials_get);
API_HANDLER(api_trials_patch);
API_HANDLER(api_trials_pause);
API_HANDLER(api_trials_resume);
API_HANDLER(api_trials_stop);
API_HANDLER(api_trials_cancel);
API_HANDLER(api_trials_restart);
API_HANDLER(api_trials_extend);
API_HANDLER(api_trials_duplicate);
API_HANDLER(api_trials_fork);
API_HANDLER(api_trials_metrics);
API_HANDLER(api_trials_evaluations);
API_HANDLER(api_trials_confusion);
API_HANDLER(api_trials_confusion_csv);
API_HANDLER(api_trials_predictions_csv);
API_HANDLER(api_trials_predictions);
API_HANDLER(api_trials_regression);
API_HANDLER(api_trials_log);
API_HANDLER(api_trials_profile);
API_HANDLER(api_trials_network);
API_HANDLER(api_trials_explanations);
API_HANDLER(api_trials_explanation);
API_HANDLER(api_trials_activations);
API_HANDLER(api_trials_before_question);
API_HANDLER(api_trials_predict);
API_HANDLER(api_predictions_get);
API_HANDLER(api_trials_explain);
API_HANDLER(api_explanations_get);
API_HANDLER(api_explanations_array);

#undef API_HANDLER

/* Kinds of data sets, ended by NULL. */
extern const char *const api_dataset_kinds[];

/* Field tables of the bodies, named as in the API description (bodies.c). */
extern const struct jx_field api_dataset_create_fields[], api_weights_create_fields[];
extern const struct jx_field api_experiment_create_fields[], api_naming_fields[];
extern const struct jx_field api_trial_patch_fields[], api_restart_fields[], api_bulk_fields[];
extern const struct jx_field api_extend_fields[];
extern const struct jx_field api_analysis_fields[], api_match_fields[];
extern const struct jx_field api_explanation_fields[];

#endif
