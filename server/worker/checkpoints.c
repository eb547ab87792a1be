/* SPDX-License-Identifier: MIT
 *
 * Checkpoints on the worker's disk: checkpoints/<trial>/<step>-<fence>, the last two of a trial.
 * The fence is in the name, so that a lost attempt writes beside and never over. A file is a hard
 * link to what the child wrote; its content is the child's word and only a child of the same trial
 * reads it (core/training verifies its checksum).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/sha256.h"
#include "server/worker/checkpoints_internal.h"
#include "server/worker/directory.h"
#include "server/worker/worker_internal.h"

enum { KEPT = 2 };

static int open_trial(struct worker *worker, const char *trial_id)
{
    return worker_directory_open(worker->checkpoints_fd, trial_id, 0700);
}

static void file_name(char out[64], int64_t step, int64_t fence)
{
    (void)snprintf(out, 64, "%lld-%lld", (long long)step, (long long)fence);
}

/* Links one stored checkpoint into the attempt's directory: from the disk, else from the database.
 * *out_there is false when no copy can be reached; a database that is away fails. */
static enum sv_status fetch_one(struct worker_slot *slot, int trial_fd,
                                const struct store_checkpoint *row, const char *name,
                                bool *out_there, struct sv_error *err)
{
    char local[64];
    file_name(local, row->step, row->fence);
    if (trial_fd >= 0 && strcmp(row->node_id, slot->worker->node_id) == 0 &&
        linkat(trial_fd, local, slot->directory_fd, name, 0) == 0) {
        *out_there = true;
        return SV_OK;
    }
    *out_there = false;
    if (!row->blob_id[0]) {
        return SV_OK;
    }
    struct store_blob blob = {.size = row->size};
    memcpy(blob.id, row->blob_id, sizeof blob.id);
    memcpy(blob.sha256, row->sha256, sizeof blob.sha256);
    enum sv_status st = worker_slot_link_blob(slot, slot->trial.claim.project_id, &blob, name, err);
    *out_there = st == SV_OK;
    if (st == SV_ERR_NOT_FOUND) {
        log_event(slot->worker->log, SV_LOG_WARN, "checkpoint_not_fetched",
                  LOG_TEXT("trial", slot->trial.claim.trial_id), LOG_INT("step", row->step),
                  LOG_TEXT("text", err->text));
        *err = (struct sv_error){0};
        st = SV_OK; /* no copy is sound: the one before it, or the start */
    }
    return st;
}

enum sv_status worker_checkpoints_fetch(struct worker_slot *slot, struct worker_resume out[2],
                                        size_t *out_n, struct sv_error *err)
{
    struct store_checkpoint_list list = {0};
    size_t n = 0;
    enum sv_status st = store_checkpoints_for_claim(slot->worker->store, &slot->trial.claim,
                                                    &slot->memory, &list, err);
    if (st != SV_OK) {
        return st;
    }
    int trial_fd = list.n > 0 ? open_trial(slot->worker, slot->trial.claim.trial_id) : -1;
    for (size_t i = 0; i < list.n && n < KEPT && st == SV_OK; i++) {
        bool there = false;
        (void)snprintf(out[n].name, sizeof out[n].name, "resume-%zu", n);
        out[n].step = list.rows[i].step;
        st = fetch_one(slot, trial_fd, &list.rows[i], out[n].name, &there, err);
        n += there;
    }
    if (trial_fd >= 0) {
        (void)close(trial_fd);
    }
    *out_n = n;
    return st;
}

/* Links the file under its name here, over an older one of the same step and attempt (the last one
 * of a run may be written twice). */
static bool link_over(int from_fd, const char *name, int trial_fd, const char *local)
{
    static const char fresh[] = ".new";
    (void)unlinkat(trial_fd, fresh, 0);
    bool linked = linkat(from_fd, name, trial_fd, fresh, 0) == 0 &&
                  renameat(trial_fd, fresh, trial_fd, local) == 0;
    (void)unlinkat(trial_fd, fresh, 0); /* left over when both were one file */
    return linked;
}

