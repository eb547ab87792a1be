/* SPDX-License-Identifier: MIT
 *
 * From a path to a row of the route table. A path is cut at '/' before its segments are decoded,
 * so %2F never makes a segment; a decoded segment never is "", "." or "..", and holds no '/'.
 * HEAD is where GET is, OPTIONS everywhere. The table is small: rows are tried in order.
 */
#include <string.h>

#include "server/base/ids.h"
#include "server/http/server_internal.h"

/* Does one segment of a pattern (up to '/') match? any_id: whatever stands where an id should. */
static bool segment_matches(const char *pattern, size_t size, const char *segment, bool any_id)
{
    if (size == 4 && strncmp(pattern, "{id}", 4) == 0) {
        return any_id || sv_id_is_valid(segment);
    }
    if (size > 2 && pattern[0] == '{') {
        return true;
    }
    return strlen(segment) == size && strncmp(pattern, segment, size) == 0;
}

static bool pattern_matches(const struct http_exchange *ex, const char *pattern, bool any_id)
{
    size_t i = 0;
    while (*pattern == '/' && pattern[1]) {
        size_t size = strcspn(pattern + 1, "/");
        if (i == ex->segment_count ||
            !segment_matches(pattern + 1, size, ex->segments[i], any_id)) {
            return false;
        }
        i++;
        pattern += size + 1;
    }
    return i == ex->segment_count;
}

/* The segment that keeps the path from a route for being no id; NULL when that is not why. */
static const char *malformed_id(const struct http_exchange *ex)
{
    for (size_t k = 0; k < ex->server->settings.route_count; k++) {
        const char *pattern = ex->server->settings.routes[k].pattern;
        if (!pattern_matches(ex, pattern, true)) {
            continue;
        }
        for (size_t i = 0; i < ex->segment_count; i++) {
            size_t size = strcspn(pattern + 1, "/");
            if (!segment_matches(pattern + 1, size, ex->segments[i], false)) {
                return ex->segments[i];
            }
            pattern += size + 1;
        }
    }
    return NULL;
}

static bool is_number(const char *segment)
{
    return segment && segment[0] && strspn(segment, "0123456789") == strlen(segment);
}

/* People see numbers beside ids and type them: who may ask is told what the number stands for.
 * False when there is nothing to tell. */
static bool take_number(struct http_exchange *ex, const char *segment)
{
    const struct http_settings *settings = &ex->server->settings;
    bool tells = settings->explain_number && is_number(segment);
    for (size_t i = 0; tells && !ex->route && i < settings->route_count; i++) {
        const struct http_route *route = &settings->routes[i];
        if (strcmp(route->method, ex->request.method) == 0 &&
            pattern_matches(ex, route->pattern, true)) {
            ex->route = route;
            ex->number = segment;
        }
    }
    return ex->route != NULL;
}

static bool segment_is_sound(const char *segment)
{
    return segment[0] && strcmp(segment, ".") != 0 && strcmp(segment, "..") != 0 &&
           !strchr(segment, '/');
}

/* Cuts and decodes ex->request.path. */
static enum sv_status path_split(struct http_exchange *ex, struct sv_error *err)
{
    char *copy = nn_arena_text(ex->arena, ex->request.path);
    if (!copy) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    if (strcmp(copy, "/") == 0) {
        return SV_OK;
    }
    for (char *p = copy; p;) {
        char *segment = p + 1; /* p is at a '/' */
        p = strchr(segment, '/');
        if (p) {
            *p = '\0';
        }
        if (!http_text_unescape(segment, false)) {
            return sv_fail(err, SV_ERR_BAD_REQUEST, "the address has a bad escape");
        }
        if (!segment_is_sound(segment) || ex->segment_count == HTTP_SEGMENTS_MAX) {
            return sv_fail(err, SV_ERR_NOT_FOUND, "%s", "");
        }
        ex->segments[ex->segment_count++] = segment;
    }
    return SV_OK;
}

