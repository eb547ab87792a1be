/* SPDX-License-Identifier: MIT
 *
 * Places: which activations and gradients are parts of others, and how long each root lives. Passes
 * are visited from the output to the input, so the place of a pass's output is final when its
 * inputs are looked at.
 *
 * Only with optimised operators; the plain ones give every tensor its own memory.
 */
#include <string.h>

#include "core/network/network_internal.h"

static struct nn_tensor *output_of(const struct nn_network *network, size_t pass)
{
    return &network->tensors[network->passes[pass].output];
}

/* The input, or the same numbers seen as a row of features. */
static bool is_input_alias(const struct nn_network *network, size_t tensor)
{
    while (network->tensors[tensor].producer != NN_NONE) {
        const struct nn_pass_state *state = &network->passes[network->tensors[tensor].producer];
        if (!state->plan.alias) {
            return false;
        }
        tensor = state->inputs[0];
    }
    return true;
}

/* Whether the tensor's memory may be that of its only consumer's output. */
static bool may_be_part(const struct nn_network *network, size_t tensor)
{
    return network->tensors[tensor].consumers == 1 && !is_input_alias(network, tensor);
}

static bool is_concatenation(const struct nn_pass_state *state)
{
    return strcmp(state->pass.op->name, "concatenation") == 0;
}

/* Whether rows of a place follow each other without gaps. */
static bool is_dense(const struct nn_network *network, size_t tensor, bool gradient)
{
    const struct nn_place *place;
    for (;;) {
        place = gradient ? &network->tensors[tensor].gradient : &network->tensors[tensor].value;
        if (place->in == NN_NONE || place->dense) {
            return true;
        }
        size_t channels = network->tensors[tensor].shape.channels;
        if (network->tensors[place->in].shape.channels != channels) {
            return false; /* columns of a concatenation */
        }
        tensor = place->in;
    }
}

static void put(struct nn_place *place, size_t in, size_t column, bool dense)
{
    *place = (struct nn_place){.in = in, .column = column, .dense = dense};
}

static void place_columns(struct nn_network *network, const struct nn_pass_state *state)
{
    size_t column = 0;
    for (size_t k = 0; k < state->pass.n_in; k++) {
        struct nn_tensor *x = &network->tensors[state->inputs[k]];
        if (may_be_part(network, state->inputs[k])) {
            put(&x->value, state->output, column, false);
            if (x->wants_gradient) {
                put(&x->gradient, state->output, column, false);
            }
        }
        column += x->shape.channels;
    }
}

static void place_alias(struct nn_network *network, const struct nn_pass_state *state)
{
    struct nn_tensor *x = &network->tensors[state->inputs[0]];
    if (x->consumers == 1 && is_dense(network, state->output, false)) {
        put(&x->value, state->output, 0, true);
    }
    if (x->consumers == 1 && x->wants_gradient && is_dense(network, state->output, true)) {
        put(&x->gradient, state->output, 0, true);
    }
}

/* Whether the tensor is read after its consumer has run, because it is kept or because its own
 * backward reads it; the same of all that lies in its memory: the parts of a concatenation, the
 * image before a flatten. */
static bool is_read_later(const struct nn_network *network, size_t tensor)
{
    const struct nn_tensor *x = &network->tensors[tensor];
    if (x->kept || x->producer == NN_NONE) {
        return true;
    }
    const struct nn_pass_state *producer = &network->passes[x->producer];
    bool read = producer->pass.backward && producer->plan.needs_output;
    bool shares = is_concatenation(producer) || producer->plan.alias;
    for (size_t k = 0; !read && shares && k < producer->pass.n_in; k++) {
        size_t part = producer->inputs[k];
        read = may_be_part(network, part) && is_read_later(network, part);
    }
    return read;
}

/* y may overwrite x: nobody else reads x, now or later. */
static bool may_overwrite(const struct nn_network *network, const struct nn_pass_state *state,
                          size_t tensor)
{
    bool read_by_consumer = state->pass.backward && state->plan.needs_input;
    return may_be_part(network, tensor) && !read_by_consumer && !is_read_later(network, tensor);
}

