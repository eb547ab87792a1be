/* SPDX-License-Identifier: MIT
 *
 * PUT .../{id}/files/{name} of an asset: the bytes of a declared file, whole or piece by piece. The
 * offset of a piece must be where the server stands; a 409 says where that is.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/api/assets_internal.h"
#include "server/api/handlers_internal.h"

enum { PIECE = 1 << 20 };

/* Reads up to size bytes; fewer only at the end of the file. -1 on failure. */
static ssize_t read_full(int fd, char *buffer, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, buffer + done, size - done);
        if (n < 0) {
            return -1;
        }
        if (n == 0) {
            break;
        }
        done += (size_t)n;
    }
    return (ssize_t)done;
}

enum sv_status api_upload_fd(struct api_ctx *ctx, const struct store_scope *scope,
                             const struct api_upload *upload, int64_t *out_received,
                             struct sv_error *err)
{
    enum sv_status st = SV_OK;
    int64_t offset = upload->offset, left = upload->size;
    char *buffer = malloc(PIECE);
    if (!buffer) {
        return api_no_memory(err);
    }
    do {
        size_t want = left < PIECE ? (size_t)left : PIECE;
        if (read_full(upload->fd, buffer, want) != (ssize_t)want) {
            st = sv_fail(err, SV_ERR_INTERNAL, "the file changed while it was read");
            break;
        }
        left -= (int64_t)want;
        struct store_upload piece = {.asset = upload->asset,
                                     .id = upload->id,
                                     .file = upload->file,
                                     .offset = offset,
                                     .data = buffer,
                                     .size = want,
                                     .final = upload->final && left == 0};
        st = store_asset_upload(ctx->store, scope, &piece, out_received, err);
        offset += (int64_t)want;
    } while (st == SV_OK && left > 0);
    free(buffer);
    return st;
}

/* ------------------------------------------------------------------------------------------ PUT */

struct put_query {
    int64_t offset;
    int final; /* -1: not given */
};

static const char *const BOOLS[] = {"false", "true", NULL};
static const struct http_param PUT_PARAMS[] = {
    {"offset", HTTP_PARAM_INT, offsetof(struct put_query, offset), 0, INT64_C(1) << 40, NULL},
    {"final", HTTP_PARAM_CHOICE, offsetof(struct put_query, final), 0, 0, BOOLS},
};

/* The declared file as it stands, or 404. Strings are good until memory is cleared. */
static enum sv_status find_file(struct api_ctx *ctx, const struct http_request *req,
                                enum store_asset asset, struct store_memory *memory,
                                struct store_asset_file *out_file, struct sv_error *err)
{
    struct store_scope scope;
    api_scope(req, &scope);
    return store_asset_file_get(ctx->store, &scope, asset, http_path(req, "id"),
                                http_path(req, "name"), memory, out_file, err);
}

static enum sv_status wrong_offset(struct http_response *resp, int64_t received,
                                   struct sv_error *err)
{
    http_response_extra_take(resp, "received", json_integer(received));
    return sv_fail_parameter(err, SV_ERR_RANGE, "offset", "the next byte expected is number %lld",
                             (long long)received);
}

/* Before the body: refuse what cannot be taken, so that gigabytes are not sent in vain. */
static enum sv_status before_file(struct api_ctx *ctx, const struct http_request *req,
                                  struct http_response *resp, enum store_asset asset,
                                  struct sv_error *err)
{
    struct put_query query = {.final = -1};
    struct store_memory memory = {0};
    struct store_asset_file found;
    enum sv_status st = http_query_decode(req, PUT_PARAMS, API_COUNT(PUT_PARAMS), &query, err);
    if (st == SV_OK) {
        st = find_file(ctx, req, asset, &memory, &found, err);
    }
    if (st == SV_OK && found.file.complete) {
        st = sv_fail(err, SV_ERR_WRONG_STATE, "the file is complete");
    }
    if (st == SV_OK && found.file.received_size != query.offset) {
        st = wrong_offset(resp, found.file.received_size, err);
    }
    store_memory_clear(&memory);
    return st;
}

static enum sv_status answer(struct api_ctx *ctx, const struct http_request *req,
                             struct http_response *resp, enum store_asset asset,
                             struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_asset_file found;
    enum sv_status st = find_file(ctx, req, asset, &memory, &found, err);
    if (st == SV_OK) {
        bool all = strcmp(found.state, "uploading") != 0;
        st = http_response_json_take(resp, all ? 202 : 200,
                                     json_pack("{s:s, s:I, s:b, s:s}", "name", found.file.name,
                                               "received", (json_int_t)found.file.received_size,
                                               "complete", found.file.complete ? 1 : 0, "state",
                                               found.state));
    }
    store_memory_clear(&memory);
    return st;
}

static enum sv_status put_file(struct api_ctx *ctx, const struct http_request *req,
                               struct http_response *resp, enum store_asset asset,
                               struct sv_error *err)
{
    struct put_query query = {.final = -1};
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_asset_file found;
    int64_t received = 0;
    enum sv_status st = http_query_decode(req, PUT_PARAMS, API_COUNT(PUT_PARAMS), &query, err);
    if (st == SV_OK) {
        st = find_file(ctx, req, asset, &memory, &found, err);
    }
    if (st == SV_OK) {
        bool open_end = found.file.declared_size < 0;
        struct api_upload upload = {.asset = asset,
                                    .id = http_path(req, "id"),
                                    .file = found.file.name,
                                    .fd = req->body_fd,
                                    .offset = query.offset,
                                    .size = (int64_t)req->body_size,
                                    .final = query.final < 0 ? open_end : query.final == 1};
        api_scope(req, &scope);
        st = api_upload_fd(ctx, &scope, &upload, &received, err);
    }
    store_memory_clear(&memory);
    if (st == SV_ERR_RANGE) {
        return wrong_offset(resp, received, err);
    }
    return st == SV_OK ? answer(ctx, req, resp, asset, err) : st;
}

/* PUT .../{id}/files/{name}: 200, 202 when it was the last one and the check begins; 404; 409
 * offset or state; 413; 415; 422 size or digest differ. */
#define FILE_HANDLERS(name, asset)                                                                 \
    enum sv_status api_##name##_before_file(void *state, const struct http_request *req,           \
                                            struct http_response *out_resp, struct sv_error *err)  \
    {                                                                                              \
        return before_file(state, req, out_resp, asset, err);                                      \
    }                                                                                              \
    enum sv_status api_##name##_put_file(void *state, const struct http_request *req,              \
                                         struct http_response *out_resp, struct sv_error *err)     \
    {                                                                                              \
        return put_file(state, req, out_resp, asset, err);                                         \
    }
FILE_HANDLERS(datasets, STORE_DATASET)
FILE_HANDLERS(weights, STORE_WEIGHTS)
