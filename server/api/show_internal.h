/* SPDX-License-Identifier: MIT
 *
 * One list handler and one handler that shows a row, for every resource. A resource brings tables
 * and two functions: how the store reads it and how it is written as JSON.
 */
#ifndef API_SHOW_INTERNAL_H
#define API_SHOW_INTERNAL_H

#include "server/api/answer_internal.h"

/* ------------------------------------------------------------------------------------- one */

/* A resource as it was read. */
struct api_seen {
    char subject[SV_ID_SIZE]; /* whose revision this is: itself, or the job it lies below */
    int64_t revision;         /* 0: it has none, and no ETag */
    json_t *json;
};
/* Reads the whole resource: the json is new. SV_ERR_NOT_FOUND. */
typedef enum sv_status (*api_seen_fn)(struct api_ctx *ctx, const struct http_request *req,
                                      const char *id, struct api_seen *out_seen,
                                      struct sv_error *err);
/* Fills it; json is transferred, NULL is out of memory. */
SV_MUST_CHECK enum sv_status api_seen(const char *subject, int64_t revision, json_t *json,
                                      struct api_seen *out_seen, struct sv_error *err);
/* GET of the resource {id} of the path: takes `wait`, polls its revision. */
SV_MUST_CHECK enum sv_status api_show(struct api_ctx *ctx, const struct http_request *req,
                                      struct http_response *resp, api_seen_fn read,
                                      struct sv_error *err);
/* The resource with its ETag as the answer to a change of it; extra (NULL: none, else transferred)
 * becomes its member `name`. */
SV_MUST_CHECK enum sv_status
api_show_changed_take(struct api_ctx *ctx, const struct http_request *req,
                      struct http_response *resp, int status, const char *id, api_seen_fn read,
                      const char *name, json_t *extra, struct sv_error *err);
/* 201 with Location below `path` and whether the answer is a repeated one. */
SV_MUST_CHECK enum sv_status api_show_created(struct api_ctx *ctx, const struct http_request *req,
                                              struct http_response *resp, const char *path,
                                              const struct store_created *created, api_seen_fn read,
                                              struct sv_error *err);

/* ------------------------------------------------------------------------------------- lists */

/* First member of the query struct of every list. */
struct api_list_query {
    int64_t limit, wait;
    const char *cursor;
    struct http_list fields;
};
#define API_LIST_DEFAULTS                                                                          \
    {                                                                                              \
        .limit = HTTP_LIMIT_DEFAULT                                                                \
    }
/* Rows of its table; names is the NULL-terminated list of members that may be picked. */
#define API_LIST_ROWS(names)                                                                       \
    HTTP_PARAM_ROW_LIMIT(struct api_list_query, limit),                                            \
        HTTP_PARAM_ROW_CURSOR(struct api_list_query, cursor),                                      \
    {                                                                                              \
        "fields", HTTP_PARAM_LIST, offsetof(struct api_list_query, fields), 0, 64, (names)         \
    }
/* Lists that can be waited for have this one too. */
#define API_LIST_ROW_WAIT HTTP_PARAM_ROW_WAIT(struct api_list_query, wait)

/* The name of a choice that was made; NULL for -1. */
const char *api_choice(const char *const *names, int choice);

/* One page as the store gave it: rows stay in the request's memory. */
struct api_rows {
    const void *rows;
    size_t n;
    const char *next;
};
struct api_list_kind {
    const struct http_param *params;
    size_t n_params;
    /* What the table cannot say of the query; NULL: nothing. */
    enum sv_status (*check)(const void *query, struct sv_error *err);
    enum sv_status (*read)(struct api_ctx *ctx, const struct http_request *req, const void *query,
                           const struct store_page *page, struct store_memory *memory,
                           struct api_rows *out_rows, struct sv_error *err);
    size_t row_size;
    /* What a list shows of a row (in_list), or all of it. */
    json_t *(*encode)(const void *row, bool in_list);
    /* Offsets of a row's char id[SV_ID_SIZE] and int64_t revision, for the ETag; both 0: the list
     * has none. */
    size_t id, revision;
};
/* GET of a list. query holds the defaults. */
SV_MUST_CHECK enum sv_status api_list(struct api_ctx *ctx, const struct http_request *req,
                                      struct http_response *resp, const struct api_list_kind *kind,
                                      struct api_list_query *query, struct sv_error *err);
/* GET of a list below the job {id} of the path: its ETag is the job's revision. */
SV_MUST_CHECK enum sv_status api_list_below(struct api_ctx *ctx, const struct http_request *req,
                                            struct http_response *resp,
                                            const struct api_list_kind *kind,
                                            struct api_list_query *query, struct sv_error *err);

#endif
