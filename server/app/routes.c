/* SPDX-License-Identifier: MIT
 *
 * What one address serves: the page and the API, as one table.
 */
#include <stdlib.h>
#include <string.h>

#include "server/api/api.h"
#include "server/app/app_internal.h"
#include "server/dashboard/dashboard.h"

struct http_route *app_routes_create(size_t *out_count)
{
    size_t n_page = 0, n_api = 0;
    const struct http_route *page = dashboard_routes(&n_page);
    const struct http_route *api = api_routes(&n_api);
    struct http_route *all = calloc(n_page + n_api, sizeof *all);
    if (all) {
        memcpy(all, page, n_page * sizeof *all);
        memcpy(all + n_page, api, n_api * sizeof *all);
        *out_count = n_page + n_api;
    }
    return all;
}
