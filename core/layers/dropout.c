/* SPDX-License-Identifier: MIT
 *
 * dropout: in TRAINING each value is dropped with probability `rate` and the others divided by
 * 1 - rate; else nothing happens. The mask is a function of (seed, layer, epoch, sample, element),
 * so backward draws it again instead of keeping it.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

struct options {
    double rate;
};

static const struct jx_field FIELDS[] = {
    {.name = "rate",
     .type = JX_REAL,
     .offset = offsetof(struct options, rate),
     .min = 0,
     .max = 1,
     .below_max = true,
     .fallback = "0.5",
     .doc = "probability of dropping a value"},
    JX_END,
};

const struct nn_layer_kind nn_kind_dropout = {
    .name = "dropout",
    .doc = "values dropped at random while training",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = nn_same_shape_plan,
};

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)pass;
    (void)lanes;
    out->in_place = true;
    out->gradient_in_place = true;
}

static double rate_of(const struct nn_pass *pass)
{
    return ((const struct options *)pass->layers[0]->layer->options)->rate;
}

static void copy(const struct nn_pass *pass, const struct nn_run *run, struct nn_view y,
                 struct nn_view x, bool add)
{
    if (x.data != y.data) {
        nn_copy(run->exec, y.data, y.ld, add, x.data, x.ld, nn_pass_rows(pass, run->batch),
                pass->out.channels);
    }
}

static void drop(const struct nn_pass *pass, const struct nn_run *run, struct nn_view y,
                 struct nn_view x, bool add)
{
    struct nn_dropout dropout = {
        .rate = rate_of(pass),
        .seed = run->step->seed,
        .epoch = run->step->epoch,
        .layer = pass->layers[0]->number,
        .first_sample = run->step->first_sample,
        .rows_per_sample = nn_pass_rows(pass, 1),
        .rows = nn_pass_rows(pass, run->batch),
        .columns = pass->out.channels,
        .accumulate = add,
    };
    if (run->rows) {
        dropout.steps = run->rows->steps;
        dropout.starts = run->rows->starts;
        dropout.active = run->rows->active;
        dropout.samples = run->rows->samples;
    }
    nn_dropout(run->exec, &dropout, y.data, y.ld, x.data, x.ld);
}

static bool drops(const struct nn_pass *pass, const struct nn_run *run)
{
    return run->phase == NN_PHASE_TRAINING && rate_of(pass) > 0;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    (drops(pass, run) ? drop : copy)(pass, run, y, x[0], false);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    (drops(pass, run) ? drop : copy)(pass, run, args->d_x[0].view, args->d_y, args->d_x[0].add);
}

const struct nn_operator nn_op_dropout = {
    .name = "dropout",
    .pattern = {"dropout"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
