/* SPDX-License-Identifier: MIT
 *
 * Projects and tokens. A token is "assay_" and 64 hex digits; its SHA-256 is looked up by a unique
 * index, which says nothing to a stranger about how near a guess was: equal digests only.
 */
#include "server/store/projects.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/base/sha256.h"
#include "server/base/text.h"
#include "server/store/list_internal.h"

#define TOKEN_PREFIX "assay_"

enum { SECRET_BYTES = 32 };

static const char *const ROLES[] = {[STORE_ROLE_VIEWER] = "viewer",
                                    [STORE_ROLE_SUBMITTER] = "submitter",
                                    [STORE_ROLE_ADMIN] = "admin"};

const char *store_role_text(enum store_role role)
{
    return ROLES[role];
}

bool store_role_parse(const char *text, enum store_role *out_role)
{
    for (size_t i = 0; i < sizeof ROLES / sizeof ROLES[0]; i++) {
        if (strcmp(ROLES[i], text) == 0) {
            *out_role = (enum store_role)i;
            return true;
        }
    }
    return false;
}

enum sv_status store_project_ensure(struct store *store, const char *name, char out_id[SV_ID_SIZE],
                                    struct sv_error *err)
{
    char id[SV_ID_SIZE];
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sv_id_make(id);
    sql_text(&params, id);
    sql_text(&params, name);
    enum sv_status st = store_query(
        store, "insert into project (id, name) values ($1, $2) on conflict (name) do nothing",
        &params, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, name);
    st = store_query(store, "select id from project where name = $1", &params, &rows, err);
    if (st == SV_OK) {
        struct sql_reader r = {.rows = &rows};
        if (rows.n > 0) {
            sql_read_id(&r, out_id);
        }
        sql_rows_clear(&rows);
    }
    return st;
}

/* ---- tokens ---- */

static void make_token(char out_token[STORE_TOKEN_SIZE])
{
    uint8_t secret[SECRET_BYTES];
    size_t done = 0;
    while (done < sizeof secret) {
        ssize_t n = getrandom(secret + done, sizeof secret - done, 0);
        done += n > 0 ? (size_t)n : 0;
    }
    char hex[NN_SHA256_HEX];
    nn_sha256_hex(secret, hex);
    (void)snprintf(out_token, STORE_TOKEN_SIZE, TOKEN_PREFIX "%s", hex);
}

static void digest_token(const char *token, uint8_t out_digest[NN_SHA256_SIZE])
{
    nn_sha256_of(token, strlen(token), out_digest);
}

static bool is_token_name(const char *name)
{
    size_t n = strlen(name);
    return n >= 1 && n <= STORE_TOKEN_NAME_MAX && sv_text_is_line(name);
}

enum sv_status store_token_create(struct store *store, const char *project_id, const char *name,
                                  enum store_role role, int expires_days, char out_id[SV_ID_SIZE],
                                  char out_token[STORE_TOKEN_SIZE], struct sv_error *err)
{
    char id[SV_ID_SIZE];
    char token[STORE_TOKEN_SIZE];
    uint8_t digest[NN_SHA256_SIZE];
    if (!is_token_name(name)) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, "name",
                                 "a token's name is 1 to %d bytes without control characters",
                                 STORE_TOKEN_NAME_MAX);
    }
    sv_id_make(id);
    make_token(token);
    digest_token(token, digest);
    struct sql_params params = {0};
    sql_text(&params, id);
    sql_text(&params, project_id);
    sql_text(&params, name);
    sql_text(&params, store_role_text(role));
    sql_bytes(&params, digest, sizeof digest);
    sql_int(&params, expires_days);
    enum sv_status st =
        store_query(store,
                    "insert into api_token (id, project_id, name, role, digest, expires_at) values"
                    " ($1, $2, $3, $4, $5, case when $6::integer > 0 then now() + $6::integer *"
                    " interval '1 day' end) on conflict (id) do nothing",
                    &params, NULL, err);
    if (st == SV_OK) {
        memcpy(out_id, id, sizeof id);
        memcpy(out_token, token, sizeof token);
    }
    return st;
}

