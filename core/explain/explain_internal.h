/* SPDX-License-Identifier: MIT
 *
 * The body of an explainer, for the files of this room.
 */
#ifndef NN_EXPLAIN_EXPLAIN_INTERNAL_H
#define NN_EXPLAIN_EXPLAIN_INTERNAL_H

#include "core/explain/explain.h"

struct nn_explainer {
    struct nn_explainer_setup setup;
    struct nn_network *network;
    const char *feature_layer;
    const char **kept, **frozen; /* names, borrowed from the description and the setup */
    size_t n_kept, n_frozen;
    struct nn_layer_view *views; /* of kept; they stay where they are */
    struct nn_layer_view features;
    nn_real *map;     /* features.height x features.width */
    nn_real *weights; /* features.channels */
};

#endif
