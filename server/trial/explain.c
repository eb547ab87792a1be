/* SPDX-License-Identifier: MIT
 *
 * Explanations of a finished trial: Grad-CAM of the class that was predicted, and of the true one
 * where that is another, and activations, of the pictures that the job asked for.
 *
 * They leave as one artefact of kind "explanations", a safetensors file with the arrays and the
 * pictures themselves, and a detail that says what each is:
 *     {"pictures": [{item, name, part, true, predicted, probability, shape, offset}],
 *      "arrays": [{picture, method, layer, class, score, shape, offset}]}
 * picture counts from 0 within "pictures"; offsets are bytes from the beginning of the file;
 * arrays are F32, height x width, or height x width x channels; pictures are U8 likewise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/memory.h"
#include "core/exchange/exchange.h"
#include "core/explain/explain.h"
#include "core/kernels/exec.h"
#include "server/trial/trial_internal.h"

#define EXPLANATIONS_FILE "explanations.safetensors"

enum {
    PER_PICTURE = 2 + NN_EXPLAIN_LAYERS_MAX, /* arrays */
    ARRAYS_MAX = NN_EXPLAIN_SAMPLES_MAX * PER_PICTURE,
    NUMBERS_MAX = 1 << 20, /* of one array */
};
#define BYTES_MAX ((size_t)64 << 20) /* of all arrays */

/* What is being made; destroyed in reverse. */
struct making {
    struct trial_link *link;
    const struct trial_start *start;
    const struct trial_ground *ground;
    struct nn_training_setup setup;
    struct nn_explain_plan plan;
    struct nn_network *network;
    struct nn_explainer *explainer;
    nn_real *numbers; /* NUMBERS_MAX */
    struct nn_file_tensor tensors[ARRAYS_MAX + NN_EXPLAIN_SAMPLES_MAX];
    char names[ARRAYS_MAX + NN_EXPLAIN_SAMPLES_MAX][32];
    size_t n, bytes, left_out;
    json_t *arrays, *pictures;
};

static void making_deinit(struct making *m)
{
    size_t n_arrays = json_array_size(m->arrays);
    for (size_t i = 0; i < n_arrays; i++) {
        free((void *)(uintptr_t)m->tensors[i].data);
    }
    json_decref(m->arrays);
    json_decref(m->pictures);
    free(m->numbers);
    nn_explainer_destroy(m->explainer);
    nn_network_destroy(m->network);
    free(m);
}

/* ---- the network ---- */

static enum nn_status load_network(struct making *m, const char *path, struct nn_error *err)
{
    const struct nn_network_options options = {
        .max_batch = 1,
        .phase = NN_PHASE_INFERENCE,
        .operators = m->setup.plain_operators ? NN_OPERATORS_PLAIN : NN_OPERATORS_OPTIMISED,
        .kernels = m->setup.kernels,
        .memory = m->setup.memory,
        .pool = m->setup.pool,
    };
    struct nn_safetensors *file = NULL;
    enum nn_status status =
        nn_network_create(m->setup.description, &m->setup.bind, &options, &m->network, err);
    status = status == NN_OK ? nn_safetensors_open(path, NULL, &file, err) : status;
    if (status == NN_OK) {
        status = nn_exchange_load(m->network, file, NN_MATCH_HEAD_KEPT, NULL, err);
        nn_safetensors_close(file);
    }
    return status;
}

static enum nn_status make_explainer(struct making *m, const char *path, struct nn_error *err)
{
    enum nn_status status = nn_explain_plan(&m->start->spec.explain, m->setup.description,
                                            &m->setup.bind, &m->plan, err);
    status = status == NN_OK ? load_network(m, path, err) : status;
    if (status != NN_OK) {
        return status;
    }
    const struct nn_explainer_setup setup = {
        .description = m->setup.description,
        .bind = m->setup.bind,
        .network = m->network,
        .layers = m->plan.layers,
        .n_layers = m->plan.n_layers,
        .grad_cam = m->plan.grad_cam,
        .feature_layer = m->plan.feature_layer,
        .plain_operators = m->setup.plain_operators,
        .kernels = m->setup.kernels,
        .memory = m->setup.memory,
        .pool = m->setup.pool,
    };
    m->numbers = calloc(NUMBERS_MAX, sizeof *m->numbers);
    m->arrays = json_array();
    m->pictures = json_array();
    return m->numbers && m->arrays && m->pictures ? nn_explainer_create(&setup, &m->explainer, err)
                                                  : nn_fail(err, NN_ERR_MEMORY, "no memory");
}

