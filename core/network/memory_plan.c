/* SPDX-License-Identifier: MIT
 *
 * One block for all numbers of a network. Pieces that are never alive at the same time share bytes:
 * the largest are placed first, each at the lowest offset where nothing alive with it lies.
 */
#include <stdlib.h>
#include <string.h>

#include "core/network/network_internal.h"

static size_t add_piece(struct nn_network *network, size_t bytes, size_t first, size_t last)
{
    network->pieces[network->n_pieces] =
        (struct nn_piece_plan){.bytes = bytes, .first = first, .last = last};
    return network->n_pieces++;
}

static size_t add_lasting(struct nn_network *network, size_t bytes)
{
    return add_piece(network, bytes, 0, NN_TIME_END);
}

static size_t real_bytes(size_t count)
{
    return nn_padded_count(count) * sizeof(nn_real);
}

/* Counts were bounded when the parameters were planned. */
static size_t tensor_count(const struct nn_network *network, const struct nn_tensor *tensor)
{
    return nn_tensor_rows_max(network, tensor) * tensor->shape.channels;
}

/* Bytes of the layout of packed sequences. */
static size_t packing_bytes(const struct nn_network *network)
{
    const struct nn_network_options *options = &network->options;
    size_t count = nn_rows_pack_count(options->max_batch, options->max_rows);
    return options->max_rows > 0 ? (count * sizeof(size_t) + 63) / 64 * 64 : 0;
}

static void add_tensors(struct nn_network *network)
{
    bool training = network->options.phase == NN_PHASE_TRAINING;
    for (size_t t = 0; t < network->n_tensors; t++) {
        struct nn_tensor *tensor = &network->tensors[t];
        size_t bytes = real_bytes(tensor_count(network, tensor));
        if (tensor->value.in == NN_NONE) {
            tensor->value.piece =
                add_piece(network, bytes, tensor->value.first, tensor->value.last);
        }
        if (tensor->wants_gradient && tensor->gradient.in == NN_NONE) {
            tensor->gradient.piece =
                add_piece(network, bytes, tensor->gradient.first, tensor->gradient.last);
        }
        bool copied = training && tensor->kept && tensor->producer != NN_NONE;
        tensor->kept_piece = copied ? add_lasting(network, bytes) : NN_NONE;
    }
}

static void add_passes(struct nn_network *network)
{
    size_t scratch = 0;
    size_t workspace = 0;
    for (size_t p = 0; p < network->n_passes; p++) {
        struct nn_pass_state *state = &network->passes[p];
        size_t last = state->pass.backward ? nn_time_backward(network, p) : p;
        state->saved_piece = add_piece(network, state->plan.saved_bytes, p, last);
        state->kept_piece = add_lasting(network, state->plan.kept_bytes);
        scratch = state->plan.scratch_bytes > scratch ? state->plan.scratch_bytes : scratch;
        workspace =
            state->plan.workspace_bytes > workspace ? state->plan.workspace_bytes : workspace;
    }
    network->scratch_piece = add_lasting(network, scratch);
    network->workspace_piece = add_lasting(network, (workspace + 63) / 64 * 64);
}

static void add_blocks(struct nn_network *network)
{
    bool own = network->options.weights_of == NULL;
    bool training = network->options.phase == NN_PHASE_TRAINING;
    const struct nn_tensor *output = &network->tensors[network->output];
    size_t channels = network->tensors[network->input].shape.channels;
    network->values_piece = add_lasting(network, own ? real_bytes(network->values_count) : 0);
    network->states_piece = add_lasting(network, own ? real_bytes(network->states_count) : 0);
    network->grads_piece = add_lasting(network, training ? real_bytes(network->values_count) : 0);
    network->probabilities_piece = add_lasting(network, real_bytes(tensor_count(network, output)));
    network->factors_piece = add_lasting(network, 3 * real_bytes(channels));
    network->packing_piece = add_lasting(network, packing_bytes(network));
}

/* ---- offsets ---- */

