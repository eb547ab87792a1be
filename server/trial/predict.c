/* SPDX-License-Identifier: MIT
 *
 * A question to a trained network: a posted picture, sequence or window of a signal goes in as the
 * trial's own samples did, and what the network says comes back.
 *
 * start {trial: resolved spec, detail: of the network's artefact, media_type, explain,
 * memory_bytes, instruction_set, files: input, network} -> done {outcome "ready", report}, where
 * report is, of a picture, a window, or a sequence with a class, {predicted, probability, classes:
 * [{name, probability, score}]}, and of a sequence with a target {target, steps, values: one a step
 * that the network predicts, last}; with a warning where not all of it are finite numbers.
 * With explain see question_explain. A refusal says its code: failed {class, text, pointer, code}.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/trial/question_internal.h"

static enum nn_status answer_picture(struct question *q, json_t **out, struct nn_error *err)
{
    struct nn_network_bind bind;
    struct nn_image fitted = {0};
    enum nn_status status = question_fit_picture(q, &bind, &fitted, err);
    status = status == NN_OK ? question_load_network(q, &bind, 0, err) : status;
    if (status == NN_OK) {
        nn_network_load_u8(q->network, fitted.pixels, 1);
        nn_network_forward(q->network, 1, NN_PHASE_INFERENCE, NULL);
        *out = question_encode_classes(q, nn_network_output(q->network),
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
        char pointer[64];
        jx_pointer_index("/sequence", t, pointer, sizeof pointer);
        if (json_array_size(step) != width) {
            return nn_fail_at(err, NN_ERR_INVALID, pointer, "step %zu has %zu numbers, not %zu",
                              t + 1, json_array_size(step), width);
        }
        for (size_t i = 0; i < width; i++) {
            const json_t *number = json_array_get(step, i);
            out[t * width + i] = (float)json_number_value(number);
            if (!json_is_number(number) || !isfinite(out[t * width + i])) {
                return nn_fail_at(err, NN_ERR_INVALID, pointer, "step %zu: its value %zu is %s",
                                  t + 1, i + 1,
                                  json_is_number(number) ? "too large" : "not a number");
            }
        }
    }
    return NN_OK;
}

/* Numbers that the network said of its one sequence, in the target's unit. */
static json_t *encode_values(const struct question *q, const struct nn_scaling *scaling,
                             size_t steps)
{
    const nn_real *rows = nn_network_output(q->network);
    size_t width = nn_network_output_size(q->network);
    size_t n = nn_network_output_is_sequence(q->network) ? steps : 1;
    json_t *values = json_array();
    double last = NAN;
    bool finite = true;
    for (size_t t = 0; t < n; t++) {
        size_t row = n == 1 ? 0 : nn_network_output_row(q->network, 0, t);
        last = nn_scaling_restore(scaling, 0, (double)rows[row * width]);
        finite = finite && isfinite((float)last);
        (void)json_array_append_new(values, jx_number_f32((float)last));
    }
    return json_pack("{s:O?, s:I, s:o, s:o, s:o*}", "target", json_object_get(q->detail, "target"),
                     "steps", (json_int_t)steps, "values", values, "last",
                     jx_number_f32((float)last), "warning", finite ? NULL : question_overflow());
}

/* scaled is steps x inputs. */
static enum nn_status run_sequence(struct question *q, const struct nn_scaling *scaling,
                                   const nn_real *scaled, size_t steps, json_t **out,
                                   struct nn_error *err)
{
    size_t classes = json_array_size(json_object_get(q->detail, "classes"));
    const struct nn_network_bind bind = {.classes = classes,
                                         .features = nn_scaling_inputs(scaling),
                                         .longest = steps,
                                         .responses = nn_scaling_targets(scaling),
                                         .normalisation =
                                             nn_training_normalisation(&q->spec.data.scaling)};
    const struct nn_sequence_batch batch = {&scaled, &steps, 1};
    enum nn_status status =
        nn_description_check_steps(q->description, scaled, steps, bind.features, err);
    if (status == NN_OK) {
        status = question_load_network(q, &bind, steps, err);
    }
    if (status != NN_OK) {
        return status;
    }
    nn_network_load_sequences(q->network, &batch);
    nn_network_forward(q->network, 1, NN_PHASE_INFERENCE, NULL);
    *out = classes > 0 ? question_encode_classes(q, nn_network_output(q->network),
                                                 nn_network_probabilities(q->network, 1))
                       : encode_values(q, scaling, steps);
    return NN_OK;
}

/* A column that the network needs and the names do not have is a mistake in the names. */
static enum nn_status name_columns(const struct question *q, const char *const *names, size_t width,
                                   struct nn_scaling **out, struct nn_error *err)
{
    struct nn_error nn = {0};
    const json_t *scaling = json_object_get(q->detail, "scaling");
    enum nn_status status = nn_scaling_decode(scaling, names, width, out, &nn);
    return status == NN_OK ? NN_OK : nn_fail_at(err, status, "/columns", "%s", nn.text);
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
    enum nn_status status = names && raw && scaled
                                ? name_columns(q, names, width, &scaling, err)
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
    struct posted posted = {0};
    json_t *body = NULL;
    if (!nn_description_takes_sequences(q->description)) {
        return question_refuse(
            q, SV_ERR_WRONG_INPUT,
            nn_fail(err, NN_ERR_INVALID, "the network takes pictures: post one as it is"));
    }
    enum nn_status status = question_parse(q, POSTED_FIELDS, &body, &posted, err);
    if (status == NN_OK) {
        status = question_refuse(q, SV_ERR_INVALID_FIELD, scale_and_run(q, &posted, out, err));
    }
    json_decref(body);
    return status;
}

static enum nn_status answer(struct question *q, json_t **out, struct nn_error *err)
{
    if (q->explain) {
        return question_explain(q, out, err);
    }
    if (strcmp(q->media_type, "application/json") != 0) {
        return answer_picture(q, out, err);
    }
    return question_is_of_signals(q) ? question_answer_signal(q, out, err)
                                     : answer_sequence(q, out, err);
}

enum nn_status trial_import_prediction(struct trial_link *link, const json_t *start,
                                       const struct nn_import_file *files, size_t n,
                                       struct nn_error *err)
{
    struct question question = {.link = link};
    json_t *report = NULL;
    enum nn_status status = question_open(&question, start, files, n, err);
    status = status == NN_OK ? answer(&question, &report, err) : status;
    if (status == NN_OK) {
        trial_say_take(link, WIRE_DONE,
                       json_pack("{s:s, s:o}", "outcome", "ready", "report", report));
    }
    question_deinit(&question);
    return status;
}
