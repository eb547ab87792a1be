/* SPDX-License-Identifier: MIT
 *
 * The process: kernel, conditioning, and its own numbers. These are chosen one after the other from
 * short lists, three times around: the same on every machine, and fine enough for a model of a few
 * dozen measurements.
 */
#include "core/search/gp_internal.h"

#include <math.h>
#include <stdlib.h>

#include "core/kernels/cholesky.h"
#include "core/search/axis_internal.h"

#define LOG_TWO_PI 1.8378770664093454836

enum { ROUNDS = 3 };

static const double LENGTHS[] = {0.05, 0.1, 0.2, 0.35, 0.6, 1.0, 2.0, 5.0};
static const double NOISES[] = {1e-6, 1e-4, 1e-3, 1e-2, 1e-1};

/* Where little is known: half of an axis, a thousandth; and by which factor (e^1, e^3) they may be
 * off before that counts as unlikely. */
static const double LENGTH_PRIOR = 0.5, NOISE_PRIOR = 1e-3;
static const double LENGTH_SPREAD = 1.0, NOISE_SPREAD = 3.0;

enum nn_status nn_search_gp_init(struct nn_search_gp *gp, const struct nn_search_space *space,
                                 size_t room, struct nn_error *err)
{
    *gp = (struct nn_search_gp){.space = space, .room = room, .amplitude = 1, .noise = NOISE_PRIOR};
    gp->x = calloc(room * space->count + 1, sizeof *gp->x);
    gp->y = calloc(room + 1, sizeof *gp->y);
    gp->lengths = calloc(space->count + 1, sizeof *gp->lengths);
    gp->factor = calloc(room * room + 1, sizeof *gp->factor);
    gp->weights = calloc(room + 1, sizeof *gp->weights);
    gp->scratch = calloc(room + 1, sizeof *gp->scratch);
    if (!gp->x || !gp->y || !gp->lengths || !gp->factor || !gp->weights || !gp->scratch) {
        nn_search_gp_deinit(gp);
        return nn_fail(err, NN_ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < space->count; i++) {
        gp->lengths[i] = LENGTH_PRIOR;
    }
    return NN_OK;
}

void nn_search_gp_deinit(struct nn_search_gp *gp)
{
    free(gp->x);
    free(gp->y);
    free(gp->lengths);
    free(gp->factor);
    free(gp->weights);
    free(gp->scratch);
    *gp = (struct nn_search_gp){0};
}

void nn_search_gp_unit(const struct nn_search_space *space, const double *point, double *out_unit)
{
    for (size_t i = 0; i < space->count; i++) {
        out_unit[i] = nn_search_axis_unit(&space->axes[i], point[i]);
    }
}

void nn_search_gp_add(struct nn_search_gp *gp, const double *point, double y)
{
    NN_ASSERT(gp->n < gp->room);
    nn_search_gp_unit(gp->space, point, gp->x + gp->n * gp->space->count);
    gp->y[gp->n++] = y;
}

/* k / a */
static double correlation(const struct nn_search_gp *gp, const double *x, const double *z)
{
    double square = 0;
    for (size_t i = 0; i < gp->space->count; i++) {
        double d = gp->space->axes[i].choices > 0 ? (x[i] < z[i] || x[i] > z[i]) : x[i] - z[i];
        square += d / gp->lengths[i] * (d / gp->lengths[i]);
    }
    double s = sqrt(5 * square);
    return (1 + s + s * s / 3) * exp(-s);
}

bool nn_search_gp_condition(struct nn_search_gp *gp)
{
    size_t axes = gp->space->count;
    double sum = 0;
    for (size_t i = 0; i < gp->n; i++) {
        for (size_t k = 0; k <= i; k++) {
            gp->factor[i * gp->n + k] = correlation(gp, gp->x + i * axes, gp->x + k * axes);
        }
        gp->factor[i * gp->n + i] += gp->noise;
        sum += gp->y[i];
    }
    gp->mean = gp->n > 0 ? sum / (double)gp->n : 0;
    if (!nn_cholesky(gp->factor, gp->n)) {
        return false;
    }
    for (size_t i = 0; i < gp->n; i++) {
        gp->weights[i] = gp->y[i] - gp->mean;
    }
    nn_cholesky_forward(gp->factor, gp->n, gp->weights);
    nn_cholesky_backward(gp->factor, gp->n, gp->weights);
    return true;
}

/* (y - mean)' (k / a + v)^-1 (y - mean) */
static double fit_of(const struct nn_search_gp *gp)
{
    double sum = 0;
    for (size_t i = 0; i < gp->n; i++) {
        sum += (gp->y[i] - gp->mean) * gp->weights[i];
    }
    return sum;
}

double nn_search_gp_likelihood(const struct nn_search_gp *gp)
{
    double n = (double)gp->n, logarithms = 0;
    for (size_t i = 0; i < gp->n; i++) {
        logarithms += log(gp->factor[i * gp->n + i]);
    }
    return -0.5 * (fit_of(gp) / gp->amplitude + n * (log(gp->amplitude) + LOG_TWO_PI)) - logarithms;
}

static double off_by(double value, double usual, double spread)
{
    double d = log(value / usual) / spread;
    return -0.5 * d * d;
}

/* The density at the lengths and noise that stand there, with its best amplitude, and the prior. */
static double weigh(struct nn_search_gp *gp)
{
    if (!nn_search_gp_condition(gp)) {
        return -INFINITY;
    }
    double prior = off_by(gp->noise, NOISE_PRIOR, NOISE_SPREAD);
    for (size_t i = 0; i < gp->space->count; i++) {
        prior += off_by(gp->lengths[i], LENGTH_PRIOR, LENGTH_SPREAD);
    }
    double amplitude = gp->n > 0 ? fit_of(gp) / (double)gp->n : 1;
    gp->amplitude = amplitude > 0 ? amplitude : 1;
    return nn_search_gp_likelihood(gp) + prior;
}

/* Leaves the best of a list in *place, one of the process's numbers; the first of equals. */
static void choose(struct nn_search_gp *gp, double *place, const double *list, size_t n,
                   double *best_weight)
{
    double best = *place;
    for (size_t i = 0; i < n; i++) {
        *place = list[i];
        double weight = weigh(gp);
        if (weight > *best_weight) {
            *best_weight = weight;
            best = list[i];
        }
    }
    *place = best;
}

void nn_search_gp_fit(struct nn_search_gp *gp)
{
    double best = weigh(gp);
    for (int round = 0; round < ROUNDS; round++) {
        double before = best;
        for (size_t i = 0; i < gp->space->count; i++) {
            choose(gp, &gp->lengths[i], LENGTHS, sizeof LENGTHS / sizeof LENGTHS[0], &best);
        }
        choose(gp, &gp->noise, NOISES, sizeof NOISES / sizeof NOISES[0], &best);
        if (!(best > before)) {
            break;
        }
    }
    (void)weigh(gp); /* conditions, with the amplitude that goes with the choice */
}

void nn_search_gp_ask(const struct nn_search_gp *gp, const double *unit, double *out_mean,
                      double *out_deviation)
{
    double mean = 0, explained = 0;
    for (size_t i = 0; i < gp->n; i++) {
        gp->scratch[i] = correlation(gp, unit, gp->x + i * gp->space->count);
        mean += gp->scratch[i] * gp->weights[i];
    }
    nn_cholesky_forward(gp->factor, gp->n, gp->scratch);
    for (size_t i = 0; i < gp->n; i++) {
        explained += gp->scratch[i] * gp->scratch[i];
    }
    *out_mean = gp->mean + mean;
    *out_deviation = sqrt(gp->amplitude * fmax(1 - explained, 0));
}
