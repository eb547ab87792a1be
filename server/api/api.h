/* SPDX-License-Identifier: MIT
 *
 * The resources of the service: the route table and what its handlers stand on. A handler decodes,
 * calls jobs or store, and encodes; it holds no SQL and no microhttpd.
 */
#ifndef API_API_H
#define API_API_H

#include <jansson.h>
#include <stddef.h>

#include "server/http/server.h"

struct cfg;
struct changes;
struct store;

/* The state of every handler: made by app, shared by all request threads. */
struct api_ctx {
    struct store *store;     /* one connection a request thread */
    struct changes *changes; /* borrowed, as all here, while the server runs */
    const struct cfg *config;
    const char *build; /* version of the program, shown by /healthz */
    /* For /metrics; app sets it when the server has been made, it is NULL before. */
    struct http_server *_Atomic server;
};

/* {name: JSON schema} of every body that is taken, made of the field tables that decode it; the API
 * description holds the same. NULL when out of memory. */
json_t *api_body_schemas(void);

/* Every route of the service. Its handlers take a struct api_ctx as state. */
const struct http_route *api_routes(size_t *out_count);

/* Chooses the next points of every search that can go on; *out_chosen trials got theirs. The first
 * trouble is returned, and the other searches went on all the same. Not from a request. */
SV_MUST_CHECK enum sv_status api_searches_go_on(struct api_ctx *ctx, size_t *out_chosen,
                                                struct sv_error *err);

/* http_settings.written of a server with these routes. */
void api_written(void *ctx);

struct http_request;
/* Likewise explain_number: SV_ERR_NOT_FOUND with the address of what has the number, if the
 * caller's project has it. */
SV_MUST_CHECK enum sv_status api_explain_number(void *state, const struct http_request *req,
                                                const char *pattern, const char *number,
                                                struct sv_error *err);

#endif
