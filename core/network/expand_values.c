/* SPDX-License-Identifier: MIT
 *
 * Expansion: values of variables, and what an expansion counts.
 */
#include "core/network/expand_internal.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 256, STEPS_MAX = 1 << 16 };

/* NULL only when out of memory, which is then known. */
json_t *nn_expand_made(struct nn_expansion *x, json_t *json)
{
    x->issues->out_of_memory = x->issues->out_of_memory || !json;
    return json;
}

void nn_expand_kept(struct nn_expansion *x, int status)
{
    x->issues->out_of_memory = x->issues->out_of_memory || status != 0;
}

static bool stopped(const struct nn_expansion *x)
{
    return x->issues->out_of_memory || nn_issues_full(x->issues) || x->steps > STEPS_MAX;
}

bool nn_expand_steps(struct nn_expansion *x, size_t count, const char *pointer)
{
    if (!stopped(x) && (x->steps += count) > STEPS_MAX) {
        nn_issue(x->issues, NULL, pointer, "repeat less", "the network has too many layers");
    }
    return !stopped(x);
}

bool nn_expand_step(struct nn_expansion *x, const char *pointer)
{
    return nn_expand_steps(x, 1, pointer);
}

json_t *nn_expand_copy(struct nn_expansion *x, const json_t *object, const char *pointer)
{
    bool goes_on = object && nn_expand_steps(x, json_object_size(object), pointer);
    return nn_expand_made(x, goes_on ? json_copy((json_t *)(uintptr_t)object) : json_object());
}

void nn_expand_extend(struct nn_expansion *x, json_t *names, const json_t *more,
                      const char *pointer)
{
    if (names && more && nn_expand_steps(x, json_array_size(more), pointer)) {
        nn_expand_kept(x, json_array_extend(names, (json_t *)(uintptr_t)more));
    }
}

size_t nn_expand_weight(const char *key, const json_t *value)
{
    size_t i, weight = 1 + (strlen(key) + json_string_length(value)) / TEXT_SIZE;
    json_t *part;
    json_array_foreach(value, i, part)
    {
        weight += nn_expand_weight("", part);
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, part)
    {
        weight += nn_expand_weight(key, part);
    }
    return weight;
}

/* ---- values ---- */

/* "did you mean ...", or the names themselves, of an object's keys. */
void nn_expand_mend(const json_t *object, const char *name, const char *begin, char out[MEND_SIZE])
{
    const char *names[32] = {NULL};
    size_t n = 0, used = (size_t)snprintf(out, MEND_SIZE, "%s", begin);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (n + 1 < sizeof names / sizeof names[0] && used < MEND_SIZE) {
            used +=
                (size_t)snprintf(out + used, MEND_SIZE - used, "%s %.48s", n > 0 ? "," : "", key);
            names[n++] = key;
        }
    }
    const char *nearest = n > 0 ? jx_nearest(name, names, sizeof names[0]) : NULL;
    if (nearest) {
        (void)snprintf(out, MEND_SIZE, "did you mean \"%.64s\"?", nearest);
    } else if (n == 0) {
        (void)snprintf(out, MEND_SIZE, "there are none");
    }
}

static size_t name_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyz_");
}

/* The value of the variable whose name is the first n letters; NULL after an issue. */
static const json_t *variable(struct nn_expansion *x, const json_t *values, const char *name,
                              size_t n, const char *pointer)
{
    char key[64], mend[MEND_SIZE];
    (void)snprintf(key, sizeof key, "%.*s", (int)(n < sizeof key ? n : sizeof key - 1), name);
    const json_t *value = json_object_get(values, key);
    if (!value) {
        nn_expand_mend(values, key, "the parameters are", mend);
        nn_issue(x->issues, NULL, pointer, mend, "\"$%s\" is no parameter here", key);
    }
    return value;
}

/* Appends a value to a text; false after an issue. */
static bool append_value(struct nn_expansion *x, const json_t *value, const char *pointer,
                         char *out, size_t *used)
{
    if (!json_is_string(value) && !json_is_number(value)) {
        nn_issue(x->issues, NULL, pointer, "use a text or a number",
                 "a value that is no text or number cannot stand within a text");
        return false;
    }
    size_t left = TEXT_SIZE - *used;
    int n = json_is_string(value) ? snprintf(out + *used, left, "%.255s", json_string_value(value))
                                  : snprintf(out + *used, left, "%.15g", json_number_value(value));
    *used += n > 0 && (size_t)n < left ? (size_t)n : left - 1;
    return true;
}

static json_t *fill_text(struct nn_expansion *x, const json_t *values, const char *text,
                         const char *pointer)
{
    char out[TEXT_SIZE];
    size_t used = 0;
    bool whole = text[0] == '$' && text[1 + name_length(text + 1)] == '\0';
    while (*text && used + 1 < TEXT_SIZE) {
        if (*text != '$') {
            out[used++] = *text++;
            continue;
        }
        size_t n = name_length(text + 1);
        const json_t *value = variable(x, values, text + 1, n, pointer);
        if (value && whole) {
            return json_incref((json_t *)(uintptr_t)value);
        }
        if (!value || !append_value(x, value, pointer, out, &used)) {
            return json_null();
        }
        text += 1 + n;
    }
    return nn_expand_made(x, json_stringn(out, used));
}

/* Longer texts are no names: they are never searched, however often they are repeated. */
static bool has_variables(const json_t *json)
{
    return json_is_string(json) && json_string_length(json) < TEXT_SIZE &&
           strchr(json_string_value(json), '$');
}

/* The value with its variables filled in. Null after an issue, NULL when out of memory. */
json_t *nn_expand_fill(struct nn_expansion *x, const json_t *values, const json_t *json,
                       const char *pointer)
{
    json_t *out = (json_t *)(uintptr_t)json;
    if (has_variables(json)) {
        return fill_text(x, values, json_string_value(json), pointer);
    }
    if (!json_is_array(json)) {
        return json_incref(out);
    }
    out = nn_expand_made(x, json_array());
    for (size_t i = 0; out && i < json_array_size(json) && nn_expand_step(x, pointer); i++) {
        char place[POINTER_SIZE];
        jx_pointer_index(pointer, i, place, sizeof place);
        nn_expand_kept(x, json_array_append_new(
                              out, nn_expand_fill(x, values, json_array_get(json, i), place)));
    }
    return out;
}

json_t *nn_expand_member(struct nn_expansion *x, const struct nn_scope *scope, const json_t *item,
                         const char *key, const char *pointer)
{
    char place[POINTER_SIZE];
    jx_pointer_key(pointer, key, place, sizeof place);
    return nn_expand_fill(x, scope->values, json_object_get(item, key), place);
}
