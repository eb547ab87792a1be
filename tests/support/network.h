/* SPDX-License-Identifier: MIT
 *
 * Networks for tests: built from a JSON text, filled from a seed.
 */
#ifndef TESTS_SUPPORT_NETWORK_H
#define TESTS_SUPPORT_NETWORK_H

#include "core/network/network.h"

struct test_network {
    struct nn_description *description;
    struct nn_network *network;
};

/* Parses and creates; fails the test with the error's text. JSON may use ' for ". */
struct test_network test_network_create(const char *json, const struct nn_network_bind *bind,
                                        const struct nn_network_options *options);
void test_network_destroy(struct test_network *network);

/* A JSON text with ' for "; fails the test when it is malformed. New reference. */
json_t *test_json(const char *text);

/* Numbers in [-1, 1) from a seed. */
void test_fill(nn_real *x, size_t n, uint64_t seed);

/* Every parameter, running statistics too: variances and stds in [0.5, 1.5), others in [-0.5, 0.5),
 * scales around 1, recurrent weights so that an error does not grow from step to step. */
void test_fill_parameters(struct nn_network *network, uint64_t seed);

#endif
