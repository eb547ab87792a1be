/* SPDX-License-Identifier: MIT
 *
 * The 95 % quantile of Student's t: the distribution of whole degrees of freedom is a finite sum,
 * which bisection inverts; for many degrees the expansion round the normal quantile is as exact.
 * Formulas 26.7.3, 26.7.4 and 26.7.5 of Abramowitz and Stegun.
 */
#include <math.h>

#include "core/metrics/regression.h"

enum { EXPANSION_FROM = 200, BISECTIONS = 80 };

static const double Z95 = 1.959963984540054;

/* P(|T| <= t): odd nu: 2/pi (theta + sin cos (1 + 2/3 cos^2 + 2*4/(3*5) cos^4 ...)), even nu:
 * sin (1 + 1/2 cos^2 + 1*3/(2*4) cos^4 ...), theta = atan(t / sqrt(nu)), up to cos^(nu-2). */
static double inside(double t, uint64_t nu)
{
    double theta = atan(t / sqrt((double)nu));
    double c2 = cos(theta) * cos(theta);
    uint64_t odd = nu % 2;
    double term = odd ? cos(theta) : 1.0;
    double sum = nu == 1 ? 0.0 : term;
    for (uint64_t k = 2 + odd; k + 2 <= nu; k += 2) {
        term *= c2 * (double)(k - 1) / (double)k;
        sum += term;
    }
    return odd ? 2.0 / M_PI * (theta + sin(theta) * sum) : sin(theta) * sum;
}

static double expansion(double nu)
{
    double z2 = Z95 * Z95;
    double g1 = (z2 + 1.0) / 4.0;
    double g2 = ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    double g3 = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    double g4 = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92160.0;
    return Z95 * (1.0 + (g1 + (g2 + (g3 + g4 / nu) / nu) / nu) / nu);
}

double nn_student_t95(uint64_t nu)
{
    NN_ASSERT(nu > 0);
    if (nu >= EXPANSION_FROM) {
        return expansion((double)nu);
    }
    double low = 1.9;
    double high = 13.0; /* of one degree: 12.706 */
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = 0.5 * (low + high);
        if (inside(middle, nu) < 0.95) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}
