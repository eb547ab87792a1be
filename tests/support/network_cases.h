/* SPDX-License-Identifier: MIT
 *
 * Small networks that together run every operator, alone and in the company in which the planner
 * treats it differently. Used by the gradient checks and by the comparison of operators.
 */
#ifndef TESTS_SUPPORT_NETWORK_CASES_H
#define TESTS_SUPPORT_NETWORK_CASES_H

#include <stdbool.h>
#include <stddef.h>

struct test_network_case {
    const char *name;
    size_t height, width, channels, classes;
    size_t batch;
    const char *layers;      /* behind {"name": "in", "kind": "image_input"} */
    const char *connections; /* NULL: a sequence */
    const char *frozen;      /* one layer, or NULL */
    bool kinks;              /* has a ReLU or a maximum: not smooth */
};

extern const struct test_network_case test_network_cases[];
extern const size_t test_network_cases_count;

const struct test_network_case *test_network_case_named(const char *name);

/* The description as JSON with ' for ". */
void test_network_case_text(const struct test_network_case *c, char *out, size_t size);

#endif
