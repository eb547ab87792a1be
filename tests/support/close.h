/* SPDX-License-Identifier: MIT
 *
 * Comparison of number vectors in tests.
 */
#ifndef TESTS_SUPPORT_CLOSE_H
#define TESTS_SUPPORT_CLOSE_H

#include <stddef.h>

#include "core/base/base.h"

/* ||a - b|| / max(||b||, 1e-30) over n elements, in double; NaN anywhere gives NaN. */
double test_relative_error(const nn_real *a, const nn_real *b, size_t n);

#endif
