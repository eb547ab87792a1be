/* SPDX-License-Identifier: MIT
 *
 * A network as an ONNX model: its layers in order, each by its row of the table; then the messages
 * around them, whose lengths are known by then, and the values of the tensors from where they are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/exchange/onnx_write_internal.h"
#include "core/network/network.h"

/* A network as the analysis of it tells. */
struct graph {
    json_t *description, *report;
    const json_t *layers, *options; /* arrays in one order */
    size_t n;
    bool *needed;               /* leads to the output */
    struct nn_onnx_term *terms; /* what each layer gives */
    size_t input, output;       /* layers */
};

static void graph_deinit(struct graph *graph)
{
    json_decref(graph->description);
    json_decref(graph->report);
    free(graph->needed);
    free(graph->terms);
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static const json_t *layer_at(const struct graph *graph, size_t i)
{
    return json_array_get(graph->layers, i);
}

static size_t find_layer(const struct graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->n; i++) {
        if (strcmp(text_of(layer_at(graph, i), "name"), name) == 0) {
            return i;
        }
    }
    return graph->n;
}

/* Marks what the layer takes; whether anything was new. */
static bool mark_inputs(struct graph *graph, size_t i)
{
    size_t k;
    json_t *name;
    bool more = false;
    json_array_foreach(json_object_get(layer_at(graph, i), "inputs"), k, name)
    {
        size_t at = find_layer(graph, json_string_value(name));
        more = more || !graph->needed[at];
        graph->needed[at] = true;
    }
    return more;
}

/* Everything that the output is made of, in whatever order the layers stand. */
static void mark_needed(struct graph *graph)
{
    graph->needed[graph->output] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = graph->n; i-- > 0;) {
            more = (graph->needed[i] && mark_inputs(graph, i)) || more;
        }
    }
}

/* The input is the layer without inputs; the output the one that nothing takes and no loss is. */
static void find_ends(struct graph *graph)
{
    size_t k;
    json_t *name;
    bool *taken = calloc(graph->n + 1, sizeof *taken);
    for (size_t i = 0; taken && i < graph->n; i++) {
        const json_t *inputs = json_object_get(layer_at(graph, i), "inputs");
        graph->input = json_array_size(inputs) == 0 ? i : graph->input;
        json_array_foreach(inputs, k, name)
        {
            taken[find_layer(graph, json_string_value(name))] = true;
        }
    }
    for (size_t i = 0; taken && i < graph->n; i++) {
        if (!taken[i] && strcmp(text_of(layer_at(graph, i), "kind"), "auxiliary_loss") != 0) {
            graph->output = i;
        }
    }
    free(taken);
}

static enum nn_status graph_read(const struct nn_description *description,
                                 const struct nn_network_bind *bind, struct graph *graph,
                                 struct nn_error *err)
{
    graph->description = nn_description_json(description);
    if (!graph->description) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to write a network");
    }
    enum nn_status status = nn_network_analyze(graph->description, bind, 1, &graph->report, err);
    if (status != NN_OK) {
        return status;
    }
    graph->layers = json_object_get(graph->report, "layers");
    graph->options = json_object_get(graph->description, "layers");
    graph->n = json_array_size(graph->layers);
    if (!json_is_true(json_object_get(graph->report, "valid")) || graph->n == 0 ||
        json_array_size(graph->options) != graph->n) {
        return nn_fail(err, NN_ERR_INVALID, "the network does not fit its data");
    }
    graph->needed = calloc(graph->n + 1, sizeof *graph->needed);
    graph->terms = calloc(graph->n + 1, sizeof *graph->terms);
    if (!graph->needed || !graph->terms) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to write a network");
    }
    find_ends(graph);
    mark_needed(graph);
    return NN_OK;
}

/* ---- layers ---- */

/* What the graph itself calls its ends; a layer of such a name gets another one. */
static bool is_end(const char *name)
{
    return strcmp(name, "input") == 0 || strcmp(name, "output") == 0 || strcmp(name, "scores") == 0;
}

/* Its name and sizes: [height, width, channels] of an image, [channels] of a row or a step. */
static struct nn_onnx_term term_of(const json_t *layer)
{
    struct nn_onnx_term term = {.height = 1, .width = 1};
    const json_t *sizes = json_object_get(layer, "activation");
    size_t n = json_array_size(sizes);
    (void)snprintf(term.name, sizeof term.name, "%s%s", text_of(layer, "name"),
                   is_end(text_of(layer, "name")) ? "/value" : "");
    if (n == 3) {
        term.height = (size_t)json_integer_value(json_array_get(sizes, 0));
        term.width = (size_t)json_integer_value(json_array_get(sizes, 1));
    }
    term.channels = (size_t)json_integer_value(json_array_get(sizes, n > 0 ? n - 1 : 0));
    term.rank = n == 3 ? NN_ONNX_IMAGE : NN_ONNX_ROWS;
    return term;
}

