/* SPDX-License-Identifier: MIT
 *
 * The resources of the service: the route table and what its handlers stand on. A handler decodes,
 * calls jobs or store, and encodes; it holds no SQL and no microhttpd.
 */
#ifndef API_API_H
#define API_API_H

#include <stddef.h>
#include <stdint.h>

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

/* Every route of the service. Its handlers take a struct api_ctx as state. */
const struct http_route *api_routes(size_t *out_count);

#endif
