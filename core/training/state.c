/* SPDX-License-Identifier: MIT
 *
 * Builds what a run consists of: checks the setup, creates network, solver and buffers under the
 * memory cap. After this nothing in the loop allocates from it, so that a run that is too large is
 * refused before its first step.
 */
#include <math.h>

#include "core/exchange/exchange.h"
#include "core/files/safetensors.h"
#include "core/training/state_internal.h"

/* --- checks ----------------------------------------------------------------------------------- */

static enum nn_status part_check(const struct nn_training_setup *setup, enum nn_part part,
                                 struct nn_error *err)
{
    const struct nn_split_side *side = &setup->parts[part];
    size_t count = nn_prepared_info(setup->prepared)->count;
    for (size_t i = 0; i < side->count; i++) {
        if (side->items[i] >= count) {
            return nn_fail(err, NN_ERR_INVALID, "the %s part names sample %u of %zu",
                           nn_part_name(part), (unsigned)side->items[i], count);
        }
    }
    return NN_OK;
}

static enum nn_status setup_check(const struct nn_training_setup *setup, struct nn_error *err)
{
    const struct nn_prepared_info *info = nn_prepared_info(setup->prepared);
    const struct nn_network_bind *bind = &setup->bind;
    if (setup->parts[NN_PART_TRAIN].count == 0) {
        return nn_fail(err, NN_ERR_INVALID, "there is no sample to train on");
    }
    if (bind->height != info->height || bind->width != info->width ||
        bind->channels != info->channels || bind->classes != info->class_count) {
        return nn_fail(err, NN_ERR_INVALID, "the network is bound to another data set");
    }
    enum nn_status status = NN_OK;
    for (int part = 0; status == NN_OK && part < NN_PART_COUNT; part++) {
        status = part_check(setup, (enum nn_part)part, err);
    }
    return status;
}

/* Training ends in a softmax over the classes; anything else is another kind of job. */
static enum nn_status output_check(const struct nn_training_state *state, struct nn_error *err)
{
    size_t classes = state->setup->bind.classes;
    if (nn_network_output_size(state->network) != classes ||
        !nn_network_ends_in_softmax(state->network)) {
        return nn_fail(err, NN_ERR_INVALID,
                       "the network must end in softmax over the %zu classes of the data set",
                       classes);
    }
    return NN_OK;
}

/* --- parts of a state ------------------------------------------------------------------------- */

static enum nn_status network_make(struct nn_training_state *state, struct nn_error *err)
{
    const struct nn_training_setup *setup = state->setup;
    const struct nn_network_options options = {
        .max_batch = state->max_batch,
        .phase = NN_PHASE_TRAINING,
        .operators = setup->plain_operators ? NN_OPERATORS_PLAIN : NN_OPERATORS_OPTIMISED,
        .kernels = setup->kernels,
        .memory = setup->memory,
        .pool = setup->pool,
    };
    enum nn_status status =
        nn_network_create(setup->description, &setup->bind, &options, &state->network, err);
    if (status == NN_OK) {
        status = output_check(state, err);
    }
    return status;
}

/* "bias" in the options' sense. */
static bool is_bias(const struct nn_parameter *parameter)
{
    return parameter->role == NN_ROLE_BIAS || parameter->role == NN_ROLE_SHIFT;
}

static struct nn_solver_parameter solver_parameter(const struct nn_solver_options *options,
                                                   const struct nn_parameter *parameter)
{
    double factor = is_bias(parameter) ? options->bias_learning_rate_factor
                                       : options->weight_learning_rate_factor;
    return (struct nn_solver_parameter){
        .value = parameter->value,
        .grad = parameter->grad,
        .count = parameter->count,
        .l2_factor = parameter->l2_factor,
        .learning_rate_factor = factor * parameter->learning_rate_factor,
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
            rows[n++] = solver_parameter(options, parameter);
        }
    }
    enum nn_status status =
        nn_solver_create(options, rows, n, state->setup->memory, &state->exec, &state->solver, err);
    nn_memory_free(state->setup->memory, rows);
    return status;
}

