/* SPDX-License-Identifier: MIT
 *
 * Expansion: a description with variables, conditions, repetition and blocks becomes a plain list
 * of layers and connections.
 *
 *   "$name"       the value of a parameter; within a longer text its text
 *   "derived": {"n": {"p": {"a": 1, "b": 2}}}   "$n" is 1 where the parameter p is "a", else 2
 *   {"if": b, ...}                              left out unless b is true
 *   {"for_each": list, "layers": [...]}         once for each item; "$item" and "$index" (from 1)
 *       stand for it; a number counts as 1, 2, ... up to it; "but_last": true leaves the last out
 *   {"name": "a", "block": "b", "x": 1}         the layers of blocks.b, called "a.<name>" (a layer
 *       without a name is called "a"); x is one of the block's parameters
 *   "inputs": ["a", "b"]                        of a layer or block: what stands before it in the
 *       same list; left out: the one just before it. In a block "$input" is what the block takes.
 *
 * Whatever a hostile description makes is bounded: so many items are visited, blocks nest so deep,
 * and values are shared, never copied.
 */
#include <stdio.h>
#include <string.h>

#include "core/network/expand_internal.h"

enum { DEPTH_MAX = 16, TEXT_SIZE = 160 };

static void expand_items(struct nn_expansion *x, struct nn_scope *scope, const json_t *items,
                         const char *pointer);

/* The whole name of a local one: "block.name", or that of the block. */
static void whole_name(const struct nn_scope *scope, const char *name, char out[NN_SCOPE_PREFIX])
{
    bool both = scope->prefix[0] && name[0];
    (void)snprintf(out, NN_SCOPE_PREFIX, "%.120s%s%.120s", scope->prefix, both ? "." : "", name);
}

/* What is no object goes on as it is: reading it says so. */
static void expand_layer(struct nn_expansion *x, struct nn_scope *scope, const json_t *item,
                         const char *pointer)
{
    char whole[NN_SCOPE_PREFIX];
    json_t *layer = json_is_object(item) ? nn_expand_made(x, json_object())
                                         : json_incref((json_t *)(uintptr_t)item);
    const char *key;
    json_t *value;
    bool goes_on =
        nn_expand_steps(x, json_is_object(item) ? 0 : nn_expand_weight("", item), pointer);
    json_object_foreach((json_t *)(uintptr_t)item, key, value)
    {
        if (goes_on && strcmp(key, "if") != 0 && strcmp(key, "inputs") != 0) {
            json_t *filled = nn_expand_member(x, scope, item, key, pointer);
            goes_on = nn_expand_steps(x, nn_expand_weight(key, filled), pointer);
            nn_expand_kept(x, goes_on ? json_object_set(layer, key, filled) : 0);
            json_decref(filled);
        }
    }
    json_t *name = json_incref(json_object_get(layer, "name"));
    const char *local = name                                       ? json_string_value(name)
                        : json_is_object(item) && scope->prefix[0] ? ""
                                                                   : NULL;
    if (local) {
        whole_name(scope, local, whole);
        nn_expand_kept(x, json_object_set_new(layer, "name", json_string(whole)));
        nn_expand_connect(x, scope, item, pointer, whole);
        nn_expand_output(x, scope, local, nn_expand_made(x, json_pack("[s]", whole)));
    }
    json_decref(name);
    nn_expand_kept(x, json_array_append_new(x->layers, layer));
    nn_expand_kept(x, json_array_append_new(x->origins, json_string(pointer)));
}

static bool is_argument(const char *key)
{
    return strcmp(key, "name") != 0 && strcmp(key, "block") != 0 && strcmp(key, "inputs") != 0 &&
           strcmp(key, "if") != 0;
}

