/* SPDX-License-Identifier: MIT
 *
 * Arenas: a list of blocks, filled one after the other.
 *
 * Invariants: blocks before `current` are full or too small for what came later; blocks after it
 * are empty; memory in a block beyond `filled` may be dirty after a reset and is zeroed when taken.
 */
#include "core/base/memory.h"

#include <string.h>

struct arena_block {
    struct arena_block *next;
    size_t size;   /* bytes behind the head */
    size_t filled; /* multiple of NN_ALIGNMENT */
};

/* The first piece of a block begins one alignment unit behind its head. */
_Static_assert(sizeof(struct arena_block) <= NN_ALIGNMENT, "the head fits its line");

struct nn_arena {
    struct nn_memory *memory;
    size_t block_bytes;
    struct arena_block *first;
    struct arena_block *current;
};

enum nn_status nn_arena_create(struct nn_memory *memory, size_t block_bytes,
                               struct nn_arena **out_arena)
{
    struct nn_arena *arena = nn_memory_alloc(memory, 1, sizeof *arena);
    if (!arena) {
        return NN_ERR_MEMORY;
    }
    arena->memory = memory;
    arena->block_bytes = block_bytes > 0 ? block_bytes : (size_t)64 << 10;
    *out_arena = arena;
    return NN_OK;
}

void nn_arena_destroy(struct nn_arena *arena)
{
    if (!arena) {
        return;
    }
    struct arena_block *block = arena->first;
    while (block) {
        struct arena_block *next = block->next;
        nn_memory_free(arena->memory, block);
        block = next;
    }
    nn_memory_free(arena->memory, arena);
}

static bool fits(const struct arena_block *block, size_t bytes)
{
    return block && bytes <= block->size - block->filled;
}

/* Moves `current` to a block with room, adding one at the end if there is none. */
static bool find_room(struct nn_arena *arena, size_t bytes)
{
    while (arena->current && !fits(arena->current, bytes) && arena->current->next) {
        arena->current = arena->current->next;
    }
    if (fits(arena->current, bytes)) {
        return true;
    }
    size_t size = bytes > arena->block_bytes ? bytes : arena->block_bytes;
    size_t whole;
    if (!nn_size_add(size, NN_ALIGNMENT, &whole)) {
        return false;
    }
    struct arena_block *block = nn_memory_alloc(arena->memory, whole, 1);
    if (!block) {
        return false;
    }
    block->size = size;
    if (arena->current) {
        arena->current->next = block;
    } else {
        arena->first = block;
    }
    arena->current = block;
    return true;
}

void *nn_arena_alloc(struct nn_arena *arena, size_t count, size_t size)
{
    size_t bytes, rounded;
    if (!nn_size_mul(count, size, &bytes) || !nn_size_add(bytes, NN_ALIGNMENT - 1, &rounded)) {
        return NULL;
    }
    rounded &= ~(size_t)(NN_ALIGNMENT - 1);
    if (!find_room(arena, rounded)) {
        return NULL;
    }
    struct arena_block *block = arena->current;
    char *piece = (char *)block + NN_ALIGNMENT + block->filled;
    block->filled += rounded;
    memset(piece, 0, bytes);
    return piece;
}

char *nn_arena_text(struct nn_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = nn_arena_alloc(arena, size, 1);
    if (copy) {
        memcpy(copy, text, size);
    }
    return copy;
}

void nn_arena_reset(struct nn_arena *arena)
{
    for (struct arena_block *block = arena->first; block; block = block->next) {
        block->filled = 0;
    }
    arena->current = arena->first;
}
