/* SPDX-License-Identifier: MIT
 *
 * The networks of a job: each different one is analysed against the data set once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/sha256.h"
#include "core/network/freeze.h"
#include "core/network/network.h"
#include "server/jobs/spec_internal.h"

bool jobs_hash(const json_t *json, char out_hex[65])
{
    uint8_t digest[NN_SHA256_SIZE];
    char *text = jx_canonical(json);
    if (!text) {
        return false;
    }
    nn_sha256_of(text, strlen(text), digest);
    nn_sha256_hex(digest, out_hex);
    free(text);
    return true;
}

void jobs_networks_deinit(struct jobs_networks *networks)
{
    for (size_t i = 0; i < networks->count; i++) {
        free(networks->rows[i].key);
        json_decref(networks->rows[i].spec);
        json_decref(networks->rows[i].warnings);
    }
    free(networks->rows);
    *networks = (struct jobs_networks){0};
}

static bool is_error(const json_t *issue)
{
    const char *severity = json_string_value(json_object_get(issue, "severity"));
    return severity && strcmp(severity, "error") == 0;
}

/* Issues point into the network; the client's document is the job. */
static bool move_pointers(json_t *issues)
{
    size_t i;
    json_t *issue;
    json_array_foreach(issues, i, issue)
    {
        const char *old = json_string_value(json_object_get(issue, "pointer"));
        char pointer[200];
        (void)snprintf(pointer, sizeof pointer, "/network%s", old ? old : "");
        if (json_object_set_new(issue, "pointer", json_string(pointer)) != 0) {
            return false;
        }
    }
    return true;
}

static enum sv_status refuse(json_t *report, json_t **out_issues, struct sv_error *err)
{
    json_t *issues = json_object_get(report, "issues");
    size_t i, errors = 0;
    json_t *issue, *first = NULL;
    if (!move_pointers(issues)) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    json_array_foreach(issues, i, issue)
    {
        if (is_error(issue)) {
            first = first ? first : issue;
            errors++;
        }
    }
    const char *text = json_string_value(json_object_get(first, "text"));
    const char *pointer = json_string_value(json_object_get(first, "pointer"));
    if (out_issues) { /* of a point before this one there may be some */
        json_decref(*out_issues);
        *out_issues = json_incref(issues);
    }
    return sv_fail_at(err, SV_ERR_INVALID_NETWORK, pointer ? pointer : "/network", "%s%s",
                      text ? text : "the network has issues",
                      errors > 1 ? " (and more, see issues)" : "");
}

static double total(const json_t *report, const char *name)
{
    double value = 0.0;
    const json_t *totals = json_object_get(report, "totals");
    return jx_number_get(json_object_get(totals, name), &value) ? value : 0.0;
}

struct nn_network_bind jobs_dataset_bind(const struct jobs_dataset *dataset,
                                         const struct nn_scaling_options *scaling)
{
    static const struct nn_scaling_options usual = {.inputs = NN_SCALING_Z_SCORE};
    const struct nn_scaling_options *s = scaling ? scaling : &usual;
    if (dataset->sequences) {
        size_t dropped = s->keep_constant ? 0 : dataset->constant_inputs;
        return (struct nn_network_bind){.classes = dataset->classes,
                                        .features = dataset->inputs - dropped,
                                        .longest = dataset->longest,
                                        .responses = dataset->targets,
                                        .normalisation = nn_training_normalisation(s)};
    }
    return (struct nn_network_bind){.height = dataset->height,
                                    .width = dataset->width,
                                    .channels = dataset->channels,
                                    .signals = dataset->signals,
                                    .classes = dataset->classes};
}

static struct nn_network_bind bind_of(const struct jobs_trial_spec *trial,
                                      const struct jobs_dataset *dataset)
{
    struct nn_network_bind bind = jobs_dataset_bind(dataset, &trial->data.scaling);
    if (!dataset->sequences) {
        bind.normalisation = (enum nn_normalisation)trial->data.normalisation;
    } else if (trial->data.windows.length_given &&
               (size_t)trial->data.windows.length < bind.longest) {
        bind.longest = (size_t)trial->data.windows.length;
    }
    return bind;
}

uint64_t jobs_network_bytes(const struct jobs_network *network, const struct jobs_trial_spec *trial,
                            const struct jobs_dataset *dataset, size_t batch)
{
    const struct nn_network_bind bind = bind_of(trial, dataset);
    const struct nn_network_options options = {.max_batch = batch, .phase = NN_PHASE_TRAINING};
    struct nn_description *description = NULL;
    struct nn_error nn = {0};
    size_t bytes = 0;
    if (nn_description_parse(network->spec, &description, &nn) == NN_OK &&
        nn_network_plan_bytes(description, &bind, &options, &bytes, &nn) != NN_OK) {
        bytes = 0;
    }
    nn_description_destroy(description);
    return bytes;
}

