/* SPDX-License-Identifier: MIT
 *
 * Normalisation as operators of ONNX.
 */
#include <string.h>

#include "core/exchange/onnx_write_internal.h"

bool nn_onnx_write_batch_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    static const char *const PARAMETERS[] = {"weight", "bias", "running_mean", "running_var"};
    char names[4][NN_ONNX_NAME_SIZE];
    if (layer->in[0].rank == NN_ONNX_SEQUENCE) {
        (void)strcpy(w->lack, "on sequences");
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        nn_onnx_parameter(w, layer, PARAMETERS[i], names[i]);
    }
    nn_onnx_begin(w, "BatchNormalization", layer->out.name);
    nn_onnx_in(w, layer->in[0].name);
    for (size_t i = 0; i < 4; i++) {
        nn_onnx_in(w, names[i]);
    }
    nn_onnx_out(w, layer->out.name);
    nn_onnx_real(w, "epsilon", nn_onnx_real_option(layer, "epsilon"));
    nn_onnx_end(w);
    layer->out.rank = layer->in[0].rank;
    return true;
}

bool nn_onnx_write_local_response_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char input[NN_ONNX_NAME_SIZE];
    nn_onnx_input_as(w, layer, 0, NN_ONNX_IMAGE, input);
    nn_onnx_begin(w, "LRN", layer->out.name);
    nn_onnx_in(w, input);
    nn_onnx_out(w, layer->out.name);
    nn_onnx_int(w, "size", nn_onnx_int_option(layer, "size"));
    nn_onnx_real(w, "alpha", nn_onnx_real_option(layer, "alpha"));
    nn_onnx_real(w, "beta", nn_onnx_real_option(layer, "beta"));
    nn_onnx_real(w, "bias", nn_onnx_real_option(layer, "k"));
    nn_onnx_end(w);
    layer->out.rank = NN_ONNX_IMAGE;
    return true;
}

/* ---- norms within a sample ---- */

/* The input with its channels last, where they are not. */
static void channels_last(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                          char out[NN_ONNX_NAME_SIZE])
{
    static const int64_t ORDER[4] = {0, 2, 3, 1};
    if (layer->in[0].rank != NN_ONNX_IMAGE) {
        (void)strcpy(out, layer->in[0].name);
        return;
    }
    nn_onnx_inner(layer, "channels_last", out);
    nn_onnx_transpose(w, layer->in[0].name, ORDER, 4, out);
}

/* Where a norm of channels that are last leaves its output. */
static void normed_name(const struct nn_onnx_layer *layer, char out[NN_ONNX_NAME_SIZE])
{
    if (layer->in[0].rank == NN_ONNX_IMAGE) {
        nn_onnx_inner(layer, "normed", out);
    } else {
        (void)strcpy(out, layer->out.name);
    }
}

/* That output as the layer's, in the order of the input. */
static bool channels_back(struct nn_onnx_writer *w, struct nn_onnx_layer *layer, const char *normed)
{
    static const int64_t ORDER[4] = {0, 3, 1, 2};
    layer->out.rank = layer->in[0].rank;
    if (layer->in[0].rank == NN_ONNX_IMAGE) {
        nn_onnx_transpose(w, normed, ORDER, 4, layer->out.name);
    }
    return true;
}

bool nn_onnx_write_layer_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char input[NN_ONNX_NAME_SIZE], weight[NN_ONNX_NAME_SIZE], bias[NN_ONNX_NAME_SIZE];
    char normed[NN_ONNX_NAME_SIZE];
    channels_last(w, layer, input);
    normed_name(layer, normed);
    nn_onnx_parameter(w, layer, "weight", weight);
    nn_onnx_parameter(w, layer, "bias", bias);
    nn_onnx_begin(w, "LayerNormalization", normed);
    nn_onnx_in(w, input);
    nn_onnx_in(w, weight);
    nn_onnx_in(w, bias);
    nn_onnx_out(w, normed);
    nn_onnx_int(w, "axis", -1);
    nn_onnx_real(w, "epsilon", nn_onnx_real_option(layer, "epsilon"));
    nn_onnx_end(w);
    return channels_back(w, layer, normed);
}

/* The mean of the last axis, which stays with one number. */
static void mean_of_last(struct nn_onnx_writer *w, const char *from, const char *out)
{
    static const int64_t LAST = -1;
    nn_onnx_begin(w, "ReduceMean", out);
    nn_onnx_in(w, from);
    nn_onnx_out(w, out);
    nn_onnx_ints(w, "axes", &LAST, 1);
    nn_onnx_int(w, "keepdims", 1);
    nn_onnx_end(w);
}