static const struct nn_onnx_kind *kind_find(const char *name)
{
    const struct nn_onnx_kind *kind = nn_onnx_kinds;
    while (kind->kind && strcmp(kind->kind, name) != 0) {
        kind++;
    }
    return kind->kind ? kind : NULL;
}

/* A softmax that ends the network reads a row of scores. */
static void scores_write(struct nn_onnx_writer *w, struct nn_onnx_term *in)
{
    const char *op = in->rank == NN_ONNX_IMAGE ? "Flatten" : "Identity";
    nn_onnx_simple(w, op, in->name, NULL, "scores");
    (void)strcpy(in->name, "scores");
    in->rank = in->rank == NN_ONNX_IMAGE ? NN_ONNX_ROWS : in->rank;
}

static bool layer_write(struct nn_onnx_writer *w, struct graph *graph, size_t i)
{
    struct nn_onnx_term in[NN_ONNX_INPUTS_MAX];
    const json_t *from = layer_at(graph, i), *inputs = json_object_get(from, "inputs");
    struct nn_onnx_layer layer = {.name = text_of(from, "name"),
                                  .kind = text_of(from, "kind"),
                                  .options = json_array_get(graph->options, i),
                                  .in = in,
                                  .n_in = json_array_size(inputs),
                                  .out = term_of(from)};
    const struct nn_onnx_kind *kind = kind_find(layer.kind);
    w->lack[0] = '\0';
    if (!kind || layer.n_in > NN_ONNX_INPUTS_MAX) {
        return false;
    }
    for (size_t k = 0; k < layer.n_in; k++) {
        in[k] = graph->terms[find_layer(graph, json_string_value(json_array_get(inputs, k)))];
    }
    if (i == graph->output && strcmp(layer.kind, "softmax") == 0) {
        scores_write(w, &in[0]);
    }
    bool fine = kind->write(w, &layer);
    graph->terms[i] = layer.out;
    return fine;
}

/* The first layer hands the graph's input on under its own name. */
static void input_take(struct graph *graph)
{
    const json_t *layer = layer_at(graph, graph->input);
    struct nn_onnx_term term = term_of(layer);
    if (strcmp(text_of(layer, "kind"), "sequence_input") == 0) {
        term.rank = NN_ONNX_SEQUENCE;
    }
    (void)strcpy(term.name, "input");
    graph->terms[graph->input] = term;
}

static enum nn_status layers_write(struct nn_onnx_writer *w, struct graph *graph,
                                   struct nn_error *err)
{
    char lacking[400] = "";
    size_t n = 0;
    input_take(graph);
    for (size_t i = 0; i < graph->n; i++) {
        if (!graph->needed[i] || i == graph->input || layer_write(w, graph, i)) {
            continue;
        }
        size_t used = strlen(lacking);
        (void)snprintf(lacking + used, sizeof lacking - used, "%s\"%s\" (%s%s%s)", n++ ? ", " : "",
                       text_of(layer_at(graph, i), "name"), text_of(layer_at(graph, i), "kind"),
                       w->lack[0] ? ": " : "", w->lack);
        graph->terms[i] = term_of(layer_at(graph, i));
    }
    if (n > 0) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "%zu layer%s not be written as ONNX: %s", n,
                       n == 1 ? " can" : "s can", lacking);
    }
    const struct nn_onnx_term *last = &graph->terms[graph->output];
    nn_onnx_simple(w, last->rank == NN_ONNX_IMAGE ? "Flatten" : "Identity", last->name, NULL,
                   "output");
    if (w->failed || w->nodes.failed || w->heads.failed) {
        return nn_fail(err, NN_ERR_INVALID, "a parameter of the network is missing in its file");
    }
    return NN_OK;
}

/* ---- messages around; field numbers of onnx.proto ---- */

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

static void put_pair(struct nn_bytes *model, const char *key, const char *value)
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
static void graph_frame(const struct graph *graph, struct nn_bytes *out)
{
    const char *name = text_of(graph->description, "name");
    struct nn_onnx_term last = flat(graph->terms[graph->output]);
    put_text(out, 2, name ? name : "network");
    put_value(out, 11, "input", &graph->terms[graph->input]);
    put_value(out, 12, "output", &last);
    if (strcmp(text_of(layer_at(graph, graph->output), "kind"), "softmax") == 0) {
        put_value(out, 12, "scores", &last);
    }
}

/* The numbers of an input's parameter as text. */
static void put_statistic(const struct nn_onnx_writer *w, const struct graph *graph,
                          const char *suffix, struct nn_bytes *model)
{
    char key[64];
    const char *input = text_of(layer_at(graph, graph->input), "name");
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
            put_pair(model, key, (const char *)text.data);
        }
    }
    nn_bytes_deinit(&text);
}