/* The values of a block's parameters: what the item gives, else their defaults. */
static json_t *arguments(struct nn_expansion *x, const struct nn_scope *scope, const json_t *item,
                         const json_t *parameters, const char *pointer)
{
    json_t *out = nn_expand_copy(x, parameters, pointer);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)item, key, value)
    {
        char place[POINTER_SIZE], mend[MEND_SIZE];
        if (!nn_expand_step(x, pointer)) {
            break;
        }
        if (!is_argument(key)) {
            continue;
        }
        if (!json_object_get(parameters, key)) {
            jx_pointer_key(pointer, key, place, sizeof place);
            nn_expand_mend(parameters, key, "the block's parameters are", mend);
            nn_issue(x->issues, NULL, place, mend, "the block has no parameter \"%.64s\"", key);
            continue;
        }
        json_t *filled = nn_expand_member(x, scope, item, key, pointer);
        nn_expand_kept(x, json_object_set_new(out, key, filled));
    }
    json_object_foreach(out, key, value)
    {
        if (json_is_null(value) && !json_object_get(item, key)) {
            nn_issue(x->issues, NULL, pointer, "give it beside the block's name",
                     "the block needs a value for \"%.64s\"", key);
        }
    }
    return out;
}

/* A block by name, with its layers; NULL after an issue. */
static const json_t *find_block(struct nn_expansion *x, const struct nn_scope *scope,
                                const char *name, const char *pointer)
{
    char place[POINTER_SIZE], mend[MEND_SIZE];
    const json_t *block = name ? json_object_get(x->blocks, name) : NULL;
    jx_pointer_key(pointer, "block", place, sizeof place);
    if (!block) {
        nn_expand_mend(x->blocks, name ? name : "", "the blocks are", mend);
        nn_issue(x->issues, NULL, place, mend, "there is no block called \"%.64s\"",
                 name ? name : "");
    } else if (!json_is_array(json_object_get(block, "layers"))) {
        nn_issue(x->issues, NULL, place, "write {\"parameters\": {...}, \"layers\": [...]}",
                 "the block \"%.64s\" has no layers", name);
        block = NULL;
    } else if (scope->depth >= DEPTH_MAX) {
        nn_issue(x->issues, NULL, place, "let no block hold itself", "blocks are nested too deep");
        block = NULL;
    }
    return x->given ? NULL : block;
}

static void expand_block(struct nn_expansion *x, struct nn_scope *scope, const json_t *item,
                         const char *pointer)
{
    char at[POINTER_SIZE], layers[POINTER_SIZE];
    const char *kind = json_string_value(json_object_get(item, "block"));
    const json_t *block = find_block(x, scope, kind, pointer);
    json_t *name = nn_expand_member(x, scope, item, "name", pointer);
    json_t *inputs = nn_expand_resolve(x, scope, item, pointer);
    x->wired = true;
    if (block && json_is_string(name)) {
        json_t *values = arguments(x, scope, item, json_object_get(block, "parameters"), pointer);
        struct nn_scope inner = {.values = values,
                                 .inputs = inputs,
                                 .outputs = nn_expand_made(x, json_object()),
                                 .depth = scope->depth + 1};
        whole_name(scope, json_string_value(name), inner.prefix);
        jx_pointer_key("/blocks", kind, at, sizeof at);
        jx_pointer_key(at, "layers", layers, sizeof layers);
        expand_items(x, &inner, json_object_get(block, "layers"), layers);
        nn_expand_output(x, scope, json_string_value(name),
                         json_incref(inner.last ? inner.last : inputs));
        json_decref(inner.last);
        json_decref(inner.outputs);
        json_decref(values);
    } else if (block) {
        nn_issue(x->issues, NULL, pointer, "give it a name of its own", "a block has no name");
    }
    json_decref(name);
    json_decref(inputs);
}

/* The items of a repetition, and how many; false after an issue. */
static bool repetitions(struct nn_expansion *x, const json_t *group, const json_t *list,
                        const char *pointer, size_t *out)
{
    bool counts = json_is_integer(list) && json_integer_value(list) >= 0;
    *out = counts ? (size_t)json_integer_value(list) : json_array_size(list);
    *out -= *out > 0 && json_is_true(json_object_get(group, "but_last")) ? 1 : 0;
    if (!counts && !json_is_array(list) && !json_is_null(list)) {
        nn_issue(x->issues, NULL, pointer, "give a list, or how often",
                 "for_each needs a list or a number that is not negative");
    }
    return counts || json_is_array(list);
}

