/* SPDX-License-Identifier: MIT
 *
 * Uploads into a declared file. Each piece is one transaction that locks the file's row and demands
 * that the piece begins where the file stands; the state of SHA-256 over the whole chunks is kept
 * with the blob, so any process can go on.
 */
#include <string.h>

#include "server/store/asset_internal.h"
#include "server/store/blob_internal.h"

/* One piece, within one chunk. */
struct piece {
    const struct store_scope *scope;
    const struct store_upload *upload;
    int64_t offset;
    const unsigned char *data;
    size_t size;
    bool final;
    int64_t received; /* out: where the file stands */
    bool mismatch;    /* out: it differs from the declaration and was emptied */
    char why[64];     /* out: in what */
};

/* The file as it is locked. */
struct file {
    char blob_id[SV_ID_SIZE];
    int64_t received, declared_size;
    char declared_sha256[65];
    bool complete, uploading;
    struct nn_sha256 hash; /* over the whole chunks */
};

static enum sv_status lock_file(struct store_conn *conn, const struct piece *piece,
                                struct file *out_file, struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, piece->upload->id);
    sql_text(&params, piece->scope->project_id);
    sql_text(&params, piece->upload->file);
    enum sv_status st =
        store_asset_run(conn, piece->upload->asset,
                        "select f.blob_id, f.received_size, coalesce(f.declared_size, -1),"
                        " f.declared_sha256, f.complete, d.state = 'uploading', b.hash_state"
                        " from {files} f join {table} d on d.id = f.{owner}"
                        " join blob b on b.id = f.blob_id where d.id = $1 and d.project_id = $2"
                        " and f.name = $3 for no key update of f",
                        &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    if (rows.n > 0) {
        struct sql_reader r = {.rows = &rows};
        size_t n = 0;
        sql_read_id(&r, out_file->blob_id);
        out_file->received = sql_read_int(&r);
        out_file->declared_size = sql_read_int(&r);
        sql_read_digest(&r, out_file->declared_sha256);
        out_file->complete = sql_read_bool(&r);
        out_file->uploading = sql_read_bool(&r);
        const unsigned char *state = sql_read_bytes(&r, &n);
        store_hash_load(&out_file->hash, state, n);
    } else {
        st = store_not_found("declared file", err);
    }
    sql_rows_clear(&rows);
    return st;
}

