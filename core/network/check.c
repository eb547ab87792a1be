/* SPDX-License-Identifier: MIT
 *
 * The checks on a graph as a whole: one input, one output, every layer fed and used, and then the
 * sizes, layer by layer.
 */
#include <stdio.h>
#include <string.h>

#include "core/network/description_internal.h"

enum { POINTER_SIZE = 160, MEND_SIZE = 240 };

static void pointer_of(const struct nn_node *node, char out[POINTER_SIZE])
{
    jx_pointer_index("/layers", node->position, out, POINTER_SIZE);
}

static bool is_input(const struct nn_node *node)
{
    return node->layer.kind && node->layer.kind->max_inputs == 0;
}

static bool is_auxiliary_loss(const struct nn_node *node)
{
    return node->layer.kind == &nn_kind_auxiliary_loss;
}

static bool is_kind(const struct nn_node *node, const char *name)
{
    return node->layer.kind && strcmp(node->layer.kind->name, name) == 0;
}

/* ---- inputs and outputs ---- */

static void check_inputs(const struct nn_node *node, struct nn_issues *issues)
{
    char pointer[POINTER_SIZE];
    const struct nn_layer_kind *kind = node->layer.kind;
    pointer_of(node, pointer);
    if (!kind || (node->n_inputs >= kind->min_inputs && node->n_inputs <= kind->max_inputs)) {
        return;
    }
    if (node->n_inputs == 0) {
        nn_issue(issues, node->layer.name, pointer, "connect the output of a layer to it",
                 "missing input: nothing is connected to this %s", kind->name);
    } else if (kind->max_inputs == 0) {
        nn_issue(issues, node->layer.name, pointer, "put it first, and connect nothing to it",
                 "a layer of kind %s takes no input", kind->name);
    } else if (node->n_inputs < kind->min_inputs) {
        nn_issue(issues, node->layer.name, pointer, "connect more layers to it",
                 "a layer of kind %s takes at least %zu inputs, not %zu", kind->name,
                 kind->min_inputs, node->n_inputs);
    } else {
        nn_issue(issues, node->layer.name, pointer,
                 "join them by an addition or a concatenation before it",
                 "a layer of kind %s takes at most %zu input%s, not %zu", kind->name,
                 kind->max_inputs, kind->max_inputs == 1 ? "" : "s", node->n_inputs);
    }
}

static void find_input(struct nn_issues *issues, struct nn_description *graph)
{
    size_t found = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        if (!is_input(&graph->nodes[i])) {
            continue;
        }
        if (found++ == 0) {
            graph->input = i;
        } else {
            char pointer[POINTER_SIZE];
            pointer_of(&graph->nodes[i], pointer);
            nn_issue(issues, graph->nodes[i].layer.name, pointer, "keep one of them",
                     "the network has more than one input");
        }
    }
    if (found == 0) {
        nn_issue(issues, NULL, "/layers",
                 "begin with a layer of kind image_input or sequence_input",
                 "the network has no input");
    }
}

/* An auxiliary loss ends a branch, whose scores are for it alone. */
static void check_auxiliary(struct nn_issues *issues, const struct nn_description *graph)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct nn_node *node = &graph->nodes[i];
        char pointer[POINTER_SIZE];
        pointer_of(node, pointer);
        if (is_auxiliary_loss(node) && node->n_consumers > 0) {
            nn_issue(issues, node->layer.name, pointer, "connect the layer before it instead",
                     "nothing can be connected to an auxiliary loss");
        } else if (is_auxiliary_loss(node) && node->n_inputs == 1 &&
                   (graph->nodes[node->inputs[0]].n_consumers > 1 ||
                    is_input(&graph->nodes[node->inputs[0]]))) {
            nn_issue(issues, node->layer.name, pointer, "put a fully_connected layer before it",
                     "the layer before an auxiliary loss must be for it alone");
        }
    }
}

/* Marks what does not lead to the output. */
static void mark_auxiliary(struct nn_description *graph)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct nn_node *node = &graph->nodes[i];
        graph->nodes[i].auxiliary =
            i != graph->output &&
            !(graph->ends_in_softmax && node->n_inputs == 1 && node->inputs[0] == graph->output);
    }
    for (size_t k = graph->n_order; k-- > 0;) {
        const struct nn_node *node = &graph->nodes[graph->order[k]];
        for (size_t m = 0; !node->auxiliary && m < node->n_inputs; m++) {
            graph->nodes[node->inputs[m]].auxiliary = false;
        }
    }
}

