/* SPDX-License-Identifier: MIT
 *
 * An explanation asked for later: maps or activations of one sample, posted or of the data set.
 */
#include <stdlib.h>
#include <string.h>

#include "core/kernels/exec.h"
#include "server/trial/explained_internal.h"
#include "server/trial/question_internal.h"

/* What lives while one sample is explained; destroyed in reverse. */
struct explaining {
    struct question *question;
    struct nn_network_bind bind;
    struct nn_image image; /* of signals empty */
    const void *values;
    double mean[NN_SIGNAL_CHANNELS_MAX];
    bool has_mean;
    struct nn_explain_options options;
    struct nn_explain_plan plan;
    const char **classes;
    struct trial_explained *explained;
};

static void explaining_deinit(struct explaining *e)
{
    trial_explained_destroy(e->explained);
    free(e->classes);
    nn_image_deinit(&e->image);
}

static enum nn_status fit(struct explaining *e, struct nn_error *err)
{
    struct question *q = e->question;
    if (question_is_of_signals(q)) {
        return question_fit_window(q, &e->bind, &e->values, err);
    }
    enum nn_status status = question_fit_picture(q, &e->bind, &e->image, err);
    e->values = e->image.pixels;
    return status;
}

static enum nn_status read_options(struct explaining *e, struct nn_error *err)
{
    const json_t *options = json_object_get(e->question->explain, "options");
    enum nn_status status = options
                                ? jx_decode(nn_explain_fields, options, "", &e->options, err)
                                : nn_fail(err, NN_ERR_INTERNAL, "the start record is incomplete");
    const struct nn_explain_subject subject = {e->question->description, e->bind,
                                               question_is_of_signals(e->question)};
    return status == NN_OK ? nn_explain_plan(&e->options, &subject, &e->plan, err) : status;
}

static enum nn_status read_classes(struct explaining *e, struct nn_error *err)
{
    const json_t *names = json_object_get(e->question->detail, "classes");
    size_t n = json_array_size(names);
    e->classes = calloc(n + 1, sizeof *e->classes);
    for (size_t k = 0; e->classes && k < n; k++) {
        const char *name = json_string_value(json_array_get(names, k));
        e->classes[k] = name ? name : "";
    }
    return e->classes ? NN_OK : nn_fail(err, NN_ERR_MEMORY, "no memory");
}

/* Networks from before it was kept have none. */
static void read_mean(struct explaining *e)
{
    const json_t *mean = json_object_get(e->question->detail, "mean");
    e->has_mean =
        json_array_size(mean) == e->bind.channels && e->bind.channels <= NN_SIGNAL_CHANNELS_MAX;
    for (size_t i = 0; e->has_mean && i < e->bind.channels; i++) {
        e->mean[i] = json_number_value(json_array_get(mean, i));
    }
}

/* NN_NO_CLASS for a value that names none. */
static size_t class_of(const struct explaining *e, const json_t *value)
{
    const char *name = json_string_value(value);
    for (size_t k = 0; name && k < e->bind.classes; k++) {
        if (strcmp(e->classes[k], name) == 0) {
            return k;
        }
    }
    return NN_NO_CLASS;
}

/* Whatever is wished, the question goes back to the queue. */
static bool is_left_off(const struct trial_link *link)
{
    return link->cancel || link->pause || link->stop;
}

static bool go_on(void *ctx)
{
    struct trial_link *link = ctx;
    trial_listen(link);
    return !is_left_off(link);
}

static enum nn_status create_explained(struct explaining *e, struct nn_error *err)
{
    struct question *q = e->question;
    const struct trial_explained_setup setup = {
        .explainer = {.description = q->description,
                      .bind = e->bind,
                      .network = q->network,
                      .value_bytes = question_is_of_signals(q) ? sizeof(float) : 1,
                      .plain_operators = q->spec.operators == NN_OPERATORS_PLAIN,
                      .kernels = nn_kernels_get(q->isa),
                      .memory = q->memory},
        .plan = &e->plan,
        .mean = e->has_mean ? e->mean : NULL,
        .classes = e->classes,
        .go_on = go_on,
        .ctx = q->link,
    };
    return trial_explained_create(&setup, &e->explained, err);
}

static void look(struct explaining *e)
{
    const json_t *explain = e->question->explain;
    json_t *facts = json_object_get(explain, "picture");
    facts = json_is_object(facts) ? json_incref(facts)
                                  : json_pack("{s:n, s:n, s:n, s:n, s:n}", "item", "name", "part",
                                              "trial_part", "true");
    const struct trial_explained_picture picture = {
        .values = e->values,
        .truth = class_of(e, json_object_get(facts, "true")),
        .class_index = class_of(e, json_object_get(explain, "class")),
        .facts = facts,
    };
    trial_explained_add_take(e->explained, &picture);
}

static enum nn_status write_answer(struct explaining *e, json_t **out_report, struct nn_error *err)
{
    struct question *q = e->question;
    json_t *detail = NULL;
    if (trial_explained_left_out(e->explained) > 0) {
        return question_refuse(q, SV_ERR_NOT_SUPPORTED,
                               nn_fail(err, NN_ERR_LIMIT, "the array is too large to be kept"));
    }
    enum nn_status status = trial_explained_write(e->explained, &detail, err);
    if (status != NN_OK) {
        return status;
    }
    const nn_real *scores = trial_explained_scores(e->explained);
    *out_report = question_encode_classes(q, scores, trial_explained_probabilities(e->explained));
    if (!*out_report || json_object_update(*out_report, detail) != 0) {
        abort();
    }
    json_decref(detail);
    trial_say_take(q->link, WIRE_ARTEFACT,
                   json_pack("{s:s, s:s}", "kind", "explanations", "path", TRIAL_EXPLAINED_FILE));
    return NN_OK;
}

enum nn_status question_explain(struct question *q, json_t **out_report, struct nn_error *err)
{
    struct explaining explaining = {.question = q};
    struct explaining *e = &explaining;
    enum nn_status status = fit(e, err);
    status = status == NN_OK ? read_options(e, err) : status;
    read_mean(e);
    status = status == NN_OK ? read_classes(e, err) : status;
    status = status == NN_OK ? question_load_network(q, &e->bind, 0, err) : status;
    status = status == NN_OK ? create_explained(e, err) : status;
    if (status == NN_OK) {
        look(e);
        status = is_left_off(q->link) ? nn_fail(err, NN_ERR_CANCELLED, "cancelled")
                                      : write_answer(e, out_report, err);
    }
    explaining_deinit(e);
    return question_refuse(q, q->link->refusal ? q->link->refusal : SV_ERR_INVALID_FIELD, status);
}
