/* SPDX-License-Identifier: MIT
 *
 * attention: multi-head self-attention of each sequence over its own steps (Vaswani et al. 2017):
 *     [q, k, v] = x w_in^T + b_in,  o = softmax(q k^T / sqrt(d)) v of each head,
 *     y = o w_out^T + b_out
 * Parameters have the names and shapes of torch.nn.MultiheadAttention. Rows stay packed: the kernel
 * gathers those of a sequence as it needs them.
 */
#include "core/layers/linear_internal.h"
#include "core/layers/steps_internal.h"

struct options {
    size_t heads;
    bool causal, bias;
    struct nn_factor_options factors;
};

static const struct jx_field FIELDS[] = {
    {.name = "heads",
     .type = JX_SIZE,
     .offset = offsetof(struct options, heads),
     .min = 1,
     .max = 1024,
     .fallback = "1",
     .doc = "in how many heads the channels fall, each with weights of its own over the steps"},
    {.name = "causal",
     .type = JX_BOOL,
     .offset = offsetof(struct options, causal),
     .fallback = "false",
     .doc = "whether a step sees only itself and the steps before it"},
    {.name = "bias",
     .type = JX_BOOL,
     .offset = offsetof(struct options, bias),
     .fallback = "true",
     .doc = "whether the two projections have biases"},
    NN_FACTOR_FIELDS(struct options, factors, "weights", "biases", "1"),
    JX_END,
};

static struct nn_parameter_plan weight(const struct options *options, const char *suffix,
                                       size_t outputs, size_t inputs)
{
    return (struct nn_parameter_plan){
        .suffix = suffix,
        .role = NN_ROLE_WEIGHT,
        .learnable = true,
        .ndim = 2,
        .shape = {outputs, inputs},
        .extent = {outputs, inputs, 1, 1},
        .order = {0, 1, 2, 3},
        .learning_rate_factor = options->factors.weight_learning_rate_factor,
        .l2_factor = options->factors.weight_l2_factor,
        .fan_in = (double)inputs,
        .fan_out = (double)outputs,
    };
}

static struct nn_parameter_plan bias(const struct options *options, const char *suffix, size_t n)
{
    return nn_vector_plan(suffix, NN_ROLE_BIAS, n, options->factors.bias_learning_rate_factor,
                          options->factors.bias_l2_factor);
}

static enum nn_status plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                           size_t n_in, const struct nn_network_bind *bind,
                           struct nn_layer_plan *out, struct nn_layer_issue *issue)
{
    (void)n_in;
    const struct options *options = layer->options;
    size_t width = in[0].shape.channels, count;
    double seen = bind ? (double)bind->longest : 0;
    if (!nn_layer_count((const size_t[4]){4, width, width, 1}, &count)) {
        return nn_layer_refuse(issue, NULL, "put a fully_connected of fewer outputs before it",
                               "the weights of this layer are too many to count");
    }
    if (width % options->heads != 0) {
        return nn_layer_refuse(issue, "heads", "take a number that divides the channels",
                               "%zu channels do not fall into %zu heads of equal size", width,
                               options->heads);
    }
    *out = (struct nn_layer_plan){
        .out = in[0].shape,
        .sequence = true,
        .n_parameters = options->bias ? 4 : 2,
        .multiply_adds = (double)count + 2 * (double)width * seen,
    };
    struct nn_parameter_plan *last = &out->parameters[options->bias ? 2 : 1];
    out->parameters[1] = bias(options, "in_proj_bias", 3 * width);
    out->parameters[3] = bias(options, "out_proj.bias", width);
    out->parameters[0] = weight(options, "in_proj_weight", 3 * width, width);
    *last = weight(options, "out_proj.weight", width, width);
    return NN_OK;
}

const struct nn_layer_kind nn_kind_attention = {
    .name = "attention",
    .doc = "multi-head self-attention of each sequence over its own steps",
    .fields = FIELDS,
    .options_size = sizeof(struct options),
    .min_inputs = 1,
    .max_inputs = 1,
    .on_sequences = NN_SEQUENCES_WHOLE,
    .plan = plan,
};

/* ---- running ---- */

/* Kept from forward to backward: what the projection gives, what the heads give, and of each row
 * and head the log of the softmax's divisor. */
struct saved {
    nn_real *qkv, *o, *log_sum;
};

/* Storage of a product, then the gradients of o and qkv. */
struct scratch {
    nn_real *storage, *d_o, *d_qkv;
};

static const struct options *options_of(const struct nn_pass *pass)
{
    return pass->layers[0]->layer->options;
}

static size_t storage_bytes(size_t width)
{
    return nn_bytes(
        nn_larger(nn_linear_storage(width, 3 * width), nn_linear_storage(width, width)));
}

