/* SPDX-License-Identifier: MIT
 *
 * Expansion: the connections that inputs and the order of items say.
 */
#include "core/network/expand_internal.h"

#include <string.h>

/* Appends what an input's name stands for. */
static void resolve_name(struct nn_expansion *x, const struct nn_scope *scope, const json_t *input,
                         const char *pointer, json_t *out)
{
    char mend[MEND_SIZE];
    const char *name = json_string_value(input);
    if (name && strcmp(name, "$input") == 0 && scope->inputs) {
        nn_expand_extend(x, out, scope->inputs, pointer);
        return;
    }
    json_t *filled = nn_expand_fill(x, scope->values, input, pointer);
    name = json_string_value(filled);
    json_t *names = name ? json_object_get(scope->outputs, name) : NULL;
    if (names) {
        nn_expand_extend(x, out, names, pointer);
    } else if (!json_is_null(filled)) {
        nn_expand_mend(scope->outputs, name ? name : "", "name one that stands before it:", mend);
        nn_issue(x->issues, NULL, pointer, mend, "its input \"%.64s\" does not stand before it",
                 name ? name : "");
    }
    json_decref(filled);
}

/* The whole names of what an item takes. New reference. */
json_t *nn_expand_resolve(struct nn_expansion *x, const struct nn_scope *scope, const json_t *item,
                          const char *pointer)
{
    char place[POINTER_SIZE], each[POINTER_SIZE];
    json_t *out = nn_expand_made(x, json_array());
    const json_t *inputs = json_object_get(item, "inputs");
    jx_pointer_key(pointer, "inputs", place, sizeof place);
    if (!inputs) {
        nn_expand_extend(x, out, scope->last ? scope->last : scope->inputs, pointer);
        return out;
    }
    x->wired = true;
    if (x->given) {
        nn_issue(x->issues, NULL, place, "leave out the list of connections",
                 "inputs and blocks do not go together with a list of connections");
    } else if (json_is_string(inputs)) {
        resolve_name(x, scope, inputs, place, out);
    } else if (!json_is_array(inputs)) {
        nn_issue(x->issues, NULL, place, "write [\"a\", \"b\"]", "inputs must be a list of names");
    }
    for (size_t i = 0; json_is_array(inputs) && !x->given && i < json_array_size(inputs); i++) {
        jx_pointer_index(place, i, each, sizeof each);
        resolve_name(x, scope, json_array_get(inputs, i), each, out);
    }
    return out;
}

/* Connects the layer `whole` to what it takes. */
void nn_expand_connect(struct nn_expansion *x, const struct nn_scope *scope, const json_t *item,
                       const char *pointer, const char *whole)
{
    json_t *names = nn_expand_resolve(x, scope, item, pointer);
    json_t *known = nn_expand_made(x, json_object());
    for (size_t i = 0; i < json_array_size(names) && nn_expand_step(x, pointer); i++) {
        json_t *from = json_array_get(names, i);
        const char *name = json_string_value(from);
        if (json_object_get(known, name)) {
            nn_issue(x->issues, whole, pointer, "connect them once",
                     "\"%.64s\" is connected to it twice", name);
            continue;
        }
        nn_expand_kept(x, json_object_set(known, name, from));
        json_t *pair = json_pack("[O, s]", from, whole);
        nn_expand_kept(x, json_array_append_new(x->connections, pair));
    }
    json_decref(known);
    json_decref(names);
}

/* What comes next takes `names`, new reference; so does whoever names this item. */
void nn_expand_output(struct nn_expansion *x, struct nn_scope *scope, const char *name,
                      json_t *names)
{
    json_decref(scope->last);
    scope->last = names;
    if (names && name && name[0]) {
        nn_expand_kept(x, json_object_set(scope->outputs, name, names));
    }
}
