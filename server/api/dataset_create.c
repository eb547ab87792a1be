/* SPDX-License-Identifier: MIT
 *
 * POST /v1/datasets: declare a data set and its files. A file is uploaded afterwards, or read at
 * once from a path below an allowed directory of the server.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/data/import.h"
#include "server/api/datasets_internal.h"
#include "server/api/handlers_internal.h"
#include "server/config/config.h"

enum { FILES_MAX = 64, FILE_NAME_MAX = 255 };

enum { KIND_IMAGES, KIND_SEQUENCES };
const char *const api_dataset_kinds[] = {"image_classification", "sequences", NULL};

static const struct jx_choice KINDS[] = {
    {"image_classification", KIND_IMAGES, "pictures, each of one class"},
    {"sequences", KIND_SEQUENCES, "runs of numbers over time"},
    JX_END,
};
static const struct jx_choice LAYOUTS[] = {
    {"idx", NN_IMPORT_IDX, "IDX files of pictures and labels, plain or gzipped"},
    {"archive", NN_IMPORT_ARCHIVE, "one zip, tar or tar.gz with a folder a class"},
    {"table", NN_IMPORT_TABLE, "CSV or columns between blanks, a row a step, plain or gzipped"},
    {"cmapss", NN_IMPORT_CMAPSS, "the 26 columns of the turbofan runs, with their files of RULs"},
    JX_END,
};

static const struct jx_choice ON_REFUSED[] = {
    {"skip", NN_IMPORT_SKIP, "it is left out and listed in the report"},
    {"fail", NN_IMPORT_FAIL, "the data set is refused"},
    JX_END,
};
static const struct jx_field CLASS_ITEM = {
    .name = "class", .type = JX_STRING, .min = 1, .max = 255};

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
     .doc = "unique in the data set; default: the last part of path"},
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
static const struct jx_field FILE_ITEM = {.name = "file", .type = JX_OBJECT, .fields = FILE_FIELDS};

struct create_body {
    const char *name, *notes;
    int kind, layout, on_refused;
    const json_t *files;
    const json_t *image_size, *classes; /* checked again by core/data */
    struct nn_table_options table;
    bool table_given;
};

#define OFFSET(member) offsetof(struct create_body, member)
const struct jx_field api_dataset_create_fields[] = {
    {.name = "name",
     .type = JX_STRING,
     .offset = OFFSET(name),
     .min = 1,
     .max = JOBS_NAME_MAX,
     .required = true,
     .doc = "unique in the project"},
    {.name = "kind",
     .type = JX_ENUM,
     .offset = OFFSET(kind),
     .choices = KINDS,
     .fallback = "\"image_classification\"",
     .doc = "what its samples are"},
    {.name = "layout",
     .type = JX_ENUM,
     .offset = OFFSET(layout),
     .choices = LAYOUTS,
     .required = true,
     .doc = "how its files hold them"},
    {.name = "files",
     .type = JX_ARRAY,
     .offset = OFFSET(files),
     .items = &FILE_ITEM,
     .min_items = 1,
     .max_items = FILES_MAX,
     .required = true,
     .doc = "one archive, two or four IDX files, or tables"},
    {.name = "notes",
     .type = JX_STRING,
     .offset = OFFSET(notes),
     .max = JOBS_NOTES_MAX,
     .doc = "remarks"},
    {.name = "image_size",
     .type = JX_ANY,
     .offset = OFFSET(image_size),
     .doc = "side, or [height, width]; default: the most frequent size"},
    {.name = "on_refused",
     .type = JX_ENUM,
     .offset = OFFSET(on_refused),
     .choices = ON_REFUSED,
     .fallback = "\"skip\"",
     .doc = "what a picture or sequence that cannot be taken does"},
    {.name = "classes",
     .type = JX_ARRAY,
     .offset = OFFSET(classes),
     .items = &CLASS_ITEM,
     .min_items = 1,
     .max_items = 10000,
     .doc = "names of the labels 0, 1, ... of IDX files"},
    {.name = "table",
     .type = JX_OBJECT,
     .offset = OFFSET(table),
     .given = JX_GIVEN(struct create_body, table_given),
     .fields = nn_table_fields,
     .doc = "how the files of sequences are written and what their columns mean"},
    JX_END,
};

/* A declaration in the making: what is open must be closed. */
struct declaration {
    struct create_body body;
    struct store_dataset_file files[FILES_MAX];
    int fds[FILES_MAX]; /* -1: uploaded later */
    size_t n_files;
    char *options;
};

static enum sv_status check_name(const char *name, const char *pointer, struct sv_error *err)
{
    if (strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "a file name is no path");
    }
    return api_check_line(name, pointer, err);
}

static enum sv_status declare_path(struct api_ctx *ctx, struct declaration *d, size_t i,
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

static enum sv_status declare_file(struct api_ctx *ctx, struct declaration *d, size_t i,
                                   struct sv_error *err)
{
    struct file_body file = {0};
    char pointer[64];
    enum sv_status st =
        api_decode_item(FILE_FIELDS, json_array_get(d->body.files, i), "/files", i, &file, err);
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

static enum sv_status declare_options(struct declaration *d, json_t *table, struct sv_error *err)
{
    struct nn_import_options ignored;
    struct nn_error nn = {0};
    bool images = !nn_import_is_table((enum nn_import_layout)d->body.layout);
    if (images != (d->body.kind == KIND_IMAGES)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/layout", "is none of kind \"%s\"",
                          api_dataset_kinds[d->body.kind]);
    }
    json_auto_t *options = json_pack(
        "{s:s, s:O*, s:O*, s:O*}", "on_refused", jx_choice_name(ON_REFUSED, d->body.on_refused),
        "image_size", d->body.image_size, "classes", d->body.classes, "table", table);
    if (!options) {
        return api_no_memory(err);
    }
    if (nn_import_options_decode((enum nn_import_layout)d->body.layout, options, "", &ignored,
                                 &nn) != NN_OK) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, nn.pointer, "%s", nn.text);
    }
    d->options = jx_dump(options, NULL);
    return d->options ? SV_OK : api_no_memory(err);
}

