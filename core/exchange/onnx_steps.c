/* SPDX-License-Identifier: MIT
 *
 * Layers over the steps of sequences as operators of ONNX; however many steps there are.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/exchange/onnx_write_internal.h"

/* One of the places of the first axis, which goes away. */
static void take(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer, const char *from,
                 int64_t place, const char *what, char out[NN_ONNX_NAME_SIZE])
{
    char index[NN_ONNX_NAME_SIZE], name[48];
    (void)snprintf(name, sizeof name, "%s_index", what);
    nn_onnx_inner(layer, name, index);
    nn_onnx_index(w, index, place);
    nn_onnx_step(w, layer, "Gather", from, index, what, out);
}

/* The number of steps, without axes. */
static void count_steps(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                        char out[NN_ONNX_NAME_SIZE])
{
    char sizes[NN_ONNX_NAME_SIZE];
    nn_onnx_step(w, layer, "Shape", layer->in[0].name, NULL, "sizes", sizes);
    take(w, layer, sizes, 0, "steps", out);
}

/* Of sequences of one length the last step is the last one for all. */
bool nn_onnx_write_sequence_pool(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    static const int64_t STEPS = 0;
    const char *method = json_string_value(json_object_get(layer->options, "method"));
    char index[NN_ONNX_NAME_SIZE];
    bool last = strcmp(method, "last") == 0;
    nn_onnx_inner(layer, "index", index);
    if (last) {
        nn_onnx_index(w, index, -1);
    }
    nn_onnx_begin(w, last ? "Gather" : "ReduceMean", layer->out.name);
    nn_onnx_in(w, layer->in[0].name);
    if (last) {
        nn_onnx_in(w, index);
        nn_onnx_int(w, "axis", STEPS);
    } else {
        nn_onnx_ints(w, "axes", &STEPS, 1);
        nn_onnx_int(w, "keepdims", 0);
    }
    nn_onnx_out(w, layer->out.name);
    nn_onnx_end(w);
    layer->out.rank = NN_ONNX_ROWS;
    return true;
}

/* Ids are a column of the input, as numbers. */
bool nn_onnx_write_embedding(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    enum { INT64 = 7 }; /* of TensorProto */
    char index[NN_ONNX_NAME_SIZE], column[NN_ONNX_NAME_SIZE], ids[NN_ONNX_NAME_SIZE];
    char weight[NN_ONNX_NAME_SIZE];
    nn_onnx_parameter(w, layer, "weight", weight);
    nn_onnx_inner(layer, "index", index);
    nn_onnx_index(w, index, nn_onnx_int_option(layer, "column"));
    nn_onnx_inner(layer, "column", column);
    nn_onnx_begin(w, "Gather", column);
    nn_onnx_in(w, layer->in[0].name);
    nn_onnx_in(w, index);
    nn_onnx_out(w, column);
    nn_onnx_int(w, "axis", 2);
    nn_onnx_end(w);
    nn_onnx_inner(layer, "ids", ids);
    nn_onnx_begin(w, "Cast", ids);
    nn_onnx_in(w, column);
    nn_onnx_out(w, ids);
    nn_onnx_int(w, "to", INT64);
    nn_onnx_end(w);
    nn_onnx_simple(w, "Gather", weight, ids, layer->out.name);
    layer->out.rank = NN_ONNX_SEQUENCE;
    return true;
}

/* ---- convolution ---- */

/* [T, N, C] -> [N, C, T], a convolution of one axis, and back. */
bool nn_onnx_write_temporal_convolution(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    static const int64_t FORTH[3] = {1, 2, 0}, BACK[3] = {2, 0, 1};
    const char *way = json_string_value(json_object_get(layer->options, "padding"));
    int64_t kernel = nn_onnx_int_option(layer, "kernel");
    int64_t dilation = nn_onnx_int_option(layer, "dilation"), all = dilation * (kernel - 1);
    int64_t before = strcmp(way, "causal") == 0 ? all : all / 2;
    char rows[NN_ONNX_NAME_SIZE], weight[NN_ONNX_NAME_SIZE], bias[NN_ONNX_NAME_SIZE];
    char filtered[NN_ONNX_NAME_SIZE];
    bool with_bias = nn_onnx_has_parameter(w, layer, "bias");
    nn_onnx_inner(layer, "steps_last", rows);
    nn_onnx_inner(layer, "filtered", filtered);
    nn_onnx_parameter(w, layer, "weight", weight);
    if (with_bias) {
        nn_onnx_parameter(w, layer, "bias", bias);
    }
    nn_onnx_transpose(w, layer->in[0].name, FORTH, 3, rows);
    nn_onnx_begin(w, "Conv", filtered);
    nn_onnx_in(w, rows);
    nn_onnx_in(w, weight);
    if (with_bias) {
        nn_onnx_in(w, bias);
    }
    nn_onnx_out(w, filtered);
    nn_onnx_ints(w, "kernel_shape", &kernel, 1);
    nn_onnx_ints(w, "dilations", &dilation, 1);
    nn_onnx_ints(w, "pads", (const int64_t[]){before, all - before}, 2);
    nn_onnx_end(w);
    nn_onnx_transpose(w, filtered, BACK, 3, layer->out.name);
    layer->out.rank = NN_ONNX_SEQUENCE;
    return true;
}

