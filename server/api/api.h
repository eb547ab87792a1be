/* SPDX-License-Identifier: MIT
 *
 * The resources of the service: the route table and what its handlers stand on. A handler decodes,
 * calls jobs or store, and encodes; it holds no SQL and no microhttpd.
 */
#ifndef API_API_H
#define API_API_H

#include <stddef.h>
#include <stdint.h>

struct cfg;
struct changes;
struct http_route;
struct store;

/* Made by app, immutable while the server runs, shared by all request threads. */
struct api_ctx {
    struct store *store;
    struct changes *changes;
    const struct cfg *config;
    const char *build; /* version and core build id, shown by /healthz */
};

/* Every route of the service. */
const struct http_route *api_routes(size_t *out_count);

#endif
