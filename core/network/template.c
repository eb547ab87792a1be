/* SPDX-License-Identifier: MIT
 *
 * Filling in a template: its parameters decoded like any other options, its layers with the values
 * in the places of "$name". A template is
 *     {"name", "title", "text",
 *      "parameters": [{"name", "type", "default", "minimum", "maximum", "maximum_items"?,
 *                      "choices"?, "text"}],
 *      "derived"?: {name: {parameter: {value: what the name stands for}}},
 *      "layers": [...], "connections"?: [...]}
 * with types integer, number, integers (a list), choice, boolean. A derived name is used like a
 * parameter, and hangs on one of the choices. Templates are ours: a malformed
 * one is an assertion.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/description_internal.h"

enum { PARAMETERS_MAX = 32, CHOICES_MAX = 16, TEXT_SIZE = 256, MEND_SIZE = 256 };

/* ---- parameters ---- */

/* Room for any parameter. */
union slot {
    int64_t integer;
    double number;
    bool boolean;
    int choice;
    struct jx_ints integers;
};

/* A field table made at run time from a template's parameters. */
struct table {
    struct jx_field fields[PARAMETERS_MAX + 2]; /* "name", the parameters, the end */
    struct jx_choice choices[PARAMETERS_MAX][CHOICES_MAX + 1];
    char *fallbacks[PARAMETERS_MAX];
    struct {
        const char *name;
        union slot slots[PARAMETERS_MAX];
    } values;
};

static enum jx_type type_of(const char *name)
{
    static const struct jx_choice TYPES[] = {{"integer", JX_INT, NULL},   {"number", JX_REAL, NULL},
                                             {"integers", JX_INTS, NULL}, {"choice", JX_ENUM, NULL},
                                             {"boolean", JX_BOOL, NULL},  JX_END};
    const struct jx_choice *row = jx_choice_find(TYPES, name);
    NN_ASSERT(row != NULL);
    return (enum jx_type)row->value;
}

static void add_choices(struct table *table, size_t i, const json_t *choices)
{
    NN_ASSERT(json_array_size(choices) <= CHOICES_MAX);
    for (size_t k = 0; k < json_array_size(choices); k++) {
        table->choices[i][k] = (struct jx_choice){
            .name = json_string_value(json_array_get(choices, k)), .value = (int)k};
    }
    table->fields[i + 1].choices = table->choices[i];
}

/* The text of a default. Lists and numbers as they are; NULL when out of memory. */
static char *fallback_text(const json_t *value)
{
    json_t *wrapped = json_pack("[O]", (json_t *)(uintptr_t)value);
    char *text = jx_dump(wrapped, NULL);
    json_decref(wrapped);
    if (text) {
        size_t n = strlen(text);
        memmove(text, text + 1, n - 2); /* without the brackets of the wrapping */
        text[n - 2] = '\0';
    }
    return text;
}

static bool add_parameter(struct table *table, size_t i, const json_t *parameter)
{
    const json_t *most = json_object_get(parameter, "maximum_items");
    table->fallbacks[i] = fallback_text(json_object_get(parameter, "default"));
    table->fields[i + 1] = (struct jx_field){
        .name = json_string_value(json_object_get(parameter, "name")),
        .type = type_of(json_string_value(json_object_get(parameter, "type"))),
        .offset = offsetof(struct table, values.slots) + i * sizeof(union slot) -
                  offsetof(struct table, values),
        .min = json_number_value(json_object_get(parameter, "minimum")),
        .max = json_number_value(json_object_get(parameter, "maximum")),
        .max_items = (size_t)json_integer_value(most),
        .fallback = table->fallbacks[i],
    };
    NN_ASSERT(table->fields[i + 1].name != NULL);
    if (table->fields[i + 1].type == JX_ENUM) {
        add_choices(table, i, json_object_get(parameter, "choices"));
    }
    return table->fallbacks[i] != NULL;
}

static void table_destroy(struct table *table)
{
    for (size_t i = 0; table && i < PARAMETERS_MAX; i++) {
        free(table->fallbacks[i]);
    }
    free(table);
}

static struct table *table_create(const json_t *parameters)
{
    struct table *table = calloc(1, sizeof *table);
    bool fine = table != NULL;
    NN_ASSERT(json_array_size(parameters) <= PARAMETERS_MAX);
    for (size_t i = 0; fine && i < json_array_size(parameters); i++) {
        fine = add_parameter(table, i, json_array_get(parameters, i));
    }
    if (!fine) {
        table_destroy(table);
        return NULL;
    }
    table->fields[0] = (struct jx_field){.name = "name", .type = JX_STRING, .required = true};
    return table;
}

/* ---- filling ---- */

/* Replaces "$name" by the value of `name` in `values` (the whole string: the value itself; within a
 * string: its text) and unrolls {"for_each": "$list", "layers": [...]}, in which "$item" and
 * "$index" (from 1) stand for the element. A number counts as the list 1, 2, ... up to it; with
 * "but_last": true the last element is left out. New reference; NULL when out of memory. */
static json_t *fill(const json_t *json, const json_t *values);

