/* SPDX-License-Identifier: MIT
 *
 * core/exchange: small graphs as other exporters write them, made here, node by node: what axes and
 * options come to, and what is said of those that no layer has. onnxruntime runs such files in
 * tests/accept/onnx_files.py.
 */
#include "tests/support/cmocka_all.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/onnx.h"

enum { NODES = 16, INPUTS = 6, TENSORS = 16, PIXELS = 6 };

/* A graph while it is made; its input is "x", its output the last node's. */
struct graph {
    struct nn_onnx_model model;
    struct nn_onnx_node nodes[NODES];
    struct nn_onnx_attribute attributes[NODES][INPUTS];
    const char *inputs[NODES][INPUTS], *outputs[NODES][2];
    struct nn_file_tensor tensors[TENSORS];
    struct nn_onnx_value input, output;
    float numbers[1024]; /* of every tensor of them */
    int64_t whole[TENSORS][8];
    size_t n_whole;
};

static struct graph begin(int64_t opset, size_t rank, const int64_t *dims)
{
    struct graph g = {.model = {.opset = opset, .ir_version = 8, .producer = "", .n_inputs = 1},
                      .input = {.name = "x", .has_shape = true, .rank = rank}};
    memcpy(g.input.dims, dims, rank * sizeof *dims);
    for (size_t i = 0; i < sizeof g.numbers / sizeof g.numbers[0]; i++) {
        g.numbers[i] = 0.5F;
    }
    return g;
}

static struct graph image(int64_t opset)
{
    static const int64_t DIMS[4] = {-1, 3, PIXELS, PIXELS};
    return begin(opset, 4, DIMS);
}

static struct graph sequence(int64_t opset)
{
    static const int64_t DIMS[3] = {-1, -1, 3};
    return begin(opset, 3, DIMS);
}

/* rank sizes of float numbers. */
static void tensor(struct graph *g, const char *name, size_t rank, const size_t *shape)
{
    struct nn_file_tensor *t = &g->tensors[g->model.n_tensors++];
    *t = (struct nn_file_tensor){.name = name, .dtype = NN_FILE_F32, .rank = rank, .count = 1};
    for (size_t i = 0; i < rank; i++) {
        t->shape[i] = shape[i];
        t->count *= shape[i];
    }
    t->bytes = t->count * sizeof(float);
    t->data = g->numbers;
    assert_true(t->bytes <= sizeof g->numbers);
}

static void list(struct graph *g, const char *name, size_t n, const int64_t *values)
{
    struct nn_file_tensor *t = &g->tensors[g->model.n_tensors++];
    int64_t *kept = g->whole[g->n_whole++];
    memcpy(kept, values, n * sizeof *values);
    *t = (struct nn_file_tensor){.name = name,
                                 .dtype = NN_FILE_I64,
                                 .rank = 1,
                                 .shape = {n},
                                 .count = n,
                                 .data = kept,
                                 .bytes = n * sizeof *values};
}

/* inputs ended by NULL. */
static void node(struct graph *g, const char *op, const char *const *inputs, const char *output)
{
    size_t i = g->model.n_nodes++, n = 0;
    for (; inputs[n]; n++) {
        g->inputs[i][n] = inputs[n];
    }
    g->outputs[i][0] = output;
    g->nodes[i] = (struct nn_onnx_node){.name = output,
                                        .op = op,
                                        .domain = "",
                                        .inputs = g->inputs[i],
                                        .outputs = g->outputs[i],
                                        .n_inputs = n,
                                        .n_outputs = 1,
                                        .attributes = g->attributes[i]};
    g->output.name = output;
}

#define NODE(g, op, output, ...) node(g, op, (const char *const[]){__VA_ARGS__, NULL}, output)

/* Of the last node. */
static struct nn_onnx_attribute *attribute(struct graph *g, const char *name,
                                           enum nn_onnx_type type)
{
    size_t i = g->model.n_nodes - 1;
    struct nn_onnx_attribute *a = &g->attributes[i][g->nodes[i].n_attributes++];
    a->name = name;
    a->type = type;
    return a;
}

static void say_int(struct graph *g, const char *name, int64_t value)
{
    attribute(g, name, NN_ONNX_INT)->integer = value;
}

static void say_ints(struct graph *g, const char *name, size_t n, const int64_t *values)
{
    struct nn_onnx_attribute *a = attribute(g, name, NN_ONNX_INTS);
    int64_t *kept = g->whole[g->n_whole++];
    memcpy(kept, values, n * sizeof *values);
    a->integers = kept;
    a->n = n;
}

/* "f" with 4 channels of the input. */
static void convolve(struct graph *g)
{
    tensor(g, "f.weight", 4, (const size_t[]){4, 3, 3, 3});
    NODE(g, "Conv", "f", "x", "f.weight");
}

