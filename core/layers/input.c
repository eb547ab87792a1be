/* SPDX-License-Identifier: MIT
 *
 * What image_input and sequence_input share: the normalisation of what enters.
 */
#include "core/layers/shape_internal.h"

static const struct nn_normalisation_options *options_of(const struct nn_layer *input)
{
    NN_ASSERT(input->kind->normalisation > 0);
    const char *options = input->options;
    return (const void *)(options + input->kind->normalisation - 1);
}

enum nn_normalisation nn_input_normalisation(const struct nn_layer *input,
                                             const struct nn_network_bind *bind)
{
    bool bound = bind && bind->normalisation != NN_NORMALISATION_DESCRIBED;
    return bound ? bind->normalisation : (enum nn_normalisation)options_of(input)->normalisation;
}

/* The parameters of a zscore normalisation. */
static enum nn_status plan_zscore(const struct nn_normalisation_options *options, const char *what,
                                  const struct nn_network_bind *bind, struct nn_layer_plan *plan,
                                  struct nn_layer_issue *issue)
{
    size_t channels = plan->out.channels;
    size_t n_mean = options->mean.count;
    size_t n_std = options->std.count;
    if ((n_mean > 1 && n_mean != channels) || (n_std > 1 && n_std != channels)) {
        return nn_layer_refuse(issue, n_mean > 1 && n_mean != channels ? "mean" : "std",
                               "give one number, or one for each of them",
                               "mean and std do not have a number for each of %zu %s", channels,
                               what);
    }
    bool bound = bind && bind->normalisation != NN_NORMALISATION_DESCRIBED;
    bool described = !bound && n_mean > 0 && n_std > 0;
    plan->parameters[0] = nn_vector_plan("mean", NN_ROLE_INPUT_MEAN, channels, 0, 0);
    plan->parameters[1] = nn_vector_plan("std", NN_ROLE_INPUT_STD, channels, 0, 0);
    plan->parameters[0].learnable = false;
    plan->parameters[1].learnable = false;
    plan->parameters[0].described = described;
    plan->parameters[1].described = described;
    plan->n_parameters = 2;
    return NN_OK;
}

enum nn_status nn_input_plan(const struct nn_layer *layer, struct nn_shape shape, const char *what,
                             const struct nn_network_bind *bind, struct nn_layer_plan *out,
                             struct nn_layer_issue *issue)
{
    struct nn_layer_plan plan = {.out = shape};
    enum nn_status status = NN_OK;
    if (shape.height == 0 || shape.width == 0 || shape.channels == 0) {
        *out = (struct nn_layer_plan){0}; /* unknown until there is a data set */
        return NN_OK;
    }
    if (nn_input_normalisation(layer, bind) == NN_NORMALISATION_ZSCORE) {
        status = plan_zscore(options_of(layer), what, bind, &plan, issue);
    }
    if (status == NN_OK) {
        *out = plan;
    }
    return status;
}

static void fill(nn_real *value, size_t n, const struct jx_reals *list, double fallback)
{
    for (size_t i = 0; i < n; i++) {
        double x = list->count == 0 ? fallback : list->value[list->count == 1 ? 0 : i];
        value[i] = (nn_real)x;
    }
}

void nn_input_initialize(const struct nn_placed *input)
{
    const struct nn_normalisation_options *options = options_of(input->layer);
    struct nn_parameter *mean = nn_placed_parameter(input, NN_ROLE_INPUT_MEAN);
    struct nn_parameter *std = nn_placed_parameter(input, NN_ROLE_INPUT_STD);
    if (mean && std) {
        fill(mean->value, mean->count, &options->mean, 0);
        fill(std->value, std->count, &options->std, 1);
    }
}

void nn_input_factors(const struct nn_placed *input, enum nn_normalisation normalisation,
                      const struct nn_input_factors *out)
{
    const nn_real *mean = nn_placed_value(input, NN_ROLE_INPUT_MEAN);
    const nn_real *std = nn_placed_value(input, NN_ROLE_INPUT_STD);
    for (size_t c = 0; c < input->plan.out.channels; c++) {
        double f = 1;
        double centre = 0;
        if (normalisation == NN_NORMALISATION_RESCALE_UNIT) {
            f = 1.0 / 255.0;
        } else if (normalisation == NN_NORMALISATION_RESCALE_SYMMETRIC) {
            f = 1.0 / 127.5;
            centre = 127.5;
        } else if (normalisation == NN_NORMALISATION_ZSCORE) {
            /* a constant channel has std 0: it becomes 0, not NaN */
            f = std[c] > 0 ? 1.0 / (double)std[c] : 1;
            centre = (double)mean[c];
        }
        out->factor[c] = (nn_real)f;
        out->offset[c] = (nn_real)(-centre * f);
        out->centre[c] = (nn_real)centre;
    }
}
