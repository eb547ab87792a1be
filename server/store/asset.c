/* SPDX-License-Identifier: MIT
 *
 * Assets: their kinds, and declaring, editing and deleting one. Uploads are in asset_upload.c, the
 * import task in imports.c.
 */
#include <stdio.h>
#include <string.h>

#include "server/store/asset_internal.h"

enum { SQL_BYTES = 2000 };

static const struct store_asset_kind KINDS[STORE_ASSETS] = {
    [STORE_DATASET] = {.what = "data set",
                       .table = "dataset",
                       .files = "dataset_file",
                       .owner = "dataset_id",
                       .taken = "a data set of this name exists already",
                       .setup = "json_build_object('kind', d.kind, 'layout', d.layout, 'options',"
                                " d.options)"},
    [STORE_WEIGHTS] = {.what = "weights",
                       .table = "weights",
                       .files = "weights_file",
                       .owner = "weights_id",
                       .taken = "weights of this name exist already",
                       .setup = "'{}'::json"},
    [STORE_PREDICTION] = {.what = "prediction",
                          .table = "prediction",
                          .files = "prediction_file",
                          .owner = "prediction_id",
                          .taken = "",
                          .setup = "json_build_object('media_type', d.media_type, 'explain',"
                                   " d.explain, 'trial', (select"
                                   " t.resolved from trial t where t.id = d.trial_id), 'detail',"
                                   " (select a.detail from artefact a where a.trial_id ="
                                   " d.trial_id and a.kind = 'network'))"},
};

const struct store_asset_kind *store_asset_kind(enum store_asset asset)
{
    return &KINDS[asset];
}

/* What stands for {name}; NULL: no such name. */
static const char *piece_of(const struct store_asset_kind *kind, const char *name, size_t n)
{
    const struct {
        const char *name, *text;
    } pieces[] = {{"table", kind->table},
                  {"files", kind->files},
                  {"owner", kind->owner},
                  {"setup", kind->setup}};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        if (strlen(pieces[i].name) == n && strncmp(pieces[i].name, name, n) == 0) {
            return pieces[i].text;
        }
    }
    return NULL;
}

/* False when it does not fit, or names a piece that there is not. */
static bool compose(const struct store_asset_kind *kind, const char *sql, char out[SQL_BYTES])
{
    size_t n = 0;
    while (*sql) {
        const char *text = sql;
        size_t length = strcspn(sql, "{");
        sql += length;
        if (length == 0) {
            size_t inner = strcspn(sql + 1, "}");
            text = piece_of(kind, sql + 1, inner);
            length = text ? strlen(text) : SQL_BYTES;
            sql += text ? inner + 2 : 0;
        }
        if (length >= SQL_BYTES - n) {
            return false;
        }
        memcpy(out + n, text, length);
        n += length;
    }
    out[n] = '\0';
    return true;
}

enum sv_status store_asset_run(struct store_conn *conn, enum store_asset asset, const char *sql,
                               struct sql_params *params, struct sql_rows *rows,
                               struct sv_error *err)
{
    char text[SQL_BYTES];
    if (!compose(&KINDS[asset], sql, text)) {
        sql_params_clear(params);
        return sv_fail(err, SV_ERR_INTERNAL, "a statement cannot be composed");
    }
    return sql_run(conn, text, params, rows, err);
}

enum sv_status store_asset_touch(struct store_conn *conn, enum store_asset asset, const char *id,
                                 const char *what, const char *actor, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, id);
    sql_text(&params, what);
    sql_text(&params, actor);
    return store_asset_run(conn, asset,
                           "select {table}_touch($1, '{table}_' || ($2::text), null, $3)", &params,
                           NULL, err);
}

/* ---- creating ---- */

struct create {
    const struct store_asset_new *asset;
    char id[SV_ID_SIZE];
    char blob_ids[STORE_FILES_MAX][SV_ID_SIZE];
    struct store_created created;
};

static enum sv_status insert_row(struct store_conn *conn, const struct create *create,
                                 struct sv_error *err)
{
    const struct store_asset_new *asset = create->asset;
    struct sql_params params = {0};
    sql_text(&params, create->id);
    sql_text(&params, asset->scope->project_id);
    sql_text(&params, asset->scope->actor);
    asset->add(&params, asset->what);
    enum sv_status st = sql_run(conn, asset->insert, &params, NULL, err);
    return st == SV_ERR_CONFLICT
               ? sv_fail_at(err, SV_ERR_CONFLICT, "/name", "%s", KINDS[asset->asset].taken)
               : st;
}

