/* SPDX-License-Identifier: MIT
 *
 * What the field tables cannot say: fields that are not built, defaults that depend on the data
 * set, rules that span fields.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/metrics/custom.h"
#include "core/network/freeze.h"
#include "server/base/text.h"
#include "server/jobs/kinds.h"
#include "server/jobs/spec_internal.h"

/* Valid jobs of the design that later issues build. value NULL: the field as such; else the field
 * or, of a list, an item of it. */
static const struct {
    const char *path;
    const char *value;
} NOT_BUILT[] = {
    {"reuse", NULL},       {"reused_from", NULL},
    {"parallel", NULL},    {"search.strategy", "successive_halving"},
    {"precision", "bf16"},
};
#define NOT_BUILT_COUNT (sizeof NOT_BUILT / sizeof NOT_BUILT[0])

static enum sv_status not_built(const char *pointer, const char *path, const char *value,
                                struct sv_error *err)
{
    if (value) {
        return sv_fail_at(err, SV_ERR_NOT_SUPPORTED, pointer, "%s \"%s\" is not built yet", path,
                          value);
    }
    return sv_fail_at(err, SV_ERR_NOT_SUPPORTED, pointer, "%s is not built yet", path);
}

static bool is_value(const json_t *json, const char *value)
{
    return json_is_string(json) && strcmp(json_string_value(json), value) == 0;
}

/* Refuses what stands at `at` if it is the value, or an item of it that is. */
static enum sv_status refuse_found(const json_t *found, const char *path, const char *value,
                                   const char *at, struct sv_error *err)
{
    size_t index;
    const json_t *item;
    if (found && (!value || is_value(found, value))) {
        return not_built(at, path, value, err);
    }
    json_array_foreach(found, index, item)
    {
        if (value && is_value(item, value)) {
            char pointer[160];
            jx_pointer_index(at, index, pointer, sizeof pointer);
            return not_built(pointer, path, value, err);
        }
    }
    return SV_OK;
}

enum sv_status jobs_refuse_not_built(const json_t *submitted, struct sv_error *err)
{
    enum sv_status st = SV_OK;
    for (size_t i = 0; i < NOT_BUILT_COUNT && st == SV_OK; i++) {
        char pointer[160];
        jx_path_pointer(NOT_BUILT[i].path, pointer, sizeof pointer);
        st = refuse_found(jx_path_get(submitted, NOT_BUILT[i].path), NOT_BUILT[i].path,
                          NOT_BUILT[i].value, pointer, err);
    }
    return st;
}

/* Is path the row's field, or below it? */
static bool is_at_or_below(const char *path, const char *top)
{
    size_t n = strlen(top);
    return strncmp(path, top, n) == 0 && (path[n] == '\0' || path[n] == '.');
}

enum sv_status jobs_refuse_axis_not_built(const char *path, const json_t *values,
                                          struct sv_error *err)
{
    for (size_t i = 0; i < NOT_BUILT_COUNT; i++) {
        if (!is_at_or_below(path, NOT_BUILT[i].path)) {
            continue;
        }
        char pointer[160];
        jx_pointer_key("/search/parameters", path, pointer, sizeof pointer);
        enum sv_status st = refuse_found(values, path, NOT_BUILT[i].value, pointer, err);
        if (st != SV_OK) {
            return st;
        }
    }
    return SV_OK;
}

enum sv_status jobs_decode_at(const struct jx_field *fields, const json_t *json,
                              const char *pointer, void *out, struct sv_error *err)
{
    static const char UNKNOWN[] = "unknown field";
    struct nn_error nn = {0};
    switch (jx_decode(fields, json, pointer, out, &nn)) {
    case NN_OK:
        return SV_OK;
    case NN_ERR_INVALID:
        return sv_fail_at(err,
                          strncmp(nn.text, UNKNOWN, sizeof UNKNOWN - 1) == 0 ? SV_ERR_UNKNOWN_FIELD
                                                                             : SV_ERR_INVALID_FIELD,
                          nn.pointer, "%s", nn.text);
    default:
        return sv_fail(err, SV_ERR_INTERNAL, "%s", nn.text);
    }
}

enum sv_status jobs_decode(const struct jx_field *fields, const json_t *json, void *out,
                           struct sv_error *err)
{
    return jobs_decode_at(fields, json, "", out, err);
}

/* One line: no control characters. */
enum sv_status jobs_line_check(const char *text, const char *pointer, struct sv_error *err)
{
    return sv_text_is_line(text) ? SV_OK
                                 : sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                                              "a control character is not allowed here");
}

enum sv_status jobs_labels_check(const json_t *labels, struct sv_error *err)
{
    for (size_t i = 0; i < json_array_size(labels); i++) {
        const json_t *label = json_array_get(labels, i);
        char pointer[64];
        jx_pointer_index("/labels", i, pointer, sizeof pointer);
        enum sv_status st = jobs_line_check(json_string_value(label), pointer, err);
        if (st != SV_OK) {
            return st;
        }
        for (size_t j = 0; j < i; j++) {
            if (json_equal(label, json_array_get(labels, j))) {
                return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "the label stands twice");
            }
        }
    }
    return SV_OK;
}

