/* SPDX-License-Identifier: MIT
 *
 * Running a network: load, forward, backward. No checks beyond assertions on our own calls, no
 * allocation.
 */
#include <string.h>

#include "core/network/network_internal.h"

static double now(const struct nn_network *network)
{
    return network->clock ? network->clock(network->clock_ctx) : 0;
}

/* ---- input ---- */

static struct nn_view input_view(const struct nn_network *network)
{
    return network->tensors[network->input].value.view;
}

void nn_network_set_factors(struct nn_network *network)
{
    const struct nn_placed *input = &network->placed[network->graph->input];
    nn_input_factors(input, nn_input_normalisation(input->layer, &network->bind),
                     &network->factors);
}

static void count_load(struct nn_network *network, double began)
{
    network->load_seconds += now(network) - began;
    network->load_calls++;
    network->first_pass = 0;
}

void nn_network_load_sequences(struct nn_network *network, const struct nn_sequence_batch *batch)
{
    double began = now(network);
    nn_network_pack_sequences(network, batch);
    count_load(network, began);
}

void nn_network_load_u8(struct nn_network *network, const uint8_t *pixels, size_t batch)
{
    NN_ASSERT(batch > 0 && batch <= network->options.max_batch);
    double began = now(network);
    struct nn_shape shape = network->tensors[network->input].shape;
    struct nn_view x = input_view(network);
    nn_network_set_factors(network);
    nn_normalize_u8(&network->exec, x.data, x.ld, pixels, batch * shape.height * shape.width,
                    shape.channels, network->factors.factor, network->factors.offset);
    count_load(network, began);
}

/* One sample of floats on the 0..255 scale. */
struct load_real {
    const struct nn_network *network;
    const nn_real *pixels; /* or NULL and: */
    const float *values;
};

static void load_sample(void *ctx, size_t chunk, size_t lane)
{
    (void)lane;
    const struct load_real *load = ctx;
    const struct nn_network *network = load->network;
    const struct nn_input_factors *f = &network->factors;
    size_t channels = network->tensors[network->input].shape.channels;
    size_t count = nn_network_input_size(network);
    const nn_real *pixels = load->pixels ? load->pixels + chunk * count : NULL;
    const float *values = load->pixels ? NULL : load->values + chunk * count;
    nn_real *dst = input_view(network).data + chunk * count;
    for (size_t i = 0; i < count; i += channels) {
        for (size_t c = 0; c < channels; c++) {
            nn_real value = pixels ? pixels[i + c] : (nn_real)values[i + c];
            dst[i + c] = value * f->factor[c] + f->offset[c];
        }
    }
}

static void load_all(struct nn_network *network, struct load_real load, size_t batch)
{
    NN_ASSERT(batch > 0 && batch <= network->options.max_batch);
    double began = now(network);
    nn_network_set_factors(network);
    nn_parallel_for(network->exec.pool, batch, load_sample, &load);
    count_load(network, began);
}

void nn_network_load_real(struct nn_network *network, const nn_real *pixels, size_t batch)
{
    load_all(network, (struct load_real){.network = network, .pixels = pixels}, batch);
}

void nn_network_load_f32(struct nn_network *network, const float *values, size_t batch)
{
    load_all(network, (struct load_real){.network = network, .values = values}, batch);
}

nn_real *nn_network_input(struct nn_network *network)
{
    network->first_pass = 0;
    return input_view(network).data;
}

size_t nn_network_input_size(const struct nn_network *network)
{
    struct nn_shape shape = network->tensors[network->input].shape;
    return shape.height * shape.width * shape.channels;
}

/* ---- forward ---- */

/* What a pass runs with: on sequences every step is a row, as a sample is elsewhere. */
static struct nn_run run_of(const struct nn_network *network, const struct nn_pass *pass,
                            enum nn_phase phase, size_t batch)
{
    struct nn_run run = {
        .exec = &network->exec, .phase = phase, .batch = batch, .step = &network->step};
    if (pass->sequence) {
        run.batch = nn_rows_count(&network->rows);
        run.rows = &network->rows;
    }
    return run;
}

