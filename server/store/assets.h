/* SPDX-License-Identifier: MIT
 *
 * Assets: what is uploaded as files and then checked by an import task (imports.h). Data sets and
 * weights have their own headers for what differs; this is what they share.
 *
 *   uploading --last byte of the last file--> checking --import--> ready | refused
 *
 * Names are unique in a project (SV_ERR_CONFLICT). An asset that a job refers to cannot be deleted.
 */
#ifndef STORE_ASSETS_H
#define STORE_ASSETS_H

#include "server/store/store.h"

/* A prediction (predictions.h) is none that is uploaded, but waits for a child and ends as one. */
enum store_asset { STORE_DATASET, STORE_WEIGHTS, STORE_PREDICTION, STORE_ASSETS };

enum { STORE_FILES_MAX = 64 };

struct store_file {
    const char *name;
    int64_t declared_size; /* -1: not declared */
    char sha256[65];       /* declared; "" if not */
    int64_t received_size;
    bool complete;
};

/* name or notes NULL: left as is. */
SV_MUST_CHECK enum sv_status store_asset_patch(struct store *store, const struct store_scope *scope,
                                               enum store_asset asset, const char *id,
                                               const char *name, const char *notes,
                                               struct sv_error *err);
/* SV_ERR_CONFLICT while a job refers to it, SV_ERR_WRONG_STATE while it is being imported. */
SV_MUST_CHECK enum sv_status store_asset_delete(struct store *store,
                                                const struct store_scope *scope,
                                                enum store_asset asset, const char *id,
                                                struct sv_error *err);
/* Takes back a creation that came to nothing: the asset and, in the same transaction, the row of
 * its key (or NULL), so that a repeated request begins anew. Errors as above. */
SV_MUST_CHECK enum sv_status store_asset_undo(struct store *store, const struct store_scope *scope,
                                              enum store_asset asset, const char *id,
                                              const struct store_idempotency *idempotency);

/* A declared file as it stands, and its asset's state. SV_ERR_NOT_FOUND. */
struct store_asset_file {
    struct store_file file;
    const char *state;
};
SV_MUST_CHECK enum sv_status
store_asset_file_get(struct store *store, const struct store_scope *scope, enum store_asset asset,
                     const char *id, const char *name, struct store_memory *memory,
                     struct store_asset_file *out_file, struct sv_error *err);

/* One piece of an upload. */
struct store_upload {
    enum store_asset asset;
    const char *id;
    const char *file; /* declared name */
    int64_t offset;   /* must be where the file stands */
    const void *data;
    size_t size; /* any; larger than 1 MiB is cut up inside */
    bool final;  /* this ends the file */
};
/* Appends. *out_received (not NULL) is where the file stands after the call, set on SV_ERR_RANGE
 * too. A file ends by `final` or when the declared size is reached; when the last one ends, the
 * asset becomes `checking`. SV_ERR_RANGE: the offset is not where the file stands.
 * SV_ERR_INVALID_FIELD: size or SHA-256 differ from the declaration (the file starts again at 0).
 * SV_ERR_WRONG_STATE: the file or the asset is complete. SV_ERR_TOO_LARGE: above 4 GiB. */
SV_MUST_CHECK enum sv_status store_asset_upload(struct store *store,
                                                const struct store_scope *scope,
                                                const struct store_upload *upload,
                                                int64_t *out_received, struct sv_error *err);

#endif