/* Writes the piece into its chunk; a chunk that becomes full goes into the hash. */
static enum sv_status write_chunk(struct store_conn *conn, const struct piece *piece,
                                  struct file *file, struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    int64_t chunk = piece->offset / STORE_CHUNK_BYTES;
    sql_text(&params, file->blob_id);
    sql_int(&params, chunk);
    sql_bytes(&params, piece->data, piece->size);
    enum sv_status st =
        sql_run(conn,
                "insert into blob_chunk as c (blob_id, n, data) values ($1, $2, $3)"
                " on conflict (blob_id, n) do update set data = c.data || excluded.data"
                " returning case when length(c.data) = 1048576 then c.data end",
                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_reader reader = {.rows = &rows};
    size_t n = 0;
    const void *full = sql_read_bytes(&reader, &n);
    if (n == STORE_CHUNK_BYTES) {
        nn_sha256_update(&file->hash, full, n);
    }
    sql_rows_clear(&rows);
    unsigned char state[STORE_HASH_STATE_SIZE];
    store_hash_save(&file->hash, state);
    sql_text(&params, file->blob_id);
    sql_int(&params, piece->offset + (int64_t)piece->size);
    sql_bytes(&params, state, sizeof state);
    return sql_run(conn,
                   "update blob set size = $2, hash_state = $3, unreferenced_since = null"
                   " where id = $1",
                   &params, NULL, err);
}

/* The digest of the whole file: the hash over whole chunks, and the last one if it is not full. */
static enum sv_status digest_file(struct store_conn *conn, struct file *file, int64_t size,
                                  char out_hex[65], struct sv_error *err)
{
    struct nn_sha256 hash = file->hash;
    if (size % STORE_CHUNK_BYTES != 0) {
        struct sql_params params = {0};
        struct sql_rows rows = {0};
        sql_text(&params, file->blob_id);
        sql_int(&params, size / STORE_CHUNK_BYTES);
        enum sv_status st = sql_run(
            conn, "select data from blob_chunk where blob_id = $1 and n = $2", &params, &rows, err);
        if (st != SV_OK) {
            return st;
        }
        struct sql_reader reader = {.rows = &rows};
        size_t n = 0;
        const void *tail = rows.n > 0 ? sql_read_bytes(&reader, &n) : NULL;
        nn_sha256_update(&hash, tail, n);
        sql_rows_clear(&rows);
    }
    uint8_t digest[NN_SHA256_SIZE];
    nn_sha256_finish(&hash, digest);
    nn_sha256_hex(digest, out_hex);
    return SV_OK;
}

/* Not what was declared: the file starts again at 0. */
static enum sv_status empty_file(struct store_conn *conn, struct piece *piece,
                                 const struct file *file, const char *why, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, piece->upload->id);
    sql_text(&params, piece->upload->file);
    sql_text(&params, file->blob_id);
    piece->mismatch = true;
    piece->received = 0;
    (void)snprintf(piece->why, sizeof piece->why, "%s", why);
    return store_asset_run(
        conn, piece->upload->asset,
        "with c as (delete from blob_chunk where blob_id = $3), b as (update blob set"
        " size = 0, hash_state = null where id = $3) update {files} set"
        " received_size = 0 where {owner} = $1 and name = $2",
        &params, NULL, err);
}

/* Points the file at the blob that holds its content, and closes that. */
static enum sv_status attach_blob(struct store_conn *conn, const struct piece *piece,
                                  const struct file *file, const char *digest, int64_t size,
                                  struct sv_error *err)
{
    char twin[SV_ID_SIZE];
    bool found = false;
    enum sv_status st =
        store_blob_twin(conn, piece->scope->project_id, file->blob_id, digest, &found, twin, err);
    if (st == SV_OK && !found) {
        st = store_blob_close(conn, file->blob_id, digest, size, err);
    }
    struct sql_params params = {0};
    sql_text(&params, piece->upload->id);
    sql_text(&params, piece->upload->file);
    sql_text(&params, found ? twin : file->blob_id);
    sql_int(&params, size);
    if (st != SV_OK) {
        sql_params_clear(&params);
        return st;
    }
    st = store_asset_run(conn, piece->upload->asset,
                         "update {files} set complete = true, blob_id = $3, received_size = $4"
                         " where {owner} = $1 and name = $2",
                         &params, NULL, err);
    if (st == SV_OK && found) {
        sql_text(&params, file->blob_id);
        st = sql_run(conn, "delete from blob where id = $1", &params, NULL, err);
    }
    return st;
}

/* When the last file is complete the import may begin. The row of the asset is locked first, so
 * that of two files that end at once one sees the other. */
static enum sv_status check_complete(struct store_conn *conn, const struct piece *piece,
                                     struct sv_error *err)
{
    const struct store_upload *upload = piece->upload;
    struct sql_params params = {0};
    sql_text(&params, upload->id);
    enum sv_status st = store_asset_run(conn, upload->asset,
                                        "select 1 from {table} where id = $1 for no key update",
                                        &params, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, upload->id);
    st = store_asset_run(conn, upload->asset,
                         "update {table} d set state = 'checking', not_before = now() where"
                         " id = $1 and state = 'uploading' and not exists (select 1 from {files} f"
                         " where f.{owner} = d.id and not f.complete)",
                         &params, NULL, err);
    return st == SV_OK ? store_asset_touch(conn, upload->asset, upload->id, "uploaded",
                                           piece->scope->actor, err)
                       : st;
}

