/* SPDX-License-Identifier: MIT
 *
 * Data sets as people see them: declared, shown, listed, renamed, deleted. Uploads are in
 * dataset_upload.c, the import task in imports.c.
 */
#include "server/store/datasets.h"

#include "server/store/list_internal.h"
#include "server/store/touch_internal.h"

enum { FILES_MAX = 64 };

/* ---- creating ---- */

struct create {
    const struct store_scope *scope;
    const struct store_dataset_new *dataset;
    const struct store_idempotency *idempotency;
    char id[SV_ID_SIZE];
    char blob_ids[FILES_MAX][SV_ID_SIZE];
    struct store_created created;
};

static enum sv_status insert_dataset(struct store_conn *conn, const struct create *create,
                                     struct sv_error *err)
{
    const struct store_dataset_new *dataset = create->dataset;
    struct sql_params params = {0};
    sql_text(&params, create->id);
    sql_text(&params, create->scope->project_id);
    sql_text(&params, dataset->name);
    sql_text(&params, dataset->kind);
    sql_text(&params, dataset->layout);
    sql_text(&params, dataset->options);
    sql_text(&params, dataset->notes ? dataset->notes : "");
    sql_text(&params, create->scope->actor);
    enum sv_status st = sql_run(conn,
                                "insert into dataset (id, project_id, name, kind, layout, options,"
                                " notes, created_by) values ($1, $2, $3, $4, $5, $6, $7, $8)",
                                &params, NULL, err);
    if (st == SV_ERR_CONFLICT) {
        return sv_fail_at(err, SV_ERR_CONFLICT, "/name", "a data set of this name exists already");
    }
    return st;
}

static enum sv_status insert_file(struct store_conn *conn, const struct create *create, size_t i,
                                  struct sv_error *err)
{
    const struct store_dataset_file *file = &create->dataset->files[i];
    struct sql_params params = {0};
    sql_text(&params, create->id);
    sql_text(&params, file->name);
    sql_int(&params, (int64_t)i);
    sql_text(&params, create->scope->project_id);
    sql_text(&params, create->blob_ids[i]);
    sql_int(&params, file->declared_size);
    sql_text_or_null(&params, file->sha256);
    enum sv_status st =
        sql_run(conn,
                "with b as (insert into blob (id, project_id) values ($5, $4))"
                " insert into dataset_file (dataset_id, name, n, project_id, blob_id,"
                " declared_size, declared_sha256) values ($1, $2, $3, $4, $5,"
                " nullif($6::bigint, -1), decode($7, 'hex'))",
                &params, NULL, err);
    if (st == SV_ERR_CONFLICT) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/files", "two files have the same name");
    }
    return st;
}

static enum sv_status create_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct create *create = ctx;
    bool done = false;
    struct store_creation creation = {.project_id = create->scope->project_id,
                                      .idempotency = create->idempotency,
                                      .resource = "dataset",
                                      .exists = "select 1 from dataset where id = $1",
                                      .new_id = create->id};
    enum sv_status st = store_create_begin(conn, &creation, &create->created, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = insert_dataset(conn, create, err);
    for (size_t i = 0; st == SV_OK && i < create->dataset->n_files; i++) {
        st = insert_file(conn, create, i, err);
    }
    return st == SV_OK
               ? store_dataset_touch(conn, create->id, "dataset_created", create->scope->actor, err)
               : st;
}

enum sv_status store_dataset_create(struct store *store, const struct store_scope *scope,
                                    const struct store_dataset_new *dataset,
                                    const struct store_idempotency *idempotency,
                                    struct store_created *out_created, struct sv_error *err)
{
    if (dataset->n_files < 1 || dataset->n_files > FILES_MAX) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/files", "a data set has 1 to %d files",
                          FILES_MAX);
    }
    struct create create = {.scope = scope, .dataset = dataset, .idempotency = idempotency};
    sv_id_make(create.id);
    for (size_t i = 0; i < dataset->n_files; i++) {
        sv_id_make(create.blob_ids[i]);
    }
    enum sv_status st = store_tx_run(store, "dataset_create", create_tx, &create, err);
    if (st == SV_OK) {
        *out_created = create.created;
    }
    return st;
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