static enum sv_status check_count(const struct declaration *d, struct sv_error *err)
{
    bool is_idx = d->body.layout == NN_IMPORT_IDX;
    if (nn_import_is_table((enum nn_import_layout)d->body.layout)) {
        return SV_OK;
    }
    if (is_idx && d->n_files != 2 && d->n_files != 4) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/files",
                          "IDX comes as two or four files: pictures and labels of each part");
    }
    if (!is_idx && d->n_files != 1) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/files", "an archive is one file");
    }
    return SV_OK;
}

/* Values that later issues build. */
static enum sv_status refuse_not_built(const json_t *body, struct sv_error *err)
{
    static const char *const later[][2] = {{"kind", "signals"}, {"layout", "folder"}};
    static const char *const fields[] = {"url", "parts", NULL};
    for (size_t i = 0; i < API_COUNT(later); i++) {
        const char *value = json_string_value(json_object_get(body, later[i][0]));
        if (value && strcmp(value, later[i][1]) == 0) {
            char pointer[64];
            (void)snprintf(pointer, sizeof pointer, "/%s", later[i][0]);
            return sv_fail_at(err, SV_ERR_NOT_SUPPORTED, pointer, "%s \"%s\" is not built yet",
                              later[i][0], value);
        }
    }
    return api_refuse_fields(body, fields, err);
}

static enum sv_status declare(struct api_ctx *ctx, const json_t *body, struct declaration *d,
                              struct sv_error *err)
{
    enum sv_status st = refuse_not_built(body, err);
    if (st == SV_OK) {
        st = api_decode(api_dataset_create_fields, body, &d->body, err);
    }
    if (st == SV_OK) {
        st = api_check_line(d->body.name, "/name", err);
    }
    if (st == SV_OK) {
        st = declare_options(d, json_object_get(body, "table"), err);
    }
    for (size_t i = 0; st == SV_OK && i < json_array_size(d->body.files); i++) {
        d->fds[d->n_files++] = -1;
        st = declare_file(ctx, d, i, err);
    }
    return st == SV_OK ? check_count(d, err) : st;
}

/* Reads what lies on the server, from where an earlier call may have got to. */
static enum sv_status fill_from_paths(struct api_ctx *ctx, const struct store_scope *scope,
                                      const char *id, struct declaration *d, struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_dataset dataset;
    enum sv_status st = store_dataset_get(ctx->store, scope, id, &memory, &dataset, err);
    for (size_t i = 0; st == SV_OK && i < d->n_files && i < dataset.n_files; i++) {
        int64_t received = dataset.files[i].received_size;
        if (d->fds[i] >= 0 && !dataset.files[i].complete) {
            struct api_upload upload = {.dataset_id = id,
                                        .file = d->files[i].name,
                                        .fd = d->fds[i],
                                        .offset = received,
                                        .size = d->files[i].declared_size - received,
                                        .final = true};
            st = lseek(d->fds[i], received, SEEK_SET) == received
                     ? api_upload_fd(ctx, scope, &upload, &received, err)
                     : sv_fail(err, SV_ERR_INTERNAL, "a file of the server cannot be read");
        }
    }
    store_memory_clear(&memory);
    return st;
}

static void close_all(struct declaration *d)
{
    for (size_t i = 0; i < d->n_files; i++) {
        if (d->fds[i] >= 0) {
            (void)close(d->fds[i]);
        }
    }
    free(d->options);
}

/* POST /v1/datasets. 201; 409 name taken; 422. */
enum sv_status api_datasets_post(void *state, const struct http_request *req,
                                 struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct declaration d = {0};
    struct store_scope scope;
    struct store_idempotency key;
    struct store_created created;
    bool has_key = false;
    api_scope(req, &scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = api_idempotency(req, &key, &has_key, err);
    }
    if (st == SV_OK) {
        st = declare(ctx, req->json, &d, err);
    }
    if (st != SV_OK) {
        goto cleanup;
    }
    struct store_dataset_new dataset = {.name = d.body.name,
                                        .kind = api_dataset_kinds[d.body.kind],
                                        .layout = jx_choice_name(LAYOUTS, d.body.layout),
                                        .notes = d.body.notes ? d.body.notes : "",
                                        .options = d.options,
                                        .files = d.files,
                                        .n_files = d.n_files};
    st = store_dataset_create(ctx->store, &scope, &dataset, has_key ? &key : NULL, &created, err);
    if (st != SV_OK) {
        goto cleanup;
    }
    st = fill_from_paths(ctx, &scope, created.id, &d, err);
    if (st != SV_OK) {
        /* A data set that only half came about would take up its name. */
        enum sv_status ignored = store_dataset_delete(ctx->store, &scope, created.id, NULL);
        (void)ignored;
        goto cleanup;
    }
    st = api_show_created(ctx, req, out_resp, "/v1/datasets", &created, api_dataset_read, err);
cleanup:
    close_all(&d);
    return st;
}