/* The last layer that nothing uses is the output; others are left over. */
static void find_output(struct nn_issues *issues, struct nn_description *graph)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct nn_node *node = &graph->nodes[i];
        if (node->n_consumers == 0 && !is_auxiliary_loss(node)) {
            last = i;
        }
    }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct nn_node *node = &graph->nodes[i];
        if (node->n_consumers == 0 && i != last && !is_auxiliary_loss(node)) {
            char pointer[POINTER_SIZE];
            pointer_of(node, pointer);
            nn_issue(issues, node->layer.name, pointer, "connect it to a layer, or remove it",
                     "unused output: nothing is connected to this layer");
        }
    }
    graph->output = last;
    if (last == SIZE_MAX) { /* a cycle, or a network of auxiliary losses alone */
        nn_issue(issues, NULL, "/layers", "end with a layer that nothing is connected to",
                 "the network has no output");
        return;
    }
    const struct nn_node *node = &graph->nodes[last];
    if (is_kind(node, "softmax") && node->n_inputs == 1) {
        graph->ends_in_softmax = true;
        graph->output = node->inputs[0];
        if (is_kind(&graph->nodes[graph->output], "relu")) {
            char pointer[POINTER_SIZE];
            pointer_of(&graph->nodes[graph->output], pointer);
            nn_issue_warning(issues, "relu_before_softmax", graph->nodes[graph->output].layer.name,
                             pointer,
                             "the scores pass through a relu before the softmax, which cuts off "
                             "everything below 0",
                             "remove the relu");
        }
    }
    if (is_input(&graph->nodes[graph->output])) {
        nn_issue(issues, node->layer.name, "/layers", "put layers behind the input",
                 "the network has nothing that could learn");
    }
}

static void number_nodes(struct nn_description *graph, struct nn_issues *issues)
{
    size_t n_dropout = 0;
    for (size_t k = 0; k < graph->n_order; k++) {
        struct nn_node *node = &graph->nodes[graph->order[k]];
        for (size_t m = 0; m < k; m++) {
            const struct nn_node *other = &graph->nodes[graph->order[m]];
            node->number += other->layer.kind == node->layer.kind ? 1 : 0;
        }
        n_dropout += is_kind(node, "dropout") ? 1 : 0;
    }
    if (n_dropout > NN_NETWORK_DROPOUT_MAX) {
        nn_issue(issues, NULL, "/layers", "use fewer",
                 "the network has %zu dropout layers, the limit is %d", n_dropout,
                 NN_NETWORK_DROPOUT_MAX);
    }
}

bool nn_graph_check(struct nn_issues *issues, struct nn_description *graph)
{
    for (size_t i = 0; i < graph->n_nodes; i++) {
        check_inputs(&graph->nodes[i], issues);
    }
    find_input(issues, graph);
    check_auxiliary(issues, graph);
    find_output(issues, graph);
    if (!nn_graph_order(issues, graph)) {
        return false;
    }
    mark_auxiliary(graph);
    number_nodes(graph, issues);
    return true;
}

/* ---- sizes ---- */

static bool is_known(struct nn_shape shape)
{
    return shape.height > 0 && shape.width > 0 && shape.channels > 0;
}

/* Whether a node gives what the data set holds, untouched. */
static bool gives_data(const struct nn_node *node, const struct nn_network_bind *bind)
{
    return is_input(node) && !node->options_wrong &&
           nn_input_normalisation(&node->layer, bind) == NN_NORMALISATION_NONE;
}

/* The inputs of a node; false while one of them is not known. */
static bool gather_inputs(const struct nn_description *graph, const struct nn_node *node,
                          const struct nn_network_bind *bind, const struct nn_layer_plan *plans,
                          struct nn_layer_input in[NN_LAYER_INPUTS_MAX])
{
    const struct nn_layer_kind *kind = node->layer.kind;
    if (!kind || node->options_wrong || node->n_inputs < kind->min_inputs ||
        node->n_inputs > kind->max_inputs) {
        return false;
    }
    for (size_t k = 0; k < node->n_inputs; k++) {
        const struct nn_layer_plan *plan = &plans[node->inputs[k]];
        in[k].shape = plan->out;
        in[k].image = is_known(plan->image) ? plan->image : plan->out;
        in[k].sequence = plan->sequence;
        in[k].as_given = gives_data(&graph->nodes[node->inputs[k]], bind);
        if (!is_known(in[k].shape)) {
            return false;
        }
    }
    return true;
}

static bool is_behind_flatten(const struct nn_node *node, const struct nn_layer_input *in)
{
    for (size_t k = 0; k < node->n_inputs; k++) {
        if (!nn_shape_equal(in[k].image, in[k].shape)) {
            return true;
        }
    }
    return false;
}

/* Why a layer cannot take such inputs, and what to do instead; NULL: it can. */
static const char *sequence_fault(const struct nn_node *node, const struct nn_layer_input *in,
                                  const char **out_mend)
{
    enum nn_on_sequences on_sequences = node->layer.kind->on_sequences;
    for (size_t k = 1; k < node->n_inputs; k++) {
        if (in[k].sequence != in[0].sequence) {
            *out_mend = "let the layers before it give rows for steps, or for sequences, alike";
            return "some of its inputs are sequences and some are not";
        }
    }
    if (node->n_inputs > 0 && in[0].sequence && on_sequences == NN_SEQUENCES_REFUSED) {
        *out_mend = "put a sequence_pool before it, or remove it";
        return "a layer of this kind cannot take a sequence";
    }
    if (node->n_inputs > 0 && !in[0].sequence && on_sequences == NN_SEQUENCES_WHOLE) {
        *out_mend = "begin with a sequence_input, and let no layer before it take one row of each";
        return "a layer of this kind takes sequences only";
    }
    return NULL;
}