/* ---- arrays ---- */

/* Keeps count numbers of m->numbers; row says what they are and is transferred. */
static void keep_take(struct making *m, const size_t *shape, size_t rank, size_t count, json_t *row)
{
    float *data = malloc(count * sizeof *data);
    json_t *sides = json_array();
    if (!data || !sides || !row) {
        abort();
    }
    struct nn_file_tensor *tensor = &m->tensors[m->n];
    (void)snprintf(m->names[m->n], sizeof m->names[0], "array.%zu", m->n);
    *tensor = (struct nn_file_tensor){.name = m->names[m->n],
                                      .dtype = NN_FILE_F32,
                                      .rank = rank,
                                      .count = count,
                                      .data = data,
                                      .bytes = count * sizeof *data};
    for (size_t i = 0; i < count; i++) {
        data[i] = (float)m->numbers[i];
    }
    for (size_t i = 0; i < rank; i++) {
        tensor->shape[i] = shape[i];
        (void)json_array_append_new(sides, json_integer((json_int_t)shape[i]));
    }
    (void)json_object_set_new(row, "shape", sides);
    (void)json_array_append_new(m->arrays, row);
    m->bytes += tensor->bytes;
    m->n++;
}

static bool has_room(struct making *m, size_t count)
{
    bool room = count <= NUMBERS_MAX && m->bytes + count * sizeof(float) <= BYTES_MAX;
    m->left_out += room ? 0 : 1;
    return room;
}

static void keep_map(struct making *m, size_t picture, size_t class_index)
{
    const struct nn_network_bind *bind = &m->setup.bind;
    const size_t shape[2] = {bind->height, bind->width};
    if (!has_room(m, shape[0] * shape[1])) {
        return;
    }
    nn_explainer_grad_cam(m->explainer, class_index, m->numbers);
    const char *class = nn_prepared_class_name(m->ground->prepared, class_index);
    double score = (double)nn_explainer_scores(m->explainer)[class_index];
    json_t *row = json_pack("{s:I, s:s, s:s, s:o, s:o}", "picture", (json_int_t)picture, "method",
                            nn_explain_method_name(NN_EXPLAIN_GRAD_CAM), "layer",
                            nn_explainer_feature_layer(m->explainer), "class",
                            jx_text(class, SIZE_MAX), "score", jx_number(score));
    keep_take(m, shape, 2, shape[0] * shape[1], row);
}

static void keep_activation(struct making *m, size_t picture, size_t layer)
{
    struct nn_explained_shape shape;
    size_t count = nn_explainer_activation_count(m->explainer, layer, &shape);
    const size_t sides[3] = {shape.height, shape.width, shape.channels};
    if (!has_room(m, count)) {
        return;
    }
    nn_explainer_activation(m->explainer, layer, m->numbers);
    json_t *row = json_pack("{s:I, s:s, s:s, s:n, s:n}", "picture", (json_int_t)picture, "method",
                            nn_explain_method_name(NN_EXPLAIN_ACTIVATIONS), "layer",
                            m->plan.layers[layer], "class", "score");
    keep_take(m, sides, 3, count, row);
}

/* The picture goes behind all arrays: F32 stays aligned. */
static void explain_picture(struct making *m, size_t item)
{
    const struct nn_prepared *prepared = m->ground->prepared;
    const struct nn_network_bind *bind = &m->setup.bind;
    size_t picture = json_array_size(m->pictures);
    size_t truth = nn_prepared_label(prepared, item);
    nn_explainer_look(m->explainer, nn_prepared_pixels(prepared, item));
    size_t predicted = nn_explainer_predicted(m->explainer);
    json_t *row =
        json_pack("{s:I, s:o, s:s, s:o, s:o, s:o, s:[I, I, I]}", "item", (json_int_t)item, "name",
                  jx_text(nn_prepared_item_name(prepared, item), SIZE_MAX), "part",
                  nn_part_name(nn_prepared_part(prepared, item)), "true",
                  jx_text(nn_prepared_class_name(prepared, truth), SIZE_MAX), "predicted",
                  jx_text(nn_prepared_class_name(prepared, predicted), SIZE_MAX), "probability",
                  jx_number((double)nn_explainer_probabilities(m->explainer)[predicted]), "shape",
                  (json_int_t)bind->height, (json_int_t)bind->width, (json_int_t)bind->channels);
    (void)json_array_append_new(m->pictures, row);
    for (size_t i = 0; i < m->plan.n_layers; i++) {
        keep_activation(m, picture, i);
    }
    if (m->plan.grad_cam) {
        keep_map(m, picture, predicted);
    }
    if (m->plan.grad_cam && truth != predicted) {
        keep_map(m, picture, truth);
    }
}