/* Names and texts of the metrics that the user wrote. */
static enum sv_status custom_check(const json_t *list, struct sv_error *err)
{
    struct nn_custom_metric metrics[NN_CUSTOM_MAX];
    struct nn_error nn = {0};
    size_t n;
    enum nn_status status = nn_custom_decode(list, "/evaluation/custom_metrics", metrics, &n, &nn);
    return status == NN_OK ? SV_OK
                           : sv_fail_at(err, SV_ERR_INVALID_FIELD, nn.pointer, "%s", nn.text);
}

enum sv_status jobs_job_check(const struct jobs_job_spec *spec, struct sv_error *err)
{
    enum sv_status st = jobs_line_check(spec->name, "/name", err);
    if (st == SV_OK) {
        st = jobs_weights_check(spec->weights, err);
    }
    if (st == SV_OK) {
        st = jobs_line_check(spec->experiment, "/experiment", err);
    }
    if (st == SV_OK) {
        st = jobs_labels_check(spec->labels, err);
    }
    if (st == SV_OK) {
        st = custom_check(spec->trial.custom_metrics, err);
    }
    for (size_t i = 0; st == SV_OK && i < spec->seeds.count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (spec->seeds.value[i] == spec->seeds.value[j]) {
                char pointer[64];
                jx_pointer_index("/seeds", i, pointer, sizeof pointer);
                return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "the seed stands twice");
            }
        }
    }
    return st;
}

/* What the other side leaves, in clean decimals: 1 - 0.7 is 0.3. */
static double left_by(double share)
{
    return round((1.0 - share) * 1e9) / 1e9;
}

/* Where nothing can be kept back, all trains unless the job wants it otherwise, which is refused.
 */
static enum sv_status check_division(const struct jobs_split_options *split, bool chosen,
                                     const struct jobs_dataset *dataset, struct sv_error *err)
{
    const char *alike = dataset->classes > 0
                            ? "no class of the train part has two different samples"
                            : "all sequences of the train part are the same";
    if (!dataset->indivisible) {
        return SV_OK;
    }
    if (split->train < 1.0) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/split/train",
                          "%s: none can be kept back, only 1 is possible", alike);
    }
    if (!chosen && dataset->validation == 0 && dataset->test == 0) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/dataset",
                          "%s: nothing can be kept back to validate or test; %s", alike,
                          dataset->sequences ? "add different sequences, or a test part"
                                             : "with split.train 1 it trains all the same");
    }
    return SV_OK;
}

/* Windows of one recording must not come to stand on two sides. */
static enum sv_status complete_signal_split(struct jobs_split_options *split, struct sv_error *err)
{
    bool cut = (split->train_given && split->train < 1) ||
               (split->validation_given && split->validation > 0);
    if (cut) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD,
                          split->train_given ? "/split/train" : "/split/validation",
                          "the parts of signals are made when they are imported: windows of one "
                          "recording would stand on two sides");
    }
    split->train = 1;
    split->validation = 0;
    split->train_given = split->validation_given = true;
    return SV_OK;
}

static enum sv_status complete_split(struct jobs_split_options *split,
                                     const struct jobs_dataset *dataset, struct sv_error *err)
{
    if (dataset->signals) {
        return complete_signal_split(split, err);
    }
    bool has_part = dataset->validation > 0;
    bool chosen = split->train_given || split->validation_given;
    bool tested = dataset->sequences && dataset->test > 0;
    bool whole = has_part || tested || dataset->indivisible;
    if (!split->train_given) {
        split->train = split->validation_given ? left_by(split->validation) : whole ? 1.0 : 0.7;
    }
    if (!split->validation_given) {
        split->validation = has_part ? 0.0 : left_by(split->train);
    }
    split->train_given = split->validation_given = true;
    if (split->train + split->validation > 1.0 + 1e-9) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/split/validation",
                          "train and validation are more than the whole");
    }
    if (split->train + split->validation > 1.0) { /* by rounding alone */
        split->validation = 1.0 - split->train;
    }
    return check_division(split, chosen, dataset, err);
}

static enum sv_status check_freeze(const json_t *freeze, struct sv_error *err)
{
    struct nn_error nn = {0};
    char pointer[80];
    if (nn_freeze_check(freeze, &nn) == NN_OK) {
        return SV_OK;
    }
    (void)snprintf(pointer, sizeof pointer, "/freeze%.40s", nn.pointer);
    return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "%s", nn.text);
}

