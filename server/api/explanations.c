/* SPDX-License-Identifier: MIT
 *
 * What a trial kept to explain itself: Grad-CAM maps and activations, as numbers or drawn as PNG.
 * The child's artefact says what there is (server/trial/explain.c); arrays and pictures are read
 * from its file by offset.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/image/draw.h"
#include "core/image/image.h"
#include "server/api/handlers_internal.h"
#include "server/api/trial_read_internal.h"
#include "server/store/blobs.h"

static const char *const METHODS[] = {"grad_cam", "activations", NULL};
enum method { METHOD_GRAD_CAM, METHOD_ACTIVATIONS };

/* The artefact of a trial; detail NULL: it kept none. */
struct kept {
    struct store_artefact artefact;
    json_t *detail;
};

static enum sv_status open_kept(struct api_ctx *ctx, struct api_trial_read *read, struct kept *out,
                                struct sv_error *err)
{
    bool found = false;
    enum sv_status st = api_trial_artefact(ctx, read, "explanations", &out->artefact, &found, err);
    if (st == SV_OK && found) {
        out->detail = api_document(out->artefact.detail);
        st = out->detail ? SV_OK : api_no_memory(err);
    }
    return st;
}

static const json_t *array_of(const struct kept *kept, size_t n)
{
    return json_array_get(json_object_get(kept->detail, "arrays"), n);
}

static const json_t *picture_of(const struct kept *kept, const json_t *array)
{
    json_int_t picture = json_integer_value(json_object_get(array, "picture"));
    return json_array_get(json_object_get(kept->detail, "pictures"), (size_t)picture);
}

static json_t *encode_array(const struct kept *kept, size_t n)
{
    const json_t *array = array_of(kept, n);
    const json_t *picture = picture_of(kept, array);
    return json_pack("{s:I, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?}", "n",
                     (json_int_t)n, "sample", json_object_get(picture, "item"), "name",
                     json_object_get(picture, "name"), "part", json_object_get(picture, "part"),
                     "true", json_object_get(picture, "true"), "predicted",
                     json_object_get(picture, "predicted"), "probability",
                     json_object_get(picture, "probability"), "method",
                     json_object_get(array, "method"), "layer", json_object_get(array, "layer"),
                     "class", json_object_get(array, "class"), "score",
                     json_object_get(array, "score"), "shape", json_object_get(array, "shape"));
}

/* ---------------------------------------------------------------------------------------- list */

struct list_query {
    int method;
};
static const struct http_param LIST_PARAMS[] = {
    {"method", HTTP_PARAM_CHOICE, offsetof(struct list_query, method), 0, 0, METHODS}};

static bool is_of_method(const json_t *array, int method)
{
    const char *name = json_string_value(json_object_get(array, "method"));
    return method < 0 || (name && strcmp(name, METHODS[method]) == 0);
}

/* GET /v1/trials/{id}/explanations?method=: what was kept; nothing when the job asked for nothing.
 * 404. */
