/* SPDX-License-Identifier: MIT
 *
 * What the kernel says about memory: resident sizes and kills.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/worker/worker_internal.h"

bool worker_read_text(int directory_fd, const char *path, char text[WORKER_TEXT_BYTES])
{
    int fd = openat(directory_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t n = read(fd, text, WORKER_TEXT_BYTES - 1);
    (void)close(fd);
    if (n < 0) {
        return false;
    }
    text[n] = '\0';
    return true;
}

int64_t worker_resident_bytes(pid_t pid)
{
    char path[64];
    char text[WORKER_TEXT_BYTES];
    (void)snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    if (!worker_read_text(AT_FDCWD, path, text)) {
        return 0;
    }
    char *field = text; /* size, resident, shared, ... in pages */
    (void)strtol(field, &field, 10);
    long resident = strtol(field, &field, 10);
    long shared = strtol(field, &field, 10);
    return (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE);
}

int64_t worker_kills_in(const char *text)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "oom_kill ", 9) == 0) {
            return strtoll(line + 9, NULL, 10);
        }
    }
    return -1;
}

static int64_t read_kills(const char *path)
{
    char text[WORKER_TEXT_BYTES];
    return worker_read_text(AT_FDCWD, path, text) ? worker_kills_in(text) : -1;
}

/* The path of our group in a hierarchy, from /proc/self/cgroup: "0::/a" or "5:memory:/a". */
static bool find_group(const char *text, const char *controllers, char *out, size_t size)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *colon = strchr(line, ':');
        size_t length = strlen(controllers);
        if (colon && strncmp(colon + 1, controllers, length) == 0 && colon[1 + length] == ':') {
            const char *path = colon + 2 + length;
            (void)snprintf(out, size, "%.*s", (int)strcspn(path, "\n"), path);
            return true;
        }
    }
    return false;
}

bool worker_own_group(const char *controllers, char *out, size_t size)
{
    char text[WORKER_TEXT_BYTES];
    return worker_read_text(AT_FDCWD, "/proc/self/cgroup", text) &&
           find_group(text, controllers, out, size);
}

int64_t worker_kernel_kills(void)
{
    char group[1024];
    char path[1200];
    int64_t kills = -1;
    if (worker_own_group("", group, sizeof group)) {
        (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.events", group);
        kills = read_kills(path);
    }
    if (kills < 0 && worker_own_group("memory", group, sizeof group)) {
        (void)snprintf(path, sizeof path, "/sys/fs/cgroup/memory%s/memory.oom_control", group);
        kills = read_kills(path);
    }
    return kills >= 0 ? kills : read_kills("/proc/vmstat");
}
