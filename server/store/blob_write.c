/* SPDX-License-Identifier: MIT
 *
 * Writing of blobs: chunk by chunk under a fixed number, so that every statement may be repeated;
 * at the end the digest decides whether the content was there already.
 */
#include "server/store/blobs.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/store/blob_internal.h"

struct store_blob_writer {
    struct store *store;
    char project_id[SV_ID_SIZE];
    char id[SV_ID_SIZE];
    struct nn_sha256 hash;
    char digest[65]; /* once all bytes are there */
    int64_t size;    /* in the database */
    int chunks;
    size_t used; /* of buffer */
    bool finished;
    unsigned char buffer[STORE_CHUNK_BYTES];
};

void store_hash_save(const struct nn_sha256 *hash, unsigned char out_state[STORE_HASH_STATE_SIZE])
{
    for (size_t i = 0; i < 8; i++) {
        uint32_t word = htole32(hash->state[i]);
        memcpy(out_state + 4 * i, &word, sizeof word);
    }
    uint64_t total = htole64(hash->total);
    memcpy(out_state + 32, &total, sizeof total);
}

void store_hash_load(struct nn_sha256 *hash, const unsigned char *state, size_t size)
{
    nn_sha256_init(hash);
    if (!state || size != STORE_HASH_STATE_SIZE) {
        return;
    }
    for (size_t i = 0; i < 8; i++) {
        uint32_t word;
        memcpy(&word, state + 4 * i, sizeof word);
        hash->state[i] = le32toh(word);
    }
    uint64_t total;
    memcpy(&total, state + 32, sizeof total);
    hash->total = le64toh(total);
}

enum sv_status store_blob_twin(struct store_conn *conn, const char *project_id, const char *blob_id,
                               const char *digest_hex, bool *out_found, char out_id[SV_ID_SIZE],
                               struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, project_id);
    sql_text(&params, digest_hex);
    sql_text(&params, blob_id);
    enum sv_status st = sql_run(conn,
                                "update blob set unreferenced_since = null where project_id = $1"
                                " and sha256 = decode($2, 'hex') and id <> $3 returning id",
                                &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    *out_found = rows.n > 0;
    if (rows.n > 0) {
        struct sql_reader reader = {.rows = &rows};
        sql_read_id(&reader, out_id);
    }
    sql_rows_clear(&rows);
    return SV_OK;
}

enum sv_status store_blob_close(struct store_conn *conn, const char *blob_id,
                                const char *digest_hex, int64_t size, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, blob_id);
    sql_text(&params, digest_hex);
    sql_int(&params, size);
    enum sv_status st = sql_run(conn,
                                "update blob set sha256 = decode($2, 'hex'), size = $3,"
                                " hash_state = null, unreferenced_since = null where id = $1",
                                &params, NULL, err);
    if (st == SV_ERR_CONFLICT) { /* a twin was closed at this moment: look for it again */
        conn->failure = SQL_REPEAT;
    }
    return st;
}

static enum sv_status blob_delete(struct store_conn *conn, const char *blob_id,
                                  struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, blob_id);
    return sql_run(conn, "delete from blob where id = $1", &params, NULL, err);
}

enum sv_status store_blob_begin(struct store *store, const char *project_id,
                                struct store_blob_writer **out_writer, struct sv_error *err)
{
    struct store_blob_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    writer->store = store;
    memcpy(writer->project_id, project_id, SV_ID_SIZE);
    sv_id_make(writer->id);
    nn_sha256_init(&writer->hash);
    struct sql_params params = {0};
    sql_text(&params, writer->id);
    sql_text(&params, project_id);
    enum sv_status st = store_query(
        store, "insert into blob (id, project_id) values ($1, $2) on conflict (id) do nothing",
        &params, NULL, err);
    if (st != SV_OK) {
        free(writer);
        return st;
    }
    *out_writer = writer;
    return SV_OK;
}

