/* SPDX-License-Identifier: MIT
 *
 * Small networks that together run every operator, alone and in the company in which the planner
 * treats it differently. Used by the gradient checks and by the comparison of operators.
 */
#ifndef TESTS_SUPPORT_NETWORK_CASES_H
#define TESTS_SUPPORT_NETWORK_CASES_H

#include "core/network/network.h"

enum { TEST_NETWORK_TEXT_MAX = 6144 };

struct test_network_case {
    const char *name;
    size_t height, width, channels, classes;
    size_t batch;
    const size_t *lengths;   /* sequences of `channels` features, two more than batch; or NULL */
    const char *layers;      /* behind an input layer called "in" */
    const char *connections; /* NULL: one after the other */
    const char *frozen;      /* one layer, or NULL */
    bool kinks;              /* has a ReLU or a maximum: not smooth */
    size_t ids;              /* not 0: the input holds ids below this number */
};

extern const struct test_network_case test_network_cases[];
extern const size_t test_network_cases_count;

const struct test_network_case *test_network_case_named(const char *name);

struct nn_network_bind test_network_case_bind(const struct test_network_case *c);

/* Input rows of a batch: images, or steps of all sequences. */
size_t test_network_case_rows(const struct test_network_case *c, size_t batch);

/* Loads a batch of rows x nn_network_input_size numbers, in the order that the network keeps. */
void test_network_case_load(const struct test_network_case *c, struct nn_network *network,
                            size_t batch, const nn_real *input);

/* The description as JSON with ' for ". */
void test_network_case_text(const struct test_network_case *c, char *out, size_t size);

#endif
