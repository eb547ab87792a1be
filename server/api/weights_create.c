/* SPDX-License-Identifier: MIT
 *
 * POST /v1/weights: declare weights and their file, with what is known of them: where they come
 * from, what their makers allow, what inputs they expect.
 */
#include <stdlib.h>

#include "server/api/handlers_internal.h"
#include "server/api/weights_internal.h"
#include "server/jobs/jobs.h"

enum { TEXT_MAX = 2000, CHANNELS_MAX = JX_LIST_MAX, RGB_CHANNELS = 3 };

/* x = (pixel / scale - mean) / std, channel by channel; then torchvision's transform_input. */
struct preprocessing {
    double scale;
    struct jx_reals mean, std;
    bool transform_input;
};

#define PREPROCESSING(member) offsetof(struct preprocessing, member)
static const struct jx_field PREPROCESSING_FIELDS[] = {
    {.name = "scale",
     .type = JX_REAL,
     .offset = PREPROCESSING(scale),
     .min = 0,
     .max = 1e9,
     .above_min = true,
     .fallback = "255",
     .doc = "what values of pixels are divided by first"},
    {.name = "mean",
     .type = JX_REALS,
     .offset = PREPROCESSING(mean),
     .min = -1e9,
     .max = 1e9,
     .min_items = 1,
     .max_items = CHANNELS_MAX,
     .required = true,
     .doc = "then taken off, channel by channel"},
    {.name = "std",
     .type = JX_REALS,
     .offset = PREPROCESSING(std),
     .min = 0,
     .max = 1e9,
     .above_min = true,
     .min_items = 1,
     .max_items = CHANNELS_MAX,
     .required = true,
     .doc = "then divided by, channel by channel"},
    {.name = "transform_input",
     .type = JX_BOOL,
     .offset = PREPROCESSING(transform_input),
     .fallback = "false",
     .doc = "whether the network then turns ImageNet's normalisation into levels from -1 to 1, as "
            "torchvision's googlenet and inception_v3 with transform_input do"},
    JX_END,
};

struct create_body {
    const char *name, *notes, *origin, *url, *licence;
    const json_t *files;
    struct preprocessing preprocessing;
    bool has_preprocessing;
};

#define OFFSET(member) offsetof(struct create_body, member)
const struct jx_field api_weights_create_fields[] = {
    {.name = "name",
     .type = JX_STRING,
     .offset = OFFSET(name),
     .min = 1,
     .max = JOBS_NAME_MAX,
     .required = true,
     .doc = "unique in the project"},
    {.name = "files",
     .type = JX_ARRAY,
     .offset = OFFSET(files),
     .items = &api_file_item,
     .min_items = 1,
     .max_items = 1,
     .required = true,
     .doc = "one file: safetensors, a state dict of PyTorch, or ONNX; told apart by content"},
    {.name = "notes",
     .type = JX_STRING,
     .offset = OFFSET(notes),
     .max = JOBS_NOTES_MAX,
     .doc = "remarks"},
    {.name = "origin",
     .type = JX_STRING,
     .offset = OFFSET(origin),
     .max = TEXT_MAX,
     .doc = "who trained them, and on what"},
    {.name = "url",
     .type = JX_STRING,
     .offset = OFFSET(url),
     .max = TEXT_MAX,
     .doc = "where they were taken from; recorded, never fetched"},
    {.name = "licence",
     .type = JX_STRING,
     .offset = OFFSET(licence),
     .max = TEXT_MAX,
     .doc = "what their makers allow"},
    {.name = "preprocessing",
     .type = JX_OBJECT,
     .offset = OFFSET(preprocessing),
     .given = JX_GIVEN(struct create_body, has_preprocessing),
     .fields = PREPROCESSING_FIELDS,
     .doc = "what inputs they expect; put into the input layer of every network that starts from "
            "them"},
    JX_END,
};

static enum sv_status check_lines(const struct create_body *body, struct sv_error *err)
{
    const struct {
        const char *text, *pointer;
    } lines[] = {{body->name, "/name"},
                 {body->origin, "/origin"},
                 {body->url, "/url"},
                 {body->licence, "/licence"}};
    enum sv_status st = SV_OK;
    for (size_t i = 0; i < API_COUNT(lines) && st == SV_OK; i++) {
        st = lines[i].text ? api_check_line(lines[i].text, lines[i].pointer, err) : SV_OK;
    }
    return st;
}

/* *out_text is the document as it is kept, freed by free(); NULL for none. */
static enum sv_status encode_preprocessing(const struct create_body *body, char **out_text,
                                           struct sv_error *err)
{
    if (!body->has_preprocessing) {
        return SV_OK;
    }
    if (body->preprocessing.mean.count != body->preprocessing.std.count) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/preprocessing/std",
                          "must have as many numbers as mean");
    }
    if (body->preprocessing.transform_input && body->preprocessing.mean.count != RGB_CHANNELS) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/preprocessing/transform_input",
                          "is of three channels: mean and std must have three numbers");
    }
    json_auto_t *json = jx_encode(PREPROCESSING_FIELDS, &body->preprocessing);
    *out_text = json ? jx_dump(json, NULL) : NULL;
    return *out_text ? SV_OK : api_no_memory(err);
}

static enum sv_status decode(struct api_ctx *ctx, const json_t *json, struct create_body *body,
                             struct api_declared *declared, char **out_preprocessing,
                             struct sv_error *err)
{
    enum sv_status st = api_decode(api_weights_create_fields, json, body, err);
    if (st == SV_OK) {
        st = check_lines(body, err);
    }
    if (st == SV_OK) {
        st = encode_preprocessing(body, out_preprocessing, err);
    }
    return st == SV_OK ? api_declare_files(ctx, body->files, declared, err) : st;
}

/* POST /v1/weights. 201; 409 name taken; 422. */
enum sv_status api_weights_post(void *state, const struct http_request *req,
                                struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct create_body body = {0};
    struct api_declared declared = {0};
    struct api_creation creation;
    char *preprocessing = NULL;
    enum sv_status st = api_creation_begin(req, &creation, err);
    if (st == SV_OK) {
        st = decode(ctx, req->json, &body, &declared, &preprocessing, err);
    }
    if (st == SV_OK) {
        struct store_weights_new weights = {.name = body.name,
                                            .notes = body.notes,
                                            .origin = body.origin,
                                            .url = body.url,
                                            .licence = body.licence,
                                            .preprocessing = preprocessing,
                                            .files = declared.files,
                                            .n_files = declared.n};
        st = store_weights_create(ctx->store, &creation.scope, &weights, creation.idempotency,
                                  &creation.created, err);
    }
    if (st == SV_OK) {
        st = api_declared_fill(ctx, STORE_WEIGHTS, &creation, &declared, err);
    }
    if (st == SV_OK) {
        st = api_show_created(ctx, req, out_resp, "/v1/weights", &creation.created,
                              api_weights_read, err);
    }
    api_declared_close(&declared);
    free(preprocessing);
    return st;
}