static enum nn_status import(struct graph *g, struct nn_onnx_import **out, struct nn_error *err)
{
    g->model.nodes = g->nodes;
    g->model.tensors = g->tensors;
    g->model.inputs = &g->input;
    g->model.outputs = &g->output;
    g->model.n_outputs = 1;
    return nn_onnx_import_create(&g->model, out, err);
}

/* The kinds of its layers behind the input. */
static void check_reads(struct graph *g, const char *kinds)
{
    struct nn_onnx_import *read = NULL;
    struct nn_error err = {0};
    char text[512] = "";
    size_t i;
    json_t *layer;
    if (import(g, &read, &err) != NN_OK) {
        fail_msg("%s: %s", kinds, err.text);
    }
    const json_t *layers = json_object_get(nn_onnx_import_description(read), "layers");
    json_array_foreach(layers, i, layer)
    {
        const char *kind = json_string_value(json_object_get(layer, "kind"));
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? " " : "",
                       i > 0 ? kind : "");
    }
    assert_string_equal(text, kinds);
    nn_onnx_import_destroy(read);
}

/* The one node that is refused: operator and reason. */
static void check_refused(struct graph *g, const char *reason)
{
    struct nn_onnx_import *read = NULL;
    struct nn_error err = {0};
    char text[160];
    (void)snprintf(text, sizeof text, "1 nodes of the graph cannot be read: %s", reason);
    assert_int_equal(import(g, &read, &err), NN_ERR_NOT_SUPPORTED);
    assert_string_equal(err.text, text);
}

/* ---- softmax ---- */

enum { DEFAULT = 99 };

static void softmax(struct graph *g, const char *of, int64_t axis)
{
    NODE(g, "Softmax", "soft", of);
    if (axis != DEFAULT) {
        say_int(g, "axis", axis);
    }
}

static void softmax_of_an_image_is_over_what_its_opset_says(void **state)
{
    static const char WIDTH[] = "Softmax (over another axis than channels)";
    static const char ALL[] = "Softmax (over channels and pixels at once, as before opset 13)";
    static const struct {
        int64_t opset, axis;
        const char *refused;
    } CASES[] = {{17, 1, NULL},  {17, -3, NULL},       {17, -1, WIDTH},
                 {17, 3, WIDTH}, {17, DEFAULT, WIDTH}, {11, DEFAULT, ALL},
                 {11, 1, ALL},   {11, -3, ALL},        {11, 3, WIDTH}};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct graph g = image(CASES[i].opset);
        convolve(&g);
        softmax(&g, "f", CASES[i].axis);
        if (CASES[i].refused) {
            check_refused(&g, CASES[i].refused);
        } else {
            check_reads(&g, "convolution softmax");
        }
    }
}

static void softmax_of_one_pixel_is_over_channels_in_every_opset(void **state)
{
    static const int64_t SIDES[2] = {PIXELS - 2, PIXELS - 2};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct graph g = image(9);
        convolve(&g);
        if (i == 0) {
            NODE(&g, "GlobalAveragePool", "pool", "f");
        } else {
            NODE(&g, "AveragePool", "pool", "f");
            say_ints(&g, "kernel_shape", 2, SIDES);
        }
        softmax(&g, "pool", DEFAULT);
        check_reads(&g, i == 0 ? "convolution global_average_pool softmax"
                               : "convolution average_pool softmax");
    }
}

static void softmax_of_a_row_is_over_its_features(void **state)
{
    static const int64_t AXES[] = {DEFAULT, 1, -1};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct graph g = image(i % 2 ? 9 : 17);
        convolve(&g);
        NODE(&g, "Flatten", "flat", "f");
        softmax(&g, "flat", AXES[i / 2]);
        check_reads(&g, "convolution flatten softmax");
    }
}

/* The width of an image of one pixel, which was a row, is no feature. */
static void a_row_as_an_image_has_the_axes_of_one(void **state)
{
    static const int64_t BEHIND[2] = {-1, -2};
    (void)state;
    for (int last = 0; last < 2; last++) {
        struct graph g = image(17);
        convolve(&g);
        NODE(&g, "Flatten", "flat", "f");
        list(&g, "axes", 2, BEHIND);
        NODE(&g, "Unsqueeze", "pixel", "flat", "axes");
        NODE(&g, "Sigmoid", "s", "pixel");
        softmax(&g, last ? "s" : "pixel", -1);
        check_refused(&g, "Softmax (over another axis than channels)");
    }
}

