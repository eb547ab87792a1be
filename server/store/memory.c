/* SPDX-License-Identifier: MIT
 *
 * Memory of results: a list of blocks, freed together. Small pieces share a block; a piece larger
 * than a quarter of a block gets its own.
 */
#include <stdlib.h>
#include <string.h>

#include "server/store/sql_internal.h"

enum { BLOCK_BYTES = 16384, ALIGNMENT = 16 };

struct store_memory_block {
    struct store_memory_block *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char data[];
};

static struct store_memory_block *block_create(size_t size)
{
    struct store_memory_block *block = malloc(sizeof *block + size);
    if (block) {
        *block = (struct store_memory_block){.size = size};
    }
    return block;
}

void *store_memory_take(struct store_memory *memory, size_t size)
{
    if (size > SIZE_MAX / 2) {
        memory->failed = true;
        return NULL;
    }
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct store_memory_block *block = memory->blocks;
    if (!block || block->size - block->used < size) {
        bool own = size > BLOCK_BYTES / 4;
        block = block_create(own ? size : BLOCK_BYTES);
        if (!block) {
            memory->failed = true;
            return NULL;
        }
        if (own && memory->blocks) { /* keep filling the block in front */
            block->next = memory->blocks->next;
            memory->blocks->next = block;
        } else {
            block->next = memory->blocks;
            memory->blocks = block;
        }
    }
    void *piece = block->data + block->used;
    block->used += size;
    memset(piece, 0, size);
    return piece;
}

void *store_memory_array(struct store_memory *memory, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        memory->failed = true;
        return NULL;
    }
    return store_memory_take(memory, bytes ? bytes : 1);
}

char *store_memory_copy(struct store_memory *memory, const char *text, size_t n)
{
    char *copy = store_memory_take(memory, n + 1);
    if (copy) {
        memcpy(copy, text, n);
    }
    return copy;
}

enum sv_status store_memory_check(const struct store_memory *memory, struct sv_error *err)
{
    return memory->failed ? sv_fail(err, SV_ERR_INTERNAL, "out of memory") : SV_OK;
}

void store_memory_clear(struct store_memory *memory)
{
    while (memory->blocks) {
        struct store_memory_block *block = memory->blocks;
        memory->blocks = block->next;
        free(block);
    }
    memory->failed = false;
}
