/* SPDX-License-Identifier: MIT
 *
 * lstm: long short-term memory over sequences; the state begins at 0. With gates i, f, g, o:
 *     z[t] = w_ih x[t] + b + w_hh h[t-1]
 *     c[t] = sigmoid(z_f) c[t-1] + sigmoid(z_i) tanh(z_g),  h[t] = sigmoid(z_o) tanh(c[t])
 * The output is every h[t], or the last one of each sequence. Parameters have PyTorch's names and
 * gate order, but one bias, bias_ih_l0: where PyTorch keeps two that are only ever added, this is
 * their sum. core/exchange adds bias_hh_l0 to it when a file has one; written is bias_ih_l0 alone,
 * beside which PyTorch's bias_hh_l0 has to be 0.
 */
#include <string.h>

#include "core/layers/kinds_internal.h"
#include "core/layers/shape_internal.h"

#define GATES ((size_t)4)

enum output { OUTPUT_SEQUENCE, OUTPUT_LAST };

struct options {
    size_t units;
    int output;
    bool bias;
    struct nn_factor_options factors;
};

static const struct jx_choice OUTPUTS[] = {
    {"sequence", OUTPUT_SEQUENCE, "the state of every step"},
    {"last", OUTPUT_LAST, "the state of each sequence's last step"},
    JX_END,
};

static const struct jx_field FIELDS[] = {
    {.name = "units",
     .type = JX_SIZE,
     .offset = offsetof(struct options, units),
     .min = 1,
     .max = 2048,
     .required = true,
     .doc = "numbers of the state"},
    {.name = "output",
     .type = JX_ENUM,
     .offset = offsetof(struct options, output),
     .choices = OUTPUTS,
     .fallback = "\"sequence\"",
     .doc = "which states go on to the next layer"},
    {.name = "bias",
     .type = JX_BOOL,
     .offset = offsetof(struct options, bias),
     .fallback = "true",
     .doc = "whether each gate has a bias"},
    NN_FACTOR_FIELDS(struct options, factors, "input and recurrent weights", "biases", "1"),
    JX_END,
};

static struct nn_parameter_plan weight(const struct options *options, const char *suffix,
                                       enum nn_role role, size_t inputs)
{
    size_t rows = GATES * options->units;
    return (struct nn_parameter_plan){
        .suffix = suffix,
        .role = role,
        .learnable = true,
        .ndim = 2,
        .shape = {rows, inputs},
        .extent = {rows, inputs, 1, 1},
        .order = {0, 1, 2, 3},
        .learning_rate_factor = options->factors.weight_learning_rate_factor,
        .l2_factor = options->factors.weight_l2_factor,
        .fan_in = (double)inputs,
        .fan_out = (double)rows,
    };
}

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    (void)bind;
    (void)issue;
    const struct options *options = layer->options;
    size_t inputs = in[0].shape.channels, units = options->units;
    *out = (struct nn_layer_plan){
        .out = {1, 1, units},
        .sequence = options->output == OUTPUT_SEQUENCE,
        .n_parameters = 2,
        .multiply_adds = (double)(GATES * units) * (double)(inputs + units),
    };
    out->parameters[0] = weight(options, "weight_ih_l0", NN_ROLE_WEIGHT, inputs);
    out->parameters[1] = weight(options, "weight_hh_l0", NN_ROLE_RECURRENT_WEIGHT, units);
    if (options->bias) {
        out->parameters[2] = nn_vector_plan("bias_ih_l0", NN_ROLE_BIAS, GATES * units,
                                            options->factors.bias_learning_rate_factor,
                                            options->factors.bias_l2_factor);
        out->parameters[2].ones_begin = units; /* the forget gate: at first nothing is forgotten */
        out->parameters[2].ones_end = 2 * units;
        out->n_parameters = 3;
    }
    return NN_OK;
}

