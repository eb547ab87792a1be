/* SPDX-License-Identifier: MIT
 *
 * The page: what a browser needs to show the service, compiled in. It holds no data; everything it
 * shows, it asks of the public API.
 */
#ifndef DASHBOARD_DASHBOARD_H
#define DASHBOARD_DASHBOARD_H

#include <stddef.h>

#include "server/http/server.h"

/* `GET /` and what lies below /page/. The handlers use no state. */
const struct http_route *dashboard_routes(size_t *out_count);

#endif
