/* SPDX-License-Identifier: MIT
 *
 * The learning rate of a step: what the schedule says, grown into by the warm-up.
 *
 * Cosine (Loshchilov, Hutter, SGDR, without restarts), t steps after the warm-up, T from there to
 * the end of the period:  minimum + (rate - minimum) / 2 * (1 + cos(pi t / T)), then the minimum.
 */
#include <math.h>

#include "core/solvers/solvers.h"

static uint64_t warmup_steps(const struct nn_warmup_options *warmup, uint64_t steps_per_epoch)
{
    uint64_t length = (uint64_t)warmup->length;
    return warmup->unit == NN_WARMUP_EPOCHS ? length * steps_per_epoch : length;
}

static double cosine(const struct nn_solver_options *options, uint64_t step, uint64_t begin,
                     uint64_t end)
{
    double low = options->schedule.minimum_learning_rate;
    if (step >= end) {
        return low;
    }
    if (step <= begin) {
        return options->learning_rate;
    }
    double share = (double)(step - begin) / (double)(end - begin);
    return low + (options->learning_rate - low) / 2 * (1 + cos(M_PI * share));
}

double nn_solver_learning_rate(const struct nn_solver_options *options, uint64_t step,
                               uint64_t steps_per_epoch)
{
    const struct nn_schedule_options *schedule = &options->schedule;
    uint64_t warm = warmup_steps(&schedule->warmup, steps_per_epoch);
    double rate = options->learning_rate;
    if (schedule->kind == NN_SCHEDULE_PIECEWISE) {
        uint64_t drops = step / steps_per_epoch / (uint64_t)schedule->drop_period;
        rate *= pow(schedule->drop_factor, (double)drops);
    } else if (schedule->kind == NN_SCHEDULE_COSINE) {
        rate = cosine(options, step, warm, (uint64_t)schedule->period * steps_per_epoch);
    }
    if (step < warm) {
        double start = schedule->warmup.start_factor;
        rate *= start + (1 - start) * ((double)step / (double)warm);
    }
    return rate;
}

enum nn_status nn_solver_options_check(const struct nn_solver_options *options,
                                       struct nn_error *err)
{
    const struct nn_schedule_options *schedule = &options->schedule;
    if (schedule->kind != NN_SCHEDULE_COSINE) {
        return NN_OK;
    }
    if (schedule->minimum_learning_rate > options->learning_rate) {
        return nn_fail_at(err, NN_ERR_INVALID, "/schedule/minimum_learning_rate",
                          "the minimum is over the learning rate %g", options->learning_rate);
    }
    if (schedule->warmup.unit == NN_WARMUP_EPOCHS && schedule->warmup.length >= schedule->period) {
        return nn_fail_at(err, NN_ERR_INVALID, "/schedule/warmup/length",
                          "nothing is left of the cosine's %lld epochs",
                          (long long)schedule->period);
    }
    return NN_OK;
}
