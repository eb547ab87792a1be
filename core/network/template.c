/* SPDX-License-Identifier: MIT
 *
 * Templates: their parameters are decoded like any other options, and then they are descriptions
 * like any other (expand.c). A template is
 *     {"name", "title", "text", "takes",
 *      "parameters": [{"name", "type", "default", "minimum", "maximum", "maximum_items"?,
 *                      "choices"?, "text"}],
 *      "derived"?: {...}, "blocks"?: {...}, "layers": [...], "connections"?: [...]}
 * with types integer, number, integers (a list), choice, boolean. `takes` says what it is made for,
 * which layers cannot: a window of a signal is an image of one row. Templates are ours: a malformed
 * one is an assertion.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/description_internal.h"

enum { PARAMETERS_MAX = 32, CHOICES_MAX = 16, MEND_SIZE = 256 };

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
        .doc = json_string_value(json_object_get(parameter, "text")),
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
    nn_mend_field("its parameters are", to->fields, field, mend, sizeof mend);
    nn_issue(to->issues, NULL, pointer, mend, "%s%s%s", unknown || !field ? "" : field,
             unknown || !field ? "" : " ", text);
}

/* Where a form reports its mistakes; fields that it does not know do not keep it from being read.
 */
struct form_issues {
    struct nn_issues *issues;
    bool unreadable;
};

static void add_issue(void *ctx, const char *pointer, const char *text)
{
    struct form_issues *to = ctx;
    bool unknown = strncmp(text, "unknown field", 13) == 0;
    bool named = pointer[0] && !unknown;
    to->unreadable = to->unreadable || !unknown;
    nn_issue(to->issues, NULL, pointer,
             "write {\"layers\": [...]}, beside it connections, blocks and parameters as needed",
             "%s%s%s", named ? pointer + 1 : "", named ? " " : "", text);
}

static void issue_unknown_template(const char *name, struct nn_issues *issues)
{
    const char *names[64] = {NULL};
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

/* The template's description with the values of its parameters. NULL when out of memory. */
static json_t *assemble(const json_t *template, const json_t *values)
{
    static const char *const PARTS[] = {"name", "derived", "blocks", "layers", "connections"};
    json_t *out = json_pack("{s:O}", "parameters", (json_t *)(uintptr_t)values);
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        json_t *part = json_object_get(template, PARTS[i]);
        if (out && part && json_object_set(out, PARTS[i], part) != 0) {
            json_decref(out);
            out = NULL;
        }
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
    struct form_issues of_form = {.issues = issues};
    struct nested_form form;
    if (!json_object_get(spec, "parameters")) {
        return jx_decode_all(table->fields, spec, "", &table->values, add_parameter_issue, &to) ==
               0;
    }
    return jx_decode_all(NESTED_FORM, spec, "", &form, add_issue, &of_form) == 0 &&
           jx_decode_all(table->fields + 1, form.parameters, "/parameters", &table->values,
                         add_parameter_issue, &to) == 0;
}

static json_t *expand_template(const json_t *spec, const char *name, struct nn_issues *issues)
{
    json_t *out = NULL, *form = NULL, *values = NULL;
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
    form = values ? assemble(template, values) : NULL;
    issues->out_of_memory = issues->out_of_memory || !form;
    out = form ? nn_description_expand(form, issues) : NULL;
cleanup:
    json_decref(form);
    table_destroy(table);
    json_decref(values);
    json_decref(template);
    return out;
}

struct explicit_form {
    const char *name;
    const json_t *parameters, *derived, *blocks, *layers, *connections;
};

static const struct jx_field EXPLICIT_FORM[] = {
    {.name = "name",
     .type = JX_STRING,
     .offset = offsetof(struct explicit_form, name),
     .min = 1,
     .max = 200},
    {.name = "parameters", .type = JX_MAP, .offset = offsetof(struct explicit_form, parameters)},
    {.name = "derived", .type = JX_MAP, .offset = offsetof(struct explicit_form, derived)},
    {.name = "blocks", .type = JX_MAP, .offset = offsetof(struct explicit_form, blocks)},
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
        struct form_issues to = {.issues = issues};
        (void)jx_decode_all(EXPLICIT_FORM, spec, "", &form, add_issue, &to);
        return to.unreadable ? NULL : nn_description_expand(spec, issues);
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
