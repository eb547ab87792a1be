/* SPDX-License-Identifier: MIT
 *
 * Between the files about data sets: what a spec needs of one, and how it is shown.
 */
#ifndef API_DATASETS_INTERNAL_H
#define API_DATASETS_INTERNAL_H

#include "core/network/network.h"
#include "server/api/show_internal.h"
#include "server/jobs/jobs.h"
#include "server/store/datasets.h"

/* What a job or an analysis is checked against; pointers of errors say /dataset. */
SV_MUST_CHECK enum sv_status api_dataset_for_spec(struct api_ctx *ctx,
                                                  const struct store_scope *scope, const char *id,
                                                  struct jobs_dataset *out_dataset,
                                                  struct sv_error *err);

/* What a network is bound to for a report: the data set of this id, or what is given when it is
 * NULL. Errors as above. */
SV_MUST_CHECK enum sv_status api_report_bind(struct api_ctx *ctx, const struct http_request *req,
                                             const char *id, const struct jobs_dataset *given,
                                             struct nn_network_bind *out_bind,
                                             struct sv_error *err);

/* Whole, with its ETag: for api_show and its kin. */
SV_MUST_CHECK enum sv_status api_dataset_read(struct api_ctx *ctx, const struct http_request *req,
                                              const char *id, struct api_seen *out_seen,
                                              struct sv_error *err);

#endif
