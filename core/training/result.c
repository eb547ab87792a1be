/* SPDX-License-Identifier: MIT
 *
 * The end of a run: chooses the network to keep, completes its statistics, saves and evaluates it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/exchange.h"
#include "core/training/state_internal.h"

static void parts_deinit(struct nn_training_result *result)
{
    for (size_t i = 0; i < NN_PART_COUNT; i++) {
        struct nn_part_result *part = &result->parts[i];
        nn_evaluation_deinit(&part->evaluation);
        nn_memory_free(result->memory, part->predictions);
        free(part->probabilities);
        nn_memory_free(result->memory, part->sequences.sequences);
        nn_memory_free(result->memory, part->sequences.predicted);
        nn_memory_free(result->memory, part->sequences.target);
        *part = (struct nn_part_result){0};
    }
}

void nn_training_result_destroy(struct nn_training_result *result)
{
    if (!result) {
        return;
    }
    parts_deinit(result);
    json_decref(result->summaries);
    nn_profile_deinit(&result->profile);
    free(result);
}

/* Puts the network to keep in place. False when there is none: a run that diverged before its first
 * finite validation or epoch. */
static bool network_choose(struct nn_training_state *state, enum nn_training_outcome outcome)
{
    bool best = state->setup->options.output_network == NN_OUTPUT_BEST_VALIDATION_LOSS &&
                state->at.best_step > 0;
    if (outcome == NN_TRAINING_DIVERGED || best) {
        if (!state->at.has_kept) {
            return false;
        }
        nn_values_set(state->network, state->kept);
    } else {
        nn_average_swap(state);
    }
    return true;
}

/* How the data was scaled, as a text; *out stays NULL where nothing was. */
static enum nn_status scaling_text(const struct nn_training_state *state, char **out,
                                   struct nn_error *err)
{
    if (!state->feed->kind->scaling) {
        return NN_OK;
    }
    json_t *scaling = state->feed->kind->scaling(state->feed);
    *out = scaling ? jx_dump(scaling, NULL) : NULL;
    json_decref(scaling);
    return *out ? NN_OK : nn_fail(err, NN_ERR_MEMORY, "no memory for the scaling of a network");
}

static enum nn_status network_save(struct nn_training_state *state,
                                   struct nn_training_result *result, struct nn_error *err)
{
    char step[24];
    char *scaling = NULL;
    enum nn_status status = scaling_text(state, &scaling, err);
    if (status != NN_OK) {
        return status;
    }
    (void)snprintf(step, sizeof step, "%llu", (unsigned long long)result->step);
    const struct nn_file_pair metadata[] = {
        {"format", "pt"},
        {"step", step},
        {"core_build", state->setup->core_build},
        {"spec_digest", state->setup->spec_digest},
        {"scaling", scaling},
    };
    size_t pairs = sizeof metadata / sizeof metadata[0] - (scaling == NULL);
    int length = snprintf(result->network_path, sizeof result->network_path,
                          "%s/network.safetensors", state->setup->directory);
    if (length < 0 || (size_t)length >= sizeof result->network_path) {
        status = nn_fail(err, NN_ERR_LIMIT, "the path of the run's directory is too long");
    } else {
        status = nn_exchange_save(state->network, result->network_path, NN_FILE_F32, metadata,
                                  pairs, err);
    }
    free(scaling);
    return status;
}

static enum nn_status part_evaluate(struct nn_training_state *state, enum nn_part part,
                                    struct nn_part_result *result, struct nn_error *err)
{
    const struct nn_split_side *side = &state->setup->parts[part];
    if (side->count == 0) {
        return NN_OK;
    }
    const struct nn_feed_kind *feed = state->feed->kind;
    enum nn_status status = feed->predictions_make(state->feed, part, result, err);
    if (status == NN_OK) {
        status = nn_state_evaluate(state, side, "evaluating", result, err);
    }
    if (status == NN_OK) {
        status = feed->finish(state->feed, result, err);
    }
    result->present = status == NN_OK;
    return status;
}

/* The output network on every part. */
static enum nn_status network_finish(struct nn_training_state *state,
                                     struct nn_training_result *result, struct nn_error *err)
{
    enum nn_status status = NN_OK;
    if (state->setup->options.batch_norm_statistics == NN_BATCH_NORM_POPULATION &&
        nn_network_has_batch_norm(state->network)) {
        status = nn_state_population(state, err);
    }
    if (status == NN_OK) {
        status = network_save(state, result, err);
    }
    for (int part = 0; status == NN_OK && part < NN_PART_COUNT; part++) {
        status = part_evaluate(state, (enum nn_part)part, &result->parts[part], err);
    }
    return status;
}

/* What the last update did shows in no step any more, but in what the network says of the samples
 * that made it. */
static bool overflows(const struct nn_training_result *result)
{
    const struct nn_part_result *train = &result->parts[NN_PART_TRAIN];
    double loss = result->task == NN_TASK_CLASSIFICATION
                      ? train->evaluation.loss
                      : train->regression.figure[NN_REGRESSION_LOSS].value;
    return train->present && !isfinite(loss);
}

void nn_training_result_pause(struct nn_training_result *result)
{
    parts_deinit(result);
    result->network_path[0] = '\0';
    result->outcome = NN_TRAINING_PAUSED;
}

static enum nn_status figures_fill(struct nn_training_state *state,
                                   enum nn_training_outcome outcome,
                                   struct nn_training_result *result)
{
    result->memory = state->setup->memory;
    result->outcome = outcome;
    result->task = state->feed->kind->task;
    result->patience_stopped = state->patience_stopped;
    result->step = state->at.step;
    result->total_steps = state->total_steps;
    result->epoch = nn_state_epoch(state);
    result->diverged_step = state->diverged_step;
    result->best_validation_loss = state->at.best_loss;
    result->best_step = state->at.best_step;
    result->plan_bytes = state->setup->memory ? nn_memory_used(state->setup->memory) : 0;
    result->loader_stall_seconds = state->feed->kind->stall_seconds(state->feed);
    result->summaries = nn_points_summaries(&state->log);
    return result->summaries ? nn_profile_fill(state, &result->profile) : NN_ERR_MEMORY;
}

enum nn_status nn_state_finish(struct nn_training_state *state, enum nn_training_outcome outcome,
                               struct nn_training_result **out, struct nn_error *err)
{
    struct nn_training_result *result = calloc(1, sizeof *result);
    if (!result || figures_fill(state, outcome, result) != NN_OK) {
        nn_training_result_destroy(result);
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the result of a run");
    }
    enum nn_status status = NN_OK;
    state->finishing = true;
    if (outcome != NN_TRAINING_PAUSED && network_choose(state, outcome)) {
        status = network_finish(state, result, err);
        if (status == NN_ERR_CANCELLED && state->control == NN_PAUSE) {
            nn_training_result_pause(result);
            status = NN_OK;
        } else if (status == NN_OK && state->diverged_step == 0 && overflows(result)) {
            result->outcome = NN_TRAINING_DIVERGED;
            result->diverged_step = state->at.step;
        }
    }
    if (status != NN_OK) {
        nn_training_result_destroy(result);
        return status;
    }
    result->seconds = nn_now(state) - state->clock.begin;
    *out = result;
    return NN_OK;
}
