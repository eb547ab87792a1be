/* SPDX-License-Identifier: MIT
 *
 * A server with routes for bodies of every kind (spooled, JSON, capped, refused early, by role),
 * and bodies to send.
 */
#ifndef TESTS_SUPPORT_UPLOADS_H
#define TESTS_SUPPORT_UPLOADS_H

#include "tests/support/http_client.h"

/* cmocka fixtures: three threads, 8 MiB a body, the token "secret" is a submitter's. *state becomes
 * the struct test_http. PUT /file answers size, uploads_hash() and type of what came. */
int uploads_setup(void **state);
int uploads_teardown(void **state);

/* Another server of the same routes: two threads, nobody is asked who it is. */
void uploads_start(struct test_http *t);

/* n bytes, NULs among them, the same for the same n; the caller frees them. */
unsigned char *uploads_bytes(size_t n);

/* FNV-1a; start with HTTP_HASH_SEED (server/http/query.h) or chain. */
uint64_t uploads_hash(uint64_t hash, const unsigned char *bytes, size_t n);

/* The body in chunks of so many bytes. */
void uploads_send_chunks(int fd, const unsigned char *bytes, size_t n, size_t chunk);

#endif