static struct saved saved_at(const struct nn_pass *pass)
{
    size_t width = pass->out.channels, rows = pass->max_batch;
    void *memory = pass->saved;
    struct saved saved = {.qkv = nn_piece(&memory, nn_bytes(3 * rows * width))};
    saved.o = nn_piece(&memory, nn_bytes(rows * width));
    saved.log_sum = memory;
    return saved;
}

static struct scratch scratch_at(const struct nn_pass *pass)
{
    size_t width = pass->out.channels, rows = pass->max_batch;
    void *memory = pass->scratch;
    struct scratch scratch = {.storage = nn_piece(&memory, storage_bytes(width))};
    scratch.d_o = nn_piece(&memory, nn_bytes(rows * width));
    scratch.d_qkv = memory;
    return scratch;
}

/* A weight, and behind it its bias if there are any. */
static struct nn_linear projection(const struct nn_pass *pass, size_t rows, bool in)
{
    bool biased = options_of(pass)->bias;
    const struct nn_parameter *w = &pass->layers[0]->parameters[in ? 0 : (biased ? 2 : 1)];
    size_t width = pass->out.channels;
    struct nn_linear linear = {.rows = rows, .inputs = width, .outputs = in ? 3 * width : width};
    linear.weight = w->value;
    linear.d_weight = w->grad;
    if (biased) {
        linear.bias = w[1].value;
        linear.d_bias = w[1].grad;
    }
    return linear;
}

static struct nn_attention attention_of(const struct nn_pass *pass, const struct nn_run *run,
                                        const struct saved *saved)
{
    return (struct nn_attention){.width = pass->out.channels,
                                 .heads = options_of(pass)->heads,
                                 .causal = options_of(pass)->causal,
                                 .steps = run->rows->steps,
                                 .active = run->rows->active,
                                 .starts = run->rows->starts,
                                 .qkv = saved->qkv,
                                 .o = saved->o,
                                 .log_sum = saved->log_sum};
}

static void plan_pass(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out)
{
    size_t width = pass->out.channels, rows = pass->max_batch, heads = options_of(pass)->heads;
    const struct nn_linear in = {.rows = rows, .inputs = width, .outputs = 3 * width};
    const struct nn_linear last = {.rows = rows, .inputs = width, .outputs = width};
    size_t products =
        nn_larger(nn_linear_workspace(&in, true, lanes), nn_linear_workspace(&last, true, lanes));
    out->saved_bytes = nn_bytes(3 * rows * width) + nn_bytes(rows * width) + nn_bytes(rows * heads);
    out->scratch_bytes = storage_bytes(width);
    if (pass->backward) {
        out->scratch_bytes += nn_bytes(rows * width) + nn_bytes(3 * rows * width);
    }
    out->workspace_bytes = nn_larger(products, nn_attention_workspace(width, heads, lanes));
    out->needs_input = nn_placed_trains(pass->layers[0]);
}

static void forward(const struct nn_pass *pass, const struct nn_run *run, const struct nn_view *x,
                    struct nn_view y)
{
    size_t width = pass->out.channels;
    const struct saved saved = saved_at(pass);
    const struct scratch scratch = scratch_at(pass);
    const struct nn_linear in = projection(pass, run->batch, true);
    const struct nn_linear last = projection(pass, run->batch, false);
    const struct nn_attention attention = attention_of(pass, run, &saved);
    nn_linear_forward(run->exec, &in, (struct nn_view){saved.qkv, 3 * width}, x[0],
                      scratch.storage);
    nn_attention_forward(run->exec, &attention);
    nn_linear_forward(run->exec, &last, y, (struct nn_view){saved.o, width}, scratch.storage);
}

static void backward(const struct nn_pass *pass, const struct nn_run *run,
                     const struct nn_backward *args)
{
    size_t width = pass->out.channels;
    const struct saved saved = saved_at(pass);
    const struct scratch scratch = scratch_at(pass);
    const struct nn_linear in = projection(pass, run->batch, true);
    const struct nn_linear last = projection(pass, run->batch, false);
    const struct nn_attention attention = attention_of(pass, run, &saved);
    const struct nn_gradient d_o = {{scratch.d_o, width}, false};
    nn_linear_gradient(run->exec, &last, args->d_y, (struct nn_view){saved.o, width}, &d_o);
    nn_attention_gradient(run->exec, &attention, scratch.d_qkv, scratch.d_o);
    nn_linear_gradient(run->exec, &in, (struct nn_view){scratch.d_qkv, 3 * width}, args->x[0],
                       &args->d_x[0]);
}

const struct nn_operator nn_op_attention = {
    .name = "attention",
    .pattern = {"attention"},
    .plan = plan_pass,
    .forward = forward,
    .backward = backward,
};
