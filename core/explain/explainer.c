/* SPDX-License-Identifier: MIT
 *
 * A second network on the values of the trained one, built so that what is asked for stays
 * readable: for Grad-CAM one that can go backward with every layer frozen, so that only the
 * gradients between the scores and the feature layer are computed.
 */
#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/explain/explain_internal.h"

static enum nn_status choose_features(struct nn_explainer *explainer, struct nn_error *err)
{
    const struct nn_explainer_setup *setup = &explainer->setup;
    if (!setup->grad_cam) {
        return NN_OK;
    }
    const char *last = nn_description_features(setup->description, &setup->bind);
    if (!last || nn_description_task(setup->description) != NN_TASK_CLASSIFICATION) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED,
                       "Grad-CAM needs a network that classifies images or windows and has a layer "
                       "with height and width");
    }
    explainer->feature_layer = setup->feature_layer ? setup->feature_layer : last;
    return NN_OK;
}

/* What must stay readable: the layers asked for, then the feature layer; names may repeat. */
static enum nn_status list_names(struct nn_explainer *explainer, struct nn_error *err)
{
    const struct nn_explainer_setup *setup = &explainer->setup;
    size_t n = 0;
    while (nn_description_layer_name(setup->description, n)) {
        n++;
    }
    explainer->kept = nn_memory_alloc(setup->memory, setup->n_layers + 1, sizeof(char *));
    explainer->frozen = nn_memory_alloc(setup->memory, n, sizeof(char *));
    explainer->views =
        nn_memory_alloc(setup->memory, setup->n_layers + 1, sizeof *explainer->views);
    if (!explainer->kept || !explainer->frozen || !explainer->views) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to explain a network");
    }
    for (size_t i = 0; i < setup->n_layers; i++) {
        explainer->kept[explainer->n_kept++] = setup->layers[i];
    }
    if (explainer->feature_layer) {
        explainer->kept[explainer->n_kept++] = explainer->feature_layer;
    }
    for (size_t i = 0; i < n; i++) {
        explainer->frozen[i] = nn_description_layer_name(setup->description, i);
    }
    explainer->n_frozen = n;
    return NN_OK;
}

static enum nn_status make_network(struct nn_explainer *explainer, struct nn_error *err)
{
    const struct nn_explainer_setup *setup = &explainer->setup;
    const struct nn_network_options options = {
        .max_batch = 1,
        .phase = setup->grad_cam ? NN_PHASE_TRAINING : NN_PHASE_INFERENCE,
        .operators = setup->plain_operators ? NN_OPERATORS_PLAIN : NN_OPERATORS_OPTIMISED,
        .frozen = explainer->frozen,
        .n_frozen = explainer->n_frozen,
        .kept = explainer->kept,
        .n_kept = explainer->n_kept,
        .weights_of = setup->network,
        .kernels = setup->kernels,
        .memory = setup->memory,
        .pool = setup->pool,
    };
    return nn_network_create(setup->description, &setup->bind, &options, &explainer->network, err);
}

/* A last softmax is no row of the plan: it has no activation to show. */
static enum nn_status find_views(struct nn_explainer *explainer, struct nn_error *err)
{
    for (size_t i = 0; i < explainer->n_kept; i++) {
        if (!nn_network_activation(explainer->network, explainer->kept[i], &explainer->views[i])) {
            return nn_fail(err, NN_ERR_INVALID, "the layer \"%.64s\" keeps no activation",
                           explainer->kept[i]);
        }
    }
    if (!explainer->feature_layer) {
        return NN_OK;
    }
    explainer->features = explainer->views[explainer->n_kept - 1];
    if (explainer->features.height * explainer->features.width <= 1 || !explainer->features.grad) {
        return nn_fail(err, NN_ERR_INVALID,
                       "the layer \"%.64s\" is no map that the scores are made of",
                       explainer->feature_layer);
    }
    return NN_OK;
}

