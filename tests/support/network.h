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

/* What a driver is told as text: HEIGHT WIDTH CHANNELS CLASSES of images, STEPS FEATURES of
 * sequences with one response; nothing is normalised. */
size_t test_size(const char *text);
struct nn_network_bind test_bind_images(char *const *sizes);
struct nn_network_bind test_bind_sequences(char *const *sizes);

/* The analysis for batches of 128; fails the test when there is none. New reference. */
json_t *test_report(json_t *spec, const struct nn_network_bind *bind);

/* The parameter of a name, which must be there; random numbers as the input of a batch. */
const struct nn_parameter *test_parameter(const struct nn_network *network, const char *name);
void test_load_random(struct nn_network *network, size_t batch, uint64_t seed);

/* A value at a dotted path; "" and 0 where there is none. */
const char *test_text_at(const json_t *json, const char *path);
double test_number_at(const json_t *json, const char *path);

/* A JSON text with ' for "; fails the test when it is malformed. New reference. */
json_t *test_json(const char *text);

/* Numbers in [-1, 1) from a seed. */
void test_fill(nn_real *x, size_t n, uint64_t seed);

/* Every parameter, running statistics too: variances and stds in [0.5, 1.5), others in [-0.5, 0.5),
 * scales around 1, recurrent weights so that an error does not grow from step to step. */
void test_fill_parameters(struct nn_network *network, uint64_t seed);

#endif
