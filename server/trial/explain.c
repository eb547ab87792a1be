/* SPDX-License-Identifier: MIT
 *
 * Explanations of a finished trial: maps of the class that was predicted, and of the true one where
 * that is another, and activations, of the samples that the job asked for. They leave as one
 * artefact of kind "explanations" (explained_internal.h says its form).
 */
#include <stdio.h>
#include <stdlib.h>

#include "server/trial/explained_internal.h"

/* What is being made; destroyed in reverse. */
struct making {
    struct trial_link *link;
    const struct trial_start *start;
    const struct trial_ground *ground;
    struct nn_training_setup setup;
    struct nn_explain_plan plan;
    double mean[NN_SIGNAL_CHANNELS_MAX];
    const char **classes;
    struct nn_network *network;
    struct trial_explained *explained;
};

static void making_deinit(struct making *m)
{
    trial_explained_destroy(m->explained);
    nn_network_destroy(m->network);
    free(m->classes);
}

static const char **class_names(const struct nn_prepared *prepared)
{
    size_t n = nn_prepared_info(prepared)->class_count;
    const char **names = calloc(n, sizeof *names);
    for (size_t k = 0; names && k < n; k++) {
        names[k] = nn_prepared_class_name(prepared, k);
    }
    return names;
}

static enum nn_status load_network(struct making *m, const char *path, struct nn_error *err)
{
    const struct nn_network_options options = {
        .max_batch = 1,
        .phase = NN_PHASE_INFERENCE,
        .operators = m->setup.plain_operators ? NN_OPERATORS_PLAIN : NN_OPERATORS_OPTIMISED,
        .kernels = m->setup.kernels,
        .memory = m->setup.memory,
        .pool = m->setup.pool,
    };
    return trial_network_load(m->setup.description, &m->setup.bind, &options, path, &m->network,
                              err);
}

static bool is_left_off(const struct trial_link *link)
{
    return link->cancel || link->pause;
}

/* A sign of life. */
static bool go_on(void *ctx)
{
    struct trial_link *link = ctx;
    trial_listen(link);
    trial_say_phase(link, "explaining");
    return !is_left_off(link);
}

static enum nn_status prepare(struct making *m, const char *path, struct nn_error *err)
{
    const struct nn_split_side *train = &m->setup.parts[NN_PART_TRAIN];
    size_t value_bytes = nn_prepared_info(m->ground->prepared)->value_bytes;
    const struct nn_explain_subject subject = {m->setup.description, m->setup.bind,
                                               value_bytes == sizeof(float)};
    enum nn_status status = nn_explain_plan(&m->start->spec.explain, &subject, &m->plan, err);
    status = status == NN_OK ? load_network(m, path, err) : status;
    m->classes = class_names(m->ground->prepared);
    nn_prepared_mean(m->ground->prepared, train->items, train->count, m->mean);
    if (status != NN_OK || !m->classes) {
        return status != NN_OK ? status : nn_fail(err, NN_ERR_MEMORY, "no memory");
    }
    const struct trial_explained_setup setup = {
        .explainer = {.description = m->setup.description,
                      .bind = m->setup.bind,
                      .network = m->network,
                      .value_bytes = value_bytes,
                      .plain_operators = m->setup.plain_operators,
                      .kernels = m->setup.kernels,
                      .memory = m->setup.memory,
                      .pool = m->setup.pool},
        .plan = &m->plan,
        .mean = m->mean,
        .classes = m->classes,
        .go_on = go_on,
        .ctx = m->link,
    };
    return trial_explained_create(&setup, &m->explained, err);
}

/* What an item was for in the trial: each stands on one side of its split. */
static const char *side_of(const struct making *m, size_t item)
{
    for (int part = 0; part < NN_PART_COUNT; part++) {
        const struct nn_split_side *side = &m->setup.parts[part];
        for (size_t i = 0; i < side->count; i++) {
            if (side->items[i] == item) {
                return nn_part_name((enum nn_part)part);
            }
        }
    }
    return NULL;
}

static void explain_picture(struct making *m, size_t item)
{
    const struct nn_prepared *prepared = m->ground->prepared;
    size_t truth = nn_prepared_label(prepared, item);
    json_t *facts = json_pack("{s:I, s:o, s:s, s:s?, s:o}", "item", (json_int_t)item, "name",
                              jx_text(nn_prepared_item_name(prepared, item), SIZE_MAX), "part",
                              nn_part_name(nn_prepared_part(prepared, item)), "trial_part",
                              side_of(m, item), "true", jx_text(m->classes[truth], SIZE_MAX));
    const struct trial_explained_picture picture = {.values = nn_prepared_pixels(prepared, item),
                                                    .facts = facts,
                                                    .truth = truth,
                                                    .class_index = NN_NO_CLASS};
    trial_explained_add_take(m->explained, &picture);
}

static void explain_all(struct making *m)
{
    size_t items[NN_EXPLAIN_SAMPLES_MAX];
    const struct nn_split_side *part = &m->setup.parts[m->plan.part];
    size_t n = nn_explain_choose(&m->plan, m->ground->prepared, part->items, part->count, items);
    for (size_t i = 0; i < n && go_on(m->link); i++) {
        explain_picture(m, items[i]);
    }
}

static enum nn_status say_file(struct making *m, struct nn_error *err)
{
    json_t *detail = NULL;
    enum nn_status status = trial_explained_write(m->explained, &detail, err);
    if (status == NN_OK) {
        trial_say_take(m->link, WIRE_ARTEFACT,
                       json_pack("{s:s, s:s, s:s, s:o}", "kind", "explanations", "path",
                                 TRIAL_EXPLAINED_FILE, "media_type", "application/octet-stream",
                                 "detail", detail));
    }
    return status;
}

bool trial_say_explanations(struct trial_link *link, const struct trial_start *start,
                            const struct nn_training_result *result,
                            const struct trial_ground *ground)
{
    struct nn_error err = {0};
    char text[400];
    if (!start->spec.explain_given || !ground->prepared || !result->network_path[0]) {
        return true;
    }
    struct making making = {.link = link, .start = start, .ground = ground};
    trial_ground_setup(start, ground, &making.setup);
    bool left_off = false;
    enum nn_status status = prepare(&making, result->network_path, &err);
    if (status == NN_OK) {
        explain_all(&making);
        left_off = is_left_off(link);
        status = left_off ? NN_OK : say_file(&making, &err);
    }
    size_t left_out = status == NN_OK ? trial_explained_left_out(making.explained) : 0;
    if (status != NN_OK) {
        (void)snprintf(text, sizeof text, "nothing is explained: %s", err.text);
        trial_say_log(link, "warn", text);
    } else if (left_out > 0) {
        (void)snprintf(text, sizeof text, "%zu arrays are too large to be kept", left_out);
        trial_say_log(link, "warn", text);
    }
    making_deinit(&making);
    return !left_off;
}
