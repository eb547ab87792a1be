/* SPDX-License-Identifier: MIT
 *
 * The files of an asset as they are declared: uploaded afterwards, or read at once from a path
 * below an allowed directory of the server.
 */
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/api/assets_internal.h"
#include "server/config/config.h"

enum { FILE_NAME_MAX = 255, STILL_LOOKS = 10, STILL_PAUSE_MS = 200 };

struct file_body {
    const char *name, *path, *sha256;
    int64_t size;
    bool size_given;
};

#define FILE_OFFSET(member) offsetof(struct file_body, member)
static const struct jx_field FILE_FIELDS[] = {
    {.name = "name",
     .type = JX_STRING,
     .offset = FILE_OFFSET(name),
     .min = 1,
     .max = FILE_NAME_MAX,
     .doc = "unique among the files; default: the last part of path"},
    {.name = "size",
     .type = JX_INT,
     .offset = FILE_OFFSET(size),
     .given = JX_GIVEN(struct file_body, size_given),
     .min = 0,
     .max = 4294967296.0,
     .doc = "bytes; the upload ends when they are there",
     .unit = "bytes"},
    {.name = "sha256",
     .type = JX_STRING,
     .offset = FILE_OFFSET(sha256),
     .min = 64,
     .max = 64,
     .doc = "64 lower-case hex digits that the content must have"},
    {.name = "path",
     .type = JX_STRING,
     .offset = FILE_OFFSET(path),
     .min = 1,
     .max = 4095,
     .doc = "a file of the server instead of an upload"},
    JX_END,
};
const struct jx_field api_file_item = {.name = "file", .type = JX_OBJECT, .fields = FILE_FIELDS};

static enum sv_status check_name(const char *name, const char *pointer, struct sv_error *err)
{
    if (strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "a file name is no path");
    }
    return api_check_line(name, pointer, err);
}

static enum sv_status declare_path(struct api_ctx *ctx, struct api_declared *d, size_t i,
                                   const struct file_body *file, struct sv_error *err)
{
    char pointer[64];
    struct stat info;
    const char *name;
    (void)snprintf(pointer, sizeof pointer, "/files/%zu/path", i);
    enum sv_status st =
        api_import_open(ctx->config->import_roots, file->path, pointer, &d->fds[i], &name, err);
    if (st != SV_OK) {
        return st;
    }
    if (fstat(d->fds[i], &info) != 0) {
        return sv_fail(err, SV_ERR_INTERNAL, "a file of the server cannot be looked at");
    }
    if (file->size_given && file->size != info.st_size) {
        (void)snprintf(pointer, sizeof pointer, "/files/%zu/size", i);
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "the file has another size");
    }
    d->files[i].declared_size = info.st_size;
    d->files[i].name = file->name ? file->name : name;
    return SV_OK;
}

static enum sv_status declare_file(struct api_ctx *ctx, struct api_declared *d, const json_t *item,
                                   size_t i, struct sv_error *err)
{
    struct file_body file = {0};
    char pointer[64];
    enum sv_status st = api_decode_item(FILE_FIELDS, item, "/files", i, &file, err);
    if (st != SV_OK) {
        return st;
    }
    if (file.sha256) {
        (void)snprintf(pointer, sizeof pointer, "/files/%zu/sha256", i);
        if (strspn(file.sha256, "0123456789abcdef") != 64) {
            return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                              "64 lower-case hex digits are expected");
        }
        memcpy(d->files[i].sha256, file.sha256, sizeof d->files[i].sha256);
    }
    (void)snprintf(pointer, sizeof pointer, "/files/%zu/name", i);
    d->files[i].declared_size = file.size_given ? file.size : -1;
    d->files[i].name = file.name;
    if (file.path) {
        st = declare_path(ctx, d, i, &file, err);
    } else if (!file.name) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "is required without a path");
    }
    for (size_t j = 0; st == SV_OK && j < i; j++) {
        if (strcmp(d->files[j].name, d->files[i].name) == 0) {
            st = sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "the name stands twice");
        }
    }
    return st == SV_OK ? check_name(d->files[i].name, pointer, err) : st;
}

enum sv_status api_declare_files(struct api_ctx *ctx, const json_t *list,
                                 struct api_declared *declared, struct sv_error *err)
{
    enum sv_status st = SV_OK;
    for (size_t i = 0; st == SV_OK && i < json_array_size(list) && i < STORE_FILES_MAX; i++) {
        declared->fds[declared->n++] = -1;
        st = declare_file(ctx, declared, json_array_get(list, i), i, err);
    }
    return st;
}

