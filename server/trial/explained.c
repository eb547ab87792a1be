/* SPDX-License-Identifier: MIT
 *
 * Maps and activations of samples, one after the other, and their file.
 */
#include "server/trial/explained_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/explain/hiding.h"
#include "core/files/safetensors.h"

enum {
    CLASSES = NN_HIDER_CLASSES_MAX,                    /* that have a map of each method */
    PER_PICTURE = 3 * CLASSES + NN_EXPLAIN_LAYERS_MAX, /* arrays */
    ARRAYS_MAX = NN_EXPLAIN_SAMPLES_MAX * PER_PICTURE,
    NUMBERS_MAX = 1 << 20, /* of one array */
};
#define BYTES_MAX ((size_t)64 << 20) /* of all arrays */

struct trial_explained {
    struct trial_explained_setup setup;
    struct nn_explainer *explainer;
    struct nn_hider *hider; /* NULL: nothing is hidden */
    nn_real *numbers;       /* NUMBERS_MAX */
    nn_real *maps;          /* CLASSES x height x width; NULL: nothing is hidden */
    struct nn_file_tensor tensors[ARRAYS_MAX + NN_EXPLAIN_SAMPLES_MAX];
    char names[ARRAYS_MAX + NN_EXPLAIN_SAMPLES_MAX][32];
    const void *values[NN_EXPLAIN_SAMPLES_MAX];
    size_t n, bytes, left_out;
    json_t *arrays, *pictures;
};

static bool hides(const struct nn_explain_plan *plan)
{
    return plan->occludes || plan->limes;
}

static bool is_of_signals(const struct trial_explained *e)
{
    return e->setup.explainer.value_bytes == sizeof(float);
}

static enum nn_status create_hider(struct trial_explained *e, struct nn_error *err)
{
    const struct nn_explain_plan *plan = e->setup.plan;
    const struct nn_explainer_setup *from = &e->setup.explainer;
    if (!hides(plan)) {
        return NN_OK;
    }
    if (!plan->fill_given && !e->setup.mean) {
        return nn_fail_at(err, NN_ERR_INVALID, "/mask_value",
                          "the trial kept no mean of what trained: say a mask value");
    }
    const struct nn_hider_setup setup = {.description = from->description,
                                         .bind = from->bind,
                                         .network = from->network,
                                         .value_bytes = is_of_signals(e) ? sizeof(float) : 1,
                                         .fill = plan->fill_given ? plan->fill : e->setup.mean,
                                         .occlusion = plan->occludes ? &plan->occlusion : NULL,
                                         .lime = plan->limes ? &plan->lime : NULL,
                                         .plain_operators = from->plain_operators,
                                         .kernels = from->kernels,
                                         .memory = from->memory,
                                         .pool = from->pool,
                                         .go_on = e->setup.go_on,
                                         .ctx = e->setup.ctx};
    e->maps = calloc(CLASSES * from->bind.height * from->bind.width, sizeof *e->maps);
    return e->maps ? nn_hider_create(&setup, &e->hider, err)
                   : nn_fail(err, NN_ERR_MEMORY, "no memory");
}

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
    status = status == NN_OK ? create_hider(e, err) : status;
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
        free(e->maps);
        free(e->numbers);
        nn_hider_destroy(e->hider);
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

/* Keeps count numbers; row says what they are and is transferred. */
static void keep_take(struct trial_explained *e, const nn_real *numbers, const size_t *shape,
                      size_t rank, size_t count, json_t *row)
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
        data[i] = (float)numbers[i];
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

/* The picture that is being explained, and the classes that its maps speak for. */
struct subject {
    const void *values;
    size_t number;
    size_t classes[CLASSES], n_classes;
};

static void keep_map(struct trial_explained *e, const struct subject *s, size_t class_index,
                     enum nn_explain_method method, const nn_real *map)
{
    const struct nn_network_bind *bind = &e->setup.explainer.bind;
    const size_t shape[2] = {bind->height, bind->width};
    double score = (double)nn_explainer_scores(e->explainer)[class_index];
    const char *layer =
        method == NN_EXPLAIN_GRAD_CAM ? nn_explainer_feature_layer(e->explainer) : NULL;
    json_t *row =
        json_pack("{s:I, s:s, s:s?, s:o, s:o}", "picture", (json_int_t)s->number, "method",
                  nn_explain_method_name(method), "layer", layer, "class",
                  jx_text(e->setup.classes[class_index], SIZE_MAX), "score", jx_number(score));
    keep_take(e, map, shape, 2, shape[0] * shape[1], row);
}

