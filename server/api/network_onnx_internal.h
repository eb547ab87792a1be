/* SPDX-License-Identifier: MIT
 *
 * Sending a trained network as ONNX.
 */
#ifndef API_NETWORK_ONNX_INTERNAL_H
#define API_NETWORK_ONNX_INTERNAL_H

#include "server/api/assets_internal.h"
#include "server/store/results.h"
#include "server/store/trials.h"

/* The ETag is the digest of the stored weights and "-onnx". SV_ERR_NOT_SUPPORTED at the parameter
 * format: layers that ONNX has no operators for, all of them named. */
SV_MUST_CHECK enum sv_status
api_network_onnx_send(struct api_ctx *ctx, const struct http_request *req,
                      struct http_response *resp, const struct store_scope *scope,
                      const struct store_trial *trial, const struct store_artefact *network,
                      struct sv_error *err);

#endif
