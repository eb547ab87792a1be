/* SPDX-License-Identifier: MIT
 *
 * The blob cache. A file's name is its digest, its modification time the time of its last use.
 * Temporary names begin with a dot.
 */
#include "server/worker/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/sha256.h"
#include "server/worker/directory.h"

#define TEMPORARY ".fetch"

struct worker_cache {
    int fd;
    int64_t cap_bytes;
    pthread_mutex_t fetching; /* guards TEMPORARY and the throwing out */
};

struct cached {
    char name[NN_SHA256_HEX];
    int64_t size;
    struct timespec used;
};

struct cached_list {
    struct cached *items;
    size_t n;
    size_t capacity;
};

enum sv_status worker_cache_create(int directory_fd, int64_t cap_bytes,
                                   struct worker_cache **out_cache, struct sv_error *err)
{
    struct worker_cache *cache = calloc(1, sizeof *cache);
    if (!cache || directory_fd < 0 || pthread_mutex_init(&cache->fetching, NULL) != 0) {
        free(cache);
        if (directory_fd >= 0) {
            (void)close(directory_fd);
        }
        return sv_fail(err, SV_ERR_INTERNAL, "cannot make the blob cache");
    }
    cache->fd = directory_fd;
    cache->cap_bytes = cap_bytes;
    (void)unlinkat(cache->fd, TEMPORARY, 0);
    *out_cache = cache;
    return SV_OK;
}

void worker_cache_destroy(struct worker_cache *cache)
{
    if (!cache) {
        return;
    }
    (void)pthread_mutex_destroy(&cache->fetching);
    (void)close(cache->fd);
    free(cache);
}

enum sv_status worker_cache_move(struct worker_cache *cache, int directory_fd, struct sv_error *err)
{
    bool moved = dup3(directory_fd, cache->fd, O_CLOEXEC) >= 0;
    (void)close(directory_fd);
    return moved ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "the blob cache cannot be moved");
}

/* What a disk fault or a hand has cut would fail each trial that is given it: it is thrown out. */
static void drop_if_cut(struct worker_cache *cache, const char *sha256, int64_t size)
{
    struct stat about;
    if (fstatat(cache->fd, sha256, &about, AT_SYMLINK_NOFOLLOW) == 0 && about.st_size != size) {
        (void)unlinkat(cache->fd, sha256, 0);
    }
}

/* Links a cached file and marks it used; false when it is not cached (errno ENOENT) or the link
 * cannot be made. */
static bool link_cached(struct worker_cache *cache, const char *sha256, int to_fd, const char *name)
{
    if (linkat(cache->fd, sha256, to_fd, name, 0) < 0) {
        return false;
    }
    (void)utimensat(cache->fd, sha256, NULL, AT_SYMLINK_NOFOLLOW);
    return true;
}

static bool has_digest(int fd, const char *sha256)
{
    enum { BLOCK = 256 * 1024 };
    struct nn_sha256 hash;
    uint8_t digest[NN_SHA256_SIZE];
    char hex[NN_SHA256_HEX];
    char *block = malloc(BLOCK);
    ssize_t n = -1;
    off_t at = 0;
    nn_sha256_init(&hash);
    while (block && (n = pread(fd, block, BLOCK, at)) > 0) {
        nn_sha256_update(&hash, block, (size_t)n);
        at += n;
    }
    free(block);
    nn_sha256_finish(&hash, digest);
    nn_sha256_hex(digest, hex);
    return n == 0 && strcmp(hex, sha256) == 0;
}

static enum sv_status fetch_blob(struct worker_cache *cache, const char *sha256,
                                 worker_fetch_fn fetch, void *ctx, struct sv_error *err)
{
    int fd = openat(cache->fd, TEMPORARY, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "the blob cache cannot be written: %s",
                       strerrordesc_np(errno));
    }
    enum sv_status st = fetch(ctx, sha256, fd, err);
    if (st == SV_OK && !has_digest(fd, sha256)) {
        st = sv_fail(err, SV_ERR_NOT_FOUND, "a stored content does not match its digest");
    }
    if (st == SV_OK && (fchmod(fd, 0444) < 0 || fsync(fd) < 0 ||
                        renameat(cache->fd, TEMPORARY, cache->fd, sha256) < 0)) {
        st = sv_fail(err, SV_ERR_INTERNAL, "the blob cache cannot be written");
    }
    if (st != SV_OK) {
        (void)unlinkat(cache->fd, TEMPORARY, 0);
    }
    (void)close(fd);
    return st;
}

