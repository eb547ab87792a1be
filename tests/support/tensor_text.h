/* SPDX-License-Identifier: MIT
 *
 * Tensors of a weight file against a text: a line a tensor, "name dtype shape values", in the order
 * of names, as tests/golden/make_weights.py and make_onnx.py write them.
 */
#ifndef TESTS_SUPPORT_TENSOR_TEXT_H
#define TESTS_SUPPORT_TENSOR_TEXT_H

#include "core/files/weights.h"

void test_tensors_compare(const struct nn_weights *weights, const char *text_path);

#endif