enum sv_status api_trials_explanations(void *state, const struct http_request *req,
                                       struct http_response *out_resp, struct sv_error *err)
{
    struct list_query query = {.method = -1};
    struct api_params params = {LIST_PARAMS, API_COUNT(LIST_PARAMS), &query};
    struct api_trial_read read;
    struct kept kept = {0};
    json_t *rows = NULL;
    bool done = false;
    enum sv_status st =
        api_trial_read_begin(state, req, out_resp, &params, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = open_kept(state, &read, &kept, err);
    if (st == SV_OK) {
        rows = json_array();
        size_t n = json_array_size(json_object_get(kept.detail, "arrays"));
        for (size_t i = 0; i < n; i++) {
            if (is_of_method(array_of(&kept, i), query.method)) {
                rows = api_append_take(rows, encode_array(&kept, i));
            }
        }
        rows = api_list_take(rows, NULL);
        st = rows ? SV_OK : api_no_memory(err);
    }
    json_decref(kept.detail);
    return api_trial_read_end_take(state, req, out_resp, &read, st, rows, err);
}

/* ------------------------------------------------------------------------------------- one array
 */

/* Sides of a shape, 1 where there are fewer than three; false when it is none. */
static bool read_shape(const json_t *row, size_t out[3], size_t *out_count)
{
    const json_t *shape = json_object_get(row, "shape");
    size_t rank = json_array_size(shape);
    *out_count = 1;
    for (size_t i = 0; i < 3; i++) {
        json_int_t side = i < rank ? json_integer_value(json_array_get(shape, i)) : 1;
        if (side < 1 || !nn_size_mul(*out_count, (size_t)side, out_count)) {
            return false;
        }
        out[i] = (size_t)side;
    }
    return rank >= 1 && rank <= 3;
}

/* size bytes at the row's offset; to be freed. */
static enum sv_status read_bytes(struct api_ctx *ctx, const struct api_trial_read *read,
                                 const struct kept *kept, const json_t *row, size_t size,
                                 void **out, struct sv_error *err)
{
    int64_t offset = json_integer_value(json_object_get(row, "offset"));
    size_t done = 0, n = 1;
    char *bytes = malloc(size);
    enum sv_status st = bytes ? SV_OK : api_no_memory(err);
    while (st == SV_OK && done < size && n > 0) {
        st = store_blob_read(ctx->store, read->scope.project_id, kept->artefact.blob.id,
                             offset + (int64_t)done, bytes + done, size - done, &n, err);
        done += st == SV_OK ? n : 0;
    }
    if (st == SV_OK && done < size) {
        st = sv_fail(err, SV_ERR_INTERNAL, "stored explanations are cut off");
    }
    if (st != SV_OK) {
        free(bytes);
        return st;
    }
    *out = bytes;
    return SV_OK;
}

static json_t *encode_values(const struct kept *kept, size_t n, const float *values, size_t count)
{
    json_t *json = encode_array(kept, n);
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++) {
        list = api_append_take(list, jx_number_f32(values[i]));
    }
    if (!json || !list || json_object_set_new(json, "values", list) != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/* An array as pixels; to be freed. */
struct drawing {
    uint8_t *pixels;
    size_t height, width, channels;
};

static enum sv_status draw_tiles(const float *values, const size_t shape[3], struct drawing *out,
                                 struct sv_error *err)
{
    struct nn_tiles tiles;
    struct nn_error nn = {0};
    if (nn_draw_tiles_plan(shape[0], shape[1], shape[2], &tiles, &nn) != NN_OK) {
        return sv_fail(err, SV_ERR_TOO_LARGE, "%s", nn.text);
    }
    *out = (struct drawing){malloc(tiles.height * tiles.width), tiles.height, tiles.width, 1};
    if (!out->pixels) {
        return api_no_memory(err);
    }
    nn_draw_tiles(&tiles, values, shape[0], shape[1], shape[2], out->pixels);
    return SV_OK;
}

/* picture NULL: the map alone. */
static enum sv_status draw_map(const float *values, const size_t shape[3], const uint8_t *picture,
                               size_t channels, struct drawing *out, struct sv_error *err)
{
    *out = (struct drawing){malloc(shape[0] * shape[1] * 3), shape[0], shape[1], 3};
    if (!out->pixels) {
        return api_no_memory(err);
    }
    if (picture) {
        nn_draw_overlay(values, picture, channels, shape[0], shape[1], out->pixels);
    } else {
        nn_draw_map(values, shape[0], shape[1], out->pixels);
    }
    return SV_OK;
}

/* What is asked of one array. */
struct view {
    struct api_ctx *ctx;
    struct api_trial_read *read;
    struct kept *kept;
    size_t n;
    bool overlay;
};

static enum sv_status draw(const struct view *view, const float *values, const size_t shape[3],
                           struct drawing *out, struct sv_error *err)
{
    const json_t *array = array_of(view->kept, view->n);
    const json_t *row = picture_of(view->kept, array);
    size_t sides[3], count;
    void *picture = NULL;
    if (!is_of_method(array, METHOD_GRAD_CAM)) {
        return draw_tiles(values, shape, out, err);
    }
    if (!view->overlay) {
        return draw_map(values, shape, NULL, 0, out, err);
    }
    if (!read_shape(row, sides, &count) || sides[0] != shape[0] || sides[1] != shape[1]) {
        return sv_fail(err, SV_ERR_INTERNAL, "stored explanations do not fit their picture");
    }
    enum sv_status st = read_bytes(view->ctx, view->read, view->kept, row, count, &picture, err);
    if (st == SV_OK) {
        st = draw_map(values, shape, picture, sides[2], out, err);
    }
    free(picture);
    return st;
}

static enum sv_status encode_png(const struct view *view, const float *values,
                                 const size_t shape[3], char **out_bytes, size_t *out_size,
                                 struct sv_error *err)
{
    struct drawing drawing = {0};
    struct nn_error nn = {0};
    uint8_t *png = NULL;
    enum sv_status st = draw(view, values, shape, &drawing, err);
    if (st == SV_OK && nn_image_encode_png(drawing.pixels, drawing.height, drawing.width,
                                           drawing.channels, &png, out_size, &nn) != NN_OK) {
        st = sv_fail(err, SV_ERR_INTERNAL, "%s", nn.text);
    }
    free(drawing.pixels);
    *out_bytes = (char *)png;
    return st;
}

/* Answers with one array, which there is, and ends the read. */
static enum sv_status answer_array(const struct view *view, const struct http_request *req,
                                   struct http_response *resp, struct sv_error *err)
{
    const json_t *array = array_of(view->kept, view->n);
    bool as_png = !http_accepts(req, "application/json") && http_accepts(req, "image/png");
    size_t shape[3], count = 0, size = 0;
    void *values = NULL;
    char *png = NULL;
    json_t *json = NULL;
    enum sv_status st = read_shape(array, shape, &count)
                            ? SV_OK
                            : sv_fail(err, SV_ERR_INTERNAL, "a stored explanation is damaged");
    if (st == SV_OK) {
        st = read_bytes(view->ctx, view->read, view->kept, array, count * sizeof(float), &values,
                        err);
    }
    if (st == SV_OK && as_png) {
        st = encode_png(view, values, shape, &png, &size, err);
    } else if (st == SV_OK) {
        json = encode_values(view->kept, view->n, values, count);
        st = json ? SV_OK : api_no_memory(err);
    }
    free(values);
    return st == SV_OK && as_png
               ? api_trial_read_end_bytes_take(view->ctx, req, resp, view->read, "image/png", png,
                                               size, err)
               : api_trial_read_end_take(view->ctx, req, resp, view->read, st, json, err);
}

static bool read_number(const char *text, size_t *out)
{
    size_t n = strlen(text);
    if (n == 0 || n > 9 || strspn(text, "0123456789") != n) {
        return false;
    }
    *out = (size_t)strtoul(text, NULL, 10);
    return true;
}

struct one_query {
    bool overlay;
};
static const struct http_param ONE_PARAMS[] = {
    {"overlay", HTTP_PARAM_BOOL, offsetof(struct one_query, overlay), 0, 0, NULL}};

/* GET /v1/trials/{id}/explanations/{n}: the numbers, or with Accept: image/png a drawing. 404. */
enum sv_status api_trials_explanation(void *state, const struct http_request *req,
                                      struct http_response *out_resp, struct sv_error *err)
{
    struct one_query query = {.overlay = true};
    struct api_params params = {ONE_PARAMS, API_COUNT(ONE_PARAMS), &query};
    struct api_trial_read read;
    struct kept kept = {0};
    struct view view = {state, &read, &kept, 0, true};
    bool done = false;
    enum sv_status st =
        api_trial_read_begin(state, req, out_resp, &params, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = open_kept(state, &read, &kept, err);
    if (st == SV_OK && (!read_number(http_path(req, "n"), &view.n) || !array_of(&kept, view.n))) {
        st = sv_fail(err, SV_ERR_NOT_FOUND, "the trial kept no such explanation");
    }
    view.overlay = query.overlay;
    st = st == SV_OK ? answer_array(&view, req, out_resp, err)
                     : api_trial_read_end_take(state, req, out_resp, &read, st, NULL, err);
    json_decref(kept.detail);
    return st;
}

/* -------------------------------------------------------------------------------- activations */

struct activation_query {
    const char *layer;
    int64_t sample;
};
#define ACTIVATION(member) offsetof(struct activation_query, member)
static const struct http_param ACTIVATION_PARAMS[] = {
    {"layer", HTTP_PARAM_TEXT, ACTIVATION(layer), 1, 64, NULL},
    {"sample", HTTP_PARAM_INT, ACTIVATION(sample), 0, 4294967295, NULL},
};

static enum sv_status find_activation(const struct kept *kept, const struct activation_query *query,
                                      size_t *out_n, struct sv_error *err)
{
    size_t count = json_array_size(json_object_get(kept->detail, "arrays"));
    if (!query->layer || query->sample < 0) {
        return sv_fail_parameter(err, SV_ERR_INVALID_PARAMETER, query->layer ? "sample" : "layer",
                                 "layer and sample are needed");
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *array = array_of(kept, i);
        const char *layer = json_string_value(json_object_get(array, "layer"));
        const json_t *item = json_object_get(picture_of(kept, array), "item");
        if (is_of_method(array, METHOD_ACTIVATIONS) && layer && strcmp(layer, query->layer) == 0 &&
            json_integer_value(item) == query->sample) {
            *out_n = i;
            return SV_OK;
        }
    }
    return sv_fail(err, SV_ERR_NOT_FOUND, "the trial kept no activation of this layer and sample");
}

/* GET /v1/trials/{id}/activations?layer=&sample=: as an explanation. 400 without either; 404. */
enum sv_status api_trials_activations(void *state, const struct http_request *req,
                                      struct http_response *out_resp, struct sv_error *err)
{
    struct activation_query query = {.sample = -1};
    struct api_params params = {ACTIVATION_PARAMS, API_COUNT(ACTIVATION_PARAMS), &query};
    struct api_trial_read read;
    struct kept kept = {0};
    struct view view = {state, &read, &kept, 0, false};
    bool done = false;
    enum sv_status st =
        api_trial_read_begin(state, req, out_resp, &params, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = open_kept(state, &read, &kept, err);
    if (st == SV_OK) {
        st = find_activation(&kept, &query, &view.n, err);
    }
    st = st == SV_OK ? answer_array(&view, req, out_resp, err)
                     : api_trial_read_end_take(state, req, out_resp, &read, st, NULL, err);
    json_decref(kept.detail);
    return st;
}
