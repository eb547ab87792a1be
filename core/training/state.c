/* SPDX-License-Identifier: MIT
 *
 * Builds what a run consists of: checks the setup, creates network, solver and buffers under the
 * memory cap. After this nothing in the loop allocates from it, so that a run that is too large is
 * refused before its first step.
 */
#include <fnmatch.h>
#include <math.h>

#include "core/exchange/exchange.h"
#include "core/files/safetensors.h"
#include "core/training/state_internal.h"

/* --- parts of a state ------------------------------------------------------------------------- */

static enum nn_status network_make(struct nn_training_state *state, struct nn_error *err)
{
    const struct nn_training_setup *setup = state->setup;
    const struct nn_network_options options = {
        .max_batch = state->max_batch,
        .max_rows = state->feed->kind->max_rows(state->feed),
        .phase = NN_PHASE_TRAINING,
        .frozen = setup->frozen,
        .n_frozen = setup->n_frozen,
        .operators = setup->plain_operators ? NN_OPERATORS_PLAIN : NN_OPERATORS_OPTIMISED,
        .kernels = setup->kernels,
        .memory = setup->memory,
        .pool = setup->pool,
    };
    return nn_network_create(setup->description, &setup->bind, &options, &state->network, err);
}

/* "bias" in the options' sense. */
static bool is_bias(const struct nn_parameter *parameter)
{
    return parameter->role == NN_ROLE_BIAS || parameter->role == NN_ROLE_SHIFT;
}

/* The last row whose pattern fits the layer. */
static struct nn_layer_factor layer_factor(const struct nn_training_setup *setup, const char *layer)
{
    for (size_t i = setup->n_factors; i-- > 0;) {
        if (fnmatch(setup->factors[i].pattern, layer, 0) == 0) {
            return setup->factors[i];
        }
    }
    return (struct nn_layer_factor){.factor = 1, .l2_factor = 1};
}

static enum nn_status factors_check(const struct nn_training_state *state, struct nn_error *err)
{
    size_t n = nn_network_parameter_count(state->network);
    for (size_t k = 0; k < state->setup->n_factors; k++) {
        const char *pattern = state->setup->factors[k].pattern;
        size_t i = 0;
        while (i < n && fnmatch(pattern, nn_network_parameter(state->network, i)->layer, 0) != 0) {
            i++;
        }
        if (i == n) {
            return nn_fail(err, NN_ERR_INVALID,
                           "no layer that learns has a name that fits \"%.64s\"", pattern);
        }
    }
    return NN_OK;
}

static struct nn_solver_parameter solver_parameter(const struct nn_training_setup *setup,
                                                   const struct nn_parameter *parameter)
{
    const struct nn_solver_options *options = &setup->options.solver;
    double factor = is_bias(parameter) ? options->bias_learning_rate_factor
                                       : options->weight_learning_rate_factor;
    struct nn_layer_factor layer = layer_factor(setup, parameter->layer);
    return (struct nn_solver_parameter){
        .value = parameter->value,
        .grad = parameter->grad,
        .count = parameter->count,
        .l2_factor = layer.l2_factor * parameter->l2_factor,
        .learning_rate_factor = factor * layer.factor * parameter->learning_rate_factor,
    };
}

static enum nn_status solver_make(struct nn_training_state *state, struct nn_error *err)
{
    const struct nn_solver_options *options = &state->setup->options.solver;
    size_t all = nn_network_parameter_count(state->network);
    struct nn_solver_parameter *rows = nn_memory_alloc(state->setup->memory, all, sizeof *rows);
    if (!rows) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the solver");
    }
    size_t n = 0;
    for (size_t i = 0; i < all; i++) {
        const struct nn_parameter *parameter = nn_network_parameter(state->network, i);
        if (parameter->trainable) {
            rows[n++] = solver_parameter(state->setup, parameter);
        }
    }
    enum nn_status status = factors_check(state, err);
    if (status == NN_OK) {
        status = nn_solver_create(options, rows, n, state->setup->memory, &state->exec,
                                  &state->solver, err);
    }
    nn_memory_free(state->setup->memory, rows);
    return status;
}

