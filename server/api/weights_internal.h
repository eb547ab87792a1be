/* SPDX-License-Identifier: MIT
 *
 * Between the files about weights.
 */
#ifndef API_WEIGHTS_INTERNAL_H
#define API_WEIGHTS_INTERNAL_H

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

/* The stored list of tensors without their data; names are borrowed from list, the array is to be
 * freed. NULL: out of memory, or the list is not one that an import wrote. */
struct nn_file_tensor *api_weights_shapes(const json_t *list);

/* What a job starts from, as jobs_weights_fn says. */
SV_MUST_CHECK enum sv_status
api_weights_for_spec(struct api_ctx *ctx, const struct http_request *req, const char *id,
                     const json_t *network, const struct jobs_dataset *dataset,
                     struct jobs_weights *out_weights, struct sv_error *err);

#endif
