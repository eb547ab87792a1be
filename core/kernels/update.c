/* SPDX-License-Identifier: MIT
 *
 * Solver steps, cut into chunks.
 */
#include "core/kernels/update.h"

#include "core/kernels/chunks_internal.h"
#include "core/kernels/table.h"

#define CHUNK 16384

typedef void (*step_fn)(const struct nn_step_args *args);

struct step_run {
    step_fn fn;
    struct nn_step_args all;
};

static void step_chunk(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct step_run *p = ctx;
    struct nn_step_args args = p->all;
    size_t first = chunk * CHUNK;
    args.n = nn_min(CHUNK, args.n - first);
    args.value += first;
    args.gradient += first;
    args.slot += first;
    args.slot2 = args.slot2 ? args.slot2 + first : NULL;
    p->fn(&args);
}

static void step(const struct nn_exec *exec, step_fn fn, const struct nn_step_args *args)
{
    struct step_run run = {fn, *args};
    nn_parallel_for(exec->pool, nn_div_up(args->n, CHUNK), step_chunk, &run);
}

static struct nn_step_args step_args(const struct nn_update *update, nn_real *slot)
{
    return (struct nn_step_args){.n = update->n,
                                 .value = update->value,
                                 .slot = slot,
                                 .gradient = update->gradient,
                                 .gradient_factor = update->gradient_factor,
                                 .l2 = update->l2,
                                 .rate = update->rate};
}

void nn_update_sgdm(const struct nn_exec *exec, const struct nn_update *update, nn_real *delta,
                    double momentum)
{
    struct nn_step_args args = step_args(update, delta);
    args.decay = (nn_real)momentum;
    step(exec, exec->kernels->sgdm, &args);
}

void nn_update_nesterov(const struct nn_exec *exec, const struct nn_update *update, nn_real *delta,
                        double momentum)
{
    struct nn_step_args args = step_args(update, delta);
    args.decay = (nn_real)momentum;
    step(exec, exec->kernels->nesterov, &args);
}

void nn_update_rmsprop(const struct nn_exec *exec, const struct nn_update *update, nn_real *square,
                       double decay, double epsilon)
{
    struct nn_step_args args = step_args(update, square);
    args.square_decay = (nn_real)decay;
    args.square_fresh = (nn_real)(1 - decay);
    args.epsilon = (nn_real)epsilon;
    step(exec, exec->kernels->rmsprop, &args);
}

void nn_update_adam(const struct nn_exec *exec, const struct nn_update *update, nn_real *mean,
                    nn_real *square, const struct nn_adam *adam)
{
    struct nn_step_args args = step_args(update, mean);
    args.slot2 = square;
    args.rate = (nn_real)((double)update->rate / adam->correction);
    args.decay = (nn_real)adam->decay;
    args.fresh = (nn_real)(1 - adam->decay);
    args.square_decay = (nn_real)adam->square_decay;
    args.square_fresh = (nn_real)(1 - adam->square_decay);
    args.epsilon = (nn_real)adam->epsilon;
    args.square_factor = (nn_real)(1 / adam->square_correction);
    args.keep = (nn_real)(1 - adam->shrink);
    step(exec, exec->kernels->adam, &args);
}
