/* SPDX-License-Identifier: MIT
 *
 * The catalogue: templates compiled in as JSON, listed by name.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/embedded.h"
#include "core/network/description_internal.h"

/* One row a file of templates/, in order of its name; a test compares the two. */
static const char *const NAMES[] = {
    "efficientnet_lite0", "lstm_classification", "lstm_regression", "mlp",
    "mobilenet_v2",       "simple_cnn",          "squeezenet1_0",   "squeezenet1_1"};

size_t nn_catalogue_count(void)
{
    return sizeof NAMES / sizeof NAMES[0];
}

const char *nn_catalogue_name(size_t i)
{
    return i < nn_catalogue_count() ? NAMES[i] : NULL;
}

json_t *nn_template_load(const char *name)
{
    char file_name[80];
    json_t *json = NULL;
    struct nn_error err = {0};
    int n = snprintf(file_name, sizeof file_name, "%s.json", name);
    for (const struct nn_embedded_file *file = nn_embedded_table; file->name; file++) {
        if (n < (int)sizeof file_name && strcmp(file->name, file_name) == 0) {
            enum nn_status status = jx_parse(file->data, file->size, NULL, &json, &err);
            return status == NN_OK ? json : NULL;
        }
    }
    return NULL;
}

json_t *nn_catalogue_get(const char *name)
{
    json_t *json = nn_template_load(name);
    json_t *description = json ? json_object() : NULL;
    if (!description) {
        json_decref(json);
        return NULL;
    }
    json_t *layers = json_object_get(json, "layers");
    json_t *connections = json_object_get(json, "connections");
    json_t *input = json_object_get(json_array_get(layers, 0), "kind");
    bool fine = json_object_set(json, "input", input) == 0 &&
                json_object_set(description, "layers", layers) == 0 &&
                (!connections || json_object_set(description, "connections", connections) == 0) &&
                json_object_set(json, "description", description) == 0;
    json_decref(description);
    if (!fine) {
        json_decref(json);
        return NULL;
    }
    (void)json_object_del(json, "layers");
    (void)json_object_del(json, "connections");
    return json;
}
