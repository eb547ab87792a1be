/* SPDX-License-Identifier: MIT
 *
 * Bayesian search: where the Gaussian process of what was measured expects the largest improvement
 * (Mockus; Jones, Schonlau, Welch 1998) on the least value that it believes in. The improvement is
 * looked for at random points, at neighbours of the best measured ones, and then around the best of
 * all these in ever smaller steps; a space that is small enough is looked at whole.
 *
 * Of points that are chosen together each is believed to come out as expected when the next one is
 * chosen ("kriging believer", Ginsbourger, Le Riche, Carraro 2010).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/search/axis_internal.h"
#include "core/search/gp_internal.h"

enum {
    LISTED = 2000,    /* most points of a space that is looked at whole */
    SCATTERED = 1500, /* random candidates */
    BEST = 3,         /* measured points whose neighbours are candidates */
    NEIGHBOURS = 100, /* of each of them */
    STEPS = 4,        /* rounds around the best candidate */
    TRIES = 20000,    /* last ones, at random, to find a point that was not tried */
    EPOCH = 16,       /* of random numbers, above those of the random search */
};

struct hunt {
    const struct nn_search_space *space;
    const struct nn_search_history *history;
    uint64_t seed;
    struct nn_search_gp gp;
    double *tried; /* [tried_count x axes], and room for what is chosen */
    size_t tried_count;
    double *point, *unit, *best;   /* [axes] a candidate, and the best one */
    double least;                  /* that the process believes in */
    double improvement, deviation; /* of the best */
    bool found;
};

static bool is_tried(const struct hunt *hunt, const double *point)
{
    size_t axes = hunt->space->count;
    for (size_t i = 0; i < hunt->tried_count; i++) {
        if (memcmp(hunt->tried + i * axes, point, axes * sizeof *point) == 0) {
            return true;
        }
    }
    return false;
}

static double expected_improvement(double least, double mean, double deviation)
{
    if (!(deviation > 0)) {
        return fmax(least - mean, 0);
    }
    double z = (least - mean) / deviation;
    double density = exp(-0.5 * z * z) * 0.39894228040143267794;
    return (least - mean) * 0.5 * erfc(-z * 0.70710678118654752440) + deviation * density;
}

/* Takes the candidate in hunt->point if it is new and the best so far; of equals the less known,
 * and of these the first. */
static bool consider(struct hunt *hunt)
{
    double mean, deviation;
    if (is_tried(hunt, hunt->point)) {
        return false;
    }
    nn_search_gp_unit(hunt->space, hunt->point, hunt->unit);
    nn_search_gp_ask(&hunt->gp, hunt->unit, &mean, &deviation);
    double improvement = expected_improvement(hunt->least, mean, deviation);
    bool equal = !(improvement < hunt->improvement) && !(improvement > hunt->improvement);
    if (hunt->found && !(improvement > hunt->improvement) &&
        !(equal && deviation > hunt->deviation)) {
        return false;
    }
    hunt->found = true;
    hunt->improvement = improvement;
    hunt->deviation = deviation;
    memcpy(hunt->best, hunt->point, hunt->space->count * sizeof *hunt->best);
    return true;
}

/* A candidate near `center`: steps of about `width` along ranges, now and then another choice. */
static void step_from(struct hunt *hunt, const double *center, double width,
                      struct nn_random *random)
{
    for (size_t i = 0; i < hunt->space->count; i++) {
        const struct nn_search_axis *axis = &hunt->space->axes[i];
        double u = nn_random_uniform(random);
        if (axis->choices > 0) {
            bool jumps = u * 5 < 1;
            u = nn_random_uniform(random);
            hunt->point[i] = jumps ? nn_search_axis_at(axis, u) : center[i];
        } else {
            double at = nn_search_axis_unit(axis, center[i]) + width * nn_random_normal(random);
            hunt->point[i] = nn_search_axis_at(axis, fmin(fmax(at, 0), 1));
        }
    }
}

static void scatter(struct hunt *hunt, struct nn_random *random)
{
    for (size_t i = 0; i < hunt->space->count; i++) {
        hunt->point[i] = nn_search_axis_at(&hunt->space->axes[i], nn_random_uniform(random));
    }
}

static void look_everywhere(struct hunt *hunt, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        nn_search_grid(hunt->space, i, hunt->point);
        (void)consider(hunt);
    }
}

/* Number `place` of the measured points by value, from 0; NULL: there are not so many. */
static const double *best_measured(const struct nn_search_history *history, size_t axes,
                                   size_t place)
{
    for (size_t i = 0; i < history->n; i++) {
        size_t before = 0;
        for (size_t k = 0; k < history->n; k++) {
            bool better = history->values[k] < history->values[i];
            bool equal = !better && !(history->values[k] > history->values[i]);
            before += history->states[k] == NN_SEARCH_MEASURED && (better || (equal && k < i));
        }
        if (history->states[i] == NN_SEARCH_MEASURED && before == place) {
            return history->points + i * axes;
        }
    }
    return NULL;
}

