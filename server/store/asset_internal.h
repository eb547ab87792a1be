/* SPDX-License-Identifier: MIT
 *
 * What differs between assets, as a table; and statements that serve all of them.
 */
#ifndef STORE_ASSET_INTERNAL_H
#define STORE_ASSET_INTERNAL_H

#include "server/store/assets.h"
#include "server/store/imports.h"
#include "server/store/list_internal.h"

struct store_asset_kind {
    const char *what;  /* in words: "data set" */
    const char *table; /* "dataset"; also the beginning of event kinds and of the touch function */
    const char *files; /* "dataset_file" */
    const char *owner; /* "dataset_id": its column that names the asset */
    const char *taken; /* for a name that is in use */
    const char *setup; /* JSON of what an import must know beside the files; alias d */
};
const struct store_asset_kind *store_asset_kind(enum store_asset asset);

/* A statement in which {table}, {files} and {owner} stand for those of the kind. */
SV_MUST_CHECK enum sv_status store_asset_run(struct store_conn *conn, enum store_asset asset,
                                             const char *sql, struct sql_params *params,
                                             struct sql_rows *rows, struct sv_error *err);
/* Last call of a transaction that changes an asset; the event's kind is "<table>_<what>". */
SV_MUST_CHECK enum sv_status store_asset_touch(struct store_conn *conn, enum store_asset asset,
                                               const char *id, const char *what, const char *actor,
                                               struct sv_error *err);

/* A new asset: its row, its files, its event, in one transaction. */
struct store_asset_new {
    enum store_asset asset;
    const struct store_scope *scope;
    const struct store_idempotency *idempotency; /* or NULL */
    const struct store_file *files;              /* name, declared_size, sha256; names unique */
    size_t n_files;                              /* 1 to STORE_FILES_MAX */
    const char *insert;                          /* $1 id, $2 project, $3 actor, then add's */
    void (*add)(struct sql_params *params, const void *what);
    const void *what;
};
SV_MUST_CHECK enum sv_status store_asset_create(struct store *store,
                                                const struct store_asset_new *asset,
                                                struct store_created *out_created,
                                                struct sv_error *err);
/* The files of an asset, an array of struct store_file in order of declaration. */
SV_MUST_CHECK enum sv_status store_asset_files(struct store *store, enum store_asset asset,
                                               const char *id, struct store_memory *memory,
                                               struct store_rows *out_rows, struct sv_error *err);

/* The end of an import, under its claim. */
struct store_import_end {
    const struct store_import_claim *claim;
    const char *set;  /* assignments; parameters from $4 on */
    const char *what; /* of the event, as in store_asset_touch */
    void (*add)(struct sql_params *params, const void *what); /* or NULL */
    const void *row;
};
SV_MUST_CHECK enum sv_status store_import_conclude(struct store *store,
                                                   const struct store_import_end *end,
                                                   struct sv_error *err);

#endif
