/* SPDX-License-Identifier: MIT
 *
 * Weights as a job needs them: do they fit the network with a new head for the data set's classes?
 * From the names and shapes that were kept at the import; no file is opened.
 */
#include <stdlib.h>
#include <string.h>

#include "core/exchange/match.h"
#include "core/network/network.h"
#include "server/api/handlers_internal.h"
#include "server/api/weights_internal.h"

struct nn_file_tensor *api_weights_shapes(const json_t *list)
{
    size_t n = json_array_size(list);
    struct nn_file_tensor *tensors = calloc(n + 1, sizeof *tensors);
    for (size_t i = 0; tensors && i < n; i++) {
        const json_t *row = json_array_get(list, i);
        const json_t *shape = json_object_get(row, "shape");
        tensors[i].name = json_string_value(json_object_get(row, "name"));
        tensors[i].rank = json_array_size(shape);
        if (!tensors[i].name || tensors[i].rank > NN_FILE_MAX_RANK) {
            free(tensors);
            return NULL;
        }
        for (size_t k = 0; k < tensors[i].rank; k++) {
            tensors[i].shape[k] = (size_t)json_integer_value(json_array_get(shape, k));
        }
    }
    return tensors;
}

static enum sv_status match(const struct store_weights *weights, const json_t *network,
                            const struct jobs_dataset *dataset, struct sv_error *err)
{
    const struct nn_network_bind bind = {.height = dataset->height,
                                         .width = dataset->width,
                                         .channels = dataset->channels,
                                         .classes = dataset->classes};
    struct nn_description *description = NULL;
    struct nn_match *found = NULL;
    struct nn_error nn = {0};
    json_auto_t *list = api_document(weights->tensors);
    struct nn_file_tensor *tensors = api_weights_shapes(list);
    if (!tensors) {
        return sv_fail(err, SV_ERR_INTERNAL, "the list of tensors cannot be read");
    }
    enum nn_status status = nn_description_parse(network, &description, &nn);
    if (status == NN_OK) {
        status = nn_match_description(description, &bind, tensors, json_array_size(list),
                                      NN_MATCH_HEAD_REPLACED, &found, &nn);
    }
    enum sv_status st = SV_OK;
    if (status != NN_OK) {
        st = sv_fail(err, status == NN_ERR_MEMORY ? SV_ERR_INTERNAL : SV_ERR_INVALID_FIELD, "%s",
                     nn.text);
    } else if (!nn_match_is_loadable(found)) {
        st = sv_fail(err, SV_ERR_INVALID_FIELD, "the weights do not fit the network: %s",
                     nn_match_text(found));
    }
    nn_match_destroy(found);
    nn_description_destroy(description);
    free(tensors);
    return st;
}

enum sv_status api_weights_for_spec(struct api_ctx *ctx, const struct http_request *req,
                                    const char *id, const json_t *network,
                                    const struct jobs_dataset *dataset,
                                    struct jobs_weights *out_weights, struct sv_error *err)
{
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_weights weights = {0};
    api_scope(req, &scope);
    if (!sv_id_is_valid(id)) {
        return SV_ERR_NOT_FOUND;
    }
    enum sv_status st = store_weights_get(ctx->store, &scope, id, &memory, &weights, err);
    if (st == SV_OK && strcmp(weights.state, "ready") != 0) {
        st = SV_ERR_WRONG_STATE;
    }
    if (st == SV_OK) {
        st = match(&weights, network, dataset, err);
    }
    if (st == SV_OK) {
        (void)snprintf(out_weights->id, sizeof out_weights->id, "%s", weights.id);
        memcpy(out_weights->digest, weights.digest, sizeof out_weights->digest);
    }
    store_memory_clear(&memory);
    return st;
}