static void look_around(struct hunt *hunt, struct nn_random *random)
{
    static const double WIDTHS[] = {0.1, 0.03, 0.01};
    static const double CLOSER[STEPS] = {0.03, 0.01, 0.003, 0.001};
    for (size_t i = 0; i < SCATTERED; i++) {
        scatter(hunt, random);
        (void)consider(hunt);
    }
    for (size_t place = 0; place < BEST; place++) {
        const double *center = best_measured(hunt->history, hunt->space->count, place);
        for (size_t i = 0; center && i < NEIGHBOURS; i++) {
            step_from(hunt, center, WIDTHS[i % 3], random);
            (void)consider(hunt);
        }
    }
    for (size_t k = 0; hunt->found && k < STEPS; k++) {
        for (size_t i = 0; i < NEIGHBOURS; i++) {
            step_from(hunt, hunt->best, CLOSER[k], random);
            (void)consider(hunt);
        }
    }
    for (int i = 0; !hunt->found && i < TRIES; i++) { /* nearly all of a large space was tried */
        scatter(hunt, random);
        (void)consider(hunt);
    }
    if (!hunt->found) { /* a point twice is better than no end */
        memcpy(hunt->best, hunt->point, hunt->space->count * sizeof *hunt->best);
        hunt->found = true;
    }
}

/* The least that the process believes in at a measured point: noise may have made one look better.
 */
static double least_believed(struct hunt *hunt)
{
    double least = INFINITY;
    for (size_t i = 0; i < hunt->gp.n; i++) {
        double mean, deviation;
        nn_search_gp_ask(&hunt->gp, hunt->gp.x + i * hunt->space->count, &mean, &deviation);
        least = fmin(least, mean);
    }
    return hunt->gp.n > 0 ? least : 0;
}

static void hunt_one(struct hunt *hunt, size_t number, double *out_point)
{
    struct nn_random random;
    size_t count = nn_search_count(hunt->space), axes = hunt->space->count;
    double mean, deviation;
    hunt->found = false;
    hunt->least = least_believed(hunt);
    nn_random_init(&random, hunt->seed, NN_RANDOM_SEARCH, EPOCH, number);
    if (count <= LISTED) {
        look_everywhere(hunt, count);
    } else {
        look_around(hunt, &random);
    }
    NN_ASSERT(hunt->found);
    memcpy(out_point, hunt->best, axes * sizeof *out_point);
    memcpy(hunt->tried + hunt->tried_count++ * axes, out_point, axes * sizeof *out_point);
    nn_search_gp_unit(hunt->space, out_point, hunt->unit);
    nn_search_gp_ask(&hunt->gp, hunt->unit, &mean, &deviation);
    nn_search_gp_add(&hunt->gp, out_point, mean);
}

/* Values of the model: failures are as bad as the worst that was measured; all with mean 0 and
 * deviation 1. */
static void learn(struct hunt *hunt)
{
    const struct nn_search_history *history = hunt->history;
    double worst = -INFINITY, sum = 0, squares = 0;
    for (size_t i = 0; i < history->n; i++) {
        worst = history->states[i] == NN_SEARCH_MEASURED ? fmax(worst, history->values[i]) : worst;
    }
    for (size_t i = 0; i < history->n; i++) {
        bool measured = history->states[i] == NN_SEARCH_MEASURED;
        double value = measured ? history->values[i] : isfinite(worst) ? worst : 0;
        if (history->states[i] != NN_SEARCH_UNKNOWN) {
            nn_search_gp_add(&hunt->gp, history->points + i * hunt->space->count, value);
            sum += value;
        }
    }
    double n = (double)hunt->gp.n, mean = hunt->gp.n > 0 ? sum / n : 0;
    for (size_t i = 0; i < hunt->gp.n; i++) {
        double d = hunt->gp.y[i] - mean;
        squares += d * d;
    }
    double deviation = squares > 0 ? sqrt(squares / n) : 1;
    for (size_t i = 0; i < hunt->gp.n; i++) {
        hunt->gp.y[i] = (hunt->gp.y[i] - mean) / deviation;
    }
    nn_search_gp_fit(&hunt->gp);
}

static enum nn_status hunt_init(struct hunt *hunt, size_t n, struct nn_error *err)
{
    size_t axes = hunt->space->count, room = hunt->history->n + n;
    enum nn_status st = nn_search_gp_init(&hunt->gp, hunt->space, room, err);
    if (st != NN_OK) {
        return st;
    }
    hunt->tried = calloc(room * axes + 1, sizeof *hunt->tried);
    hunt->point = calloc(axes + 1, sizeof *hunt->point);
    hunt->unit = calloc(axes + 1, sizeof *hunt->unit);
    hunt->best = calloc(axes + 1, sizeof *hunt->best);
    if (!hunt->tried || !hunt->point || !hunt->unit || !hunt->best) {
        return nn_fail(err, NN_ERR_MEMORY, "out of memory");
    }
    hunt->tried_count = hunt->history->n;
    memcpy(hunt->tried, hunt->history->points, hunt->tried_count * axes * sizeof *hunt->tried);
    return NN_OK;
}

enum nn_status nn_search_bayesian(const struct nn_search_space *space, uint64_t seed,
                                  const struct nn_search_history *history, size_t n,
                                  double *out_points, struct nn_error *err)
{
    struct hunt hunt = {.space = space, .history = history, .seed = seed};
    enum nn_status st = hunt_init(&hunt, n, err);
    if (st == NN_OK) {
        learn(&hunt);
    }
    for (size_t i = 0; st == NN_OK && i < n; i++) {
        hunt_one(&hunt, history->n + i, out_points + i * space->count);
        if (i + 1 < n && !nn_search_gp_condition(&hunt.gp)) {
            st = nn_fail(err, NN_ERR_INTERNAL, "the points of a search lie too close");
        }
    }
    nn_search_gp_deinit(&hunt.gp);
    free(hunt.tried);
    free(hunt.point);
    free(hunt.unit);
    free(hunt.best);
    return st;
}
