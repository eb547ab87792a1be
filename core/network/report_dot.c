/* SPDX-License-Identifier: MIT
 *
 * A report in Graphviz's language.
 */
#include "core/network/report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/report_internal.h"

#define ERROR_FILL   "#f9d0d0"
#define WARNING_FILL "#fbe7b5"
#define LEARNS_FILL  "#d7e6f7"
#define PLAIN_FILL   "#f4f4f4"

/* Within quotes; a backslash stays one, and what is no letter becomes a space. */
static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            (void)fputc('\\', out);
        }
        (void)fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

/* Issues of a layer, or of none. */
static bool is_of(const json_t *issue, const char *layer)
{
    const char *of = json_string_value(json_object_get(issue, "layer"));
    return layer ? of && strcmp(of, layer) == 0 : !of;
}

static bool is_error(const json_t *issue)
{
    return strcmp(nn_report_text(issue, "severity"), "error") == 0;
}

static const char *fill_of(const json_t *row, const json_t *issues)
{
    const char *name = json_string_value(json_object_get(row, "name"));
    bool warned = false;
    size_t i;
    json_t *issue;
    json_array_foreach(issues, i, issue)
    {
        if (is_of(issue, name ? name : "")) {
            if (is_error(issue)) {
                return ERROR_FILL;
            }
            warned = true;
        }
    }
    bool learns = json_number_value(json_object_get(row, "learnable_count")) > 0;
    return warned ? WARNING_FILL : learns ? LEARNS_FILL : PLAIN_FILL;
}

/* \n<text>; <mend> for every issue of the layer, or of none. */
static void put_issues(FILE *out, const json_t *issues, const char *layer)
{
    size_t i;
    json_t *issue;
    json_array_foreach(issues, i, issue)
    {
        if (is_of(issue, layer)) {
            const char *mend = nn_report_text(issue, "mend");
            (void)fputs("\\n", out);
            put_escaped(out, nn_report_text(issue, "text"));
            (void)fputs(mend[0] ? "; " : "", out);
            put_escaped(out, mend);
        }
    }
}

static void put_node(FILE *out, size_t i, const json_t *row, const json_t *issues)
{
    char size[NN_REPORT_SIZE_TEXT];
    const char *name = nn_report_text(row, "name"), *kind = nn_report_text(row, "kind");
    double count = json_number_value(json_object_get(row, "learnable_count"));
    nn_report_size(row, size);
    (void)fprintf(out, "  n%zu [label=\"", i);
    put_escaped(out, name);
    (void)fputs("\\n", out);
    put_escaped(out, kind[0] ? kind : "?");
    (void)fprintf(out, "\\n%s", size);
    if (count > 0) {
        (void)fprintf(out, "\\n%.0f learnables", count);
    }
    put_issues(out, issues, name);
    (void)fprintf(out, "\", fillcolor=\"%s\"];\n", fill_of(row, issues));
}

/* Edges by number: names of layers may hold anything. numbers: of the first layer of a name. */
static void put_edges(FILE *out, const json_t *layers, const json_t *numbers)
{
    size_t i, k;
    json_t *row, *input;
    json_array_foreach(layers, i, row)
    {
        json_array_foreach(json_object_get(row, "inputs"), k, input)
        {
            const char *name = json_string_value(input);
            const json_t *from = name ? json_object_get(numbers, name) : NULL;
            if (from) {
                (void)fprintf(out, "  n%lld -> n%zu;\n", (long long)json_integer_value(from), i);
            }
        }
    }
}

static void put_graph(FILE *out, const json_t *report, const json_t *numbers)
{
    const json_t *layers = json_object_get(report, "layers");
    const json_t *issues = json_object_get(report, "issues");
    const char *name = nn_report_text(report, "name");
    size_t i;
    json_t *row;
    (void)fputs("digraph \"", out);
    put_escaped(out, name[0] ? name : "network");
    (void)fputs("\" {\n  label=\"", out);
    put_escaped(out, name[0] ? name : "network");
    put_issues(out, issues, NULL);
    (void)fputs("\";\n  fontname=\"Helvetica\";\n"
                "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\"];\n",
                out);
    json_array_foreach(layers, i, row)
    {
        put_node(out, i, row, issues);
    }
    put_edges(out, layers, numbers);
    (void)fputs("}\n", out);
}

static json_t *numbers_of(const json_t *layers)
{
    json_t *numbers = json_object(), *row;
    size_t i;
    json_array_foreach(layers, i, row)
    {
        const char *name = nn_report_text(row, "name");
        if (!json_object_get(numbers, name) &&
            json_object_set_new(numbers, name, json_integer((json_int_t)i)) != 0) {
            json_decref(numbers);
            return NULL;
        }
    }
    return numbers;
}

char *nn_report_dot(const json_t *report)
{
    char *text = NULL;
    size_t size = 0;
    json_t *numbers = numbers_of(json_object_get(report, "layers"));
    FILE *out = numbers ? open_memstream(&text, &size) : NULL;
    if (out) {
        put_graph(out, report, numbers);
    }
    json_decref(numbers);
    return nn_report_finish(out, &text);
}
