/* SPDX-License-Identifier: MIT
 *
 * Checkpoint files from outside: names, verification, listing, pruning.
 */
#include "core/training/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/sha256.h"
#include "core/training/checkpoint_format_internal.h"

/* --- one file --------------------------------------------------------------------------------- */

bool nn_checkpoint_size(const struct nn_checkpoint_head *head, size_t *out)
{
    size_t values;
    size_t slots;
    size_t summaries;
    size_t total = sizeof *head + NN_SHA256_SIZE;
    size_t copies = head->at.has_kept ? 2 : 1;
    bool ok = nn_size_mul(head->value_count, copies * sizeof(nn_real), &values) &&
              nn_size_mul(head->slot_count, sizeof(nn_real), &slots) &&
              nn_size_mul(head->summary_count, sizeof(struct nn_checkpoint_summary), &summaries) &&
              nn_size_add(total, values, &total) && nn_size_add(total, slots, &total) &&
              nn_size_add(total, summaries, &total);
    if (ok) {
        *out = total;
    }
    return ok;
}

static bool read_all(int fd, unsigned char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t got = read(fd, bytes, n);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        if (got > 0) {
            bytes += got;
            n -= (size_t)got;
        }
    }
    return true;
}

static enum nn_status file_read(const char *path, unsigned char **out, size_t *out_size,
                                struct nn_error *err)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        int reason = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return nn_fail(err, NN_ERR_IO, "cannot open a checkpoint: %s", strerrordesc_np(reason));
    }
    size_t size = (size_t)info.st_size;
    unsigned char *bytes = malloc(size ? size : 1);
    bool ok = bytes && read_all(fd, bytes, size);
    (void)close(fd);
    if (!ok) {
        free(bytes);
        return nn_fail(err, bytes ? NN_ERR_IO : NN_ERR_MEMORY, "cannot read a checkpoint");
    }
    *out = bytes;
    *out_size = size;
    return NN_OK;
}

static enum nn_status file_verify(const unsigned char *bytes, size_t size, struct nn_error *err)
{
    struct nn_checkpoint_head head;
    size_t expected;
    uint8_t digest[NN_SHA256_SIZE];
    if (size < sizeof head + NN_SHA256_SIZE ||
        memcmp(bytes, NN_CHECKPOINT_MAGIC, sizeof head.magic) != 0) {
        return nn_fail(err, NN_ERR_CORRUPT, "no checkpoint, or cut off in its head");
    }
    memcpy(&head, bytes, sizeof head);
    if (head.version != NN_CHECKPOINT_VERSION || head.real_bytes != sizeof(nn_real)) {
        return nn_fail(err, NN_ERR_CORRUPT, "a checkpoint of version %" PRIu32 ", this is %d",
                       head.version, (int)NN_CHECKPOINT_VERSION);
    }
    if (!nn_checkpoint_size(&head, &expected) || expected != size) {
        return nn_fail(err, NN_ERR_CORRUPT, "a checkpoint of %zu bytes is cut off", size);
    }
    nn_sha256_of(bytes, size - NN_SHA256_SIZE, digest);
    if (memcmp(digest, bytes + size - NN_SHA256_SIZE, NN_SHA256_SIZE) != 0) {
        return nn_fail(err, NN_ERR_CORRUPT, "a checkpoint fails its checksum");
    }
    return NN_OK;
}

enum nn_status nn_checkpoint_load(const char *path, unsigned char **out, size_t *out_size,
                                  struct nn_error *err)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    enum nn_status status = file_read(path, &bytes, &size, err);
    if (status != NN_OK) {
        return status;
    }
    status = file_verify(bytes, size, err);
    if (status != NN_OK) {
        free(bytes);
        return status;
    }
    *out = bytes;
    *out_size = size;
    return NN_OK;
}

enum nn_status nn_checkpoint_verify(const char *path, struct nn_checkpoint_info *out,
                                    struct nn_error *err)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    struct nn_checkpoint_head head = {0};
    enum nn_status status = nn_checkpoint_load(path, &bytes, &size, err);
    if (!bytes) {
        return status;
    }
    memcpy(&head, bytes, sizeof head);
    free(bytes);
    *out = (struct nn_checkpoint_info){
        .version = head.version, .step = head.at.step, .epoch = head.at.epoch, .bytes = size};
    (void)snprintf(out->core_build, sizeof out->core_build, "%.*s", NN_CHECKPOINT_BUILD - 1,
                   head.core_build);
    (void)snprintf(out->spec_digest, sizeof out->spec_digest, "%.*s", NN_CHECKPOINT_DIGEST - 1,
                   head.spec_digest);
    return NN_OK;
}

/* --- a directory ------------------------------------------------------------------------------ */

/* The step in "checkpoint-<15 digits>.bin"; false for any other name. */
static bool name_step(const char *name, uint64_t *out)
{
    static const char PREFIX[] = "checkpoint-";
    size_t prefix = sizeof PREFIX - 1;
    if (strncmp(name, PREFIX, prefix) != 0 ||
        strspn(name + prefix, "0123456789") != NN_CHECKPOINT_STEP_DIGITS ||
        strcmp(name + prefix + NN_CHECKPOINT_STEP_DIGITS, ".bin") != 0) {
        return false;
    }
    *out = strtoull(name + prefix, NULL, 10);
    return true;
}

void nn_checkpoint_path(const char *directory, uint64_t step, char *out, size_t size)
{
    (void)snprintf(out, size, "%s/checkpoint-%0*" PRIu64 ".bin", directory,
                   NN_CHECKPOINT_STEP_DIGITS, step);
}

/* The two highest steps up to `last`, highest first. */
static size_t newest_steps(const char *directory, uint64_t last, uint64_t out_steps[2])
{
    DIR *dir = opendir(directory);
    size_t count = 0;
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        uint64_t step;
        if (!name_step(entry->d_name, &step) || step > last) {
            continue;
        }
        if (count == 0 || step > out_steps[0]) {
            out_steps[1] = count > 0 ? out_steps[0] : 0;
            out_steps[0] = step;
        } else if (count == 1 || step > out_steps[1]) {
            out_steps[1] = step;
        }
        count += count < 2;
    }
    if (dir) {
        (void)closedir(dir);
    }
    return count;
}

size_t nn_checkpoint_list(const char *directory, char out_paths[2][256])
{
    uint64_t steps[2];
    size_t count = newest_steps(directory, UINT64_MAX, steps);
    for (size_t i = 0; i < count; i++) {
        nn_checkpoint_path(directory, steps[i], out_paths[i], sizeof out_paths[i]);
    }
    return count;
}

void nn_checkpoint_prune(const char *directory, uint64_t last)
{
    uint64_t keep[2];
    size_t count = newest_steps(directory, last, keep);
    DIR *dir = opendir(directory);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        uint64_t step = 0;
        bool kept = !name_step(entry->d_name, &step);
        for (size_t i = 0; i < count; i++) {
            kept = kept || step == keep[i];
        }
        if (!kept) {
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
}
