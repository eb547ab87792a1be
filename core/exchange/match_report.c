/* SPDX-License-Identifier: MIT
 *
 * A match in words: one sentence when it does not hold, and the report as JSON.
 */
#include <stdio.h>
#include <string.h>

#include "core/exchange/match_internal.h"

/* "[20, 1, 5, 5]"; always terminated. */
static void shape_text(const size_t *shape, size_t rank, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "[");
    for (size_t i = 0; i < rank && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%zu", i ? ", " : "", shape[i]);
    }
    if (used < size) {
        (void)snprintf(out + used, size - used, "]");
    }
}

static void first_text(const struct nn_match *match, char *out, size_t size)
{
    char wanted[64], found[64];
    for (size_t i = 0; i < match->n_wanted; i++) {
        const struct nn_parameter_shape *parameter = &match->wanted[i];
        if (match->fits[i].fate == NN_MATCH_NOT_FINITE) {
            (void)snprintf(out, size, "\"%.60s\" holds a value that is not finite",
                           parameter->name);
            return;
        }
        const struct nn_file_tensor *tensor = match->fits[i].found;
        shape_text(parameter->shape, parameter->ndim, wanted, sizeof wanted);
        if (match->fits[i].fate == NN_MATCH_MISSING) {
            (void)snprintf(out, size, "\"%.60s\" %s is missing", parameter->name, wanted);
            return;
        }
        if (match->fits[i].fate == NN_MATCH_WRONG_SHAPE) {
            shape_text(tensor->shape, tensor->rank, found, sizeof found);
            (void)snprintf(out, size, "\"%.40s\" is %s, the network wants %s", parameter->name,
                           found, wanted);
            return;
        }
    }
}

static double values_of(const size_t *shape, size_t rank)
{
    double count = 1;
    for (size_t i = 0; i < rank; i++) {
        count *= (double)shape[i];
    }
    return count;
}

/* What is left over of a list: how many of how many, their share of all values, the first. */
struct rest {
    size_t n, all;
    double left, values;
    const char *first;
};

static void rest_add(struct rest *rest, const char *name, const size_t *shape, size_t rank,
                     bool is_left)
{
    double count = values_of(shape, rank);
    rest->all++;
    rest->values += count;
    if (is_left) {
        rest->n++;
        rest->left += count;
        rest->first = rest->first ? rest->first : name;
    }
}

static size_t rest_text(const struct rest *rest, const char *whose, const char *lack, char *out,
                        size_t size)
{
    double share = rest->values > 0 ? 100 * rest->left / rest->values : 0;
    int n = snprintf(out, size, "%zu of %s %zu %s (%.1f %% of its values; first \"%.60s\")",
                     rest->n, whose, rest->all, lack, share, rest->first);
    return n > 0 && (size_t)n < size ? (size_t)n : size - 1;
}

/* Another variant of the network shows in what has no counterpart. */
static void describe_rest(struct nn_match *match)
{
    struct rest file = {0}, network = {0};
    size_t used = 0, size = sizeof match->partly;
    for (size_t i = 0; i < match->n_tensors; i++) {
        const struct nn_file_tensor *t = match->tensors[i];
        if (match->leftover[i] != NN_MATCH_IGNORED) {
            rest_add(&file, t->name, t->shape, t->rank, match->leftover[i] == NN_MATCH_UNEXPECTED);
        }
    }
    for (size_t i = 0; i < match->n_wanted; i++) {
        const struct nn_parameter_shape *p = &match->wanted[i];
        bool head = match->head && strcmp(p->layer, match->head) == 0;
        if (match->fits[i].fate != NN_MATCH_OPTIONAL) {
            rest_add(&network, p->name, p->shape, p->ndim,
                     match->fits[i].fate == NN_MATCH_REPLACED && !head);
        }
    }
    if (file.n > 0) {
        used = rest_text(&file, "the file's", "tensors have no place in the network", match->partly,
                         size);
    }
    if (network.n > 0) {
        used +=
            (size_t)snprintf(match->partly + used, size - used, "%s", file.n > 0 ? ", and " : "");
        (void)rest_text(&network, "the network's", "parameters have no values in the file",
                        match->partly + used, size - used);
    }
}

