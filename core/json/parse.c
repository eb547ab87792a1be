/* SPDX-License-Identifier: MIT
 *
 * Guarded parsing. A scan over the bytes bounds size and nesting before jansson allocates anything;
 * jansson then refuses the rest. Its texts quote the input ("near '...'"), which is cut off: an
 * error names a place, never the bytes.
 */
#include "core/json/json.h"

#include <stdio.h>
#include <string.h>

static const struct jx_limits DEFAULT_LIMITS = {JX_MAX_BYTES, JX_MAX_DEPTH};

/* The deepest nesting, counting brackets outside of strings. Broken texts give some number; jansson
 * refuses them afterwards. Stops early above `enough`. */
static size_t nesting(const char *text, size_t n, size_t enough)
{
    size_t depth = 0;
    size_t deepest = 0;
    bool in_string = false;
    for (size_t i = 0; i < n && deepest <= enough; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\') {
                i++;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            depth++;
            deepest = depth > deepest ? depth : deepest;
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return deepest;
}

static enum nn_status refuse(const json_error_t *error, struct nn_error *err)
{
    if (json_error_code(error) == json_error_out_of_memory) {
        return nn_fail(err, NN_ERR_MEMORY, "out of memory while reading JSON");
    }
    char text[sizeof error->text];
    (void)snprintf(text, sizeof text, "%s", error->text);
    char *near = strstr(text, " near '");
    if (near) {
        *near = '\0';
    }
    return nn_fail(err, NN_ERR_INVALID, "JSON line %d, column %d: %s", error->line, error->column,
                   text);
}

enum nn_status jx_parse(const void *bytes, size_t n, const struct jx_limits *limits, json_t **out,
                        struct nn_error *err)
{
    const struct jx_limits *limit = limits ? limits : &DEFAULT_LIMITS;
    if (n > limit->max_bytes) {
        return nn_fail(err, NN_ERR_LIMIT, "the JSON text has %zu bytes, the limit is %zu", n,
                       limit->max_bytes);
    }
    if (nesting(bytes, n, limit->max_depth) > limit->max_depth) {
        return nn_fail(err, NN_ERR_LIMIT, "the JSON text nests deeper than %zu levels",
                       limit->max_depth);
    }
    json_error_t error;
    json_t *json = json_loadb(n > 0 ? bytes : "", n, JSON_REJECT_DUPLICATES, &error);
    if (!json) {
        return refuse(&error, err);
    }
    *out = json;
    return NN_OK;
}
