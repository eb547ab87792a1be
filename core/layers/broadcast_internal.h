/* SPDX-License-Identifier: MIT
 *
 * What the layers share whose second input may have one value for all pixels or channels.
 */
#ifndef NN_LAYERS_BROADCAST_INTERNAL_H
#define NN_LAYERS_BROADCAST_INTERNAL_H

#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

/* Refuses a second input that is neither shaped like the first nor has 1 for its image or its
 * channels. The output is shaped like the first. */
enum nn_status nn_broadcast_plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                                 size_t n_in, const struct nn_network_bind *bind,
                                 struct nn_layer_plan *out, struct nn_layer_issue *issue);

/* Sizes of a run whose second matrix is shaped like `second`. */
struct nn_broadcast nn_broadcast_sizes(const struct nn_pass *pass, const struct nn_run *run,
                                       struct nn_shape second);

#endif
