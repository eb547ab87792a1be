/* SPDX-License-Identifier: MIT
 *
 * Round-robin sharing of core tokens.
 */
#include "server/worker/cores.h"

#include <stdbool.h>

void worker_cores_share(size_t cores, const size_t *limits, size_t n, size_t *out_shares)
{
    size_t left = cores > n ? cores - n : 0;
    for (size_t i = 0; i < n; i++) {
        out_shares[i] = 1;
    }
    bool given = true;
    while (left > 0 && given) {
        given = false;
        for (size_t i = 0; i < n && left > 0; i++) {
            if (out_shares[i] < limits[i]) {
                out_shares[i]++;
                left--;
                given = true;
            }
        }
    }
}
