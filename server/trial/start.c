/* SPDX-License-Identifier: MIT
 *
 * The start record of a trial: field tables over what the supervisor sends. The spec in it has been
 * checked when the job was submitted; here it is decoded again, by the same option tables of the
 * core, because a child trusts nobody's struct.
 */
#include <stdio.h>

#include "core/base/cpu.h"
#include "core/data/scaling_fields.h"
#include "core/data/windows_fields.h"
#include "core/kernels/exec.h"
#include "server/trial/trial_internal.h"

static const struct jx_choice NORMALISATIONS[] = {
    {"as_described", NN_NORMALISATION_DESCRIBED, ""},
    {"none", NN_NORMALISATION_NONE, ""},
    {"rescale_unit", NN_NORMALISATION_RESCALE_UNIT, ""},
    {"rescale_symmetric", NN_NORMALISATION_RESCALE_SYMMETRIC, ""},
    {"zscore", NN_NORMALISATION_ZSCORE, ""},
    JX_END,
};

static const struct jx_choice OPERATORS[] = {
    {"optimised", NN_OPERATORS_OPTIMISED, ""},
    {"plain", NN_OPERATORS_PLAIN, ""},
    JX_END,
};

static const struct jx_choice SORTS[] = {
    {"none", NN_SEQUENCE_SORT_NONE, ""},
    {"length_descending", NN_SEQUENCE_SORT_LENGTH_DESCENDING, ""},
    JX_END,
};

#define DATA(member) offsetof(struct trial_data, member)
static const struct jx_field DATA_FIELDS[] = {
    {.name = "normalisation",
     .type = JX_ENUM,
     .offset = DATA(normalisation),
     .choices = NORMALISATIONS,
     .fallback = "\"as_described\""},
    {.name = "noise", .type = JX_OBJECT, .offset = DATA(noise), .fields = nn_noise_fields},
    NN_SCALING_FIELDS(DATA(scaling)),
    {.name = "sort",
     .type = JX_ENUM,
     .offset = DATA(sort),
     .choices = SORTS,
     .fallback = "\"none\""},
    NN_SEQUENCE_WINDOW_FIELDS(DATA(windows)),
    JX_END,
};

#define SPLIT(member) offsetof(struct nn_split_options, member)
static const struct jx_field SPLIT_FIELDS[] = {
    {.name = "train", .type = JX_REAL, .offset = SPLIT(train), .required = true},
    {.name = "validation", .type = JX_REAL, .offset = SPLIT(validation), .required = true},
    {.name = "seed", .type = JX_UINT64, .offset = SPLIT(seed), .required = true},
    JX_END,
};

/* What the resolved spec holds beside this is the supervisor's business, not the child's. */
struct rest {
    const json_t *kind, *weights, *initial_checkpoint;
    const json_t *evaluation, *precision, *limits, *max_attempts, *threads;
};

struct whole_spec {
    struct trial_spec spec;
    struct rest rest;
};

#define SPEC(member) offsetof(struct whole_spec, spec.member)
#define REST(member) offsetof(struct whole_spec, rest.member)
static const struct jx_field SPEC_FIELDS[] = {
    {.name = "seed", .type = JX_UINT64, .offset = SPEC(seed), .required = true},
    {.name = "network", .type = JX_ANY, .offset = SPEC(network), .required = true},
    {.name = "freeze", .type = JX_ANY, .offset = SPEC(freeze)},
    {.name = "augmentation",
     .type = JX_OBJECT,
     .offset = SPEC(augmentation),
     .fields = nn_augmentation_fields},
    {.name = "data",
     .type = JX_OBJECT,
     .offset = SPEC(data),
     .fields = DATA_FIELDS,
     .required = true},
    {.name = "split",
     .type = JX_OBJECT,
     .offset = SPEC(split),
     .fields = SPLIT_FIELDS,
     .required = true},
    {.name = "training",
     .type = JX_OBJECT,
     .offset = SPEC(training),
     .fields = nn_training_fields,
     .required = true},
    {.name = "explain",
     .type = JX_OBJECT,
     .offset = SPEC(explain),
     .given = JX_GIVEN(struct whole_spec, spec.explain_given),
     .nullable = true,
     .fields = nn_explain_fields},
    {.name = "operators", .type = JX_ENUM, .offset = SPEC(operators), .choices = OPERATORS},
    {.name = "kind", .type = JX_ANY, .offset = REST(kind)},
    {.name = "weights", .type = JX_ANY, .offset = REST(weights)},
    {.name = "initial_checkpoint", .type = JX_ANY, .offset = REST(initial_checkpoint)},
    {.name = "evaluation", .type = JX_ANY, .offset = REST(evaluation)},
    {.name = "precision", .type = JX_ANY, .offset = REST(precision)},
    {.name = "limits", .type = JX_ANY, .offset = REST(limits)},
    {.name = "max_attempts", .type = JX_ANY, .offset = REST(max_attempts)},
    {.name = "threads", .type = JX_ANY, .offset = REST(threads)},
    JX_END,
};

