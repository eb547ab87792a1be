/* SPDX-License-Identifier: MIT
 *
 * server/worker/cache.c and directory.c: blobs by digest under a cap, directories that a hostile
 * child filled.
 */
#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/sha256.h"
#include "server/worker/cache.h"
#include "server/worker/directory.h"

struct place {
    char path[64];
    int fd;
    int user_fd; /* a private directory, as an attempt has */
    struct worker_cache *cache;
    int fetches;
    enum sv_status fails;
    const char *sends; /* instead of the right bytes; NULL: right */
    char content[16];
};

static void place_open(struct place *place, int64_t cap)
{
    *place = (struct place){.fails = SV_OK};
    strcpy(place->path, "/tmp/assay-cache-XXXXXX");
    assert_non_null(mkdtemp(place->path));
    place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    place->user_fd = worker_directory_make_private(place->fd, "user", 0, 0);
    assert_true(place->user_fd >= 0);
    int cache_fd = worker_directory_open(place->fd, "cache", 0700);
    assert_int_equal(worker_cache_create(cache_fd, cap, &place->cache, NULL), SV_OK);
}

static void place_close(struct place *place)
{
    worker_cache_destroy(place->cache);
    (void)close(place->user_fd);
    assert_true(worker_directory_clear(place->fd));
    (void)close(place->fd);
    assert_int_equal(rmdir(place->path), 0);
}

static enum sv_status fetch(void *ctx, const char *sha256, int fd, struct sv_error *err)
{
    struct place *place = ctx;
    (void)sha256;
    place->fetches++;
    const char *bytes = place->sends ? place->sends : place->content;
    if (write(fd, bytes, strlen(bytes)) != (ssize_t)strlen(bytes)) {
        return SV_ERR_INTERNAL;
    }
    return place->fails == SV_OK ? SV_OK : sv_fail(err, place->fails, "no such blob");
}

/* Links the blob whose content is `content` (10 bytes) as `name`. */
static enum sv_status get(struct place *place, const char *content, const char *name)
{
    uint8_t digest[NN_SHA256_SIZE];
    char hex[NN_SHA256_HEX];
    nn_sha256_of(content, strlen(content), digest);
    nn_sha256_hex(digest, hex);
    (void)snprintf(place->content, sizeof place->content, "%s", content);
    return worker_cache_link(place->cache, hex, (int64_t)strlen(content), place->user_fd, name,
                             fetch, place, NULL);
}

static void assert_holds(struct place *place, const char *name, const char *content)
{
    char bytes[32] = {0};
    int64_t size = 0;
    int fd = worker_file_open(place->user_fd, name, 100, &size);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, bytes, sizeof bytes), (ssize_t)strlen(content));
    assert_string_equal(bytes, content);
    struct stat about;
    assert_int_equal(fstat(fd, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0444);
    (void)close(fd);
}

static void blob_is_fetched_once(void **state)
{
    (void)state;
    struct place place;
    place_open(&place, 1000);
    assert_int_equal(get(&place, "0123456789", "a"), SV_OK);
    assert_int_equal(get(&place, "0123456789", "b"), SV_OK);
    assert_int_equal(place.fetches, 1);
    assert_holds(&place, "a", "0123456789");
    assert_holds(&place, "b", "0123456789");
    assert_int_equal(get(&place, "0123456789", "b"), SV_ERR_INTERNAL); /* the name is taken */
    assert_int_equal(worker_cache_link(place.cache, "../../etc/passwd", 10, place.user_fd, "c",
                                       fetch, &place, NULL),
                     SV_ERR_NOT_FOUND);
    place_close(&place);
}

static void least_recently_used_goes_but_stays_for_its_user(void **state)
{
    (void)state;
    struct place place;
    place_open(&place, 25);
    assert_int_equal(get(&place, "aaaaaaaaaa", "1"), SV_OK);
    (void)usleep(20000);
    assert_int_equal(get(&place, "bbbbbbbbbb", "2"), SV_OK);
    (void)usleep(20000);
    assert_int_equal(get(&place, "aaaaaaaaaa", "3"), SV_OK);
    (void)usleep(20000);
    assert_int_equal(get(&place, "cccccccccc", "4"), SV_OK); /* b goes */
    assert_int_equal(place.fetches, 3);
    assert_holds(&place, "2", "bbbbbbbbbb");
    assert_int_equal(get(&place, "aaaaaaaaaa", "5"), SV_OK);
    assert_int_equal(place.fetches, 3);
    assert_int_equal(get(&place, "bbbbbbbbbb", "6"), SV_OK);
    assert_int_equal(place.fetches, 4);
    place_close(&place);
}

