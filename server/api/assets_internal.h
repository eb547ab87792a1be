/* SPDX-License-Identifier: MIT
 *
 * What data sets and weights share: the files of a declaration, uploads, editing and deleting; and
 * sending of stored content.
 */
#ifndef API_ASSETS_INTERNAL_H
#define API_ASSETS_INTERNAL_H

#include "server/api/show_internal.h"
#include "server/store/assets.h"
#include "server/store/blobs.h"

/* ------------------------------------------------------------------------------------ declaring */

/* An item of "files" in the body that declares an asset. */
extern const struct jx_field api_file_item;

/* Files in the making: what is open must be closed. Zero it. */
struct api_declared {
    struct store_file files[STORE_FILES_MAX]; /* names are borrowed from the body */
    int fds[STORE_FILES_MAX];                 /* -1: uploaded later */
    size_t n;
};
/* list holds 1 to STORE_FILES_MAX items. api_declared_close in any case. */
SV_MUST_CHECK enum sv_status api_declare_files(struct api_ctx *ctx, const json_t *list,
                                               struct api_declared *declared, struct sv_error *err);
/* Reads what lies on the server into the asset that was created. When that fails the asset is
 * deleted with its key: half a one would take up its name. A repeated request finds the fill of the
 * first one ended or under way (SV_ERR_IN_PROGRESS); one that stands still, as that of a server
 * that died, it takes over, and leaves the asset whatever comes of it. */
SV_MUST_CHECK enum sv_status api_declared_fill(struct api_ctx *ctx, enum store_asset asset,
                                               const struct api_creation *creation,
                                               const struct api_declared *declared,
                                               struct sv_error *err);
void api_declared_close(struct api_declared *declared);

/* [{name, size, sha256, received, complete}]; NULL when out of memory. */
json_t *api_files_encode(const struct store_file *files, size_t n);

/* Opens a regular file that a path names below one of the roots (colon list); no symbolic link on
 * the way. Every failure is the same SV_ERR_INVALID_FIELD at pointer, so that nothing is learnt of
 * other files. *out_name is the last component, borrowed from path. */
SV_MUST_CHECK enum sv_status api_import_open(const char *roots, const char *path,
                                             const char *pointer, int *out_fd,
                                             const char **out_name, struct sv_error *err);

/* -------------------------------------------------------------------------------------- uploads */

/* `size` bytes from where fd stands, appended in pieces. */
struct api_upload {
    enum store_asset asset;
    const char *id, *file;
    int fd;
    int64_t offset, size;
    bool final;
};
SV_MUST_CHECK enum sv_status api_upload_fd(struct api_ctx *ctx, const struct store_scope *scope,
                                           const struct api_upload *upload, int64_t *out_received,
                                           struct sv_error *err);

/* ------------------------------------------------------------------------------------- changing */

/* The body of a PATCH of what has a name and notes: api_naming_fields (handlers_internal.h). */
struct api_naming {
    const char *name, *notes; /* NULL: not given */
};
SV_MUST_CHECK enum sv_status api_naming_decode(const struct http_request *req,
                                               struct api_naming *out_naming, struct sv_error *err);

/* PATCH and DELETE of the asset {id} of the path. */
SV_MUST_CHECK enum sv_status api_asset_patch(struct api_ctx *ctx, const struct http_request *req,
                                             struct http_response *resp, enum store_asset asset,
                                             api_seen_fn read, struct sv_error *err);
SV_MUST_CHECK enum sv_status api_asset_delete(struct api_ctx *ctx, const struct http_request *req,
                                              struct http_response *resp, enum store_asset asset,
                                              struct sv_error *err);

/* -------------------------------------------------------------------------------------- content */

/* Sends a blob of the project as a file of that name; its ETag is the digest: answers 304 too. */
SV_MUST_CHECK enum sv_status api_blob_send(struct api_ctx *ctx, const struct http_request *req,
                                           struct http_response *resp,
                                           const struct store_scope *scope,
                                           const struct store_blob *blob, const char *filename,
                                           struct sv_error *err);

#endif
