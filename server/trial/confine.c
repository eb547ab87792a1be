/* SPDX-License-Identifier: MIT
 *
 * Limits and identity of a child process.
 */
#include "server/trial/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHILD_NICE = 10 };

static const struct {
    const char *flag;
    size_t offset;
} FLAGS[] = {
    {"--parent", offsetof(struct trial_limits, parent)},
    {"--uid", offsetof(struct trial_limits, uid)},
    {"--gid", offsetof(struct trial_limits, gid)},
    {"--address-space", offsetof(struct trial_limits, address_space)},
    {"--file-size", offsetof(struct trial_limits, file_size)},
    {"--open-files", offsetof(struct trial_limits, open_files)},
    {"--processes", offsetof(struct trial_limits, processes)},
};

static bool parse_number(const char *text, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < 0) {
        return false;
    }
    *out = value;
    return true;
}

bool trial_limits_parse(int argc, char *const *argv, struct trial_limits *out_limits)
{
    struct trial_limits limits = {0};
    for (int i = 0; i < argc; i += 2) {
        bool known = false;
        for (size_t k = 0; k < sizeof FLAGS / sizeof FLAGS[0] && i + 1 < argc; k++) {
            if (strcmp(argv[i], FLAGS[k].flag) == 0) {
                int64_t *field = (int64_t *)(void *)((char *)&limits + FLAGS[k].offset);
                known = parse_number(argv[i + 1], field);
            }
        }
        if (!known) {
            return false;
        }
    }
    *out_limits = limits;
    return true;
}

/* Lowers a limit to `value`, or leaves it where the hard limit is lower already. */
static bool lower_limit(int resource, int64_t value)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) < 0) {
        return false;
    }
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > (rlim_t)value) {
        limit.rlim_max = (rlim_t)value;
    }
    limit.rlim_cur = limit.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &limit) == 0;
}

static bool apply_limits(const struct trial_limits *limits)
{
    return lower_limit(RLIMIT_CORE, 0) &&
           (!limits->address_space || lower_limit(RLIMIT_AS, limits->address_space)) &&
           (!limits->file_size || lower_limit(RLIMIT_FSIZE, limits->file_size)) &&
           (!limits->open_files || lower_limit(RLIMIT_NOFILE, limits->open_files)) &&
           (!limits->processes || lower_limit(RLIMIT_NPROC, limits->processes));
}

static void write_own(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t written = write(fd, text, strlen(text));
        (void)written;
        (void)close(fd);
    }
}

/* Best effort: a system without these files or rights still trains. Where the scheduler groups
 * processes by session, being nice counts inside the group only: then the group, which is ours
 * alone (server/worker/spawn.c), must be nice too, or two trials starve a server for seconds. */
static void yield_to_others(void)
{
    char nice_text[8];
    (void)setpriority(PRIO_PROCESS, 0, CHILD_NICE);
    (void)snprintf(nice_text, sizeof nice_text, "%d", CHILD_NICE);
    write_own("/proc/self/autogroup", nice_text);
    write_own("/proc/self/oom_score_adj", "1000");
}

static bool become_user(const struct trial_limits *limits)
{
    if (!limits->uid) {
        return true;
    }
    return setgroups(0, NULL) == 0 &&
           setresgid((gid_t)limits->gid, (gid_t)limits->gid, (gid_t)limits->gid) == 0 &&
           setresuid((uid_t)limits->uid, (uid_t)limits->uid, (uid_t)limits->uid) == 0 &&
           setuid(0) < 0;
}

enum sv_status trial_confine(const struct trial_limits *limits, struct sv_error *err)
{
    (void)umask(077);
    yield_to_others();
    if (!apply_limits(limits)) {
        return sv_fail(err, SV_ERR_INTERNAL, "cannot set resource limits");
    }
    if (!become_user(limits)) {
        return sv_fail(err, SV_ERR_INTERNAL, "cannot become the unprivileged user");
    }
    /* after the change of user, which clears the death signal */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "cannot give up privileges");
    }
    if (limits->parent && getppid() != (pid_t)limits->parent) {
        return sv_fail(err, SV_ERR_DRAINING, "the supervisor is gone");
    }
    return SV_OK;
}
