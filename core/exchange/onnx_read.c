/* SPDX-License-Identifier: MIT
 *
 * A graph of ONNX as a description: node after node, each by its row of the table. Values are known
 * before they are used, as ONNX demands, so a cycle cannot be read. What the output does not need
 * is left out at the end.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/onnx_read_internal.h"
#include "core/network/network.h"

struct nn_onnx_import {
    struct nn_arena *arena;
    json_t *description;
    struct nn_file_tensor *tensors;
    size_t n_tensors;
};

/* ---- nodes ---- */

/* The rows of its operator one after the other. */
static bool read_by_rows(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    for (const struct nn_onnx_operator *row = nn_onnx_operators; row->op; row++) {
        if (node->domain[0] == '\0' && strcmp(row->op, node->op) == 0) {
            r->why = NULL;
            if (row->read(r, node)) {
                return true;
            }
        }
    }
    return false;
}

static bool has_row(const struct nn_onnx_node *node)
{
    const struct nn_onnx_operator *row = nn_onnx_operators;
    while (row->op && (node->domain[0] != '\0' || strcmp(row->op, node->op) != 0)) {
        row++;
    }
    return row->op != NULL;
}

/* All that cannot be read, each operator once. */
struct lacking {
    char text[360];
    size_t n;
};

static void lack_add(struct lacking *lacking, const struct nn_onnx_node *node, const char *why)
{
    char one[120];
    size_t used = strlen(lacking->text);
    (void)snprintf(one, sizeof one, "%.40s%s%.60s%s", node->op, why ? " (" : "", why ? why : "",
                   why ? ")" : "");
    if (!strstr(lacking->text, one) && used + strlen(one) + 3 < sizeof lacking->text) {
        (void)snprintf(lacking->text + used, sizeof lacking->text - used, "%s%s", used ? ", " : "",
                       one);
    }
    lacking->n++;
}

/* Options are numbers of JSON, which has no other ones. */
static bool is_finite(const struct nn_onnx_node *node)
{
    for (size_t i = 0; i < node->n_attributes; i++) {
        if (node->attributes[i].type == NN_ONNX_FLOAT && !isfinite(node->attributes[i].real)) {
            return false;
        }
    }
    return true;
}

/* A node that is not read gives something all the same, so that what follows is looked at too. */
static void read_node(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      struct lacking *lacking)
{
    bool known = has_row(node);
    r->why = NULL;
    for (size_t i = 0; known && i < node->n_inputs; i++) {
        if (node->inputs[i][0] != '\0' && !nn_onnx_input(r, node, i)) {
            lack_add(lacking, node, "a value that nothing before it gives");
            known = false;
            r->why = "";
        }
    }
    if (known && !is_finite(node)) {
        lack_add(lacking, node, "a number that is not finite");
        r->why = "";
    } else if (known && read_by_rows(r, node)) {
        return;
    }
    if (!r->why || r->why[0] != '\0') {
        lack_add(lacking, node, r->why);
    }
    for (size_t i = 0; i < node->n_outputs; i++) {
        nn_onnx_mean(r, node, i, NN_ONNX_LAYER, 0, NULL);
    }
}

static enum nn_status read_nodes(struct nn_onnx_reader *r, struct nn_error *err)
{
    struct lacking lacking = {.n = 0};
    if (r->model->n_nodes > NN_ONNX_READ_NODES || r->model->has_functions) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "the graph has %s",
                       r->model->has_functions ? "functions of its own" : "too many nodes");
    }
    for (size_t i = 0; i < r->model->n_tensors; i++) {
        nn_onnx_know(r, &(struct nn_onnx_known){.name = r->model->tensors[i].name,
                                                .meaning = NN_ONNX_CONSTANT,
                                                .tensor = &r->model->tensors[i]});
    }
    for (size_t i = 0; i < r->model->n_nodes && r->status == NN_OK; i++) {
        read_node(r, &r->model->nodes[i], &lacking);
    }
    if (r->status != NN_OK) {
        return nn_fail(err, r->status, "no memory for a graph");
    }
    return lacking.n == 0
               ? NN_OK
               : nn_fail(err, NN_ERR_NOT_SUPPORTED, "%zu nodes of the graph cannot be read: %s",
                         lacking.n, lacking.text);
}

