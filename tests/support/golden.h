/* SPDX-License-Identifier: MIT
 *
 * Networks against what PyTorch computed for them: a file of tests/golden is an array of cases,
 * each with a name, a "description" and "parameters" in PyTorch's order.
 */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include "tests/support/network.h"

/* Largest relative error that two ways to compute the same may have. */
#ifdef NN_REAL_DOUBLE
#define GOLDEN_BOUND 1e-9
#else
#define GOLDEN_BOUND 1e-5
#endif

/* An array of numbers, freed by free(). */
nn_real *golden_numbers(const json_t *array, size_t *out_count);

/* Builds the network of a case, its parameters unset. */
struct test_network golden_build(const json_t *c, const struct nn_network_bind *bind,
                                 const struct nn_network_options *options);

/* Sets every parameter through PyTorch's order, as an import does; fails the test when values has
 * one too few or too many. */
void golden_load_parameters(struct nn_network *network, const json_t *values);

/* Runs each case of a file, at least `least`, with plain and with optimised operators. */
void golden_each(const char *path, size_t least,
                 void (*run)(const json_t *c, enum nn_operators operators));

#endif
