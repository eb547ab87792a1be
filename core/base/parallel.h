/* SPDX-License-Identifier: MIT
 *
 * A pool of threads that works through numbered chunks. Callers fix the chunks by the problem,
 * never by the number of threads, and combine results in chunk order: then the bits do not depend
 * on the threads. A pool serves one caller at a time and is not reentrant.
 */
#ifndef NN_BASE_PARALLEL_H
#define NN_BASE_PARALLEL_H

#include "core/base/base.h"
#include "core/base/memory.h"

struct nn_pool;

/* Works on chunk `chunk`; lane is below nn_pool_lanes and no two chunks that run at the same time
 * share one: scratch memory is indexed by it. Must not fail and must not call the pool. */
typedef void (*nn_chunk_fn)(void *ctx, size_t chunk, size_t lane);

/* A pool of at most max_threads (1 to 256), the caller's thread counted; starts max_threads - 1
 * threads with denormals flushed and every signal blocked; the caller flushes its own (cpu.h), or
 * its lane may give other bits. All max_threads are active. memory is borrowed until destroy.
 * NN_ERR_MEMORY, NN_ERR_LIMIT (no thread to be had), NN_ERR_INVALID. */
NN_MUST_CHECK enum nn_status nn_pool_create(struct nn_memory *memory, size_t max_threads,
                                            struct nn_pool **out_pool, struct nn_error *err);
void nn_pool_destroy(struct nn_pool *pool);

/* From the next nn_parallel_for on, n threads work (clamped to 1 .. max_threads). */
void nn_pool_set_threads(struct nn_pool *pool, size_t n);
size_t nn_pool_threads(const struct nn_pool *pool);

/* max_threads; 1 for NULL. */
size_t nn_pool_lanes(const struct nn_pool *pool);

/* Calls fn for every chunk in [0, n_chunks), in any order, and returns when all are done. With pool
 * NULL, one active thread or one chunk: in order, on the caller's thread, lane 0. */
void nn_parallel_for(struct nn_pool *pool, size_t n_chunks, nn_chunk_fn fn, void *ctx);

#endif