static enum sv_status end_file(struct store_conn *conn, struct piece *piece, struct file *file,
                               struct sv_error *err)
{
    char digest[65];
    int64_t size = piece->received;
    if (file->declared_size >= 0 && size != file->declared_size) {
        return empty_file(conn, piece, file, "size", err);
    }
    enum sv_status st = digest_file(conn, file, size, digest, err);
    if (st != SV_OK) {
        return st;
    }
    if (file->declared_sha256[0] && strcmp(file->declared_sha256, digest) != 0) {
        return empty_file(conn, piece, file, "SHA-256", err);
    }
    st = attach_blob(conn, piece, file, digest, size, err);
    return st == SV_OK ? check_complete(conn, piece, err) : st;
}

static enum sv_status append_to_file(struct store_conn *conn, struct piece *piece,
                                     struct file *file, struct sv_error *err)
{
    enum sv_status st = piece->size > 0 ? write_chunk(conn, piece, file, err) : SV_OK;
    piece->received = piece->offset + (int64_t)piece->size;
    struct sql_params params = {0};
    sql_text(&params, piece->upload->id);
    sql_text(&params, piece->upload->file);
    sql_int(&params, piece->received);
    if (st != SV_OK) {
        sql_params_clear(&params);
        return st;
    }
    st = store_asset_run(conn, piece->upload->asset,
                         "update {files} set received_size = $3 where {owner} = $1 and name = $2",
                         &params, NULL, err);
    if (st == SV_OK && (piece->final || piece->received == file->declared_size)) {
        return end_file(conn, piece, file, err);
    }
    return st;
}

static enum sv_status piece_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct piece *piece = ctx;
    struct file file = {0};
    piece->mismatch = false;
    enum sv_status st = lock_file(conn, piece, &file, err);
    if (st != SV_OK) {
        return st;
    }
    int64_t end = piece->offset + (int64_t)piece->size;
    piece->received = file.received;
    if (conn->repeated && file.received == end && (file.complete || !piece->final)) {
        return SV_OK; /* the run before was committed */
    }
    if (file.complete || !file.uploading) {
        return sv_fail(err, SV_ERR_WRONG_STATE, "the file is complete");
    }
    if (piece->offset != file.received) {
        return sv_fail(err, SV_ERR_RANGE, "the file stands at %lld", (long long)file.received);
    }
    if (file.declared_size >= 0 && end > file.declared_size) {
        return empty_file(conn, piece, &file, "size", err);
    }
    if (end > STORE_BLOB_MAX) {
        return sv_fail(err, SV_ERR_TOO_LARGE, "the file is larger than 4 GiB");
    }
    return append_to_file(conn, piece, &file, err);
}

enum sv_status store_asset_upload(struct store *store, const struct store_scope *scope,
                                  const struct store_upload *upload, int64_t *out_received,
                                  struct sv_error *err)
{
    enum sv_status st = store_id_check(upload->id, store_asset_kind(upload->asset)->what, err);
    struct piece piece = {
        .scope = scope, .upload = upload, .offset = upload->offset, .data = upload->data};
    size_t left = upload->size;
    do {
        size_t room = (size_t)(STORE_CHUNK_BYTES - piece.offset % STORE_CHUNK_BYTES);
        piece.size = left < room ? left : room;
        left -= piece.size;
        piece.final = upload->final && left == 0;
        if (st == SV_OK) {
            st = store_tx_run(store, "asset_upload", piece_tx, &piece, err);
        }
        if (st == SV_OK && piece.mismatch) {
            st = sv_fail_at(err, SV_ERR_INVALID_FIELD, "",
                            "the file's %s is not the declared one; send it again from 0",
                            piece.why);
        }
        *out_received = piece.received;
        piece.offset += (int64_t)piece.size;
        piece.data = piece.size > 0 ? piece.data + piece.size : piece.data;
    } while (st == SV_OK && left > 0);
    return st;
}
