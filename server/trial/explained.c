/* SPDX-License-Identifier: MIT
 *
 * Maps and activations of pictures, one after the other, and their file.
 */
#include "server/trial/explained_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/files/safetensors.h"

enum {
    PER_PICTURE = 2 + NN_EXPLAIN_LAYERS_MAX, /* arrays */
    ARRAYS_MAX = NN_EXPLAIN_SAMPLES_MAX * PER_PICTURE,
    NUMBERS_MAX = 1 << 20, /* of one array */
};
#define BYTES_MAX ((size_t)64 << 20) /* of all arrays */

struct trial_explained {
    struct trial_explained_setup setup;
    struct nn_explainer *explainer;
    nn_real *numbers; /* NUMBERS_MAX */
    struct nn_file_tensor tensors[ARRAYS_MAX + NN_EXPLAIN_SAMPLES_MAX];
    char names[ARRAYS_MAX + NN_EXPLAIN_SAMPLES_MAX][32];
    const uint8_t *pixels[NN_EXPLAIN_SAMPLES_MAX];
    size_t n, bytes, left_out;
    json_t *arrays, *pictures;
};

enum nn_status trial_explained_create(const struct trial_explained_setup *setup,
                                      struct trial_explained **out, struct nn_error *err)
{
    struct trial_explained *e = calloc(1, sizeof *e);
    if (!e) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory");
    }
    e->setup = *setup;
    e->setup.explainer.layers = setup->plan->layers;
    e->setup.explainer.n_layers = setup->plan->n_layers;
    e->setup.explainer.grad_cam = setup->plan->grad_cam;
    e->setup.explainer.feature_layer = setup->plan->feature_layer;
    e->numbers = calloc(NUMBERS_MAX, sizeof *e->numbers);
    e->arrays = json_array();
    e->pictures = json_array();
    enum nn_status status = e->numbers && e->arrays && e->pictures
                                ? nn_explainer_create(&e->setup.explainer, &e->explainer, err)
                                : nn_fail(err, NN_ERR_MEMORY, "no memory");
    if (status != NN_OK) {
        trial_explained_destroy(e);
        return status;
    }
    *out = e;
    return NN_OK;
}

void trial_explained_destroy(struct trial_explained *e)
{
    if (e) {
        size_t n_arrays = json_array_size(e->arrays);
        for (size_t i = 0; i < n_arrays; i++) {
            free((void *)(uintptr_t)e->tensors[i].data);
        }
        json_decref(e->arrays);
        json_decref(e->pictures);
        free(e->numbers);
        nn_explainer_destroy(e->explainer);
        free(e);
    }
}

const nn_real *trial_explained_scores(const struct trial_explained *e)
{
    return nn_explainer_scores(e->explainer);
}

const nn_real *trial_explained_probabilities(struct trial_explained *e)
{
    return nn_explainer_probabilities(e->explainer);
}

size_t trial_explained_left_out(const struct trial_explained *e)
{
    return e->left_out;
}

/* ---- arrays ---- */

/* Keeps count numbers of e->numbers; row says what they are and is transferred. */
static void keep_take(struct trial_explained *e, const size_t *shape, size_t rank, size_t count,
                      json_t *row)
{
    float *data = malloc(count * sizeof *data);
    json_t *sides = json_array();
    if (!data || !sides || !row) {
        abort();
    }
    struct nn_file_tensor *tensor = &e->tensors[e->n];
    (void)snprintf(e->names[e->n], sizeof e->names[0], "array.%zu", e->n);
    *tensor = (struct nn_file_tensor){.name = e->names[e->n],
                                      .dtype = NN_FILE_F32,
                                      .rank = rank,
                                      .count = count,
                                      .data = data,
                                      .bytes = count * sizeof *data};
    for (size_t i = 0; i < count; i++) {
        data[i] = (float)e->numbers[i];
    }
    for (size_t i = 0; i < rank; i++) {
        tensor->shape[i] = shape[i];
        (void)json_array_append_new(sides, json_integer((json_int_t)shape[i]));
    }
    (void)json_object_set_new(row, "shape", sides);
    (void)json_array_append_new(e->arrays, row);
    e->bytes += tensor->bytes;
    e->n++;
}

static bool has_room(struct trial_explained *e, size_t count)
{
    bool room = count <= NUMBERS_MAX && e->bytes + count * sizeof(float) <= BYTES_MAX;
    e->left_out += room ? 0 : 1;
    return room;
}

static void keep_map(struct trial_explained *e, size_t picture, size_t class_index)
{
    const struct nn_network_bind *bind = &e->setup.explainer.bind;
    const size_t shape[2] = {bind->height, bind->width};
    if (!has_room(e, shape[0] * shape[1])) {
        return;
    }
    nn_explainer_grad_cam(e->explainer, class_index, e->numbers);
    double score = (double)nn_explainer_scores(e->explainer)[class_index];
    json_t *row =
        json_pack("{s:I, s:s, s:s, s:o, s:o}", "picture", (json_int_t)picture, "method",
                  nn_explain_method_name(NN_EXPLAIN_GRAD_CAM), "layer",
                  nn_explainer_feature_layer(e->explainer), "class",
                  jx_text(e->setup.classes[class_index], SIZE_MAX), "score", jx_number(score));
    keep_take(e, shape, 2, shape[0] * shape[1], row);
}