static enum nn_status make_buffers(struct nn_explainer *explainer, struct nn_error *err)
{
    const struct nn_layer_view *features = &explainer->features;
    size_t pixels = features->height * features->width;
    if (!explainer->feature_layer) {
        return NN_OK;
    }
    explainer->map = nn_memory_alloc(explainer->setup.memory, pixels, sizeof *explainer->map);
    explainer->weights =
        nn_memory_alloc(explainer->setup.memory, features->channels, sizeof *explainer->weights);
    return explainer->map && explainer->weights
               ? NN_OK
               : nn_fail(err, NN_ERR_MEMORY, "no memory to explain a network");
}

enum nn_status nn_explainer_create(const struct nn_explainer_setup *setup,
                                   struct nn_explainer **out, struct nn_error *err)
{
    struct nn_explainer *explainer = nn_memory_alloc(setup->memory, 1, sizeof *explainer);
    if (!explainer) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to explain a network");
    }
    *explainer = (struct nn_explainer){.setup = *setup};
    enum nn_status status = choose_features(explainer, err);
    status = status == NN_OK ? list_names(explainer, err) : status;
    status = status == NN_OK ? make_network(explainer, err) : status;
    status = status == NN_OK ? find_views(explainer, err) : status;
    status = status == NN_OK ? make_buffers(explainer, err) : status;
    if (status != NN_OK) {
        nn_explainer_destroy(explainer);
        return status;
    }
    *out = explainer;
    return NN_OK;
}

void nn_explainer_destroy(struct nn_explainer *explainer)
{
    if (explainer) {
        struct nn_memory *memory = explainer->setup.memory;
        nn_network_destroy(explainer->network);
        nn_memory_free(memory, explainer->weights);
        nn_memory_free(memory, explainer->map);
        nn_memory_free(memory, explainer->views);
        nn_memory_free(memory, explainer->frozen);
        nn_memory_free(memory, explainer->kept);
        nn_memory_free(memory, explainer);
    }
}

const char *nn_explainer_feature_layer(const struct nn_explainer *explainer)
{
    return explainer->feature_layer;
}

void nn_explainer_look(struct nn_explainer *explainer, const void *sample)
{
    if (explainer->setup.value_bytes == sizeof(float)) {
        nn_network_load_f32(explainer->network, sample, 1);
    } else {
        nn_network_load_u8(explainer->network, sample, 1);
    }
    nn_network_forward(explainer->network, 1,
                       explainer->setup.grad_cam ? NN_PHASE_EXPLANATION : NN_PHASE_INFERENCE, NULL);
}

const nn_real *nn_explainer_scores(const struct nn_explainer *explainer)
{
    return nn_network_output(explainer->network);
}

const nn_real *nn_explainer_probabilities(struct nn_explainer *explainer)
{
    return nn_network_probabilities(explainer->network, 1);
}

size_t nn_explainer_predicted(const struct nn_explainer *explainer)
{
    const nn_real *scores = nn_explainer_scores(explainer);
    size_t best = 0, n = nn_network_output_size(explainer->network);
    for (size_t k = 0; k < n; k++) {
        if (isnan(scores[k])) {
            return NN_NO_CLASS;
        }
        best = scores[k] > scores[best] ? k : best;
    }
    return isfinite(scores[best]) ? best : NN_NO_CLASS;
}

size_t nn_explainer_activation_count(const struct nn_explainer *explainer, size_t i,
                                     struct nn_explained_shape *out_shape)
{
    NN_ASSERT(i < explainer->setup.n_layers);
    struct nn_layer_view view = explainer->views[i];
    *out_shape = (struct nn_explained_shape){view.height, view.width, view.channels};
    return view.height * view.width * view.channels;
}

void nn_explainer_activation(const struct nn_explainer *explainer, size_t i, nn_real *out)
{
    NN_ASSERT(i < explainer->setup.n_layers);
    struct nn_layer_view view = explainer->views[i];
    for (size_t row = 0; row < view.height * view.width; row++) {
        memcpy(out + row * view.channels, view.data + row * view.ld, view.channels * sizeof *out);
    }
}
