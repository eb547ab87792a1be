/* SPDX-License-Identifier: MIT
 *
 * What max_pool and average_pool share.
 */
#ifndef NN_LAYERS_POOL_INTERNAL_H
#define NN_LAYERS_POOL_INTERNAL_H

#include "core/layers/shape_internal.h"

struct nn_pool_options {
    struct nn_window_options window;
    bool count_padding; /* average only */
};

/* clang-format off */
#define NN_POOL_FIELDS                                                                              \
    NN_KERNEL_FIELD(struct nn_pool_options, window),                                                \
    NN_WINDOW_FIELDS(struct nn_pool_options, window, "the kernel if left out"),                     \
    {.name = "ceil_mode", .type = JX_BOOL,                                                          \
     .offset = offsetof(struct nn_pool_options, window.ceil_mode), .fallback = "false",             \
     .doc = "a last window that hangs over the edge counts too"}
/* clang-format on */

/* The plan of both kinds. */
enum nn_status nn_pool_plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                            size_t n_in, const struct nn_network_bind *bind,
                            struct nn_layer_plan *out, struct nn_layer_issue *issue);

/* Sizes of the pass's only layer, a pool, for a batch. */
struct nn_pool2d nn_pool_sizes(const struct nn_pass *pass, size_t batch);

#endif
