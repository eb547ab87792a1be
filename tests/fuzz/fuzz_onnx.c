/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an ONNX model: refused or read, never a step outside of them. Of what is accepted
 * every tensor, name and number of the graph is touched, and the graph is read as a description:
 * what comes of it is one that our own checks take, with tensors in order.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/onnx.h"
#include "core/files/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t touched;

static void touch_tensor(const struct nn_file_tensor *tensor)
{
    const unsigned char *bytes = tensor->data;
    touched += strlen(tensor->name);
    for (size_t i = 0; i < tensor->bytes; i++) {
        touched += bytes[i];
    }
    NN_ASSERT(tensor->bytes == tensor->count * nn_file_dtype_bytes(tensor->dtype));
}

static void touch_attribute(const struct nn_onnx_attribute *a)
{
    touched += strlen(a->name);
    for (size_t i = 0; i < a->n; i++) {
        touched += a->type == NN_ONNX_FLOATS    ? a->reals[i] > 0
                   : a->type == NN_ONNX_INTS    ? a->integers[i] > 0
                   : a->type == NN_ONNX_STRINGS ? strlen(a->texts[i])
                                                : 0;
    }
    if (a->type == NN_ONNX_STRING) {
        touched += strlen(a->text);
    } else if (a->type == NN_ONNX_TENSOR) {
        touch_tensor(a->tensor);
    }
}

static void touch_node(const struct nn_onnx_node *node)
{
    touched += strlen(node->name) + strlen(node->op) + strlen(node->domain);
    for (size_t i = 0; i < node->n_inputs; i++) {
        touched += strlen(node->inputs[i]);
    }
    for (size_t i = 0; i < node->n_outputs; i++) {
        touched += strlen(node->outputs[i]);
    }
    for (size_t i = 0; i < node->n_attributes; i++) {
        touch_attribute(&node->attributes[i]);
    }
}

static void touch_values(const struct nn_onnx_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        touched += strlen(values[i].name);
        NN_ASSERT(values[i].rank <= NN_FILE_MAX_RANK);
    }
}

static void read_graph(const struct nn_onnx_model *model)
{
    struct nn_onnx_import *import = NULL;
    struct nn_error err = {0};
    size_t n = 0;
    if (nn_onnx_import_create(model, &import, &err) != NN_OK) {
        NN_ASSERT(err.text[0] != '\0');
        return;
    }
    NN_ASSERT(json_array_size(json_object_get(nn_onnx_import_description(import), "layers")) > 1);
    const struct nn_file_tensor *tensors = nn_onnx_import_tensors(import, &n);
    for (size_t i = 0; i < n; i++) {
        touch_tensor(&tensors[i]);
        NN_ASSERT(i == 0 || strcmp(tensors[i - 1].name, tensors[i].name) < 0);
    }
    nn_onnx_import_destroy(import);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nn_onnx *file = NULL;
    struct nn_error err = {0};
    if (nn_onnx_open_bytes(data, size, 1000, &file, &err) != NN_OK) {
        NN_ASSERT(err.text[0] != '\0');
        return 0;
    }
    const struct nn_onnx_model *model = nn_onnx_model(file);
    for (size_t i = 0; i < model->n_tensors; i++) {
        touch_tensor(&model->tensors[i]);
    }
    for (size_t i = 0; i < model->n_nodes; i++) {
        touch_node(&model->nodes[i]);
    }
    touch_values(model->inputs, model->n_inputs);
    touch_values(model->outputs, model->n_outputs);
    for (size_t i = 0; i < model->n_metadata; i++) {
        touched += strlen(model->metadata[i].key) + strlen(model->metadata[i].value);
    }
    read_graph(model);
    nn_onnx_close(file);
    return 0;
}
