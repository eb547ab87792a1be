/* SPDX-License-Identifier: MIT
 *
 * Merge patches (RFC 7386). Depth is bounded by that of the parser's documents.
 */
#include "core/json/json.h"

/* The object of that name, made where there is none. */
static json_t *object_at(json_t *target, const char *key)
{
    json_t *there = json_object_get(target, key);
    if (json_is_object(there)) {
        return there;
    }
    return json_object_set_new(target, key, json_object()) == 0 ? json_object_get(target, key)
                                                                : NULL;
}

bool jx_merge(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;
    bool merged = true;
    json_object_foreach((json_t *)(uintptr_t)patch, key, value)
    {
        if (json_is_null(value)) {
            (void)json_object_del(target, key);
        } else if (json_is_object(value)) {
            json_t *inner = object_at(target, key);
            merged = inner && jx_merge(inner, value) && merged;
        } else {
            merged = json_object_set_new(target, key, json_deep_copy(value)) == 0 && merged;
        }
    }
    return merged;
}