static bool meet(const struct nn_piece_plan *a, const struct nn_piece_plan *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Larger first; equal ones by position, so that the order is total. */
static int compare_pieces(const void *a, const void *b)
{
    const struct nn_piece_plan *x = *(const struct nn_piece_plan *const *)a;
    const struct nn_piece_plan *y = *(const struct nn_piece_plan *const *)b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return x < y ? -1 : 1;
}

/* The lowest offset at which the piece touches none of the placed ones (sorted by offset). */
static bool find_offset(const struct nn_piece_plan *piece, struct nn_piece_plan *const *by_offset,
                        size_t n, size_t *out)
{
    size_t offset = 0;
    for (size_t i = 0; i < n; i++) {
        const struct nn_piece_plan *other = by_offset[i];
        size_t end;
        if (!meet(piece, other) || other->offset + other->bytes <= offset) {
            continue;
        }
        if (!nn_size_add(offset, piece->bytes, &end)) {
            return false;
        }
        if (end <= other->offset) {
            break;
        }
        offset = other->offset + other->bytes;
    }
    *out = offset;
    return true;
}

static void insert_by_offset(struct nn_piece_plan **by_offset, size_t n,
                             struct nn_piece_plan *piece)
{
    size_t i = n;
    while (i > 0 && by_offset[i - 1]->offset > piece->offset) {
        by_offset[i] = by_offset[i - 1];
        i--;
    }
    by_offset[i] = piece;
}

static enum nn_status place_pieces(struct nn_network *network, struct nn_piece_plan **by_size,
                                   struct nn_piece_plan **by_offset, struct nn_error *err)
{
    for (size_t i = 0; i < network->n_pieces; i++) {
        by_size[i] = &network->pieces[i];
    }
    qsort(by_size, network->n_pieces, sizeof(struct nn_piece_plan *), compare_pieces);
    for (size_t i = 0; i < network->n_pieces; i++) {
        size_t end;
        if (!find_offset(by_size[i], by_offset, i, &by_size[i]->offset) ||
            !nn_size_add(by_size[i]->offset, by_size[i]->bytes, &end)) {
            return nn_fail(err, NN_ERR_LIMIT, "the network needs more memory than can be counted");
        }
        network->bytes = end > network->bytes ? end : network->bytes;
        insert_by_offset(by_offset, i, by_size[i]);
    }
    return NN_OK;
}

enum nn_status nn_plan_memory(struct nn_network *network, struct nn_error *err)
{
    size_t most = 3 * network->n_tensors + 2 * network->n_passes + 9;
    network->pieces = nn_arena_alloc(network->arena, most, sizeof *network->pieces);
    struct nn_piece_plan **by_size = nn_arena_alloc(network->arena, most, sizeof(void *));
    struct nn_piece_plan **by_offset = nn_arena_alloc(network->arena, most, sizeof(void *));
    if (!network->pieces || !by_size || !by_offset) {
        return NN_ERR_MEMORY;
    }
    add_blocks(network);
    add_tensors(network);
    add_passes(network);
    NN_ASSERT(network->n_pieces <= most);
    return place_pieces(network, by_size, by_offset, err);
}

/* ---- pointers ---- */

static void *piece_at(const struct nn_network *network, size_t piece)
{
    return network->block + network->pieces[piece].offset;
}

static struct nn_view resolve(const struct nn_network *network, size_t tensor, bool gradient)
{
    const struct nn_tensor *t = &network->tensors[tensor];
    const struct nn_place *place = gradient ? &t->gradient : &t->value;
    if (place->in == NN_NONE) {
        return (struct nn_view){piece_at(network, place->piece), t->shape.channels};
    }
    struct nn_view view = resolve(network, place->in, gradient);
    view.data += place->column;
    view.ld = place->dense ? t->shape.channels : view.ld;
    return view;
}

static void bind_tensors(struct nn_network *network)
{
    for (size_t t = 0; t < network->n_tensors; t++) {
        struct nn_tensor *tensor = &network->tensors[t];
        tensor->value.view = resolve(network, t, false);
        if (tensor->wants_gradient) {
            tensor->gradient.view = resolve(network, t, true);
        }
        if (tensor->kept_piece != NN_NONE) {
            tensor->kept_gradient = piece_at(network, tensor->kept_piece);
        }
    }
}

static void bind_passes(struct nn_network *network)
{
    for (size_t p = 0; p < network->n_passes; p++) {
        struct nn_pass_state *state = &network->passes[p];
        state->pass.saved = piece_at(network, state->saved_piece);
        state->pass.kept = piece_at(network, state->kept_piece);
        state->pass.scratch = piece_at(network, network->scratch_piece);
        for (size_t k = 0; k < state->pass.n_in; k++) {
            const struct nn_tensor *x = &network->tensors[state->inputs[k]];
            state->x[k] = x->value.view;
            state->d_x[k] = (struct nn_gradient){x->gradient.view, state->adds[k]};
        }
    }
}

static void bind_parameters(struct nn_network *network)
{
    const struct nn_network *source = network->options.weights_of;
    nn_real *states = piece_at(network, network->states_piece);
    bool training = network->options.phase == NN_PHASE_TRAINING;
    network->values =
        source || network->values_count == 0 ? NULL : piece_at(network, network->values_piece);
    network->grads =
        training && network->values_count > 0 ? piece_at(network, network->grads_piece) : NULL;
    for (size_t i = 0; i < network->n_parameters; i++) {
        struct nn_parameter *parameter = &network->parameters[i];
        size_t offset = network->value_offsets[i];
        if (source) {
            parameter->value = source->parameters[i].value;
        } else {
            parameter->value = (parameter->trainable ? network->values : states) + offset;
        }
        parameter->grad = network->grads && parameter->trainable ? network->grads + offset : NULL;
    }
}

void nn_network_bind_memory(struct nn_network *network)
{
    bind_parameters(network);
    bind_tensors(network);
    bind_passes(network);
    network->probabilities = piece_at(network, network->probabilities_piece);
    size_t channels = nn_padded_count(network->tensors[network->input].shape.channels);
    nn_real *factors = piece_at(network, network->factors_piece);
    network->factors =
        (struct nn_input_factors){factors, factors + channels, factors + 2 * channels};
    network->packing = piece_at(network, network->packing_piece);
    network->exec.workspace = piece_at(network, network->workspace_piece);
    network->exec.workspace_bytes = network->pieces[network->workspace_piece].bytes;
}
