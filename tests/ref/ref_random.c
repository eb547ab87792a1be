/* SPDX-License-Identifier: MIT
 *
 * Reference of dropout: one number at a time from the stream that core/base/random.h defines.
 */
#include "tests/ref/ref.h"

#include <math.h>

#include "core/base/random.h"

void ref_dropout(double *y, const struct nn_dropout *d, const nn_real *x, size_t ldx)
{
    for (size_t r = 0; r < d->rows; r++) {
        uint64_t sample = d->first_sample + r / d->rows_per_sample;
        for (size_t c = 0; c < d->columns; c++) {
            size_t element = r % d->rows_per_sample * d->columns + c;
            uint32_t counter[4], words[4];
            const uint32_t key[2] = {(uint32_t)d->seed, (uint32_t)(d->seed >> 32)};
            nn_random_counter(NN_RANDOM_DROPOUT + d->layer, d->epoch, sample,
                              (uint32_t)(element / 4), counter);
            nn_philox4x32(counter, key, words);
            if ((double)words[element % 4] >= floor(d->rate * 4294967296.0)) {
                y[r * d->columns + c] += (double)x[r * ldx + c] / (1 - d->rate);
            }
        }
    }
}
