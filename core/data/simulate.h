/* SPDX-License-Identifier: MIT
 *
 * Simulated data. Runs to failure of simulated turbofan engines in the columns and the file format
 * of NASA's C-MAPSS data: for demonstrations and tests on machines without the real files. It is no
 * model of an engine; it has the traits that whatever reads and learns C-MAPSS must cope with.
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

/* Vibration of a gearbox in eight classes of health, for networks that tell them apart: healthy;
 * faults of a bearing's inner race, outer race and ball; root crack, pitting, a broken and a
 * missing tooth of the pinion (the classes of Zhao et al. 2020, whose data is not public). It is no
 * model of a machine; it has the signs by which such faults are told. Sampled at 12,800 Hz;
 * recording i runs at 20, 30 or 40 Hz (i mod 3) under a load of 1, 6 or 18 (i / 3 mod 3), speed
 * +-1.5 %:
 *
 *   mesh        sum over h = 1..3 of a_h cos(h (23 2 pi f t + phi) + phase_h), about 1/h^2,
 *               larger under load
 *   gear        a fault modulates the mesh's size and phase phi once a turn, weakens it where the
 *               damaged tooth is in contact (crack a little, over three teeth; missing tooth
 * wholly), and, of a broken or missing tooth, excites an impulse a turn; pitting makes every
 *               tooth's contact differ
 *   bearing     impulses at 5.415, 3.585 and 4.714 times the speed (inner, outer, ball: 9
 * balls, 7.94 and 39.04 mm), each interval +-1 %; the inner race's are modulated by the turn, the
 *               ball's by the cage's
 *   impulse     exp(-900 s) sin(2 pi 3200 s), both +-15 and 5 % from recording to recording
 *   the rest    unbalance at the turn, normal noise of deviation 0.1
 *
 * Severity is drawn between 0.7 and 1.3, phases and the place of the damage evenly. */
#define NN_GEARBOX_CLASSES        8
#define NN_GEARBOX_RECORDINGS_MAX 10000
#define NN_GEARBOX_SAMPLES_MAX    10000000

struct nn_gearbox_options {
    size_t recordings; /* of each class, 1 to NN_GEARBOX_RECORDINGS_MAX */
    size_t samples;    /* of each recording, 16 to NN_GEARBOX_SAMPLES_MAX */
    uint64_t seed;
};

/* Writes one raw float32 file a recording, CLASS/NUMBER_SPEEDhz_loadLOAD.f32, below an existing
 * directory, over what is there. The same options give the same bytes. NN_ERR_INVALID: a number
 * out of range. NN_ERR_IO, NN_ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_simulate_gearbox(const char *directory,
                                                 const struct nn_gearbox_options *options,
                                                 struct nn_error *err);

#endif
