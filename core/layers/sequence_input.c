/* SPDX-License-Identifier: MIT
 *
 * sequence_input: where sequences enter, a row of features for each step, with their normalisation.
 * Has no operator: the network packs sequences straight into this layer's activation.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

struct options {
    size_t features;
    struct nn_normalisation_options normalisation;
};

static const struct jx_choice NORMALISATIONS[] = {
    {"none", NN_NORMALISATION_NONE, "features as they are"},
    {"zscore", NN_NORMALISATION_ZSCORE,
     "(x - mean) / std of each feature; taken from the training data if not given"},
    JX_END,
};

static const struct jx_field FIELDS[] = {
    {.name = "features",
     .type = JX_SIZE,
     .offset = offsetof(struct options, features),
     .min = 0,
     .max = 65536,
     .fallback = "0",
     .doc = "numbers of a step; 0: as in the data set"},
    {.name = "normalisation",
     .type = JX_ENUM,
     .offset = offsetof(struct options, normalisation.normalisation),
     .choices = NORMALISATIONS,
     .fallback = "\"zscore\"",
     .doc = "what happens to the features"},
    NN_STATISTIC_FIELD(struct options, normalisation, mean, -1e30, 1e30,
                       "zscore: mean of each feature, or one for all"),
    NN_STATISTIC_FIELD(struct options, normalisation, std, 0, 1e30,
                       "zscore: standard deviation of each feature, or one for all; 0 counts as 1"),
    JX_END,
};

static enum nn_status check_data(size_t described, const struct nn_network_bind *bind,
                                 struct nn_layer_issue *issue)
{
    if (bind && bind->signals) {
        return nn_layer_refuse(
            issue, NULL,
            "begin with a layer of kind image_input: a window enters as an image "
            "of one row",
            "the data set holds windows of signals, not sequences");
    }
    if (bind && (bind->height > 0 || bind->channels > 0)) {
        return nn_layer_refuse(issue, NULL, "begin with a layer of kind image_input",
                               "the data set holds images, not sequences");
    }
    if (bind && described > 0 && bind->features > 0 && described != bind->features) {
        return nn_layer_refuse(issue, "features", "leave it out, or give 0, to take the data set's",
                               "the steps have %zu features, but those of the data set have %zu",
                               described, bind->features);
    }
    return NN_OK;
}

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)in;
    (void)n_in;
    const struct options *options = layer->options;
    enum nn_status status = check_data(options->features, bind, issue);
    size_t features = options->features > 0 ? options->features : (bind ? bind->features : 0);
    if (status == NN_OK) {
        status =
            nn_input_plan(layer, (struct nn_shape){1, 1, features}, "features", bind, out, issue);
    }
    if (status == NN_OK) {
        out->sequence = features > 0;
    }
    return status;
}

const struct nn_layer_kind nn_kind_sequence_input = {
    .name = "sequence_input",
    .doc = "sequences of the data set, normalised",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 0,
    .max_inputs = 0,
    .normalisation = offsetof(struct options, normalisation) + 1,
    .plan = plan,
};
