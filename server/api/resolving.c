/* SPDX-License-Identifier: MIT
 *
 * Data sets and weights for jobs.
 */
#include "server/api/resolving_internal.h"

#include "server/api/datasets_internal.h"
#include "server/api/handlers_internal.h"
#include "server/api/weights_internal.h"
#include "server/config/config.h"

static enum sv_status find_dataset(void *ctx, const char *id, struct jobs_dataset *out_dataset,
                                   struct sv_error *err)
{
    const struct api_resolving *resolving = ctx;
    return api_dataset_for_spec(resolving->api, &resolving->scope, id, out_dataset, err);
}

static enum sv_status find_weights(void *ctx, const char *id, const json_t *network,
                                   const struct nn_network_bind *bind,
                                   struct jobs_weights *out_weights, struct sv_error *err)
{
    const struct api_resolving *resolving = ctx;
    return api_weights_for_spec(resolving->api, &resolving->scope, id, network, bind, out_weights,
                                err);
}

void api_resolving_context(struct api_resolving *resolving, struct jobs_context *out_context)
{
    const struct cfg *config = resolving->api->config;
    *out_context = (struct jobs_context){
        .find_dataset = find_dataset,
        .find_weights = find_weights,
        .ctx = resolving,
        .max_trials = (size_t)config->max_trials,
        .trial_memory_bytes = (uint64_t)config->trial_memory_bytes,
    };
}