/* ---- positions ---- */

/* Numbers 0, 1, ... of the steps. */
static void count_up(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                     char out[NN_ONNX_NAME_SIZE])
{
    char first[NN_ONNX_NAME_SIZE], by[NN_ONNX_NAME_SIZE], n[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "first", first);
    nn_onnx_inner(layer, "by", by);
    nn_onnx_index(w, first, 0);
    nn_onnx_index(w, by, 1);
    count_steps(w, layer, n);
    nn_onnx_inner(layer, "positions", out);
    nn_onnx_begin(w, "Range", out);
    nn_onnx_in(w, first);
    nn_onnx_in(w, n);
    nn_onnx_in(w, by);
    nn_onnx_out(w, out);
    nn_onnx_end(w);
}

/* A learned row a step; those beyond the last one have it again. */
static void learned_rows(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                         char out[NN_ONNX_NAME_SIZE])
{
    char positions[NN_ONNX_NAME_SIZE], last[NN_ONNX_NAME_SIZE], weight[NN_ONNX_NAME_SIZE];
    count_up(w, layer, positions);
    nn_onnx_inner(layer, "last", last);
    nn_onnx_index(w, last, nn_onnx_int_option(layer, "length") - 1);
    nn_onnx_parameter(w, layer, "weight", weight);
    nn_onnx_step(w, layer, "Min", positions, last, "known_positions", positions);
    nn_onnx_step(w, layer, "Gather", weight, positions, "rows", out);
}

/* Sines of even channels, cosines of odd ones: each times numbers that are 0 for the others. */
static void sinusoidal_rows(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                            char out[NN_ONNX_NAME_SIZE])
{
    static const char *const NAMES[3] = {"rates", "even", "odd"};
    static const int64_t LAST = 1;
    size_t channels = layer->in[0].channels;
    char names[3][NN_ONNX_NAME_SIZE], sines[NN_ONNX_NAME_SIZE], cosines[NN_ONNX_NAME_SIZE];
    char axis[NN_ONNX_NAME_SIZE], angles[NN_ONNX_NAME_SIZE];
    float *values = nn_arena_alloc(w->arena, 3 * channels, sizeof *values);
    for (size_t c = 0; values && c < channels; c++) {
        values[c] = (float)pow(10000, -(double)(c - c % 2) / (double)channels);
        values[channels + c] = c % 2 == 0 ? 1 : 0;
        values[2 * channels + c] = c % 2 == 0 ? 0 : 1;
    }
    for (size_t i = 0; i < 3; i++) {
        nn_onnx_inner(layer, NAMES[i], names[i]);
        nn_onnx_floats(w, names[i], &channels, 1, values ? values + i * channels : NULL);
    }
    nn_onnx_inner(layer, "channels_axis", axis);
    nn_onnx_axes(w, axis, &LAST, 1);
    count_up(w, layer, angles);
    nn_onnx_step(w, layer, "Unsqueeze", angles, axis, "column", angles);
    nn_onnx_step(w, layer, "CastLike", angles, names[0], "times", angles);
    nn_onnx_step(w, layer, "Mul", angles, names[0], "angles", angles);
    nn_onnx_step(w, layer, "Sin", angles, NULL, "sines", sines);
    nn_onnx_step(w, layer, "Mul", sines, names[1], "even_sines", sines);
    nn_onnx_step(w, layer, "Cos", angles, NULL, "cosines", cosines);
    nn_onnx_step(w, layer, "Mul", cosines, names[2], "odd_cosines", cosines);
    nn_onnx_step(w, layer, "Add", sines, cosines, "rows", out);
}

bool nn_onnx_write_positional_encoding(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    static const int64_t BATCH = 1;
    const char *encoding = json_string_value(json_object_get(layer->options, "encoding"));
    char rows[NN_ONNX_NAME_SIZE], axis[NN_ONNX_NAME_SIZE];
    if (strcmp(encoding, "learned") == 0) {
        learned_rows(w, layer, rows);
    } else {
        sinusoidal_rows(w, layer, rows);
    }
    nn_onnx_inner(layer, "batch_axis", axis);
    nn_onnx_axes(w, axis, &BATCH, 1);
    nn_onnx_step(w, layer, "Unsqueeze", rows, axis, "rows_of_all", rows);
    nn_onnx_simple(w, "Add", layer->in[0].name, rows, layer->out.name);
    layer->out.rank = NN_ONNX_SEQUENCE;
    return true;
}

/* ---- attention ---- */

/* A step sees itself and those before it: what is added to [T, T] scores is -infinity above the
 * diagonal, else 0. */
