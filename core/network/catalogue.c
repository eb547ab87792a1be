/* SPDX-License-Identifier: MIT
 *
 * The catalogue: templates compiled in as JSON, listed by name.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/embedded.h"
#include "core/network/description_internal.h"

/* clang-format off */
/* One row a file of templates/, in order of its name; a test compares the two. */
static const char *const NAMES[] = {
    "bilstm",
    "convnet_1d",
    "convnet_2d",
    "drsn_cs_1d",
    "drsn_cs_2d",
    "drsn_cw_1d",
    "drsn_cw_2d",
    "efficientnet_lite0",
    "googlenet",
    "googlenet_lrn",
    "gru",
    "inception_v3",
    "lstm_classification",
    "lstm_regression",
    "mlp",
    "mobilenet_v2",
    "resnet18",
    "resnet50",
    "resnet_1d",
    "resnet_2d",
    "simple_cnn",
    "squeezenet1_0",
    "squeezenet1_1",
    "tcn",
    "transformer_encoder",
};
/* clang-format on */

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
    static const char *const PARTS[] = {"blocks", "layers", "connections"};
    json_t *json = nn_template_load(name);
    json_t *description = json ? json_object() : NULL;
    bool fine = description != NULL;
    json_t *first = json_array_get(json_object_get(json, "layers"), 0);
    json_t *input = json_incref(json_object_get(first, "kind"));
    for (size_t i = 0; fine && i < sizeof PARTS / sizeof PARTS[0]; i++) {
        json_t *part = json_object_get(json, PARTS[i]);
        fine = !part || (json_object_set(description, PARTS[i], part) == 0 &&
                         json_object_del(json, PARTS[i]) == 0);
    }
    fine = fine && json_object_set(json, "input", input) == 0 &&
           json_object_set(json, "description", description) == 0;
    json_decref(description);
    json_decref(input);
    if (!fine) {
        json_decref(json);
        return NULL;
    }
    return json;
}
