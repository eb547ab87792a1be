/* SPDX-License-Identifier: MIT
 *
 * What questions to a network share.
 */
#include "server/trial/question_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/kernels/exec.h"

void question_deinit(struct question *q)
{
    free(q->body);
    nn_network_destroy(q->network);
    nn_description_destroy(q->description);
    nn_memory_destroy(q->memory);
}

enum nn_status question_refuse(const struct question *q, enum sv_status code, enum nn_status status)
{
    bool refused =
        status == NN_ERR_INVALID || status == NN_ERR_NOT_SUPPORTED || status == NN_ERR_LIMIT;
    if (refused) {
        q->link->refusal = code;
    }
    return status;
}

/* ---- opening ---- */

static enum nn_status read_body(struct question *q, const char *path, struct nn_error *err)
{
    FILE *file = fopen(path, "rbe");
    q->body = file ? malloc(QUESTION_BODY_MAX) : NULL;
    if (!q->body) {
        enum nn_status status = nn_fail(err, NN_ERR_IO, "the body cannot be read");
        if (file) {
            (void)fclose(file);
        }
        return status;
    }
    q->size = fread(q->body, 1, QUESTION_BODY_MAX, file);
    bool whole = feof(file) && !ferror(file);
    (void)fclose(file);
    return whole ? NN_OK
                 : question_refuse(q, SV_ERR_TOO_LARGE,
                                   nn_fail(err, NN_ERR_LIMIT, "the body is too large"));
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
        return question_refuse(q, SV_ERR_WRONG_STATE,
                               nn_fail(err, NN_ERR_INVALID, "the trial has no network any more"));
    }
    return input ? read_body(q, input, err)
                 : nn_fail(err, NN_ERR_INTERNAL, "the start record is incomplete");
}

static enum nn_status read_start(struct question *q, const json_t *start, struct nn_error *err)
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

enum nn_status question_open(struct question *q, const json_t *start,
                             const struct nn_import_file *files, size_t n, struct nn_error *err)
{
    const json_t *explain = json_object_get(start, "explain");
    q->detail = json_object_get(start, "detail");
    q->explain = json_is_object(explain) ? explain : NULL;
    q->media_type = json_string_value(json_object_get(start, "media_type"));
    enum nn_status status = find_files(q, files, n, err);
    return status == NN_OK ? read_start(q, start, err) : status;
}

enum nn_status question_load_network(struct question *q, const struct nn_network_bind *bind,
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
    return trial_network_load(q->description, bind, &options, q->network_path, &q->network, err);
}

/* ---- pictures ---- */

static size_t side_of(const struct question *q, const char *name)
{
    return (size_t)json_integer_value(json_object_get(q->detail, name));
}

static enum nn_status fit_channels(const struct question *q, const struct nn_image *resized,
                                   size_t channels, struct nn_image *out, struct nn_error *err)
{
    if (channels == 1 && resized->channels != 1) {
        return question_refuse(q, SV_ERR_WRONG_INPUT,
                               nn_fail(err, NN_ERR_INVALID,
                                       "the network takes grey pictures; this one has %zu channels",
                                       resized->channels));
    }
    return nn_image_to_channels(resized, channels, out, err);
}

bool question_is_of_signals(const struct question *q)
{
    return json_is_true(json_object_get(q->detail, "signal"));
}

struct nn_network_bind question_bind(const struct question *q)
{
    return (struct nn_network_bind){
        .height = side_of(q, "height"),
        .width = side_of(q, "width"),
        .channels = side_of(q, "channels"),
        .classes = json_array_size(json_object_get(q->detail, "classes")),
        .normalisation = (enum nn_normalisation)q->spec.data.normalisation};
}

/* As the import of the data set did it (core/data/import.c): resized, then as many channels. */
enum nn_status question_fit_picture(struct question *q, struct nn_network_bind *out_bind,
                                    struct nn_image *out_image, struct nn_error *err)
{
    struct nn_image picture = {0}, resized = {0};
    *out_bind = question_bind(q);
    if (question_is_of_signals(q)) {
        return question_refuse(
            q, SV_ERR_WRONG_INPUT,
            nn_fail(err, NN_ERR_INVALID, "the network takes signals: post {\"signal\": [...]}"));
    }
    if (nn_description_takes_sequences(q->description)) {
        return question_refuse(
            q, SV_ERR_WRONG_INPUT,
            nn_fail(err, NN_ERR_INVALID,
                    "the network takes sequences: post {\"sequence\": [[...], ...]}"));
    }
    enum nn_status status = question_refuse(
        q, SV_ERR_INVALID_PICTURE, nn_image_decode(q->body, q->size, NULL, &picture, NULL, err));
    if (status == NN_OK) {
        status = nn_image_resize(&picture, out_bind->height, out_bind->width, &resized, err);
    }
    if (status == NN_OK) {
        status = fit_channels(q, &resized, out_bind->channels, out_image, err);
    }
    nn_image_deinit(&resized);
    nn_image_deinit(&picture);
    return status;
}

enum nn_status question_parse(struct question *q, const struct jx_field *fields, json_t **out_body,
                              void *out, struct nn_error *err)
{
    static const struct jx_limits limits = {.max_bytes = QUESTION_BODY_MAX, .max_depth = 4};
    static const char UNKNOWN[] = "unknown field";
    enum nn_status status =
        question_refuse(q, SV_ERR_INVALID_JSON, jx_parse(q->body, q->size, &limits, out_body, err));
    if (status != NN_OK) {
        return status;
    }
    status = jx_decode(fields, *out_body, "", out, err);
    bool unknown = status != NN_OK && strncmp(err->text, UNKNOWN, sizeof UNKNOWN - 1) == 0;
    return question_refuse(q, unknown ? SV_ERR_UNKNOWN_FIELD : SV_ERR_INVALID_FIELD, status);
}

json_t *question_overflow(void)
{
    return json_string("not all numbers that the network gives for this are finite: it overflows, "
                       "as on inputs far from those that it was trained on");
}

/* The first of the largest probabilities; NN_NO_CLASS where they are no numbers, all of them then.
 */
static size_t best_of(const nn_real *probabilities, size_t n)
{
    size_t best = 0;
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(probabilities[k])) {
            return NN_NO_CLASS;
        }
        best = probabilities[k] > probabilities[best] ? k : best;
    }
    return n > 0 ? best : NN_NO_CLASS;
}

json_t *question_encode_classes(const struct question *q, const nn_real *scores,
                                const nn_real *probabilities)
{
    const json_t *names = json_object_get(q->detail, "classes");
    json_t *rows = json_array();
    size_t n = json_array_size(names), best = best_of(probabilities, n);
    bool told = best != NN_NO_CLASS;
    for (size_t k = 0; k < n; k++) {
        (void)json_array_append_new(rows,
                                    json_pack("{s:O, s:o, s:o}", "name", json_array_get(names, k),
                                              "probability", jx_number_f32((float)probabilities[k]),
                                              "score", jx_number_f32((float)scores[k])));
    }
    return json_pack("{s:o, s:o, s:o, s:o*}", "predicted",
                     told ? json_incref(json_array_get(names, best)) : json_null(), "probability",
                     jx_number_f32(told ? (float)probabilities[best] : NAN), "classes", rows,
                     "warning", told ? NULL : question_overflow());
}
