/* SPDX-License-Identifier: MIT
 *
 * The options of explanations: their table, what they mean, which samples they choose.
 */
#include <string.h>

#include "core/explain/options_internal.h"

enum { SAMPLES_DEFAULT = 8 };

const struct jx_choice nn_explain_methods[] = {
    {"grad_cam", NN_EXPLAIN_GRAD_CAM, "the places of a sample that speak for a class"},
    {"activations", NN_EXPLAIN_ACTIVATIONS, "the outputs of the layers that are named"},
    {"occlusion", NN_EXPLAIN_OCCLUSION, "how far the score falls where a mask hides a place"},
    {"lime", NN_EXPLAIN_LIME, "what each segment is worth in a linear model of the network"},
    JX_END,
};

static const struct jx_choice PARTS[] = {
    {"validation", NN_PART_VALIDATION, ""},
    {"test", NN_PART_TEST, ""},
    JX_END,
};

static const struct jx_field METHOD_ITEM = {
    .name = "method", .type = JX_ENUM, .choices = nn_explain_methods};
static const struct jx_field LAYER_ITEM = {.name = "layer", .type = JX_STRING, .min = 1, .max = 64};

#define OFFSET(member) offsetof(struct nn_explain_options, member)
const struct jx_field nn_explain_fields[] = {
    {.name = "samples",
     .type = JX_ANY,
     .offset = OFFSET(samples),
     .doc = "how many samples of the part, 1 to 256, or a list of items of the data set; "
            "default: 8"},
    {.name = "part",
     .type = JX_ENUM,
     .offset = OFFSET(part),
     .given = JX_GIVEN(struct nn_explain_options, part_given),
     .choices = PARTS,
     .doc = "part that the samples are taken from, unless they are named; default: test, or "
            "validation where nothing is tested"},
    {.name = "methods",
     .type = JX_ARRAY,
     .offset = OFFSET(methods),
     .items = &METHOD_ITEM,
     .min_items = 1,
     .max_items = NN_EXPLAIN_METHODS,
     .doc = "default: grad_cam, and those whose layers or options are given"},
    {.name = "layers",
     .type = JX_ARRAY,
     .offset = OFFSET(layers),
     .items = &LAYER_ITEM,
     .min_items = 1,
     .max_items = NN_EXPLAIN_LAYERS_MAX,
     .doc = "layers whose activations are kept"},
    {.name = "feature_layer",
     .type = JX_STRING,
     .offset = OFFSET(feature_layer),
     .min = 1,
     .max = 64,
     .doc = "layer whose maps grad_cam weighs; default: the last with height and width"},
    NN_HIDING_ROWS(struct nn_explain_options, hiding),
    JX_END,
};

const char *nn_explain_method_name(enum nn_explain_method method)
{
    return jx_choice_name(nn_explain_methods, (int)method);
}

/* ---- what they mean ---- */

static enum nn_status read_count(const json_t *samples, struct nn_explain_plan *plan,
                                 struct nn_error *err)
{
    json_int_t n = json_integer_value(samples);
    if (n < 1 || n > NN_EXPLAIN_SAMPLES_MAX) {
        return nn_fail_at(err, NN_ERR_INVALID, "/samples", "1 to %d samples are explained",
                          NN_EXPLAIN_SAMPLES_MAX);
    }
    plan->samples = (size_t)n;
    return NN_OK;
}

static enum nn_status read_items(const json_t *list, struct nn_explain_plan *plan,
                                 struct nn_error *err)
{
    size_t n = json_array_size(list);
    if (n < 1 || n > NN_EXPLAIN_SAMPLES_MAX) {
        return nn_fail_at(err, NN_ERR_INVALID, "/samples", "1 to %d samples are explained",
                          NN_EXPLAIN_SAMPLES_MAX);
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        char pointer[64];
        jx_pointer_index("/samples", i, pointer, sizeof pointer);
        if (!json_is_integer(item) || json_integer_value(item) < 0) {
            return nn_fail_at(err, NN_ERR_INVALID, pointer, "the number of an item is expected");
        }
        plan->items[i] = (size_t)json_integer_value(item);
        for (size_t k = 0; k < i; k++) {
            if (plan->items[k] == plan->items[i]) {
                return nn_fail_at(err, NN_ERR_INVALID, pointer, "the item stands twice");
            }
        }
    }
    plan->by_item = true;
    plan->samples = n;
    return NN_OK;
}

static enum nn_status read_samples(const json_t *samples, struct nn_explain_plan *plan,
                                   struct nn_error *err)
{
    if (!samples) {
        plan->samples = SAMPLES_DEFAULT;
        return NN_OK;
    }
    if (json_is_integer(samples)) {
        return read_count(samples, plan, err);
    }
    return json_is_array(samples) ? read_items(samples, plan, err)
                                  : nn_fail_at(err, NN_ERR_INVALID, "/samples",
                                               "a number or a list of items is expected");
}

static bool wants(const struct nn_explain_options *options, enum nn_explain_method method)
{
    size_t i;
    json_t *item;
    if (!options->methods) {
        const bool by_default[NN_EXPLAIN_METHODS] = {true, options->layers != NULL,
                                                     options->hiding.occlusion_given,
                                                     options->hiding.lime_given};
        return by_default[method];
    }
    json_array_foreach(options->methods, i, item)
    {
        const char *name = json_string_value(item);
        if (name && strcmp(name, nn_explain_method_name(method)) == 0) {
            return true;
        }
    }
    return false;
}

