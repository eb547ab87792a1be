/* SPDX-License-Identifier: MIT
 *
 * A question to a trained network: a posted picture or sequence goes in as the trial's own samples
 * did, and what the network says comes back.
 *
 * start {trial: resolved spec, detail: of the network's artefact, media_type, instruction_set,
 * files: input, network} -> done {outcome "ready", report}, where report is, of a picture,
 * {predicted, probability, classes: [{name, probability, score}]}, and of a sequence {target,
 * steps, values: one a step that the network predicts, last}.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/exchange/exchange.h"
#include "core/image/image.h"
#include "core/kernels/exec.h"
#include "server/trial/import_internal.h"

#define BODY_MAX ((size_t)64 << 20)

/* What a question stands on; destroyed in reverse. */
struct question {
    const json_t *detail;
    const char *media_type;
    struct trial_spec spec;
    enum nn_isa isa;
    const char *network_path;
    struct nn_memory *memory;
    struct nn_description *description;
    struct nn_network *network;
    uint8_t *body;
    size_t size;
};

static void question_deinit(struct question *q)
{
    free(q->body);
    nn_network_destroy(q->network);
    nn_description_destroy(q->description);
    nn_memory_destroy(q->memory);
}

static enum nn_status read_body(struct question *q, const char *path, struct nn_error *err)
{
    FILE *file = fopen(path, "rbe");
    q->body = file ? malloc(BODY_MAX) : NULL;
    if (!q->body) {
        enum nn_status status = nn_fail(err, NN_ERR_IO, "the body cannot be read");
        if (file) {
            (void)fclose(file);
        }
        return status;
    }
    q->size = fread(q->body, 1, BODY_MAX, file);
    bool whole = feof(file) && !ferror(file);
    (void)fclose(file);
    return whole ? NN_OK : nn_fail(err, NN_ERR_LIMIT, "the body is too large");
}

static enum nn_status find_files(struct question *q, const struct nn_import_file *files, size_t n,
                                 struct nn_error *err)
{
    const char *input = NULL;
    for (size_t i = 0; i < n; i++) {
        input = strcmp(files[i].name, "input") == 0 ? files[i].path : input;
        q->network_path = strcmp(files[i].name, "network") == 0 ? files[i].path : q->network_path;
    }
    if (!q->network_path || !json_is_object(q->detail)) {
        return nn_fail(err, NN_ERR_INVALID, "the trial has no network any more");
    }
    return input ? read_body(q, input, err)
                 : nn_fail(err, NN_ERR_INTERNAL, "the start record is incomplete");
}

static enum nn_status open_question(struct question *q, const json_t *start, struct nn_error *err)
{
    const char *isa = json_string_value(json_object_get(start, "instruction_set"));
    json_int_t bytes = json_integer_value(json_object_get(start, "memory_bytes"));
    if (!isa || !q->media_type || bytes < 1) {
        return nn_fail(err, NN_ERR_INTERNAL, "the start record is incomplete");
    }
    enum nn_status status = trial_spec_decode(json_object_get(start, "trial"), &q->spec, err);
    status = status == NN_OK ? nn_isa_parse(isa, &q->isa, err) : status;
    status = status == NN_OK ? nn_memory_create((size_t)bytes, &q->memory) : status;
    return status == NN_OK ? nn_description_parse(q->spec.network, &q->description, err) : status;
}

static enum nn_status load_network(struct question *q, const struct nn_network_bind *bind,
                                   size_t rows, struct nn_error *err)
{
    const struct nn_network_options options = {
        .max_batch = 1,
        .max_rows = rows,
        .phase = NN_PHASE_INFERENCE,
        .operators = (enum nn_operators)q->spec.operators,
        .kernels = nn_kernels_get(q->isa),
        .memory = q->memory,
    };
    struct nn_safetensors *file = NULL;
    enum nn_status status = nn_network_create(q->description, bind, &options, &q->network, err);
    status = status == NN_OK ? nn_safetensors_open(q->network_path, NULL, &file, err) : status;
    if (status == NN_OK) {
        status = nn_exchange_load(q->network, file, NN_MATCH_HEAD_KEPT, NULL, err);
        nn_safetensors_close(file);
    }
    return status;
}

/* ---- pictures ---- */

static size_t side_of(const struct question *q, const char *name)
{
    return (size_t)json_integer_value(json_object_get(q->detail, name));
}

