/* SPDX-License-Identifier: MIT
 *
 * The `explain` object of a job: of which samples, by which methods, of which layers.
 */
#ifndef NN_EXPLAIN_OPTIONS_H
#define NN_EXPLAIN_OPTIONS_H

#include <jansson.h>

#include "core/data/prepared.h"
#include "core/json/json.h"
#include "core/network/network.h"

enum { NN_EXPLAIN_SAMPLES_MAX = 256, NN_EXPLAIN_LAYERS_MAX = 16 };

enum nn_explain_method { NN_EXPLAIN_GRAD_CAM, NN_EXPLAIN_ACTIVATIONS };
/* "grad_cam", "activations". */
const char *nn_explain_method_name(enum nn_explain_method method);

/* As decoded; everything is borrowed from the JSON. */
struct nn_explain_options {
    const json_t *samples; /* how many, or a list of items; NULL: 8 */
    int part;              /* enum nn_part, of those that are counted off */
    bool part_given;       /* false: the test part */
    const json_t *methods; /* NULL: grad_cam, and activations where layers are named */
    const json_t *layers;
    const char *feature_layer; /* NULL: nn_description_features */
};
extern const struct jx_field nn_explain_fields[];

/* What they mean; names are borrowed. */
struct nn_explain_plan {
    bool by_item; /* items are named; else the first `samples` of the part, by the bytes of the
                     pictures' digests, so that the choice is spread over the classes and the
                     same whatever the order of the files */
    size_t samples;
    size_t items[NN_EXPLAIN_SAMPLES_MAX];
    enum nn_part part;
    bool grad_cam;
    const char *layers[NN_EXPLAIN_LAYERS_MAX];
    size_t n_layers; /* 0: no activations */
    const char *feature_layer;
};

/* Checks the options against a network of images. NN_ERR_INVALID, NN_ERR_NOT_SUPPORTED (a network
 * of sequences, Grad-CAM where it does not apply), with a pointer relative to the object. */
NN_MUST_CHECK enum nn_status nn_explain_plan(const struct nn_explain_options *options,
                                             const struct nn_description *description,
                                             const struct nn_network_bind *bind,
                                             struct nn_explain_plan *out, struct nn_error *err);

/* The items that a plan means: at most NN_EXPLAIN_SAMPLES_MAX; items that the set does not have are
 * left out. `part` are the items of the plan's part. */
size_t nn_explain_choose(const struct nn_explain_plan *plan, const struct nn_prepared *prepared,
                         const uint32_t *part, size_t n_part,
                         size_t out_items[NN_EXPLAIN_SAMPLES_MAX]);

#endif
