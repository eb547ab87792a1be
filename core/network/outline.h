/* SPDX-License-Identifier: MIT
 *
 * What can be said of a description without building its network: layers, head, last maps, what
 * freezing leaves, parameters. A part of network.h, which includes it.
 */
#ifndef NN_NETWORK_OUTLINE_H
#define NN_NETWORK_OUTLINE_H

#include "core/base/base.h"
#include "core/layers/types.h"

struct nn_description;

/* The head: the last layer with weights (convolution, fully_connected, lstm, gru) before the
 * output, which gives a number for each class. Borrowed; NULL when there is none. */
const char *nn_description_head(const struct nn_description *description);

/* The layers, in the order of the description; borrowed, NULL past the end. */
const char *nn_description_layer_name(const struct nn_description *description, size_t i);

/* The last layer on the way to the output whose activation still has a height or a width, before
 * it is reduced to a vector: where class activation maps are taken. Borrowed; NULL when there is
 * none but the input, when the network takes sequences, or when the sizes do not fit. */
const char *nn_description_features(const struct nn_description *description,
                                    const struct nn_network_bind *bind);

/* Whether there is such a layer with an activation of its own (a softmax that ends the network has
 * none), and whether that has a height or a width and is no input. */
bool nn_description_shows(const struct nn_description *description, const char *layer);
bool nn_description_is_map(const struct nn_description *description,
                           const struct nn_network_bind *bind, const char *layer);

/* Which layers do not train. UP_TO: a layer, and everything that its output is made of. */
enum nn_freeze { NN_FREEZE_NONE, NN_FREEZE_ALL_BUT_HEAD, NN_FREEZE_UP_TO };
/* The names of those layers, in order, for nn_network_options.frozen; borrowed from the
 * description. layer: for UP_TO. *out is to be freed with free(). NN_ERR_INVALID: there is no such
 * layer, or nothing would be left to train. */
NN_MUST_CHECK enum nn_status nn_description_frozen(const struct nn_description *description,
                                                   enum nn_freeze freeze, const char *layer,
                                                   const char *const **out, size_t *out_n,
                                                   struct nn_error *err);

/* A parameter by name and shape alone, as in struct nn_parameter. */
struct nn_parameter_shape {
    char name[96]; /* "fc.weight" */
    const char *layer;
    enum nn_role role;
    bool learnable;
    bool auxiliary; /* of a branch that leads to auxiliary losses alone */
    size_t ndim, shape[4];
};

/* The parameters that a network of the description would have, in its order, without building it.
 * NN_ERR_INVALID: the sizes do not fit. *out is to be freed with free(); layer points into the
 * description. */
NN_MUST_CHECK enum nn_status nn_description_parameters(const struct nn_description *description,
                                                       const struct nn_network_bind *bind,
                                                       struct nn_parameter_shape **out,
                                                       size_t *out_n, struct nn_error *err);

#endif
