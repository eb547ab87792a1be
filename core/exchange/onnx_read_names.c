/* SPDX-License-Identifier: MIT
 *
 * Names of layers that are read from a graph.
 */
#include <stdio.h>
#include <string.h>

#include "core/exchange/onnx_read_internal.h"

const char *nn_onnx_layer_name(const struct nn_onnx_reader *r, size_t layer)
{
    return json_string_value(json_object_get(json_array_get(r->layers, layer), "name"));
}

bool nn_onnx_name_taken(const struct nn_onnx_reader *r, const char *name)
{
    for (size_t i = 0; i < json_array_size(r->layers); i++) {
        if (strcmp(nn_onnx_layer_name(r, i), name) == 0) {
            return true;
        }
    }
    return false;
}

/* "features.0.weight" is of the layer "features.0"; false: the name tells nothing. */
static bool name_by_weight(const struct nn_file_tensor *weight,
                           char out[NN_ONNX_LAYER_NAME_MAX + 1])
{
    static const char SUFFIX[] = ".weight";
    size_t length = weight ? strlen(weight->name) : 0, tail = sizeof SUFFIX - 1;
    if (length <= tail || length - tail > NN_ONNX_LAYER_NAME_MAX ||
        strcmp(weight->name + length - tail, SUFFIX) != 0) {
        return false;
    }
    (void)snprintf(out, NN_ONNX_LAYER_NAME_MAX + 1, "%.*s", (int)(length - tail), weight->name);
    return true;
}

/* PyTorch names nodes by the modules around them: "/layer1/layer1.0/conv1/Conv" is of
 * "layer1.0.conv1". A part that repeats the one before it takes its place. */
static bool name_by_path(const char *path, char out[NN_ONNX_LAYER_NAME_MAX + 1])
{
    size_t used = 0, before = 0; /* where the last part begins */
    const char *at = path[0] == '/' ? path + 1 : "";
    for (const char *end; (end = strchr(at, '/')) != NULL; at = end + 1) {
        size_t length = (size_t)(end - at), last = used - before;
        bool repeats =
            used > 0 && length > last && strncmp(at, out + before, last) == 0 && at[last] == '.';
        size_t start = repeats ? before : used + (used > 0);
        if (start + length > NN_ONNX_LAYER_NAME_MAX) {
            return false;
        }
        if (start > used) {
            out[used] = '.';
        }
        memcpy(out + start, at, length);
        before = start;
        used = start + length;
        out[used] = '\0';
    }
    return used > 0;
}

/* "Conv_12" and the like are numbers, not names. */
static bool name_by_node(const struct nn_onnx_node *node, char out[NN_ONNX_LAYER_NAME_MAX + 1])
{
    size_t length = strlen(node->op);
    bool counted = strncmp(node->name, node->op, length) == 0 &&
                   (node->name[length] == '_' || node->name[length] == '\0');
    if (node->name[0] == '\0' || counted || strlen(node->name) > NN_ONNX_LAYER_NAME_MAX ||
        strchr(node->name, '/') || strchr(node->name, ':')) {
        return false;
    }
    (void)strcpy(out, node->name);
    return true;
}

/* As descriptions want them. */
static bool is_fine(const char *name)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return strspn(name, LETTERS) > 0 &&
           name[strspn(
               name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] == '\0';
}

void nn_onnx_choose_name(const struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                         const char *kind, const struct nn_file_tensor *weight,
                         char out[NN_ONNX_LAYER_NAME_MAX + 1])
{
    char base[NN_ONNX_LAYER_NAME_MAX + 1];
    size_t n = json_array_size(r->layers);
    bool told =
        name_by_weight(weight, out) || name_by_path(node->name, out) || name_by_node(node, out);
    if (!told || !is_fine(out)) {
        (void)snprintf(out, NN_ONNX_LAYER_NAME_MAX + 1, "node%04zu_%s", n, kind);
    }
    (void)strcpy(base, out);
    for (size_t i = 2; nn_onnx_name_taken(r, out); i++) {
        (void)snprintf(out, NN_ONNX_LAYER_NAME_MAX + 1, "%.52s_%zu", base, i);
    }
}
