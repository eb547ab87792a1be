/* SPDX-License-Identifier: MIT
 *
 * What a finished run leaves: evaluations, predictions, its network and the profile of its steps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/trial/trial_internal.h"

/* A quotient that does not exist (0/0) is left out, and so are its intervals. */
static void add_quotient(json_t *metrics, const char *name, const struct nn_quotient *quotient,
                         bool interval, uint64_t n)
{
    if (!quotient->defined) {
        return;
    }
    json_t *row = json_pack("{s:s, s:o, s:I}", "metric", name, "value", jx_number(quotient->value),
                            "n", (json_int_t)n);
    if (interval) {
        (void)json_object_set_new(row, "low", jx_number(quotient->low));
        (void)json_object_set_new(row, "high", jx_number(quotient->high));
    }
    (void)json_array_append_new(metrics, row);
}

static json_t *encode_metrics(const struct nn_evaluation *evaluation)
{
    json_t *metrics = json_array();
    (void)json_array_append_new(metrics, json_pack("{s:s, s:o, s:I}", "metric", "loss", "value",
                                                   jx_number(evaluation->loss), "n",
                                                   (json_int_t)evaluation->samples));
    add_quotient(metrics, "accuracy", &evaluation->accuracy, true, evaluation->samples);
    add_quotient(metrics, "balanced_accuracy", &evaluation->balanced_accuracy, false,
                 evaluation->samples);
    return metrics;
}

static json_t *encode_counts(const struct nn_confusion *confusion)
{
    json_t *counts = json_array();
    for (size_t i = 0; i < confusion->classes * confusion->classes; i++) {
        (void)json_array_append_new(counts, json_integer((json_int_t)confusion->counts[i]));
    }
    return counts;
}

static json_t *encode_names(const char *const *names, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        (void)json_array_append_new(list, jx_text(names[i], SIZE_MAX));
    }
    return list;
}

static void say_evaluation(struct trial_link *link, const struct trial_start *start,
                           enum nn_part number, const struct nn_part_result *result,
                           const struct trial_classes *classes)
{
    const struct nn_evaluation *evaluation = &result->evaluation;
    json_t *document = nn_evaluation_encode(evaluation, classes->names);
    struct trial_part part = {number, encode_metrics(evaluation), json_array()};
    trial_add_custom(link, start, result, classes, &part);
    (void)json_object_set_new(document, "custom_metrics", part.custom);
    trial_say_take(link, WIRE_EVALUATION,
                   json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "part", nn_part_name(number),
                             "samples", (json_int_t)evaluation->samples, "document", document,
                             "metrics", part.metrics, "classes",
                             encode_names(classes->names, classes->count), "counts",
                             encode_counts(&evaluation->confusion)));
}

/* Of the samples that trained only the mistakes are of interest one by one: moves those to the
 * front and counts them. The matrix has the rest. */
