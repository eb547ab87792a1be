/* SPDX-License-Identifier: MIT
 *
 * The capped allocator. Each block carries a head in front of it, so that freeing needs no size.
 *
 * Invariants: used counts every live block with its head; used <= cap at all times, also while
 * several threads allocate (the sum is moved by compare-and-swap before memory is asked for).
 */
#include "core/base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

struct nn_memory {
    size_t cap;
    atomic_size_t used;
    atomic_size_t peak;
    atomic_size_t fail_in; /* allocations until the planned failure, 0 = none planned */
};

struct block_head {
    void *raw;    /* as calloc gave it */
    size_t bytes; /* counted in used */
};

/* From here on a block is worth huge pages: strided passes over activations miss the TLB otherwise.
 */
#define HUGE_BYTES ((size_t)4 << 20)

_Static_assert(sizeof(struct block_head) <= NN_ALIGNMENT, "the head fits in front of a block");

enum nn_status nn_memory_create(size_t cap_bytes, struct nn_memory **out_memory)
{
    struct nn_memory *memory = calloc(1, sizeof *memory);
    if (!memory) {
        return NN_ERR_MEMORY;
    }
    memory->cap = cap_bytes;
    *out_memory = memory;
    return NN_OK;
}

void nn_memory_destroy(struct nn_memory *memory)
{
    if (memory) {
        NN_ASSERT(atomic_load(&memory->used) == 0);
        free(memory);
    }
}

/* Counts down to the planned failure; true when it is now. */
static bool failure_is_due(struct nn_memory *memory)
{
    size_t left = atomic_load(&memory->fail_in);
    while (left > 0) {
        if (atomic_compare_exchange_weak(&memory->fail_in, &left, left - 1)) {
            return left == 1;
        }
    }
    return false;
}

static bool reserve(struct nn_memory *memory, size_t bytes)
{
    if (failure_is_due(memory)) {
        return false;
    }
    size_t used = atomic_load(&memory->used);
    do {
        if (bytes > memory->cap || used > memory->cap - bytes) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&memory->used, &used, used + bytes));
    size_t peak = atomic_load(&memory->peak);
    while (used + bytes > peak &&
           !atomic_compare_exchange_weak(&memory->peak, &peak, used + bytes)) {
    }
    return true;
}

static void *aligned_block(size_t bytes)
{
    size_t raw_bytes;
    if (!nn_size_add(bytes, NN_ALIGNMENT, &raw_bytes)) {
        return NULL;
    }
    void *raw = calloc(1, raw_bytes); /* large blocks come as untouched zero pages */
    if (!raw) {
        return NULL;
    }
    uintptr_t start = ((uintptr_t)raw + 2 * (uintptr_t)NN_ALIGNMENT - 1) & ~(uintptr_t)63;
    char *block = (char *)raw + (start - (uintptr_t)raw);
    struct block_head *head = (struct block_head *)(void *)(block - sizeof *head);
    head->raw = raw;
    head->bytes = bytes;
    if (bytes >= HUGE_BYTES) {
        uintptr_t page = (start + 4095) & ~(uintptr_t)4095;
        /* a wish only: the result does not matter */
        (void)madvise(block + (page - start), (bytes - 8192) & ~(size_t)4095, MADV_HUGEPAGE);
    }
    return block;
}

void *nn_memory_alloc(struct nn_memory *memory, size_t count, size_t size)
{
    size_t bytes;
    if (!nn_size_mul(count, size, &bytes) || !nn_size_add(bytes, NN_ALIGNMENT, &bytes)) {
        return NULL;
    }
    if (memory && !reserve(memory, bytes)) {
        return NULL;
    }
    void *block = aligned_block(bytes);
    if (!block && memory) {
        atomic_fetch_sub(&memory->used, bytes);
    }
    return block;
}

void nn_memory_free(struct nn_memory *memory, void *block)
{
    if (!block) {
        return;
    }
    struct block_head head = ((struct block_head *)block)[-1];
    if (memory) {
        size_t before = atomic_fetch_sub(&memory->used, head.bytes);
        NN_ASSERT(before >= head.bytes);
    }
    free(head.raw);
}

size_t nn_memory_cap(const struct nn_memory *memory)
{
    return memory->cap;
}

size_t nn_memory_used(const struct nn_memory *memory)
{
    return atomic_load(&memory->used);
}

size_t nn_memory_peak(const struct nn_memory *memory)
{
    return atomic_load(&memory->peak);
}

void nn_memory_fail_at(struct nn_memory *memory, size_t n)
{
    atomic_store(&memory->fail_in, n);
}

bool nn_memory_pending_failure(const struct nn_memory *memory)
{
    return atomic_load(&memory->fail_in) > 0;
}