/* By a disk or a hand. */
static void a_cut_blob_is_fetched_again(void **state)
{
    (void)state;
    struct place place;
    char path[sizeof place.path + 80], hex[NN_SHA256_HEX];
    uint8_t digest[NN_SHA256_SIZE];
    place_open(&place, 1000);
    assert_int_equal(get(&place, "0123456789", "a"), SV_OK);
    nn_sha256_of("0123456789", 10, digest);
    nn_sha256_hex(digest, hex);
    (void)snprintf(path, sizeof path, "%s/cache/%s", place.path, hex);
    assert_int_equal(truncate(path, 4), 0);
    assert_int_equal(get(&place, "0123456789", "b"), SV_OK);
    assert_int_equal(place.fetches, 2);
    assert_holds(&place, "b", "0123456789");
    place_close(&place);
}

static void damaged_or_failed_fetch_leaves_nothing(void **state)
{
    (void)state;
    struct place place;
    place_open(&place, 1000);
    place.sends = "0123456";
    assert_int_equal(get(&place, "0123456789", "a"), SV_ERR_NOT_FOUND);
    place.sends = NULL;
    place.fails = SV_ERR_DATABASE;
    assert_int_equal(get(&place, "0123456789", "a"), SV_ERR_DATABASE);
    place.fails = SV_OK;
    assert_int_equal(get(&place, "0123456789", "a"), SV_OK);
    assert_int_equal(place.fetches, 3);
    place_close(&place);
}

static void directory_of_a_child_is_removed_whatever_it_holds(void **state)
{
    (void)state;
    struct place place;
    place_open(&place, 1000);
    char outside[96];
    (void)snprintf(outside, sizeof outside, "%s/outside", place.path);
    assert_int_equal(mkdir(outside, 0700), 0);
    int keep = openat(place.fd, "outside/keep", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(keep >= 0);
    (void)close(keep);
    assert_int_equal(symlinkat(outside, place.user_fd, "link"), 0);
    assert_int_equal(mkfifoat(place.user_fd, "fifo", 0600), 0);
    assert_int_equal(mkdirat(place.user_fd, "deep", 0700), 0);
    assert_int_equal(mkdirat(place.user_fd, "deep/er", 0700), 0);
    int64_t size = 0;
    assert_int_equal(worker_file_open(place.user_fd, "link", 100, &size), -1);
    assert_int_equal(worker_file_open(place.user_fd, "fifo", 100, &size), -1);
    assert_int_equal(worker_file_open(place.user_fd, "../outside/keep", 100, &size), -1);
    assert_int_equal(worker_file_open(place.user_fd, "", 100, &size), -1);
    assert_true(worker_directory_remove(place.fd, "user"));
    assert_int_equal(faccessat(place.fd, "user", F_OK, 0), -1);
    assert_int_equal(faccessat(place.fd, "outside/keep", F_OK, 0), 0);
    assert_true(worker_directory_remove(place.fd, "never was"));
    place_close(&place);
}

static void small_file_is_replaced_whole(void **state)
{
    (void)state;
    struct place place;
    place_open(&place, 1000);
    assert_true(worker_file_write(place.user_fd, "f", "one", 3));
    assert_true(worker_file_write(place.user_fd, "f", "three", 5));
    int64_t size = 0;
    int fd = worker_file_open(place.user_fd, "f", 5, &size);
    assert_true(fd >= 0);
    assert_int_equal(size, 5);
    (void)close(fd);
    assert_int_equal(worker_file_open(place.user_fd, "f", 4, &size), -1); /* over the cap */
    place_close(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blob_is_fetched_once),
        cmocka_unit_test(least_recently_used_goes_but_stays_for_its_user),
        cmocka_unit_test(a_cut_blob_is_fetched_again),
        cmocka_unit_test(damaged_or_failed_fetch_leaves_nothing),
        cmocka_unit_test(directory_of_a_child_is_removed_whatever_it_holds),
        cmocka_unit_test(small_file_is_replaced_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
