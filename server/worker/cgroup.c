/* SPDX-License-Identifier: MIT
 *
 * Control groups of children, v2 and v1, through their files.
 */
#include "server/worker/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "server/worker/worker_internal.h"

enum { NAME_BYTES = 128, PATH_BYTES = 1200 };
static const char LEAF[] = "trial-";
static const char MAIN[] = "/main"; /* the leaf of those who lived in the group itself */

/* Files of a leaf. What may be missing is a refinement: swap accounting is often off. */
static const struct limit {
    int version;
    const char *file;
    const char *value; /* NULL: the bytes */
    bool needed;
} LIMITS[] = {
    {2, "memory.max", NULL, true},
    {2, "memory.swap.max", "0", false},
    {2, "memory.oom.group", "1", false},
    {1, "memory.limit_in_bytes", NULL, true},
    {1, "memory.memsw.limit_in_bytes", NULL, false},
};

static bool put(int directory_fd, const char *file, const char *text)
{
    int fd = openat(directory_fd, file, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t n = write(fd, text, strlen(text));
    (void)close(fd);
    return n == (ssize_t)strlen(text);
}

static bool has(int directory_fd, const char *file)
{
    return faccessat(directory_fd, file, F_OK, 0) == 0;
}

/* Is the word one of those in the file? */
static bool says(int directory_fd, const char *file, const char *word)
{
    char text[WORKER_TEXT_BYTES];
    char *rest = NULL;
    bool found = false;
    if (!worker_read_text(directory_fd, file, text)) {
        return false;
    }
    for (char *at = strtok_r(text, " \n", &rest); at; at = strtok_r(NULL, " \n", &rest)) {
        found = found || strcmp(at, word) == 0;
    }
    return found;
}

/* ----------------------------------------------------------------------------- the group */

/* Moves what lives in the group itself into a leaf: the kernel limits leaves only. */
static bool move_own(int group_fd)
{
    char text[WORKER_TEXT_BYTES];
    char *rest = NULL;
    if (!worker_read_text(group_fd, "cgroup.procs", text) || !text[0]) {
        return true;
    }
    if (mkdirat(group_fd, "main", 0755) < 0 && errno != EEXIST) {
        return false;
    }
    for (char *pid = strtok_r(text, "\n", &rest); pid; pid = strtok_r(NULL, "\n", &rest)) {
        (void)put(group_fd, "main/cgroup.procs", pid); /* one that has ended is no failure */
    }
    return true;
}

/* The version of a usable group, else 0. */
static int prepare(int group_fd)
{
    if (says(group_fd, "cgroup.controllers", "memory")) {
        bool ready = says(group_fd, "cgroup.subtree_control", "memory") ||
                     (move_own(group_fd) && put(group_fd, "cgroup.subtree_control", "+memory"));
        return ready ? 2 : 0;
    }
    return has(group_fd, "memory.limit_in_bytes") && faccessat(group_fd, ".", W_OK, 0) == 0 ? 1 : 0;
}

/* Marked by systemd as left to the service; v2 only, v1 has no such marks. */
static bool is_delegated(int group_fd)
{
    static const char *const marks[] = {"user.delegate", "trusted.delegate"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        char value[2] = "";
        if (fgetxattr(group_fd, marks[i], value, 1) == 1 && value[0] == '1') {
            return true;
        }
    }
    return false;
}

static int open_marked(const char *root, const char *group)
{
    char path[PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s%s", root, group);
    int fd = n > 0 && (size_t)n < sizeof path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0 && !is_delegated(fd)) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

int worker_cgroup_find(const char *root, const char *group)
{
    char above[PATH_BYTES - 100];
    size_t n = strlen(group), tail = sizeof MAIN - 1;
    int fd = open_marked(root, group);
    if (fd >= 0 || n < tail || n - tail >= sizeof above || strcmp(group + n - tail, MAIN) != 0) {
        return fd;
    }
    memcpy(above, group, n - tail);
    above[n - tail] = '\0';
    return open_marked(root, above);
}

static int open_delegated(void)
{
    char group[PATH_BYTES - 100];
    return worker_own_group("", group, sizeof group) ? worker_cgroup_find("/sys/fs/cgroup", group)
                                                     : -1;
}

/* Leaves of a worker that was killed; those with a process in them stay. */
static void sweep(int group_fd)
{
    int list_fd = openat(group_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = list_fd < 0 ? NULL : fdopendir(list_fd);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (strncmp(entry->d_name, LEAF, sizeof LEAF - 1) == 0) {
            (void)unlinkat(group_fd, entry->d_name, AT_REMOVEDIR);
        }
    }
    if (list) {
        (void)closedir(list);
    }
}

enum sv_status worker_cgroup_open(const char *option, struct worker_cgroup *out_group,
                                  struct sv_error *err)
{
    bool named = option[0] == '/';
    int fd = -1;
    if (named) {
        fd = open(option, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } else if (strcmp(option, "auto") == 0) {
        fd = open_delegated();
    } else if (strcmp(option, "off") != 0) {
        return sv_fail(err, SV_ERR_INVALID_PARAMETER, "cgroup must be auto, off or a directory");
    }
    int version = fd >= 0 ? prepare(fd) : 0;
    if (version == 0 && fd >= 0) {
        (void)close(fd);
    }
    if (version == 0 && named) {
        return sv_fail(err, SV_ERR_INVALID_PARAMETER,
                       "cgroup names no control group whose memory this worker may limit");
    }
    if (version) {
        sweep(fd);
    }
    *out_group = (struct worker_cgroup){
        .version = version, .fd = version ? fd : -1, .is_useless = fd >= 0 && version == 0};
    return SV_OK;
}

void worker_cgroup_close(struct worker_cgroup *group)
{
    if (group->version) {
        (void)close(group->fd);
    }
    *group = (struct worker_cgroup){.fd = -1};
}

/* ---------------------------------------------------------------------------- the leaves */

static void leaf_name(const char *name, char out[NAME_BYTES])
{
    (void)snprintf(out, NAME_BYTES, "%s%s", LEAF, name);
}

static bool set_limits(int version, int leaf_fd, int64_t memory_bytes)
{
    char bytes[32];
    (void)snprintf(bytes, sizeof bytes, "%lld", (long long)memory_bytes);
    for (size_t i = 0; i < sizeof LIMITS / sizeof LIMITS[0]; i++) {
        const struct limit *limit = &LIMITS[i];
        if (limit->version == version &&
            !put(leaf_fd, limit->file, limit->value ? limit->value : bytes) && limit->needed) {
            return false;
        }
    }
    return true;
}

int worker_cgroup_enter(const struct worker_cgroup *group, const char *name, int64_t memory_bytes,
                        pid_t pid)
{
    char leaf[NAME_BYTES];
    char number[32];
    if (!group->version || memory_bytes <= 0) {
        return -1;
    }
    leaf_name(name, leaf);
    (void)snprintf(number, sizeof number, "%d", (int)pid);
    if (mkdirat(group->fd, leaf, 0755) < 0 && errno != EEXIST) {
        return -1;
    }
    int fd = openat(group->fd, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && set_limits(group->version, fd, memory_bytes) &&
        put(fd, "cgroup.procs", number)) {
        return fd;
    }
    worker_cgroup_leave(group, name, fd);
    return -1;
}

int64_t worker_cgroup_kills(const struct worker_cgroup *group, int leaf_fd)
{
    char text[WORKER_TEXT_BYTES];
    const char *file = group->version == 2 ? "memory.events" : "memory.oom_control";
    int64_t kills = worker_read_text(leaf_fd, file, text) ? worker_kills_in(text) : 0;
    return kills > 0 ? kills : 0;
}

void worker_cgroup_leave(const struct worker_cgroup *group, const char *name, int leaf_fd)
{
    char leaf[NAME_BYTES];
    leaf_name(name, leaf);
    if (leaf_fd >= 0) {
        (void)close(leaf_fd);
    }
    (void)unlinkat(group->fd, leaf, AT_REMOVEDIR); /* what will not go is empty and does no harm */
}