static bool digest_of(int fd, char out_hex[NN_SHA256_HEX])
{
    enum { BLOCK = 256 * 1024 };
    struct nn_sha256 hash;
    uint8_t digest[NN_SHA256_SIZE];
    char *block = malloc(BLOCK);
    ssize_t n = -1;
    nn_sha256_init(&hash);
    while (block && (n = read(fd, block, BLOCK)) > 0) {
        nn_sha256_update(&hash, block, (size_t)n);
    }
    free(block);
    nn_sha256_finish(&hash, digest);
    nn_sha256_hex(digest, out_hex);
    return n == 0;
}

/* Removes all but the newest files, by step and then fence. */
static void trim(int trial_fd)
{
    struct {
        long long step, fence;
    } kept[KEPT] = {{-1, -1}, {-1, -1}};
    for (int pass = 0; pass < 2; pass++) {
        int list_fd = openat(trial_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *list = list_fd < 0 ? NULL : fdopendir(list_fd);
        struct dirent *entry;
        if (!list) {
            return;
        }
        while ((entry = readdir(list)) != NULL) {
            char *end = NULL;
            long long step = strtoll(entry->d_name, &end, 10);
            if (end == entry->d_name || *end != '-') {
                continue;
            }
            long long fence = strtoll(end + 1, NULL, 10);
            bool newer = step > kept[0].step || (step == kept[0].step && fence > kept[0].fence);
            bool second = step > kept[1].step || (step == kept[1].step && fence > kept[1].fence);
            if (pass == 0 && newer) {
                kept[1] = kept[0];
                kept[0].step = step;
                kept[0].fence = fence;
            } else if (pass == 0 && second) {
                kept[1].step = step;
                kept[1].fence = fence;
            } else if (pass == 1 && !newer && !second &&
                       !(step == kept[1].step && fence == kept[1].fence)) {
                (void)unlinkat(trial_fd, entry->d_name, 0);
            }
        }
        (void)closedir(list);
    }
}

bool worker_checkpoint_is_gone(const struct worker_slot *slot, const char *name)
{
    return name && *name && !strchr(name, '/') &&
           faccessat(slot->directory_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

static void describe(const struct worker *worker, int64_t size, struct store_checkpoint *made)
{
    made->size = size;
    memcpy(made->node_id, worker->node_id, sizeof made->node_id);
    made->core_build = worker->environment.core_build;
    made->core_type = worker->environment.core_type;
    made->instruction_set = worker->environment.instruction_set;
}

enum worker_kept worker_checkpoint_keep(struct worker_slot *slot, const char *name, int64_t step,
                                        int64_t epoch, struct store_checkpoint *out_checkpoint)
{
    struct worker *worker = slot->worker;
    char local[64];
    int64_t size = 0;
    struct store_checkpoint made = {.step = step, .epoch = epoch};
    int fd = worker_file_open(slot->directory_fd, name, STORE_BLOB_MAX, &size);
    if (fd < 0) {
        return WORKER_NOT_A_FILE;
    }
    int trial_fd = open_trial(worker, slot->trial.claim.trial_id);
    file_name(local, step, slot->trial.claim.fence);
    bool kept = trial_fd >= 0 && digest_of(fd, made.sha256) &&
                link_over(slot->directory_fd, name, trial_fd, local) && fsync(trial_fd) == 0 &&
                fsync(worker->checkpoints_fd) == 0;
    if (kept) {
        describe(worker, size, &made);
        *out_checkpoint = made;
        trim(trial_fd);
    }
    (void)close(fd);
    if (trial_fd >= 0) {
        (void)close(trial_fd);
    }
    return kept                                    ? WORKER_KEPT
           : worker_checkpoint_is_gone(slot, name) ? WORKER_NOT_A_FILE
                                                   : WORKER_NOT_KEPT;
}

bool worker_checkpoint_upload(struct worker_slot *slot, int64_t step, struct store_blob *out_blob)
{
    char local[64];
    int trial_fd = open_trial(slot->worker, slot->trial.claim.trial_id);
    file_name(local, step, slot->trial.claim.fence);
    bool uploaded =
        worker_slot_upload(slot, slot->trial.claim.project_id, trial_fd, local, out_blob);
    if (trial_fd >= 0) {
        (void)close(trial_fd);
    }
    return uploaded;
}

void worker_checkpoints_remove(struct worker *worker, const char *trial_id)
{
    (void)worker_directory_remove(worker->checkpoints_fd, trial_id);
}