static enum sv_status expand(const json_t *spec, const struct jobs_dataset *dataset,
                             json_t **out_expanded, struct sv_error *err)
{
    bool predicts = dataset->sequences && dataset->classes == 0;
    struct nn_error nn = {0};
    struct nn_description *description = NULL;
    enum nn_status st = nn_description_parse(spec, &description, &nn);
    if (st != NN_OK) {
        char pointer[200];
        (void)snprintf(pointer, sizeof pointer, "/network%s", nn.pointer);
        return sv_fail_at(
            err, st == NN_ERR_NOT_SUPPORTED ? SV_ERR_NOT_SUPPORTED : SV_ERR_INVALID_NETWORK,
            pointer, "%s", nn.text);
    }
    bool fits = !predicts || nn_description_task(description) == NN_TASK_REGRESSION;
    json_t *expanded = nn_description_json(description);
    nn_description_destroy(description);
    if (!fits) {
        json_decref(expanded);
        return sv_fail_at(err, SV_ERR_INVALID_NETWORK, "/network",
                          "the network scores classes, and there is a number to predict");
    }
    if (!expanded) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    *out_expanded = expanded;
    return SV_OK;
}

/* What the trial freezes, what it multiplies, what it starts from: do they fit the network? */
static enum sv_status check_layers(const struct jobs_trial_spec *trial,
                                   const struct jobs_dataset *dataset, struct sv_error *err)
{
    struct nn_error nn = {0};
    struct nn_description *description = NULL;
    struct nn_layer_factor *factors = NULL;
    struct nn_frozen frozen = {0};
    struct nn_network_bind bind = bind_of(trial, dataset);
    const char *field = "/network";
    size_t n = 0;
    enum nn_status status = nn_description_parse(trial->network, &description, &nn);
    if (status == NN_OK) {
        field = "/freeze";
        status = nn_freeze_layers(description, trial->freeze, &frozen, &nn);
    }
    if (status == NN_OK) {
        field = "/training";
        status = nn_training_factors(&trial->training, description, &bind, &factors, &n, &nn);
    }
    free(factors);
    nn_frozen_deinit(&frozen);
    nn_description_destroy(description);
    if (status == NN_OK) {
        return SV_OK;
    }
    char pointer[200];
    (void)snprintf(pointer, sizeof pointer, "%s%s", field, nn.pointer);
    return sv_fail_at(err,
                      status == NN_ERR_MEMORY                      ? SV_ERR_INTERNAL
                      : strncmp(nn.text, "unknown field", 13) == 0 ? SV_ERR_UNKNOWN_FIELD
                                                                   : SV_ERR_INVALID_FIELD,
                      pointer, "%s", nn.text);
}

static enum sv_status find_weights(const struct jobs_trial_spec *trial, const char *id,
                                   const struct jobs_dataset *dataset,
                                   const struct jobs_context *context, struct jobs_network *network,
                                   struct sv_error *err)
{
    struct jobs_weights found = {0};
    const struct nn_network_bind bind = bind_of(trial, dataset);
    if (!id) {
        return SV_OK;
    }
    enum sv_status st = context->find_weights(context->ctx, id, trial->network, &bind, &found, err);
    switch (st) {
    case SV_OK:
        memcpy(network->weights, found.digest, sizeof network->weights);
        memcpy(network->partly, found.partly, sizeof network->partly);
        st = jobs_inputs_adopt(trial->network, &bind, found.preprocessing, &network->spec, err);
        json_decref(found.preprocessing);
        return st;
    case SV_ERR_NOT_FOUND:
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/weights", "there are no such weights");
    case SV_ERR_WRONG_STATE:
        return sv_fail_at(err, SV_ERR_WRONG_STATE, "/weights",
                          "the weights are not ready: GET them until their state is");
    case SV_ERR_INVALID_FIELD: {
        char text[sizeof err->text];
        (void)snprintf(text, sizeof text, "%s", err ? err->text : "");
        return sv_fail_at(err, st, "/weights", "%s", text);
    }
    default:
        return st;
    }
}

