/* SPDX-License-Identifier: MIT
 *
 * What is special about weights; the rest is in asset.c, asset_upload.c and imports.c.
 */
#include "server/store/weights.h"

#include "server/store/asset_internal.h"

/* ---- creating ---- */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void add_new(struct sql_params *params, const void *what)
{
    const struct store_weights_new *weights = what;
    sql_text(params, weights->name);
    sql_text(params, or_empty(weights->notes));
    sql_text(params, or_empty(weights->origin));
    sql_text(params, or_empty(weights->url));
    sql_text(params, or_empty(weights->licence));
    sql_text(params, weights->preprocessing);
}

enum sv_status store_weights_create(struct store *store, const struct store_scope *scope,
                                    const struct store_weights_new *weights,
                                    const struct store_idempotency *idempotency,
                                    struct store_created *out_created, struct sv_error *err)
{
    struct store_asset_new asset = {
        .asset = STORE_WEIGHTS,
        .scope = scope,
        .idempotency = idempotency,
        .files = weights->files,
        .n_files = weights->n_files,
        .insert = "insert into weights (id, project_id, created_by, name, notes, origin, url,"
                  " licence, preprocessing) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        .add = add_new,
        .what = weights};
    return store_asset_create(store, &asset, out_created, err);
}

/* ---- reading ---- */

#define COLUMNS                                                                                    \
    "r.number, r.id, r.name, r.notes, r.origin, r.url, r.licence, r.preprocessing, r.state,"       \
    " r.error_text, r.format, r.digest, b.id, b.sha256, b.size, r.tensor_count, r.element_count,"  \
    " r.progress, r.worker_id is not null, r.revision, r.created_by, rfc3339(r.created_at),"       \
    " rfc3339(r.updated_at), rfc3339(r.finished_at)"

static void read_weights(struct sql_reader *r, void *row)
{
    struct store_weights *out = row;
    out->number = sql_read_int(r);
    sql_read_id(r, out->id);
    out->name = sql_read_text(r);
    out->notes = sql_read_text(r);
    out->origin = sql_read_text(r);
    out->url = sql_read_text(r);
    out->licence = sql_read_text(r);
    out->preprocessing = sql_read_text(r);
    out->state = sql_read_text(r);
    out->error_text = sql_read_text(r);
    out->format = sql_read_text(r);
    sql_read_digest(r, out->digest);
    sql_read_id(r, out->content.id);
    sql_read_digest(r, out->content.sha256);
    out->content.size = sql_read_int(r);
    out->tensor_count = sql_read_int(r);
    out->element_count = sql_read_int(r);
    out->progress = sql_read_real(r);
    out->importing = sql_read_bool(r);
    out->revision = sql_read_int(r);
    out->created_by = sql_read_text(r);
    sql_read_time(r, out->created_at);
    sql_read_time(r, out->updated_at);
    sql_read_time(r, out->finished_at);
}

static void read_whole(struct sql_reader *r, void *row)
{
    struct store_weights *out = row;
    read_weights(r, row);
    out->report = sql_read_text(r);
    out->tensors = sql_read_text(r);
}

static const struct store_order ORDERS[] = {
    [STORE_WEIGHTS_NEWEST] = {"r.number < $3", "r.number desc", "null"},
    [STORE_WEIGHTS_OLDEST] = {"r.number > $3", "r.number", "null"},
    [STORE_WEIGHTS_BY_NAME] = {"(r.name, r.number) > ($4, $3)", "r.name, r.number", "r.name"},
};

static const struct store_resource WEIGHTS = {
    .what = "weights",
    .table = "weights",
    .columns = COLUMNS,
    .joins = " left join blob b on b.id = r.content_blob_id",
    .where = "r.project_id = $1 and ($5::text is null or r.state = $5) and"
             " ($6::text is null or r.name ilike $6)",
    .orders = ORDERS,
    .row = {sizeof(struct store_weights), read_weights},
    .more = ", r.report, r.tensors",
    .read_one = read_whole,
};

enum sv_status store_weights_get(struct store *store, const struct store_scope *scope,
                                 const char *id, struct store_memory *memory,
                                 struct store_weights *out_weights, struct sv_error *err)
{
    struct store_weights weights;
    struct store_rows files;
    enum sv_status st = store_one_read(store, &WEIGHTS, scope, id, memory, &weights, err);
    if (st == SV_OK) {
        st = store_asset_files(store, STORE_WEIGHTS, id, memory, &files, err);
    }
    if (st == SV_OK) {
        weights.files = files.rows;
        weights.n_files = files.n;
        *out_weights = weights;
    }
    return st;
}

enum sv_status store_weights_list(struct store *store, const struct store_scope *scope,
                                  const struct store_weights_filter *filter,
                                  const struct store_page *page, struct store_memory *memory,
                                  struct store_weights_list *out_list, struct sv_error *err)
{
    const char *const filters[] = {filter->state, store_search_pattern(memory, filter->search)};
    struct store_listing listing = {scope, page, (int)filter->sort, STORE_FILTERS(filters)};
    struct store_rows found;
    enum sv_status st = store_list_read(store, &WEIGHTS, &listing, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_weights_list){found.rows, found.n, found.next};
    }
    return st;
}

/* ---- the end of their import ---- */

static void add_ready(struct sql_params *params, const void *what)
{
    const struct store_weights_ready *ready = what;
    sql_text(params, ready->report);
    sql_text(params, ready->tensors);
    sql_text(params, ready->format);
    sql_text(params, ready->content->sha256);
    sql_text(params, ready->content->id);
    sql_int(params, ready->tensor_count);
    sql_int(params, ready->element_count);
}

enum sv_status store_weights_ready(struct store *store, const struct store_import_claim *claim,
                                   const struct store_weights_ready *result, struct sv_error *err)
{
    struct store_import_end end = {
        .claim = claim,
        .set = "state = 'ready', finished_at = clock_timestamp(), progress = 1, report = $4,"
               " tensors = $5, format = $6, digest = decode($7, 'hex'), content_blob_id = $8,"
               " tensor_count = $9, element_count = $10",
        .what = "ready",
        .add = add_ready,
        .row = result};
    return store_import_conclude(store, &end, err);
}
