/* SPDX-License-Identifier: MIT
 *
 * Why a trained network says what it says of a picture or a window of a signal, which is a picture
 * of one row: activations of chosen layers, and Grad-CAM (Selvaraju et al., 2017), the places that
 * speak for a class.
 *
 * One sample at a time, as in evaluation: stored statistics, no dropout, so a sample's numbers
 * depend on nothing but itself and the network. Confined to one thread.
 */
#ifndef NN_EXPLAIN_EXPLAIN_H
#define NN_EXPLAIN_EXPLAIN_H

#include "core/network/network.h"

struct nn_explainer_setup {
    const struct nn_description *description; /* of a network that classifies images or windows */
    struct nn_network_bind bind;
    struct nn_network *network; /* of that description and bind, whose values are used */
    const char *const *layers;  /* whose activations are wanted */
    size_t n_layers;
    size_t value_bytes; /* of the samples: 4, float32, of windows of signals; else pixels */
    bool grad_cam;
    const char *feature_layer;        /* of Grad-CAM; NULL: nn_description_features */
    bool plain_operators;             /* as in struct nn_network_options, as are these: */
    const struct nn_kernels *kernels; /* NULL: the best */
    struct nn_memory *memory;
    struct nn_pool *pool;
};

struct nn_explainer;

/* Everything in the setup is borrowed until destroy. NN_ERR_INVALID: a layer that there is not (the
 * text names it), or a feature layer without height and width. NN_ERR_NOT_SUPPORTED: Grad-CAM of a
 * network that takes sequences, classifies nothing or has no layer that is a map. NN_ERR_LIMIT,
 * NN_ERR_MEMORY: as nn_network_create. */
NN_MUST_CHECK enum nn_status nn_explainer_create(const struct nn_explainer_setup *setup,
                                                 struct nn_explainer **out, struct nn_error *err);
void nn_explainer_destroy(struct nn_explainer *explainer);

/* NULL without Grad-CAM. */
const char *nn_explainer_feature_layer(const struct nn_explainer *explainer);

/* Runs a sample: height x width x channels values, as in a prepared set. */
void nn_explainer_look(struct nn_explainer *explainer, const void *sample);

/* Of the sample looked at: the scores of the classes before the softmax, the softmax of them, and
 * the class of the largest (the first of equals), NN_NO_CLASS where they are not all numbers.
 * Borrowed until the next look. */
const nn_real *nn_explainer_scores(const struct nn_explainer *explainer);
const nn_real *nn_explainer_probabilities(struct nn_explainer *explainer);
size_t nn_explainer_predicted(const struct nn_explainer *explainer);

/* Numbers of the activation of setup->layers[i]: height x width x channels of *out_shape, channels
 * last. */
struct nn_explained_shape {
    size_t height, width, channels;
};
size_t nn_explainer_activation_count(const struct nn_explainer *explainer, size_t i,
                                     struct nn_explained_shape *out_shape);
void nn_explainer_activation(const struct nn_explainer *explainer, size_t i, nn_real *out);

/* Grad-CAM of a class for the sample looked at:
 *     weight[k] = mean over (y, x) of d score[class] / d feature[y, x, k]
 *     map[y, x] = max(0, sum over k of weight[k] * feature[y, x, k])
 * (equations 1 and 2 of the paper; the score is the one before the softmax). out_map: the sample's
 * height x width numbers, the map enlarged by nn_map_resize; not scaled. */
void nn_explainer_grad_cam(struct nn_explainer *explainer, size_t class_index, nn_real *out_map);
/* The same before it was enlarged, with its size; and the weights, one for each channel. Of the
 * last nn_explainer_grad_cam; borrowed until the next. */
const nn_real *nn_explainer_map(const struct nn_explainer *explainer,
                                struct nn_explained_shape *out_shape);
const nn_real *nn_explainer_weights(const struct nn_explainer *explainer);

/* Bilinear with pixel centres at +0.5 and the edges held, as PyTorch's interpolate with
 * align_corners=False: src is height x width, dst out_height x out_width; they do not overlap. */
void nn_map_resize(const nn_real *src, size_t height, size_t width, nn_real *dst, size_t out_height,
                   size_t out_width);

#endif
