/* SPDX-License-Identifier: MIT
 *
 * Projects and their access tokens. A token is 32 random bytes with a prefix, shown once; only its
 * SHA-256 is kept.
 */
#ifndef STORE_PROJECTS_H
#define STORE_PROJECTS_H

#include "server/store/store.h"

/* The id of the project of that name, made if there is none. */
SV_MUST_CHECK enum sv_status store_project_ensure(struct store *store, const char *name,
                                                  char out_id[SV_ID_SIZE], struct sv_error *err);

enum store_role { STORE_ROLE_VIEWER, STORE_ROLE_SUBMITTER, STORE_ROLE_ADMIN };
const char *store_role_text(enum store_role role);
bool store_role_parse(const char *text, enum store_role *out_role);

enum { STORE_TOKEN_SIZE = 80, STORE_TOKEN_NAME_MAX = 95 };

struct store_token {
    char id[SV_ID_SIZE];
    char project_id[SV_ID_SIZE];
    const char *name;
    enum store_role role;
    char created_at[STORE_TIME_SIZE], expires_at[STORE_TIME_SIZE]; /* "" = none */
    char revoked_at[STORE_TIME_SIZE], last_used_at[STORE_TIME_SIZE];
};
struct store_token_list {
    struct store_token *rows;
    size_t n;
};

/* Makes a token; out_token is the only time its text is seen. expires_days 0: never. The name is
 * what the audit trail calls its bearer: 1 to STORE_TOKEN_NAME_MAX bytes of UTF-8 without control
 * characters, else SV_ERR_INVALID_PARAMETER. */
SV_MUST_CHECK enum sv_status store_token_create(struct store *store, const char *project_id,
                                                const char *name, enum store_role role,
                                                int expires_days, char out_id[SV_ID_SIZE],
                                                char out_token[STORE_TOKEN_SIZE],
                                                struct sv_error *err);
SV_MUST_CHECK enum sv_status store_tokens_list(struct store *store, const char *project_id,
                                               struct store_memory *memory,
                                               struct store_token_list *out_list,
                                               struct sv_error *err);
SV_MUST_CHECK enum sv_status store_token_revoke(struct store *store, const char *project_id,
                                                const char *token_id, struct sv_error *err);

/* Who bears this token: fills the scope (actor = the token's name) and the role.
 * SV_ERR_UNAUTHENTICATED for an unknown, expired or revoked one. */
SV_MUST_CHECK enum sv_status store_token_check(struct store *store, const char *token,
                                               struct store_scope *out_scope,
                                               enum store_role *out_role, struct sv_error *err);
/* Was a token ever made, whatever has become of it since? Access that was closed stays closed. */
SV_MUST_CHECK enum sv_status store_tokens_exist(struct store *store, bool *out_exist,
                                                struct sv_error *err);

#endif