/* Text of a value inside of a longer string. */
static size_t append_value(char *out, size_t used, const json_t *value)
{
    int n;
    if (json_is_string(value)) {
        n = snprintf(out + used, TEXT_SIZE - used, "%s", json_string_value(value));
    } else {
        n = snprintf(out + used, TEXT_SIZE - used, "%.15g", json_number_value(value));
    }
    NN_ASSERT(n >= 0 && used + (size_t)n < TEXT_SIZE);
    return used + (size_t)n;
}

static const json_t *variable(const json_t *values, const char *name, size_t n)
{
    char key[64];
    NN_ASSERT(n > 0 && n < sizeof key);
    memcpy(key, name, n);
    key[n] = '\0';
    const json_t *value = json_object_get(values, key);
    NN_ASSERT(value != NULL);
    return value;
}

static size_t name_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyz_");
}

static json_t *fill_string(const char *text, const json_t *values)
{
    char out[TEXT_SIZE];
    size_t used = 0;
    if (text[0] == '$' && text[1 + name_length(text + 1)] == '\0') {
        return json_deep_copy(variable(values, text + 1, strlen(text + 1)));
    }
    while (*text) {
        NN_ASSERT(used + 1 < TEXT_SIZE);
        if (*text == '$') {
            size_t n = name_length(text + 1);
            used = append_value(out, used, variable(values, text + 1, n));
            text += 1 + n;
        } else {
            out[used++] = *text++;
        }
    }
    return json_stringn(out, used);
}

/* Appends the layers of a loop's body, once for each item. */
static bool unroll(json_t *out, const json_t *loop, const json_t *values)
{
    json_t *list = fill(json_object_get(loop, "for_each"), values);
    json_t *inner = json_copy((json_t *)(uintptr_t)values);
    bool fine = list && inner;
    size_t count = json_is_integer(list) ? (size_t)json_integer_value(list) : json_array_size(list);
    count -= count > 0 && json_is_true(json_object_get(loop, "but_last")) ? 1 : 0;
    for (size_t i = 0; fine && i < count; i++) {
        json_t *number = json_integer((json_int_t)i + 1);
        json_t *item = json_is_array(list) ? json_array_get(list, i) : number;
        fine = json_object_set(inner, "item", item) == 0 &&
               json_object_set(inner, "index", number) == 0;
        json_decref(number);
        json_t *body = fine ? fill(json_object_get(loop, "layers"), inner) : NULL;
        fine = body && json_array_extend(out, body) == 0;
        json_decref(body);
    }
    json_decref(list);
    json_decref(inner);
    return fine;
}

static json_t *fill_array(const json_t *json, const json_t *values)
{
    json_t *out = json_array();
    bool fine = out != NULL;
    for (size_t i = 0; fine && i < json_array_size(json); i++) {
        const json_t *item = json_array_get(json, i);
        fine = json_object_get(item, "for_each")
                   ? unroll(out, item, values)
                   : json_array_append_new(out, fill(item, values)) == 0;
    }
    if (!fine) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static json_t *fill_object(const json_t *json, const json_t *values)
{
    json_t *out = json_object();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        if (out && json_object_set_new(out, key, fill(value, values)) != 0) {
            json_decref(out);
            out = NULL;
        }
    }
    return out;
}

static json_t *fill(const json_t *json, const json_t *values)
{
    if (json_is_array(json)) {
        return fill_array(json, values);
    }
    if (json_is_object(json)) {
        return fill_object(json, values);
    }
    return json_is_string(json) ? fill_string(json_string_value(json), values)
                                : json_deep_copy(json);
}

/* ---- expansion ---- */

/* Where a template's parameters report their mistakes. */
struct parameter_issues {
    struct nn_issues *issues;
    const struct jx_field *fields;
};

static void add_parameter_issue(void *ctx, const char *pointer, const char *text)
{
    const struct parameter_issues *to = ctx;
    char mend[MEND_SIZE];
    bool unknown = strncmp(text, "unknown field", 13) == 0;
    bool nested = strncmp(pointer, "/parameters/", 12) == 0;
    const char *field = nested ? pointer + 12 : pointer[0] ? pointer + 1 : NULL;
    nn_list_fields("its parameters are", to->fields, mend, sizeof mend);
    nn_issue(to->issues, NULL, pointer, unknown ? mend : NULL, "%s%s%s",
             unknown || !field ? "" : field, unknown || !field ? "" : " ", text);
}

static void add_issue(void *ctx, const char *pointer, const char *text)
{
    nn_issue(ctx, NULL, pointer, NULL, "%s%s%s", pointer[0] ? pointer + 1 : "",
             pointer[0] ? " " : "", text);
}

static void issue_unknown_template(const char *name, struct nn_issues *issues)
{
    const char *names[16] = {NULL};
    size_t n = nn_catalogue_count();
    NN_ASSERT(n < sizeof names / sizeof names[0]);
    for (size_t i = 0; i < n; i++) {
        names[i] = nn_catalogue_name(i);
    }
    const char *nearest = jx_nearest(name, names, sizeof names[0]);
    char mend[96] = "GET /v1/networks lists the names";
    if (nearest) {
        (void)snprintf(mend, sizeof mend, "did you mean \"%s\"?", nearest);
    }
    nn_issue(issues, NULL, "/name", mend, "there is no network called \"%.64s\"", name);
}

