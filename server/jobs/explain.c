/* SPDX-License-Identifier: MIT
 *
 * The `explain` object of a job, checked before anything trains: an explanation that cannot be made
 * is known from the network and the data set alone.
 */
#include <stdio.h>
#include <string.h>

#include "server/jobs/spec_internal.h"

static enum sv_status fail_below(const struct nn_error *nn, enum nn_status status,
                                 struct sv_error *err)
{
    char pointer[96];
    (void)snprintf(pointer, sizeof pointer, "/explain%.80s", nn->pointer);
    return sv_fail_at(err,
                      status == NN_ERR_NOT_SUPPORTED ? SV_ERR_NOT_SUPPORTED : SV_ERR_INVALID_FIELD,
                      pointer, "%s", nn->text);
}

static bool has_part(const struct jobs_trial_spec *spec, const struct jobs_dataset *dataset,
                     enum nn_part part)
{
    return part == NN_PART_TEST
               ? dataset->test > 0 || spec->split.train + spec->split.validation < 1.0 - 1e-9
               : dataset->validation > 0 || spec->split.validation > 0;
}

static enum sv_status check_samples(const struct jobs_trial_spec *spec,
                                    const struct jobs_dataset *dataset,
                                    const struct nn_explain_plan *plan, struct sv_error *err)
{
    size_t count = dataset->train + dataset->validation + dataset->test;
    if (!plan->by_item && !has_part(spec, dataset, plan->part)) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/explain/part", "there is no %s part",
                          nn_part_name(plan->part));
    }
    for (size_t i = 0; plan->by_item && i < plan->samples; i++) {
        if (plan->items[i] >= count) {
            char pointer[64];
            jx_pointer_index("/explain/samples", i, pointer, sizeof pointer);
            return sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "the data set has %zu items",
                              count);
        }
    }
    return SV_OK;
}

/* The test part when there is one: a folder of pictures seldom has. */
static void complete_part(struct jobs_trial_spec *spec, const struct jobs_dataset *dataset)
{
    if (!spec->explain.part_given) {
        bool tests = has_part(spec, dataset, NN_PART_TEST);
        spec->explain.part = tests ? NN_PART_TEST : NN_PART_VALIDATION;
        spec->explain.part_given = true;
    }
}

/* Of a network that does not take the data set nothing can be said but that. */
static bool takes(const struct jobs_trial_spec *spec, const struct nn_network_bind *bind)
{
    struct nn_error nn = {0};
    json_auto_t *report = NULL;
    return nn_network_analyze(spec->network, bind, (size_t)spec->training.batch_size, &report,
                              &nn) == NN_OK &&
           json_is_true(json_object_get(report, "valid"));
}

enum sv_status jobs_explain_complete(struct jobs_trial_spec *spec,
                                     const struct jobs_dataset *dataset, struct sv_error *err)
{
    const struct nn_network_bind bind = jobs_dataset_bind(dataset, &spec->data.scaling);
    struct nn_description *description = NULL;
    struct nn_explain_plan plan;
    struct nn_error nn = {0};
    if (!spec->explain_given) {
        return SV_OK;
    }
    if (nn_description_parse(spec->network, &description, &nn) != NN_OK) {
        return SV_OK; /* what is wrong with the network is said where it is analysed */
    }
    complete_part(spec, dataset);
    const struct nn_explain_subject subject = {description, bind, dataset->signals};
    enum nn_status status = nn_explain_plan(&spec->explain, &subject, &plan, &nn);
    nn_description_destroy(description);
    if (status == NN_OK) {
        return check_samples(spec, dataset, &plan, err);
    }
    return takes(spec, &bind) ? fail_below(&nn, status, err) : SV_OK;
}

/* ---- of a trained network ---- */

static json_t *options_for_one(const struct jobs_question *question)
{
    static const char *const SHARED[] = {"mask_value", "occlusion", "lime"};
    const char *activations = nn_explain_method_name(NN_EXPLAIN_ACTIVATIONS);
    json_t *options = json_pack("{s:[i], s:[s]}", "samples", 0, "methods", question->method);
    if (question->layer && strcmp(question->method, activations) == 0) {
        (void)json_object_set_new(options, "layers", json_pack("[s]", question->layer));
    } else if (question->layer) {
        (void)json_object_set_new(options, "feature_layer", json_string(question->layer));
    }
    for (size_t i = 0; i < sizeof SHARED / sizeof SHARED[0]; i++) {
        json_t *given = json_object_get(question->body, SHARED[i]);
        if (given) {
            (void)json_object_set(options, SHARED[i], given);
        }
    }
    return options;
}

/* The pointers of a question, which names one method and one layer. */
static enum sv_status fail_at_question(const struct nn_error *nn, enum nn_status status,
                                       struct sv_error *err)
{
    const char *pointer = strstr(nn->pointer, "layer")     ? "/layer"
                          : strstr(nn->pointer, "/method") ? "/method"
                          : strstr(nn->pointer, "/sample") ? ""
                                                           : nn->pointer;
    return sv_fail_at(err,
                      status == NN_ERR_NOT_SUPPORTED ? SV_ERR_NOT_SUPPORTED : SV_ERR_INVALID_FIELD,
                      pointer, "%s", nn->text);
}

enum sv_status jobs_explain_later(const json_t *network, const struct jobs_question *question,
                                  json_t **out_options, struct sv_error *err)
{
    struct nn_description *description = NULL;
    struct nn_explain_options options;
    struct nn_explain_plan plan;
    struct nn_error nn = {0};
    json_t *json = options_for_one(question);
    enum nn_status status = jx_decode(nn_explain_fields, json, "", &options, &nn);
    if (status == NN_OK) {
        status = nn_description_parse(network, &description, &nn);
    }
    if (status == NN_OK) {
        const struct nn_explain_subject subject = {description, *question->bind, question->signals};
        status = nn_explain_plan(&options, &subject, &plan, &nn);
    }
    nn_description_destroy(description);
    if (status != NN_OK) {
        json_decref(json);
        return fail_at_question(&nn, status, err);
    }
    *out_options = json;
    return SV_OK;
}
