/* SPDX-License-Identifier: MIT
 *
 * Noise on windows of signals at a given ratio of powers. A window x of N samples gets y = x + n
 * with, in each channel, sum n^2 = sum x^2 / 10^(snr_db / 10): the ratio holds for every window,
 * not only on average (Zhao et al. 2020 add noise to each signal in this way, once, before
 * training).
 *
 *   gaussian    independent normal numbers
 *   laplacian   independent, of density exp(-|n| sqrt 2 / s)
 *   pink        power proportional to 1/f: complex normal numbers over sqrt(f) at the frequencies
 *               f = 1 .. M/2 of an inverse Fourier transform of length M, the power of two that is
 *               at least N; the first N samples are taken
 *   impulsive   each sample is, with probability 0.01, a normal number, else 0; at least one is
 *
 * The noise of a window is a function of (seed, sample) or of (seed, epoch, sample): it depends
 * neither on threads nor on where a run was resumed. A window of zeros stays as it is.
 */
#ifndef NN_DATA_NOISE_H
#define NN_DATA_NOISE_H

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/data/prepared.h"
#include "core/json/json.h"

enum nn_noise_kind {
    NN_NOISE_NONE,
    NN_NOISE_GAUSSIAN,
    NN_NOISE_LAPLACIAN,
    NN_NOISE_PINK,
    NN_NOISE_IMPULSIVE,
};

enum nn_noise_draw {
    NN_NOISE_FIXED,
    NN_NOISE_FRESH, /* of windows that train another one in each epoch */
};

/* The "noise" object of a spec; all zero: none. */
struct nn_noise {
    int kind; /* enum nn_noise_kind */
    double snr_db;
    int draw;     /* enum nn_noise_draw */
    int64_t seed; /* its own, so that networks of several seeds see the same data */
};
extern const struct jx_field nn_noise_fields[];

bool nn_noise_is_on(const struct nn_noise *noise);

/* Numbers of scratch that nn_noise_add wants for windows of n samples; SIZE_MAX: too many. */
size_t nn_noise_scratch(size_t n);

/* dst = src with noise; n samples x channels, channels last; src and dst may be the same. turn: 0
 * for noise that is drawn once, 1 + epoch for that of an epoch. Allocates nothing. */
void nn_noise_add(const struct nn_noise *noise, uint64_t turn, uint64_t sample, const float *src,
                  float *dst, size_t n, size_t channels, double *scratch);

/* All windows of a set with the noise that is drawn once: count x item values of memory, freed by
 * nn_memory_free; made on the pool (NULL: on this thread). NN_ERR_MEMORY; NN_ERR_INVALID: a value
 * is no longer finite. */
NN_MUST_CHECK enum nn_status nn_noise_make(const struct nn_noise *noise,
                                           const struct nn_prepared *prepared,
                                           struct nn_memory *memory, struct nn_pool *pool,
                                           float **out_values, struct nn_error *err);

#endif
