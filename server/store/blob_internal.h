/* SPDX-License-Identifier: MIT
 *
 * What the writer of blobs and the upload of files share: hash states that outlive a process, and
 * the closing of a blob under its digest.
 */
#ifndef STORE_BLOB_INTERNAL_H
#define STORE_BLOB_INTERNAL_H

#include "core/base/sha256.h"
#include "server/store/blobs.h"
#include "server/store/sql_internal.h"

/* State of SHA-256 after a multiple of 64 bytes. */
enum { STORE_HASH_STATE_SIZE = 40 };
void store_hash_save(const struct nn_sha256 *hash, unsigned char out_state[STORE_HASH_STATE_SIZE]);
/* state NULL: from the beginning. */
void store_hash_load(struct nn_sha256 *hash, const unsigned char *state, size_t size);

/* In a transaction: gives the blob its digest and size. When the project has a blob of that content
 * already, this one is deleted and out_id names the other. Rows that refer to blob_id must be
 * pointed at out_id by the caller before (out_id is what store_blob_twin said). */
SV_MUST_CHECK enum sv_status store_blob_close(struct store_conn *conn, const char *blob_id,
                                              const char *digest_hex, int64_t size,
                                              struct sv_error *err);
/* In a transaction: the finished blob of that content other than blob_id, kept from collection;
 * *out_found false: none. */
SV_MUST_CHECK enum sv_status store_blob_twin(struct store_conn *conn, const char *project_id,
                                             const char *blob_id, const char *digest_hex,
                                             bool *out_found, char out_id[SV_ID_SIZE],
                                             struct sv_error *err);

#endif