static void read_file(struct sql_reader *r, void *row)
{
    struct store_dataset_file *out = row;
    out->name = sql_read_text(r);
    out->declared_size = sql_read_int(r);
    sql_read_digest(r, out->sha256);
    out->received_size = sql_read_int(r);
    out->complete = sql_read_bool(r);
}

enum sv_status store_dataset_get(struct store *store, const struct store_scope *scope,
                                 const char *id, struct store_memory *memory,
                                 struct store_dataset *out_dataset, struct sv_error *err)
{
    static const struct store_shape FILE_SHAPE = {sizeof(struct store_dataset_file), read_file};
    struct store_dataset dataset;
    struct store_rows files;
    struct sql_params params = {0};
    enum sv_status st = store_one_read(store, &DATASETS, scope, id, memory, &dataset, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, id);
    st = store_read_rows(store,
                         "select name, coalesce(declared_size, -1), declared_sha256,"
                         " received_size, complete from dataset_file where dataset_id = $1"
                         " order by n",
                         &params, &FILE_SHAPE, memory, &files, err);
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

/* ---- changing ---- */

struct change {
    const struct store_scope *scope;
    const char *id, *name, *notes;
};

static enum sv_status patch_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    const struct change *change = ctx;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, change->id);
    sql_text(&params, change->scope->project_id);
    sql_text(&params, change->name);
    sql_text(&params, change->notes);
    enum sv_status st = sql_run(conn,
                                "update dataset set name = coalesce($3, name), notes ="
                                " coalesce($4, notes) where id = $1 and project_id = $2",
                                &params, &rows, err);
    if (st == SV_ERR_CONFLICT) {
        return sv_fail_at(err, SV_ERR_CONFLICT, "/name", "a data set of this name exists already");
    }
    if (st != SV_OK) {
        return st;
    }
    int affected = rows.affected;
    sql_rows_clear(&rows);
    if (affected == 0) {
        return store_not_found("data set", err);
    }
    return store_dataset_touch(conn, change->id, "dataset_edited", change->scope->actor, err);
}

enum sv_status store_dataset_patch(struct store *store, const struct store_scope *scope,
                                   const char *id, const char *name, const char *notes,
                                   struct sv_error *err)
{
    enum sv_status st = store_id_check(id, "data set", err);
    struct change change = {.scope = scope, .id = id, .name = name, .notes = notes};
    return st == SV_OK ? store_tx_run(store, "dataset_patch", patch_tx, &change, err) : st;
}

/* Locks the row first, so that a claim of the import and the deletion cannot pass each other. */
static enum sv_status delete_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    const struct change *change = ctx;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, change->id);
    sql_text(&params, change->scope->project_id);
    enum sv_status st = sql_run(conn,
                                "select worker_id is not null from dataset where id = $1 and"
                                " project_id = $2 for update",
                                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader reader = {.rows = &rows};
    bool found = rows.n > 0;
    bool importing = found && sql_read_bool(&reader);
    sql_rows_clear(&rows);
    if (!found) {
        return conn->repeated ? SV_OK : store_not_found("data set", err);
    }
    if (importing) {
        return sv_fail(err, SV_ERR_WRONG_STATE, "the data set is being imported; try again later");
    }
    st = store_dataset_touch(conn, change->id, "dataset_deleted", change->scope->actor, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, change->id);
    st = sql_run(conn, "delete from dataset where id = $1", &params, NULL, err);
    if (st == SV_ERR_CONFLICT) {
        return sv_fail(err, SV_ERR_CONFLICT, "jobs refer to the data set");
    }
    return st;
}

enum sv_status store_dataset_delete(struct store *store, const struct store_scope *scope,
                                    const char *id, struct sv_error *err)
{
    enum sv_status st = store_id_check(id, "data set", err);
    struct change change = {.scope = scope, .id = id};
    return st == SV_OK ? store_tx_run(store, "dataset_delete", delete_tx, &change, err) : st;
}