/* ---- the whole ---- */

static int by_name(const void *a, const void *b)
{
    const struct nn_file_tensor *x = a;
    const struct nn_file_tensor *y = b;
    return strcmp(x->name, y->name);
}

/* Names of layers and of parameters may have dots in them, so that two come to one. */
static enum nn_status sort_tensors(struct nn_onnx_reader *r, struct nn_error *err)
{
    if (r->n_tensors > 1) {
        qsort(r->tensors, r->n_tensors, sizeof *r->tensors, by_name);
    }
    for (size_t i = 1; i < r->n_tensors; i++) {
        if (by_name(&r->tensors[i - 1], &r->tensors[i]) == 0) {
            return nn_fail(err, NN_ERR_NOT_SUPPORTED, "two parameters would be \"%.100s\"",
                           r->tensors[i].name);
        }
    }
    return NN_OK;
}

/* A description that our own checks refuse is of no use. */
static enum nn_status check(const json_t *description, struct nn_error *err)
{
    struct nn_description *parsed = NULL;
    struct nn_error issue = {0};
    enum nn_status status = nn_description_parse(description, &parsed, &issue);
    nn_description_destroy(parsed);
    return status == NN_OK || status == NN_ERR_MEMORY
               ? status
               : nn_fail(err, NN_ERR_NOT_SUPPORTED, "the graph is no network of ours: %s",
                         issue.text);
}

static enum nn_status read_graph(struct nn_onnx_reader *r, struct nn_onnx_import *import,
                                 struct nn_error *err)
{
    r->layers = json_array();
    r->connections = json_array();
    if (!r->layers || !r->connections) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a graph");
    }
    enum nn_status status = nn_onnx_read_input(r, err);
    status = status == NN_OK ? read_nodes(r, err) : status;
    status = status == NN_OK ? nn_onnx_finish(r, err) : status;
    if (status != NN_OK) {
        return status;
    }
    import->description =
        json_pack("{s:O, s:O}", "layers", r->layers, "connections", r->connections);
    if (!import->description) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a graph");
    }
    status = sort_tensors(r, err);
    return status == NN_OK ? check(import->description, err) : status;
}

enum nn_status nn_onnx_import_create(const struct nn_onnx_model *model, struct nn_onnx_import **out,
                                     struct nn_error *err)
{
    struct nn_onnx_import *import = calloc(1, sizeof *import);
    if (!import || nn_arena_create(NULL, 0, &import->arena) != NN_OK) {
        free(import);
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a graph");
    }
    struct nn_onnx_reader r = {.model = model, .arena = import->arena, .status = NN_OK};
    enum nn_status status = read_graph(&r, import, err);
    import->tensors = r.tensors;
    import->n_tensors = r.n_tensors;
    free(r.known);
    free(r.extents);
    json_decref(r.layers);
    json_decref(r.connections);
    if (status != NN_OK) {
        nn_onnx_import_destroy(import);
        return status;
    }
    *out = import;
    return NN_OK;
}

void nn_onnx_import_destroy(struct nn_onnx_import *import)
{
    if (import) {
        json_decref(import->description);
        free(import->tensors);
        nn_arena_destroy(import->arena);
        free(import);
    }
}

const json_t *nn_onnx_import_description(const struct nn_onnx_import *import)
{
    return import->description;
}

const struct nn_file_tensor *nn_onnx_import_tensors(const struct nn_onnx_import *import,
                                                    size_t *out_n)
{
    *out_n = import->n_tensors;
    return import->tensors;
}
