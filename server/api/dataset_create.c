/* SPDX-License-Identifier: MIT
 *
 * POST /v1/datasets: declare a data set and its files.
 */
#include <stdlib.h>
#include <string.h>

#include "core/data/import.h"
#include "server/api/assets_internal.h"
#include "server/api/datasets_internal.h"
#include "server/api/handlers_internal.h"

enum { KIND_IMAGES, KIND_SEQUENCES, KIND_SIGNALS };
const char *const api_dataset_kinds[] = {"image_classification", "sequences", "signals", NULL};

static const struct jx_choice KINDS[] = {
    {"image_classification", KIND_IMAGES, "pictures, each of one class"},
    {"sequences", KIND_SEQUENCES, "runs of numbers over time"},
    {"signals", KIND_SIGNALS, "windows of recordings, each of one class"},
    JX_END,
};
static const struct jx_choice LAYOUTS[] = {
    {"idx", NN_IMPORT_IDX, "IDX files of pictures and labels, plain or gzipped"},
    {"archive", NN_IMPORT_ARCHIVE, "one zip, tar or tar.gz with a folder a class"},
    {"table", NN_IMPORT_TABLE, "CSV or columns between blanks, a row a step, plain or gzipped"},
    {"cmapss", NN_IMPORT_CMAPSS, "the 26 columns of the turbofan runs, with their files of RULs"},
    {"signals", NN_IMPORT_SIGNALS, "one zip, tar or tar.gz of recordings, a folder a class"},
    JX_END,
};

static const struct jx_choice ON_REFUSED[] = {
    {"skip", NN_IMPORT_SKIP, "it is left out and listed in the report"},
    {"fail", NN_IMPORT_FAIL, "the data set is refused"},
    JX_END,
};
static const struct jx_field CLASS_ITEM = {
    .name = "class", .type = JX_STRING, .min = 1, .max = 255};

struct create_body {
    const char *name, *notes;
    int kind, layout, on_refused;
    const json_t *files;
    const json_t *image_size, *channels, *classes; /* checked again by core/data */
    struct nn_table_options table;
    struct nn_signal_options signal;
    bool kind_given, table_given, signal_given;
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
     .given = JX_GIVEN(struct create_body, kind_given),
     .choices = KINDS,
     .doc = "what its samples are; default: what the layout holds"},
    {.name = "layout",
     .type = JX_ENUM,
     .offset = OFFSET(layout),
     .choices = LAYOUTS,
     .required = true,
     .doc = "how its files hold them"},
    {.name = "files",
     .type = JX_ARRAY,
     .offset = OFFSET(files),
     .items = &api_file_item,
     .min_items = 1,
     .max_items = STORE_FILES_MAX,
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
    {.name = "channels",
     .type = JX_ANY,
     .offset = OFFSET(channels),
     .doc = "3: grey pictures get three equal channels; default: as the pictures are"},
    {.name = "on_refused",
     .type = JX_ENUM,
     .offset = OFFSET(on_refused),
     .choices = ON_REFUSED,
     .fallback = "\"skip\"",
     .doc = "what a picture, sequence or recording that cannot be taken does"},
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
    {.name = "signal",
     .type = JX_OBJECT,
     .offset = OFFSET(signal),
     .given = JX_GIVEN(struct create_body, signal_given),
     .fields = nn_signal_fields,
     .doc = "signals: how recordings are cut into windows, and how these come to parts"},
    JX_END,
};

/* A declaration in the making. */
struct declaration {
    struct create_body body;
    struct api_declared declared;
    char *options;
};

static int kind_of(int layout)
{
    return nn_import_is_table((enum nn_import_layout)layout) ? KIND_SEQUENCES
           : layout == NN_IMPORT_SIGNALS                     ? KIND_SIGNALS
                                                             : KIND_IMAGES;
}

static enum sv_status declare_options(struct declaration *d, const json_t *body,
                                      struct sv_error *err)
{
    struct nn_import_options ignored;
    struct nn_error nn = {0};
    int kind = kind_of(d->body.layout);
    if (!d->body.kind_given) {
        d->body.kind = kind;
    }
    if (kind != d->body.kind) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/layout", "is no layout of kind \"%s\"",
                          api_dataset_kinds[d->body.kind]);
    }
    json_auto_t *options =
        json_pack("{s:s, s:O*, s:O*, s:O*, s:O*, s:O*}", "on_refused",
                  jx_choice_name(ON_REFUSED, d->body.on_refused), "image_size", d->body.image_size,
                  "channels", d->body.channels, "classes", d->body.classes, "table",
                  json_object_get(body, "table"), "signal", json_object_get(body, "signal"));
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
    if (is_idx && d->declared.n != 2 && d->declared.n != 4) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/files",
                          "IDX comes as two or four files: pictures and labels of each part");
    }
    if (!is_idx && d->declared.n != 1) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/files", "an archive is one file");
    }
    return SV_OK;
}

/* Values that later issues build. */
static enum sv_status refuse_not_built(const json_t *body, struct sv_error *err)
{
    static const char *const later[][2] = {{"layout", "folder"}};
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
        st = declare_options(d, body, err);
    }
    if (st == SV_OK) {
        st = api_declare_files(ctx, d->body.files, &d->declared, err);
    }
    return st == SV_OK ? check_count(d, err) : st;
}

/* POST /v1/datasets. 201; 409 name taken; 422. */
enum sv_status api_datasets_post(void *state, const struct http_request *req,
                                 struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct declaration d = {0};
    struct api_creation creation;
    enum sv_status st = api_creation_begin(req, &creation, err);
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
                                        .files = d.declared.files,
                                        .n_files = d.declared.n};
    st = store_dataset_create(ctx->store, &creation.scope, &dataset, creation.idempotency,
                              &creation.created, err);
    if (st != SV_OK) {
        goto cleanup;
    }
    st = api_declared_fill(ctx, STORE_DATASET, &creation, &d.declared, err);
    if (st != SV_OK) {
        goto cleanup;
    }
    st = api_show_created(ctx, req, out_resp, "/v1/datasets", &creation.created, api_dataset_read,
                          err);
cleanup:
    api_declared_close(&d.declared);
    free(d.options);
    return st;
}
