/* SPDX-License-Identifier: MIT
 *
 * Runs to failure of simulated turbofan engines in the columns and the file format of NASA's
 * C-MAPSS data: for demonstrations and tests on machines without the real files. It is no model of
 * an engine; it has the traits that whatever reads and learns C-MAPSS must cope with.
 *
 * An engine that fails after T cycles (about 200, between 120 and 380) has at cycle t = 1..T the
 * degradation
 *
 *   d(t) = w + (1 - w) (exp(k t / T) - 1) / (exp(k) - 1),   wear w in [0, 0.08), k in [3, 6)
 *
 * and a sensor reads  base + offset of the engine + delta c d(t) + noise N(0, 1),  c in [0.8, 1.2)
 * (in [-0.5, 2.5) for the two speeds 9 and 14), printed with C-MAPSS's digits. Bases, deltas and
 * noise are those seen in FD001. Setting 3 and the sensors 1, 5, 10, 16, 18 and 19 are constant;
 * sensor 6 has two values. Test engines are cut off 7 to 145 cycles before failure.
 */
#ifndef NN_DATA_SIMULATE_H
#define NN_DATA_SIMULATE_H

#include "core/base/base.h"

#define NN_TURBOFAN_ENGINES_MAX 10000

struct nn_turbofan_options {
    size_t engines; /* in each of the two files, 1 to NN_TURBOFAN_ENGINES_MAX */
    uint64_t seed;
};

/* Writes train_FD.txt, test_FD.txt and RUL_FD.txt (cycles left behind the last row of each test
 * engine) into an existing directory, over what is there. The same options give the same bytes.
 * NN_ERR_INVALID: a number out of range. NN_ERR_IO. */
NN_MUST_CHECK enum nn_status nn_simulate_turbofan(const char *directory,
                                                  const struct nn_turbofan_options *options,
                                                  struct nn_error *err);

#endif
