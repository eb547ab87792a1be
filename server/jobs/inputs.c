/* SPDX-License-Identifier: MIT
 *
 * What weights say of the inputs that they were trained with goes into the network that starts from
 * them: its input layer then normalises pictures as they expect. A job that says itself how
 * pictures are normalised (data.normalisation) is taken at its word.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/network/network.h"
#include "server/jobs/spec_internal.h"

static const char *const FIELDS[] = {"normalisation", "mean", "std"};
enum { FIELDS_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

static json_t *find_input(const json_t *network)
{
    size_t i;
    json_t *layer;
    json_array_foreach(json_object_get(network, "layers"), i, layer)
    {
        const char *kind = json_string_value(json_object_get(layer, "kind"));
        if (kind && strcmp(kind, "image_input") == 0) {
            return layer;
        }
    }
    return NULL;
}

/* Does the job itself describe how its input layer normalises? Layers stand as they came; of a
 * template it is a parameter. */
static bool is_described(const json_t *network)
{
    const json_t *layer = find_input(network);
    bool described = !layer && json_object_get(network, FIELDS[0]);
    for (size_t i = 0; layer && i < FIELDS_COUNT; i++) {
        described = described || json_object_get(layer, FIELDS[i]);
    }
    return described;
}

/* In grey levels and clean decimals: 0.485 of 255 is 123.675. */
static json_t *levels(const json_t *list, double scale)
{
    size_t i;
    json_t *item, *out = json_array();
    json_array_foreach(list, i, item)
    {
        double value = round(json_number_value(item) * scale * 1e9) / 1e9;
        if (json_array_append_new(out, jx_number(value)) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

/* Networks of torchvision with transform_input (googlenet, inception_v3) take pictures normalised
 * as ImageNet's and turn them first: y = (x sd + mean - 0.5) / 0.5 with these. */
static const double IMAGENET_MEAN[] = {0.485, 0.456, 0.406};
static const double IMAGENET_STD[] = {0.229, 0.224, 0.225};
enum { IMAGENET_CHANNELS = sizeof IMAGENET_MEAN / sizeof IMAGENET_MEAN[0] };

static double number_of(const json_t *list, size_t i)
{
    return json_number_value(json_array_get(list, i));
}

/* Both steps as one: (x - m) / s turned is (x - m') / s' with s' = s / (2 sd) and
 * m' = m - s (mean - 0.5) / sd. NULL: out of memory. */
static json_t *turned(const json_t *preprocessing)
{
    const json_t *m = json_object_get(preprocessing, "mean");
    const json_t *s = json_object_get(preprocessing, "std");
    json_t *mean = json_array(), *std = json_array();
    bool fine = mean && std;
    for (size_t i = 0; fine && i < IMAGENET_CHANNELS; i++) {
        double off = number_of(s, i) * (IMAGENET_MEAN[i] - 0.5) / IMAGENET_STD[i];
        double by = number_of(s, i) / (2 * IMAGENET_STD[i]);
        fine = json_array_append_new(mean, json_real(number_of(m, i) - off)) == 0 &&
               json_array_append_new(std, json_real(by)) == 0;
    }
    return json_pack("{s:O, s:o, s:o}", "scale", json_object_get(preprocessing, "scale"), "mean",
                     mean, "std", std);
}

static bool is_turned(const json_t *preprocessing)
{
    return json_is_true(json_object_get(preprocessing, "transform_input"));
}

static bool all_are(const json_t *list, double value)
{
    bool all = json_array_size(list) > 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        all = all && number_of(list, i) == value;
    }
    return all;
}

/* {"normalisation", "mean", "std"} of an input layer; levels from -1 to 1 have a name of their own.
 * NULL: out of memory. */
static json_t *wanted_of(const json_t *preprocessing)
{
    json_auto_t *as_one = is_turned(preprocessing) ? turned(preprocessing) : NULL;
    const json_t *from = as_one ? as_one : preprocessing;
    double scale = json_number_value(json_object_get(from, "scale"));
    json_t *wanted = json_pack("{s:s, s:o, s:o}", FIELDS[0], "zscore", FIELDS[1],
                               levels(json_object_get(from, "mean"), scale), FIELDS[2],
                               levels(json_object_get(from, "std"), scale));
    if (all_are(json_object_get(wanted, FIELDS[1]), 127.5) &&
        all_are(json_object_get(wanted, FIELDS[2]), 127.5)) {
        json_decref(wanted);
        wanted = json_pack("{s:s}", FIELDS[0], "rescale_symmetric");
    }
    return wanted;
}

static bool are_near(const json_t *a, const json_t *b)
{
    size_t n = json_array_size(a);
    if (n != json_array_size(b)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        double x = number_of(a, i), y = number_of(b, i);
        if (fabs(x - y) > 1e-6 * fmax(1.0, fabs(y))) {
            return false;
        }
    }
    return true;
}

static bool says(const json_t *layer, const char *normalisation)
{
    const char *text = json_string_value(json_object_get(layer, FIELDS[0]));
    return text && strcmp(text, normalisation) == 0;
}

static bool agrees(const json_t *layer, const json_t *wanted)
{
    const json_t *mean = json_object_get(wanted, FIELDS[1]);
    return json_equal(json_object_get(layer, FIELDS[0]), json_object_get(wanted, FIELDS[0])) &&
           (!mean ||
            (are_near(json_object_get(layer, FIELDS[1]), mean) &&
             are_near(json_object_get(layer, FIELDS[2]), json_object_get(wanted, FIELDS[2]))));
}

static enum sv_status refuse(const char *text, struct sv_error *err)
{
    return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/weights",
                      "the weights name the preprocessing of their inputs: %s", text);
}

/* A mean for all channels, or one for each. */
static enum sv_status check_channels(const json_t *wanted, const struct nn_network_bind *bind,
                                     struct sv_error *err)
{
    const json_t *mean = json_object_get(wanted, FIELDS[1]);
    size_t n = json_array_size(mean);
    char text[100];
    if (!mean || n == 1 || n == bind->channels) {
        return SV_OK;
    }
    (void)snprintf(text, sizeof text, "of %zu channels, and the pictures have %zu", n,
                   bind->channels);
    return refuse(text, err);
}

/* The network with the other input layer; *spec is exchanged for it. */
static enum sv_status put(json_t **spec, json_t *wanted, struct sv_error *err)
{
    struct nn_error nn = {0};
    struct nn_description *description = NULL;
    json_t *changed = json_deep_copy(*spec);
    if (!changed || json_object_update(find_input(changed), wanted) != 0) {
        json_decref(changed);
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    if (nn_description_parse(changed, &description, &nn) != NN_OK) {
        json_decref(changed);
        return refuse(nn.text, err);
    }
    nn_description_destroy(description);
    json_decref(*spec);
    *spec = changed;
    return SV_OK;
}

/* The network's input layer says another thing than the weights. */
static enum sv_status exchange(const json_t *submitted, const json_t *layer, json_t *wanted,
                               json_t **spec, struct sv_error *err)
{
    if (is_described(submitted)) {
        return refuse("another one than the network's input layer describes", err);
    }
    if (says(layer, "rescale_symmetric") && says(wanted, "zscore")) {
        return refuse("but the network's own is what transform_input makes of ImageNet's; "
                      "preprocessing.transform_input of the weights says that they come so, "
                      "network.normalisation that they do not",
                      err);
    }
    return put(spec, wanted, err);
}

enum sv_status jobs_inputs_adopt(const json_t *submitted, const struct nn_network_bind *bind,
                                 const json_t *preprocessing, json_t **spec, struct sv_error *err)
{
    const json_t *layer = find_input(*spec);
    if (!json_is_object(preprocessing) || bind->normalisation != NN_NORMALISATION_DESCRIBED) {
        return SV_OK;
    }
    if (!layer) {
        return refuse("but the network takes no pictures", err);
    }
    json_t *wanted = wanted_of(preprocessing);
    enum sv_status st =
        wanted ? check_channels(wanted, bind, err) : sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    if (st == SV_OK && !agrees(layer, wanted)) {
        st = exchange(submitted, layer, wanted, spec, err);
    }
    json_decref(wanted);
    return st;
}
