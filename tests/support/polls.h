/* SPDX-License-Identifier: MIT
 *
 * A server with a poll, a list and a stream over changes whose source the test drives: what the
 * database notifies, and when it is away. One at a time.
 */
#ifndef TESTS_SUPPORT_POLLS_H
#define TESTS_SUPPORT_POLLS_H

#include <stdatomic.h>

#include "server/changes/changes.h"
#include "tests/support/http_client.h"

#define POLLS_JOB     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define POLLS_OTHER   "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define POLLS_TRIAL   "cccccccccccccccccccccccccccccccc"
#define POLLS_PROJECT "00000000000000000000000000000000"
#define POLLS_FOREIGN "11111111111111111111111111111111"

/* Handlers read it, hence one for all. */
struct polls {
    struct test_http http;
    struct changes *changes;
    atomic_int queries;   /* what would have gone to the database */
    atomic_llong current; /* revision "in the database" */
    /* the next poll that waits: another request's write and its notification come in between */
    atomic_bool write_before_wait;
    size_t map_entries;
};
extern struct polls polls;

/* cmocka fixtures: a map of the usual size, a map of 8 entries. *state becomes the struct
 * test_http, with GET /job?id=&seen=&wait=, /list?generation=&wait= and /events. */
int polls_setup(void **state);
int polls_setup_small(void **state);
int polls_teardown(void **state);

/* The database notifies of a revision in POLLS_PROJECT. */
void polls_push(const char *id, int64_t revision);
/* The connection is lost, with what was on the way, until it is there again. */
void polls_set_away(bool away);
/* Whether the server hears the database, or not, within the patience of tests. */
bool polls_await_listening(bool wanted);

#endif
