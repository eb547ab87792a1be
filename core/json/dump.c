/* SPDX-License-Identifier: MIT
 *
 * JSON as compact text. Own writer for three reasons: reals with the fewest digits that give them
 * back, keys sorted by bytes for digests, and a depth limit (jansson has none when dumping).
 */
#include "core/json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    char *text;
    size_t used, room;
    bool sorted;
    bool failed; /* out of memory or too deep: everything after is skipped */
};

static void append(struct writer *w, const char *bytes, size_t n)
{
    if (w->failed) {
        return;
    }
    if (n >= w->room - w->used) {
        size_t room = w->room * 2 > w->used + n + 1 ? w->room * 2 : w->used + n + 1;
        char *text = realloc(w->text, room);
        if (!text) {
            w->failed = true;
            return;
        }
        w->text = text;
        w->room = room;
    }
    memcpy(w->text + w->used, bytes, n);
    w->used += n;
    w->text[w->used] = '\0';
}

static void append_text(struct writer *w, const char *text)
{
    append(w, text, strlen(text));
}

static void append_char_escape(struct writer *w, unsigned char c)
{
    static const char SHORT[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    char text[8];
    for (size_t i = 0; i + 1 < sizeof SHORT; i += 2) {
        if ((unsigned char)SHORT[i] == c) {
            text[0] = '\\';
            text[1] = SHORT[i + 1];
            append(w, text, 2);
            return;
        }
    }
    (void)snprintf(text, sizeof text, "\\u%04x", c);
    append_text(w, text);
}

static void append_string(struct writer *w, const char *text, size_t n)
{
    append(w, "\"", 1);
    size_t start = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            append(w, text + start, i - start);
            append_char_escape(w, c);
            start = i + 1;
        }
    }
    append(w, text + start, n - start);
    append(w, "\"", 1);
}

static void append_real(struct writer *w, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    append_text(w, text);
    if (!strpbrk(text, ".eE")) {
        append_text(w, ".0"); /* stays a real when read again */
    }
}

static void append_value(struct writer *w, const json_t *json, size_t depth);

static void append_array(struct writer *w, const json_t *json, size_t depth)
{
    append(w, "[", 1);
    for (size_t i = 0; i < json_array_size(json); i++) {
        append(w, ",", i > 0 ? 1 : 0);
        append_value(w, json_array_get(json, i), depth);
    }
    append(w, "]", 1);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of an object in writing order; NULL when out of memory. jansson takes the object of an
 * iteration as mutable but does not change it. */
static const char **keys_of(json_t *object, bool sorted)
{
    size_t n = json_object_size(object);
    const char **keys = malloc((n + 1) * sizeof *keys);
    if (!keys) {
        return NULL;
    }
    size_t i = 0;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        keys[i++] = key;
    }
    if (sorted) {
        qsort(keys, n, sizeof *keys, compare_keys);
    }
    return keys;
}

static void append_object(struct writer *w, const json_t *json, size_t depth)
{
    json_t *object = json_incref((json_t *)(uintptr_t)json);
    const char **keys = keys_of(object, w->sorted);
    w->failed = w->failed || !keys;
    append(w, "{", 1);
    for (size_t i = 0; keys && i < json_object_size(object); i++) {
        append(w, ",", i > 0 ? 1 : 0);
        append_string(w, keys[i], strlen(keys[i]));
        append(w, ":", 1);
        append_value(w, json_object_get(object, keys[i]), depth);
    }
    append(w, "}", 1);
    free(keys);
    json_decref(object);
}

static void append_integer(struct writer *w, json_int_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, value);
    append_text(w, text);
}

static void append_value(struct writer *w, const json_t *json, size_t depth)
{
    if (depth == 0 || w->failed) {
        w->failed = true;
        return;
    }
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        append_object(w, json, depth - 1);
        break;
    case JSON_ARRAY:
        append_array(w, json, depth - 1);
        break;
    case JSON_STRING:
        append_string(w, json_string_value(json), json_string_length(json));
        break;
    case JSON_INTEGER:
        append_integer(w, json_integer_value(json));
        break;
    case JSON_REAL:
        append_real(w, json_real_value(json));
        break;
    case JSON_TRUE:
        append_text(w, "true");
        break;
    case JSON_FALSE:
        append_text(w, "false");
        break;
    case JSON_NULL:
        append_text(w, "null");
        break;
    }
}

static char *dump(const json_t *json, bool sorted, size_t *out_size)
{
    if (!json) {
        return NULL;
    }
    struct writer w = {.text = malloc(256), .room = 256, .sorted = sorted};
    w.failed = !w.text;
    append_value(&w, json, JX_MAX_DUMP_DEPTH + 1);
    if (w.failed) {
        free(w.text);
        return NULL;
    }
    if (out_size) {
        *out_size = w.used;
    }
    return w.text;
}

char *jx_dump(const json_t *json, size_t *out_size)
{
    return dump(json, false, out_size);
}

char *jx_canonical(const json_t *json)
{
    return dump(json, true, NULL);
}
