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

enum { TEXT_BYTES = 8192 };

/* Reads a small file as text; false when it cannot be read. */
static bool read_text(const char *path, char text[TEXT_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t n = read(fd, text, TEXT_BYTES - 1);
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
    char text[TEXT_BYTES];
    (void)snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    if (!read_text(path, text)) {
        return 0;
    }
    char *field = text; /* size, resident, shared, ... in pages */
    (void)strtol(field, &field, 10);
    long resident = strtol(field, &field, 10);
    long shared = strtol(field, &field, 10);
    return (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE);
}

/* The number behind "oom_kill " in a file; -1 when there is none. */
static int64_t read_kills(const char *path)
{
    char text[TEXT_BYTES];
    if (!read_text(path, text)) {
        return -1;
    }
    for (char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "oom_kill ", 9) == 0) {
            return strtoll(line + 9, NULL, 10);
        }
    }
    return -1;
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

int64_t worker_kernel_kills(void)
{
    char text[TEXT_BYTES];
    char group[1024];
    char path[1200];
    int64_t kills = -1;
    bool read = read_text("/proc/self/cgroup", text);
    if (read && find_group(text, "", group, sizeof group)) {
        (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.events", group);
        kills = read_kills(path);
    }
    if (kills < 0 && read && find_group(text, "memory", group, sizeof group)) {
        (void)snprintf(path, sizeof path, "/sys/fs/cgroup/memory%s/memory.oom_control", group);
        kills = read_kills(path);
    }
    return kills >= 0 ? kills : read_kills("/proc/vmstat");
}
