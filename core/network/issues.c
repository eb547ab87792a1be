/* SPDX-License-Identifier: MIT
 *
 * The list of what is wrong with a description.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/description_internal.h"

enum { TEXT_SIZE = 320 };

bool nn_issues_init(struct nn_issues *issues)
{
    *issues = (struct nn_issues){.list = json_array()};
    return issues->list != NULL;
}

void nn_issues_deinit(struct nn_issues *issues)
{
    json_decref(issues->list);
    json_decref(issues->origins);
    issues->list = issues->origins = NULL;
}

static const char *member(const json_t *issue, const char *key)
{
    const char *text = json_string_value(json_object_get(issue, key));
    return text ? text : "";
}

/* The issue that another one of this text is counted with: that of the same place (in a template,
 * which has no places, of the same layer), or the last of many alike. NULL: it is to be listed. */
static json_t *counted_with(const struct nn_issues *issues, const char *severity, const char *layer,
                            const char *pointer, const char *text)
{
    size_t i, alike = 0;
    json_t *issue, *last = NULL;
    json_array_foreach(issues->list, i, issue)
    {
        if (strcmp(member(issue, "text"), text) != 0 ||
            strcmp(member(issue, "severity"), severity) != 0) {
            continue;
        }
        bool same_layer = strcmp(member(issue, "layer"), layer ? layer : "") == 0;
        if (strcmp(member(issue, "pointer"), pointer) == 0 && (pointer[0] || same_layer)) {
            return issue;
        }
        last = issue;
        alike++;
    }
    return alike >= NN_ISSUES_ALIKE ? last : NULL;
}

static bool list(struct nn_issues *issues, const char *severity, const char *code,
                 const char *layer, const char *pointer, const char *text, const char *mend)
{
    json_t *issue =
        json_pack("{s:s, s:s?, s:o, s:o, s:o, s:o, s:i}", "severity", severity, "code", code,
                  "layer", layer ? jx_text(layer, SIZE_MAX) : json_null(), "pointer",
                  jx_text(pointer, SIZE_MAX), "text", jx_text(text, SIZE_MAX), "mend",
                  mend ? jx_text(mend, SIZE_MAX) : json_null(), "more", 0);
    return json_array_append_new(issues->list, issue) == 0;
}

static void put(struct nn_issues *issues, const char *severity, const char *code, const char *layer,
                const char *pointer, const char *text, const char *mend)
{
    bool fine = true;
    size_t room = code ? NN_ISSUES_WARNED : NN_ISSUES_MAX;
    json_t *counted = counted_with(issues, severity, layer, pointer, text);
    if (counted) {
        json_int_t more = json_integer_value(json_object_get(counted, "more"));
        fine = json_object_set_new(counted, "more", json_integer(more + 1)) == 0;
    } else if (json_array_size(issues->list) < room) {
        fine = list(issues, severity, code, layer, pointer, text, mend);
    }
    issues->out_of_memory = issues->out_of_memory || !fine;
}

bool nn_issues_full(const struct nn_issues *issues)
{
    return json_array_size(issues->list) >= NN_ISSUES_MAX || issues->errors >= NN_ISSUES_COUNTED;
}

/* A pointer into the expanded layers as one into what the caller wrote. */
static const char *original(const struct nn_issues *issues, const char *pointer, char *out,
                            size_t size)
{
    char *end = NULL;
    bool inside = strncmp(pointer, "/layers", 7) == 0 || strncmp(pointer, "/blocks", 7) == 0;
    if (issues->of_template && inside) {
        return "";
    }
    if (!issues->origins || strncmp(pointer, "/layers/", 8) != 0) {
        return pointer;
    }
    size_t i = strtoul(pointer + 8, &end, 10);
    const char *origin = json_string_value(json_array_get(issues->origins, i));
    (void)snprintf(out, size, "%s%s", origin ? origin : "/layers", end);
    return out;
}

void nn_issue(struct nn_issues *issues, const char *layer, const char *pointer, const char *mend,
              const char *fmt, ...)
{
    char text[TEXT_SIZE], place[TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    issues->errors++;
    put(issues, "error", NULL, layer, original(issues, pointer, place, sizeof place), text, mend);
}

void nn_issue_warning(struct nn_issues *issues, const char *code, const char *layer,
                      const char *pointer, const char *text, const char *mend)
{
    char place[TEXT_SIZE];
    put(issues, "warning", code, layer, original(issues, pointer, place, sizeof place), text, mend);
}

void nn_mend_field(const char *begin, const struct jx_field *fields, const char *field, char *out,
                   size_t size)
{
    size_t length = field ? strcspn(field, "/") : 0;
    for (size_t i = 0; length > 0 && fields[i].name; i++) {
        if (strlen(fields[i].name) == length && strncmp(fields[i].name, field, length) == 0) {
            const char *doc = fields[i].doc ? fields[i].doc : "a value of this kind and range";
            (void)snprintf(out, size, "give what goes there: %s", doc);
            return;
        }
    }
    size_t used = (size_t)snprintf(out, size, "%s", begin);
    for (size_t i = 0; fields[i].name && used < size; i++) {
        int n = snprintf(out + used, size - used, "%s %s", i > 0 ? "," : "", fields[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    if (!fields[0].name) {
        (void)snprintf(out, size, "it has no options");
    }
}

static const json_t *first_error(const struct nn_issues *issues)
{
    size_t i;
    json_t *issue;
    json_array_foreach(issues->list, i, issue)
    {
        if (strcmp(json_string_value(json_object_get(issue, "severity")), "error") == 0) {
            return issue;
        }
    }
    return NULL;
}

enum nn_status nn_issues_status(const struct nn_issues *issues, struct nn_error *err)
{
    if (issues->out_of_memory) {
        return nn_fail(err, NN_ERR_MEMORY, "out of memory while reading the network");
    }
    const json_t *issue = first_error(issues);
    if (!issue) {
        return NN_OK;
    }
    char more[48] = "";
    if (issues->errors > 1) {
        (void)snprintf(more, sizeof more, " (and %zu more)", issues->errors - 1);
    }
    const char *layer = member(issue, "layer");
    const char *mend = member(issue, "mend");
    return nn_fail_at(err, NN_ERR_INVALID, member(issue, "pointer"), "%s%s%s%s%s%s%s",
                      layer[0] ? "layer \"" : "", layer, layer[0] ? "\": " : "",
                      member(issue, "text"), mend[0] ? "; " : "", mend, more);
}