/* What decides beside the network how long a sample takes. NULL: out of memory. */
static json_t *pace_of(const struct jobs_trial_spec *trial)
{
    static const char *const PATHS[] = {"freeze",    "augmentation",        "operators",
                                        "precision", "training.batch_size", "data.sort"};
    json_t *spec = jx_encode(jobs_trial_fields, trial);
    json_t *pace = spec ? json_object() : NULL;
    for (size_t i = 0; pace && i < sizeof PATHS / sizeof PATHS[0]; i++) {
        json_t *value = jx_path_get(spec, PATHS[i]);
        if (json_object_set_new(pace, PATHS[i], value ? json_incref(value) : json_null()) != 0) {
            json_decref(pace);
            pace = NULL;
        }
    }
    json_decref(spec);
    return pace;
}

/* How fast the same network was before; no history is no mistake. */
static enum sv_status ask_history(const struct jobs_trial_spec *trial, struct jobs_network *network,
                                  const struct jobs_dataset *dataset,
                                  const struct jobs_context *context, struct sv_error *err)
{
    if (!context->history) {
        return SV_OK;
    }
    json_t *pace = pace_of(trial);
    char *rest = pace ? jx_dump(pace, NULL) : NULL;
    char *text = jx_dump(network->spec, NULL);
    const struct jobs_pace asked = {text, rest};
    bool whole = text && rest;
    network->speed = whole ? context->history(context->ctx, &asked, dataset) : 0.0;
    free(text);
    free(rest);
    json_decref(pace);
    return whole ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "out of memory");
}

static enum sv_status analyse(const struct jobs_trial_spec *trial, const char *weights_id,
                              const struct jobs_dataset *dataset,
                              const struct jobs_context *context, struct jobs_network *network,
                              json_t **out_issues, struct sv_error *err)
{
    struct nn_error nn = {0};
    struct nn_network_bind bind = bind_of(trial, dataset);
    json_t *report = NULL;
    enum sv_status st;
    if (nn_network_analyze(trial->network, &bind, nn_training_max_batch(&trial->training, SIZE_MAX),
                           &report, &nn) != NN_OK) {
        return sv_fail(err, SV_ERR_INTERNAL, "%s", nn.text);
    }
    if (!json_is_true(json_object_get(report, "valid"))) {
        st = refuse(report, out_issues, err);
        goto cleanup;
    }
    st = expand(trial->network, dataset, &network->spec, err);
    if (st == SV_OK) {
        st = check_layers(trial, dataset, err);
    }
    if (st == SV_OK) {
        st = find_weights(trial, weights_id, dataset, context, network, err);
    }
    if (st != SV_OK) {
        goto cleanup;
    }
    network->warnings = json_incref(json_object_get(report, "issues"));
    network->multiply_adds = total(report, "multiply_adds");
    network->training_bytes = (uint64_t)total(report, "training_bytes");
    network->parameter_bytes = (uint64_t)total(report, "parameter_bytes");
    st = ask_history(trial, network, dataset, context, err);
cleanup:
    json_decref(report);
    return st;
}

/* All that analyse looks at. */
static char *key_of(const struct jobs_trial_spec *trial, const char *weights_id)
{
    const json_t *factors = trial->training.layer_factors;
    const struct nn_window_options *windows = &trial->data.windows;
    json_int_t window = windows->length_given ? windows->length : 0;
    json_t *pace = pace_of(trial);
    json_t *parts =
        !pace ? NULL
              : json_pack("[i, i, b, I, I, o, s?, O?, O?]", trial->data.normalisation,
                          trial->data.scaling.inputs, (int)trial->data.scaling.keep_constant,
                          (json_int_t)trial->training.micro_batch_size, window, pace, weights_id,
                          factors, trial->network);
    char *key = parts ? jx_canonical(parts) : NULL;
    json_decref(parts);
    return key;
}

enum sv_status jobs_networks_get(struct jobs_networks *networks,
                                 const struct jobs_trial_spec *trial, const char *weights_id,
                                 const struct jobs_dataset *dataset,
                                 const struct jobs_context *context,
                                 const struct jobs_network **out_network, json_t **out_issues,
                                 struct sv_error *err)
{
    struct jobs_network network = {.key = key_of(trial, weights_id)};
    if (!network.key) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    for (size_t i = 0; i < networks->count; i++) {
        if (strcmp(networks->rows[i].key, network.key) == 0) {
            free(network.key);
            *out_network = &networks->rows[i];
            return SV_OK;
        }
    }
    enum sv_status st = analyse(trial, weights_id, dataset, context, &network, out_issues, err);
    struct jobs_network *rows = NULL;
    if (st == SV_OK) {
        rows = reallocarray(networks->rows, networks->count + 1, sizeof *rows);
        st = rows ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    if (st != SV_OK) {
        free(network.key);
        json_decref(network.spec);
        json_decref(network.warnings);
        return st;
    }
    networks->rows = rows;
    rows[networks->count] = network;
    *out_network = &rows[networks->count++];
    return SV_OK;
}