static enum nn_status read_layers(const struct nn_explain_options *options,
                                  const struct nn_description *description,
                                  struct nn_explain_plan *plan, struct nn_error *err)
{
    bool wanted = wants(options, NN_EXPLAIN_ACTIVATIONS);
    if (wanted != (options->layers != NULL)) {
        return nn_fail_at(err, NN_ERR_INVALID, "/layers",
                          wanted ? "activations are of layers: name them"
                                 : "layers are named for activations alone");
    }
    for (size_t i = 0; i < json_array_size(options->layers); i++) {
        const char *name = json_string_value(json_array_get(options->layers, i));
        char pointer[64];
        jx_pointer_index("/layers", i, pointer, sizeof pointer);
        if (!nn_description_shows(description, name)) {
            return nn_fail_at(err, NN_ERR_INVALID, pointer,
                              "the network has no layer called \"%.64s\" whose activation is kept",
                              name);
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(plan->layers[k], name) == 0) {
                return nn_fail_at(err, NN_ERR_INVALID, pointer, "the layer stands twice");
            }
        }
        plan->layers[plan->n_layers++] = name;
    }
    return NN_OK;
}

static enum nn_status read_features(const struct nn_explain_options *options,
                                    const struct nn_explain_subject *subject,
                                    struct nn_explain_plan *plan, struct nn_error *err)
{
    plan->grad_cam = wants(options, NN_EXPLAIN_GRAD_CAM);
    if (!plan->grad_cam) {
        return options->feature_layer ? nn_fail_at(err, NN_ERR_INVALID, "/feature_layer",
                                                   "a feature layer is for grad_cam alone")
                                      : NN_OK;
    }
    if (!nn_description_features(subject->description, &subject->bind)) {
        return nn_fail_at(err, NN_ERR_NOT_SUPPORTED, "/methods",
                          "grad_cam needs a network with a layer that has height and width");
    }
    if (options->feature_layer &&
        !nn_description_is_map(subject->description, &subject->bind, options->feature_layer)) {
        return nn_fail_at(err, NN_ERR_INVALID, "/feature_layer",
                          "the network has no layer called \"%.64s\" with height and width",
                          options->feature_layer);
    }
    plan->feature_layer = options->feature_layer;
    return NN_OK;
}

enum nn_status nn_explain_plan(const struct nn_explain_options *options,
                               const struct nn_explain_subject *subject,
                               struct nn_explain_plan *out, struct nn_error *err)
{
    const struct nn_description *description = subject->description;
    struct nn_explain_plan plan = {.part = options->part_given ? (enum nn_part)options->part
                                                               : NN_PART_TEST};
    if (nn_description_takes_sequences(description) ||
        nn_description_task(description) != NN_TASK_CLASSIFICATION) {
        return nn_fail_at(err, NN_ERR_NOT_SUPPORTED, "",
                          "only networks that classify images or windows of signals are explained");
    }
    enum nn_status status = read_samples(options->samples, &plan, err);
    if (status == NN_OK) {
        status = read_layers(options, description, &plan, err);
    }
    if (status == NN_OK) {
        status = read_features(options, subject, &plan, err);
    }
    if (status == NN_OK) {
        plan.occludes = wants(options, NN_EXPLAIN_OCCLUSION);
        plan.limes = wants(options, NN_EXPLAIN_LIME);
        status = nn_explain_plan_hiding(&options->hiding, subject, &plan, err);
    }
    if (status == NN_OK) {
        *out = plan;
    }
    return status;
}

/* ---- which samples ---- */

static bool is_before(const struct nn_prepared *prepared, size_t a, size_t b)
{
    int order = memcmp(nn_prepared_item_digest(prepared, a), nn_prepared_item_digest(prepared, b),
                       NN_DIGEST_BYTES);
    return order < 0 || (order == 0 && a < b);
}

/* Keeps the first `most` of what is put in, in order. */
static void keep_first(const struct nn_prepared *prepared, size_t item, size_t most, size_t *items,
                       size_t *n)
{
    size_t at = *n;
    if (at == most && !is_before(prepared, item, items[at - 1])) {
        return;
    }
    at -= at == most ? 1 : 0;
    *n = at + 1;
    while (at > 0 && is_before(prepared, item, items[at - 1])) {
        items[at] = items[at - 1];
        at--;
    }
    items[at] = item;
}

size_t nn_explain_choose(const struct nn_explain_plan *plan, const struct nn_prepared *prepared,
                         const uint32_t *part, size_t n_part,
                         size_t out_items[NN_EXPLAIN_SAMPLES_MAX])
{
    size_t n = 0;
    size_t count = nn_prepared_info(prepared)->count;
    for (size_t i = 0; plan->by_item && i < plan->samples; i++) {
        if (plan->items[i] < count) {
            out_items[n++] = plan->items[i];
        }
    }
    for (size_t i = 0; !plan->by_item && i < n_part; i++) {
        keep_first(prepared, part[i], plan->samples, out_items, &n);
    }
    return n;
}