static void expand_group(struct nn_expansion *x, struct nn_scope *scope, const json_t *group,
                         const char *pointer)
{
    char place[POINTER_SIZE];
    size_t count = 0;
    const json_t *layers = json_object_get(group, "layers"), *outer = scope->values;
    jx_pointer_key(pointer, "layers", place, sizeof place);
    if (!json_object_get(group, "for_each")) {
        expand_items(x, scope, layers, place);
        return;
    }
    json_t *list = nn_expand_member(x, scope, group, "for_each", pointer);
    bool fine = repetitions(x, group, list, pointer, &count);
    json_t *inner = nn_expand_copy(x, outer, pointer);
    scope->values = inner;
    for (size_t i = 0; fine && i < count && nn_expand_step(x, pointer); i++) {
        json_t *number = json_integer((json_int_t)i + 1);
        json_t *item = json_is_array(list) ? json_array_get(list, i) : number;
        bool set = inner && json_object_set(inner, "item", item) == 0 &&
                   json_object_set(inner, "index", number) == 0;
        nn_expand_kept(x, set ? 0 : -1);
        json_decref(number);
        expand_items(x, scope, layers, place);
    }
    scope->values = outer;
    json_decref(inner);
    json_decref(list);
}

/* Whether an item's condition holds, or it has none. */
static bool is_wanted(struct nn_expansion *x, const struct nn_scope *scope, const json_t *item,
                      const char *pointer)
{
    if (!json_object_get(item, "if")) {
        return true;
    }
    char place[POINTER_SIZE];
    jx_pointer_key(pointer, "if", place, sizeof place);
    json_t *condition = nn_expand_member(x, scope, item, "if", pointer);
    bool wanted = json_is_true(condition);
    if (!json_is_boolean(condition) && !json_is_null(condition)) {
        nn_issue(x->issues, NULL, place, "name a parameter that is true or false",
                 "a condition must be true or false");
    }
    json_decref(condition);
    return wanted;
}

static void expand_items(struct nn_expansion *x, struct nn_scope *scope, const json_t *items,
                         const char *pointer)
{
    for (size_t i = 0; i < json_array_size(items) && nn_expand_step(x, pointer); i++) {
        char place[POINTER_SIZE];
        const json_t *item = json_array_get(items, i);
        jx_pointer_index(pointer, i, place, sizeof place);
        if (!is_wanted(x, scope, item, place)) {
            continue;
        }
        if (json_is_array(json_object_get(item, "layers"))) {
            expand_group(x, scope, item, place);
        } else if (json_object_get(item, "block")) {
            expand_block(x, scope, item, place);
        } else {
            expand_layer(x, scope, item, place);
        }
    }
}

/* ---- the whole ---- */

/* The parameters' values and what hangs on them. New reference. */
static json_t *derive(struct nn_expansion *x, const json_t *derived, const json_t *values)
{
    json_t *out = nn_expand_made(x, json_copy((json_t *)(uintptr_t)values));
    const char *name;
    json_t *by;
    json_object_foreach((json_t *)(uintptr_t)derived, name, by)
    {
        char place[POINTER_SIZE];
        const char *parameter = json_object_iter_key(json_object_iter(by));
        const json_t *value = parameter ? json_object_get(values, parameter) : NULL;
        const char *text = json_string_value(value);
        json_t *found = text ? json_object_get(json_object_get(by, parameter), text) : NULL;
        if (found) {
            nn_expand_kept(x, json_object_set(out, name, found));
            continue;
        }
        jx_pointer_key("/derived", name, place, sizeof place);
        nn_issue(x->issues, NULL, place, "write {\"parameter\": {\"its value\": ...}}",
                 "\"%.64s\" has no value for \"%.64s\" of the parameter it hangs on", name,
                 text ? text : "");
    }
    return out;
}

/* Adds the blocks that items name to `names`, and to `known` as its keys. */
static void note_blocks(struct nn_expansion *x, const json_t *items, json_t *names, json_t *known)
{
    size_t i;
    const json_t *item;
    json_array_foreach(items, i, item)
    {
        const json_t *layers = json_object_get(item, "layers"), *name;
        name = json_is_array(layers) ? NULL : json_object_get(item, "block");
        note_blocks(x, json_is_array(layers) ? layers : NULL, names, known);
        if (json_is_string(name) && !json_object_get(known, json_string_value(name))) {
            nn_expand_kept(x, json_array_append(names, (json_t *)(uintptr_t)name));
            nn_expand_kept(x, json_object_set_new(known, json_string_value(name), json_true()));
        }
    }
}

