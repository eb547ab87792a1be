/* SPDX-License-Identifier: MIT
 *
 * A server with a route for each kind of answer: JSON, files, streams whole and broken, errors,
 * answers from memory.
 */
#ifndef TESTS_SUPPORT_ANSWERS_H
#define TESTS_SUPPORT_ANSWERS_H

#include "tests/support/http_client.h"

enum { ANSWERS_FILE_SIZE = 200000, ANSWERS_STREAM_SIZE = 3000001 };

extern const struct http_route ANSWERS_ROUTES[];
extern const size_t ANSWERS_ROUTE_COUNT;

/* cmocka fixtures; *state becomes the struct test_http. The teardown fails when a stream was not
 * ended. */
int answers_setup(void **state);
int answers_teardown(void **state);

/* The byte of every file and stream at a place. */
char answers_byte(uint64_t at);

/* How often a handler ran of a route that can answer from memory. */
int answers_handled(void);

#endif
