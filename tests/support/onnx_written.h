/* SPDX-License-Identifier: MIT
 *
 * Networks of tests as ONNX files.
 */
#ifndef TESTS_SUPPORT_ONNX_WRITTEN_H
#define TESTS_SUPPORT_ONNX_WRITTEN_H

#include "tests/support/network.h"

/* Writes the network to path; fails the test when it cannot be written. */
void test_onnx_write(const struct test_network *net, const struct nn_network_bind *bind,
                     const char *path);

#endif
