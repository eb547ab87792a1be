/* SPDX-License-Identifier: MIT
 *
 * Reading of blobs, one chunk a statement.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/sha256.h"
#include "server/store/blobs.h"
#include "server/store/sql_internal.h"

enum sv_status store_blob_get(struct store *store, const char *project_id, const char *blob_id,
                              struct store_blob *out_blob, struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, blob_id);
    sql_text(&params, project_id);
    enum sv_status st = store_query(store,
                                    "select id, sha256, size from blob where id = $1 and"
                                    " project_id = $2 and sha256 is not null",
                                    &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    if (rows.n > 0) {
        struct sql_reader reader = {.rows = &rows};
        sql_read_id(&reader, out_blob->id);
        sql_read_digest(&reader, out_blob->sha256);
        out_blob->size = sql_read_int(&reader);
    } else {
        st = sv_fail(err, SV_ERR_NOT_FOUND, "no such content");
    }
    sql_rows_clear(&rows);
    return st;
}

/* Bytes of chunk n from `within` on, at most size. */
static enum sv_status read_piece(struct store *store, const char *project_id, const char *blob_id,
                                 int64_t offset, void *data, size_t size, size_t *out_n,
                                 struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, blob_id);
    sql_text(&params, project_id);
    sql_int(&params, offset / STORE_CHUNK_BYTES);
    sql_int(&params, offset % STORE_CHUNK_BYTES + 1);
    sql_int(&params, (int64_t)size);
    enum sv_status st =
        store_query(store,
                    "select substr(c.data, $4, $5) from blob b join blob_chunk c on c.blob_id ="
                    " b.id where b.id = $1 and b.project_id = $2 and b.sha256 is not null"
                    " and c.n = $3",
                    &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    *out_n = 0;
    if (rows.n > 0) {
        struct sql_reader reader = {.rows = &rows};
        const void *bytes = sql_read_bytes(&reader, out_n);
        if (*out_n > 0) {
            memcpy(data, bytes, *out_n);
        }
    }
    sql_rows_clear(&rows);
    return SV_OK;
}

enum sv_status store_blob_read(struct store *store, const char *project_id, const char *blob_id,
                               int64_t offset, void *data, size_t size, size_t *out_n,
                               struct sv_error *err)
{
    size_t done = 0;
    while (done < size) {
        int64_t at = offset + (int64_t)done;
        size_t left = (size_t)(STORE_CHUNK_BYTES - at % STORE_CHUNK_BYTES);
        size_t want = size - done < left ? size - done : left;
        size_t n = 0;
        enum sv_status st =
            read_piece(store, project_id, blob_id, at, (unsigned char *)data + done, want, &n, err);
        if (st != SV_OK) {
            return st;
        }
        done += n;
        if (n < want) {
            break;
        }
    }
    if (done == 0) { /* the end, or no such blob? */
        struct store_blob blob;
        enum sv_status st = store_blob_get(store, project_id, blob_id, &blob, err);
        if (st != SV_OK) {
            return st;
        }
    }
    *out_n = done;
    return SV_OK;
}

static bool write_all(int fd, const unsigned char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        }
    }
    return true;
}

enum sv_status store_blob_read_fd(struct store *store, const char *project_id, const char *blob_id,
                                  int fd, struct sv_error *err)
{
    struct store_blob blob = {0};
    enum sv_status st = store_blob_get(store, project_id, blob_id, &blob, err);
    if (st != SV_OK) {
        return st;
    }
    unsigned char *buffer = malloc(STORE_CHUNK_BYTES);
    if (!buffer) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    struct nn_sha256 hash;
    nn_sha256_init(&hash);
    for (int64_t at = 0; st == SV_OK && at < blob.size;) {
        size_t n = 0;
        st = store_blob_read(store, project_id, blob_id, at, buffer, STORE_CHUNK_BYTES, &n, err);
        if (st == SV_OK && (n == 0 || !write_all(fd, buffer, n))) {
            st = n == 0 ? sv_fail(err, SV_ERR_NOT_FOUND, "a stored content is cut off")
                        : sv_fail(err, SV_ERR_INTERNAL, "a file cannot be written: %s",
                                  strerrordesc_np(errno));
        }
        nn_sha256_update(&hash, buffer, n);
        at += (int64_t)n;
    }
    free(buffer);
    if (st == SV_OK) {
        uint8_t digest[NN_SHA256_SIZE];
        char hex[NN_SHA256_HEX];
        nn_sha256_finish(&hash, digest);
        nn_sha256_hex(digest, hex);
        if (strcmp(hex, blob.sha256) != 0) {
            st = sv_fail(err, SV_ERR_NOT_FOUND, "a stored content does not match its digest");
        }
    }
    return st;
}
