/* SPDX-License-Identifier: MIT
 *
 * The "data" object of a job: what happens to samples on their way in. Images and sequences have
 * fields of their own, here and in "evaluation"; those of the other kind are refused, and do not
 * stand in a resolved spec.
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
     .doc = "images: what happens to grey levels before the first layer"},
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

#define OF_SEQUENCES "evaluation.phm08"

/* The first row is of images, all others of sequences. */
static bool is_of(const struct jx_field *row, bool sequences)
{
    return sequences == (row != jobs_data_fields);
}

enum sv_status jobs_data_check(const json_t *trial, bool sequences, struct sv_error *err)
{
    const json_t *data = json_object_get(trial, "data");
    for (const struct jx_field *row = jobs_data_fields; row->name; row++) {
        if (json_object_get(data, row->name) && !is_of(row, sequences)) {
            char pointer[96];
            jx_pointer_key("/data", row->name, pointer, sizeof pointer);
            return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "%s is for %s, and these are %s",
                              row->name, sequences ? "images" : "sequences",
                              sequences ? "sequences" : "images");
        }
    }
    if (!sequences && jx_path_get(trial, OF_SEQUENCES)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/evaluation/phm08",
                          "phm08 is for sequences, and these are images");
    }
    return SV_OK;
}

void jobs_data_prune(json_t *spec, bool sequences)
{
    json_t *data = json_object_get(spec, "data");
    for (const struct jx_field *row = jobs_data_fields; row->name; row++) {
        if (!is_of(row, sequences)) {
            (void)json_object_del(data, row->name);
        }
    }
    if (!sequences) {
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
