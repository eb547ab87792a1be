/* SPDX-License-Identifier: MIT
 *
 * server/store/cluster.h: making, starting, stale pid files, adopting, refusing.
 */
#include "tests/support/cmocka_all.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/store/cluster.h"
#include "server/store/store.h"
#include "tests/support/patience.h"
#include "tests/support/postgres.h"

enum { PATH_BYTES = STORE_PATH_SIZE + 32, NAME_BYTES = PATH_BYTES + 32 };

static pid_t start(const struct store_cluster *cluster, const struct store_cluster_options *options)
{
    struct store_cluster_command command;
    store_cluster_command(cluster, options, &command);
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr)) {
            _exit(1);
        }
        store_cluster_exec(cluster, &command);
        _exit(127);
    }
    return pid;
}

static void stop(pid_t pid, int signal)
{
    assert_int_equal(kill(pid, signal), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[NAME_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

struct place {
    char directory[64];
    struct store_cluster_options options;
};

static void open_place(struct place *place)
{
    (void)snprintf(place->directory, sizeof place->directory, "/tmp/assay-cluster-XXXXXX");
    assert_non_null(mkdtemp(place->directory));
    assert_int_equal(chmod(place->directory, 0711), 0);
    place->options = (struct store_cluster_options){.data_dir = place->directory};
}

static void close_place(struct place *place)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf -- %s", place->directory);
    assert_int_equal(system(command), 0);
}

/* A kill during initdb left half a cluster; then all of a life: start, adopt, kill, start again
 * over a stale pid file, another program under the pid, stop. */
static void a_cluster_lives(void **state)
{
    (void)state;
    struct place place;
    struct store_cluster cluster;
    struct store_cluster again;
    struct sv_error err = {0};
    char conninfo[STORE_CONNINFO_SIZE];
    open_place(&place);
    char half[PATH_BYTES];
    (void)snprintf(half, sizeof half, "%s/pg.tmp", place.directory);
    assert_int_equal(mkdir(half, 0700), 0);
    write_file(half, "PG_VERSION", "15\n");
    assert_int_equal(store_cluster_prepare(&place.options, &cluster, &err), SV_OK);
    assert_int_equal(cluster.major, 15);
    assert_int_equal(cluster.running_pid, 0);
    assert_int_equal(access(half, F_OK), -1);

    pid_t pid = start(&cluster, &place.options);
    assert_int_equal(store_cluster_wait_ready(&cluster, TEST_PATIENCE_MS, &err), SV_OK);
    assert_int_equal(store_cluster_pid(&cluster), pid);
    store_cluster_conninfo(&cluster, conninfo);
    char *facts = test_sql_text(conninfo, "select current_setting('data_checksums') || ' ' ||"
                                          " current_setting('listen_addresses') || ' ' ||"
                                          " current_setting('lc_collate') || ' ' || current_user");
    assert_string_equal(facts, "on  C.UTF-8 assay");
    free(facts);
    assert_int_equal(store_cluster_prepare(&place.options, &again, &err), SV_OK);
    assert_int_equal(again.running_pid, pid);
    assert_string_equal(again.password, cluster.password);

    stop(pid, SIGKILL);
    assert_int_equal(store_cluster_pid(&cluster), 0);
    /* pid reused by another program, here by this one */
    char pid_file[PATH_BYTES + 40];
    (void)snprintf(pid_file, sizeof pid_file, "%ld\n%s\n1\n5432\n", (long)getpid(), cluster.pg_dir);
    for (int64_t until = test_patience(); test_patience_lasts(until);) { /* orphaned backends go */
        write_file(cluster.pg_dir, "postmaster.pid", pid_file);
        assert_int_equal(store_cluster_prepare(&place.options, &again, &err), SV_OK);
        (void)snprintf(half, sizeof half, "%s/postmaster.pid", cluster.pg_dir);
        if (access(half, F_OK) != 0) {
            break;
        }
    }
    assert_int_equal(again.running_pid, 0);
    pid = start(&again, &place.options);
    assert_int_equal(store_cluster_wait_ready(&again, TEST_PATIENCE_MS, &err), SV_OK);
    stop(pid, store_cluster_stop_signal());
    close_place(&place);
}

static void another_major_version_is_refused(void **state)
{
    (void)state;
    struct place place;
    struct store_cluster cluster;
    struct sv_error err = {0};
    char pg[PATH_BYTES];
    open_place(&place);
    (void)snprintf(pg, sizeof pg, "%s/pg", place.directory);
    assert_int_equal(mkdir(pg, 0700), 0);
    write_file(pg, "PG_VERSION", "9\n");
    assert_int_not_equal(store_cluster_prepare(&place.options, &cluster, &err), SV_OK);
    assert_non_null(strstr(err.text, "assayd backup"));
    assert_non_null(strstr(err.text, "assayd restore"));
    close_place(&place);
}

/* The socket's address holds 108 bytes. */
static void a_long_path_gets_a_short_socket(void **state)
{
    (void)state;
    struct place place;
    struct store_cluster cluster = {0};
    struct sv_error err = {0};
    char deep[200];
    open_place(&place);
    (void)snprintf(deep, sizeof deep, "%s/%0100d", place.directory, 7);
    assert_int_equal(mkdir(deep, 0711), 0);
    place.options.data_dir = deep;
    char pg[PATH_BYTES];
    (void)snprintf(pg, sizeof pg, "%s/pg", deep); /* no initdb: it looks like a cluster */
    assert_int_equal(mkdir(pg, 0700), 0);
    write_file(pg, "PG_VERSION", "15\n");
    write_file(deep, "pg-password",
               "0123456789012345678901234567890123456789012345678901234567890123");
    assert_int_equal(store_cluster_prepare(&place.options, &cluster, &err), SV_OK);
    assert_int_equal(strncmp(cluster.socket_dir, "/tmp/assay-", 11), 0);
    assert_true(strlen(cluster.socket_dir) + strlen("/.s.PGSQL.5432") < 108);
    (void)rmdir(cluster.socket_dir);
    close_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cluster_lives),
        cmocka_unit_test(another_major_version_is_refused),
        cmocka_unit_test(a_long_path_gets_a_short_socket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