/* ---- filling from files of the server ---- */

struct fill {
    struct api_ctx *ctx;
    enum store_asset asset;
    const struct api_creation *creation;
    const struct api_declared *declared;
};

/* How much of the i-th file is there. */
static enum sv_status look(const struct fill *fill, size_t i, int64_t *out_received,
                           bool *out_complete, struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_asset_file found;
    enum sv_status st = store_asset_file_get(fill->ctx->store, &fill->creation->scope, fill->asset,
                                             fill->creation->created.id,
                                             fill->declared->files[i].name, &memory, &found, err);
    if (st == SV_OK) {
        *out_received = found.file.received_size;
        *out_complete = found.file.complete;
    }
    store_memory_clear(&memory);
    return st;
}

static enum sv_status in_progress(struct sv_error *err)
{
    return sv_fail(err, SV_ERR_IN_PROGRESS,
                   "a request with this Idempotency-Key is still being worked on");
}

/* Whoever fills a file appends to it many times a second. */
static enum sv_status expect_still(const struct fill *fill, size_t i, int64_t received,
                                   struct sv_error *err)
{
    const struct timespec pause = {.tv_nsec = STILL_PAUSE_MS * 1000000L};
    enum sv_status st = SV_OK;
    for (int n = 0; n < STILL_LOOKS && st == SV_OK; n++) {
        int64_t later = received;
        bool complete = false;
        (void)nanosleep(&pause, NULL);
        st = look(fill, i, &later, &complete, err);
        if (st == SV_OK && (later != received || complete)) {
            st = in_progress(err);
        }
    }
    return st;
}

static enum sv_status fill_one(const struct fill *fill, size_t i, struct sv_error *err)
{
    int64_t received = 0;
    bool complete = false;
    enum sv_status st = look(fill, i, &received, &complete, err);
    if (st != SV_OK || complete) {
        return st;
    }
    if (fill->creation->created.replayed) {
        st = expect_still(fill, i, received, err);
    }
    if (st != SV_OK) {
        return st;
    }
    struct api_upload upload = {.asset = fill->asset,
                                .id = fill->creation->created.id,
                                .file = fill->declared->files[i].name,
                                .fd = fill->declared->fds[i],
                                .offset = received,
                                .size = fill->declared->files[i].declared_size - received,
                                .final = true};
    if (lseek(upload.fd, received, SEEK_SET) != received) {
        return sv_fail(err, SV_ERR_INTERNAL, "a file of the server cannot be read");
    }
    st = api_upload_fd(fill->ctx, &fill->creation->scope, &upload, &received, err);
    /* another request with the key was faster: the fill is its own */
    return st == SV_ERR_RANGE || st == SV_ERR_WRONG_STATE ? in_progress(err) : st;
}

enum sv_status api_declared_fill(struct api_ctx *ctx, enum store_asset asset,
                                 const struct api_creation *creation,
                                 const struct api_declared *declared, struct sv_error *err)
{
    const struct fill fill = {ctx, asset, creation, declared};
    enum sv_status st = SV_OK;
    for (size_t i = 0; st == SV_OK && i < declared->n; i++) {
        st = declared->fds[i] >= 0 ? fill_one(&fill, i, err) : SV_OK;
    }
    if (st != SV_OK && st != SV_ERR_IN_PROGRESS && !creation->created.replayed) {
        enum sv_status ignored = store_asset_undo(ctx->store, &creation->scope, asset,
                                                  creation->created.id, creation->idempotency);
        (void)ignored;
    }
    return st;
}

void api_declared_close(struct api_declared *declared)
{
    for (size_t i = 0; i < declared->n; i++) {
        if (declared->fds[i] >= 0) {
            (void)close(declared->fds[i]);
        }
    }
}

json_t *api_files_encode(const struct store_file *files, size_t n)
{
    json_t *rows = json_array();
    for (size_t i = 0; rows && i < n; i++) {
        const struct store_file *file = &files[i];
        json_t *size = file->declared_size < 0 ? json_null() : json_integer(file->declared_size);
        rows = api_append_take(rows, json_pack("{s:s, s:o, s:s?, s:I, s:b}", "name", file->name,
                                               "size", size, "sha256", api_given(file->sha256),
                                               "received", (json_int_t)file->received_size,
                                               "complete", file->complete ? 1 : 0));
    }
    return rows;
}
