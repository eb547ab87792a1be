/* SPDX-License-Identifier: MIT
 *
 * Weights as a job needs them: do they fit the network as it will be bound, with a new head?
 * From the names and shapes that were kept at the import; no file is opened.
 */
#include <stdio.h>
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/weights_internal.h"

static enum sv_status match(const struct store_weights *weights, const json_t *network,
                            const struct nn_network_bind *bind, struct jobs_weights *out_weights,
                            struct sv_error *err)
{
    struct api_fit fit = {0};
    struct nn_error nn = {0};
    json_auto_t *list = api_document(weights->tensors);
    json_auto_t *report = api_document(weights->report);
    enum nn_status status =
        api_fit_begin(list, report, network, bind, NN_MATCH_HEAD_REPLACED, &fit, &nn);
    enum sv_status st = SV_OK;
    if (status != NN_OK) {
        bool ours = status == NN_ERR_MEMORY || status == NN_ERR_CORRUPT;
        st = sv_fail(err, ours ? SV_ERR_INTERNAL : SV_ERR_INVALID_FIELD, "%s", nn.text);
    } else if (!nn_match_is_loadable(fit.match)) {
        st = sv_fail(err, SV_ERR_INVALID_FIELD, "the weights do not fit the network: %s",
                     nn_match_text(fit.match));
    } else {
        (void)snprintf(out_weights->partly, sizeof out_weights->partly, "%s",
                       nn_match_partly(fit.match));
    }
    api_fit_end(&fit);
    return st;
}

enum sv_status api_weights_for_spec(struct api_ctx *ctx, const struct store_scope *scope,
                                    const char *id, const json_t *network,
                                    const struct nn_network_bind *bind,
                                    struct jobs_weights *out_weights, struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_weights weights = {0};
    if (!sv_id_is_valid(id)) {
        return SV_ERR_NOT_FOUND;
    }
    enum sv_status st = store_weights_get(ctx->store, scope, id, &memory, &weights, err);
    if (st == SV_OK && strcmp(weights.state, "ready") != 0) {
        st = SV_ERR_WRONG_STATE;
    }
    if (st == SV_OK) {
        st = match(&weights, network, bind, out_weights, err);
    }
    if (st == SV_OK) {
        (void)snprintf(out_weights->id, sizeof out_weights->id, "%s", weights.id);
        memcpy(out_weights->digest, weights.digest, sizeof out_weights->digest);
        out_weights->preprocessing =
            weights.preprocessing ? api_document(weights.preprocessing) : NULL;
    }
    store_memory_clear(&memory);
    return st;
}