static void place_in_place(struct nn_network *network, const struct nn_pass_state *state)
{
    if (state->plan.in_place && may_overwrite(network, state, state->inputs[0])) {
        put(&network->tensors[state->inputs[0]].value, state->output, 0, false);
    }
    for (size_t k = 0; state->plan.gradient_in_place && k < state->pass.n_in; k++) {
        struct nn_tensor *x = &network->tensors[state->inputs[k]];
        if (x->consumers == 1 && x->wants_gradient) {
            put(&x->gradient, state->output, 0, false);
            return; /* one input only */
        }
    }
}

static void place_inputs(struct nn_network *network, const struct nn_pass_state *state)
{
    if (is_concatenation(state)) {
        place_columns(network, state);
    } else if (state->plan.alias) {
        place_alias(network, state);
    } else {
        place_in_place(network, state);
    }
}

/* ---- lives ---- */

static void live(struct nn_place *place, size_t time)
{
    place->first = time < place->first ? time : place->first;
    place->last = time > place->last ? time : place->last;
}

static void live_always(struct nn_place *place)
{
    place->first = 0;
    place->last = NN_TIME_END;
}

static void live_by_pass(struct nn_network *network, size_t p)
{
    const struct nn_pass_state *state = &network->passes[p];
    size_t back = nn_time_backward(network, p);
    struct nn_tensor *y = output_of(network, p);
    live(&y->value, p);
    if (state->pass.backward && state->plan.needs_output) {
        live(&y->value, back);
    }
    live(&y->gradient, back); /* read here, if there is one */
    for (size_t k = 0; k < state->pass.n_in; k++) {
        struct nn_tensor *x = &network->tensors[state->inputs[k]];
        live(&x->value, p);
        if (state->pass.backward && state->plan.needs_input) {
            live(&x->value, back);
        }
        if (state->input_gradient[k]) {
            live(&x->gradient, back);
        }
    }
}

static void set_lives(struct nn_network *network)
{
    for (size_t t = 0; t < network->n_tensors; t++) {
        network->tensors[t].value.first = network->tensors[t].gradient.first = NN_TIME_END;
    }
    for (size_t p = 0; p < network->n_passes; p++) {
        live_by_pass(network, p);
    }
    live_always(&network->tensors[network->input].value);
    if (network->tensors[network->input].wants_gradient) {
        network->tensors[network->input].gradient.last = NN_TIME_END;
    }
    live_always(&network->tensors[network->output].value); /* read before and after backward */
    live(&network->tensors[network->output].gradient, network->n_passes);
    for (size_t t = 0; t < network->n_tensors; t++) {
        struct nn_tensor *tensor = &network->tensors[t];
        if (tensor->kept) {
            live_always(&tensor->value);
        }
        if (tensor->auxiliary) {
            live(&tensor->value, network->n_passes);
            live(&tensor->gradient, network->n_passes);
        }
    }
}

/* A root lives as long as its parts. */
static void merge_lives(struct nn_network *network)
{
    for (size_t t = 0; t < network->n_tensors; t++) {
        for (int gradient = 0; gradient < 2; gradient++) {
            struct nn_tensor *tensor = &network->tensors[t];
            const struct nn_place part = gradient ? tensor->gradient : tensor->value;
            size_t at = part.in;
            while (at != NN_NONE) {
                struct nn_place *whole =
                    gradient ? &network->tensors[at].gradient : &network->tensors[at].value;
                live(whole, part.first);
                live(whole, part.last);
                at = whole->in;
            }
        }
    }
}

void nn_plan_places(struct nn_network *network)
{
    for (size_t p = network->n_passes; network->optimised && p-- > 0;) {
        place_inputs(network, &network->passes[p]);
    }
    set_lives(network);
    merge_lives(network);
}