static void model_frame(const struct nn_onnx_writer *w, const struct graph *graph,
                        const struct nn_network_bind *bind, struct nn_bytes *out)
{
    static const char *const NAMES[] = {[NN_NORMALISATION_NONE] = "none",
                                        [NN_NORMALISATION_RESCALE_UNIT] = "rescale_unit",
                                        [NN_NORMALISATION_RESCALE_SYMMETRIC] = "rescale_symmetric",
                                        [NN_NORMALISATION_ZSCORE] = "zscore"};
    struct nn_bytes opset = {0};
    const json_t *input = json_array_get(graph->options, graph->input);
    nn_bytes_int(out, 1, NN_ONNX_IR_VERSION);
    put_text(out, 2, "assay");
    put_text(&opset, 1, "");
    nn_bytes_int(&opset, 2, NN_ONNX_OPSET);
    put_message_take(out, 8, &opset);
    put_pair(out, "assay.normalisation",
             bind->normalisation != NN_NORMALISATION_DESCRIBED ? NAMES[bind->normalisation]
                                                               : text_of(input, "normalisation"));
    put_statistic(w, graph, "mean", out);
    put_statistic(w, graph, "std", out);
}

/* ---- the file ---- */

static enum nn_status put_all(int fd, const void *data, size_t n, struct nn_error *err)
{
    const char *at = data;
    while (n > 0) {
        ssize_t written = write(fd, at, n);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return nn_fail(err, NN_ERR_IO, "a network was not written: %s", strerror(errno));
        }
        at += written;
        n -= (size_t)written;
    }
    return NN_OK;
}

static enum nn_status file_write(const struct nn_onnx_writer *w, struct nn_bytes *model,
                                 const struct nn_bytes *frame, int fd, struct nn_error *err)
{
    size_t total = frame->size + w->nodes.size, head = 0;
    for (size_t i = 0; i < w->n_pieces; i++) {
        total += w->pieces[i].size;
    }
    nn_bytes_head(model, 7, total);
    if (model->failed || frame->failed) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to write a network");
    }
    if (total >= (size_t)1 << 31) {
        return nn_fail(err, NN_ERR_LIMIT, "an ONNX file cannot have 2 GiB or more");
    }
    enum nn_status status = put_all(fd, model->data, model->size, err);
    status = status == NN_OK ? put_all(fd, frame->data, frame->size, err) : status;
    status = status == NN_OK ? put_all(fd, w->nodes.data, w->nodes.size, err) : status;
    for (size_t i = 0; status == NN_OK && i < w->n_pieces; i++) {
        const struct nn_onnx_piece *piece = &w->pieces[i];
        bool is_head = piece->data == NULL;
        status = put_all(fd, is_head ? w->heads.data + head : piece->data, piece->size, err);
        head += is_head ? piece->size : 0;
    }
    return status;
}

static enum nn_status model_write(struct nn_onnx_writer *w, struct graph *graph,
                                  const struct nn_network_bind *bind,
                                  const struct nn_file_pair *metadata, size_t n_metadata, int fd,
                                  struct nn_error *err)
{
    struct nn_bytes model = {0}, frame = {0};
    enum nn_status status = layers_write(w, graph, err);
    if (status == NN_OK) {
        graph_frame(graph, &frame);
        model_frame(w, graph, bind, &model);
        for (size_t i = 0; i < n_metadata; i++) {
            put_pair(&model, metadata[i].key, metadata[i].value);
        }
        status = file_write(w, &model, &frame, fd, err);
    }
    nn_bytes_deinit(&model);
    nn_bytes_deinit(&frame);
    return status;
}

enum nn_status nn_onnx_write(const struct nn_description *description,
                             const struct nn_network_bind *bind,
                             const struct nn_file_tensor *tensors, size_t n,
                             const struct nn_file_pair *metadata, size_t n_metadata, int fd,
                             struct nn_error *err)
{
    struct nn_onnx_writer w = {.tensors = tensors, .n_tensors = n};
    struct graph graph = {.description = NULL};
    enum nn_status status = nn_arena_create(NULL, 0, &w.arena) == NN_OK
                                ? graph_read(description, bind, &graph, err)
                                : nn_fail(err, NN_ERR_MEMORY, "no memory to write a network");
    if (status == NN_OK) {
        status = model_write(&w, &graph, bind, metadata, n_metadata, fd, err);
    }
    graph_deinit(&graph);
    nn_bytes_deinit(&w.nodes);
    nn_bytes_deinit(&w.node);
    nn_bytes_deinit(&w.attribute);
    nn_bytes_deinit(&w.heads);
    free(w.pieces);
    nn_arena_destroy(w.arena);
    return status;
}