static size_t keep_mistakes(struct nn_prediction *rows, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].truth != rows[i].predicted) {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

static void say_predictions(struct trial_link *link, enum nn_part part,
                            const struct nn_part_result *result)
{
    size_t n = (size_t)result->evaluation.samples;
    n = part == NN_PART_TRAIN ? keep_mistakes(result->predictions, n) : n;
    for (size_t first = 0; first < n; first += WIRE_PREDICTIONS_MAX) {
        size_t count = n - first < WIRE_PREDICTIONS_MAX ? n - first : WIRE_PREDICTIONS_MAX;
        struct wire_prediction *rows = calloc(count, sizeof *rows);
        void *bytes = NULL;
        size_t size = 0;
        if (!rows) {
            abort();
        }
        for (size_t i = 0; i < count; i++) {
            const struct nn_prediction *from = &result->predictions[first + i];
            rows[i] = (struct wire_prediction){from->sample, from->truth, from->predicted,
                                               from->probability};
        }
        enum sv_status st = wire_predictions_encode((uint32_t)part, rows, count, &bytes, &size);
        free(rows);
        if (st != SV_OK) {
            abort();
        }
        trial_say_bytes_take(link, WIRE_PREDICTIONS, bytes, size);
    }
}

/* B34: a class that occurs and is never predicted is said aloud, whatever the accuracy. */
static void warn_never_predicted(struct trial_link *link, enum nn_part part,
                                 const struct nn_evaluation *evaluation, const char *const *names)
{
    for (size_t k = 0; k < evaluation->confusion.classes; k++) {
        const struct nn_class_result *row = &evaluation->per_class[k];
        if (row->support > 0 && row->predicted == 0) {
            char text[400];
            (void)snprintf(text, sizeof text, "class '%.200s' is never predicted on the %s part",
                           names[k], nn_part_name(part));
            trial_say_log(link, "warn", text);
        }
    }
}

/* They count as wrong, and no confusion matrix has a place for them. */
static void warn_unclassified(struct trial_link *link, enum nn_part part,
                              const struct nn_evaluation *evaluation)
{
    char text[200];
    if (evaluation->unclassified > 0) {
        (void)snprintf(text, sizeof text,
                       "%llu of %llu samples of the %s part are given no class: the network's "
                       "scores of them are not finite",
                       (unsigned long long)evaluation->unclassified,
                       (unsigned long long)evaluation->samples, nn_part_name(part));
        trial_say_log(link, "warn", text);
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The mean stands in for what an explanation hides, also when one is asked for later. */
static json_t *encode_mean(const struct trial_ground *ground)
{
    const struct nn_split_side *train = &ground->split->side[NN_PART_TRAIN];
    double mean[NN_SIGNAL_CHANNELS_MAX];
    json_t *list = json_array();
    nn_prepared_mean(ground->prepared, train->items, train->count, mean);
    for (size_t c = 0; c < nn_prepared_info(ground->prepared)->channels; c++) {
        (void)json_array_append_new(list, jx_number(mean[c]));
    }
    return list;
}

static json_t *images_detail(const struct trial_ground *ground, const char *const *names,
                             uint64_t step)
{
    const struct nn_prepared_info *info = nn_prepared_info(ground->prepared);
    json_t *signal = info->value_bytes == sizeof(float) ? json_true() : NULL;
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:o, s:o*}", "classes",
                     encode_names(names, info->class_count), "height", (json_int_t)info->height,
                     "width", (json_int_t)info->width, "channels", (json_int_t)info->channels,
                     "step", (json_int_t)step, "mean", encode_mean(ground), "signal", signal);
}

/* detail is transferred. */
static void say_network(struct trial_link *link, const struct nn_training_result *result,
                        json_t *detail)
{
    if (!result->network_path[0]) {
        json_decref(detail);
        return;
    }
    trial_say_take(link, WIRE_ARTEFACT,
                   json_pack("{s:s, s:s, s:s, s:o}", "kind", "network", "path",
                             base_name(result->network_path), "media_type",
                             "application/octet-stream", "detail", detail));
}

static void say_profile(struct trial_link *link, const struct nn_training_profile *profile)
{
    json_t *layers = json_array(), *operators = json_array();
    json_t *phases = json_array(), *seconds = json_array();
    for (size_t i = 0; i < profile->count; i++) {
        const struct nn_profile_item *item = &profile->items[i];
        (void)json_array_append_new(layers, jx_text(item->layers, SIZE_MAX));
        (void)json_array_append_new(operators, json_string(item->operator_name));
        (void)json_array_append_new(phases, json_string(item->phase));
        (void)json_array_append_new(seconds, json_real(item->seconds));
    }
    trial_say_take(link, WIRE_PROFILE,
                   json_pack("{s:I, s:f, s:f, s:f, s:o, s:o, s:o, s:o}", "steps",
                             (json_int_t)profile->steps, "step_seconds", profile->seconds,
                             "validation_seconds", profile->validation_seconds,
                             "checkpoint_seconds", profile->checkpoint_seconds, "layers", layers,
                             "operators", operators, "phases", phases, "seconds", seconds));
}

/* To be freed; none of a regression. */
static const char **class_names(const struct trial_ground *ground, size_t *out_n)
{
    *out_n = ground->prepared ? nn_prepared_info(ground->prepared)->class_count
                              : nn_sequences_info(ground->sequences)->class_count;
    const char **names = calloc(*out_n + 1, sizeof *names);
    if (!names) {
        abort();
    }
    for (size_t k = 0; k < *out_n; k++) {
        names[k] = ground->prepared ? nn_prepared_class_name(ground->prepared, k)
                                    : nn_sequences_class_name(ground->sequences, k);
    }
    return names;
}

/* {scaling, step} and what the network tells: its classes, or its target. */
static json_t *sequences_detail(const struct trial_ground *ground,
                                const struct trial_classes *classes, uint64_t step)
{
    bool classified = classes->count > 0;
    json_t *told = classified ? encode_names(classes->names, classes->count)
                              : jx_text(nn_sequences_target_name(ground->sequences, 0), SIZE_MAX);
    return json_pack("{s:o, s:o, s:I}", "scaling", nn_scaling_encode(ground->scaling),
                     classified ? "classes" : "target", told, "step", (json_int_t)step);
}

static void say_classes(struct trial_link *link, const struct trial_start *start,
                        const struct nn_training_result *result,
                        const struct trial_classes *classes)
{
    for (int i = 0; i < NN_PART_COUNT; i++) {
        const struct nn_part_result *part = &result->parts[i];
        if (part->present) {
            say_evaluation(link, start, (enum nn_part)i, part, classes);
            say_predictions(link, (enum nn_part)i, part);
            warn_never_predicted(link, (enum nn_part)i, &part->evaluation, classes->names);
            warn_unclassified(link, (enum nn_part)i, &part->evaluation);
        }
    }
}

static void say_regression(struct trial_link *link, const struct trial_start *start,
                           const struct nn_training_result *result,
                           const struct trial_ground *ground)
{
    for (int i = 0; i < NN_PART_COUNT; i++) {
        if (result->parts[i].present) {
            trial_say_sequences(link, start, (enum nn_part)i, &result->parts[i], ground->sequences);
        }
    }
}

void trial_say_results(struct trial_link *link, const struct trial_start *start,
                       const struct nn_training_result *result, const struct trial_ground *ground)
{
    size_t n;
    const char **names = class_names(ground, &n);
    const struct trial_classes classes = {names, n};
    if (result->task == NN_TASK_CLASSIFICATION) {
        say_classes(link, start, result, &classes);
    } else {
        say_regression(link, start, result, ground);
    }
    say_network(link, result,
                ground->prepared ? images_detail(ground, names, result->step)
                                 : sequences_detail(ground, &classes, result->step));
    free(names);
    if (result->profile.steps > 0) {
        say_profile(link, &result->profile);
    }
}
