/* SPDX-License-Identifier: MIT
 *
 * Which layers do not train, as people say it: "none", "all_but_head", or {"up_to": layer}, which
 * is that layer and all that it is computed from.
 */
#ifndef NN_NETWORK_FREEZE_H
#define NN_NETWORK_FREEZE_H

#include "core/base/base.h"
#include "core/json/json.h"

struct nn_description;

/* For struct nn_network_options: names are borrowed from the description. Zeroed: none. */
struct nn_frozen {
    const char *const *layers;
    size_t count;
};

/* Is it one of the three forms, whatever the network? NN_ERR_INVALID: pointer is relative to
 * `freeze`. */
NN_MUST_CHECK enum nn_status nn_freeze_check(const json_t *freeze, struct nn_error *err);

/* The layers of a description that `freeze` (NULL: "none") names. NN_ERR_INVALID: another form, a
 * layer that there is not, or nothing left to train. *out ends with nn_frozen_deinit. */
NN_MUST_CHECK enum nn_status nn_freeze_layers(const struct nn_description *description,
                                              const json_t *freeze, struct nn_frozen *out,
                                              struct nn_error *err);
void nn_frozen_deinit(struct nn_frozen *frozen);

#endif
