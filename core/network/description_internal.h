/* SPDX-License-Identifier: MIT
 *
 * From JSON to a checked graph: issues, templates, nodes.
 */
#ifndef NN_NETWORK_DESCRIPTION_INTERNAL_H
#define NN_NETWORK_DESCRIPTION_INTERNAL_H

#include "core/base/memory.h"
#include "core/layers/layer.h"
#include "core/network/network.h"

#define NN_NETWORK_LAYERS_MAX      1024
#define NN_NETWORK_CONNECTIONS_MAX 4096
#define NN_NETWORK_DROPOUT_MAX     64 /* NN_RANDOM_DROPOUT leaves room for so many */

/* A hostile description gets no longer list, and no endless search for names or issues; one mistake
 * that is made over and over leaves room in the list for others. */
#define NN_ISSUES_MAX          100
#define NN_ISSUES_WARNED       50 /* warnings stop here: an error always finds room */
#define NN_ISSUES_ALIKE        8
#define NN_ISSUES_COUNTED      4000
#define NN_ISSUES_WITH_NEAREST 20

/* ---- issues ---- */

struct nn_issues {
    json_t *list; /* of {"severity", "code", "layer", "pointer", "text", "mend", "more"} */
    size_t errors;
    bool out_of_memory;
    bool of_template; /* pointers into the layers of a template mean nothing to the caller */
    json_t *origins;  /* where each expanded layer stands in the description; NULL: as numbered */
};

NN_MUST_CHECK bool nn_issues_init(struct nn_issues *issues);
void nn_issues_deinit(struct nn_issues *issues);

/* layer and mend may be NULL; pointer is relative to the spec. */
void nn_issue(struct nn_issues *issues, const char *layer, const char *pointer, const char *mend,
              const char *fmt, ...) NN_PRINTF(5, 6);
/* code: a stable name of what is warned of. */
void nn_issue_warning(struct nn_issues *issues, const char *code, const char *layer,
                      const char *pointer, const char *text, const char *mend);
/* Nothing more would be listed, or enough was counted. */
bool nn_issues_full(const struct nn_issues *issues);

/* Our kind of layer for a name of PyTorch, Keras or MATLAB; NULL: none is known. */
const char *nn_layer_synonym(const char *name);

/* How to mend an option, from its table: what goes there if the table has it, else "its options are
 * a, b" with `begin` for the first words. field: its name, perhaps with a path behind, or NULL. */
void nn_mend_field(const char *begin, const struct jx_field *fields, const char *field, char *out,
                   size_t size);

/* The first error and how many more there are; NN_ERR_MEMORY when a list could not be made; NN_OK
 * when there is none. */
NN_MUST_CHECK enum nn_status nn_issues_status(const struct nn_issues *issues, struct nn_error *err);

/* ---- templates ---- */

/* {"layers", "connections"?, "name"?, "parameters"?} of a spec, a template's or the explicit form,
 * with nothing left to expand. NULL after an issue (or out of memory, said in issues). */
json_t *nn_spec_expand(const json_t *spec, struct nn_issues *issues);
/* The same of {"blocks"?, "layers", ...}, whose parameters have their values. */
json_t *nn_description_expand(const json_t *form, struct nn_issues *issues);

/* The text of a template as JSON, new reference; NULL when there is none of that name. */
json_t *nn_template_load(const char *name);

/* ---- graph ---- */

struct nn_node {
    struct nn_layer layer; /* kind NULL after an issue */
    bool options_wrong;    /* an option is out of range: its sizes mean nothing */
    size_t position;       /* in the spec */
    size_t *inputs;        /* nodes, in the order of the connections */
    size_t n_inputs;
    size_t n_consumers;
    uint32_t number; /* among the nodes of its kind */
    bool auxiliary;  /* leads to auxiliary losses alone */
};

struct nn_description {
    struct nn_arena *arena;
    json_t *name;       /* string, or NULL */
    json_t *parameters; /* object, or NULL */
    struct nn_node *nodes;
    size_t n_nodes;
    size_t *order; /* of nodes, each after its inputs */
    size_t n_order;
    size_t input, output; /* nodes; output: the one whose activation is the scores */
    bool ends_in_softmax; /* output feeds a last softmax */
};

/* Builds the graph and gathers its issues; only without errors is it fit for use. NN_ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_graph_build(const json_t *expanded, struct nn_issues *issues,
                                            struct nn_description **out);

/* The layers of `expanded` as nodes, then their connections, then the checks on both. */
bool nn_graph_read_layers(const json_t *layers, struct nn_issues *issues,
                          struct nn_description *graph);
bool nn_graph_read_connections(const json_t *connections, struct nn_issues *issues,
                               struct nn_description *graph);
bool nn_graph_check(struct nn_issues *issues, struct nn_description *graph);
/* Fills order; an issue for each cycle, whose nodes are left out. false: out of memory. */
bool nn_graph_order(struct nn_issues *issues, struct nn_description *graph);

/* Sizes of every node, as far as they follow: out_plans has n_nodes zeroed entries; an unknown
 * shape stays zero. bind may be NULL. */
void nn_graph_plan(const struct nn_description *graph, const struct nn_network_bind *bind,
                   struct nn_issues *issues, struct nn_layer_plan *out_plans);

/* A layer with all its options, as in the expanded description. NULL when out of memory. */
json_t *nn_node_json(const struct nn_node *node);

#endif