static void hide_later(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer,
                       char scores[NN_ONNX_NAME_SIZE])
{
    static const int64_t SHAPE[2] = {1, 1};
    char n[NN_ONNX_NAME_SIZE], shape[NN_ONNX_NAME_SIZE], hidden[NN_ONNX_NAME_SIZE];
    char diagonal[NN_ONNX_NAME_SIZE], whole[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "one_one", shape);
    nn_onnx_axes(w, shape, SHAPE, 2);
    nn_onnx_inner(layer, "hidden", hidden);
    nn_onnx_scalar(w, hidden, -INFINITY);
    nn_onnx_inner(layer, "diagonal", diagonal);
    nn_onnx_index(w, diagonal, 1);
    count_steps(w, layer, n);
    nn_onnx_step(w, layer, "Mul", shape, n, "steps_steps", shape);
    nn_onnx_step(w, layer, "Expand", hidden, shape, "square", hidden);
    nn_onnx_inner(layer, "mask", whole);
    nn_onnx_begin(w, "Trilu", whole);
    nn_onnx_in(w, hidden);
    nn_onnx_in(w, diagonal);
    nn_onnx_out(w, whole);
    nn_onnx_int(w, "upper", 1);
    nn_onnx_end(w);
    nn_onnx_step(w, layer, "Add", scores, whole, "seen_scores", scores);
}

/* [T, N, C] times a weight of the layer, with the bias if it has one. */
static void project(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer, const char *from,
                    const char *const parameters[2], const char *out)
{
    char weight[NN_ONNX_NAME_SIZE], bias[NN_ONNX_NAME_SIZE];
    bool with_bias = nn_onnx_has_parameter(w, layer, parameters[1]);
    nn_onnx_parameter(w, layer, parameters[0], weight);
    if (with_bias) {
        nn_onnx_parameter(w, layer, parameters[1], bias);
    }
    nn_onnx_steps_product(w, from, weight, with_bias ? bias : NULL, out);
}

/* Queries, keys and values [3, N, heads, T, d] of each head as what it says, [N, heads, T, d]. */
static void heads_say(struct nn_onnx_writer *w, const struct nn_onnx_layer *layer, const char *qkv,
                      size_t width, char out[NN_ONNX_NAME_SIZE])
{
    static const int64_t TURNED[4] = {0, 1, 3, 2};
    char queries[NN_ONNX_NAME_SIZE], keys[NN_ONNX_NAME_SIZE], values[NN_ONNX_NAME_SIZE];
    char turned[NN_ONNX_NAME_SIZE], scale[NN_ONNX_NAME_SIZE], seen[NN_ONNX_NAME_SIZE];
    take(w, layer, qkv, 0, "queries", queries);
    take(w, layer, qkv, 1, "keys", keys);
    take(w, layer, qkv, 2, "values", values);
    nn_onnx_inner(layer, "turned_keys", turned);
    nn_onnx_transpose(w, keys, TURNED, 4, turned);
    nn_onnx_inner(layer, "scale", scale);
    nn_onnx_scalar(w, scale, (float)(1 / sqrt((double)width)));
    nn_onnx_step(w, layer, "Mul", queries, scale, "scaled_queries", queries);
    nn_onnx_step(w, layer, "MatMul", queries, turned, "scores", out);
    if (json_is_true(json_object_get(layer->options, "causal"))) {
        hide_later(w, layer, out);
    }
    nn_onnx_inner(layer, "shares", seen);
    nn_onnx_begin(w, "Softmax", seen);
    nn_onnx_in(w, out);
    nn_onnx_out(w, seen);
    nn_onnx_int(w, "axis", -1);
    nn_onnx_end(w);
    nn_onnx_step(w, layer, "MatMul", seen, values, "heads", out);
}

bool nn_onnx_write_attention(struct nn_onnx_writer *w, struct nn_onnx_layer *layer)
{
    static const char *const IN[2] = {"in_proj_weight", "in_proj_bias"};
    static const char *const OUT[2] = {"out_proj.weight", "out_proj.bias"};
    static const int64_t FORTH[5] = {2, 1, 3, 0, 4}, BACK[4] = {2, 0, 1, 3}, WHOLE[3] = {0, 0, -1};
    int64_t heads = nn_onnx_int_option(layer, "heads");
    int64_t width = (int64_t)layer->in[0].channels / heads;
    const int64_t parts[5] = {0, 0, 3, heads, width};
    char shape[NN_ONNX_NAME_SIZE], step[NN_ONNX_NAME_SIZE], next[NN_ONNX_NAME_SIZE];
    nn_onnx_inner(layer, "qkv", step);
    project(w, layer, layer->in[0].name, IN, step);
    nn_onnx_inner(layer, "parts", shape);
    nn_onnx_axes(w, shape, parts, 5);
    nn_onnx_step(w, layer, "Reshape", step, shape, "split", step);
    nn_onnx_inner(layer, "by_head", next);
    nn_onnx_transpose(w, step, FORTH, 5, next);
    heads_say(w, layer, next, (size_t)width, step);
    nn_onnx_inner(layer, "by_step", next);
    nn_onnx_transpose(w, step, BACK, 4, next);
    nn_onnx_inner(layer, "whole", shape);
    nn_onnx_axes(w, shape, WHOLE, 3);
    nn_onnx_step(w, layer, "Reshape", next, shape, "joined", step);
    project(w, layer, step, OUT, layer->out.name);
    layer->out.rank = NN_ONNX_SEQUENCE;
    return true;
}
