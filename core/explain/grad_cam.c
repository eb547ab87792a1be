/* SPDX-License-Identifier: MIT
 *
 * Grad-CAM: one backward pass from a class's score to the feature layer, then the weighted sum.
 */
#include <string.h>

#include "core/explain/explain_internal.h"

static void backward_of_class(struct nn_explainer *explainer, size_t class_index)
{
    size_t classes = nn_network_output_size(explainer->network);
    nn_real *d_scores = nn_network_output_gradient(explainer->network);
    NN_ASSERT(class_index < classes);
    memset(d_scores, 0, classes * sizeof *d_scores);
    d_scores[class_index] = 1;
    nn_network_backward(explainer->network, 1);
}

/* weight[k] = mean over (y, x) of d score / d feature[y, x, k]; summed in double, row by row. */
static void mean_gradients(const struct nn_layer_view *features, nn_real *weights)
{
    size_t pixels = features->height * features->width;
    for (size_t k = 0; k < features->channels; k++) {
        double sum = 0;
        for (size_t row = 0; row < pixels; row++) {
            sum += (double)features->grad[row * features->grad_ld + k];
        }
        weights[k] = (nn_real)(sum / (double)pixels);
    }
}

static void weighted_sum(const struct nn_layer_view *features, const nn_real *weights, nn_real *map)
{
    for (size_t row = 0; row < features->height * features->width; row++) {
        const nn_real *feature = features->data + row * features->ld;
        double sum = 0;
        for (size_t k = 0; k < features->channels; k++) {
            sum += (double)weights[k] * (double)feature[k];
        }
        map[row] = sum > 0 ? (nn_real)sum : 0;
    }
}

void nn_explainer_grad_cam(struct nn_explainer *explainer, size_t class_index, nn_real *out_map)
{
    const struct nn_layer_view *features = &explainer->features;
    NN_ASSERT(explainer->feature_layer);
    backward_of_class(explainer, class_index);
    mean_gradients(features, explainer->weights);
    weighted_sum(features, explainer->weights, explainer->map);
    nn_map_resize(explainer->map, features->height, features->width, out_map,
                  explainer->setup.bind.height, explainer->setup.bind.width);
}

const nn_real *nn_explainer_map(const struct nn_explainer *explainer,
                                struct nn_explained_shape *out_shape)
{
    *out_shape =
        (struct nn_explained_shape){explainer->features.height, explainer->features.width, 1};
    return explainer->map;
}

const nn_real *nn_explainer_weights(const struct nn_explainer *explainer)
{
    return explainer->weights;
}

/* ---- enlarging ---- */

/* Between which two of n numbers a place of the larger axis lies, and how far. */
struct between {
    size_t low, high;
    double share; /* of high */
};

static struct between between(size_t at, size_t from, size_t to)
{
    double place = ((double)at + 0.5) * (double)from / (double)to - 0.5;
    place = place < 0 ? 0 : place;
    size_t low = (size_t)place;
    size_t high = low + 1 < from ? low + 1 : low;
    return (struct between){low, high, place - (double)low};
}

void nn_map_resize(const nn_real *src, size_t height, size_t width, nn_real *dst, size_t out_height,
                   size_t out_width)
{
    for (size_t y = 0; y < out_height; y++) {
        struct between v = between(y, height, out_height);
        const nn_real *above = src + v.low * width;
        const nn_real *below = src + v.high * width;
        for (size_t x = 0; x < out_width; x++) {
            struct between h = between(x, width, out_width);
            double top = (double)above[h.low] * (1 - h.share) + (double)above[h.high] * h.share;
            double bottom = (double)below[h.low] * (1 - h.share) + (double)below[h.high] * h.share;
            dst[y * out_width + x] = (nn_real)(top * (1 - v.share) + bottom * v.share);
        }
    }
}
