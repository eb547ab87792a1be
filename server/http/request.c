/* SPDX-License-Identifier: MIT
 *
 * What handlers ask of a request: path segments, headers, entity tags, memory.
 */
#include "server/http/request.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/http/exchange_internal.h"
#include "server/http/query.h"

const char *http_path(const struct http_request *req, const char *name)
{
    const struct http_exchange *ex = http_exchange_of(req);
    size_t n = strlen(name);
    const char *pattern = ex->route->pattern;
    for (size_t i = 0; *pattern == '/'; i++) {
        size_t size = strcspn(pattern + 1, "/");
        if (size == n + 2 && pattern[1] == '{' && strncmp(pattern + 2, name, n) == 0) {
            return ex->segments[i];
        }
        pattern += size + 1;
    }
    NN_ASSERT(!"the route's pattern has no such name");
    return "";
}

const char *http_header(const struct http_request *req, const char *name)
{
    const struct http_exchange *ex = http_exchange_of(req);
    const char *value = NULL;
    for (size_t i = 0; i < ex->header_count; i++) {
        if (strcasecmp(ex->headers[i].name, name) == 0) {
            const char *more = ex->headers[i].value;
            value = value ? http_request_printf(req, "%s, %s", value, more) : more;
            if (!value) {
                return NULL;
            }
        }
    }
    return value;
}

/* The password of "user:password" in base64, in the request's memory; NULL if unsound. */
static const char *basic_password(const struct http_request *req, const char *base64)
{
    size_t size = strlen(base64);
    char *text = size < 1024 ? http_request_alloc(req, size + 1) : NULL;
    static const char BASE64_DIGITS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    size_t have = 0;
    size_t used = 0;
    for (const char *p = base64; text && *p && *p != '='; p++) {
        const char *digit = strchr(BASE64_DIGITS, *p);
        if (!digit) {
            return NULL;
        }
        bits = bits << 6 | (uint32_t)(digit - BASE64_DIGITS);
        have += 6;
        if (have >= 8) {
            have -= 8;
            text[used++] = (char)(bits >> have & 0xff);
        }
    }
    const char *colon = text ? strchr(text, ':') : NULL;
    return colon && strlen(text) == used ? colon + 1 : NULL;
}

const char *http_bearer(const struct http_request *req)
{
    const char *value = http_header(req, "Authorization");
    if (!value) {
        return NULL;
    }
    const char *token = value + strcspn(value, " ");
    size_t scheme = (size_t)(token - value);
    token += strspn(token, " ");
    if (scheme == 5 && strncasecmp(value, "Basic", 5) == 0) {
        token = basic_password(req, token);
    } else if (scheme != 6 || strncasecmp(value, "Bearer", 6) != 0) {
        return NULL;
    }
    return token && *token && !strpbrk(token, " \t,") ? token : NULL;
}

static bool etag_listed(const char *list, const char *etag, bool weak)
{
    const char *item = NULL;
    const char *parameters = NULL;
    size_t size = 0;
    size_t want = strlen(etag);
    while (list && http_text_next(&list, &item, &size, &parameters)) {
        if (weak && size > 2 && strncmp(item, "W/", 2) == 0) {
            item += 2;
            size -= 2;
        }
        if ((size == want && strncmp(item, etag, want) == 0) || (size == 1 && *item == '*')) {
            return true;
        }
    }
    return false;
}

bool http_if_none_match(const struct http_request *req, const char *etag)
{
    return etag_listed(http_header(req, "If-None-Match"), etag, true);
}

bool http_if_match(const struct http_request *req, const char *etag)
{
    return etag_listed(http_header(req, "If-Match"), etag, false);
}

/* "q=0" or "q=0.000" among the parameters up to the next comma. */
static bool is_refused(const char *parameters)
{
    const char *end = parameters ? parameters + strcspn(parameters, ",") : NULL;
    for (const char *p = parameters; p && p < end; p++) {
        if ((*p == 'q' || *p == 'Q') && p[1] == '=') {
            return strtod(p + 2, NULL) <= 0;
        }
    }
    return false;
}

/* 0: does not match, 1: star/star, 2: type/star, 3: exact. */
static int range_rank(const char *range, size_t size, const char *media_type)
{
    size_t main_size = strcspn(media_type, "/") + 1;
    if (size == strlen(media_type) && strncasecmp(range, media_type, size) == 0) {
        return 3;
    }
    if (size == main_size + 1 && range[size - 1] == '*' &&
        strncasecmp(range, media_type, main_size) == 0) {
        return 2;
    }
    return size == 3 && strncmp(range, "*/*", 3) == 0 ? 1 : 0;
}

bool http_accepts(const struct http_request *req, const char *media_type)
{
    const char *list = http_header(req, "Accept");
    const char *item = NULL;
    const char *parameters = NULL;
    size_t size = 0;
    int best = 0;
    bool accepted = !list || !*list;
    while (list && http_text_next(&list, &item, &size, &parameters)) {
        int rank = range_rank(item, size, media_type);
        if (rank > best) {
            best = rank;
            accepted = !is_refused(parameters);
        }
    }
    return accepted;
}

bool http_accepts_coding(const struct http_request *req, const char *coding)
{
    const char *list = http_header(req, "Accept-Encoding");
    const char *item = NULL;
    const char *parameters = NULL;
    size_t size = 0;
    bool any = false;
    while (list && http_text_next(&list, &item, &size, &parameters)) {
        if (size == strlen(coding) && strncasecmp(item, coding, size) == 0) {
            return !is_refused(parameters);
        }
        any = any || (size == 1 && *item == '*' && !is_refused(parameters));
    }
    return any;
}

void *http_request_alloc(const struct http_request *req, size_t size)
{
    return nn_arena_alloc(http_exchange_of(req)->arena, size, 1);
}

char *http_request_printf(const struct http_request *req, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = n < 0 ? NULL : http_request_alloc(req, (size_t)n + 1);
    if (text) {
        va_start(args, fmt);
        (void)vsnprintf(text, (size_t)n + 1, fmt, args);
        va_end(args);
    }
    return text;
}

void http_request_keep(const struct http_request *req, void *kept)
{
    http_exchange_of(req)->kept = kept;
}

void *http_request_kept(const struct http_request *req)
{
    return http_exchange_of(req)->kept;
}

struct http_server *http_request_server(const struct http_request *req)
{
    return http_exchange_of(req)->server;
}

/* Finalizer of splitmix64: without it sums of FNV hashes collide when two values trade places. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Order of the parameters does not matter: each pair is hashed, and the hashes are added. */
uint64_t http_query_hash(const struct http_request *req)
{
    const struct http_exchange *ex = http_exchange_of(req);
    uint64_t sum = HTTP_HASH_SEED;
    for (size_t i = 0; i < ex->pair_count; i++) {
        const struct http_pair *pair = &ex->pairs[i];
        if (strcmp(pair->name, "wait") != 0) {
            sum +=
                mix(http_hash(http_hash(http_hash(HTTP_HASH_SEED, pair->name), "="), pair->value));
        }
    }
    return sum;
}
