/* SPDX-License-Identifier: MIT
 *
 * A proxy before a PostgreSQL's Unix socket that can lose answers: the way to see what happens when
 * the answer of a COMMIT never comes though it was done.
 */
#ifndef TESTS_SUPPORT_PROXY_H
#define TESTS_SUPPORT_PROXY_H

#include "tests/support/postgres.h"

struct test_proxy;

/* Listens in a directory of its own; conninfo is that of the server behind it. */
struct test_proxy *test_proxy_start(const struct test_postgres *postgres, const char *database,
                                    char out_conninfo[TEST_CONNINFO_SIZE]);
void test_proxy_stop(struct test_proxy *proxy);

/* The answers to the next n client messages that hold the text are lost, and the connection with
 * them. When `before` the message itself never reaches the server. */
void test_proxy_lose(struct test_proxy *proxy, const char *text, int n, bool before);
/* How many were lost so far. */
int test_proxy_lost(struct test_proxy *proxy);

#endif
