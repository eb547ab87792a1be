/* SPDX-License-Identifier: MIT
 *
 * The common frame of reads below a trial.
 */
#include "server/api/trial_read_internal.h"

#include <string.h>

enum sv_status api_trial_read_begin(struct api_ctx *ctx, const struct http_request *req,
                                    struct http_response *resp, const struct api_params *params,
                                    const int64_t *wait, struct api_trial_read *out_read,
                                    bool *out_done, struct sv_error *err)
{
    struct api_trial_read read = {.id = http_path(req, "id")};
    struct store_trial trial;
    *out_done = false;
    enum sv_status st = params
                            ? http_query_decode(req, params->table, params->count, params->out, err)
                            : http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = api_poll_begin(ctx, req, resp, read.id, wait ? *wait : 0, &read.poll, out_done, err);
    }
    if (st != SV_OK || *out_done) {
        return st;
    }
    api_scope(req, &read.scope);
    st = store_trial_get(ctx->store, &read.scope, read.id, &read.memory, &trial, err);
    if (st != SV_OK) {
        store_memory_clear(&read.memory);
        return st;
    }
    memcpy(read.job_id, trial.job_id, sizeof read.job_id);
    memcpy(read.dataset_id, trial.dataset_id, sizeof read.dataset_id);
    read.revision = trial.job_revision;
    *out_read = read;
    return SV_OK;
}

enum sv_status api_trial_read_end_take(struct api_ctx *ctx, const struct http_request *req,
                                       struct http_response *resp, struct api_trial_read *read,
                                       enum sv_status st, json_t *json, struct sv_error *err)
{
    store_memory_clear(&read->memory);
    if (st != SV_OK) {
        json_decref(json);
        return st;
    }
    return api_poll_end_take(ctx, req, resp, &read->poll, read->job_id, read->revision, json, err);
}

enum sv_status api_trial_read_end_bytes_take(struct api_ctx *ctx, const struct http_request *req,
                                             struct http_response *resp,
                                             struct api_trial_read *read, const char *type,
                                             char *bytes, size_t size, struct sv_error *err)
{
    store_memory_clear(&read->memory);
    if (!bytes) {
        return api_no_memory(err);
    }
    return api_poll_end_bytes_take(ctx, req, resp, &read->poll, read->job_id, read->revision, type,
                                   bytes, size, err);
}

enum sv_status api_trial_artefact(struct api_ctx *ctx, struct api_trial_read *read,
                                  const char *kind, struct store_artefact *out_artefact,
                                  bool *out_found, struct sv_error *err)
{
    struct store_artefact_list list;
    enum sv_status st =
        store_artefacts_list(ctx->store, &read->scope, read->id, &read->memory, &list, err);
    *out_found = false;
    for (size_t i = 0; st == SV_OK && i < list.n && !*out_found; i++) {
        if (strcmp(list.rows[i].kind, kind) == 0) {
            *out_artefact = list.rows[i];
            *out_found = true;
        }
    }
    return st;
}
