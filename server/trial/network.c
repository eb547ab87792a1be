/* SPDX-License-Identifier: MIT
 *
 * A trained network from its file.
 */
#include "core/exchange/exchange.h"
#include "server/trial/trial_internal.h"

enum nn_status trial_network_load(const struct nn_description *description,
                                  const struct nn_network_bind *bind,
                                  const struct nn_network_options *options, const char *path,
                                  struct nn_network **out, struct nn_error *err)
{
    struct nn_network *network = NULL;
    struct nn_safetensors *file = NULL;
    enum nn_status status = nn_network_create(description, bind, options, &network, err);
    status = status == NN_OK ? nn_safetensors_open(path, NULL, &file, err) : status;
    if (status == NN_OK) {
        status = nn_exchange_load(network, file, NN_MATCH_HEAD_KEPT, NULL, err);
        nn_safetensors_close(file);
    }
    if (status != NN_OK) {
        nn_network_destroy(network);
        return status;
    }
    *out = network;
    return NN_OK;
}
