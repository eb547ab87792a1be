/* SPDX-License-Identifier: MIT
 *
 * image_input: where images enter, with their normalisation. Has no operator: the network loads
 * pixels straight into this layer's activation, normalising on the way.
 */
#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

struct options {
    size_t height, width, channels;
    struct nn_normalisation_options normalisation;
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
     .offset = offsetof(struct options, normalisation.normalisation),
     .choices = NORMALISATIONS,
     .fallback = "\"rescale_unit\"",
     .doc = "what happens to the pixels"},
    NN_STATISTIC_FIELD(struct options, normalisation, mean, -1e6, 1e6,
                       "zscore: mean of each channel, or one for all"),
    NN_STATISTIC_FIELD(struct options, normalisation, std, 0, 1e6,
                       "zscore: standard deviation of each channel, or one for all; 0 counts as 1"),
    JX_END,
};

static enum nn_status check_side(size_t described, size_t bound, const char *field,
                                 const char *mend, struct nn_layer_issue *issue)
{
    if (described == 0 || bound == 0 || described == bound) {
        return NN_OK;
    }
    return nn_layer_refuse(issue, field, mend,
                           "the %s is %zu, but the images of the data set have %zu", field,
                           described, bound);
}

static enum nn_status check_shape(const struct options *options, const struct nn_network_bind *b,
                                  struct nn_layer_issue *issue)
{
    static const char SIZE[] =
        "give 0 (to a named network as size) to take the data set's; or import the "
        "images with this size (image_size)";
    static const char CHANNELS[] = "leave it out, or give 0, to take the data set's; or import "
                                   "grey images with three channels (channels)";
    enum nn_status status = check_side(options->height, b->height, "height", SIZE, issue);
    status = status == NN_OK ? check_side(options->width, b->width, "width", SIZE, issue) : status;
    return status == NN_OK ? check_side(options->channels, b->channels, "channels", CHANNELS, issue)
                           : status;
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
    if (b->features > 0) {
        return nn_layer_refuse(issue, NULL, "begin with a layer of kind sequence_input",
                               "the data set holds sequences, not images");
    }
    enum nn_status status = check_shape(options, b, issue);
    const struct nn_shape shape = {options->height > 0 ? options->height : b->height,
                                   options->width > 0 ? options->width : b->width,
                                   options->channels > 0 ? options->channels : b->channels};
    return status == NN_OK ? nn_input_plan(layer, shape, "channels", bind, out, issue) : status;
}

const struct nn_layer_kind nn_kind_image_input = {
    .name = "image_input",
    .doc = "images of the data set, normalised",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 0,
    .max_inputs = 0,
    .normalisation = offsetof(struct options, normalisation) + 1,
    .plan = plan,
};
