/* SPDX-License-Identifier: MIT
 *
 * Lists and single rows of any resource.
 */
#include "server/api/show_internal.h"

#include <string.h>

#include "server/store/events.h"

/* ------------------------------------------------------------------------------------- one */

enum sv_status api_seen(const char *subject, int64_t revision, json_t *json,
                        struct api_seen *out_seen, struct sv_error *err)
{
    if (!json) {
        return api_no_memory(err);
    }
    memcpy(out_seen->subject, subject, sizeof out_seen->subject);
    out_seen->revision = revision;
    out_seen->json = json;
    return SV_OK;
}

struct show_query {
    int64_t wait;
};
static const struct http_param SHOW_PARAMS[] = {HTTP_PARAM_ROW_WAIT(struct show_query, wait)};

enum sv_status api_show(struct api_ctx *ctx, const struct http_request *req,
                        struct http_response *resp, api_seen_fn read, struct sv_error *err)
{
    struct show_query query = {0};
    struct api_poll poll;
    struct api_seen seen;
    bool done = false;
    const char *id = http_path(req, "id");
    enum sv_status st = http_query_decode(req, SHOW_PARAMS, API_COUNT(SHOW_PARAMS), &query, err);
    if (st == SV_OK) {
        st = api_poll_begin(ctx, req, resp, id, query.wait, &poll, &done, err);
    }
    if (st != SV_OK || done) {
        return st;
    }
    st = read(ctx, req, id, &seen, err);
    return st == SV_OK ? api_poll_end_take(ctx, req, resp, &poll, seen.subject, seen.revision,
                                           seen.json, err)
                       : st;
}

enum sv_status api_show_changed_take(struct api_ctx *ctx, const struct http_request *req,
                                     struct http_response *resp, int status, const char *id,
                                     api_seen_fn read, const char *name, json_t *extra,
                                     struct sv_error *err)
{
    struct api_seen seen;
    enum sv_status st = read(ctx, req, id, &seen, err);
    if (st != SV_OK) {
        json_decref(extra);
        return st;
    }
    if (extra && json_object_set_new(seen.json, name, extra) != 0) {
        json_decref(seen.json);
        return api_no_memory(err);
    }
    if (seen.revision > 0) {
        char etag[HTTP_ETAG_SIZE];
        http_etag(req, seen.revision, etag);
        http_response_etag(resp, etag);
    }
    return http_response_json_take(resp, status, seen.json);
}

enum sv_status api_show_created(struct api_ctx *ctx, const struct http_request *req,
                                struct http_response *resp, const char *path,
                                const struct store_created *created, api_seen_fn read,
                                struct sv_error *err)
{
    api_replayed(resp, created);
    http_response_location(resp, "%s/%s", path, created->id);
    return api_show_changed_take(ctx, req, resp, 201, created->id, read, NULL, NULL, err);
}

/* ------------------------------------------------------------------------------------- lists */

const char *api_choice(const char *const *names, int choice)
{
    return choice < 0 ? NULL : names[choice];
}

static enum sv_status open_list(const struct http_request *req, const struct api_list_kind *kind,
                                struct api_list_query *query, struct api_page *out_page,
                                struct sv_error *err)
{
    struct api_params params = {kind->params, kind->n_params, query};
    enum sv_status st = http_query_decode(req, kind->params, kind->n_params, query, err);
    if (st == SV_OK && kind->check) {
        st = kind->check(query, err);
    }
    return st == SV_OK ? api_page_open(req, &params, query->limit, query->cursor, out_page, err)
                       : st;
}

static bool has_etag(const struct api_list_kind *kind)
{
    return kind->id != kind->revision;
}

static void add_pair(const struct api_list_kind *kind, const char *row, struct api_list_poll *poll)
{
    int64_t revision;
    memcpy(&revision, row + kind->revision, sizeof revision);
    api_list_pair(poll, row + kind->id, revision);
}

/* poll NULL: no ETag of pairs. *out_json NULL: out of memory. */
static enum sv_status read_page(struct api_ctx *ctx, const struct http_request *req,
                                const struct api_list_kind *kind,
                                const struct api_list_query *query, const struct api_page *page,
                                struct api_list_poll *poll, json_t **out_json, struct sv_error *err)
{
    struct store_memory memory = {0};
    struct api_rows found;
    enum sv_status st = kind->read(ctx, req, query, &page->store, &memory, &found, err);
    if (st == SV_OK) {
        json_t *rows = json_array();
        for (size_t i = 0; rows && i < found.n; i++) {
            const char *row = (const char *)found.rows + i * kind->row_size;
            if (poll) {
                add_pair(kind, row, poll);
            }
            rows = api_append_take(rows, kind->encode(row, true));
        }
        *out_json = api_list_take(api_picked_take(rows, &query->fields),
                                  api_page_next(req, page, found.next));
    }
    store_memory_clear(&memory);
    return st;
}

enum sv_status api_list(struct api_ctx *ctx, const struct http_request *req,
                        struct http_response *resp, const struct api_list_kind *kind,
                        struct api_list_query *query, struct sv_error *err)
{
    struct api_list_poll poll;
    struct api_page page;
    json_t *json;
    bool done = false;
    enum sv_status st = open_list(req, kind, query, &page, err);
    if (st == SV_OK && has_etag(kind)) {
        st = api_list_begin(ctx, req, resp, query->wait, &poll, &done, err);
    }
    if (st != SV_OK || done) {
        return st;
    }
    st = read_page(ctx, req, kind, query, &page, has_etag(kind) ? &poll : NULL, &json, err);
    if (st != SV_OK) {
        return st;
    }
    return has_etag(kind) ? api_list_end_take(ctx, req, resp, &poll, json, err)
                          : http_response_json_take(resp, 200, json);
}

enum sv_status api_list_below(struct api_ctx *ctx, const struct http_request *req,
                              struct http_response *resp, const struct api_list_kind *kind,
                              struct api_list_query *query, struct sv_error *err)
{
    struct store_scope scope;
    struct api_poll poll;
    struct api_page page;
    int64_t revision;
    json_t *json;
    bool done = false;
    const char *id = http_path(req, "id");
    enum sv_status st = open_list(req, kind, query, &page, err);
    if (st == SV_OK) {
        st = api_poll_begin(ctx, req, resp, id, query->wait, &poll, &done, err);
    }
    if (st != SV_OK || done) {
        return st;
    }
    /* First the revision, so that the ETag is never newer than the rows. */
    api_scope(req, &scope);
    st = store_revision_get(ctx->store, &scope, STORE_SUBJECT_JOB, id, &revision, err);
    if (st == SV_OK) {
        st = read_page(ctx, req, kind, query, &page, NULL, &json, err);
    }
    return st == SV_OK ? api_poll_end_take(ctx, req, resp, &poll, id, revision, json, err) : st;
}
