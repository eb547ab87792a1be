/* SPDX-License-Identifier: MIT
 *
 * The report on a description: per layer what it makes, learns and costs; totals; every issue.
 */
#include <stdio.h>
#include <string.h>

#include "core/network/description_internal.h"

/* What is added up over the layers. */
struct totals {
    double learnables, states, multiply_adds;
};

static json_t *whole(double x)
{
    return json_integer((json_int_t)x);
}

static bool put(json_t *object, const char *key, json_t *value)
{
    return value && json_object_set_new(object, key, value) == 0;
}

static bool is_known(struct nn_shape shape)
{
    return shape.channels > 0;
}

static double count_of(const struct nn_parameter_plan *parameter)
{
    double count = 1;
    for (size_t i = 0; i < 4; i++) {
        count *= (double)parameter->extent[i];
    }
    return count;
}

static json_t *shape_array(const struct nn_parameter_plan *parameter)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < parameter->ndim; i++) {
        if (json_array_append_new(array, json_integer((json_int_t)parameter->shape[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static bool put_parameters(json_t *row, const struct nn_layer_plan *plan, struct totals *totals)
{
    json_t *learnables = json_object();
    json_t *states = json_object();
    double count = 0;
    bool fine = put(row, "learnables", learnables) && put(row, "states", states);
    for (size_t i = 0; fine && i < plan->n_parameters; i++) {
        const struct nn_parameter_plan *p = &plan->parameters[i];
        fine = put(p->learnable ? learnables : states, p->suffix, shape_array(p));
        if (p->learnable) {
            count += count_of(p);
        } else {
            totals->states += count_of(p);
        }
    }
    totals->learnables += count;
    return fine && put(row, "learnable_count", whole(count));
}

static bool put_activation(json_t *row, const struct nn_layer_plan *plan, struct totals *totals)
{
    struct nn_shape out = plan->out;
    bool image = out.height * out.width > 1;
    double count = (double)out.height * (double)out.width * (double)out.channels;
    totals->multiply_adds += plan->multiply_adds;
    json_t *size = image ? json_pack("[I, I, I]", (json_int_t)out.height, (json_int_t)out.width,
                                     (json_int_t)out.channels)
                         : json_pack("[I]", (json_int_t)out.channels);
    return put(row, "activation", size) &&
           put(row, "format",
               json_string(image            ? "SSC"
                           : plan->sequence ? "CT"
                                            : "C")) &&
           put(row, "multiply_adds", whole(plan->multiply_adds)) &&
           put(row, "activation_bytes", whole(count * (double)sizeof(nn_real)));
}

static bool put_inputs(json_t *row, const struct nn_description *graph, const struct nn_node *node)
{
    json_t *inputs = json_array();
    for (size_t k = 0; inputs && k < node->n_inputs; k++) {
        const char *name = graph->nodes[node->inputs[k]].layer.name;
        if (json_array_append_new(inputs, json_string(name)) != 0) {
            json_decref(inputs);
            return false;
        }
    }
    return put(row, "inputs", inputs);
}

/* One layer; sizes that are not known are null. NULL when out of memory. */
static json_t *layer_row(const struct nn_description *graph, const struct nn_node *node,
                         const struct nn_layer_plan *plan, struct totals *totals)
{
    static const char *const SIZES[] = {"activation",      "format",          "learnables",
                                        "states",          "learnable_count", "multiply_adds",
                                        "activation_bytes"};
    const char *kind = node->layer.kind ? node->layer.kind->name : NULL;
    json_t *row = json_pack("{s:s, s:s?}", "name", node->layer.name, "kind", kind);
    bool fine = row && put_inputs(row, graph, node);
    if (fine && is_known(plan->out)) {
        fine = put_activation(row, plan, totals) && put_parameters(row, plan, totals);
    } else {
        for (size_t i = 0; fine && i < sizeof SIZES / sizeof SIZES[0]; i++) {
            fine = put(row, SIZES[i], json_null());
        }
    }
    if (!fine) {
        json_decref(row);
        return NULL;
    }
    return row;
}

static bool put_layers(json_t *report, const struct nn_description *graph,
                       const struct nn_layer_plan *plans, struct totals *totals)
{
    json_t *rows = json_array();
    bool fine = put(report, "layers", rows);
    for (size_t i = 0; fine && graph && i < graph->n_nodes; i++) {
        json_t *row = layer_row(graph, &graph->nodes[i], &plans[i], totals);
        fine = row && json_array_append_new(rows, row) == 0;
    }
    return fine;
}

/* Bytes of a plan, or null: issues, no data set, or more than can be counted. */
static json_t *plan_bytes(const struct nn_description *graph, const struct nn_network_bind *bind,
                          size_t batch_size, enum nn_phase phase)
{
    const struct nn_network_options options = {.max_batch = batch_size, .phase = phase};
    const struct nn_network_bind none = {0};
    size_t bytes = 0;
    struct nn_error err = {0};
    enum nn_status status =
        nn_network_plan_bytes(graph, bind ? bind : &none, &options, &bytes, &err);
    return status == NN_OK ? json_integer((json_int_t)bytes) : json_null();
}

static bool put_totals(json_t *report, const struct nn_description *graph,
                       const struct nn_network_bind *bind, size_t batch_size, bool sized,
                       const struct totals *totals)
{
    json_t *row = json_object();
    double parameters = (totals->learnables + totals->states) * (double)sizeof(nn_real);
    return put(report, "totals", row) &&
           put(row, "learnables", sized ? whole(totals->learnables) : json_null()) &&
           put(row, "states", sized ? whole(totals->states) : json_null()) &&
           put(row, "multiply_adds", sized ? whole(totals->multiply_adds) : json_null()) &&
           put(row, "parameter_bytes", sized ? whole(parameters) : json_null()) &&
           put(row, "training_bytes",
               sized ? plan_bytes(graph, bind, batch_size, NN_PHASE_TRAINING) : json_null()) &&
           put(row, "inference_bytes",
               sized ? plan_bytes(graph, bind, batch_size, NN_PHASE_INFERENCE) : json_null()) &&
           put(row, "batch_size", json_integer((json_int_t)batch_size));
}

static bool all_known(const struct nn_description *graph, const struct nn_layer_plan *plans)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        if (!is_known(plans[i].out)) {
            return false;
        }
    }
    return true;
}

/* The report once the graph (or NULL), its sizes and all issues are there. expanded may be NULL. */
static json_t *make_report(const json_t *expanded, const struct nn_description *graph,
                           const struct nn_layer_plan *plans, const struct nn_network_bind *bind,
                           size_t batch_size, const struct nn_issues *issues)
{
    struct totals totals = {0};
    json_t *name = graph && graph->name ? json_incref(graph->name) : json_null();
    json_t *report = json_pack("{s:o, s:b, s:O?}", "name", name, "valid",
                               issues->errors == 0 && graph ? 1 : 0, "description", expanded);
    bool sized = graph && issues->errors == 0 && all_known(graph, plans);
    bool fine = report && put_layers(report, graph, plans, &totals) &&
                put_totals(report, graph, bind, batch_size, sized, &totals) &&
                json_object_set(report, "issues", issues->list) == 0;
    if (!fine) {
        json_decref(report);
        return NULL;
    }
    return report;
}

/* Sizes that were compared with nothing must not look as if they had been. */
static void warn_unbound(const struct nn_description *graph, const struct nn_layer_plan *plans,
                         struct nn_issues *issues)
{
    const struct nn_node *input = &graph->nodes[graph->input];
    struct nn_shape in = plans[graph->input].out, out = plans[graph->output].out;
    char shape[64], outputs[64], text[320], pointer[64];
    nn_shape_text(in, shape, sizeof shape);
    (void)snprintf(outputs, sizeof outputs, "%zu outputs", out.channels);
    (void)snprintf(
        text, sizeof text, "no data set and no sizes were given: assumed are %s%s and %s%s",
        is_known(in) ? "the description's own input of " : "an input of unknown size",
        is_known(in) ? shape : "", is_known(out) ? outputs : "as many outputs as there are classes",
        is_known(in) ? "" : ", so no layer's size was checked");
    jx_pointer_index("/layers", input->position, pointer, sizeof pointer);
    nn_issue_warning(
        issues, "sizes_not_checked", input->layer.name, pointer, text,
        "name a data set (dataset), or give sizes (input or sequence, and classes), to "
        "have them checked against it");
}

static json_t *analyze(const json_t *expanded, const struct nn_network_bind *bind,
                       size_t batch_size, struct nn_issues *issues)
{
    struct nn_description *graph = NULL;
    struct nn_layer_plan *plans = NULL;
    json_t *report = NULL;
    if (expanded && nn_graph_build(expanded, issues, &graph) != NN_OK) {
        return NULL;
    }
    plans = nn_memory_alloc(NULL, graph ? graph->n_nodes : 0, sizeof *plans);
    if (plans && graph) {
        nn_graph_plan(graph, bind, issues, plans);
    }
    if (plans && graph && !bind && issues->errors == 0) {
        warn_unbound(graph, plans, issues);
    }
    if (plans && !issues->out_of_memory) {
        report = make_report(expanded, graph, plans, bind, batch_size, issues);
    }
    nn_memory_free(NULL, plans);
    nn_description_destroy(graph);
    return report;
}

enum nn_status nn_network_analyze(const json_t *spec, const struct nn_network_bind *bind,
                                  size_t batch_size, json_t **out_report, struct nn_error *err)
{
    struct nn_issues issues;
    if (!nn_issues_init(&issues)) {
        return nn_fail(err, NN_ERR_MEMORY, "out of memory while analysing the network");
    }
    json_t *expanded = nn_spec_expand(spec, &issues);
    json_t *report = issues.out_of_memory ? NULL : analyze(expanded, bind, batch_size, &issues);
    json_decref(expanded);
    nn_issues_deinit(&issues);
    if (!report) {
        return nn_fail(err, NN_ERR_MEMORY, "out of memory while analysing the network");
    }
    *out_report = report;
    return NN_OK;
}
