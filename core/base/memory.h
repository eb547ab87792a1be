/* SPDX-License-Identifier: MIT
 *
 * Memory of the core: a budget that refuses allocations over its cap, and arenas for groups of
 * objects with one lifetime. A budget may be shared by threads; an arena is confined to one.
 */
#ifndef NN_BASE_MEMORY_H
#define NN_BASE_MEMORY_H

#include "core/base/base.h"

#define NN_ALIGNMENT 64 /* bytes; of every block and every arena piece */

struct nn_memory;
struct nn_arena;

/* A budget of cap_bytes; SIZE_MAX: no cap. */
NN_MUST_CHECK enum nn_status nn_memory_create(size_t cap_bytes, struct nn_memory **out_memory);

/* Every block must have been freed. NULL is allowed. */
void nn_memory_destroy(struct nn_memory *memory);

/* count * size zeroed bytes at a 64-byte boundary; NULL when the product overflows, the cap would
 * be passed or the machine has no more. A product of 0 gives a valid pointer. memory NULL: no
 * budget, only the machine's. The caller turns NULL into NN_ERR_MEMORY with its own words. */
NN_MUST_CHECK void *nn_memory_alloc(struct nn_memory *memory, size_t count, size_t size);

/* memory is the budget the block came from. NULL block is allowed. */
void nn_memory_free(struct nn_memory *memory, void *block);

size_t nn_memory_cap(const struct nn_memory *memory);
size_t nn_memory_used(const struct nn_memory *memory); /* bytes, with 64 of bookkeeping a block */
size_t nn_memory_peak(const struct nn_memory *memory);

/* For tests of failure paths: the n-th allocation from now on fails, once (1 = the next one; 0 =
 * never). nn_memory_pending_failure tells whether it is still to come. */
void nn_memory_fail_at(struct nn_memory *memory, size_t n);
bool nn_memory_pending_failure(const struct nn_memory *memory);

/* Pieces that are freed together. Grows by blocks of at least block_bytes (0: 64 KiB) taken from
 * memory (may be NULL). */
NN_MUST_CHECK enum nn_status nn_arena_create(struct nn_memory *memory, size_t block_bytes,
                                             struct nn_arena **out_arena);
void nn_arena_destroy(struct nn_arena *arena);

/* Like nn_memory_alloc; lives until the arena is reset or destroyed. */
NN_MUST_CHECK void *nn_arena_alloc(struct nn_arena *arena, size_t count, size_t size);

/* Copy of a string; NULL when there is no memory. */
NN_MUST_CHECK char *nn_arena_text(struct nn_arena *arena, const char *text);

/* Ends the life of every piece; keeps the blocks for the next ones. */
void nn_arena_reset(struct nn_arena *arena);

#endif