/* As the import of the data set did it (core/data/import.c): resized, then as many channels. */
static enum nn_status fit_picture(const struct question *q, const struct nn_network_bind *bind,
                                  struct nn_image *out, struct nn_error *err)
{
    struct nn_image picture = {0}, resized = {0};
    enum nn_status status = nn_image_decode(q->body, q->size, NULL, &picture, NULL, err);
    if (status == NN_OK) {
        status = nn_image_resize(&picture, bind->height, bind->width, &resized, err);
    }
    if (status == NN_OK) {
        status = nn_image_to_channels(&resized, bind->channels, out, err);
    }
    nn_image_deinit(&resized);
    nn_image_deinit(&picture);
    return status;
}

static json_t *encode_classes(const struct question *q, const nn_real *scores,
                              const nn_real *probabilities)
{
    const json_t *names = json_object_get(q->detail, "classes");
    json_t *rows = json_array();
    size_t best = 0;
    for (size_t k = 0; k < json_array_size(names); k++) {
        best = probabilities[k] > probabilities[best] ? k : best;
        (void)json_array_append_new(rows,
                                    json_pack("{s:O, s:o, s:o}", "name", json_array_get(names, k),
                                              "probability", jx_number_f32((float)probabilities[k]),
                                              "score", jx_number_f32((float)scores[k])));
    }
    return json_pack("{s:O, s:o, s:o}", "predicted", json_array_get(names, best), "probability",
                     jx_number_f32((float)probabilities[best]), "classes", rows);
}

static enum nn_status answer_picture(struct question *q, json_t **out, struct nn_error *err)
{
    const struct nn_network_bind bind = {
        .height = side_of(q, "height"),
        .width = side_of(q, "width"),
        .channels = side_of(q, "channels"),
        .classes = json_array_size(json_object_get(q->detail, "classes")),
        .normalisation = (enum nn_normalisation)q->spec.data.normalisation};
    struct nn_image fitted = {0};
    if (nn_description_takes_sequences(q->description)) {
        return nn_fail(err, NN_ERR_INVALID,
                       "the network takes sequences: post {\"sequence\": [[...], ...]}");
    }
    enum nn_status status = fit_picture(q, &bind, &fitted, err);
    status = status == NN_OK ? load_network(q, &bind, 0, err) : status;
    if (status == NN_OK) {
        nn_network_load_u8(q->network, fitted.pixels, 1);
        nn_network_forward(q->network, 1, NN_PHASE_INFERENCE, NULL);
        *out = encode_classes(q, nn_network_output(q->network),
                              nn_network_probabilities(q->network, 1));
    }
    nn_image_deinit(&fitted);
    return status;
}

/* ---- sequences ---- */

struct posted {
    const json_t *sequence, *columns;
};
#define POSTED(member) offsetof(struct posted, member)
static const struct jx_field ROW_ITEM = {.name = "step", .type = JX_ARRAY, .min_items = 1};
static const struct jx_field COLUMN_ITEM = {
    .name = "column", .type = JX_STRING, .min = 1, .max = 200};
static const struct jx_field POSTED_FIELDS[] = {
    {.name = "sequence",
     .type = JX_ARRAY,
     .offset = POSTED(sequence),
     .items = &ROW_ITEM,
     .min_items = 1,
     .max_items = 1000000,
     .required = true},
    {.name = "columns",
     .type = JX_ARRAY,
     .offset = POSTED(columns),
     .items = &COLUMN_ITEM,
     .min_items = 1,
     .max_items = 4096},
    JX_END,
};

/* Names of the columns of a posted step: as posted, else those that the network uses. */
static const char **column_names(const struct question *q, const struct posted *posted,
                                 size_t *out_n)
{
    const json_t *inputs = json_object_get(json_object_get(q->detail, "scaling"), "inputs");
    *out_n = json_array_size(posted->columns ? posted->columns : inputs);
    const char **names = calloc(*out_n + 1, sizeof *names);
    for (size_t i = 0; names && i < *out_n; i++) {
        const json_t *name = posted->columns ? json_array_get(posted->columns, i)
                                             : json_object_get(json_array_get(inputs, i), "name");
        names[i] = json_string_value(name) ? json_string_value(name) : "";
    }
    return names;
}

static enum nn_status read_steps(const json_t *sequence, size_t width, float *out,
                                 struct nn_error *err)
{
    size_t t;
    const json_t *step;
    json_array_foreach(sequence, t, step)
    {
        if (json_array_size(step) != width) {
            return nn_fail(err, NN_ERR_INVALID, "step %zu has %zu numbers, not %zu", t + 1,
                           json_array_size(step), width);
        }
        for (size_t i = 0; i < width; i++) {
            const json_t *number = json_array_get(step, i);
            out[t * width + i] = (float)json_number_value(number);
            if (!json_is_number(number) || !isfinite(out[t * width + i])) {
                return nn_fail(err, NN_ERR_INVALID, "step %zu: its value %zu is not a number",
                               t + 1, i + 1);
            }
        }
    }
    return NN_OK;
}