/* Jobs of images, and older ones, have none. */
static enum nn_status decode_phm08(const json_t *evaluation, struct nn_regression_options *out,
                                   struct nn_error *err)
{
    const json_t *given = json_object_get(evaluation, "phm08");
    *out = nn_regression_defaults();
    return given ? jx_decode(nn_phm08_fields, given, "/evaluation/phm08", out, err) : NN_OK;
}

enum nn_status trial_spec_decode(const json_t *json, struct trial_spec *out_spec,
                                 struct nn_error *err)
{
    struct whole_spec whole;
    enum nn_status status = jx_decode(SPEC_FIELDS, json, "", &whole, err);
    if (status == NN_OK) {
        status = nn_custom_decode(json_object_get(whole.rest.evaluation, "custom_metrics"),
                                  "/evaluation/custom_metrics", whole.spec.custom,
                                  &whole.spec.n_custom, err);
    }
    if (status == NN_OK) {
        status = decode_phm08(whole.rest.evaluation, &whole.spec.phm08, err);
    }
    if (status == NN_OK) {
        nn_training_options_resolve(&whole.spec.training);
        *out_spec = whole.spec;
    }
    return status;
}

enum nn_status trial_start_decode(const json_t *json, struct trial_start *out_start,
                                  struct nn_error *err)
{
    struct trial_start start = {0};
    const json_t *resume = json_object_get(json, "resume");
    const char *isa = json_string_value(json_object_get(json, "instruction_set"));
    const char *build = json_string_value(json_object_get(json, "core_build"));
    enum nn_status status = trial_spec_decode(json_object_get(json, "trial"), &start.spec, err);
    if (status != NN_OK) {
        return status;
    }
    start.document = json_object_get(json, "trial");
    start.prepared = json_string_value(json_object_get(json, "prepared"));
    start.weights = json_string_value(json_object_get(json, "weights"));
    start.initial = json_string_value(json_object_get(json, "initial"));
    start.prefix = json_string_value(json_object_get(json, "prefix"));
    start.prefix_bytes = (uint64_t)json_integer_value(json_object_get(json, "prefix_bytes"));
    start.spec_digest = json_string_value(json_object_get(json, "spec_digest"));
    start.threads = (size_t)json_integer_value(json_object_get(json, "threads"));
    start.most_threads = (size_t)json_integer_value(json_object_get(json, "most_threads"));
    start.memory_bytes = (uint64_t)json_integer_value(json_object_get(json, "memory_bytes"));
    for (size_t i = 0; i < 2; i++) {
        start.resume[i] = json_string_value(json_array_get(resume, i));
    }
    if (!start.prepared || !start.spec_digest || !isa || !build || start.threads < 1 ||
        start.most_threads < start.threads || start.memory_bytes == 0) {
        return nn_fail(err, NN_ERR_INTERNAL, "the start record is incomplete");
    }
    status = nn_isa_parse(isa, &start.isa, err);
    (void)snprintf(start.core_build, sizeof start.core_build, "%.40s %.40s %.20s", build,
                   nn_blas_core(), isa);
    if (status == NN_OK) {
        *out_start = start;
    }
    return status;
}
