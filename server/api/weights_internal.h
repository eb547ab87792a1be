/* SPDX-License-Identifier: MIT
 *
 * Between the files about weights.
 */
#ifndef API_WEIGHTS_INTERNAL_H
#define API_WEIGHTS_INTERNAL_H

#include "core/exchange/match.h"
#include "core/network/network.h"
#include "server/api/assets_internal.h"
#include "server/jobs/jobs.h"
#include "server/store/weights.h"

/* Whole, with its ETag: for api_show and its kin. */
SV_MUST_CHECK enum sv_status api_weights_read(struct api_ctx *ctx, const struct http_request *req,
                                              const char *id, struct api_seen *out_seen,
                                              struct sv_error *err);

/* The weights {id} of the path, which must be ready: SV_ERR_NOT_FOUND, SV_ERR_WRONG_STATE. */
SV_MUST_CHECK enum sv_status
api_weights_find_ready(struct api_ctx *ctx, const struct http_request *req,
                       const struct store_scope *scope, struct store_memory *memory,
                       struct store_weights *out_weights, struct sv_error *err);

/* How the stored list of tensors, and what the import's report says of them, fits a network
 * (weights_fit.c). api_fit_end in any case, and before the list goes. As nn_description_parse and
 * nn_match_description; NN_ERR_CORRUPT: the list is not one that an import wrote. */
struct api_fit {
    struct nn_match *match;
    struct nn_file_tensor *tensors;
};
NN_MUST_CHECK enum nn_status api_fit_begin(const json_t *list, const json_t *report,
                                           const json_t *network,
                                           const struct nn_network_bind *bind,
                                           enum nn_match_head head, struct api_fit *out_fit,
                                           struct nn_error *err);
void api_fit_end(struct api_fit *fit);

/* What a job starts from, as jobs_weights_fn says. */
SV_MUST_CHECK enum sv_status
api_weights_for_spec(struct api_ctx *ctx, const struct store_scope *scope, const char *id,
                     const json_t *network, const struct nn_network_bind *bind,
                     struct jobs_weights *out_weights, struct sv_error *err);

#endif