/* "GET, HEAD, POST, OPTIONS" of the rows that match the path (NULL: of the whole server). */
static void allow_list(const struct http_exchange *ex, bool all, char *out, size_t out_size)
{
    static const char *const ORDER[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    size_t used = 0;
    for (size_t m = 0; m < sizeof ORDER / sizeof ORDER[0]; m++) {
        bool found = all;
        for (size_t i = 0; i < ex->server->settings.route_count && !found; i++) {
            const struct http_route *route = &ex->server->settings.routes[i];
            found =
                strcmp(route->method, ORDER[m]) == 0 && pattern_matches(ex, route->pattern, false);
        }
        if (found) {
            used += (size_t)snprintf(out + used, out_size - used, "%s%s, ", ORDER[m],
                                     m == 0 ? ", HEAD" : "");
        }
    }
    (void)snprintf(out + used, out_size - used, "OPTIONS");
}

static enum sv_status answer_options(struct http_exchange *ex, const char *allow)
{
    http_response_empty(&ex->response, 204);
    http_response_header(&ex->response, "Allow", allow);
    http_answer_make(ex);
    return SV_OK;
}

enum sv_status http_route_find(struct http_exchange *ex, const char *method, struct sv_error *err)
{
    char allow[80];
    bool is_options = strcmp(method, "OPTIONS") == 0;
    if (strcmp(ex->request.path, "*") == 0) {
        allow_list(ex, true, allow, sizeof allow);
        return is_options ? answer_options(ex, allow)
                          : sv_fail(err, SV_ERR_BAD_REQUEST, "* is only for OPTIONS");
    }
    enum sv_status status = path_split(ex, err);
    if (status != SV_OK) {
        return status;
    }
    ex->request.is_head = strcmp(method, "HEAD") == 0;
    ex->request.method = ex->request.is_head ? "GET" : method;
    bool path_known = false;
    for (size_t i = 0; i < ex->server->settings.route_count; i++) {
        const struct http_route *route = &ex->server->settings.routes[i];
        if (!pattern_matches(ex, route->pattern, false)) {
            continue;
        }
        path_known = true;
        if (strcmp(route->method, ex->request.method) == 0) {
            ex->route = route;
            return SV_OK;
        }
    }
    if (!path_known) {
        const char *wrong = malformed_id(ex);
        if (take_number(ex, wrong)) {
            return SV_OK;
        }
        return wrong ? sv_fail(err, SV_ERR_NOT_FOUND, "\"%.64s\" is no id: ids are 32 hex digits",
                               wrong)
                     : sv_fail(err, SV_ERR_NOT_FOUND, "%s", "");
    }
    allow_list(ex, false, allow, sizeof allow);
    if (is_options) {
        return answer_options(ex, allow);
    }
    http_response_header(&ex->response, "Allow", allow);
    return sv_fail(err, SV_ERR_METHOD_NOT_ALLOWED, "allowed: %s", allow);
}

enum sv_status http_route_table_check(const struct http_settings *settings, struct sv_error *err)
{
    for (size_t i = 0; i < settings->route_count; i++) {
        const struct http_route *route = &settings->routes[i];
        bool sound = route->handler && route->pattern[0] == '/' &&
                     (strcmp(route->method, "GET") == 0 || strcmp(route->method, "POST") == 0 ||
                      strcmp(route->method, "PUT") == 0 || strcmp(route->method, "PATCH") == 0 ||
                      strcmp(route->method, "DELETE") == 0);
        for (size_t k = 0; sound && k < i; k++) {
            sound = strcmp(route->method, settings->routes[k].method) != 0 ||
                    strcmp(route->pattern, settings->routes[k].pattern) != 0;
        }
        if (!sound) {
            return sv_fail(err, SV_ERR_INTERNAL, "route %s %s is malformed or doubled",
                           route->method, route->pattern);
        }
    }
    return SV_OK;
}
