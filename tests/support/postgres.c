/* SPDX-License-Identifier: MIT
 *
 * Starting and stopping of the throwaway PostgreSQL.
 */
#include "tests/support/postgres.h"

#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/patience.h"

#define PG_BIN "/usr/lib/postgresql/15/bin/"

/* Forks and executes argv as user postgres when we are root, its output into directory/log. */
static pid_t spawn(const char *directory, const char *const argv[])
{
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGQUIT);
    const struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;
    if (geteuid() == 0 && (!user || setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0 ||
                           setuid(user->pw_uid) != 0)) {
        _exit(126);
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGQUIT); /* cleared by the change of user */
    if (getppid() != parent || chdir(directory) != 0 || !freopen("log", "a", stdout) ||
        dup2(STDOUT_FILENO, STDERR_FILENO) < 0) {
        _exit(125);
    }
    char *copy[16] = {0};
    for (int i = 0; argv[i] && i < 15; i++) {
        copy[i] = strdup(argv[i]);
    }
    (void)execv(copy[0], copy);
    _exit(127);
}

static bool server_answers(const struct test_postgres *postgres)
{
    char conninfo[TEST_CONNINFO_SIZE];
    test_postgres_conninfo(postgres, "postgres", conninfo);
    PGconn *pg = PQconnectdb(conninfo);
    bool answers = PQstatus(pg) == CONNECTION_OK;
    PQfinish(pg);
    return answers;
}

void test_postgres_start(struct test_postgres *postgres)
{
    const char *const argv[] = {
        PG_BIN "postgres",     "-D", "data",      "-k", postgres->directory,  "-c",
        "listen_addresses=",   "-c", "fsync=off", "-c", "max_connections=60", "-c",
        "shared_buffers=32MB", NULL};
    postgres->pid = spawn(postgres->directory, argv);
    int64_t until = test_patience();
    do {
        if (server_answers(postgres)) {
            return;
        }
    } while (test_patience_lasts(until));
    fail_msg("PostgreSQL did not start in %s", postgres->directory);
}

void test_postgres_stop(struct test_postgres *postgres, int signal)
{
    if (postgres->pid > 0) {
        (void)kill(postgres->pid, signal);
        (void)waitpid(postgres->pid, NULL, 0);
        postgres->pid = 0;
    }
}

int test_postgres_setup(void **state)
{
    struct test_postgres *postgres = calloc(1, sizeof *postgres);
    assert_non_null(postgres);
    (void)snprintf(postgres->directory, sizeof postgres->directory, "/tmp/assay-test-XXXXXX");
    assert_non_null(mkdtemp(postgres->directory));
    const struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;
    if (user) {
        assert_int_equal(chown(postgres->directory, user->pw_uid, user->pw_gid), 0);
    }
    const char *const argv[] = {
        PG_BIN "initdb",     "-D", "data", "-U", "assay", "-A", "trust", "--locale=C.UTF-8", "-N",
        "--no-instructions", NULL};
    int status = 1;
    pid_t pid = spawn(postgres->directory, argv);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    test_postgres_start(postgres);
    *state = postgres;
    return 0;
}

int test_postgres_teardown(void **state)
{
    struct test_postgres *postgres = *state;
    test_postgres_stop(postgres, SIGQUIT);
    const char *const argv[] = {"/bin/rm", "-rf", "--", postgres->directory, NULL};
    pid_t pid = spawn(postgres->directory, argv);
    (void)waitpid(pid, NULL, 0);
    (void)rmdir(postgres->directory);
    free(postgres);
    return 0;
}

void test_postgres_conninfo(const struct test_postgres *postgres, const char *database,
                            char out_conninfo[TEST_CONNINFO_SIZE])
{
    (void)snprintf(out_conninfo, TEST_CONNINFO_SIZE, "host=%s user=assay dbname=%s",
                   postgres->directory, database);
}

static char *run_sql(const char *conninfo, const char *sql)
{
    PGconn *pg = PQconnectdb(conninfo);
    PGresult *result = PQexec(pg, sql);
    ExecStatusType code = PQresultStatus(result);
    char *text = NULL;
    if (code == PGRES_TUPLES_OK && PQntuples(result) > 0 && !PQgetisnull(result, 0, 0)) {
        text = strdup(PQgetvalue(result, 0, 0));
    }
    bool fine = code == PGRES_TUPLES_OK || code == PGRES_COMMAND_OK;
    if (!fine) {
        print_error("%s\n%s", sql, PQerrorMessage(pg));
    }
    PQclear(result);
    PQfinish(pg);
    assert_true(fine);
    return text;
}

void test_sql(const char *conninfo, const char *sql)
{
    free(run_sql(conninfo, sql));
}

int64_t test_sql_number(const char *conninfo, const char *sql)
{
    char *text = run_sql(conninfo, sql);
    assert_non_null(text);
    int64_t number = strtoll(text, NULL, 10);
    free(text);
    return number;
}

char *test_sql_text(const char *conninfo, const char *sql)
{
    return run_sql(conninfo, sql);
}

int test_sql_script(const char *conninfo, const char *script,
                    void (*fn)(void *ctx, const char *value), void *ctx)
{
    PGconn *pg = PQconnectdb(conninfo);
    int statements = 0;
    assert_int_equal(PQsendQuery(pg, script), 1);
    for (PGresult *result = PQgetResult(pg); result; result = PQgetResult(pg)) {
        ExecStatusType code = PQresultStatus(result);
        if (code != PGRES_TUPLES_OK && code != PGRES_COMMAND_OK) {
            fail_msg("%s", PQerrorMessage(pg));
        }
        if (PQntuples(result) > 0) {
            fn(ctx, PQgetvalue(result, 0, 0));
        }
        statements++;
        PQclear(result);
    }
    PQfinish(pg);
    return statements;
}
