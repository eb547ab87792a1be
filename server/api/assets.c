/* SPDX-License-Identifier: MIT
 *
 * Assets: editing, deleting, and sending of stored content.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/assets_internal.h"
#include "server/api/handlers_internal.h"
#include "server/jobs/jobs.h"

/* ------------------------------------------------------------------------------------- changing */

const struct jx_field api_naming_fields[] = {
    {.name = "name",
     .type = JX_STRING,
     .offset = offsetof(struct api_naming, name),
     .min = 1,
     .max = JOBS_NAME_MAX,
     .doc = "unique in the project"},
    {.name = "notes",
     .type = JX_STRING,
     .offset = offsetof(struct api_naming, notes),
     .max = JOBS_NOTES_MAX,
     .doc = "remarks"},
    JX_END,
};

enum sv_status api_naming_decode(const struct http_request *req, struct api_naming *out_naming,
                                 struct sv_error *err)
{
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = api_decode_patch(api_naming_fields, req->json, out_naming, err);
    }
    if (st == SV_OK && out_naming->name) {
        st = api_check_line(out_naming->name, "/name", err);
    }
    return st;
}

enum sv_status api_asset_patch(struct api_ctx *ctx, const struct http_request *req,
                               struct http_response *resp, enum store_asset asset, api_seen_fn read,
                               struct sv_error *err)
{
    struct api_naming body = {0};
    struct store_scope scope;
    const char *id = http_path(req, "id");
    api_scope(req, &scope);
    enum sv_status st = api_naming_decode(req, &body, err);
    if (st == SV_OK) {
        st = store_asset_patch(ctx->store, &scope, asset, id, body.name, body.notes, err);
    }
    return st == SV_OK ? api_show_changed_take(ctx, req, resp, 200, id, read, NULL, NULL, err) : st;
}

enum sv_status api_asset_delete(struct api_ctx *ctx, const struct http_request *req,
                                struct http_response *resp, enum store_asset asset,
                                struct sv_error *err)
{
    struct store_scope scope;
    api_scope(req, &scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = store_asset_delete(ctx->store, &scope, asset, http_path(req, "id"), err);
    }
    if (st == SV_OK) {
        http_response_empty(resp, 204);
    }
    return st;
}

/* -------------------------------------------------------------------------------------- content */

/* A blob that is being sent. */
struct sending {
    struct store *store;
    char project_id[SV_ID_SIZE], blob_id[SV_ID_SIZE];
};

static enum sv_status send_piece(void *ctx, void *state, uint64_t offset, char *buffer, size_t size,
                                 size_t *out_count, struct sv_error *err)
{
    const struct sending *sending = ctx;
    (void)state;
    return store_blob_read(sending->store, sending->project_id, sending->blob_id, (int64_t)offset,
                           buffer, size, out_count, err);
}

enum sv_status api_blob_send(struct api_ctx *ctx, const struct http_request *req,
                             struct http_response *resp, const struct store_scope *scope,
                             const struct store_blob *blob, const char *filename,
                             struct sv_error *err)
{
    char etag[80];
    (void)snprintf(etag, sizeof etag, "\"%s\"", blob->sha256);
    if (http_if_none_match(req, etag)) {
        http_response_not_modified(resp, etag);
        return SV_OK;
    }
    struct sending *sending = calloc(1, sizeof *sending);
    if (!sending) {
        return api_no_memory(err);
    }
    sending->store = ctx->store;
    memcpy(sending->project_id, scope->project_id, sizeof sending->project_id);
    memcpy(sending->blob_id, blob->id, sizeof sending->blob_id);
    http_response_filename(resp, filename);
    http_response_etag(resp, etag);
    http_response_read_take(resp, "application/octet-stream", (uint64_t)blob->size, send_piece,
                            free, sending);
    return SV_OK;
}
