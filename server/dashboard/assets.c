/* SPDX-License-Identifier: MIT
 *
 * Serves the assets from memory: whole, or 304 when the browser has them. They are the same until
 * the program is another, but the address stays, so a browser asks each time.
 */
#include <stdlib.h>
#include <string.h>

#include "server/dashboard/assets_internal.h"
#include "server/dashboard/dashboard.h"
#include "server/http/http.h"

/* Nothing from elsewhere, nothing inline; pictures of the API come as blobs because they may need a
 * token, and no other site may frame the page. */
static const char POLICY[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static int compare_path(const void *path, const void *asset)
{
    return strcmp(path, ((const struct dashboard_asset *)asset)->path);
}

const struct dashboard_asset *dashboard_asset_find(const char *path)
{
    return bsearch(path, dashboard_assets, dashboard_asset_count, sizeof dashboard_assets[0],
                   compare_path);
}

static void send_form(const struct http_request *req, struct http_response *resp,
                      const struct dashboard_asset *asset)
{
    bool packed = http_accepts_coding(req, "gzip");
    const struct dashboard_form *form = packed ? &asset->gzip : &asset->plain;
    if (http_if_none_match(req, form->etag)) {
        http_response_not_modified(resp, form->etag);
    } else {
        http_response_static(resp, 200, asset->type, form->bytes, form->size);
        http_response_etag(resp, form->etag);
        if (packed) {
            http_response_header(resp, "Content-Encoding", "gzip");
        }
    }
    http_response_header(resp, "Vary", "Accept-Encoding");
    http_response_header(resp, "Cache-Control", "no-cache");
    http_response_header(resp, "Content-Security-Policy", POLICY);
    http_response_header(resp, "Referrer-Policy", "no-referrer");
}

/* GET / and /page/...: 404; 400 for any parameter. */
static enum sv_status asset_get(void *state, const struct http_request *req,
                                struct http_response *out_resp, struct sv_error *err)
{
    (void)state;
    const struct dashboard_asset *asset = dashboard_asset_find(req->path);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    if (!asset) {
        return sv_fail(err, SV_ERR_NOT_FOUND, "the page has no such part");
    }
    send_form(req, out_resp, asset);
    return SV_OK;
}

/* On an I/O thread: everything is in memory. */
static bool asset_recall(void *ctx, const struct http_request *req, struct http_response *out_resp)
{
    struct sv_error err = {0};
    return asset_get(ctx, req, out_resp, &err) == SV_OK;
}

#define ASSET(pattern_, types_)                                                                    \
    {                                                                                              \
        .method = "GET", .pattern = (pattern_), .handler = asset_get, .role = HTTP_ROLE_PUBLIC,    \
        .produces = (types_), .recall = asset_recall                                               \
    }

static const char TYPES[] = "text/javascript, text/css, image/svg+xml";

/* A row a depth of folders: a name in a pattern is one segment. */
static const struct http_route ROUTES[] = {
    ASSET("/", "text/html"),
    ASSET("/page/{name}", TYPES),
    ASSET("/page/{folder}/{name}", TYPES),
    ASSET("/page/{folder}/{subfolder}/{name}", TYPES),
};

const struct http_route *dashboard_routes(size_t *out_count)
{
    *out_count = sizeof ROUTES / sizeof ROUTES[0];
    return ROUTES;
}
