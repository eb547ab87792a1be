/* SPDX-License-Identifier: MIT
 *
 * Dotted paths ("training.solver") and JSON pointers ("/training/solver").
 */
#include "core/json/json.h"

#include <stdio.h>
#include <string.h>

enum { SEGMENT_MAX = 256 };

/* Cuts the first segment off *path; false at a segment that is empty or too long. */
static bool next_segment(const char **path, char out[SEGMENT_MAX])
{
    size_t n = strcspn(*path, ".");
    if (n == 0 || n >= SEGMENT_MAX) {
        return false;
    }
    memcpy(out, *path, n);
    out[n] = '\0';
    *path += n;
    return true;
}

/* More segments follow: steps over the dot. */
static bool has_more(const char **path)
{
    if (**path != '.') {
        return false;
    }
    (*path)++;
    return true;
}

static bool index_of(const char *segment, size_t count, size_t *out)
{
    size_t n = strlen(segment);
    if (n > 9 || strspn(segment, "0123456789") != n || (n > 1 && segment[0] == '0')) {
        return false;
    }
    size_t index = 0;
    for (size_t i = 0; i < n; i++) {
        index = index * 10 + (size_t)(segment[i] - '0');
    }
    if (index >= count) {
        return false;
    }
    *out = index;
    return true;
}

static json_t *child(const json_t *node, const char *segment)
{
    size_t index;
    if (json_is_object(node)) {
        return json_object_get(node, segment);
    }
    if (json_is_array(node) && index_of(segment, json_array_size(node), &index)) {
        return json_array_get(node, index);
    }
    return NULL;
}

json_t *jx_path_get(const json_t *root, const char *path)
{
    const json_t *node = root;
    json_t *found = NULL;
    char segment[SEGMENT_MAX];
    do {
        if (!next_segment(&path, segment)) {
            return NULL;
        }
        found = child(node, segment);
        node = found;
    } while (found && has_more(&path));
    return *path ? NULL : found;
}

static enum nn_status put(json_t *node, const char *segment, json_t *value, struct nn_error *err)
{
    size_t index;
    if (json_is_object(node)) {
        return json_object_set(node, segment, value) == 0
                   ? NN_OK
                   : nn_fail(err, NN_ERR_INVALID, "the path holds a name that is not UTF-8");
    }
    if (json_is_array(node) && index_of(segment, json_array_size(node), &index)) {
        return json_array_set(node, index, value) == 0
                   ? NN_OK
                   : nn_fail(err, NN_ERR_MEMORY, "out of memory while editing JSON");
    }
    return nn_fail(err, NN_ERR_INVALID, "the path does not fit the document at \"%s\"", segment);
}

/* The child to walk into, made as an empty object where an object lacks it. */
static json_t *walk(json_t *node, const char *segment)
{
    json_t *found = child(node, segment);
    if (found || !json_is_object(node)) {
        return found;
    }
    if (json_object_set_new(node, segment, json_object()) != 0) {
        return NULL;
    }
    return json_object_get(node, segment);
}

static enum nn_status set(json_t *root, const char *path, json_t *value, struct nn_error *err)
{
    json_t *node = root;
    char segment[SEGMENT_MAX];
    for (size_t depth = 0; depth < JX_MAX_DEPTH; depth++) {
        if (!next_segment(&path, segment)) {
            return nn_fail(err, NN_ERR_INVALID, "the path is empty or has an empty or long part");
        }
        if (!has_more(&path)) {
            return put(node, segment, value, err);
        }
        node = walk(node, segment);
        if (!json_is_object(node) && !json_is_array(node)) {
            return nn_fail(err, NN_ERR_INVALID, "the path runs through \"%s\", which is no object",
                           segment);
        }
    }
    return nn_fail(err, NN_ERR_INVALID, "the path is deeper than %d levels", JX_MAX_DEPTH);
}

enum nn_status jx_path_set(json_t *root, const char *path, json_t *value, struct nn_error *err)
{
    if (!value) {
        return nn_fail(err, NN_ERR_MEMORY, "out of memory while editing JSON");
    }
    enum nn_status status = set(root, path, value, err);
    json_decref(value);
    return status;
}

/* Appends c (escaped as RFC 6901 asks) and returns the new length, or `size` once it is full. */
static size_t append_escaped(char *out, size_t size, size_t used, char c)
{
    const char one[2] = {c, '\0'};
    const char *text = c == '~' ? "~0" : (c == '/' ? "~1" : one);
    size_t n = strlen(text);
    if (used + n >= size) {
        return size;
    }
    memcpy(out + used, text, n + 1);
    return used + n;
}

void jx_path_pointer(const char *path, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%s", path[0] ? "/" : "");
    used = used < size ? used : size - 1;
    for (; *path; path++) {
        if (*path != '.') {
            used = append_escaped(out, size, used, *path);
        } else if (used + 1 < size) {
            out[used++] = '/';
            out[used] = '\0';
        }
    }
}

void jx_pointer_key(const char *pointer, const char *key, char *out, size_t size)
{
    int n = snprintf(out, size, "%s/", pointer);
    size_t used = n < 0 ? 0 : (size_t)n;
    if (used >= size) {
        return;
    }
    for (; *key; key++) {
        used = append_escaped(out, size, used, *key);
    }
}

void jx_pointer_index(const char *pointer, size_t index, char *out, size_t size)
{
    (void)snprintf(out, size, "%s/%zu", pointer, index);
}