static void keep_activation(struct trial_explained *e, size_t picture, size_t layer)
{
    struct nn_explained_shape shape;
    size_t count = nn_explainer_activation_count(e->explainer, layer, &shape);
    const size_t sides[3] = {shape.height, shape.width, shape.channels};
    if (!has_room(e, count)) {
        return;
    }
    nn_explainer_activation(e->explainer, layer, e->numbers);
    json_t *row = json_pack("{s:I, s:s, s:s, s:n, s:n}", "picture", (json_int_t)picture, "method",
                            nn_explain_method_name(NN_EXPLAIN_ACTIVATIONS), "layer",
                            e->setup.plan->layers[layer], "class", "score");
    keep_take(e, sides, 3, count, row);
}

static void keep_maps(struct trial_explained *e, size_t number,
                      const struct trial_explained_picture *picture, size_t predicted)
{
    bool named = picture->class_index != TRIAL_CLASS_NONE;
    size_t first = named ? picture->class_index : predicted;
    if (first != TRIAL_CLASS_NONE) {
        keep_map(e, number, first);
    }
    if (!named && picture->truth != TRIAL_CLASS_NONE && picture->truth != predicted) {
        keep_map(e, number, picture->truth);
    }
}

void trial_explained_add_take(struct trial_explained *e,
                              const struct trial_explained_picture *picture)
{
    const struct nn_network_bind *bind = &e->setup.explainer.bind;
    size_t number = json_array_size(e->pictures);
    nn_explainer_look(e->explainer, picture->pixels);
    size_t predicted = nn_explainer_predicted(e->explainer);
    bool told = predicted != NN_NO_CLASS;
    const nn_real *probabilities = nn_explainer_probabilities(e->explainer);
    json_t *row = json_pack(
        "{s:o, s:o, s:[I, I, I]}", "predicted",
        told ? jx_text(e->setup.classes[predicted], SIZE_MAX) : json_null(), "probability",
        jx_number(told ? (double)probabilities[predicted] : (double)NAN), "shape",
        (json_int_t)bind->height, (json_int_t)bind->width, (json_int_t)bind->channels);
    if (!row || json_object_update(row, picture->facts) != 0) {
        abort();
    }
    json_decref(picture->facts);
    (void)json_array_append_new(e->pictures, row);
    e->pixels[number] = picture->pixels;
    for (size_t i = 0; i < e->setup.plan->n_layers; i++) {
        keep_activation(e, number, i);
    }
    if (e->setup.plan->grad_cam) {
        keep_maps(e, number, picture, told ? predicted : TRIAL_CLASS_NONE);
    }
}

/* ---- the file ---- */

/* Pictures go behind all arrays: F32 stays aligned. */
static void add_pictures(struct trial_explained *e)
{
    const struct nn_network_bind *bind = &e->setup.explainer.bind;
    size_t count = bind->height * bind->width * bind->channels;
    for (size_t i = 0; i < json_array_size(e->pictures); i++) {
        (void)snprintf(e->names[e->n], sizeof e->names[0], "picture.%zu", i);
        e->tensors[e->n] =
            (struct nn_file_tensor){.name = e->names[e->n],
                                    .dtype = NN_FILE_U8,
                                    .rank = 3,
                                    .shape = {bind->height, bind->width, bind->channels},
                                    .count = count,
                                    .data = e->pixels[i],
                                    .bytes = count};
        e->n++;
    }
}

/* Tensors follow each other in their order, up to the end of the file. */
static bool set_offsets(struct trial_explained *e)
{
    struct stat st;
    size_t total = 0;
    for (size_t i = 0; i < e->n; i++) {
        total += e->tensors[i].bytes;
    }
    if (stat(TRIAL_EXPLAINED_FILE, &st) != 0 || (size_t)st.st_size < total) {
        return false;
    }
    size_t offset = (size_t)st.st_size - total;
    size_t n_arrays = json_array_size(e->arrays);
    for (size_t i = 0; i < e->n; i++) {
        json_t *row =
            i < n_arrays ? json_array_get(e->arrays, i) : json_array_get(e->pictures, i - n_arrays);
        (void)json_object_set_new(row, "offset", json_integer((json_int_t)offset));
        offset += e->tensors[i].bytes;
    }
    return true;
}

enum nn_status trial_explained_write(struct trial_explained *e, json_t **out_detail,
                                     struct nn_error *err)
{
    add_pictures(e);
    enum nn_status status =
        nn_safetensors_write(TRIAL_EXPLAINED_FILE, e->tensors, e->n, NULL, 0, err);
    if (status == NN_OK && !set_offsets(e)) {
        status = nn_fail(err, NN_ERR_IO, "the file of explanations is not as it was written");
    }
    if (status == NN_OK) {
        *out_detail = json_pack("{s:O, s:O}", "pictures", e->pictures, "arrays", e->arrays);
        status = *out_detail ? NN_OK : nn_fail(err, NN_ERR_MEMORY, "no memory");
    }
    return status;
}