static enum sv_status flush(struct store_blob_writer *writer, struct sv_error *err)
{
    if (writer->used == 0) {
        return SV_OK;
    }
    struct sql_params params = {0};
    sql_text(&params, writer->id);
    sql_int(&params, writer->chunks);
    sql_bytes(&params, writer->buffer, writer->used);
    sql_int(&params, writer->size + (int64_t)writer->used);
    enum sv_status st = store_query(writer->store,
                                    "with c as (insert into blob_chunk (blob_id, n, data) values"
                                    " ($1, $2, $3) on conflict (blob_id, n) do nothing)"
                                    " update blob set size = $4, unreferenced_since = null"
                                    " where id = $1",
                                    &params, NULL, err);
    if (st == SV_OK) {
        nn_sha256_update(&writer->hash, writer->buffer, writer->used);
        writer->size += (int64_t)writer->used;
        writer->chunks++;
        writer->used = 0;
    }
    return st;
}

enum sv_status store_blob_append(struct store_blob_writer *writer, const void *data, size_t size,
                                 struct sv_error *err)
{
    const unsigned char *bytes = data;
    if ((uint64_t)writer->size + writer->used + size > (uint64_t)STORE_BLOB_MAX) {
        return sv_fail(err, SV_ERR_TOO_LARGE, "the content is larger than 4 GiB");
    }
    while (size > 0) {
        size_t room = STORE_CHUNK_BYTES - writer->used;
        size_t n = size < room ? size : room;
        memcpy(writer->buffer + writer->used, bytes, n);
        writer->used += n;
        bytes += n;
        size -= n;
        enum sv_status st = writer->used == STORE_CHUNK_BYTES ? flush(writer, err) : SV_OK;
        if (st != SV_OK) {
            return st;
        }
    }
    return SV_OK;
}

struct finish {
    struct store_blob_writer *writer;
    struct store_blob *out_blob;
};

static enum sv_status finish_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct finish *finish = ctx;
    struct store_blob_writer *writer = finish->writer;
    bool found = false;
    struct store_blob blob = {.size = writer->size};
    memcpy(blob.sha256, writer->digest, sizeof blob.sha256);
    enum sv_status st =
        store_blob_twin(conn, writer->project_id, writer->id, writer->digest, &found, blob.id, err);
    if (st == SV_OK && found) {
        st = blob_delete(conn, writer->id, err);
    } else if (st == SV_OK) {
        memcpy(blob.id, writer->id, sizeof blob.id);
        st = store_blob_close(conn, writer->id, writer->digest, writer->size, err);
    }
    if (st == SV_OK) {
        *finish->out_blob = blob;
    }
    return st;
}

enum sv_status store_blob_finish(struct store_blob_writer *writer, struct store_blob *out_blob,
                                 struct sv_error *err)
{
    enum sv_status st = flush(writer, err);
    if (st != SV_OK) {
        return st;
    }
    if (!writer->digest[0]) {
        uint8_t digest[NN_SHA256_SIZE];
        nn_sha256_finish(&writer->hash, digest);
        nn_sha256_hex(digest, writer->digest);
    }
    struct store_blob blob = {0};
    struct finish finish = {.writer = writer, .out_blob = &blob};
    st = store_tx_run(writer->store, "blob_finish", finish_tx, &finish, err);
    if (st == SV_OK) {
        writer->finished = true;
        *out_blob = blob;
    }
    return st;
}

void store_blob_writer_destroy(struct store_blob_writer *writer)
{
    if (writer && !writer->finished) {
        struct sql_params params = {0};
        sql_text(&params, writer->id);
        enum sv_status st =
            store_query(writer->store, "delete from blob where id = $1 and sha256 is null", &params,
                        NULL, NULL);
        (void)st; /* else the collector takes it */
    }
    free(writer);
}

enum sv_status store_blob_write_fd(struct store *store, const char *project_id, int fd,
                                   struct store_blob *out_blob, struct sv_error *err)
{
    struct store_blob_writer *writer = NULL;
    unsigned char *buffer = malloc(STORE_CHUNK_BYTES);
    if (!buffer) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    enum sv_status st = store_blob_begin(store, project_id, &writer, err);
    while (st == SV_OK && writer) {
        ssize_t n = read(fd, buffer, STORE_CHUNK_BYTES);
        if (n == 0) {
            st = store_blob_finish(writer, out_blob, err);
            break;
        }
        if (n > 0) {
            st = store_blob_append(writer, buffer, (size_t)n, err);
        } else if (errno != EINTR) {
            st = sv_fail(err, SV_ERR_INTERNAL, "a file cannot be read");
        }
    }
    store_blob_writer_destroy(writer);
    free(buffer);
    return st;
}
