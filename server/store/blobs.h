/* SPDX-License-Identifier: MIT
 *
 * Large bytes, addressed by their SHA-256 within a project, in chunks of 1 MiB. A blob is written
 * first, unreferenced; the row that uses it refers to it by a foreign key. What nothing refers to
 * for an hour is collected (housekeeping.h).
 */
#ifndef STORE_BLOBS_H
#define STORE_BLOBS_H

#include "server/store/store.h"

enum { STORE_CHUNK_BYTES = 1048576 };
#define STORE_BLOB_MAX ((int64_t)4 << 30)

struct store_blob {
    char id[SV_ID_SIZE];
    char sha256[65];
    int64_t size;
};

/* Writes one blob, confined to one thread; holds up to one chunk in memory. */
struct store_blob_writer;
SV_MUST_CHECK enum sv_status store_blob_begin(struct store *store, const char *project_id,
                                              struct store_blob_writer **out_writer,
                                              struct sv_error *err);
/* SV_ERR_TOO_LARGE beyond STORE_BLOB_MAX. */
SV_MUST_CHECK enum sv_status store_blob_append(struct store_blob_writer *writer, const void *data,
                                               size_t size, struct sv_error *err);
/* Closes the content. When the project has the same content already, that blob is the result and
 * the new one is dropped. The writer must still be destroyed. */
SV_MUST_CHECK enum sv_status store_blob_finish(struct store_blob_writer *writer,
                                               struct store_blob *out_blob, struct sv_error *err);
/* Drops what was not finished. NULL is allowed. */
void store_blob_writer_destroy(struct store_blob_writer *writer);

/* The same for a whole open file, from its current position to its end. */
SV_MUST_CHECK enum sv_status store_blob_write_fd(struct store *store, const char *project_id,
                                                 int fd, struct store_blob *out_blob,
                                                 struct sv_error *err);

SV_MUST_CHECK enum sv_status store_blob_get(struct store *store, const char *project_id,
                                            const char *blob_id, struct store_blob *out_blob,
                                            struct sv_error *err);
/* Up to size bytes from offset into data; *out_n is 0 at or beyond the end. */
SV_MUST_CHECK enum sv_status store_blob_read(struct store *store, const char *project_id,
                                             const char *blob_id, int64_t offset, void *data,
                                             size_t size, size_t *out_n, struct sv_error *err);
/* Writes the whole blob to fd and checks its digest: SV_ERR_NOT_FOUND when it does not match,
 * SV_ERR_INTERNAL when fd takes no more. */
SV_MUST_CHECK enum sv_status store_blob_read_fd(struct store *store, const char *project_id,
                                                const char *blob_id, int fd, struct sv_error *err);

#endif