/* scaled is steps x inputs. */
static enum nn_status run_sequence(struct question *q, const struct nn_scaling *scaling,
                                   const nn_real *scaled, size_t steps, json_t **out,
                                   struct nn_error *err)
{
    const struct nn_network_bind bind = {.features = nn_scaling_inputs(scaling),
                                         .longest = steps,
                                         .responses = nn_scaling_targets(scaling),
                                         .normalisation =
                                             nn_training_normalisation(&q->spec.data.scaling)};
    const struct nn_sequence_batch batch = {&scaled, &steps, 1};
    enum nn_status status = load_network(q, &bind, steps, err);
    if (status != NN_OK) {
        return status;
    }
    nn_network_load_sequences(q->network, &batch);
    nn_network_forward(q->network, 1, NN_PHASE_INFERENCE, NULL);
    const nn_real *rows = nn_network_output(q->network);
    size_t width = nn_network_output_size(q->network);
    size_t n = nn_network_output_is_sequence(q->network) ? steps : 1;
    json_t *values = json_array();
    double last = NAN;
    for (size_t t = 0; t < n; t++) {
        size_t row = n == 1 ? 0 : nn_network_output_row(q->network, 0, t);
        last = nn_scaling_restore(scaling, 0, (double)rows[row * width]);
        (void)json_array_append_new(values, jx_number_f32((float)last));
    }
    *out =
        json_pack("{s:O?, s:I, s:o, s:o}", "target", json_object_get(q->detail, "target"), "steps",
                  (json_int_t)steps, "values", values, "last", jx_number_f32((float)last));
    return NN_OK;
}

static enum nn_status scale_and_run(struct question *q, const struct posted *posted, json_t **out,
                                    struct nn_error *err)
{
    size_t width = 0;
    size_t steps = json_array_size(posted->sequence);
    struct nn_scaling *scaling = NULL;
    const char **names = column_names(q, posted, &width);
    float *raw = calloc(steps * width + 1, sizeof *raw);
    nn_real *scaled = calloc(steps * width + 1, sizeof *scaled); /* it uses no more than these */
    enum nn_status status =
        names && raw && scaled
            ? nn_scaling_decode(json_object_get(q->detail, "scaling"), names, width, &scaling, err)
            : nn_fail(err, NN_ERR_MEMORY, "no memory for the sequence");
    status = status == NN_OK ? read_steps(posted->sequence, width, raw, err) : status;
    if (status == NN_OK) {
        nn_scaling_apply_inputs(scaling, raw, steps, scaled);
        status = run_sequence(q, scaling, scaled, steps, out, err);
    }
    nn_scaling_destroy(scaling);
    free(scaled);
    free(raw);
    free(names);
    return status;
}

static enum nn_status answer_sequence(struct question *q, json_t **out, struct nn_error *err)
{
    static const struct jx_limits limits = {.max_bytes = BODY_MAX, .max_depth = 4};
    struct posted posted = {0};
    json_t *body = NULL;
    if (!nn_description_takes_sequences(q->description)) {
        return nn_fail(err, NN_ERR_INVALID, "the network takes pictures: post one as it is");
    }
    enum nn_status status = jx_parse(q->body, q->size, &limits, &body, err);
    status = status == NN_OK ? jx_decode(POSTED_FIELDS, body, "", &posted, err) : status;
    status = status == NN_OK ? scale_and_run(q, &posted, out, err) : status;
    json_decref(body);
    return status;
}

enum nn_status trial_import_prediction(struct trial_link *link, const json_t *start,
                                       const struct nn_import_file *files, size_t n,
                                       struct nn_error *err)
{
    struct question question = {
        .detail = json_object_get(start, "detail"),
        .media_type = json_string_value(json_object_get(start, "media_type")),
    };
    struct question *q = &question;
    json_t *report = NULL;
    enum nn_status status = find_files(q, files, n, err);
    status = status == NN_OK ? open_question(q, start, err) : status;
    if (status == NN_OK) {
        bool is_json = strcmp(q->media_type, "application/json") == 0;
        status = is_json ? answer_sequence(q, &report, err) : answer_picture(q, &report, err);
    }
    if (status == NN_OK) {
        trial_say_take(link, WIRE_DONE,
                       json_pack("{s:s, s:o}", "outcome", "ready", "report", report));
    }
    question_deinit(q);
    return status;
}
