/* SPDX-License-Identifier: MIT
 *
 * Blobs on the worker's disk, by the SHA-256 of their content, under a cap; the least recently used
 * go first. A user of a blob gets a hard link of its own, so that a blob that is thrown out while a
 * trial reads it stays until the trial ends.
 */
#ifndef WORKER_CACHE_H
#define WORKER_CACHE_H

#include <stdint.h>

#include "server/base/error.h"

/* Guarded by a mutex of its own; a fetch holds it, so two users of one blob fetch it once. */
struct worker_cache;

/* Writes the blob's bytes to fd, from its start. */
typedef enum sv_status (*worker_fetch_fn)(void *ctx, const char *sha256, int fd,
                                          struct sv_error *err);

/* directory_fd is taken, also on failure. Removes what an interrupted fetch left. */
SV_MUST_CHECK enum sv_status worker_cache_create(int directory_fd, int64_t cap_bytes,
                                                 struct worker_cache **out_cache,
                                                 struct sv_error *err);
void worker_cache_destroy(struct worker_cache *cache);
/* From now on the cache lives in this directory, which is taken, also on failure. */
SV_MUST_CHECK enum sv_status worker_cache_move(struct worker_cache *cache, int directory_fd,
                                               struct sv_error *err);

/* Makes `name` in to_fd (same file system) a link to the blob of size bytes, mode 0444, fetching it
 * where it is not cached, or not whole. What was fetched is checked against sha256 (64 hex digits):
 * SV_ERR_NOT_FOUND when it differs. Other failures are fetch's, or SV_ERR_INTERNAL for the disk:
 * the machine is at fault. */
SV_MUST_CHECK enum sv_status worker_cache_link(struct worker_cache *cache, const char *sha256,
                                               int64_t size, int to_fd, const char *name,
                                               worker_fetch_fn fetch, void *ctx,
                                               struct sv_error *err);

/* Files of the worker's own making live in the same directory under the same cap, by a key of 64
 * hex digits. Makes `name` in to_fd a link to the one with that key; false when there is none. */
SV_MUST_CHECK bool worker_cache_link_kept(struct worker_cache *cache, const char *key, int to_fd,
                                          const char *name);
/* Keeps a copy, mode 0444, of the regular file `name` of from_fd (not larger than max_bytes) under
 * the key: whoever wrote it cannot change the copy. SV_ERR_INTERNAL. */
SV_MUST_CHECK enum sv_status worker_cache_keep(struct worker_cache *cache, const char *key,
                                               int from_fd, const char *name, int64_t max_bytes,
                                               struct sv_error *err);

#endif
