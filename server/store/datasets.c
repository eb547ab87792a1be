/* SPDX-License-Identifier: MIT
 *
 * What is special about data sets; the rest is in asset.c, asset_upload.c and imports.c.
 */
#include "server/store/datasets.h"

#include "server/store/asset_internal.h"

/* ---- creating ---- */

static void add_new(struct sql_params *params, const void *what)
{
    const struct store_dataset_new *dataset = what;
    sql_text(params, dataset->name);
    sql_text(params, dataset->kind);
    sql_text(params, dataset->layout);
    sql_text(params, dataset->options);
    sql_text(params, dataset->notes ? dataset->notes : "");
}

enum sv_status store_dataset_create(struct store *store, const struct store_scope *scope,
                                    const struct store_dataset_new *dataset,
                                    const struct store_idempotency *idempotency,
                                    struct store_created *out_created, struct sv_error *err)
{
    struct store_asset_new asset = {
        .asset = STORE_DATASET,
        .scope = scope,
        .idempotency = idempotency,
        .files = dataset->files,
        .n_files = dataset->n_files,
        .insert = "insert into dataset (id, project_id, created_by, name, kind, layout, options,"
                  " notes) values ($1, $2, $3, $4, $5, $6, $7, $8)",
        .add = add_new,
        .what = dataset};
    return store_asset_create(store, &asset, out_created, err);
}

/* ---- reading ---- */

#define COLUMNS                                                                                    \
    "r.number, r.id, r.name, r.kind, r.layout, r.notes, r.state, r.options, r.error_text, "        \
    "r.digest,"                                                                                    \
    " r.prepared_blob_id, r.height, r.width, r.channels, r.class_count, r.train_count,"            \
    " r.validation_count, r.test_count, r.progress, r.attempt, r.worker_id is not null,"           \
    " r.revision, r.created_by, rfc3339(r.created_at), rfc3339(r.updated_at),"                     \
    " rfc3339(r.finished_at)"

static void read_dataset(struct sql_reader *r, void *row)
{
    struct store_dataset *out = row;
    out->number = sql_read_int(r);
    sql_read_id(r, out->id);
    out->name = sql_read_text(r);
    out->kind = sql_read_text(r);
    out->layout = sql_read_text(r);
    out->notes = sql_read_text(r);
    out->state = sql_read_text(r);
    out->options = sql_read_text(r);
    out->error_text = sql_read_text(r);
    sql_read_digest(r, out->digest);
    sql_read_id(r, out->prepared_blob_id);
    out->height = sql_read_int(r);
    out->width = sql_read_int(r);
    out->channels = sql_read_int(r);
    out->class_count = sql_read_int(r);
    out->train_count = sql_read_int(r);
    out->validation_count = sql_read_int(r);
    out->test_count = sql_read_int(r);
    out->progress = sql_read_real(r);
    out->attempt = sql_read_int(r);
    out->importing = sql_read_bool(r);
    out->revision = sql_read_int(r);
    out->created_by = sql_read_text(r);
    sql_read_time(r, out->created_at);
    sql_read_time(r, out->updated_at);
    sql_read_time(r, out->finished_at);
}

static void read_whole(struct sql_reader *r, void *row)
{
    struct store_dataset *out = row;
    read_dataset(r, row);
    out->report = sql_read_text(r);
}

static const struct store_order ORDERS[] = {
    [STORE_DATASETS_NEWEST] = {"r.number < $3", "r.number desc", "null"},
    [STORE_DATASETS_OLDEST] = {"r.number > $3", "r.number", "null"},
    [STORE_DATASETS_BY_NAME] = {"(r.name, r.number) > ($4, $3)", "r.name, r.number", "r.name"},
};

static const struct store_resource DATASETS = {
    .what = "data set",
    .table = "dataset",
    .columns = COLUMNS,
    .joins = "",
    .where = "r.project_id = $1 and ($5::text is null or r.state = $5) and"
             " ($6::text is null or r.kind = $6) and ($7::text is null or r.name ilike $7)",
    .orders = ORDERS,
    .row = {sizeof(struct store_dataset), read_dataset},
    .more = ", r.report",
    .read_one = read_whole,
};

enum sv_status store_dataset_get(struct store *store, const struct store_scope *scope,
                                 const char *id, struct store_memory *memory,
                                 struct store_dataset *out_dataset, struct sv_error *err)
{
    struct store_dataset dataset;
    struct store_rows files;
    enum sv_status st = store_one_read(store, &DATASETS, scope, id, memory, &dataset, err);
    if (st == SV_OK) {
        st = store_asset_files(store, STORE_DATASET, id, memory, &files, err);
    }
    if (st == SV_OK) {
        dataset.files = files.rows;
        dataset.n_files = files.n;
        *out_dataset = dataset;
    }
    return st;
}

enum sv_status store_datasets_list(struct store *store, const struct store_scope *scope,
                                   const struct store_dataset_filter *filter,
                                   const struct store_page *page, struct store_memory *memory,
                                   struct store_dataset_list *out_list, struct sv_error *err)
{
    const char *const filters[] = {filter->state, filter->kind,
                                   store_search_pattern(memory, filter->search)};
    struct store_listing listing = {scope, page, (int)filter->sort, STORE_FILTERS(filters)};
    struct store_rows found;
    enum sv_status st = store_list_read(store, &DATASETS, &listing, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_dataset_list){found.rows, found.n, found.next};
    }
    return st;
}

/* ---- the end of its import ---- */

static void add_ready(struct sql_params *params, const void *what)
{
    const struct store_dataset_ready *ready = what;
    sql_text(params, ready->report);
    sql_text(params, ready->digest);
    sql_text(params, ready->prepared_blob_id);
    const int64_t numbers[] = {ready->height,      ready->width,       ready->channels,
                               ready->class_count, ready->train_count, ready->validation_count,
                               ready->test_count};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sql_int(params, numbers[i]);
    }
}

enum sv_status store_dataset_ready(struct store *store, const struct store_import_claim *claim,
                                   const struct store_dataset_ready *result, struct sv_error *err)
{
    struct store_import_end end = {
        .claim = claim,
        .set = "state = 'ready', finished_at = clock_timestamp(), progress = 1, report = $4,"
               " digest = decode($5, 'hex'), prepared_blob_id = $6, height = $7, width = $8,"
               " channels = $9, class_count = $10, train_count = $11, validation_count = $12,"
               " test_count = $13",
        .what = "ready",
        .add = add_ready,
        .row = result};
    return store_import_conclude(store, &end, err);
}
