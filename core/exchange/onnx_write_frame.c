/* SPDX-License-Identifier: MIT
 *
 * Messages around the nodes; field numbers of onnx.proto.
 */
#include <stdio.h>
#include <string.h>

#include "core/exchange/onnx_write_graph.h"
#include "core/network/network.h"

static void put_text(struct nn_bytes *to, unsigned field, const char *text)
{
    nn_bytes_text(to, field, text, strlen(text));
}

static void put_message_take(struct nn_bytes *to, unsigned field, struct nn_bytes *message)
{
    nn_bytes_text(to, field, message->data, message->size);
    to->failed = to->failed || message->failed;
    nn_bytes_deinit(message);
}

/* A dimension: a number, or a name. */
static void put_dimension(struct nn_bytes *shape, const char *name, size_t size)
{
    struct nn_bytes dimension = {0};
    if (name) {
        put_text(&dimension, 2, name);
    } else {
        nn_bytes_int(&dimension, 1, size);
    }
    put_message_take(shape, 1, &dimension);
}

/* ValueInfoProto of single precision. */
static void put_value(struct nn_bytes *graph, unsigned field, const char *name,
                      const struct nn_onnx_term *term)
{
    struct nn_bytes shape = {0}, tensor = {0}, type = {0}, value = {0};
    if (term->rank == NN_ONNX_SEQUENCE) {
        put_dimension(&shape, "T", 0);
    }
    put_dimension(&shape, "N", 0);
    put_dimension(&shape, NULL, term->channels);
    if (term->rank == NN_ONNX_IMAGE) {
        put_dimension(&shape, NULL, term->height);
        put_dimension(&shape, NULL, term->width);
    }
    nn_bytes_int(&tensor, 1, 1);
    put_message_take(&tensor, 2, &shape);
    put_message_take(&type, 1, &tensor);
    put_text(&value, 1, name);
    put_message_take(&value, 2, &type);
    put_message_take(graph, field, &value);
}

void nn_onnx_put_pair(struct nn_bytes *model, const char *key, const char *value)
{
    struct nn_bytes pair = {0};
    put_text(&pair, 1, key);
    put_text(&pair, 2, value);
    put_message_take(model, 14, &pair);
}

/* A row of features of the last layer, whatever it was. */
static struct nn_onnx_term flat(struct nn_onnx_term term)
{
    if (term.rank == NN_ONNX_IMAGE) {
        term.channels *= term.height * term.width;
        term.rank = NN_ONNX_ROWS;
    }
    return term;
}

/* What stands around nodes and tensors. */
void nn_onnx_graph_frame(const struct nn_onnx_graph *graph, struct nn_bytes *out)
{
    const char *name = nn_onnx_layer_text(graph->description, "name");
    struct nn_onnx_term last = flat(graph->terms[graph->output]);
    put_text(out, 2, name ? name : "network");
    put_value(out, 11, "input", &graph->terms[graph->input]);
    put_value(out, 12, "output", &last);
    if (strcmp(nn_onnx_layer_text(nn_onnx_layer_at(graph, graph->output), "kind"), "softmax") ==
        0) {
        put_value(out, 12, "scores", &last);
    }
}

/* The numbers of an input's parameter as text. */
static void put_statistic(const struct nn_onnx_writer *w, const struct nn_onnx_graph *graph,
                          const char *suffix, struct nn_bytes *model)
{
    char key[64];
    const char *input = nn_onnx_layer_text(nn_onnx_layer_at(graph, graph->input), "name");
    struct nn_bytes text = {0};
    for (size_t i = 0; i < w->n_tensors; i++) {
        const struct nn_file_tensor *tensor = &w->tensors[i];
        size_t length = strlen(input);
        if (strncmp(tensor->name, input, length) != 0 || tensor->name[length] != '.' ||
            strcmp(tensor->name + length + 1, suffix) != 0 || tensor->count > 4096) {
            continue;
        }
        nn_real values[4096];
        nn_file_tensor_read(tensor, values);
        for (size_t k = 0; k < tensor->count; k++) {
            char number[40];
            int n = snprintf(number, sizeof number, "%s%.9g", k ? ", " : "[", (double)values[k]);
            nn_bytes_put(&text, number, (size_t)n);
        }
        nn_bytes_put(&text, "]", 2);
        (void)snprintf(key, sizeof key, "assay.%s", suffix);
        if (!text.failed) {
            nn_onnx_put_pair(model, key, (const char *)text.data);
        }
    }
    nn_bytes_deinit(&text);
}

void nn_onnx_model_frame(const struct nn_onnx_writer *w, const struct nn_onnx_graph *graph,
                         const struct nn_network_bind *bind, struct nn_bytes *out)
{
    static const char *const NAMES[] = {[NN_NORMALISATION_NONE] = "none",
                                        [NN_NORMALISATION_RESCALE_UNIT] = "rescale_unit",
                                        [NN_NORMALISATION_RESCALE_SYMMETRIC] = "rescale_symmetric",
                                        [NN_NORMALISATION_ZSCORE] = "zscore",
                                        [NN_NORMALISATION_OUTSIDE] = "none"};
    struct nn_bytes opset = {0};
    const json_t *input = json_array_get(graph->options, graph->input);
    nn_bytes_int(out, 1, NN_ONNX_IR_VERSION);
    put_text(out, 2, "assay");
    put_text(&opset, 1, "");
    nn_bytes_int(&opset, 2, NN_ONNX_OPSET);
    put_message_take(out, 8, &opset);
    nn_onnx_put_pair(out, "assay.normalisation",
                     bind->normalisation != NN_NORMALISATION_DESCRIBED
                         ? NAMES[bind->normalisation]
                         : nn_onnx_layer_text(input, "normalisation"));
    put_statistic(w, graph, "mean", out);
    put_statistic(w, graph, "std", out);
}