static void softmax_of_steps_is_over_their_features(void **state)
{
    static const char OTHER[] = "Softmax (over another axis than channels)";
    static const struct {
        int64_t opset, axis;
        const char *refused;
    } CASES[] = {{17, DEFAULT, NULL}, {17, 2, NULL},       {9, -1, NULL},
                 {17, 1, OTHER},      {9, DEFAULT, OTHER}, {17, -3, OTHER}};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct graph g = sequence(CASES[i].opset);
        tensor(&g, "w", 2, (const size_t[]){3, 4});
        NODE(&g, "MatMul", "f", "x", "w");
        softmax(&g, "f", CASES[i].axis);
        if (CASES[i].refused) {
            check_refused(&g, CASES[i].refused);
        } else {
            check_reads(&g, "fully_connected softmax");
        }
    }
}

/* ---- other axes ---- */

static void axes_are_counted_from_both_ends(void **state)
{
    static const int64_t SIDES[2] = {-1, -2}, CHANNELS[1] = {-3}, COLUMNS[1] = {-1};
    (void)state;
    struct graph g = image(13);
    convolve(&g);
    NODE(&g, "ReduceMean", "mean", "f");
    say_ints(&g, "axes", 1, CHANNELS);
    NODE(&g, "Concat", "both", "f", "mean");
    say_int(&g, "axis", -3);
    NODE(&g, "ReduceMean", "pool", "both");
    say_ints(&g, "axes", 2, SIDES);
    say_int(&g, "keepdims", 0);
    NODE(&g, "Tanh", "tanh", "pool");
    NODE(&g, "Concat", "rows", "pool", "tanh");
    say_int(&g, "axis", -1);
    check_reads(&g, "convolution channel_mean concatenation global_average_pool tanh concatenation "
                    "softmax");
    g = image(13);
    convolve(&g);
    NODE(&g, "Flatten", "flat", "f");
    say_int(&g, "axis", -3);
    check_reads(&g, "convolution flatten softmax");
    g = image(13);
    convolve(&g);
    NODE(&g, "ReduceMean", "mean", "f");
    say_ints(&g, "axes", 1, COLUMNS);
    check_refused(&g, "ReduceMean (over other axes)");
    g = image(13);
    convolve(&g);
    NODE(&g, "Concat", "wide", "f", "f");
    say_int(&g, "axis", -1);
    check_refused(&g, "Concat (along another axis than channels)");
    g = sequence(13);
    NODE(&g, "ReduceMean", "mean", "x");
    say_ints(&g, "axes", 2, SIDES);
    check_refused(&g, "ReduceMean (over other axes)");
}

static void a_norm_is_of_the_last_axis(void **state)
{
    static const size_t FEATURES = 4;
    static const int64_t SIDES[2] = {2, 3};
    (void)state;
    for (int axis = -1; axis < 2; axis += 2) {
        struct graph g = image(17);
        convolve(&g);
        NODE(&g, "ReduceMean", "row", "f");
        say_ints(&g, "axes", 2, SIDES);
        say_int(&g, "keepdims", 0);
        tensor(&g, "n.weight", 1, &FEATURES);
        tensor(&g, "n.bias", 1, &FEATURES);
        NODE(&g, "LayerNormalization", "n", "row", "n.weight", "n.bias");
        say_int(&g, "axis", axis);
        check_reads(&g, "convolution global_average_pool layer_norm softmax");
    }
}

/* Of [T, N, C] they would be of the samples. */
static void operators_of_images_are_not_taken_for_steps(void **state)
{
    static const size_t FEATURES = 3;
    (void)state;
    struct graph g = sequence(17);
    tensor(&g, "v", 1, &FEATURES);
    NODE(&g, "BatchNormalization", "n", "x", "v", "v", "v", "v");
    check_refused(&g, "BatchNormalization (of the samples of sequences)");
    g = sequence(17);
    NODE(&g, "LRN", "n", "x");
    check_refused(&g, "LRN (of the samples of sequences)");
}

static void a_norm_of_the_batch_is_refused(void **state)
{
    static const char REASON[] = "BatchNormalization (by statistics of the batch, as in training)";
    static const size_t FEATURES = 4;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct graph g = image(i == 2 ? 13 : 15);
        convolve(&g);
        tensor(&g, "v", 1, &FEATURES);
        NODE(&g, "BatchNormalization", "n", "f", "v", "v", "v", "v");
        if (i == 2) {
            g.outputs[1][1] = "mean";
            g.nodes[1].n_outputs = 2;
        } else {
            say_int(&g, "training_mode", (int64_t)i);
        }
        if (i == 0) {
            check_reads(&g, "convolution batch_norm softmax");
        } else {
            check_refused(&g, REASON);
        }
    }
}

/* ---- inputs and shapes ---- */

