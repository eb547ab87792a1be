/* SPDX-License-Identifier: MIT
 *
 * The "data" object of a job: what happens to samples on their way in. Images, sequences and
 * signals have fields of their own, here and in "evaluation"; those of other kinds are refused, and
 * do not stand in a resolved spec.
 */
#include <string.h>

#include "core/data/scaling_fields.h"
#include "core/data/windows_fields.h"
#include "server/jobs/spec_internal.h"

static const struct jx_choice NORMALISATIONS[] = {
    {"as_described", NN_NORMALISATION_DESCRIBED, "as the network's input layer says"},
    {"none", NN_NORMALISATION_NONE, "0 to 255 as they are"},
    {"rescale_unit", NN_NORMALISATION_RESCALE_UNIT, "0 to 1"},
    {"rescale_symmetric", NN_NORMALISATION_RESCALE_SYMMETRIC, "-1 to 1"},
    {"zscore", NN_NORMALISATION_ZSCORE, "mean 0 and deviation 1 per channel of the train part"},
    JX_END,
};

static const struct jx_choice SORTS[] = {
    {"none", NN_SEQUENCE_SORT_NONE, "the order of the data set, or as training.shuffle says"},
    {"length_descending", NN_SEQUENCE_SORT_LENGTH_DESCENDING, "the longest sequences first"},
    JX_END,
};

#define OFFSET(member) offsetof(struct jobs_data_options, member)

const struct jx_field jobs_data_fields[] = {
    {.name = "normalisation",
     .type = JX_ENUM,
     .offset = OFFSET(normalisation),
     .choices = NORMALISATIONS,
     .fallback = "\"as_described\"",
     .doc = "images and signals: what happens to grey levels, or values, before the first layer"},
    {.name = "noise",
     .type = JX_OBJECT,
     .offset = OFFSET(noise),
     .fields = nn_noise_fields,
     .doc = "signals: what is added to the windows of every part"},
    NN_SCALING_FIELDS(OFFSET(scaling)),
    {.name = "sort",
     .type = JX_ENUM,
     .offset = OFFSET(sort),
     .given = JX_GIVEN(struct jobs_data_options, sort_given),
     .choices = SORTS,
     .nullable = true,
     .doc = "sequences: their order in an epoch; default: length_descending where training.shuffle "
            "is never, else none"},
    NN_SEQUENCE_WINDOW_FIELDS(OFFSET(windows)),
    JX_END,
};

#define OF_TARGETS "evaluation.phm08"
/* Fields of sequences that those with classes do not have: a class is of the whole sequence. */
static const char *const TARGET_FIELDS[] = {"target_scaling", "rul_threshold", "window",
                                            "window_stride", "window_test"};

enum jobs_samples jobs_samples_of(const struct jobs_dataset *dataset)
{
    if (dataset->sequences) {
        return dataset->classes > 0 ? JOBS_CLASSED_SEQUENCES : JOBS_SEQUENCES;
    }
    return dataset->signals ? JOBS_SIGNALS : JOBS_IMAGES;
}

const char *jobs_samples_name(enum jobs_samples samples)
{
    static const char *const NAMES[] = {"images", "sequences with targets",
                                        "sequences with classes", "signals"};
    return NAMES[samples];
}

static bool is_of_targets(const struct jx_field *row)
{
    for (size_t i = 0; i < sizeof TARGET_FIELDS / sizeof TARGET_FIELDS[0]; i++) {
        if (strcmp(row->name, TARGET_FIELDS[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The first row is of images and signals, the second of signals, all others of sequences. */
static bool is_of(const struct jx_field *row, enum jobs_samples samples)
{
    bool sequences =
        samples == JOBS_SEQUENCES || (samples == JOBS_CLASSED_SEQUENCES && !is_of_targets(row));
    return row == jobs_data_fields       ? samples == JOBS_IMAGES || samples == JOBS_SIGNALS
           : row == jobs_data_fields + 1 ? samples == JOBS_SIGNALS
                                         : sequences;
}

static const char *owner_name(const struct jx_field *row)
{
    return is_of(row, JOBS_IMAGES)              ? "images"
           : is_of(row, JOBS_SIGNALS)           ? "signals"
           : is_of(row, JOBS_CLASSED_SEQUENCES) ? "sequences"
                                                : jobs_samples_name(JOBS_SEQUENCES);
}

/* What to do about windows, which a class of the whole sequence is not told by. */
static bool is_of_windows(const struct jx_field *row)
{
    return strncmp(row->name, "window", strlen("window")) == 0;
}

enum sv_status jobs_data_check(const json_t *trial, enum jobs_samples samples, struct sv_error *err)
{
    const json_t *data = json_object_get(trial, "data");
    for (const struct jx_field *row = jobs_data_fields; row->name; row++) {
        if (json_object_get(data, row->name) && !is_of(row, samples)) {
            char pointer[96];
            jx_pointer_key("/data", row->name, pointer, sizeof pointer);
            if (samples == JOBS_CLASSED_SEQUENCES && is_of_windows(row)) {
                return sv_fail_at(
                    err, SV_ERR_INVALID_FIELD, pointer,
                    "a class is of the whole sequence, which is not cut: leave %s out; "
                    "for classes of pieces cut the table itself, a sequence a piece, "
                    "or make a data set of signals, whose windows have classes",
                    row->name);
            }
            return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "%s is for %s, and these are %s",
                              row->name, owner_name(row), jobs_samples_name(samples));
        }
    }
    if (samples != JOBS_SEQUENCES && jx_path_get(trial, OF_TARGETS)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/evaluation/phm08",
                          "phm08 is for sequences with targets, and these are %s",
                          jobs_samples_name(samples));
    }
    return SV_OK;
}

void jobs_data_prune(json_t *spec, enum jobs_samples samples)
{
    json_t *data = json_object_get(spec, "data");
    for (const struct jx_field *row = jobs_data_fields; row->name; row++) {
        if (!is_of(row, samples)) {
            (void)json_object_del(data, row->name);
        }
    }
    if (samples != JOBS_SEQUENCES) {
        (void)json_object_del(json_object_get(spec, "evaluation"), "phm08");
    }
}

enum sv_status jobs_data_complete(struct jobs_data_options *data, int shuffle, struct sv_error *err)
{
    bool ordered = shuffle == NN_SHUFFLE_NEVER;
    if (!data->sort_given) {
        data->sort = ordered ? NN_SEQUENCE_SORT_LENGTH_DESCENDING : NN_SEQUENCE_SORT_NONE;
        data->sort_given = true;
    }
    if (data->sort != NN_SEQUENCE_SORT_NONE && !ordered) {
        return sv_fail_at(
            err, SV_ERR_INVALID_FIELD, "/data/sort",
            "sequences are either sorted or shuffled: training.shuffle must be never");
    }
    return SV_OK;
}