/* A block that nothing names is not expanded, so nobody has looked at its layers. */
static void warn_unused_blocks(struct nn_expansion *x, const json_t *layers)
{
    json_t *names = nn_expand_made(x, json_array()), *known = nn_expand_made(x, json_object());
    const char *name;
    json_t *block;
    note_blocks(x, layers, names, known);
    for (size_t i = 0; i < json_array_size(names); i++) {
        block = json_object_get(x->blocks, json_string_value(json_array_get(names, i)));
        note_blocks(x, json_object_get(block, "layers"), names, known);
    }
    json_object_foreach((json_t *)(uintptr_t)x->blocks, name, block)
    {
        char text[TEXT_SIZE], place[POINTER_SIZE];
        if (json_object_get(known, name) || nn_issues_full(x->issues)) {
            continue;
        }
        jx_pointer_key("/blocks", name, place, sizeof place);
        (void)snprintf(text, sizeof text,
                       "the block \"%.64s\" is not used: its layers are not looked at", name);
        nn_issue_warning(x->issues, "unused_block", NULL, place, text,
                         "use it in a layer, {\"name\": ..., \"block\": its name}, or remove it");
    }
    json_decref(names);
    json_decref(known);
}

/* {"name"?, "parameters"?, "layers", "connections"?}; a chain has no connections. */
static json_t *whole_of(struct nn_expansion *x, const json_t *form)
{
    json_t *out = nn_expand_made(x, json_object());
    json_t *connections = x->given   ? json_object_get(form, "connections")
                          : x->wired ? x->connections
                                     : NULL;
    static const char *const KEPT[] = {"name", "parameters"};
    for (size_t i = 0; out && i < 2; i++) {
        json_t *value = json_object_get(form, KEPT[i]);
        nn_expand_kept(x, value ? json_object_set(out, KEPT[i], value) : 0);
    }
    nn_expand_kept(x, json_object_set(out, "layers", x->layers));
    nn_expand_kept(x, connections ? json_object_set(out, "connections", connections) : 0);
    return out;
}

json_t *nn_description_expand(const json_t *form, struct nn_issues *issues)
{
    struct nn_expansion x = {.issues = issues,
                             .blocks = json_object_get(form, "blocks"),
                             .given = json_object_get(form, "connections") != NULL};
    struct nn_scope top = {0};
    const json_t *parameters = json_object_get(form, "parameters");
    json_t *empty = nn_expand_made(&x, json_object()), *out = NULL;
    x.layers = nn_expand_made(&x, json_array());
    x.connections = nn_expand_made(&x, json_array());
    x.origins = nn_expand_made(&x, json_array());
    top.outputs = nn_expand_made(&x, json_object());
    size_t errors = issues->errors;
    json_t *values = derive(&x, json_object_get(form, "derived"), parameters ? parameters : empty);
    top.values = values;
    expand_items(&x, &top, json_object_get(form, "layers"), "/layers");
    warn_unused_blocks(&x, json_object_get(form, "layers"));
    if (json_array_size(x.layers) > NN_NETWORK_LAYERS_MAX ||
        json_array_size(x.connections) > NN_NETWORK_CONNECTIONS_MAX) {
        nn_issue(issues, NULL, "/layers", "repeat less",
                 "a network has at most %d layers and %d connections", NN_NETWORK_LAYERS_MAX,
                 NN_NETWORK_CONNECTIONS_MAX);
    }
    if (issues->errors == errors && !issues->out_of_memory) {
        out = whole_of(&x, form);
        issues->origins = json_incref(x.origins);
    }
    json_decref(empty);
    json_decref(values);
    json_decref(x.layers);
    json_decref(x.connections);
    json_decref(x.origins);
    json_decref(top.outputs);
    json_decref(top.last);
    return out;
}