static void plan_node(const struct nn_description *graph, size_t which,
                      const struct nn_network_bind *bind, struct nn_issues *issues,
                      struct nn_layer_plan *plans)
{
    const struct nn_node *node = &graph->nodes[which];
    struct nn_layer_plan *out = &plans[which];
    const struct nn_layer_kind *kind = node->layer.kind;
    struct nn_layer_input in[NN_LAYER_INPUTS_MAX];
    struct nn_layer_issue issue = {0};
    char pointer[POINTER_SIZE];
    size_t count;
    if (!gather_inputs(graph, node, bind, plans, in)) {
        return;
    }
    pointer_of(node, pointer);
    const char *mend = NULL;
    const char *fault = sequence_fault(node, in, &mend);
    if (fault) {
        nn_issue(issues, node->layer.name, pointer, mend, "%s", fault);
    } else if (!kind->behind_flatten && is_behind_flatten(node, in)) {
        nn_issue(issues, node->layer.name, pointer,
                 "put it before the flatten, or a fully_connected layer between",
                 "a layer of kind %s cannot take a flattened image", kind->name);
    } else if (kind->plan(&node->layer, in, node->n_inputs, bind, out, &issue) != NN_OK) {
        char place[POINTER_SIZE];
        jx_pointer_key(pointer, issue.field ? issue.field : "", place, sizeof place);
        nn_issue(issues, node->layer.name, issue.field ? place : pointer, issue.mend, "%s",
                 issue.text);
    } else if (!nn_shape_count(out->out, &count) || count > NN_LAYER_COUNT_MAX) {
        *out = (struct nn_layer_plan){0};
        nn_issue(issues, node->layer.name, pointer, "pool or stride before it",
                 "its output is too large to count");
    } else if (kind->on_sequences == NN_SEQUENCES_BY_STEP) {
        out->sequence = in[0].sequence;
    }
}

/* Regression: as many outputs as there are responses. */
static void check_responses(const struct nn_description *graph, const struct nn_network_bind *bind,
                            struct nn_issues *issues, struct nn_shape out)
{
    const struct nn_node *node = &graph->nodes[graph->output];
    char pointer[POINTER_SIZE];
    char mend[MEND_SIZE];
    pointer_of(node, pointer);
    if (graph->ends_in_softmax) {
        nn_issue(issues, node->layer.name, pointer, "remove the softmax",
                 "a network that predicts numbers must not end in a softmax");
    }
    if (is_known(out) && (out.height != 1 || out.width != 1 || out.channels != bind->responses)) {
        char text[64];
        nn_shape_text(out, text, sizeof text);
        (void)snprintf(mend, sizeof mend,
                       "end with a fully_connected of %zu outputs, or leave them out",
                       bind->responses);
        nn_issue(issues, node->layer.name, pointer, mend,
                 "it gives %s numbers, but the data set has %zu responses", text, bind->responses);
    }
}

static void check_scores(const struct nn_description *graph, const struct nn_network_bind *bind,
                         struct nn_issues *issues, const struct nn_layer_plan *plans)
{
    const struct nn_node *node = &graph->nodes[graph->output];
    struct nn_shape out = plans[graph->output].out;
    char pointer[POINTER_SIZE];
    char mend[MEND_SIZE];
    char text[64];
    pointer_of(node, pointer);
    nn_shape_text(out, text, sizeof text);
    if (!graph->ends_in_softmax) {
        nn_issue(issues, node->layer.name, pointer, "end with a layer of kind softmax",
                 "a network that classifies must end in a softmax");
    }
    if (!is_known(out)) {
        return;
    }
    if (plans[graph->output].sequence) {
        nn_issue(issues, node->layer.name, pointer,
                 "put a sequence_pool before the last fully_connected",
                 "the network gives scores for each step, not for each sequence");
    } else if (out.height != 1 || out.width != 1) {
        nn_issue(issues, node->layer.name, pointer,
                 "put global_average_pool, flatten or fully_connected behind it",
                 "the network ends in an image of %s, not in one score for each class", text);
    } else if (out.channels != bind->classes) {
        (void)snprintf(mend, sizeof mend,
                       "set its outputs to %zu, or leave them out to take the data set's",
                       bind->classes);
        nn_issue(issues, node->layer.name, pointer, mend,
                 "it gives %zu scores, but the data set has %zu classes", out.channels,
                 bind->classes);
    }
}

void nn_graph_plan(const struct nn_description *graph, const struct nn_network_bind *bind,
                   struct nn_issues *issues, struct nn_layer_plan *out_plans)
{
    for (size_t k = 0; k < graph->n_order; k++) {
        plan_node(graph, graph->order[k], bind, issues, out_plans);
    }
    if (bind && bind->classes > 0 && graph->output != SIZE_MAX) {
        check_scores(graph, bind, issues, out_plans);
    } else if (bind && bind->responses > 0 && graph->output != SIZE_MAX) {
        check_responses(graph, bind, issues, out_plans[graph->output].out);
    }
}
