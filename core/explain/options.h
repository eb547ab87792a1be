/* SPDX-License-Identifier: MIT
 *
 * The `explain` object of a job: of which samples, by which methods, of which layers.
 */
#ifndef NN_EXPLAIN_OPTIONS_H
#define NN_EXPLAIN_OPTIONS_H

#include <jansson.h>

#include "core/data/prepared.h"
#include "core/explain/hiding.h"
#include "core/json/json.h"
#include "core/network/network.h"

enum { NN_EXPLAIN_SAMPLES_MAX = 256, NN_EXPLAIN_LAYERS_MAX = 16 };

enum nn_explain_method {
    NN_EXPLAIN_GRAD_CAM,
    NN_EXPLAIN_ACTIVATIONS,
    NN_EXPLAIN_OCCLUSION,
    NN_EXPLAIN_LIME,
    NN_EXPLAIN_METHODS
};
/* "grad_cam", "activations", "occlusion", "lime". */
const char *nn_explain_method_name(enum nn_explain_method method);
extern const struct jx_choice nn_explain_methods[];

struct nn_occlusion_options {
    struct jx_ints mask_size, stride;
    bool mask_size_given, stride_given;
};
extern const struct jx_field nn_occlusion_fields[];

struct nn_lime_options {
    int segmentation; /* enum nn_segmentation */
    int64_t segments, copies, seed;
};
extern const struct jx_field nn_lime_fields[];

/* Of what hides parts of samples: a job and a question about one sample have the same. */
struct nn_hiding_options {
    struct jx_reals mask_value;
    bool mask_value_given; /* false: the mean of what trained */
    struct nn_occlusion_options occlusion;
    bool occlusion_given;
    struct nn_lime_options lime;
    bool lime_given;
};
/* Rows of a table for `owner`, where such options are `inside`. */
#define NN_HIDING_ROWS(owner, inside)                                                              \
    {.name = "mask_value",                                                                         \
     .type = JX_REALS,                                                                             \
     .offset = offsetof(owner, inside.mask_value),                                                 \
     .given = JX_GIVEN(owner, inside.mask_value_given),                                            \
     .min_items = 1,                                                                               \
     .max_items = NN_SIGNAL_CHANNELS_MAX,                                                          \
     .scalar_too = true,                                                                           \
     .doc = "what occlusion and lime hide with, of pictures from 0 to 255: one value, or one for " \
            "each channel; default: the mean of what trained"},                                    \
        {.name = "occlusion",                                                                      \
         .type = JX_OBJECT,                                                                        \
         .offset = offsetof(owner, inside.occlusion),                                              \
         .given = JX_GIVEN(owner, inside.occlusion_given),                                         \
         .nullable = true,                                                                         \
         .fields = nn_occlusion_fields,                                                            \
         .doc = "how the mask of occlusion moves"},                                                \
    {                                                                                              \
        .name = "lime", .type = JX_OBJECT, .offset = offsetof(owner, inside.lime),                 \
        .given = JX_GIVEN(owner, inside.lime_given), .nullable = true, .fields = nn_lime_fields,   \
        .doc = "what lime hides"                                                                   \
    }

/* As decoded; everything is borrowed from the JSON. */
struct nn_explain_options {
    const json_t *samples; /* how many, or a list of items; NULL: 8 */
    int part;              /* enum nn_part, of those that are counted off */
    bool part_given;       /* false: the test part */
    const json_t *methods; /* NULL: grad_cam, and those whose options are given */
    const json_t *layers;
    const char *feature_layer; /* NULL: nn_description_features */
    struct nn_hiding_options hiding;
};
extern const struct jx_field nn_explain_fields[];

/* The network that is explained, and what it takes. */
struct nn_explain_subject {
    const struct nn_description *description;
    struct nn_network_bind bind;
    bool signals; /* windows, not pictures */
};

/* What they mean; names are borrowed. */
struct nn_explain_plan {
    bool by_item; /* items are named; else the first `samples` of the part, by the bytes of the
                     samples' digests, so that the choice is spread over the classes and the
                     same whatever the order of the files */
    size_t samples;
    size_t items[NN_EXPLAIN_SAMPLES_MAX];
    enum nn_part part;
    bool grad_cam, occludes, limes;
    const char *layers[NN_EXPLAIN_LAYERS_MAX];
    size_t n_layers; /* 0: no activations */
    const char *feature_layer;
    struct nn_occlusion occlusion;
    struct nn_lime lime;
    double fill[NN_SIGNAL_CHANNELS_MAX]; /* what hides, a value for each channel */
    bool fill_given;                     /* false: the mean of what trained */
};

/* Checks the options against a network of images or windows. NN_ERR_INVALID, NN_ERR_NOT_SUPPORTED
 * (a network of sequences, Grad-CAM where it does not apply), with a pointer relative to the
 * object. */
NN_MUST_CHECK enum nn_status nn_explain_plan(const struct nn_explain_options *options,
                                             const struct nn_explain_subject *subject,
                                             struct nn_explain_plan *out, struct nn_error *err);

/* The items that a plan means: at most NN_EXPLAIN_SAMPLES_MAX; items that the set does not have are
 * left out. `part` are the items of the plan's part. */
size_t nn_explain_choose(const struct nn_explain_plan *plan, const struct nn_prepared *prepared,
                         const uint32_t *part, size_t n_part,
                         size_t out_items[NN_EXPLAIN_SAMPLES_MAX]);

#endif
