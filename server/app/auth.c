/* SPDX-License-Identifier: MIT
 *
 * Authentication with a small memory: a direct-mapped table by the token's digest. Only digests are
 * kept, and only of tokens that were good.
 */
#include "server/app/auth.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/sha256.h"
#include "server/base/clock.h"
#include "server/store/projects.h"

enum { ROWS = 256, SILENT_MS = 60000 };

_Static_assert(sizeof((struct http_actor *)0)->name == sizeof((struct store_scope *)0)->actor,
               "the name of a token is copied whole");

struct kept {
    uint8_t digest[NN_SHA256_SIZE];
    struct http_actor actor;
    int64_t until_ms; /* 0: empty */
};

struct app_auth {
    struct store *store;
    pthread_mutex_t mutex;
    struct kept rows[ROWS];
    bool tokens_exist;
    int64_t exist_until_ms; /* 0: not known */
};

enum sv_status app_auth_create(struct store *store, struct app_auth **out_auth,
                               struct sv_error *err)
{
    struct app_auth *auth = calloc(1, sizeof *auth);
    if (!auth || pthread_mutex_init(&auth->mutex, NULL) != 0) {
        free(auth);
        return sv_fail(err, SV_ERR_INTERNAL, "no memory");
    }
    auth->store = store;
    *out_auth = auth;
    return SV_OK;
}

void app_auth_destroy(struct app_auth *auth)
{
    if (auth) {
        (void)pthread_mutex_destroy(&auth->mutex);
        free(auth);
    }
}

/* Does what was learned until then still hold? While the database says nothing it can neither be
 * asked nor told that a token is revoked: then for a while longer. Called with the mutex held; that
 * of the store comes after it. */
static bool holds(const struct app_auth *auth, int64_t until_ms)
{
    int64_t now_ms = sv_clock_monotonic_ms();
    return now_ms < until_ms ||
           (until_ms > 0 && now_ms < until_ms + SILENT_MS && store_is_silent(auth->store));
}

static bool recall(struct app_auth *auth, const uint8_t digest[NN_SHA256_SIZE],
                   struct http_actor *out_actor)
{
    struct kept *row = &auth->rows[digest[0]];
    (void)pthread_mutex_lock(&auth->mutex);
    bool found = memcmp(row->digest, digest, NN_SHA256_SIZE) == 0 && holds(auth, row->until_ms);
    if (found) {
        *out_actor = row->actor;
    }
    (void)pthread_mutex_unlock(&auth->mutex);
    return found;
}

static void remember(struct app_auth *auth, const uint8_t digest[NN_SHA256_SIZE],
                     const struct http_actor *actor)
{
    struct kept *row = &auth->rows[digest[0]];
    (void)pthread_mutex_lock(&auth->mutex);
    memcpy(row->digest, digest, NN_SHA256_SIZE);
    row->actor = *actor;
    row->until_ms = sv_clock_monotonic_ms() + APP_AUTH_KEPT_MS;
    (void)pthread_mutex_unlock(&auth->mutex);
}

static enum http_role role_of(enum store_role role)
{
    switch (role) {
    case STORE_ROLE_ADMIN:
        return HTTP_ROLE_ADMIN;
    case STORE_ROLE_SUBMITTER:
        return HTTP_ROLE_SUBMITTER;
    case STORE_ROLE_VIEWER:
        break;
    }
    return HTTP_ROLE_VIEWER;
}

static enum sv_status check_token(struct app_auth *auth, const char *token,
                                  struct http_actor *out_actor, struct sv_error *err)
{
    uint8_t digest[NN_SHA256_SIZE];
    struct store_scope scope;
    enum store_role role;
    struct http_actor actor = {.role = HTTP_ROLE_PUBLIC};
    nn_sha256_of(token, strlen(token), digest);
    if (recall(auth, digest, out_actor)) {
        return SV_OK;
    }
    enum sv_status st = store_token_check(auth->store, token, &scope, &role, err);
    if (st == SV_OK) {
        memcpy(actor.project_id, scope.project_id, sizeof actor.project_id);
        memcpy(actor.name, scope.actor, sizeof actor.name);
        actor.role = role_of(role);
        remember(auth, digest, &actor);
        *out_actor = actor;
    }
    return st;
}

static bool recall_exist(struct app_auth *auth, bool *out_exist)
{
    (void)pthread_mutex_lock(&auth->mutex);
    bool known = holds(auth, auth->exist_until_ms);
    *out_exist = auth->tokens_exist;
    (void)pthread_mutex_unlock(&auth->mutex);
    return known;
}

static enum sv_status tokens_exist(struct app_auth *auth, bool *out_exist, struct sv_error *err)
{
    bool exist = true;
    if (!recall_exist(auth, &exist)) {
        enum sv_status st = store_tokens_exist(auth->store, &exist, err);
        if (st != SV_OK) {
            return st;
        }
        (void)pthread_mutex_lock(&auth->mutex);
        auth->tokens_exist = exist;
        auth->exist_until_ms = sv_clock_monotonic_ms() + APP_AUTH_KEPT_MS;
        (void)pthread_mutex_unlock(&auth->mutex);
    }
    *out_exist = exist;
    return SV_OK;
}

static void actor_of_loopback(struct http_actor *out_actor)
{
    *out_actor = (struct http_actor){.role = HTTP_ROLE_ADMIN};
    memcpy(out_actor->project_id, STORE_DEFAULT_PROJECT, sizeof out_actor->project_id);
}

bool app_auth_recall(struct app_auth *auth, const struct http_request *req,
                     struct http_actor *out_actor)
{
    const char *token = http_bearer(req);
    uint8_t digest[NN_SHA256_SIZE];
    bool exist = true;
    if (token) {
        nn_sha256_of(token, strlen(token), digest);
        return recall(auth, digest, out_actor);
    }
    if (!req->peer_is_loopback || !recall_exist(auth, &exist) || exist) {
        return false;
    }
    actor_of_loopback(out_actor);
    return true;
}

enum sv_status app_auth_check(struct app_auth *auth, const struct http_request *req,
                              struct http_actor *out_actor, struct sv_error *err)
{
    const char *token = http_bearer(req);
    bool exist = true;
    if (token) {
        return check_token(auth, token, out_actor, err);
    }
    enum sv_status st = tokens_exist(auth, &exist, err);
    if (st != SV_OK) {
        return st;
    }
    if (exist || !req->peer_is_loopback) {
        return sv_fail(err, SV_ERR_UNAUTHENTICATED, "a token is needed: Authorization: Bearer ...");
    }
    actor_of_loopback(out_actor);
    return SV_OK;
}
