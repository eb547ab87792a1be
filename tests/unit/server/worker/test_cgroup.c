/* SPDX-License-Identifier: MIT
 *
 * server/worker/cgroup.c over directories that look like control groups, and over a real one where
 * ASSAY_TEST_CGROUP names the directory of a group that may be used.
 */
#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "server/worker/cgroup.h"
#include "server/worker/directory.h"

struct tree {
    char path[64];
    int fd;
};

static void tree_open(struct tree *tree)
{
    (void)snprintf(tree->path, sizeof tree->path, "/tmp/assay-cgroup-XXXXXX");
    assert_non_null(mkdtemp(tree->path));
    tree->fd = open(tree->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(tree->fd >= 0);
}

static void tree_close(struct tree *tree)
{
    assert_true(worker_directory_clear(tree->fd));
    (void)close(tree->fd);
    assert_int_equal(rmdir(tree->path), 0);
}

static void put(const struct tree *tree, const char *file, const char *text)
{
    int fd = openat(tree->fd, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
}

static void assert_says(const struct tree *tree, const char *file, const char *text)
{
    char have[128] = "";
    int fd = openat(tree->fd, file, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(read(fd, have, sizeof have - 1) >= 0);
    (void)close(fd);
    assert_string_equal(have, text);
}

/* The files that a kernel makes in a new leaf. */
static void make_leaf(const struct tree *tree, const char *leaf, const char *const *files)
{
    char path[128];
    assert_int_equal(mkdirat(tree->fd, leaf, 0700), 0);
    for (; *files; files++) {
        (void)snprintf(path, sizeof path, "%s/%s", leaf, *files);
        put(tree, path, "");
    }
}

static const char *const V2_FILES[] = {"cgroup.procs", "memory.max", "memory.swap.max",
                                       "memory.oom.group", NULL};
static const char *const V1_FILES[] = {"cgroup.procs", "memory.limit_in_bytes", NULL};

static void version_2_limits_a_leaf(void **state)
{
    (void)state;
    struct tree tree;
    struct worker_cgroup group;
    tree_open(&tree);
    put(&tree, "cgroup.controllers", "cpu memory pids\n");
    put(&tree, "cgroup.subtree_control", "");
    put(&tree, "cgroup.procs", "");
    assert_int_equal(mkdirat(tree.fd, "trial-left", 0700), 0); /* by a worker that was killed */
    assert_int_equal(worker_cgroup_open(tree.path, &group, NULL), SV_OK);
    assert_int_equal(group.version, 2);
    assert_says(&tree, "cgroup.subtree_control", "+memory");
    assert_int_equal(faccessat(tree.fd, "main", F_OK, 0), -1); /* nothing lived here */
    assert_int_equal(faccessat(tree.fd, "trial-left", F_OK, 0), -1);

    make_leaf(&tree, "trial-a-1", V2_FILES);
    int leaf = worker_cgroup_enter(&group, "a-1", 300 << 20, 4711);
    assert_true(leaf >= 0);
    assert_says(&tree, "trial-a-1/memory.max", "314572800");
    assert_says(&tree, "trial-a-1/memory.swap.max", "0");
    assert_says(&tree, "trial-a-1/memory.oom.group", "1");
    assert_says(&tree, "trial-a-1/cgroup.procs", "4711");
    assert_int_equal(worker_cgroup_kills(&group, leaf), 0); /* no file: it does not say */
    put(&tree, "trial-a-1/memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 0\n");
    assert_int_equal(worker_cgroup_kills(&group, leaf), 0);
    put(&tree, "trial-a-1/memory.events", "max 9\noom 1\noom_kill 2\noom_group_kill 1\n");
    assert_int_equal(worker_cgroup_kills(&group, leaf), 2);
    assert_true(worker_directory_clear(leaf));
    worker_cgroup_leave(&group, "a-1", leaf);
    assert_int_equal(faccessat(tree.fd, "trial-a-1", F_OK, 0), -1);
    worker_cgroup_close(&group);
    tree_close(&tree);
}

/* The processes of a delegated group have to leave it before it can limit what is below. */
static void version_2_moves_those_who_live_in_it(void **state)
{
    (void)state;
    struct tree tree;
    struct worker_cgroup group;
    tree_open(&tree);
    put(&tree, "cgroup.controllers", "memory\n");
    put(&tree, "cgroup.subtree_control", "");
    put(&tree, "cgroup.procs", "101\n102\n");
    make_leaf(&tree, "main", V2_FILES);
    assert_int_equal(worker_cgroup_open(tree.path, &group, NULL), SV_OK);
    assert_says(&tree, "main/cgroup.procs", "102"); /* one write each; a file keeps the last */
    worker_cgroup_close(&group);
    tree_close(&tree);
}

/* After a restart a worker lives in the leaf that the one before it made. */
static void a_restarted_worker_finds_its_group_again(void **state)
{
    (void)state;
    struct tree tree;
    tree_open(&tree);
    assert_int_equal(mkdirat(tree.fd, "service", 0700), 0);
    assert_int_equal(mkdirat(tree.fd, "service/main", 0700), 0);
    assert_int_equal(mkdirat(tree.fd, "service/other", 0700), 0);
    assert_int_equal(worker_cgroup_find(tree.path, "/service/main"), -1); /* nothing is delegated */
    int service = openat(tree.fd, "service", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool marked = fsetxattr(service, "user.delegate", "1", 1, 0) == 0 ||
                  fsetxattr(service, "trusted.delegate", "1", 1, 0) == 0;
    (void)close(service);
    for (int i = 0; marked && i < 2; i++) {
        int fd = worker_cgroup_find(tree.path, i == 0 ? "/service" : "/service/main");
        assert_true(fd >= 0);
        assert_int_equal(faccessat(fd, "other", F_OK, 0), 0);
        (void)close(fd);
    }
    assert_int_equal(worker_cgroup_find(tree.path, "/service/other"), -1);
    assert_int_equal(worker_cgroup_find(tree.path, "/main"), -1);
    tree_close(&tree);
    if (!marked) {
        skip(); /* this file system keeps no marks */
    }
}

static void version_1_limits_a_leaf(void **state)
{
    (void)state;
    struct tree tree;
    struct worker_cgroup group;
    tree_open(&tree);
    put(&tree, "memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(worker_cgroup_open(tree.path, &group, NULL), SV_OK);
    assert_int_equal(group.version, 1);
    make_leaf(&tree, "trial-b-2", V1_FILES); /* without accounting of swap */
    int leaf = worker_cgroup_enter(&group, "b-2", 1 << 20, 12);
    assert_true(leaf >= 0);
    assert_says(&tree, "trial-b-2/memory.limit_in_bytes", "1048576");
    assert_says(&tree, "trial-b-2/cgroup.procs", "12");
    put(&tree, "trial-b-2/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    assert_int_equal(worker_cgroup_kills(&group, leaf), 1);
    worker_cgroup_leave(&group, "b-2", leaf);
    worker_cgroup_close(&group);
    tree_close(&tree);
}

/* A leaf that takes no limit is not one: the child stays where it was. */
static void a_leaf_without_its_files_is_given_up(void **state)
{
    (void)state;
    struct tree tree;
    struct worker_cgroup group;
    tree_open(&tree);
    put(&tree, "memory.limit_in_bytes", "");
    assert_int_equal(worker_cgroup_open(tree.path, &group, NULL), SV_OK);
    assert_int_equal(worker_cgroup_enter(&group, "c-3", 1 << 20, 12), -1);
    assert_int_equal(faccessat(tree.fd, "trial-c-3", F_OK, 0), -1);
    assert_int_equal(worker_cgroup_enter(&group, "c-3", 0, 12), -1); /* no limit, no leaf */
    worker_cgroup_close(&group);
    assert_int_equal(worker_cgroup_enter(&group, "c-3", 1 << 20, 12), -1);
    tree_close(&tree);
}

static void only_a_usable_group_may_be_named(void **state)
{
    (void)state;
    struct tree tree;
    struct sv_error err = {0};
    struct worker_cgroup group = {.version = 7, .fd = -1};
    tree_open(&tree);
    const char *bad[] = {tree.path, "/nonexistent", "yes", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(worker_cgroup_open(bad[i], &group, &err), SV_ERR_INVALID_PARAMETER);
        assert_int_equal(group.version, 7);
        assert_null(strstr(err.text, "/"));
    }
    put(&tree, "cgroup.controllers", "cpu pids\n"); /* memory is not ours to limit */
    assert_int_equal(worker_cgroup_open(tree.path, &group, &err), SV_ERR_INVALID_PARAMETER);
    assert_int_equal(worker_cgroup_open("off", &group, &err), SV_OK);
    assert_int_equal(group.version, 0);
    worker_cgroup_close(&group);
    tree_close(&tree);
}

/* B32 by the kernel itself. */
static void a_real_group_ends_what_grows(void **state)
{
    enum { LIMIT = 32 << 20, GROWTH = 256 << 20 };
    (void)state;
    const char *path = getenv("ASSAY_TEST_CGROUP");
    struct worker_cgroup group;
    int go[2];
    char byte = 0;
    int status = 0;
    if (!path) {
        skip();
    }
    assert_int_equal(worker_cgroup_open(path, &group, NULL), SV_OK);
    assert_int_equal(pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *block = read(go[0], &byte, 1) == 1 ? malloc(GROWTH) : NULL;
        for (size_t i = 0; block && i < GROWTH; i += 4096) {
            ((volatile char *)block)[i] = 1;
        }
        _exit(1);
    }
    int leaf = worker_cgroup_enter(&group, "real", LIMIT, pid);
    assert_true(leaf >= 0);
    assert_int_equal(write(go[1], "x", 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(worker_cgroup_kills(&group, leaf) >= 1);
    worker_cgroup_leave(&group, "real", leaf);
    worker_cgroup_close(&group);
    (void)close(go[0]);
    (void)close(go[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_2_limits_a_leaf),
        cmocka_unit_test(version_2_moves_those_who_live_in_it),
        cmocka_unit_test(a_restarted_worker_finds_its_group_again),
        cmocka_unit_test(version_1_limits_a_leaf),
        cmocka_unit_test(a_leaf_without_its_files_is_given_up),
        cmocka_unit_test(only_a_usable_group_may_be_named),
        cmocka_unit_test(a_real_group_ends_what_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