void nn_network_run_passes(struct nn_network *network, size_t batch, enum nn_phase phase,
                           size_t end)
{
    network->phase = phase;
    for (size_t p = network->first_pass; p < end; p++) {
        struct nn_pass_state *state = &network->passes[p];
        if (state->auxiliary && phase == NN_PHASE_INFERENCE) {
            continue;
        }
        struct nn_run run = run_of(network, &state->pass, phase, batch);
        double began = now(network);
        state->pass.op->forward(&state->pass, &run, state->x,
                                network->tensors[state->output].value.view);
        state->forward_seconds += now(network) - began;
        state->forward_calls++;
    }
}

void nn_network_forward(struct nn_network *network, size_t batch, enum nn_phase phase,
                        const struct nn_step *step)
{
    NN_ASSERT(batch > 0 && batch <= network->options.max_batch);
    NN_ASSERT(!nn_network_takes_sequences(network) || batch == network->rows.batch);
    NN_ASSERT(phase == NN_PHASE_INFERENCE || network->options.phase == NN_PHASE_TRAINING);
    network->step = step ? *step : (struct nn_step){0};
    nn_network_run_passes(network, batch, phase, network->n_passes);
}

const nn_real *nn_network_output(const struct nn_network *network)
{
    return network->tensors[network->output].value.view.data;
}

size_t nn_network_output_size(const struct nn_network *network)
{
    struct nn_shape shape = network->tensors[network->output].shape;
    return shape.height * shape.width * shape.channels;
}

bool nn_network_ends_in_softmax(const struct nn_network *network)
{
    return network->graph->ends_in_softmax;
}

const nn_real *nn_network_probabilities(struct nn_network *network, size_t batch)
{
    const struct nn_tensor *output = &network->tensors[network->output];
    size_t channels = output->shape.channels;
    nn_softmax_forward(&network->exec, network->probabilities, channels, nn_network_output(network),
                       channels, nn_tensor_rows(network, output, batch), channels);
    return network->probabilities;
}

/* ---- backward ---- */

nn_real *nn_network_output_gradient(struct nn_network *network)
{
    return network->tensors[network->output].gradient.view.data;
}

size_t nn_network_auxiliary_count(const struct nn_network *network)
{
    return network->n_auxiliary;
}

struct nn_auxiliary nn_network_auxiliary(const struct nn_network *network, size_t i)
{
    NN_ASSERT(i < network->n_auxiliary);
    const struct nn_description *graph = network->graph;
    const struct nn_tensor *scores = &network->tensors[network->auxiliary[i]];
    size_t node = 0, found = 0;
    while (graph->nodes[node].layer.kind != &nn_kind_auxiliary_loss || found++ < i) {
        node++;
    }
    return (struct nn_auxiliary){.layer = graph->nodes[node].layer.name,
                                 .weight = nn_auxiliary_weight(&graph->nodes[node].layer),
                                 .scores = scores->value.view.data,
                                 .gradient = scores->gradient.view.data};
}

/* Nothing is learned from auxiliary losses in an EXPLANATION. */
static void zero_auxiliary(const struct nn_network *network, size_t batch)
{
    for (size_t i = 0; i < network->n_auxiliary; i++) {
        const struct nn_tensor *scores = &network->tensors[network->auxiliary[i]];
        memset(scores->gradient.view.data, 0, batch * scores->shape.channels * sizeof(nn_real));
    }
}

/* The gradient of a kept tensor is complete now and may be overwritten by its own pass. */
static void keep_gradient(const struct nn_network *network, const struct nn_tensor *tensor,
                          size_t batch)
{
    if (tensor->kept_gradient) {
        struct nn_view d_y = tensor->gradient.view;
        nn_copy(&network->exec, tensor->kept_gradient, tensor->shape.channels, false, d_y.data,
                d_y.ld, nn_tensor_rows(network, tensor, batch), tensor->shape.channels);
    }
}

static void announce(const struct nn_network *network, const struct nn_pass *pass)
{
    for (size_t i = 0; network->gradient_ready && i < NN_PATTERN_MAX && pass->layers[i]; i++) {
        const struct nn_placed *placed = pass->layers[i];
        for (size_t k = 0; k < placed->plan.n_parameters; k++) {
            if (placed->parameters[k].trainable) {
                network->gradient_ready(network->gradient_ready_ctx,
                                        (size_t)(&placed->parameters[k] - network->parameters));
            }
        }
    }
}

static void run_backward(struct nn_network *network, struct nn_pass_state *state,
                         const struct nn_run *run)
{
    const struct nn_tensor *output = &network->tensors[state->output];
    const struct nn_backward args = {
        .x = state->x, .y = output->value.view, .d_y = output->gradient.view, .d_x = state->d_x};
    double began = now(network);
    state->pass.op->backward(&state->pass, run, &args);
    state->backward_seconds += now(network) - began;
    state->backward_calls++;
}

