/* SPDX-License-Identifier: MIT
 *
 * A Gaussian process over [0, 1]^axes:
 *
 *     k(x, x') = a (1 + s + s^2 / 3) exp(-s),  s = sqrt(5) r,  r^2 = sum_i (d_i / l_i)^2
 *
 * (Matern 5/2 with a length for each axis), d_i being the difference of two coordinates, or 0 and 1
 * for equal and different choices; measured with noise of variance a v. Rasmussen, Williams:
 * Gaussian Processes for Machine Learning, 2006: (4.17), (2.25), (2.26), (5.8).
 */
#ifndef NN_SEARCH_GP_INTERNAL_H
#define NN_SEARCH_GP_INTERNAL_H

#include "core/search/search.h"

struct nn_search_gp {
    const struct nn_search_space *space; /* borrowed */
    size_t n, room;                      /* measured points, and how many there may be */
    double *x;                           /* [n x axes] in units, as nn_search_gp_unit makes them */
    double *y;                           /* [n] */
    double *lengths;                     /* [axes] l */
    double noise;                        /* v, a share of the amplitude */
    double mean, amplitude;              /* of y: its mean, and a */
    double *factor;                      /* [n x n] Cholesky factor of k / a + v */
    double *weights;                     /* [n] (k / a + v)^-1 (y - mean) */
    double *scratch;                     /* [room] */
};

NN_MUST_CHECK enum nn_status nn_search_gp_init(struct nn_search_gp *gp,
                                               const struct nn_search_space *space, size_t room,
                                               struct nn_error *err);
void nn_search_gp_deinit(struct nn_search_gp *gp);

/* A point in units: ranges from 0 to 1 by their scale, choices as they are. */
void nn_search_gp_unit(const struct nn_search_space *space, const double *point, double *out_unit);
/* Adds what was measured at a point; n < room. */
void nn_search_gp_add(struct nn_search_gp *gp, const double *point, double y);

/* Makes ready for questions with the lengths, noise and amplitude that stand there; mean is that of
 * y. False when the points are too close for these. */
NN_MUST_CHECK bool nn_search_gp_condition(struct nn_search_gp *gp);
/* Of y under what gp_condition was called with: the logarithm of its density. */
double nn_search_gp_likelihood(const struct nn_search_gp *gp);
/* Chooses lengths and noise by the largest density times a prior that holds them where they are
 * when little is known, with the amplitude that is best for each, and conditions. */
void nn_search_gp_fit(struct nn_search_gp *gp);

/* What is to be expected at a point in units, without noise: mean, and deviation. */
void nn_search_gp_ask(const struct nn_search_gp *gp, const double *unit, double *out_mean,
                      double *out_deviation);

#endif
