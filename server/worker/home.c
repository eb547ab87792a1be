/* SPDX-License-Identifier: MIT
 *
 * The worker's directory.
 *
 *   <data_dir>/work/lock         held while it lives
 *                   node         id of the directory
 *                   attempts/    one private directory per running attempt
 *                   cache/       blobs by digest
 *                   checkpoints/ the latest ones of unfinished trials
 *
 * What was removed under a running worker is made again, under the descriptors that all threads
 * know: dup3 replaces what a number stands for at once, so that no user of one needs a lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/config/config.h"
#include "server/worker/directory.h"
#include "server/worker/worker_internal.h"

enum { PROBE_BYTES = 64 * 1024 };

/* `opened` (taken; -1: not to be had) becomes what *fd stands for. */
static bool take_fd(int *fd, int opened)
{
    if (opened < 0) {
        return false;
    }
    if (*fd < 0) {
        *fd = opened;
        return true;
    }
    bool replaced = dup3(opened, *fd, O_CLOEXEC) >= 0;
    (void)close(opened);
    return replaced;
}

static int open_work(const struct worker *worker)
{
    int data_fd = open(worker->setup->data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int work_fd = data_fd < 0 ? -1 : worker_directory_open(data_fd, "work", 0700);
    if (data_fd >= 0) {
        (void)close(data_fd);
    }
    return work_fd;
}

/* Is the lock that we hold still the file of that name? */
static bool holds_lock(const struct worker *worker, int work_fd)
{
    struct stat held;
    struct stat there;
    return worker->lock_fd >= 0 && fstat(worker->lock_fd, &held) == 0 &&
           fstatat(work_fd, "lock", &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

static enum sv_status take_lock(struct worker *worker, int work_fd, struct sv_error *err)
{
    if (holds_lock(worker, work_fd)) {
        return SV_OK;
    }
    int fd = openat(work_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "the worker's directory cannot be locked: %s",
                       strerrordesc_np(errno));
    }
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        (void)close(fd);
        return sv_fail(err, SV_ERR_CONFLICT, "another worker uses this directory");
    }
    return take_fd(&worker->lock_fd, fd) ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "no descriptor");
}

/* The id of the directory, made at its first use; a worker that has one keeps it. */
static bool take_node(struct worker *worker, int work_fd)
{
    int64_t size = 0;
    char id[SV_ID_SIZE] = "";
    int fd = worker_file_open(work_fd, "node", SV_ID_SIZE, &size);
    if (fd >= 0) {
        ssize_t n = read(fd, id, SV_ID_SIZE - 1);
        (void)n;
        (void)close(fd);
    }
    bool known = sv_id_is_valid(worker->node_id);
    if (sv_id_is_valid(id) && (!known || strcmp(id, worker->node_id) == 0)) {
        memcpy(worker->node_id, id, sizeof worker->node_id);
        return true;
    }
    if (!known) {
        sv_id_make(id);
        memcpy(worker->node_id, id, sizeof worker->node_id);
    }
    return worker_file_write(work_fd, "node", worker->node_id, SV_ID_SIZE - 1);
}

static enum sv_status take_directories(struct worker *worker, int work_fd, struct sv_error *err)
{
    int cache_fd = worker_directory_open(work_fd, "cache", 0700);
    bool taken =
        take_fd(&worker->attempts_fd, worker_directory_open(work_fd, "attempts", 0700)) &&
        take_fd(&worker->checkpoints_fd, worker_directory_open(work_fd, "checkpoints", 0700)) &&
        cache_fd >= 0 && take_node(worker, work_fd);
    int reason = errno;
    if (!taken) {
        if (cache_fd >= 0) {
            (void)close(cache_fd);
        }
        return sv_fail(err, SV_ERR_INTERNAL, "the worker's directory cannot be used: %s",
                       strerrordesc_np(reason));
    }
    return worker->cache ? worker_cache_move(worker->cache, cache_fd, err)
                         : worker_cache_create(cache_fd, worker->config->blob_cache_bytes,
                                               &worker->cache, err);
}

static enum sv_status take_home(struct worker *worker, struct sv_error *err)
{
    int work_fd = open_work(worker);
    if (work_fd < 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "the worker's directory cannot be made: %s",
                       strerrordesc_np(errno));
    }
    enum sv_status st = take_lock(worker, work_fd, err);
    if (st == SV_OK) {
        st = take_directories(worker, work_fd, err);
    }
    (void)close(work_fd);
    return st;
}

enum sv_status worker_home_open(struct worker *worker, struct sv_error *err)
{
    enum sv_status st = take_home(worker, err);
    if (st == SV_OK && !worker_directory_clear(worker->attempts_fd)) {
        st = sv_fail(err, SV_ERR_INTERNAL, "what old attempts left cannot be removed");
    }
    return st;
}

enum sv_status worker_home_mend(struct worker *worker, struct sv_error *err)
{
    static const char bytes[PROBE_BYTES];
    const char *probe = "probe";
    enum sv_status st = take_home(worker, err);
    if (st == SV_OK && !worker_file_write(worker->attempts_fd, probe, bytes, sizeof bytes)) {
        st = sv_fail(err, SV_ERR_INTERNAL, "the worker's directory cannot be written: %s",
                     strerrordesc_np(errno));
    }
    (void)unlinkat(worker->attempts_fd, probe, 0);
    return st;
}