static enum sv_status insert_file(struct store_conn *conn, const struct create *create, size_t i,
                                  struct sv_error *err)
{
    const struct store_file *file = &create->asset->files[i];
    struct sql_params params = {0};
    sql_text(&params, create->id);
    sql_text(&params, file->name);
    sql_int(&params, (int64_t)i);
    sql_text(&params, create->asset->scope->project_id);
    sql_text(&params, create->blob_ids[i]);
    sql_int(&params, file->declared_size);
    sql_text_or_null(&params, file->sha256);
    enum sv_status st = store_asset_run(
        conn, create->asset->asset,
        "with b as (insert into blob (id, project_id) values ($5, $4))"
        " insert into {files} ({owner}, name, n, project_id, blob_id, declared_size,"
        " declared_sha256) values ($1, $2, $3, $4, $5, nullif($6::bigint, -1), decode($7, 'hex'))",
        &params, NULL, err);
    if (st == SV_ERR_CONFLICT) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/files", "two files have the same name");
    }
    return st;
}

static enum sv_status create_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct create *create = ctx;
    const struct store_asset_new *asset = create->asset;
    char exists[100];
    bool done = false;
    (void)snprintf(exists, sizeof exists, "select 1 from %s where id = $1",
                   KINDS[asset->asset].table);
    struct store_creation creation = {.project_id = asset->scope->project_id,
                                      .idempotency = asset->idempotency,
                                      .resource = KINDS[asset->asset].table,
                                      .exists = exists,
                                      .new_id = create->id};
    enum sv_status st = store_create_begin(conn, &creation, &create->created, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = insert_row(conn, create, err);
    for (size_t i = 0; st == SV_OK && i < asset->n_files; i++) {
        st = insert_file(conn, create, i, err);
    }
    return st == SV_OK ? store_asset_touch(conn, asset->asset, create->id, "created",
                                           asset->scope->actor, err)
                       : st;
}

enum sv_status store_asset_create(struct store *store, const struct store_asset_new *asset,
                                  struct store_created *out_created, struct sv_error *err)
{
    if (asset->n_files < 1 || asset->n_files > STORE_FILES_MAX) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/files", "1 to %d files are declared",
                          STORE_FILES_MAX);
    }
    struct create create = {.asset = asset};
    sv_id_make(create.id);
    for (size_t i = 0; i < asset->n_files; i++) {
        sv_id_make(create.blob_ids[i]);
    }
    enum sv_status st = store_tx_run(store, "asset_create", create_tx, &create, err);
    if (st == SV_OK) {
        *out_created = create.created;
    }
    return st;
}

/* ---- files ---- */

#define FILE_COLUMNS                                                                               \
    "f.name, coalesce(f.declared_size, -1), f.declared_sha256, f.received_size, f.complete"

static void read_file(struct sql_reader *r, void *row)
{
    struct store_file *out = row;
    out->name = sql_read_text(r);
    out->declared_size = sql_read_int(r);
    sql_read_digest(r, out->sha256);
    out->received_size = sql_read_int(r);
    out->complete = sql_read_bool(r);
}

static void read_asset_file(struct sql_reader *r, void *row)
{
    struct store_asset_file *out = row;
    read_file(r, &out->file);
    out->state = sql_read_text(r);
}

enum sv_status store_asset_files(struct store *store, enum store_asset asset, const char *id,
                                 struct store_memory *memory, struct store_rows *out_rows,
                                 struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_file), read_file};
    char sql[SQL_BYTES];
    struct sql_params params = {0};
    if (!compose(&KINDS[asset],
                 "select " FILE_COLUMNS " from {files} f where f.{owner} = $1 order by f.n", sql)) {
        return sv_fail(err, SV_ERR_INTERNAL, "a statement cannot be composed");
    }
    sql_text(&params, id);
    return store_read_rows(store, sql, &params, &SHAPE, memory, out_rows, err);
}

enum sv_status store_asset_file_get(struct store *store, const struct store_scope *scope,
                                    enum store_asset asset, const char *id, const char *name,
                                    struct store_memory *memory, struct store_asset_file *out_file,
                                    struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_asset_file), read_asset_file};
    char sql[SQL_BYTES];
    struct sql_params params = {0};
    enum sv_status st = store_id_check(id, KINDS[asset].what, err);
    if (st != SV_OK) {
        return st;
    }
    if (!compose(&KINDS[asset],
                 "select " FILE_COLUMNS ", d.state from {files} f join {table} d on d.id ="
                 " f.{owner} where d.id = $1 and d.project_id = $2 and f.name = $3",
                 sql)) {
        return sv_fail(err, SV_ERR_INTERNAL, "a statement cannot be composed");
    }
    sql_text(&params, id);
    sql_text(&params, scope->project_id);
    sql_text(&params, name);
    return store_read_row(store, sql, &params, &SHAPE, "declared file", memory, out_file, err);
}

