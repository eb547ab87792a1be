/* SPDX-License-Identifier: MIT
 *
 * Adds errors of sequences up. Formulas in regression.h.
 */
#include "core/metrics/regression.h"

#include <math.h>

static const char NO_SAMPLES[] = "there are no samples";
static const char CONSTANT_TARGETS[] = "all targets are equal";

#define OFFSET(member) offsetof(struct nn_regression_options, member)
const struct jx_field nn_phm08_fields[] = {
    {.name = "a_early",
     .type = JX_REAL,
     .offset = OFFSET(a_early),
     .max = 1e6,
     .above_min = true,
     .fallback = "13",
     .doc = "scale of a prediction below the target: exp(-d / a_early) - 1",
     .unit = "target"},
    {.name = "a_late",
     .type = JX_REAL,
     .offset = OFFSET(a_late),
     .max = 1e6,
     .above_min = true,
     .fallback = "10",
     .doc = "scale of a prediction above the target: exp(d / a_late) - 1",
     .unit = "target"},
    JX_END,
};

struct nn_regression_options nn_regression_defaults(void)
{
    struct nn_regression_options options = {.target_scale = 1.0};
    jx_defaults(nn_phm08_fields, &options);
    return options;
}

const char *nn_regression_name(enum nn_regression_metric metric)
{
    static const char *const NAMES[NN_REGRESSION_COUNT] = {
        [NN_REGRESSION_LOSS] = "loss",
        [NN_REGRESSION_RMSE] = "rmse",
        [NN_REGRESSION_MAE] = "mae",
        [NN_REGRESSION_R2] = "r2",
        [NN_REGRESSION_MEAN_MAX_ABSOLUTE_ERROR] = "mean_max_absolute_error",
        [NN_REGRESSION_LAST_STEP_RMSE] = "last_step_rmse",
        [NN_REGRESSION_PHM08_SCORE] = "phm08_score",
    };
    return NAMES[metric];
}

void nn_regression_init(struct nn_regression_sums *sums,
                        const struct nn_regression_options *options)
{
    *sums = (struct nn_regression_sums){.options = *options};
}

static void mean_add(struct nn_running_mean *mean, double value)
{
    double delta = value - mean->mean;
    mean->n++;
    mean->mean += delta / (double)mean->n;
    mean->squares += delta * (value - mean->mean);
}

/* A NaN is the largest of all: the maximum must not hide it as fmax would. */
static double larger(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static double score_of(const struct nn_regression_options *options, double d)
{
    return d < 0.0 ? expm1(-d / options->a_early) : expm1(d / options->a_late);
}

static void sequence_add(struct nn_regression_sums *sums, const double *predictions,
                         const double *targets, size_t steps)
{
    double squared = 0.0;
    double largest = 0.0;
    double d = 0.0;
    for (size_t s = 0; s < steps; s++) {
        d = predictions[s] - targets[s];
        if (!isfinite(d) && sums->non_finite++ == 0) {
            sums->non_finite_sequence = sums->loss.n;
            sums->non_finite_step = s;
        }
        squared += d * d;
        largest = larger(fabs(d), largest);
        sums->squared += d * d;
        sums->absolute += fabs(d);
        mean_add(&sums->target, targets[s]);
    }
    double scale = sums->options.target_scale;
    sums->last_squared += d * d;
    sums->score += score_of(&sums->options, d);
    mean_add(&sums->loss, squared / (2.0 * (double)steps * scale * scale));
    mean_add(&sums->largest, largest);
}

void nn_regression_add(struct nn_regression_sums *sums, const double *predictions,
                       const double *targets, const uint32_t *lengths, size_t n)
{
    size_t first = 0;
    for (size_t i = 0; i < n; i++) {
        NN_ASSERT(lengths[i] > 0);
        sequence_add(sums, predictions + first, targets + first, lengths[i]);
        first += lengths[i];
    }
}

double nn_regression_rmse(const struct nn_regression_sums *sums)
{
    return sums->target.n ? sqrt(sums->squared / (double)sums->target.n) : (double)NAN;
}

double nn_regression_loss(const struct nn_regression_sums *sums)
{
    return sums->loss.n ? sums->loss.mean : (double)NAN;
}

static struct nn_figure figure_plain(double value, uint64_t n)
{
    bool defined = n > 0;
    return (struct nn_figure){.defined = defined,
                              .value = defined ? value : (double)NAN,
                              .low = NAN,
                              .high = NAN,
                              .n = n,
                              .reason = defined ? NULL : NO_SAMPLES};
}

/* The mean of independent things, with Student's interval from two on. */
static struct nn_figure figure_mean(const struct nn_running_mean *mean)
{
    struct nn_figure figure = figure_plain(mean->mean, mean->n);
    if (mean->n >= 2 && isfinite(mean->mean) && isfinite(mean->squares)) {
        double n = (double)mean->n;
        double half = nn_student_t95(mean->n - 1) * sqrt(mean->squares / (n - 1.0) / n);
        figure.low = mean->mean - half;
        figure.high = mean->mean + half;
    }
    return figure;
}

static struct nn_figure figure_r2(const struct nn_regression_sums *sums)
{
    struct nn_figure figure =
        figure_plain(1.0 - sums->squared / sums->target.squares, sums->target.n);
    if (figure.defined && sums->target.squares == 0.0) {
        figure.defined = false;
        figure.value = NAN;
        figure.reason = CONSTANT_TARGETS;
    }
    return figure;
}

void nn_regression_finish(const struct nn_regression_sums *sums,
                          struct nn_regression_evaluation *out)
{
    uint64_t steps = sums->target.n;
    uint64_t sequences = sums->loss.n;
    *out = (struct nn_regression_evaluation){
        .options = sums->options,
        .sequences = sequences,
        .steps = steps,
        .non_finite = sums->non_finite,
        .non_finite_sequence = sums->non_finite_sequence,
        .non_finite_step = sums->non_finite_step,
        .figure =
            {
                [NN_REGRESSION_LOSS] = figure_mean(&sums->loss),
                [NN_REGRESSION_RMSE] = figure_plain(nn_regression_rmse(sums), steps),
                [NN_REGRESSION_MAE] = figure_plain(sums->absolute / (double)steps, steps),
                [NN_REGRESSION_R2] = figure_r2(sums),
                [NN_REGRESSION_MEAN_MAX_ABSOLUTE_ERROR] = figure_mean(&sums->largest),
                [NN_REGRESSION_LAST_STEP_RMSE] =
                    figure_plain(sqrt(sums->last_squared / (double)sequences), sequences),
                [NN_REGRESSION_PHM08_SCORE] = figure_plain(sums->score, sequences),
            },
    };
}
