/* SPDX-License-Identifier: MIT
 *
 * A question to a trial's network: a row that a worker's child answers while the request waits, or
 * is told where to ask again.
 */
#ifndef API_QUESTION_INTERNAL_H
#define API_QUESTION_INTERNAL_H

#include "server/api/show_internal.h"
#include "server/store/predictions.h"

/* What is asked, and how the answer looks. */
struct api_question_kind {
    const char *path; /* of the answers: "/v1/predictions" */
    bool explains;
    json_t *(*encode)(const struct store_posted *posted);
};

extern const struct api_question_kind api_explanation_kind;

/* {id, trial, state, result, error, code, created_at, finished_at}; result is transferred. */
json_t *api_question_encode_take(const struct store_posted *posted, json_t *result);

/* Puts the question into the queue under the request's key, if it has one; what was made lives as
 * long as the request. */
SV_MUST_CHECK enum sv_status api_question_ask(struct api_ctx *ctx, const struct http_request *req,
                                              const struct store_blob *input,
                                              const struct store_posted_new *posted,
                                              const struct store_created **out_made,
                                              struct sv_error *err);
/* 200 with the answer, 202 with a Location when it takes longer than `wait` seconds; a refusal with
 * its own code. */
SV_MUST_CHECK enum sv_status
api_question_answer(struct api_ctx *ctx, const struct http_request *req, struct http_response *resp,
                    const struct api_question_kind *kind, const struct store_created *made,
                    int64_t wait, struct sv_error *err);

/* The row, if it is of this kind. SV_ERR_NOT_FOUND. */
SV_MUST_CHECK enum sv_status api_question_get(struct api_ctx *ctx, const struct store_scope *scope,
                                              const struct api_question_kind *kind, const char *id,
                                              struct store_memory *memory,
                                              struct store_posted *out_posted,
                                              struct sv_error *err);
/* As api_seen_fn, of one kind. */
SV_MUST_CHECK enum sv_status api_question_read(struct api_ctx *ctx, const struct http_request *req,
                                               const struct api_question_kind *kind, const char *id,
                                               struct api_seen *out_seen, struct sv_error *err);

#endif