static enum nn_status buffers_make(struct nn_training_state *state, struct nn_error *err)
{
    struct nn_memory *memory = state->setup->memory;
    struct nn_evaluation_buffers *buffers = &state->buffers;
    size_t n = state->max_batch;
    buffers->pixels = nn_memory_alloc(memory, n, state->sample_bytes);
    buffers->labels = nn_memory_alloc(memory, n, sizeof *buffers->labels);
    buffers->predicted = nn_memory_alloc(memory, n, sizeof *buffers->predicted);
    buffers->probability = nn_memory_alloc(memory, n, sizeof *buffers->probability);
    buffers->loss = nn_memory_alloc(memory, n, sizeof *buffers->loss);
    state->kept = nn_memory_alloc(memory, state->value_count, sizeof *state->kept);
    state->exec.workspace_bytes = nn_loss_workspace(n);
    state->exec.workspace = nn_memory_alloc(memory, state->exec.workspace_bytes, 1);
    bool ok = buffers->pixels && buffers->labels && buffers->predicted && buffers->probability &&
              buffers->loss && state->kept && state->exec.workspace &&
              nn_points_init(&state->log, memory) == NN_OK;
    if (!ok) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the buffers of a run");
    }
    return nn_evaluator_create(state->setup->bind.classes, &state->evaluator, err);
}

/* The loader does not draw from the cap, so its bytes are asked for here. */
static enum nn_status cap_check(const struct nn_training_state *state, struct nn_error *err)
{
    const struct nn_training_setup *setup = state->setup;
    const struct nn_loader_options loader = {.items = setup->parts[NN_PART_TRAIN].items,
                                             .count = setup->parts[NN_PART_TRAIN].count,
                                             .batch_size = (size_t)setup->options.batch_size,
                                             .epochs = 1};
    size_t needed = nn_loader_bytes(setup->prepared, &loader);
    if (setup->memory && nn_memory_cap(setup->memory) - nn_memory_used(setup->memory) < needed) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the loader's %zu bytes", needed);
    }
    return NN_OK;
}

/* First values: from the seed, or from a file. */
static enum nn_status values_make(struct nn_training_state *state, struct nn_error *err)
{
    nn_values_input_statistics(state);
    nn_network_initialize(state->network, state->setup->seed);
    if (!state->setup->initial_weights) {
        return NN_OK;
    }
    struct nn_safetensors *file = NULL;
    enum nn_status status = nn_safetensors_open(state->setup->initial_weights, NULL, &file, err);
    if (status == NN_OK) {
        status = nn_exchange_load(state->network, file, NN_MATCH_HEAD_KEPT, NULL, err);
        nn_safetensors_close(file);
    }
    return status;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void state_begin(struct nn_training_state *state, const struct nn_training_setup *setup,
                        const struct nn_training_callbacks *calls)
{
    const struct nn_prepared_info *info = nn_prepared_info(setup->prepared);
    size_t batch_size = (size_t)setup->options.batch_size;
    size_t train = setup->parts[NN_PART_TRAIN].count;
    *state = (struct nn_training_state){
        .setup = setup,
        .calls = calls,
        .exec = {.kernels = setup->plain_operators ? nn_kernels_get(NN_ISA_PLAIN)
                            : setup->kernels       ? setup->kernels
                                                   : nn_kernels_best(),
                 .pool = setup->pool},
        .max_batch = train < batch_size ? train : batch_size,
        .sample_bytes = info->height * info->width * info->channels,
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
    enum nn_status status = setup_check(setup, err);
    if (status != NN_OK) {
        return status;
    }
    state_begin(state, setup, calls);
    status = network_make(state, err);
    if (status == NN_OK) {
        state->value_count = nn_values_count(state->network);
        status = solver_make(state, err);
    }
    if (status == NN_OK) {
        status = buffers_make(state, err);
    }
    if (status == NN_OK) {
        status = cap_check(state, err);
    }
    if (status == NN_OK) {
        status = values_make(state, err);
    }
    if (status != NN_OK) {
        nn_state_deinit(state);
    }
    return status;
}

void nn_state_deinit(struct nn_training_state *state)
{
    struct nn_memory *memory = state->setup->memory;
    nn_loader_destroy(state->loader);
    nn_solver_destroy(state->solver);
    nn_network_destroy(state->network);
    nn_evaluator_destroy(state->evaluator);
    nn_memory_free(memory, state->buffers.pixels);
    nn_memory_free(memory, state->buffers.labels);
    nn_memory_free(memory, state->buffers.predicted);
    nn_memory_free(memory, state->buffers.probability);
    nn_memory_free(memory, state->buffers.loss);
    nn_memory_free(memory, state->kept);
    nn_memory_free(memory, state->exec.workspace);
    nn_memory_free(memory, state->log.points);
}