static void explain_all(struct making *m)
{
    size_t items[NN_EXPLAIN_SAMPLES_MAX];
    const struct nn_split_side *part = &m->setup.parts[m->plan.part];
    size_t n = nn_explain_choose(&m->plan, m->ground->prepared, part->items, part->count, items);
    for (size_t i = 0; i < n && !m->link->cancel; i++) {
        trial_listen(m->link);
        explain_picture(m, items[i]);
    }
}

/* ---- the file ---- */

static void add_pictures(struct making *m)
{
    const struct nn_network_bind *bind = &m->setup.bind;
    size_t count = bind->height * bind->width * bind->channels;
    size_t i;
    json_t *row;
    json_array_foreach(m->pictures, i, row)
    {
        size_t item = (size_t)json_integer_value(json_object_get(row, "item"));
        (void)snprintf(m->names[m->n], sizeof m->names[0], "picture.%zu", i);
        m->tensors[m->n] =
            (struct nn_file_tensor){.name = m->names[m->n],
                                    .dtype = NN_FILE_U8,
                                    .rank = 3,
                                    .shape = {bind->height, bind->width, bind->channels},
                                    .count = count,
                                    .data = nn_prepared_pixels(m->ground->prepared, item),
                                    .bytes = count};
        m->n++;
    }
}

/* Tensors follow each other in their order, up to the end of the file. */
static bool set_offsets(struct making *m)
{
    struct stat st;
    size_t total = 0;
    for (size_t i = 0; i < m->n; i++) {
        total += m->tensors[i].bytes;
    }
    if (stat(EXPLANATIONS_FILE, &st) != 0 || (size_t)st.st_size < total) {
        return false;
    }
    size_t offset = (size_t)st.st_size - total;
    size_t n_arrays = json_array_size(m->arrays);
    for (size_t i = 0; i < m->n; i++) {
        json_t *row =
            i < n_arrays ? json_array_get(m->arrays, i) : json_array_get(m->pictures, i - n_arrays);
        (void)json_object_set_new(row, "offset", json_integer((json_int_t)offset));
        offset += m->tensors[i].bytes;
    }
    return true;
}

static enum nn_status write_file(struct making *m, struct nn_error *err)
{
    add_pictures(m);
    enum nn_status status = nn_safetensors_write(EXPLANATIONS_FILE, m->tensors, m->n, NULL, 0, err);
    if (status == NN_OK && !set_offsets(m)) {
        status = nn_fail(err, NN_ERR_IO, "the file of explanations is not as it was written");
    }
    if (status == NN_OK) {
        trial_say_take(m->link, WIRE_ARTEFACT,
                       json_pack("{s:s, s:s, s:s, s:{s:O, s:O}}", "kind", "explanations", "path",
                                 EXPLANATIONS_FILE, "media_type", "application/octet-stream",
                                 "detail", "pictures", m->pictures, "arrays", m->arrays));
    }
    return status;
}

void trial_say_explanations(struct trial_link *link, const struct trial_start *start,
                            const struct nn_training_result *result,
                            const struct trial_ground *ground)
{
    struct nn_error err = {0};
    char text[400];
    if (!start->spec.explain_given || !ground->prepared || !result->network_path[0]) {
        return;
    }
    struct making *m = calloc(1, sizeof *m);
    if (!m) {
        abort();
    }
    *m = (struct making){.link = link, .start = start, .ground = ground};
    trial_ground_setup(start, ground, &m->setup);
    enum nn_status status = make_explainer(m, result->network_path, &err);
    if (status == NN_OK) {
        explain_all(m);
        status = m->link->cancel ? NN_OK : write_file(m, &err);
    }
    if (status != NN_OK) {
        (void)snprintf(text, sizeof text, "nothing is explained: %s", err.text);
        trial_say_log(link, "warn", text);
    } else if (m->left_out > 0) {
        (void)snprintf(text, sizeof text, "%zu arrays are too large to be kept", m->left_out);
        trial_say_log(link, "warn", text);
    }
    making_deinit(m);
}
