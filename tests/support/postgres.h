/* SPDX-License-Identifier: MIT
 *
 * A throwaway PostgreSQL for one test binary: initdb in a temporary directory, Unix socket only, no
 * fsync, as user postgres when we are root. It dies with the test process.
 */
#ifndef TESTS_SUPPORT_POSTGRES_H
#define TESTS_SUPPORT_POSTGRES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TEST_CONNINFO_SIZE = 512 };

struct test_postgres {
    char directory[64];
    pid_t pid; /* of the postmaster, 0 when it does not run */
};

/* cmocka group fixtures: *state becomes a struct test_postgres with a running server. */
int test_postgres_setup(void **state);
int test_postgres_teardown(void **state);

/* Starts the server (again) and waits until it takes connections; fails the test otherwise. */
void test_postgres_start(struct test_postgres *postgres);
/* Sends the signal to the postmaster and waits for its end: SIGINT stops fast, SIGQUIT at once. */
void test_postgres_stop(struct test_postgres *postgres, int signal);

void test_postgres_conninfo(const struct test_postgres *postgres, const char *database,
                            char out_conninfo[TEST_CONNINFO_SIZE]);

/* Run SQL on a connection of its own; fail the test when it is refused. */
void test_sql(const char *conninfo, const char *sql);
/* The first column of the first row: a number, or a text that the caller frees (NULL for null). */
int64_t test_sql_number(const char *conninfo, const char *sql);
char *test_sql_text(const char *conninfo, const char *sql);

/* Runs a script on one connection; fn gets the first column of every first row. Returns the number
 * of statements. */
int test_sql_script(const char *conninfo, const char *script,
                    void (*fn)(void *ctx, const char *value), void *ctx);

#endif