/* ---- changing ---- */

struct change {
    const struct store_scope *scope;
    enum store_asset asset;
    const char *id, *name, *notes;
    const struct store_idempotency *idempotency; /* its row goes with the asset; NULL: none does */
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
    enum sv_status st = store_asset_run(conn, change->asset,
                                        "update {table} set name = coalesce($3, name), notes ="
                                        " coalesce($4, notes) where id = $1 and project_id = $2",
                                        &params, &rows, err);
    if (st == SV_ERR_CONFLICT) {
        return sv_fail_at(err, SV_ERR_CONFLICT, "/name", "%s", KINDS[change->asset].taken);
    }
    if (st != SV_OK) {
        return st;
    }
    int affected = rows.affected;
    sql_rows_clear(&rows);
    if (affected == 0) {
        return store_not_found(KINDS[change->asset].what, err);
    }
    return store_asset_touch(conn, change->asset, change->id, "edited", change->scope->actor, err);
}

enum sv_status store_asset_patch(struct store *store, const struct store_scope *scope,
                                 enum store_asset asset, const char *id, const char *name,
                                 const char *notes, struct sv_error *err)
{
    enum sv_status st = store_id_check(id, KINDS[asset].what, err);
    struct change change = {.scope = scope, .asset = asset, .id = id, .name = name, .notes = notes};
    return st == SV_OK ? store_tx_run(store, "asset_patch", patch_tx, &change, err) : st;
}

/* Locks the row first, so that a claim of the import and the deletion cannot pass each other. */
static enum sv_status lock_row(struct store_conn *conn, const struct change *change,
                               bool *out_found, bool *out_importing, struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, change->id);
    sql_text(&params, change->scope->project_id);
    enum sv_status st = store_asset_run(conn, change->asset,
                                        "select worker_id is not null from {table} where id = $1"
                                        " and project_id = $2 for update",
                                        &params, &rows, err);
    if (st == SV_OK) {
        struct sql_reader reader = {.rows = &rows};
        *out_found = rows.n > 0;
        *out_importing = *out_found && sql_read_bool(&reader);
        sql_rows_clear(&rows);
    }
    return st;
}

static enum sv_status delete_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    const struct change *change = ctx;
    const char *what = KINDS[change->asset].what;
    struct sql_params params = {0};
    bool found, importing;
    enum sv_status st = lock_row(conn, change, &found, &importing, err);
    if (st != SV_OK) {
        return st;
    }
    if (!found) {
        return conn->repeated ? SV_OK : store_not_found(what, err);
    }
    if (importing) {
        return sv_fail(err, SV_ERR_WRONG_STATE, "an import of the %s is under way; try again later",
                       what);
    }
    st = store_asset_touch(conn, change->asset, change->id, "deleted", change->scope->actor, err);
    if (st != SV_OK) {
        return st;
    }
    if (change->idempotency) {
        st = store_key_forget(conn, change->scope->project_id, change->idempotency->key, change->id,
                              err);
    }
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, change->id);
    st = store_asset_run(conn, change->asset, "delete from {table} where id = $1", &params, NULL,
                         err);
    return st == SV_ERR_CONFLICT ? sv_fail(err, SV_ERR_CONFLICT, "jobs refer to the %s", what) : st;
}

enum sv_status store_asset_delete(struct store *store, const struct store_scope *scope,
                                  enum store_asset asset, const char *id, struct sv_error *err)
{
    enum sv_status st = store_id_check(id, KINDS[asset].what, err);
    struct change change = {.scope = scope, .asset = asset, .id = id};
    return st == SV_OK ? store_tx_run(store, "asset_delete", delete_tx, &change, err) : st;
}

enum sv_status store_asset_undo(struct store *store, const struct store_scope *scope,
                                enum store_asset asset, const char *id,
                                const struct store_idempotency *idempotency)
{
    struct change change = {.scope = scope, .asset = asset, .id = id, .idempotency = idempotency};
    return store_tx_run(store, "asset_undo", delete_tx, &change, NULL);
}