/* The parameters' values and what hangs on them; NULL when out of memory. */
static json_t *derive(const json_t *derived, const json_t *values)
{
    json_t *out = json_copy((json_t *)(uintptr_t)values);
    const char *name;
    json_t *by;
    json_object_foreach((json_t *)(uintptr_t)derived, name, by)
    {
        const char *parameter = json_object_iter_key(json_object_iter(by));
        const char *value = json_string_value(json_object_get(values, parameter));
        json_t *found = json_object_get(json_object_get(by, parameter), value);
        NN_ASSERT(found != NULL);
        if (out && json_object_set(out, name, found) != 0) {
            json_decref(out);
            out = NULL;
        }
    }
    return out;
}

/* {"name", "parameters", "layers", "connections"?}, parts borrowed. NULL when out of memory. */
static json_t *assemble(const json_t *template, const json_t *values)
{
    json_t *connections = json_object_get(template, "connections");
    json_t *known = derive(json_object_get(template, "derived"), values);
    json_t *layers = known ? fill(json_object_get(template, "layers"), known) : NULL;
    json_decref(known);
    json_t *out = json_pack("{s:O, s:O, s:o*}", "name", json_object_get(template, "name"),
                            "parameters", (json_t *)(uintptr_t)values, "layers", layers);
    if (out && (!layers || (connections && json_object_set_new(out, "connections",
                                                               fill(connections, values)) != 0))) {
        json_decref(out);
        return NULL;
    }
    return out;
}

struct nested_form {
    const char *name;
    const json_t *parameters;
};

static const struct jx_field NESTED_FORM[] = {
    {.name = "name", .type = JX_STRING, .offset = offsetof(struct nested_form, name)},
    {.name = "parameters", .type = JX_MAP, .offset = offsetof(struct nested_form, parameters)},
    JX_END,
};

/* The values of the parameters, which stand beside the name or together in "parameters", as a
 * description shows them. False after an issue. */
static bool read_parameters(const json_t *spec, struct table *table, struct nn_issues *issues)
{
    struct parameter_issues to = {issues, table->fields + 1};
    struct nested_form form;
    if (!json_object_get(spec, "parameters")) {
        return jx_decode_all(table->fields, spec, "", &table->values, add_parameter_issue, &to) ==
               0;
    }
    return jx_decode_all(NESTED_FORM, spec, "", &form, add_issue, issues) == 0 &&
           jx_decode_all(table->fields + 1, form.parameters, "/parameters", &table->values,
                         add_parameter_issue, &to) == 0;
}

static json_t *expand_template(const json_t *spec, const char *name, struct nn_issues *issues)
{
    json_t *out = NULL;
    json_t *values = NULL;
    json_t *template = nn_template_load(name);
    if (!template) {
        issue_unknown_template(name, issues);
        return NULL;
    }
    struct table *table = table_create(json_object_get(template, "parameters"));
    if (!table) {
        issues->out_of_memory = true;
        goto cleanup;
    }
    if (!read_parameters(spec, table, issues)) {
        goto cleanup;
    }
    values = jx_encode(table->fields + 1, &table->values);
    out = values ? assemble(template, values) : NULL;
    issues->out_of_memory = issues->out_of_memory || !out;
cleanup:
    table_destroy(table);
    json_decref(values);
    json_decref(template);
    return out;
}

struct explicit_form {
    const char *name;
    const json_t *parameters, *layers, *connections;
};

static const struct jx_field EXPLICIT_FORM[] = {
    {.name = "name",
     .type = JX_STRING,
     .offset = offsetof(struct explicit_form, name),
     .min = 1,
     .max = 200},
    {.name = "parameters", .type = JX_MAP, .offset = offsetof(struct explicit_form, parameters)},
    {.name = "layers",
     .type = JX_ARRAY,
     .offset = offsetof(struct explicit_form, layers),
     .min_items = 1,
     .max_items = NN_NETWORK_LAYERS_MAX},
    {.name = "connections",
     .type = JX_ARRAY,
     .offset = offsetof(struct explicit_form, connections),
     .max_items = NN_NETWORK_CONNECTIONS_MAX},
    JX_END,
};

json_t *nn_spec_expand(const json_t *spec, struct nn_issues *issues)
{
    if (json_object_get(spec, "layers")) {
        struct explicit_form form;
        if (jx_decode_all(EXPLICIT_FORM, spec, "", &form, add_issue, issues) > 0) {
            return NULL;
        }
        json_t *copy = json_deep_copy(spec);
        issues->out_of_memory = issues->out_of_memory || !copy;
        return copy;
    }
    const char *name = json_string_value(json_object_get(spec, "name"));
    if (!name) {
        nn_issue(issues, NULL, json_is_object(spec) ? "/name" : "",
                 "give the name of a network of the catalogue, or layers",
                 "the network has neither a name nor layers");
        return NULL;
    }
    issues->of_template = true;
    return expand_template(spec, name, issues);
}
