/* SPDX-License-Identifier: MIT
 *
 * Functions of each value, and softmax, as operators of ONNX.
 */
#include <math.h>
#include <stdio.h>

#include "core/exchange/onnx_write_internal.h"

static bool one(struct nn_onnx_writer *w, struct nn_onnx_layer *layer, const char *op)
{
    nn_onnx_simple(w, op, layer->in[0].name, NULL, layer->out.name);
    layer->out.rank = layer->in[0].rank;
    return true;
}

bool nn_onnx_write_relu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return one(w, layer, "Relu");
}

bool nn_onnx_write_tanh(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return one(w, layer, "Tanh");
}

bool nn_onnx_write_sigmoid(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return one(w, layer, "Sigmoid");
}

bool nn_onnx_write_absolute(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return one(w, layer, "Abs");
}

bool nn_onnx_write_dropout(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return one(w, layer, "Identity");
}

static bool with_slope(struct nn_onnx_writer *w, struct nn_onnx_layer *layer, const char *op,
                       const char *option)
{
    nn_onnx_begin(w, op, layer->out.name);
    nn_onnx_in(w, layer->in[0].name);
    nn_onnx_out(w, layer->out.name);
    nn_onnx_real(w, "alpha", nn_onnx_real_option(layer, option));
    nn_onnx_end(w);
    layer->out.rank = layer->in[0].rank;
    return true;
}

bool nn_onnx_write_leaky_relu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return with_slope(w, layer, "LeakyRelu", "slope");
}

bool nn_onnx_write_elu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return with_slope(w, layer, "Elu", "alpha");
}

bool nn_onnx_write_clipped_relu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char least[NN_ONNX_NAME_SIZE], most[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "least", least);
    nn_onnx_inner(layer, "most", most);
    nn_onnx_scalar(w, least, 0);
    nn_onnx_scalar(w, most, (float)nn_onnx_real_option(layer, "ceiling"));
    nn_onnx_begin(w, "Clip", layer->out.name);
    nn_onnx_in(w, layer->in[0].name);
    nn_onnx_in(w, least);
    nn_onnx_in(w, most);
    nn_onnx_out(w, layer->out.name);
    nn_onnx_end(w);
    layer->out.rank = layer->in[0].rank;
    return true;
}

bool nn_onnx_write_hard_swish(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    return one(w, layer, "HardSwish");
}

/* x * sigmoid(x) */
bool nn_onnx_write_silu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char sigmoid[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "sigmoid", sigmoid);
    nn_onnx_simple(w, "Sigmoid", layer->in[0].name, NULL, sigmoid);
    nn_onnx_simple(w, "Mul", layer->in[0].name, sigmoid, layer->out.name);
    layer->out.rank = layer->in[0].rank;
    return true;
}

/* x * (1 + erf(x / sqrt 2)) / 2, as PyTorch writes it; opset 20 has an operator for it. */
bool nn_onnx_write_gelu(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char root[NN_ONNX_NAME_SIZE], ones[NN_ONNX_NAME_SIZE], half[NN_ONNX_NAME_SIZE];
    char scaled[NN_ONNX_NAME_SIZE], erf_of[NN_ONNX_NAME_SIZE], sum[NN_ONNX_NAME_SIZE];
    char product[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "root", root);
    nn_onnx_inner(layer, "one", ones);
    nn_onnx_inner(layer, "half", half);
    nn_onnx_inner(layer, "scaled", scaled);
    nn_onnx_inner(layer, "erf", erf_of);
    nn_onnx_inner(layer, "sum", sum);
    nn_onnx_inner(layer, "product", product);
    nn_onnx_scalar(w, root, (float)sqrt(2));
    nn_onnx_scalar(w, ones, 1);
    nn_onnx_scalar(w, half, 0.5F);
    nn_onnx_simple(w, "Div", layer->in[0].name, root, scaled);
    nn_onnx_simple(w, "Erf", scaled, NULL, erf_of);
    nn_onnx_simple(w, "Add", erf_of, ones, sum);
    nn_onnx_simple(w, "Mul", layer->in[0].name, sum, product);
    nn_onnx_simple(w, "Mul", product, half, layer->out.name);
    layer->out.rank = layer->in[0].rank;
    return true;
}

/* x - clip(x, -t, t): what is not farther than t from 0 becomes 0. */
bool nn_onnx_write_soft_threshold(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char x[NN_ONNX_NAME_SIZE], t[NN_ONNX_NAME_SIZE], minus[NN_ONNX_NAME_SIZE];
    char above[NN_ONNX_NAME_SIZE], within[NN_ONNX_NAME_SIZE];
    enum nn_onnx_rank rank = nn_onnx_common_rank(layer);
    nn_onnx_input_as(w, layer, 0, rank, x);
    if (layer->n_in > 1) {
        nn_onnx_input_as(w, layer, 1, rank, t);
    } else {
        nn_onnx_inner(layer, "threshold", t);
        nn_onnx_scalar(w, t, (float)nn_onnx_real_option(layer, "threshold"));
    }
    nn_onnx_inner(layer, "minus", minus);
    nn_onnx_inner(layer, "above", above);
    nn_onnx_inner(layer, "within", within);
    nn_onnx_simple(w, "Neg", t, NULL, minus);
    nn_onnx_simple(w, "Max", x, minus, above);
    nn_onnx_simple(w, "Min", above, t, within);
    nn_onnx_simple(w, "Sub", x, within, layer->out.name);
    layer->out.rank = rank;
    return true;
}

bool nn_onnx_write_softmax(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    nn_onnx_begin(w, "Softmax", layer->out.name);
    nn_onnx_in(w, layer->in[0].name);
    nn_onnx_out(w, layer->out.name);
    nn_onnx_int(w, "axis", layer->in[0].rank == NN_ONNX_SEQUENCE ? 2 : 1);
    nn_onnx_end(w);
    layer->out.rank = layer->in[0].rank;
    return true;
}