/* x / sqrt(mean(x^2) + epsilon) * weight; opset 23 has an operator for it. */
bool nn_onnx_write_rms_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    char input[NN_ONNX_NAME_SIZE], weight[NN_ONNX_NAME_SIZE], normed[NN_ONNX_NAME_SIZE];
    char two[NN_ONNX_NAME_SIZE], epsilon[NN_ONNX_NAME_SIZE], step[NN_ONNX_NAME_SIZE];
    char mean[NN_ONNX_NAME_SIZE];
    channels_last(w, layer, input);
    normed_name(layer, normed);
    nn_onnx_parameter(w, layer, "weight", weight);
    nn_onnx_inner(layer, "two", two);
    nn_onnx_scalar(w, two, 2);
    nn_onnx_inner(layer, "epsilon", epsilon);
    nn_onnx_scalar(w, epsilon, (float)nn_onnx_real_option(layer, "epsilon"));
    nn_onnx_inner(layer, "mean", mean);
    nn_onnx_step(w, layer, "Pow", input, two, "square", step);
    mean_of_last(w, step, mean);
    nn_onnx_step(w, layer, "Add", mean, epsilon, "above_zero", step);
    nn_onnx_step(w, layer, "Sqrt", step, NULL, "root", step);
    nn_onnx_step(w, layer, "Div", input, step, "ratio", step);
    nn_onnx_simple(w, "Mul", step, weight, normed);
    return channels_back(w, layer, normed);
}

/* ---- groups ---- */

/* A vector of channels as it stands against the input: [C, 1, 1] before the sides of an image. */
static void against_input(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                          const char *suffix, const char *axes, char out[NN_ONNX_NAME_SIZE])
{
    nn_onnx_parameter(w, layer, suffix, out);
    if (layer->in[0].rank == NN_ONNX_IMAGE) {
        nn_onnx_step(w, layer, "Unsqueeze", out, axes, suffix, out);
    }
}

/* Each group as a channel of its own, to mean 0 and variance 1. */
static void groups_normed(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                          const char *grouped, const char *out)
{
    size_t groups = (size_t)nn_onnx_int_option(layer, "groups");
    char ones[NN_ONNX_NAME_SIZE], zeros[NN_ONNX_NAME_SIZE];
    float *values = nn_arena_alloc(w->arena, 2 * groups, sizeof *values);
    for (size_t g = 0; values && g < groups; g++) {
        values[g] = 1; /* the others are zero */
    }
    nn_onnx_inner(layer, "ones", ones);
    nn_onnx_inner(layer, "zeros", zeros);
    nn_onnx_floats(w, ones, &groups, 1, values);
    nn_onnx_floats(w, zeros, &groups, 1, values ? values + groups : NULL);
    nn_onnx_begin(w, "InstanceNormalization", out);
    nn_onnx_in(w, grouped);
    nn_onnx_in(w, ones);
    nn_onnx_in(w, zeros);
    nn_onnx_out(w, out);
    nn_onnx_real(w, "epsilon", nn_onnx_real_option(layer, "epsilon"));
    nn_onnx_end(w);
}

/* As PyTorch writes it: [N, groups, the rest], of a sequence [T N, groups, the rest], and back. */
bool nn_onnx_write_group_norm(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    static const int64_t SIDES[2] = {1, 2};
    bool steps = layer->in[0].rank == NN_ONNX_SEQUENCE;
    int64_t groups = nn_onnx_int_option(layer, "groups");
    const int64_t shape[3] = {steps ? -1 : 0, groups,
                              steps ? (int64_t)layer->in[0].channels / groups : -1};
    const char *input = layer->in[0].name;
    char sizes[NN_ONNX_NAME_SIZE], back[NN_ONNX_NAME_SIZE], axes[NN_ONNX_NAME_SIZE];
    char weight[NN_ONNX_NAME_SIZE], bias[NN_ONNX_NAME_SIZE], step[NN_ONNX_NAME_SIZE];
    char normed[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "sizes", sizes);
    nn_onnx_axes(w, sizes, shape, 3);
    nn_onnx_inner(layer, "axes", axes);
    if (layer->in[0].rank == NN_ONNX_IMAGE) {
        nn_onnx_axes(w, axes, SIDES, 2);
    }
    nn_onnx_inner(layer, "normed", normed);
    against_input(w, layer, "weight", axes, weight);
    against_input(w, layer, "bias", axes, bias);
    nn_onnx_step(w, layer, "Shape", input, NULL, "shape", back);
    nn_onnx_step(w, layer, "Reshape", input, sizes, "grouped", step);
    groups_normed(w, layer, step, normed);
    nn_onnx_step(w, layer, "Reshape", normed, back, "ungrouped", step);
    nn_onnx_step(w, layer, "Mul", step, weight, "scaled", step);
    nn_onnx_simple(w, "Add", step, bias, layer->out.name);
    layer->out.rank = layer->in[0].rank;
    return true;
}
