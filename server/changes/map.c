/* SPDX-License-Identifier: MIT
 *
 * The map from id to entry: chained buckets over a fixed array, and a list in order of use.
 */
#include <stdlib.h>
#include <string.h>

#include "server/changes/changes_internal.h"
#include "server/http/query.h"

#define NONE UINT32_MAX

bool changes_map_init(struct changes_map *map, size_t capacity)
{
    uint32_t buckets = 16;
    while (buckets < capacity) {
        buckets *= 2;
    }
    *map = (struct changes_map){.entries = calloc(capacity, sizeof *map->entries),
                                .buckets = malloc(buckets * sizeof *map->buckets),
                                .capacity = (uint32_t)capacity,
                                .bucket_count = buckets};
    if (!map->entries || !map->buckets) {
        changes_map_deinit(map);
        return false;
    }
    changes_map_clear(map);
    return true;
}

void changes_map_deinit(struct changes_map *map)
{
    free(map->entries);
    free(map->buckets);
    *map = (struct changes_map){0};
}

void changes_map_clear(struct changes_map *map)
{
    memset(map->buckets, 0xff, map->bucket_count * sizeof *map->buckets); /* NONE */
    map->count = 0;
    map->oldest = NONE;
    map->newest = NONE;
}

static uint32_t *bucket_of(struct changes_map *map, const char *id)
{
    return &map->buckets[http_hash(HTTP_HASH_SEED, id) & (map->bucket_count - 1)];
}

static void list_remove(struct changes_map *map, uint32_t index)
{
    struct changes_entry *entry = &map->entries[index];
    *(entry->older == NONE ? &map->oldest : &map->entries[entry->older].newer) = entry->newer;
    *(entry->newer == NONE ? &map->newest : &map->entries[entry->newer].older) = entry->older;
}

static void list_append(struct changes_map *map, uint32_t index)
{
    struct changes_entry *entry = &map->entries[index];
    entry->older = map->newest;
    entry->newer = NONE;
    *(map->newest == NONE ? &map->oldest : &map->entries[map->newest].newer) = index;
    map->newest = index;
}

struct changes_entry *changes_map_find(struct changes_map *map, const char *id)
{
    for (uint32_t i = *bucket_of(map, id); i != NONE; i = map->entries[i].next) {
        if (strcmp(map->entries[i].id, id) == 0) {
            list_remove(map, i);
            list_append(map, i);
            return &map->entries[i];
        }
    }
    return NULL;
}

static void bucket_remove(struct changes_map *map, uint32_t index)
{
    uint32_t *link = bucket_of(map, map->entries[index].id);
    while (*link != index) {
        link = &map->entries[*link].next;
    }
    *link = map->entries[index].next;
}

struct changes_entry *changes_map_put(struct changes_map *map, const char *id, bool *out_evicted)
{
    struct changes_entry *entry = changes_map_find(map, id);
    *out_evicted = false;
    if (entry) {
        return entry;
    }
    uint32_t index = map->count;
    if (index < map->capacity) {
        map->count++;
    } else {
        index = map->oldest;
        list_remove(map, index);
        bucket_remove(map, index);
        *out_evicted = true;
    }
    entry = &map->entries[index];
    *entry = (struct changes_entry){.revision = -1};
    (void)strncpy(entry->id, id, sizeof entry->id - 1);
    uint32_t *bucket = bucket_of(map, entry->id);
    entry->next = *bucket;
    *bucket = index;
    list_append(map, index);
    return entry;
}
