/* SPDX-License-Identifier: MIT
 *
 * The import of weights: one file of named tensors, told by its content, is written anew as
 * safetensors; nobody else ever reads what was uploaded. Of an ONNX model whose graph is a network
 * of ours the description is kept too, and the tensors are those that it wants; of any other the
 * initialisers as they are.
 *
 * progress* -> artefact {kind "weights", path} -> done {outcome "ready", report {format,
 * not_finite, graph?, network?}, format, tensors [{name, dtype, shape}], element_count}.
 */
#include <math.h>
#include <stdlib.h>

#include "core/exchange/onnx.h"
#include "core/files/weights.h"
#include "server/trial/import_internal.h"

enum { SHOWN = 100 }; /* names of tensors with values that are not finite */

static const char CONTENT[] = "content";

/* What is said of the file. */
struct summary {
    json_t *tensors, *not_finite;
    json_int_t elements;
};

static json_t *encode_tensor(const struct nn_file_tensor *tensor)
{
    json_t *shape = json_array();
    for (size_t i = 0; i < tensor->rank; i++) {
        if (json_array_append_new(shape, json_integer((json_int_t)tensor->shape[i])) != 0) {
            json_decref(shape);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:o}", "name", tensor->name, "dtype",
                     nn_file_dtype_name(tensor->dtype), "shape", shape);
}

static enum nn_status is_finite(const struct nn_file_tensor *tensor, bool *out_finite,
                                struct nn_error *err)
{
    nn_real *values = calloc(tensor->count ? tensor->count : 1, sizeof *values);
    if (!values) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a tensor of %zu numbers", tensor->count);
    }
    nn_file_tensor_read(tensor, values);
    *out_finite = true;
    for (size_t i = 0; i < tensor->count; i++) {
        *out_finite = *out_finite && isfinite(values[i]);
    }
    free(values);
    return NN_OK;
}

static enum nn_status look_at(const struct nn_file_tensor *tensor, struct summary *summary,
                              struct nn_error *err)
{
    bool finite = true;
    enum nn_status status = is_finite(tensor, &finite, err);
    if (status != NN_OK) {
        return status;
    }
    if (json_array_append_new(summary->tensors, encode_tensor(tensor)) != 0) {
        return nn_fail(err, NN_ERR_INVALID, "the name of a tensor is not UTF-8");
    }
    if (!finite && json_array_size(summary->not_finite) < SHOWN &&
        json_array_append_new(summary->not_finite, json_string(tensor->name)) != 0) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory");
    }
    summary->elements += (json_int_t)tensor->count;
    return NN_OK;
}

/* What there is to keep. */
struct content {
    struct nn_weights *file;
    struct nn_onnx_import *graph; /* NULL: the file's own tensors */
    const struct nn_file_tensor *tensors;
    size_t n;
    json_t *told; /* of the graph, or NULL */
};

static enum nn_status look_at_all(struct trial_link *link, const struct content *content,
                                  struct summary *summary, struct nn_error *err)
{
    enum nn_status status =
        content->n > 0 ? NN_OK : nn_fail(err, NN_ERR_INVALID, "the file holds no tensors");
    for (size_t i = 0; i < content->n && status == NN_OK; i++) {
        status = look_at(&content->tensors[i], summary, err);
        if (status == NN_OK && !trial_import_goes_on(link, i + 1, content->n)) {
            status = NN_ERR_CANCELLED;
        }
    }
    return status;
}

/* The graph of an ONNX model, if there is one and it is a network of ours. */
static enum nn_status read_graph(struct content *content, struct nn_error *err)
{
    const struct nn_onnx_model *model = nn_weights_model(content->file);
    struct nn_error why = {0};
    if (!model) {
        return NN_OK;
    }
    enum nn_status status = nn_onnx_import_create(model, &content->graph, &why);
    if (status == NN_ERR_MEMORY) {
        return nn_fail(err, status, "%s", why.text);
    }
    content->told = json_pack("{s:s, s:I, s:I, s:s?}", "producer", model->producer, "ir_version",
                              (json_int_t)model->ir_version, "opset", (json_int_t)model->opset,
                              "refused", status == NN_OK ? NULL : why.text);
    if (status == NN_OK) {
        content->tensors = nn_onnx_import_tensors(content->graph, &content->n);
    }
    return content->told ? NN_OK : nn_fail(err, NN_ERR_MEMORY, "no memory");
}

static enum nn_status content_open(const char *path, struct content *content, struct nn_error *err)
{
    enum nn_status status = nn_weights_open(path, NULL, &content->file, err);
    if (status == NN_OK) {
        content->n = nn_weights_count(content->file);
        content->tensors = content->n > 0 ? nn_weights_tensor(content->file, 0) : NULL;
        status = read_graph(content, err);
    }
    return status;
}

static void content_close(struct content *content)
{
    json_decref(content->told);
    nn_onnx_import_destroy(content->graph);
    nn_weights_close(content->file);
}

static enum nn_status content_save(const struct content *content, struct nn_error *err)
{
    return content->graph
               ? nn_safetensors_write(CONTENT, content->tensors, content->n, NULL, 0, err)
               : nn_weights_save(content->file, CONTENT, NULL, 0, err);
}

/* Takes the arrays of the summary. */
static void say_ready_take(struct trial_link *link, const struct content *content,
                           struct summary *summary)
{
    const char *format = nn_weights_format_name(nn_weights_format(content->file));
    json_t *report = json_pack("{s:s, s:o}", "format", format, "not_finite", summary->not_finite);
    if (report && content->told) {
        (void)json_object_set(report, "graph", content->told);
    }
    if (report && content->graph) {
        (void)json_object_set_new(report, "network",
                                  json_deep_copy(nn_onnx_import_description(content->graph)));
    }
    trial_say_take(link, WIRE_ARTEFACT,
                   json_pack("{s:s, s:s}", "kind", "weights", "path", CONTENT));
    trial_say_take(link, WIRE_DONE,
                   json_pack("{s:s, s:o, s:s, s:o, s:I}", "outcome", "ready", "report", report,
                             "format", format, "tensors", summary->tensors, "element_count",
                             summary->elements));
    *summary = (struct summary){0};
}

enum nn_status trial_import_weights(struct trial_link *link, const json_t *start,
                                    const struct nn_import_file *files, size_t n,
                                    struct nn_error *err)
{
    struct content content = {0};
    struct summary summary = {.tensors = json_array(), .not_finite = json_array()};
    enum nn_status status = NN_OK;
    (void)start; /* no options */
    if (n != 1) {
        status = nn_fail(err, NN_ERR_NOT_SUPPORTED, "weights come as one file");
    }
    status = status == NN_OK ? content_open(files[0].path, &content, err) : status;
    status = status == NN_OK ? look_at_all(link, &content, &summary, err) : status;
    status = status == NN_OK ? content_save(&content, err) : status;
    if (status == NN_OK) {
        say_ready_take(link, &content, &summary);
    }
    json_decref(summary.tensors);
    json_decref(summary.not_finite);
    content_close(&content);
    return status;
}
