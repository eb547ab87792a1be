/* SPDX-License-Identifier: MIT
 *
 * image_input: where images enter, with their normalisation. Has no operator: the network loads
 * pixels straight into this layer's activation, normalising on the way.
 */
#include <math.h>

#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

struct options {
    size_t height, width, channels;
    int normalisation;
    struct jx_reals mean, std;
};

static const struct jx_choice NORMALISATIONS[] = {
    {"none", NN_NORMALISATION_NONE, "pixels from 0 to 255 as they are"},
    {"rescale_unit", NN_NORMALISATION_RESCALE_UNIT, "from 0 to 1"},
    {"rescale_symmetric", NN_NORMALISATION_RESCALE_SYMMETRIC, "from -1 to 1"},
    {"zscore", NN_NORMALISATION_ZSCORE,
     "(x - mean) / std of each channel, x from 0 to 255; taken from the training data if not "
     "given"},
    JX_END,
};

static const struct jx_field FIELDS[] = {
    {.name = "height",
     .type = JX_SIZE,
     .offset = offsetof(struct options, height),
     .min = 0,
     .max = 1048576,
     .fallback = "0",
     .doc = "rows of an image; 0: as in the data set"},
    {.name = "width",
     .type = JX_SIZE,
     .offset = offsetof(struct options, width),
     .min = 0,
     .max = 1048576,
     .fallback = "0",
     .doc = "columns of an image; 0: as in the data set"},
    {.name = "channels",
     .type = JX_SIZE,
     .offset = offsetof(struct options, channels),
     .min = 0,
     .max = 1048576,
     .fallback = "0",
     .doc = "values of a pixel; 0: as in the data set"},
    {.name = "normalisation",
     .type = JX_ENUM,
     .offset = offsetof(struct options, normalisation),
     .choices = NORMALISATIONS,
     .fallback = "\"rescale_unit\"",
     .doc = "what happens to the pixels"},
    {.name = "mean",
     .type = JX_REALS,
     .offset = offsetof(struct options, mean),
     .min = -1e6,
     .max = 1e6,
     .scalar_too = true,
     .fallback = "[]",
     .doc = "zscore: mean of each channel, or one for all"},
    {.name = "std",
     .type = JX_REALS,
     .offset = offsetof(struct options, std),
     .min = 0,
     .max = 1e6,
     .scalar_too = true,
     .fallback = "[]",
     .doc = "zscore: standard deviation of each channel, or one for all; 0 counts as 1"},
    JX_END,
};

enum nn_normalisation nn_image_input_normalisation(const struct nn_layer *input,
                                                   const struct nn_network_bind *bind)
{
    const struct options *options = input->options;
    bool bound = bind && bind->normalisation != NN_NORMALISATION_DESCRIBED;
    return bound ? bind->normalisation : (enum nn_normalisation)options->normalisation;
}

static enum nn_status check_side(size_t described, size_t bound, const char *field,
                                 struct nn_layer_issue *issue)
{
    if (described == 0 || bound == 0 || described == bound) {
        return NN_OK;
    }
    return nn_layer_refuse(issue, field, "leave it out, or give 0, to take the data set's",
                           "the %s is %zu, but the images of the data set have %zu", field,
                           described, bound);
}

static enum nn_status check_statistics(const struct options *options, size_t channels,
                                       struct nn_layer_issue *issue)
{
    size_t n_mean = options->mean.count;
    size_t n_std = options->std.count;
    if ((n_mean > 1 && n_mean != channels) || (n_std > 1 && n_std != channels)) {
        return nn_layer_refuse(issue, n_mean > 1 && n_mean != channels ? "mean" : "std",
                               "give one number, or one for each channel",
                               "mean and std do not have a number for each of %zu channels",
                               channels);
    }
    return NN_OK;
}