const struct nn_layer_kind nn_kind_lstm = {
    .name = "lstm",
    .doc = "long short-term memory over sequences",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .on_sequences = NN_SEQUENCES_WHOLE,
    .plan = plan,
};

/* ---- running ---- */

/* What is kept from forward to backward: gates, c and, when the output is not h itself, h. */
struct saved {
    nn_real *gates, *c;
    struct nn_view h;
};

static size_t units_of(const struct nn_pass *pass)
{
    return pass->out.channels;
}

static bool gives_last(const struct nn_pass *pass)
{
    return !pass->layers[0]->plan.sequence;
}

static struct saved saved_at(const struct nn_pass *pass, struct nn_view y)
{
    void *memory = pass->saved;
    size_t units = units_of(pass), rows = pass->max_batch;
    struct saved saved = {.h = y};
    saved.gates = nn_piece(&memory, nn_bytes(rows * GATES * units));
    saved.c = nn_piece(&memory, nn_bytes(rows * units));
    if (gives_last(pass)) {
        saved.h = (struct nn_view){nn_piece(&memory, nn_bytes(rows * units)), units};
    }
    return saved;
}

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    (void)lanes;
    size_t units = units_of(pass), inputs = pass->in[0].channels, rows = pass->max_batch;
    size_t states = gives_last(pass) ? 2 : 1;
    bool trains = nn_placed_trains(pass->layers[0]);
    out->saved_bytes = nn_bytes(rows * GATES * units) + states * nn_bytes(rows * units);
    out->scratch_bytes = nn_bytes(nn_lstm_storage(inputs, units, pass->max_samples, rows));
    out->workspace_bytes = nn_lstm_workspace(units, rows);
    out->needs_input = trains;
    out->needs_output = trains && !gives_last(pass);
}

static struct nn_lstm lstm_of(const struct nn_pass *pass, const struct nn_run *run,
                              struct nn_view x, const struct saved *saved)
{
    const struct nn_placed *placed = pass->layers[0];
    return (struct nn_lstm){
        .inputs = pass->in[0].channels,
        .units = units_of(pass),
        .steps = run->rows->steps,
        .active = run->rows->active,
        .starts = run->rows->starts,
        .w_ih = nn_placed_value(placed, NN_ROLE_WEIGHT),
        .w_hh = nn_placed_value(placed, NN_ROLE_RECURRENT_WEIGHT),
        .bias = nn_placed_value(placed, NN_ROLE_BIAS),
        .x = x.data,
        .ldx = x.ld,
        .gates = saved->gates,
        .c = saved->c,
        .h = saved->h.data,
        .ldh = saved->h.ld,
        .storage = pass->scratch,
    };
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

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    struct saved saved = saved_at(pass, y);
    struct nn_lstm lstm = lstm_of(pass, run, x[0], &saved);
    nn_lstm_forward(run->exec, &lstm);
    if (gives_last(pass)) {
        take_last(run->rows, y, saved.h, units_of(pass));
    }
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    const struct nn_placed *placed = pass->layers[0];
    struct saved saved = saved_at(pass, args->y);
    struct nn_lstm lstm = lstm_of(pass, run, args->x[0], &saved);
    struct nn_lstm_gradient gradient = {
        .d_y = args->d_y.data,
        .ldd_y = args->d_y.ld,
        .last = gives_last(pass) ? run->rows->samples : NULL,
        .d_x = args->d_x[0].view.data,
        .ldd_x = args->d_x[0].view.ld,
        .add_to_x = args->d_x[0].add,
        .d_w_ih = nn_placed_grad(placed, NN_ROLE_WEIGHT),
        .d_w_hh = nn_placed_grad(placed, NN_ROLE_RECURRENT_WEIGHT),
        .d_bias = nn_placed_grad(placed, NN_ROLE_BIAS),
    };
    nn_lstm_backward(run->exec, &lstm, &gradient);
}

const struct nn_operator nn_op_lstm = {
    .name = "lstm",
    .pattern = {"lstm"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