static void read_token(struct sql_reader *r, void *row)
{
    struct store_token *out = row;
    sql_read_id(r, out->id);
    sql_read_id(r, out->project_id);
    out->name = sql_read_text(r);
    (void)store_role_parse(sql_read_text0(r), &out->role);
    sql_read_time(r, out->created_at);
    sql_read_time(r, out->expires_at);
    sql_read_time(r, out->revoked_at);
    sql_read_time(r, out->last_used_at);
}

enum sv_status store_tokens_list(struct store *store, const char *project_id,
                                 struct store_memory *memory, struct store_token_list *out_list,
                                 struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_token), read_token};
    struct sql_params params = {0};
    struct store_rows found;
    sql_text(&params, project_id);
    enum sv_status st = store_read_rows(
        store,
        "select id, project_id, name, role, rfc3339(created_at), rfc3339(expires_at),"
        " rfc3339(revoked_at), rfc3339(last_used_at) from api_token where project_id ="
        " $1 order by created_at, id",
        &params, &SHAPE, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_token_list){found.rows, found.n};
    }
    return st;
}

enum sv_status store_token_revoke(struct store *store, const char *project_id, const char *token_id,
                                  struct sv_error *err)
{
    enum sv_status st = store_id_check(token_id, "token", err);
    if (st != SV_OK) {
        return st;
    }
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, token_id);
    sql_text(&params, project_id);
    st = store_query(store,
                     "update api_token set revoked_at = coalesce(revoked_at, now()) where id = $1"
                     " and project_id = $2",
                     &params, &rows, err);
    if (st == SV_OK) {
        st = rows.affected > 0 ? SV_OK : store_not_found("token", err);
        sql_rows_clear(&rows);
    }
    return st;
}

/* Once a minute is often enough to know whether a token is in use. */
static void note_use(struct store *store, const char *token_id)
{
    struct sql_params params = {0};
    sql_text(&params, token_id);
    enum sv_status st = store_query(
        store, "update api_token set last_used_at = now() where id = $1", &params, NULL, NULL);
    (void)st; /* a request must not fail for this */
}

enum sv_status store_token_check(struct store *store, const char *token,
                                 struct store_scope *out_scope, enum store_role *out_role,
                                 struct sv_error *err)
{
    uint8_t digest[NN_SHA256_SIZE];
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    struct store_memory memory = {0};
    digest_token(token, digest);
    sql_bytes(&params, digest, sizeof digest);
    enum sv_status st =
        store_query(store,
                    "select id, project_id, name, role, last_used_at is null or last_used_at <"
                    " now() - interval '1 minute' from api_token where digest = $1 and revoked_at"
                    " is null and (expires_at is null or expires_at > now())",
                    &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    if (rows.n > 0) {
        struct sql_reader r = {.rows = &rows, .memory = &memory};
        char id[SV_ID_SIZE];
        sql_read_id(&r, id);
        sql_read_id(&r, out_scope->project_id);
        sv_text_copy(out_scope->actor, sizeof out_scope->actor, sql_read_text0(&r));
        (void)store_role_parse(sql_read_text0(&r), out_role);
        if (sql_read_bool(&r)) {
            note_use(store, id);
        }
    } else {
        st = sv_fail(err, SV_ERR_UNAUTHENTICATED, "the token is unknown, expired or revoked");
    }
    sql_rows_clear(&rows);
    store_memory_clear(&memory);
    return st;
}

enum sv_status store_tokens_exist(struct store *store, bool *out_exist, struct sv_error *err)
{
    struct sql_rows rows = {0};
    enum sv_status st =
        store_query(store, "select exists (select 1 from api_token)", NULL, &rows, err);
    if (st == SV_OK) {
        struct sql_reader r = {.rows = &rows};
        *out_exist = sql_read_bool(&r);
        sql_rows_clear(&rows);
    }
    return st;
}
