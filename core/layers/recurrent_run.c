/* SPDX-License-Identifier: MIT
 *
 * Recurrent layers at work. The direction from the end runs as the other does, over copies of the
 * rows in which every sequence is reversed; what it gives is reversed again. Its last state is that
 * of each sequence's first step, as in PyTorch's h_n.
 */
#include <string.h>

#include "core/layers/recurrent_internal.h"

static size_t units_of(const struct nn_pass *pass)
{
    return nn_recurrent_options_of(pass->layers[0]->layer)->units;
}

static bool gives_last(const struct nn_pass *pass)
{
    return !pass->layers[0]->plan.sequence;
}

/* What is kept of a direction from forward to backward: gates, an LSTM's c and, when that is not a
 * part of the output, h. */
struct saved {
    nn_real *gates, *c;
    struct nn_view h;
};

static bool keeps_state(const struct nn_pass *pass, size_t direction)
{
    return direction > 0 || gives_last(pass);
}

static struct saved saved_at(const struct nn_pass *pass, enum nn_cell_kind cell, struct nn_view y,
                             size_t direction)
{
    void *memory = pass->saved;
    size_t units = units_of(pass), rows = pass->max_batch;
    struct saved saved = {0};
    for (size_t d = 0; d <= direction; d++) {
        saved = (struct saved){.h = y};
        saved.gates = nn_piece(&memory, nn_bytes(rows * NN_CELL_COLUMNS * units));
        if (cell == NN_CELL_LSTM) {
            saved.c = nn_piece(&memory, nn_bytes(rows * units));
        }
        if (keeps_state(pass, d)) {
            saved.h = (struct nn_view){nn_piece(&memory, nn_bytes(rows * units)), units};
        }
    }
    return saved;
}

/* Memory of one call: the kernel's, and the reversed rows of the direction from the end. */
struct scratch {
    nn_real *kernel;
    struct nn_view x, d_x, states; /* states: h or d_y, to be turned round */
};

static struct scratch scratch_at(const struct nn_pass *pass)
{
    void *memory = pass->scratch;
    size_t inputs = pass->in[0].channels, units = units_of(pass), rows = pass->max_batch;
    struct scratch s = {0};
    s.kernel =
        nn_piece(&memory, nn_bytes(nn_recurrence_storage(inputs, units, pass->max_samples, rows)));
    if (nn_recurrent_directions(pass->layers[0]->layer) > 1) {
        s.x = (struct nn_view){nn_piece(&memory, nn_bytes(rows * inputs)), inputs};
        s.d_x = (struct nn_view){nn_piece(&memory, nn_bytes(rows * inputs)), inputs};
        s.states = (struct nn_view){nn_piece(&memory, nn_bytes(rows * units)), units};
    }
    return s;
}

void nn_recurrent_plan_pass(const struct nn_pass *pass, enum nn_cell_kind cell,
                            struct nn_pass_plan *out)
{
    size_t units = units_of(pass), inputs = pass->in[0].channels, rows = pass->max_batch;
    size_t directions = nn_recurrent_directions(pass->layers[0]->layer);
    size_t state = nn_bytes(rows * units);
    bool trains = nn_placed_trains(pass->layers[0]);
    for (size_t d = 0; d < directions; d++) {
        out->saved_bytes += nn_bytes(rows * NN_CELL_COLUMNS * units) +
                            (cell == NN_CELL_LSTM ? state : 0) + (keeps_state(pass, d) ? state : 0);
    }
    out->scratch_bytes = nn_bytes(nn_recurrence_storage(inputs, units, pass->max_samples, rows)) +
                         (directions > 1 ? 2 * nn_bytes(rows * inputs) + state : 0);
    out->workspace_bytes = nn_recurrence_workspace(units, rows);
    out->needs_input = trains;
    /* a GRU's gradient reads the state before, an LSTM's only that of its recurrent weights */
    out->needs_output = (trains || cell == NN_CELL_GRU) && !gives_last(pass);
}

/* The parameters of a direction stand one behind the other: weights, then biases if any. */
static const struct nn_parameter *parameter_at(const struct nn_pass *pass, size_t direction,
                                               size_t k)
{
    const struct nn_placed *placed = pass->layers[0];
    size_t n = placed->plan.n_parameters / nn_recurrent_directions(placed->layer);
    return k < n ? &placed->parameters[direction * n + k] : NULL;
}

static nn_real *value_at(const struct nn_pass *pass, size_t direction, size_t k)
{
    const struct nn_parameter *p = parameter_at(pass, direction, k);
    return p ? p->value : NULL;
}

static nn_real *grad_at(const struct nn_pass *pass, size_t direction, size_t k)
{
    const struct nn_parameter *p = parameter_at(pass, direction, k);
    return p && p->trainable ? p->grad : NULL;
}