static enum sv_status check_augmentation(const struct nn_augmentation *augmentation,
                                         const struct jobs_dataset *dataset, struct sv_error *err)
{
    size_t padding = (size_t)augmentation->crop_padding;
    if ((dataset->sequences || dataset->signals) && nn_augmentation_is_on(augmentation)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/augmentation",
                          "augmentation is for images, and these are %s",
                          jobs_samples_name(jobs_samples_of(dataset)));
    }
    struct nn_error nn = {0};
    if (!dataset->sequences &&
        nn_augmentation_check(augmentation, dataset->channels, &nn) != NN_OK) {
        char pointer[sizeof nn.pointer + 16];
        (void)snprintf(pointer, sizeof pointer, "/augmentation%s", nn.pointer);
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "%s", nn.text);
    }
    if (padding > 0 && (padding >= dataset->height || padding >= dataset->width)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/augmentation/crop_padding",
                          "pictures of %zu x %zu can be moved out of sight", dataset->height,
                          dataset->width);
    }
    return SV_OK;
}

static enum sv_status check_training(const struct nn_training_options *options,
                                     const struct jobs_dataset *dataset, struct sv_error *err)
{
    struct nn_error nn = {0};
    char pointer[sizeof nn.pointer + 16];
    if (dataset->classes == 0 && (options->label_smoothing > 0 || options->class_weights)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD,
                          options->class_weights ? "/training/class_weights"
                                                 : "/training/label_smoothing",
                          "the data set has no classes");
    }
    enum nn_status status = nn_training_options_check(options, &nn);
    if (status == NN_OK) {
        status = nn_training_class_weights_check(options->class_weights, dataset->classes, &nn);
    }
    if (status == NN_OK) {
        return SV_OK;
    }
    (void)snprintf(pointer, sizeof pointer, "/training%s", nn.pointer);
    return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "%s", nn.text);
}

/* Rescaling is of grey levels from 0 to 255. */
static enum sv_status check_signals(const struct jobs_trial_spec *spec, struct sv_error *err)
{
    int normalisation = spec->data.normalisation;
    if (normalisation == NN_NORMALISATION_RESCALE_UNIT ||
        normalisation == NN_NORMALISATION_RESCALE_SYMMETRIC) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/data/normalisation",
                          "rescaling is for images, and these are signals: none or zscore");
    }
    return SV_OK;
}

/* Trials are ranked by a part that does not train. */
static enum sv_status complete_sequences(struct jobs_trial_spec *spec,
                                         const struct jobs_dataset *dataset, struct sv_error *err)
{
    if (dataset->test == 0 && dataset->validation == 0 && spec->split.train >= 1.0) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/split/train",
                          "all sequences train: nothing is left to validate or test; 0.7 keeps "
                          "three of ten back");
    }
    return jobs_data_complete(&spec->data, spec->training.shuffle, err);
}

static enum sv_status check_metrics(const json_t *metrics, const struct jobs_dataset *dataset,
                                    struct sv_error *err)
{
    bool regression = dataset->sequences && dataset->classes == 0;
    enum nn_metric_task other = regression ? NN_OF_CLASSIFICATION : NN_OF_REGRESSION;
    for (size_t i = 0; i < json_array_size(metrics); i++) {
        const char *name = json_string_value(json_array_get(metrics, i));
        const struct nn_metric *metric = name ? nn_metric_find(name) : NULL;
        if (metric && metric->task == other) {
            char pointer[64];
            jx_pointer_index("/evaluation/metrics", i, pointer, sizeof pointer);
            return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "%s is a metric of a %s", name,
                              nn_metric_task_name(other));
        }
    }
    return SV_OK;
}

enum sv_status jobs_trial_complete(struct jobs_trial_spec *spec, const struct jobs_dataset *dataset,
                                   uint64_t memory_bytes, struct sv_error *err)
{
    nn_training_options_resolve(&spec->training);
    if (!spec->limits.memory_given) {
        spec->limits.memory_bytes = (int64_t)memory_bytes;
        spec->limits.memory_given = true;
    }
    if (!json_is_object(spec->network)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/network", "an object is expected");
    }
    enum sv_status st = check_freeze(spec->freeze, err);
    if (st == SV_OK) {
        st = check_augmentation(&spec->augmentation, dataset, err);
    }
    if (st == SV_OK) {
        st = check_training(&spec->training, dataset, err);
    }
    if (st == SV_OK) {
        st = complete_split(&spec->split, dataset, err);
    }
    if (st == SV_OK && dataset->signals) {
        st = check_signals(spec, err);
    }
    if (st == SV_OK) {
        st = jobs_explain_complete(spec, dataset, err);
    }
    if (st != SV_OK) {
        return st;
    }
    if (dataset->sequences) {
        st = complete_sequences(spec, dataset, err);
    }
    if (st == SV_OK) {
        st = check_metrics(spec->metrics, dataset, err);
    }
    if (st != SV_OK) {
        return st;
    }
    bool validates = dataset->validation > 0 || spec->split.validation > 0;
    if (!validates && spec->training.output_network == NN_OUTPUT_BEST_VALIDATION_LOSS) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/training/output_network",
                          "there is no validation part to choose the best network by");
    }
    if (!validates && spec->training.patience > 0) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/training/patience",
                          "there is no validation part to wait for");
    }
    return SV_OK;
}