void nn_network_backward(struct nn_network *network, size_t batch)
{
    NN_ASSERT(network->options.phase == NN_PHASE_TRAINING);
    NN_ASSERT(network->phase == NN_PHASE_TRAINING || network->phase == NN_PHASE_EXPLANATION);
    if (network->phase == NN_PHASE_EXPLANATION) {
        zero_auxiliary(network, batch);
    }
    for (size_t p = network->n_passes; p-- > 0;) {
        struct nn_pass_state *state = &network->passes[p];
        struct nn_run run = run_of(network, &state->pass, network->phase, batch);
        keep_gradient(network, &network->tensors[state->output], batch);
        if (state->pass.backward) {
            run_backward(network, state, &run);
            announce(network, &state->pass);
        }
    }
}

void nn_network_on_gradient(struct nn_network *network, nn_gradient_ready_fn fn, void *ctx)
{
    network->gradient_ready = fn;
    network->gradient_ready_ctx = ctx;
}

bool nn_network_activation(const struct nn_network *network, const char *layer,
                           struct nn_layer_view *out)
{
    for (size_t t = 0; t < network->n_tensors; t++) {
        const struct nn_tensor *tensor = &network->tensors[t];
        bool is_input = t == network->input;
        const char *name = network->graph->nodes[tensor->node].layer.name;
        if ((tensor->kept || is_input) && strcmp(name, layer) == 0) {
            *out = (struct nn_layer_view){
                .data = tensor->value.view.data,
                .ld = tensor->value.view.ld,
                .grad = is_input ? tensor->gradient.view.data : tensor->kept_gradient,
                .grad_ld = tensor->shape.channels,
                .height = tensor->shape.height,
                .width = tensor->shape.width,
                .channels = tensor->shape.channels,
                .sequence = tensor->sequence,
            };
            return true;
        }
    }
    return false;
}

/* ---- population statistics ---- */

static void statistics(struct nn_network *network, enum nn_statistics what)
{
    for (size_t p = 0; p < network->n_passes; p++) {
        const struct nn_pass *pass = &network->passes[p].pass;
        if (pass->op->statistics) {
            pass->op->statistics(pass, what);
        }
    }
}

void nn_network_statistics_begin(struct nn_network *network)
{
    statistics(network, NN_STATISTICS_BEGIN);
}

void nn_network_statistics_finish(struct nn_network *network)
{
    statistics(network, NN_STATISTICS_FINISH);
}

bool nn_network_has_batch_norm(const struct nn_network *network)
{
    for (size_t p = 0; p < network->n_passes; p++) {
        if (network->passes[p].pass.op->statistics) {
            return true;
        }
    }
    return false;
}

/* ---- profile ---- */

void nn_network_set_clock(struct nn_network *network, nn_clock_fn clock, void *ctx)
{
    network->clock = clock;
    network->clock_ctx = ctx;
}

size_t nn_network_profile_count(const struct nn_network *network)
{
    return 1 + network->n_passes;
}

struct nn_profile_row nn_network_profile(const struct nn_network *network, size_t i)
{
    NN_ASSERT(i <= network->n_passes);
    if (i == 0) {
        return (struct nn_profile_row){
            .layers = network->graph->nodes[network->graph->input].layer.name,
            .operator_name = network->graph->nodes[network->graph->input].layer.kind->name,
            .forward_seconds = network->load_seconds,
            .forward_calls = network->load_calls,
        };
    }
    const struct nn_pass_state *state = &network->passes[i - 1];
    return (struct nn_profile_row){
        .layers = state->label,
        .operator_name = state->pass.op->name,
        .forward_seconds = state->forward_seconds,
        .backward_seconds = state->backward_seconds,
        .forward_calls = state->forward_calls,
        .backward_calls = state->backward_calls,
    };
}

void nn_network_profile_reset(struct nn_network *network)
{
    network->load_seconds = 0;
    network->load_calls = 0;
    for (size_t p = 0; p < network->n_passes; p++) {
        struct nn_pass_state *state = &network->passes[p];
        state->forward_seconds = state->backward_seconds = 0;
        state->forward_calls = state->backward_calls = 0;
    }
}