static struct nn_recurrence layer_of(const struct nn_pass *pass, enum nn_cell_kind cell,
                                     const struct nn_run *run, size_t direction, struct nn_view x,
                                     const struct saved *saved)
{
    return (struct nn_recurrence){
        .cell = cell,
        .inputs = pass->in[0].channels,
        .units = units_of(pass),
        .steps = run->rows->steps,
        .active = run->rows->active,
        .starts = run->rows->starts,
        .w_ih = value_at(pass, direction, 0),
        .w_hh = value_at(pass, direction, 1),
        .bias = value_at(pass, direction, 2),
        .bias_hh = value_at(pass, direction, 3),
        .x = x.data,
        .ldx = x.ld,
        .gates = saved->gates,
        .c = saved->c,
        .h = saved->h.data,
        .ldh = saved->h.ld,
        .storage = scratch_at(pass).kernel,
    };
}

static void reverse(const struct nn_run *run, struct nn_view out, struct nn_view in, size_t columns,
                    bool add)
{
    const struct nn_sequence_reversal reversal = {
        .steps = run->rows->steps,
        .columns = columns,
        .active = run->rows->active,
        .starts = run->rows->starts,
        .out = out.data,
        .in = in.data,
        .ldo = out.ld,
        .ldi = in.ld,
        .add = add,
    };
    nn_sequences_reverse(run->exec, &reversal);
}

/* The input as a direction reads it. */
static struct nn_view input_of(const struct nn_pass *pass, const struct nn_run *run,
                               size_t direction, struct nn_view x)
{
    struct nn_view reversed = scratch_at(pass).x;
    if (direction == 0 || !x.data) {
        return x;
    }
    reverse(run, reversed, x, pass->in[0].channels, false);
    return reversed;
}

/* The k-th sequence ends at the last step that has a k-th row. */
static void take_last(const struct nn_rows *rows, struct nn_view y, struct nn_view h, size_t units)
{
    for (size_t t = 0; t < rows->steps; t++) {
        size_t first = t + 1 < rows->steps ? rows->active[t + 1] : 0;
        for (size_t k = first; k < rows->active[t]; k++) {
            memcpy(nn_view_rows(y, rows->samples[k]).data,
                   nn_view_rows(h, rows->starts[t] + k).data, units * sizeof *y.data);
        }
    }
}

void nn_recurrent_forward(const struct nn_pass *pass, enum nn_cell_kind cell,
                          const struct nn_run *run, struct nn_view x, struct nn_view y)
{
    size_t units = units_of(pass);
    for (size_t d = 0; d < nn_recurrent_directions(pass->layers[0]->layer); d++) {
        struct saved saved = saved_at(pass, cell, y, d);
        struct nn_view out = nn_view_columns(y, d * units);
        struct nn_recurrence layer =
            layer_of(pass, cell, run, d, input_of(pass, run, d, x), &saved);
        nn_recurrence_forward(run->exec, &layer);
        if (gives_last(pass)) {
            take_last(run->rows, out, saved.h, units);
        } else if (d > 0) {
            reverse(run, out, saved.h, units, false);
        }
    }
}

static struct nn_recurrence_gradient gradient_of(const struct nn_pass *pass,
                                                 const struct nn_run *run, size_t direction,
                                                 const struct nn_backward *args)
{
    struct nn_view d_y = nn_view_columns(args->d_y, direction * units_of(pass));
    struct nn_view d_x = args->d_x[0].view;
    struct scratch scratch = scratch_at(pass);
    if (direction > 0 && !gives_last(pass)) {
        reverse(run, scratch.states, d_y, units_of(pass), false);
        d_y = scratch.states;
    }
    if (direction > 0 && d_x.data) {
        d_x = scratch.d_x;
    }
    return (struct nn_recurrence_gradient){
        .d_y = d_y.data,
        .ldd_y = d_y.ld,
        .last = gives_last(pass) ? run->rows->samples : NULL,
        .d_x = d_x.data,
        .ldd_x = d_x.ld,
        .add_to_x = direction == 0 && args->d_x[0].add,
        .d_w_ih = grad_at(pass, direction, 0),
        .d_w_hh = grad_at(pass, direction, 1),
        .d_bias = grad_at(pass, direction, 2),
        .d_bias_hh = grad_at(pass, direction, 3),
    };
}

void nn_recurrent_backward(const struct nn_pass *pass, enum nn_cell_kind cell,
                           const struct nn_run *run, const struct nn_backward *args)
{
    for (size_t d = 0; d < nn_recurrent_directions(pass->layers[0]->layer); d++) {
        struct saved saved = saved_at(pass, cell, args->y, d);
        struct nn_recurrence layer =
            layer_of(pass, cell, run, d, input_of(pass, run, d, args->x[0]), &saved);
        struct nn_recurrence_gradient gradient = gradient_of(pass, run, d, args);
        nn_recurrence_backward(run->exec, &layer, &gradient);
        if (d > 0 && gradient.d_x) {
            reverse(run, args->d_x[0].view, (struct nn_view){gradient.d_x, gradient.ldd_x},
                    pass->in[0].channels, true);
        }
    }
}