static enum nn_status buffers_make(struct nn_training_state *state, struct nn_error *err)
{
    struct nn_memory *memory = state->setup->memory;
    bool averages = state->setup->options.ema_decay > 0;
    state->kept = nn_memory_alloc(memory, state->value_count, sizeof *state->kept);
    if (averages) {
        state->average = nn_memory_alloc(memory, state->value_count, sizeof *state->average);
    }
    if (!state->kept || (averages && !state->average) ||
        nn_points_init(&state->log, memory) != NN_OK) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the buffers of a run");
    }
    return state->feed->kind->attach(state->feed, state->network, &state->exec, err);
}

/* First values: from a checkpoint, from the seed, or from a file. */
static enum nn_status values_make(struct nn_training_state *state, struct nn_error *err)
{
    state->feed->kind->input_statistics(state->feed);
    nn_network_initialize(state->network, state->setup->seed);
    if (state->setup->initial_checkpoint) {
        return nn_checkpoint_values(state, state->setup->initial_checkpoint, err);
    }
    if (!state->setup->initial_weights) {
        return NN_OK;
    }
    struct nn_safetensors *file = NULL;
    enum nn_status status = NN_OK;
    if (state->setup->initial_head == NN_MATCH_HEAD_REPLACED) {
        status = nn_values_new_head(state, err);
    }
    if (status == NN_OK) {
        status = nn_safetensors_open(state->setup->initial_weights, NULL, &file, err);
    }
    if (status == NN_OK) {
        status = nn_exchange_load(state->network, file, state->setup->initial_head, NULL, err);
        nn_safetensors_close(file);
    }
    return status;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void state_begin(struct nn_training_state *state, const struct nn_training_setup *setup,
                        const struct nn_training_callbacks *calls)
{
    size_t train = setup->parts[NN_PART_TRAIN].count;
    *state = (struct nn_training_state){
        .setup = setup,
        .calls = calls,
        .exec = {.kernels = setup->plain_operators ? nn_kernels_get(NN_ISA_PLAIN)
                            : setup->kernels       ? setup->kernels
                                                   : nn_kernels_best(),
                 .pool = setup->pool},
        .max_batch = nn_training_max_batch(&setup->options, train),
        .steps_per_epoch = nn_training_steps_per_epoch(&setup->options, train),
        .at = {.best_loss = NAN},
        .checkpoint_step = UINT64_MAX,
        .time = setup->clock ? setup->clock : nn_system_clock,
        .time_ctx = setup->clock_ctx,
    };
    state->total_steps = state->steps_per_epoch * (uint64_t)setup->options.epochs;
    state->clock.begin = nn_now(state);
    state->clock.progress_at = state->clock.begin;
    state->log.delivered_at = state->clock.begin;
    state->checkpoint_at = state->clock.begin;
}

enum nn_status nn_state_init(struct nn_training_state *state, const struct nn_training_setup *setup,
                             const struct nn_training_callbacks *calls, struct nn_error *err)
{
    state_begin(state, setup, calls);
    enum nn_status status = nn_feed_create(setup, state->max_batch, &state->feed, err);
    if (status == NN_OK) {
        status = network_make(state, err);
    }
    if (status == NN_OK) {
        state->value_count = nn_values_count(state->network);
        status = solver_make(state, err);
    }
    if (status == NN_OK) {
        status = buffers_make(state, err);
    }
    if (status == NN_OK) {
        status = values_make(state, err);
    }
    if (status == NN_OK && state->average) {
        nn_values_get(state->network, state->average);
    }
    if (status != NN_OK) {
        nn_state_deinit(state);
    }
    return status;
}

void nn_state_deinit(struct nn_training_state *state)
{
    struct nn_memory *memory = state->setup->memory;
    if (state->feed) {
        state->feed->kind->destroy(state->feed);
    }
    nn_solver_destroy(state->solver);
    nn_network_destroy(state->network);
    nn_memory_free(memory, state->kept);
    nn_memory_free(memory, state->average);
    nn_memory_free(memory, state->log.points);
}
