/* SPDX-License-Identifier: MIT
 *
 * A trained network as an ONNX file: its description and stored weights are put together in a file
 * of the spool, which is sent.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/exchange/onnx.h"
#include "core/files/weights.h"
#include "core/network/network.h"
#include "server/api/network_onnx_internal.h"

static size_t side_of(const json_t *detail, const char *name)
{
    return (size_t)json_integer_value(json_object_get(detail, name));
}

static enum nn_normalisation normalisation_of(const json_t *resolved)
{
    static const char *const NAMES[] = {"as_described", "none", "rescale_unit", "rescale_symmetric",
                                        "zscore"};
    const char *name = json_string_value(jx_path_get(resolved, "data.normalisation"));
    for (size_t i = 0; name && i < API_COUNT(NAMES); i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            return (enum nn_normalisation)i;
        }
    }
    return NN_NORMALISATION_DESCRIBED;
}

/* What the artefact says of its network: the size of pictures, or how sequences are scaled. */
static struct nn_network_bind bind_of(const json_t *resolved, const json_t *detail)
{
    const json_t *scaling = json_object_get(detail, "scaling");
    if (scaling) {
        return (struct nn_network_bind){
            .features = json_array_size(json_object_get(scaling, "inputs")),
            .responses = json_array_size(json_object_get(scaling, "targets")),
            .longest = 1,
            .classes = json_array_size(json_object_get(detail, "classes")),
            .normalisation = NN_NORMALISATION_NONE};
    }
    return (struct nn_network_bind){.height = side_of(detail, "height"),
                                    .width = side_of(detail, "width"),
                                    .channels = side_of(detail, "channels"),
                                    .classes = json_array_size(json_object_get(detail, "classes")),
                                    .normalisation = normalisation_of(resolved)};
}

static enum sv_status failed(enum nn_status status, const struct nn_error *nn, struct sv_error *err)
{
    return status == NN_ERR_NOT_SUPPORTED || status == NN_ERR_LIMIT
               ? sv_fail_parameter(err, SV_ERR_NOT_SUPPORTED, "format", "%s", nn->text)
               : sv_fail(err, SV_ERR_INTERNAL, "%s", nn->text);
}

/* weights_fd: safetensors; onnx_fd gets the file. */
static enum sv_status convert(const json_t *resolved, const json_t *detail, int weights_fd,
                              int onnx_fd, struct sv_error *err)
{
    struct nn_description *description = NULL;
    struct nn_weights *weights = NULL;
    struct nn_error nn = {0};
    const struct nn_network_bind bind = bind_of(resolved, detail);
    char *classes = json_dumps(json_object_get(detail, "classes"), JSON_COMPACT);
    char *scaling = json_dumps(json_object_get(detail, "scaling"), JSON_COMPACT);
    const struct nn_file_pair pairs[] = {
        {scaling ? "assay.scaling" : "assay.classes", scaling   ? scaling
                                                      : classes ? classes
                                                                : "[]"}};
    enum nn_status status =
        nn_description_parse(json_object_get(resolved, "network"), &description, &nn);
    if (status == NN_OK) {
        status = nn_weights_open_fd(weights_fd, NULL, &weights, &nn);
    }
    if (status == NN_OK) {
        status = nn_onnx_write(description, &bind, nn_weights_tensor(weights, 0),
                               nn_weights_count(weights), pairs, API_COUNT(pairs), onnx_fd, &nn);
    }
    nn_weights_close(weights);
    nn_description_destroy(description);
    free(classes);
    free(scaling);
    return status == NN_OK ? SV_OK : failed(status, &nn, err);
}

static enum sv_status make(struct api_ctx *ctx, const struct http_request *req,
                           const struct store_scope *scope, const json_t *resolved,
                           const struct store_artefact *network, int onnx_fd, struct sv_error *err)
{
    json_auto_t *detail = api_document(network->detail);
    int weights_fd = http_spool_open(req);
    enum sv_status st = weights_fd >= 0
                            ? SV_OK
                            : sv_fail(err, SV_ERR_NO_SPACE, "the server has no place for the file");
    if (st == SV_OK) {
        st = store_blob_read_fd(ctx->store, scope->project_id, network->blob.id, weights_fd, err);
    }
    st = st == SV_OK ? convert(resolved, detail, weights_fd, onnx_fd, err) : st;
    if (weights_fd >= 0) {
        (void)close(weights_fd);
    }
    return st;
}

enum sv_status api_network_onnx_send(struct api_ctx *ctx, const struct http_request *req,
                                     struct http_response *resp, const struct store_scope *scope,
                                     const struct store_trial *trial,
                                     const struct store_artefact *network, struct sv_error *err)
{
    char etag[80], name[80];
    struct stat facts;
    (void)snprintf(etag, sizeof etag, "\"%.64s-onnx\"", network->blob.sha256);
    if (http_if_none_match(req, etag)) {
        http_response_not_modified(resp, etag);
        return SV_OK;
    }
    json_auto_t *resolved = api_document(trial->resolved);
    int fd = http_spool_open(req);
    enum sv_status st =
        fd >= 0 ? SV_OK : sv_fail(err, SV_ERR_NO_SPACE, "the server has no place for the file");
    st = st == SV_OK ? make(ctx, req, scope, resolved, network, fd, err) : st;
    if (st == SV_OK && fstat(fd, &facts) != 0) {
        st = sv_fail(err, SV_ERR_INTERNAL, "a file of the spool cannot be read");
    }
    if (st != SV_OK) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return st;
    }
    (void)snprintf(name, sizeof name, "%s.onnx", trial->id);
    http_response_filename(resp, name);
    http_response_etag(resp, etag);
    http_response_fd_take(resp, "application/octet-stream", fd, (uint64_t)facts.st_size);
    return SV_OK;
}
