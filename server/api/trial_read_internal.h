/* SPDX-License-Identifier: MIT
 *
 * Reads of what lies below a trial: found first (404, job and revision), then read, then answered
 * with the ETag of its job's revision.
 */
#ifndef API_TRIAL_READ_INTERNAL_H
#define API_TRIAL_READ_INTERNAL_H

#include "server/api/answer_internal.h"
#include "server/store/results.h"

struct api_trial_read {
    const char *id;
    struct store_scope scope;
    struct store_memory memory; /* cleared by the end functions */
    struct api_poll poll;
    char job_id[SV_ID_SIZE], dataset_id[SV_ID_SIZE];
    int64_t revision;
};

/* Decodes the query (params NULL: none is allowed), answers an unchanged poll (waiting as long as
 * the decoded *wait says; NULL: never), else finds the trial. After SV_OK with *out_done false one
 * of the end functions must be called. */
SV_MUST_CHECK enum sv_status
api_trial_read_begin(struct api_ctx *ctx, const struct http_request *req,
                     struct http_response *resp, const struct api_params *params,
                     const int64_t *wait, struct api_trial_read *out_read, bool *out_done,
                     struct sv_error *err);
/* st is what the read came to: a failure is handed through. json is transferred. */
SV_MUST_CHECK enum sv_status api_trial_read_end_take(struct api_ctx *ctx,
                                                     const struct http_request *req,
                                                     struct http_response *resp,
                                                     struct api_trial_read *read, enum sv_status st,
                                                     json_t *json, struct sv_error *err);
/* bytes NULL: out of memory. */
SV_MUST_CHECK enum sv_status
api_trial_read_end_bytes_take(struct api_ctx *ctx, const struct http_request *req,
                              struct http_response *resp, struct api_trial_read *read,
                              const char *type, char *bytes, size_t size, struct sv_error *err);

/* The artefact of a kind, borrowed from the read's memory; *out_found is false when the trial has
 * none. */
SV_MUST_CHECK enum sv_status api_trial_artefact(struct api_ctx *ctx, struct api_trial_read *read,
                                                const char *kind,
                                                struct store_artefact *out_artefact,
                                                bool *out_found, struct sv_error *err);

#endif
