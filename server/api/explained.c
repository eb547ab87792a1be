/* SPDX-License-Identifier: MIT
 *
 * Arrays of a file of explanations as JSON, or drawn as PNG.
 */
#include "server/api/explained_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/explain/options.h"
#include "core/image/draw.h"
#include "core/image/image.h"
#include "server/store/blobs.h"

const char *const api_explain_methods[] = {"grad_cam", "activations", "occlusion", "lime", NULL};

size_t api_explained_count(const struct api_explained *e)
{
    return json_array_size(json_object_get(e->detail, "arrays"));
}

const json_t *api_explained_array(const struct api_explained *e, size_t n)
{
    return json_array_get(json_object_get(e->detail, "arrays"), n);
}

const json_t *api_explained_picture(const struct api_explained *e, size_t n)
{
    json_int_t picture = json_integer_value(json_object_get(api_explained_array(e, n), "picture"));
    return json_array_get(json_object_get(e->detail, "pictures"), (size_t)picture);
}

bool api_explained_is(const struct api_explained *e, size_t n, int method)
{
    const char *name = json_string_value(json_object_get(api_explained_array(e, n), "method"));
    return method < 0 || (name && strcmp(name, api_explain_methods[method]) == 0);
}

bool api_explained_number(const struct api_explained *e, const char *text, size_t *out_n)
{
    size_t length = strlen(text);
    if (length == 0 || length > 9 || strspn(text, "0123456789") != length) {
        return false;
    }
    *out_n = (size_t)strtoul(text, NULL, 10);
    return *out_n < api_explained_count(e);
}

json_t *api_explained_encode(const struct api_explained *e, size_t n)
{
    const json_t *array = api_explained_array(e, n);
    const json_t *picture = api_explained_picture(e, n);
    return json_pack(
        "{s:I, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?}", "n",
        (json_int_t)n, "sample", json_object_get(picture, "item"), "name",
        json_object_get(picture, "name"), "part", json_object_get(picture, "part"), "trial_part",
        json_object_get(picture, "trial_part"), "true", json_object_get(picture, "true"),
        "predicted", json_object_get(picture, "predicted"), "probability",
        json_object_get(picture, "probability"), "method", json_object_get(array, "method"),
        "layer", json_object_get(array, "layer"), "class", json_object_get(array, "class"), "score",
        json_object_get(array, "score"), "shape", json_object_get(array, "shape"));
}

/* ---- numbers ---- */

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
static enum sv_status read_bytes(const struct api_explained *e, const json_t *row, size_t size,
                                 void **out, struct sv_error *err)
{
    int64_t offset = json_integer_value(json_object_get(row, "offset"));
    size_t done = 0, n = 1;
    char *bytes = malloc(size);
    enum sv_status st = bytes ? SV_OK : api_no_memory(err);
    while (st == SV_OK && done < size && n > 0) {
        st = store_blob_read(e->ctx->store, e->project_id, e->blob_id, offset + (int64_t)done,
                             bytes + done, size - done, &n, err);
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

static json_t *encode_values(const struct api_explained *e, size_t n, const float *values,
                             size_t count)
{
    json_t *json = api_explained_encode(e, n);
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

/* ---- drawings ---- */

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

/* Along a window of a signal, as a band over its plot; window NULL: the band alone. */
static enum sv_status draw_band(const float *values, const size_t shape[3], const float *window,
                                size_t channels, struct drawing *out, struct sv_error *err)
{
    static const size_t plot_shape[3] = {NN_PLOT_HEIGHT, NN_PLOT_WIDTH, 1};
    size_t n = shape[0] * shape[1];
    float *map = malloc((size_t)NN_PLOT_HEIGHT * NN_PLOT_WIDTH * sizeof *map);
    uint8_t *plot = malloc((size_t)NN_PLOT_HEIGHT * NN_PLOT_WIDTH);
    enum sv_status st = map && plot ? SV_OK : api_no_memory(err);
    if (st == SV_OK) {
        nn_draw_plot_map(values, n, map);
        if (window) {
            nn_draw_plot(window, n, channels, plot);
        }
        st = draw_map(map, plot_shape, window ? plot : NULL, 1, out, err);
    }
    free(plot);
    free(map);
    return st;
}

static enum sv_status draw_over_picture(const struct api_explained *e, size_t n,
                                        const float *values, const size_t shape[3],
                                        struct drawing *out, struct sv_error *err)
{
    const json_t *row = api_explained_picture(e, n);
    bool signal = json_is_true(json_object_get(row, "signal"));
    size_t sides[3], count;
    void *picture = NULL;
    if (!read_shape(row, sides, &count) || sides[0] != shape[0] || sides[1] != shape[1]) {
        return sv_fail(err, SV_ERR_INTERNAL, "stored explanations do not fit their picture");
    }
    enum sv_status st = read_bytes(e, row, count * (signal ? sizeof(float) : 1), &picture, err);
    if (st == SV_OK) {
        st = signal ? draw_band(values, shape, picture, sides[2], out, err)
                    : draw_map(values, shape, picture, sides[2], out, err);
    }
    free(picture);
    return st;
}

static enum sv_status draw(const struct api_explained *e, size_t n, bool overlay,
                           const float *values, const size_t shape[3], struct drawing *out,
                           struct sv_error *err)
{
    if (api_explained_is(e, n, NN_EXPLAIN_ACTIVATIONS)) {
        return draw_tiles(values, shape, out, err);
    }
    if (overlay) {
        return draw_over_picture(e, n, values, shape, out, err);
    }
    return json_is_true(json_object_get(api_explained_picture(e, n), "signal"))
               ? draw_band(values, shape, NULL, 0, out, err)
               : draw_map(values, shape, NULL, 0, out, err);
}

static enum sv_status encode_png(const struct api_explained *e, size_t n, bool overlay,
                                 const float *values, const size_t shape[3],
                                 struct api_explained_answer *out, struct sv_error *err)
{
    struct drawing drawing = {0};
    struct nn_error nn = {0};
    uint8_t *png = NULL;
    enum sv_status st = draw(e, n, overlay, values, shape, &drawing, err);
    if (st == SV_OK && nn_image_encode_png(drawing.pixels, drawing.height, drawing.width,
                                           drawing.channels, &png, &out->size, &nn) != NN_OK) {
        st = sv_fail(err, SV_ERR_INTERNAL, "%s", nn.text);
    }
    free(drawing.pixels);
    out->png = (char *)png;
    return st;
}

enum sv_status api_explained_read(const struct api_explained *e, size_t n, bool overlay,
                                  const struct http_request *req, struct api_explained_answer *out,
                                  struct sv_error *err)
{
    const json_t *array = api_explained_array(e, n);
    bool as_png = !http_accepts(req, "application/json") && http_accepts(req, "image/png");
    size_t shape[3], count = 0;
    void *values = NULL;
    *out = (struct api_explained_answer){0};
    if (!read_shape(array, shape, &count)) {
        return sv_fail(err, SV_ERR_INTERNAL, "a stored explanation is damaged");
    }
    enum sv_status st = read_bytes(e, array, count * sizeof(float), &values, err);
    if (st == SV_OK && as_png) {
        st = encode_png(e, n, overlay, values, shape, out, err);
    } else if (st == SV_OK) {
        out->json = encode_values(e, n, values, count);
        st = out->json ? SV_OK : api_no_memory(err);
    }
    free(values);
    return st;
}