static void plan_statistics(const struct options *options, size_t channels, bool bound,
                            struct nn_layer_plan *plan)
{
    bool described = !bound && options->mean.count > 0 && options->std.count > 0;
    plan->parameters[0] = nn_vector_plan("mean", NN_ROLE_INPUT_MEAN, channels, 0, 0);
    plan->parameters[1] = nn_vector_plan("std", NN_ROLE_INPUT_STD, channels, 0, 0);
    plan->parameters[0].learnable = false;
    plan->parameters[1].learnable = false;
    plan->parameters[0].described = described;
    plan->parameters[1].described = described;
    plan->n_parameters = 2;
}

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)in;
    (void)n_in;
    const struct options *options = layer->options;
    struct nn_network_bind unbound = {0};
    const struct nn_network_bind *b = bind ? bind : &unbound;
    enum nn_status status = check_side(options->height, b->height, "height", issue);
    status = status == NN_OK ? check_side(options->width, b->width, "width", issue) : status;
    status =
        status == NN_OK ? check_side(options->channels, b->channels, "channels", issue) : status;
    if (status != NN_OK) {
        return status;
    }
    struct nn_layer_plan plan = {.out = {options->height > 0 ? options->height : b->height,
                                         options->width > 0 ? options->width : b->width,
                                         options->channels > 0 ? options->channels : b->channels}};
    if (plan.out.height == 0 || plan.out.width == 0 || plan.out.channels == 0) {
        *out = (struct nn_layer_plan){0}; /* unknown until there is a data set */
        return NN_OK;
    }
    if (nn_image_input_normalisation(layer, bind) == NN_NORMALISATION_ZSCORE) {
        status = check_statistics(options, plan.out.channels, issue);
        if (status != NN_OK) {
            return status;
        }
        plan_statistics(options, plan.out.channels, b->normalisation != NN_NORMALISATION_DESCRIBED,
                        &plan);
    }
    *out = plan;
    return NN_OK;
}

static void fill(nn_real *value, size_t n, const struct jx_reals *list, double fallback)
{
    for (size_t i = 0; i < n; i++) {
        double x = list->count == 0 ? fallback : list->value[list->count == 1 ? 0 : i];
        value[i] = (nn_real)x;
    }
}

void nn_image_input_initialize(const struct nn_placed *input)
{
    const struct options *options = input->layer->options;
    struct nn_parameter *mean = nn_placed_parameter(input, NN_ROLE_INPUT_MEAN);
    struct nn_parameter *std = nn_placed_parameter(input, NN_ROLE_INPUT_STD);
    if (mean && std) {
        fill(mean->value, mean->count, &options->mean, 0);
        fill(std->value, std->count, &options->std, 1);
    }
}

void nn_image_input_factors(const struct nn_placed *input, enum nn_normalisation normalisation,
                            nn_real *factor, nn_real *offset)
{
    const nn_real *mean = nn_placed_value(input, NN_ROLE_INPUT_MEAN);
    const nn_real *std = nn_placed_value(input, NN_ROLE_INPUT_STD);
    for (size_t c = 0; c < input->plan.out.channels; c++) {
        double f = 1;
        double o = 0;
        if (normalisation == NN_NORMALISATION_RESCALE_UNIT) {
            f = 1.0 / 255.0;
        } else if (normalisation == NN_NORMALISATION_RESCALE_SYMMETRIC) {
            f = 1.0 / 127.5;
            o = -1;
        } else if (normalisation == NN_NORMALISATION_ZSCORE) {
            /* a constant channel has std 0: it becomes 0, not NaN */
            f = std[c] > 0 ? 1.0 / (double)std[c] : 1;
            o = -(double)mean[c] * f;
        }
        factor[c] = (nn_real)f;
        offset[c] = (nn_real)o;
    }
}

const struct nn_layer_kind nn_kind_image_input = {
    .name = "image_input",
    .doc = "images of the data set, normalised",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 0,
    .max_inputs = 0,
    .plan = plan,
};