static void add_cached(struct cached_list *list, const char *name, const struct stat *about)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct cached *items = realloc(list->items, capacity * sizeof *items);
        if (!items) {
            return;
        }
        list->items = items;
        list->capacity = capacity;
    }
    struct cached *item = &list->items[list->n++];
    memcpy(item->name, name, sizeof item->name);
    item->size = about->st_size;
    item->used = about->st_mtim;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct cached *)a)->used;
    const struct timespec *y = &((const struct cached *)b)->used;
    if (x->tv_sec != y->tv_sec) {
        return x->tv_sec < y->tv_sec ? -1 : 1;
    }
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* Removes the least recently used until the rest fits under the cap. */
static void throw_out(struct worker_cache *cache)
{
    struct cached_list list = {0};
    int64_t total = 0;
    int list_fd = openat(cache->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = list_fd < 0 ? NULL : fdopendir(list_fd);
    if (!directory) {
        if (list_fd >= 0) {
            (void)close(list_fd);
        }
        return;
    }
    struct dirent *entry;
    struct stat about;
    while ((entry = readdir(directory)) != NULL) {
        if (strlen(entry->d_name) == NN_SHA256_HEX - 1 &&
            fstatat(cache->fd, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0) {
            add_cached(&list, entry->d_name, &about);
            total += about.st_size;
        }
    }
    (void)closedir(directory);
    if (list.n > 0) {
        qsort(list.items, list.n, sizeof *list.items, by_use);
    }
    for (size_t i = 0; i < list.n && total > cache->cap_bytes; i++) {
        if (unlinkat(cache->fd, list.items[i].name, 0) == 0) {
            total -= list.items[i].size;
        }
    }
    free(list.items);
}

enum sv_status worker_cache_link(struct worker_cache *cache, const char *sha256, int64_t size,
                                 int to_fd, const char *name, worker_fetch_fn fetch, void *ctx,
                                 struct sv_error *err)
{
    if (strlen(sha256) != NN_SHA256_HEX - 1 ||
        strspn(sha256, "0123456789abcdef") != NN_SHA256_HEX - 1) {
        return sv_fail(err, SV_ERR_NOT_FOUND, "not a digest");
    }
    drop_if_cut(cache, sha256, size);
    if (link_cached(cache, sha256, to_fd, name)) {
        return SV_OK;
    }
    enum sv_status st = SV_OK;
    (void)pthread_mutex_lock(&cache->fetching);
    if (!link_cached(cache, sha256, to_fd, name)) {
        st = fetch_blob(cache, sha256, fetch, ctx, err);
        if (st == SV_OK && !link_cached(cache, sha256, to_fd, name)) {
            st = sv_fail(err, SV_ERR_INTERNAL, "a cached blob cannot be linked");
        }
        throw_out(cache);
    }
    (void)pthread_mutex_unlock(&cache->fetching);
    return st;
}

/* ---------------------------------------------------------------------- files of our own making */

bool worker_cache_link_kept(struct worker_cache *cache, const char *key, int to_fd,
                            const char *name)
{
    return link_cached(cache, key, to_fd, name);
}

static bool copy_bytes(int from, int to, int64_t size)
{
    off_t at = 0;
    while (at < size) {
        ssize_t n = sendfile(to, from, &at, (size_t)(size - at));
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
    }
    return true;
}

enum sv_status worker_cache_keep(struct worker_cache *cache, const char *key, int from_fd,
                                 const char *name, int64_t max_bytes, struct sv_error *err)
{
    int64_t size = 0;
    int from = worker_file_open(from_fd, name, max_bytes, &size);
    if (from < 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "a file to keep cannot be read");
    }
    (void)pthread_mutex_lock(&cache->fetching);
    int to = openat(cache->fd, TEMPORARY, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool kept = to >= 0 && copy_bytes(from, to, size) && fchmod(to, 0444) == 0 &&
                renameat(cache->fd, TEMPORARY, cache->fd, key) == 0;
    if (!kept) {
        (void)unlinkat(cache->fd, TEMPORARY, 0);
    }
    if (to >= 0) {
        (void)close(to);
    }
    throw_out(cache);
    (void)pthread_mutex_unlock(&cache->fetching);
    (void)close(from);
    return kept ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "the blob cache cannot be written");
}
