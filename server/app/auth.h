/* SPDX-License-Identifier: MIT
 *
 * Who asks: bearer tokens against server/store, kept for some seconds, so that a poll answered from
 * memory needs no database. Until the first token is made, only loopback peers are served, as
 * administrators of the default project. From then on everybody needs one, also when all have been
 * revoked or have expired: `assayd token create` on the machine lets its operator in again.
 */
#ifndef APP_AUTH_H
#define APP_AUTH_H

#include "server/http/request.h"

struct app_auth; /* guarded by a mutex of its own */
struct store;

/* A revoked token, and the first one made, take effect after this time at the latest; while the
 * database says nothing (store_is_silent), what was known goes on to hold for up to a minute. */
enum { APP_AUTH_KEPT_MS = 5000 };

SV_MUST_CHECK enum sv_status app_auth_create(struct store *store, struct app_auth **out_auth,
                                             struct sv_error *err);
void app_auth_destroy(struct app_auth *auth);

/* SV_ERR_UNAUTHENTICATED, SV_ERR_DATABASE when it is not known and cannot be asked. */
SV_MUST_CHECK enum sv_status app_auth_check(struct app_auth *auth, const struct http_request *req,
                                            struct http_actor *out_actor, struct sv_error *err);

/* The same without asking: false when the answer is not kept. Never blocks for long. */
bool app_auth_recall(struct app_auth *auth, const struct http_request *req,
                     struct http_actor *out_actor);

#endif
