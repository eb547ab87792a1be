/* SPDX-License-Identifier: MIT
 *
 * The frozen prefix of a network: the passes that nothing trains and nothing random belongs to, up
 * to the last activation through which all of the input's influence goes. What it computes for a
 * sample never changes, so it can be computed once, kept, and loaded instead of the input. Bits of
 * its rows may depend on the batch they were computed in, as those of any product.
 */
#ifndef NN_NETWORK_PREFIX_H
#define NN_NETWORK_PREFIX_H

#include "core/network/network.h"

struct nn_prefix {
    const char *layer; /* the last one of the prefix; borrowed from the description */
    size_t height, width, channels;
};

/* False when there is none: the first pass already trains or is random, or the network takes
 * sequences. */
NN_MUST_CHECK bool nn_network_prefix(const struct nn_network *network, struct nn_prefix *out);

/* The same of a network that is not built, as nn_network_plan_bytes plans it; *out_has: whether
 * there is one. */
NN_MUST_CHECK enum nn_status nn_network_plan_prefix(const struct nn_description *description,
                                                    const struct nn_network_bind *bind,
                                                    const struct nn_network_options *options,
                                                    bool *out_has, struct nn_prefix *out,
                                                    struct nn_error *err);

/* Whether the parameter belongs to the prefix, the input's mean and std included. */
bool nn_network_prefix_has(const struct nn_network *network, const struct nn_parameter *parameter);

/* The layers of the prefix with all their options and inputs, as canonical JSON: equal texts, equal
 * computation. The caller frees it; NULL when out of memory. */
char *nn_network_prefix_text(const struct nn_network *network);

/* Runs the prefix alone on the loaded input; out gets batch rows of height * width * channels
 * numbers, channels last. Only with a prefix, as is the next. */
void nn_network_prefix_forward(struct nn_network *network, size_t batch, nn_real *out);

/* Instead of loading an input: rows[i] is what nn_network_prefix_forward gave for sample i. The
 * next forward passes begin behind the prefix, until an input is loaded again. */
void nn_network_prefix_load(struct nn_network *network, const nn_real *const *rows, size_t batch);

#endif
