/* SPDX-License-Identifier: MIT
 *
 * What the target of a trial hangs on beside its data set, as its kind says (kinds.h). Errors of
 * different targets are not to be compared, so whoever ranks trials asks here.
 */
#include <string.h>

#include "core/json/json.h"
#include "server/jobs/kinds.h"

/* What a value of an axis puts at a path; NULL: nothing. */
static const json_t *put_at(const char *axis, const json_t *value, const char *path)
{
    size_t n = strlen(axis);
    if (strncmp(axis, path, n) != 0) {
        return NULL;
    }
    return path[n] == '\0' ? value : path[n] == '.' ? jx_path_get(value, path + n + 1) : NULL;
}

static bool is_same(const json_t *a, const json_t *b)
{
    return a == b || (a && b && json_equal(a, b));
}

/* Do the values of an axis put different things at the path? */
static bool varies(const char *axis, const json_t *values, const char *path)
{
    if (json_is_object(values)) { /* a range of numbers */
        return strcmp(axis, path) == 0;
    }
    const json_t *first = put_at(axis, json_array_get(values, 0), path);
    bool same = true;
    for (size_t i = 1; same && i < json_array_size(values); i++) {
        same = is_same(first, put_at(axis, json_array_get(values, i), path));
    }
    return !same;
}

static bool changes_target(const struct jobs_kind *kind, const char *axis, const json_t *values)
{
    for (size_t i = 0; kind && kind->target[i]; i++) {
        if (varies(axis, values, kind->target[i])) {
            return true;
        }
    }
    return false;
}

json_t *jobs_target_parameters(const char *kind, const json_t *parameters)
{
    const struct jobs_kind *row = jobs_kind_find(kind);
    const char *axis;
    json_t *values, *out = json_array();
    json_object_foreach((json_t *)(uintptr_t)parameters, axis, values)
    {
        if (changes_target(row, axis, values) &&
            json_array_append_new(out, json_string(axis)) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

json_t *jobs_target_of(const char *kind, const json_t *resolved)
{
    const struct jobs_kind *row = jobs_kind_find(kind);
    json_t *out = json_object();
    for (size_t i = 0; row && row->target[i]; i++) {
        json_t *value = jx_path_get(resolved, row->target[i]);
        if (value && json_object_set(out, row->target[i], value) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}