static void a_gate_may_stand_first(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct graph g = image(17);
        convolve(&g);
        if (i < 2) {
            NODE(&g, "GlobalAveragePool", "gate", "f");
        } else {
            tensor(&g, "gate.weight", 4, (const size_t[]){1, 3, 3, 3});
            NODE(&g, "Conv", "gate", "x", "gate.weight");
        }
        NODE(&g, "Mul", "times", i % 2 ? "f" : "gate", i % 2 ? "gate" : "f");
        check_reads(&g, i < 2 ? "convolution global_average_pool multiplication softmax"
                              : "convolution convolution multiplication softmax");
    }
    struct graph g = image(17);
    convolve(&g);
    NODE(&g, "GlobalAveragePool", "pool", "f");
    NODE(&g, "Flatten", "row", "pool");
    NODE(&g, "Mul", "times", "row", "f");
    check_refused(&g, "Mul (of a row and an image, whose axes do not meet)");
}

static void one_pixel_is_squeezed_to_a_row(void **state)
{
    static const char REFUSED[] = "Squeeze (other than of one pixel, or of one direction)";
    static const int64_t AXES[4][2] = {{2, 3}, {-1, -2}, {3, 2}, {0, 2}};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct graph g = image(i == 1 ? 11 : 17);
        convolve(&g);
        NODE(&g, "GlobalAveragePool", "pool", "f");
        if (i == 1) {
            NODE(&g, "Squeeze", "row", "pool");
            say_ints(&g, "axes", 2, AXES[i]);
        } else if (i < 4) {
            list(&g, "axes", 2, AXES[i]);
            NODE(&g, "Squeeze", "row", "pool", "axes");
        } else {
            NODE(&g, "Squeeze", "row", i == 4 ? "pool" : "f");
        }
        if (i == 3 || i == 5) {
            check_refused(&g, REFUSED);
        } else {
            check_reads(&g, "convolution global_average_pool flatten softmax");
        }
    }
}

static void a_refused_convolution_says_what_of_it(void **state)
{
    static const int64_t ONE[1] = {2};
    (void)state;
    struct graph g = image(17);
    convolve(&g);
    attribute(&g, "auto_pad", NN_ONNX_STRING)->text = "SAME_LOWER";
    check_refused(&g, "Conv (the odd pixel of padding in front, by SAME_LOWER)");
    g = image(17);
    convolve(&g);
    say_ints(&g, "dilations", 1, ONE);
    check_refused(&g, "Conv (windows of two sides alone)");
    g = image(17);
    tensor(&g, "w", 4, (const size_t[]){3, 4, 3, 3});
    NODE(&g, "ConvTranspose", "up", "x", "w");
    say_ints(&g, "output_padding", 1, ONE);
    check_refused(&g, "ConvTranspose (windows of two sides alone)");
}

/* ---- soft thresholds ---- */

static struct graph *threshold(struct graph *g, const char *of, const char *second, const char *t)
{
    NODE(g, "Neg", "minus", t);
    NODE(g, "Max", "above", "minus", of);
    NODE(g, "Min", "within", second, "above");
    NODE(g, "Sub", "soft", of, "within");
    return g;
}

static void a_soft_threshold_is_the_whole_chain_alone(void **state)
{
    static const char *const OTHERS[2] = {"other", "pool"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct graph g = image(17);
        convolve(&g);
        tensor(&g, "t", 0, NULL);
        tensor(&g, "other", 0, NULL);
        NODE(&g, "GlobalAveragePool", "pool", "f");
        check_reads(threshold(&g, "f", i ? "pool" : "t", i ? "pool" : "t"),
                    i ? "convolution global_average_pool soft_threshold softmax"
                      : "convolution soft_threshold softmax");
        g.model.n_nodes -= 4;
        struct nn_onnx_import *read = NULL;
        struct nn_error err = {0};
        (void)threshold(&g, "f", OTHERS[i], i ? "t" : "pool");
        assert_int_equal(import(&g, &read, &err), NN_ERR_NOT_SUPPORTED);
        assert_string_equal(err.text,
                            "2 nodes of the graph cannot be read: Min (other than in a soft "
                            "threshold), Sub (other than in a norm or a soft threshold)");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_of_an_image_is_over_what_its_opset_says),
        cmocka_unit_test(softmax_of_one_pixel_is_over_channels_in_every_opset),
        cmocka_unit_test(softmax_of_a_row_is_over_its_features),
        cmocka_unit_test(a_row_as_an_image_has_the_axes_of_one),
        cmocka_unit_test(softmax_of_steps_is_over_their_features),
        cmocka_unit_test(axes_are_counted_from_both_ends),
        cmocka_unit_test(a_norm_is_of_the_last_axis),
        cmocka_unit_test(operators_of_images_are_not_taken_for_steps),
        cmocka_unit_test(a_norm_of_the_batch_is_refused),
        cmocka_unit_test(a_gate_may_stand_first),
        cmocka_unit_test(one_pixel_is_squeezed_to_a_row),
        cmocka_unit_test(a_refused_convolution_says_what_of_it),
        cmocka_unit_test(a_soft_threshold_is_the_whole_chain_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
