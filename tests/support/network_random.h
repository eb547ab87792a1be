/* SPDX-License-Identifier: MIT
 *
 * Random small networks: layers of all kinds in chains, branches and joins, in whose company the
 * planner may share memory or fuse. Equal seeds give equal networks.
 */
#ifndef TESTS_SUPPORT_NETWORK_RANDOM_H
#define TESTS_SUPPORT_NETWORK_RANDOM_H

#include "tests/support/network_cases.h"

enum { TEST_RANDOM_LAYERS = 48 };

struct test_random_network {
    struct test_network_case c; /* points into the rest */
    char name[32];              /* "random network 17" */
    char layers[3600];
    char connections[1400];
    char frozen[16];
};

/* Odd seeds give networks of images, even ones networks of sequences; about one in four has a
 * frozen layer. */
void test_random_network_make(uint64_t seed, struct test_random_network *out);

#endif