void nn_match_describe(struct nn_match *match)
{
    char first[224] = "";
    size_t wrong = match->counts[NN_MATCH_MISSING] + match->counts[NN_MATCH_WRONG_SHAPE] +
                   match->counts[NN_MATCH_NOT_FINITE];
    first_text(match, first, sizeof first);
    if (wrong > 0) {
        (void)snprintf(match->text, sizeof match->text, "%zu of %zu parameters do not fit: %s",
                       wrong, match->n_wanted, first);
    } else if (match->counts[NN_MATCH_MATCHED] == 0) {
        (void)snprintf(match->text, sizeof match->text,
                       "no tensor of the file fits a parameter of the network");
    } else {
        describe_rest(match);
    }
}

/* ---- as JSON ---- */

static json_t *shape_json(const size_t *shape, size_t rank)
{
    json_t *array = json_array();
    bool fine = array != NULL;
    for (size_t i = 0; fine && i < rank; i++) {
        fine = json_array_append_new(array, json_integer((json_int_t)shape[i])) == 0;
    }
    if (!fine) {
        json_decref(array);
        return NULL;
    }
    return array;
}

static json_t *found_json(const struct nn_file_tensor *found)
{
    return found ? shape_json(found->shape, found->rank) : json_null();
}

/* The parameters of one fate. */
static json_t *wanted_json(const struct nn_match *match, enum nn_match_fate fate)
{
    json_t *list = json_array();
    bool found = fate == NN_MATCH_WRONG_SHAPE || fate == NN_MATCH_REPLACED;
    bool fine = list != NULL;
    for (size_t i = 0; fine && i < match->n_wanted; i++) {
        const struct nn_parameter_shape *wanted = &match->wanted[i];
        if (match->fits[i].fate != fate) {
            continue;
        }
        json_t *row = json_pack("{s:s, s:o}", "name", wanted->name, "shape",
                                shape_json(wanted->shape, wanted->ndim));
        if (row && found) {
            fine = json_object_set_new(row, "found", found_json(match->fits[i].found)) == 0;
        }
        fine = json_array_append_new(list, row) == 0 && fine;
    }
    if (!fine) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *leftover_json(const struct nn_match *match, enum nn_match_fate fate)
{
    json_t *list = json_array();
    bool fine = list != NULL;
    for (size_t i = 0; fine && i < match->n_tensors; i++) {
        const struct nn_file_tensor *tensor = match->tensors[i];
        if (match->leftover[i] == fate) {
            json_t *row = fate == NN_MATCH_IGNORED
                              ? json_string(tensor->name)
                              : json_pack("{s:s, s:o}", "name", tensor->name, "shape",
                                          shape_json(tensor->shape, tensor->rank));
            fine = json_array_append_new(list, row) == 0;
        }
    }
    if (!fine) {
        json_decref(list);
        return NULL;
    }
    return list;
}

json_t *nn_match_json(const struct nn_match *match)
{
    return json_pack(
        "{s:b, s:s, s:o, s:s?, s:s?, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "loadable",
        nn_match_is_loadable(match) ? 1 : 0, "text", match->text, "partly",
        match->partly[0] ? jx_text(match->partly, SIZE_MAX) : json_null(), "head", match->head,
        "prefix_removed", match->prefix[0] ? match->prefix : NULL, "naming",
        nn_match_naming_name(match->naming), "matched", wanted_json(match, NN_MATCH_MATCHED),
        "missing", wanted_json(match, NN_MATCH_MISSING), "wrong_shape",
        wanted_json(match, NN_MATCH_WRONG_SHAPE), "not_finite",
        wanted_json(match, NN_MATCH_NOT_FINITE), "replaced", wanted_json(match, NN_MATCH_REPLACED),
        "unexpected", leftover_json(match, NN_MATCH_UNEXPECTED), "ignored",
        leftover_json(match, NN_MATCH_IGNORED));
}
