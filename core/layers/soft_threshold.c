/* SPDX-License-Identifier: MIT
 *
 * soft_threshold: y = sign(x) max(|x| - t, 0). The threshold t is an option, or a second input with
 * a value a channel or one for all (of a sample, or of each pixel), as in residual shrinkage (Zhao
 * et al. 2020). Backward asks the output alone, so the pass runs in place.
 */
#include "core/layers/broadcast_internal.h"

struct options {
    double threshold;
};

static const struct jx_field FIELDS[] = {
    {.name = "threshold",
     .type = JX_REAL,
     .offset = offsetof(struct options, threshold),
     .min = 0,
     .max = 1e6,
     .fallback = "0.1",
     .doc = "what is not farther from 0 becomes 0; not read where a second input gives it"},
    JX_END,
};

const struct nn_layer_kind nn_kind_soft_threshold = {
    .name = "soft_threshold",
    .doc = "values move towards 0 by a threshold, and those within it become 0",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 2,
    .behind_flatten = true,
    .on_sequences = NN_SEQUENCES_BY_STEP,
    .plan = nn_broadcast_plan,
};

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)lanes;
    out->needs_output = true;
    out->in_place = true;
    out->gradient_in_place = pass->n_in == 1;
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    const struct options *options = pass->layers[0]->layer->options;
    nn_real fixed = (nn_real)options->threshold;
    bool given = pass->n_in == 2;
    const struct nn_shape one = {1, 1, 1};
    const struct nn_broadcast sizes = nn_broadcast_sizes(pass, run, given ? pass->in[1] : one);
    const struct nn_view t = given ? x[1] : (struct nn_view){&fixed, 0};
    const struct nn_operands args = {y.data, x[0].data, t.data, y.ld, x[0].ld, t.ld, false};
    nn_soft_threshold(run->exec, &sizes, &args);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    for (size_t k = 0; k < pass->n_in; k++) {
        const struct nn_gradient *to = &args->d_x[k];
        const struct nn_operands o = {to->view.data, args->d_y.data, args->y.data, to->view.ld,
                                      args->d_y.ld,  args->y.ld,     to->add};
        if (to->view.data && k == 0) {
            nn_soft_threshold_gradient(run->exec, &o, nn_pass_rows(pass, run->batch),
                                       pass->out.channels);
        } else if (to->view.data) {
            const struct nn_broadcast sizes = nn_broadcast_sizes(pass, run, pass->in[1]);
            nn_soft_threshold_sums(run->exec, &sizes, &o);
        }
    }
}

const struct nn_operator nn_op_soft_threshold = {
    .name = "soft_threshold",
    .pattern = {"soft_threshold"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
