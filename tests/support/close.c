/* SPDX-License-Identifier: MIT
 *
 * Norm-relative error.
 */
#include "tests/support/close.h"

#include <math.h>

double test_relative_error(const nn_real *a, const nn_real *b, size_t n)
{
    double diff = 0;
    double norm = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)a[i] - (double)b[i];
        diff += d * d;
        norm += (double)b[i] * (double)b[i];
    }
    return sqrt(diff) / fmax(sqrt(norm), 1e-30);
}