static void keep_grad_cam(struct trial_explained *e, const struct subject *s)
{
    const struct nn_network_bind *bind = &e->setup.explainer.bind;
    for (size_t k = 0; k < s->n_classes; k++) {
        if (has_room(e, bind->height * bind->width)) {
            nn_explainer_grad_cam(e->explainer, s->classes[k], e->numbers);
            keep_map(e, s, s->classes[k], NN_EXPLAIN_GRAD_CAM, e->numbers);
        }
    }
}

static void keep_hidden(struct trial_explained *e, const struct subject *s,
                        enum nn_explain_method method)
{
    const struct nn_network_bind *bind = &e->setup.explainer.bind;
    size_t pixels = bind->height * bind->width;
    if (s->n_classes == 0) { /* no score is a number: there is nothing that a part speaks for */
        return;
    }
    bool done = method == NN_EXPLAIN_OCCLUSION
                    ? nn_hider_occlude(e->hider, s->values, s->classes, s->n_classes, e->maps)
                    : nn_hider_lime(e->hider, s->values, s->classes, s->n_classes, e->maps);
    for (size_t k = 0; done && k < s->n_classes; k++) {
        if (has_room(e, pixels)) {
            keep_map(e, s, s->classes[k], method, e->maps + k * pixels);
        }
    }
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
    keep_take(e, e->numbers, sides, 3, count, row);
}

static struct subject subject_of(const struct trial_explained_picture *picture, size_t number,
                                 size_t predicted)
{
    bool named = picture->class_index != NN_NO_CLASS;
    size_t first = named ? picture->class_index : predicted;
    struct subject s = {.values = picture->values, .number = number};
    if (first != NN_NO_CLASS) {
        s.classes[s.n_classes++] = first;
    }
    if (!named && picture->truth != NN_NO_CLASS && picture->truth != predicted) {
        s.classes[s.n_classes++] = picture->truth;
    }
    return s;
}

static json_t *encode_picture(struct trial_explained *e, size_t predicted)
{
    const struct nn_network_bind *bind = &e->setup.explainer.bind;
    bool told = predicted != NN_NO_CLASS;
    const nn_real *probabilities = nn_explainer_probabilities(e->explainer);
    return json_pack("{s:o, s:o, s:[I, I, I], s:o*}", "predicted",
                     told ? jx_text(e->setup.classes[predicted], SIZE_MAX) : json_null(),
                     "probability",
                     jx_number(told ? (double)probabilities[predicted] : (double)NAN), "shape",
                     (json_int_t)bind->height, (json_int_t)bind->width, (json_int_t)bind->channels,
                     "signal", is_of_signals(e) ? json_true() : NULL);
}

void trial_explained_add_take(struct trial_explained *e,
                              const struct trial_explained_picture *picture)
{
    const struct nn_explain_plan *plan = e->setup.plan;
    size_t number = json_array_size(e->pictures);
    nn_explainer_look(e->explainer, picture->values);
    size_t predicted = nn_explainer_predicted(e->explainer);
    json_t *row = encode_picture(e, predicted);
    if (!row || json_object_update(row, picture->facts) != 0) {
        abort();
    }
    json_decref(picture->facts);
    (void)json_array_append_new(e->pictures, row);
    e->values[number] = picture->values;
    for (size_t i = 0; i < plan->n_layers; i++) {
        keep_activation(e, number, i);
    }
    const struct subject s = subject_of(picture, number, predicted);
    if (plan->grad_cam) {
        keep_grad_cam(e, &s);
    }
    if (plan->occludes) {
        keep_hidden(e, &s, NN_EXPLAIN_OCCLUSION);
    }
    if (plan->limes) {
        keep_hidden(e, &s, NN_EXPLAIN_LIME);
    }
}

/* ---- the file ---- */

/* Pictures go behind all arrays: F32 stays aligned. */
static void add_pictures(struct trial_explained *e)
{
    const struct nn_network_bind *bind = &e->setup.explainer.bind;
    size_t count = bind->height * bind->width * bind->channels;
    bool signals = is_of_signals(e);
    for (size_t i = 0; i < json_array_size(e->pictures); i++) {
        (void)snprintf(e->names[e->n], sizeof e->names[0], "picture.%zu", i);
        e->tensors[e->n] =
            (struct nn_file_tensor){.name = e->names[e->n],
                                    .dtype = signals ? NN_FILE_F32 : NN_FILE_U8,
                                    .rank = 3,
                                    .shape = {bind->height, bind->width, bind->channels},
                                    .count = count,
                                    .data = e->values[i],
                                    .bytes = count * (signals ? sizeof(float) : 1)};
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
