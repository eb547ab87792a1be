/* SPDX-License-Identifier: MIT
 *
 * Any text as a request target, a header and a cursor: split, decoded, routed and read, never a
 * step outside. The first byte picks what the rest is. The parts of the HTTP room that look at
 * bytes of the network are compiled in here; libmicrohttpd is not.
 */
#include <stdlib.h>
#include <string.h>

#include "server/base/clock.c"
#include "server/base/error.c"
#include "server/base/ids.c"
#include "server/base/text.c"
#include "server/http/cursor.c"
#include "server/http/query.c"
#include "server/http/request.c"
#include "server/http/router.c"
#include "server/http/text.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the router calls to answer OPTIONS. */
void http_response_empty(struct http_response *resp, int status)
{
    (void)resp;
    (void)status;
}

void http_response_header(struct http_response *resp, const char *name, const char *value)
{
    (void)resp;
    NN_ASSERT(http_text_is_token(name) && strlen(value) < 80);
}

void http_answer_make(struct http_exchange *ex)
{
    (void)ex;
}

static enum sv_status handler(void *state, const struct http_request *req,
                              struct http_response *resp, struct sv_error *err)
{
    (void)state;
    (void)req;
    (void)resp;
    (void)err;
    return SV_OK;
}

static const struct http_route FUZZ_ROUTES[] = {
    {.method = "GET", .pattern = "/v1/jobs", .handler = handler},
    {.method = "POST", .pattern = "/v1/jobs", .handler = handler},
    {.method = "GET", .pattern = "/v1/jobs/{id}", .handler = handler},
    {.method = "PUT", .pattern = "/v1/jobs/{id}/files/{name}", .handler = handler},
    {.method = "GET", .pattern = "/{name}", .handler = handler},
};

struct fuzz_query {
    int64_t number;
    double real;
    const char *text;
    struct http_list list;
};

static const struct http_param FUZZ_PARAMS[] = {
    {"n", HTTP_PARAM_INT, offsetof(struct fuzz_query, number), -9, 9, NULL},
    {"r", HTTP_PARAM_NUMBER, offsetof(struct fuzz_query, real), 0, 0, NULL},
    {"t", HTTP_PARAM_TEXT, offsetof(struct fuzz_query, text), 0, 20, NULL},
    {"l", HTTP_PARAM_LIST, offsetof(struct fuzz_query, list), 0, 5, NULL},
};

static void fuzz_target(struct http_exchange *ex, char *text)
{
    static const char *const methods[] = {"GET", "HEAD", "PUT", "OPTIONS", "DELETE"};
    struct sv_error err = {0};
    struct fuzz_query query = {0};
    char *mark = strchr(text, '?');
    ex->request.path = text;
    if (mark) {
        *mark = '\0';
        ex->query = mark + 1;
    }
    if (text[0] != '/' || http_query_split(ex, &err) != SV_OK) {
        return;
    }
    enum sv_status status =
        http_route_find(ex, methods[strlen(text) % (sizeof methods / sizeof methods[0])], &err);
    NN_ASSERT(status == SV_OK || err.text[0] || status == SV_ERR_NOT_FOUND);
    if (status == SV_OK && ex->route && strstr(ex->route->pattern, "{name}")) {
        const char *name = http_path(&ex->request, "name");
        NN_ASSERT(name[0] && !strchr(name, '/') && strcmp(name, "..") != 0);
    }
    if (http_query_decode(&ex->request, FUZZ_PARAMS, 4, &query, &err) == SV_OK) {
        NN_ASSERT(query.number >= -9 && query.number <= 9 && isfinite(query.real));
        NN_ASSERT(!query.text || (strlen(query.text) <= 20 && http_text_is_utf8(query.text)));
        NN_ASSERT(query.list.count <= 5);
    }
    (void)http_query_hash(&ex->request);
}

static void fuzz_headers(struct http_exchange *ex, const char *text)
{
    static const char *const names[] = {"Accept", "If-None-Match", "If-Match", "Authorization"};
    for (size_t i = 0; i < 4; i++) {
        ex->headers[ex->header_count++] = (struct http_pair){names[i], text};
    }
    (void)http_accepts(&ex->request, "application/json");
    (void)http_if_none_match(&ex->request, "\"r1-2\"");
    (void)http_if_match(&ex->request, "\"r1-2\"");
    const char *token = http_bearer(&ex->request);
    NN_ASSERT(!token || (token[0] && !strchr(token, ' ')));
}

static void fuzz_cursor(struct http_exchange *ex, const char *text)
{
    static const char *const kinds[] = {"i", "nS", "isn", "NSIS"};
    static struct http_cursor cursor;
    for (size_t i = 0; i < 4; i++) {
        if (http_cursor_decode(text, 0, kinds[i], &cursor, NULL) == SV_OK) {
            const char *again = http_cursor_encode(&ex->request, 0, &cursor);
            NN_ASSERT(again && strcmp(again, text) == 0); /* one text for each cursor */
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_server server = {
        .settings = {.routes = FUZZ_ROUTES,
                     .route_count = sizeof FUZZ_ROUTES / sizeof FUZZ_ROUTES[0]}};
    struct http_exchange *ex = calloc(1, sizeof *ex);
    char *text = size ? malloc(size) : NULL;
    if (ex && text && nn_arena_create(NULL, 0, &ex->arena) == NN_OK) {
        memcpy(text, data + 1, size - 1);
        text[size - 1] = '\0';
        ex->server = &server;
        ex->response.arena = ex->arena;
        switch (data[0] % 3) {
        case 0:
            fuzz_target(ex, text);
            break;
        case 1:
            fuzz_headers(ex, text);
            break;
        default:
            fuzz_cursor(ex, text);
            break;
        }
        nn_arena_destroy(ex->arena);
    }
    free(text);
    free(ex);
    return 0;
}
