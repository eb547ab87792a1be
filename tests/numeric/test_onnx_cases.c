/* SPDX-License-Identifier: MIT
 *
 * ONNX's own test cases of convolution, padding, pooling, batch norm and softmax (Debian's
 * libonnx-testdata)
 * through our layers. What uses a feature that the core lacks is listed with the feature.
 * ASSAY_ONNX_DATA names another directory.
 */
#include "tests/support/cmocka_all.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cpu.h"
#include "core/kernels/kernels.h"
#include "core/network/network.h"
#include "tests/support/onnx.h"

#define DATA "/usr/share/libonnx-testdata/data"

static const char *const OPS[] = {"Conv",
                                  "ConvTranspose",
                                  "Pad",
                                  "MaxPool",
                                  "AveragePool",
                                  "GlobalAveragePool",
                                  "BatchNormalization",
                                  "Softmax"};

/* ---- what the core lacks ---- */

static bool all_ones(const struct onnx_attribute *a)
{
    for (size_t i = 0; a && i < a->n_integers; i++) {
        if (a->integers[i] != 1) {
            return false;
        }
    }
    return true;
}

static bool text_is(const struct onnx_case *c, const char *name, const char *text)
{
    const struct onnx_attribute *a = onnx_attribute(c, name);
    return a && strcmp(a->text, text) == 0;
}

static bool is_convolution(const struct onnx_case *c)
{
    return strcmp(c->op, "Conv") == 0 || strcmp(c->op, "ConvTranspose") == 0;
}

/* What Pad adds before (side 0) and behind (side 1) an axis of four: an attribute, later an input.
 */
static int64_t pad_at(const struct onnx_case *c, size_t side, size_t axis)
{
    const struct onnx_attribute *pads = onnx_attribute(c, "pads");
    const int64_t *list = pads ? pads->integers : c->inputs[1].integers;
    return list[4 * side + axis];
}

/* The feature that a case needs and the core does not have; NULL: none. */
static const char *lacking(const struct onnx_case *c)
{
    if (c->n_nodes > 1) {
        return "a graph of several operators";
    }
    if (!c->inputs[0].values || !c->output.values) {
        return "other types than float32";
    }
    if (strcmp(c->op, "Softmax") == 0) {
        return NULL;
    }
    if (c->inputs[0].rank != 4) {
        return "three-dimensional images";
    }
    if (strcmp(c->op, "Pad") == 0 &&
        (pad_at(c, 0, 0) || pad_at(c, 1, 0) || pad_at(c, 0, 1) || pad_at(c, 1, 1))) {
        return "padding of batch or channels";
    }
    if (!is_convolution(c) && !all_ones(onnx_attribute(c, "dilations"))) {
        return "pooling with dilation";
    }
    if (onnx_integer(c, "training_mode", 0) != 0) {
        return "batch norm whose running variance is the biased one";
    }
    if (c->n_outputs > 1 && strcmp(c->op, "MaxPool") == 0) {
        return "indices of the maxima";
    }
    return NULL;
}

/* ---- signals as images one pixel wide ---- */

static void widen_tensor(struct onnx_tensor *tensor)
{
    if (tensor->rank == 3) {
        tensor->dims[tensor->rank++] = 1;
    }
}

static void widen(struct onnx_case *c)
{
    if (c->inputs[0].rank != 3 || strcmp(c->op, "Softmax") == 0) {
        return;
    }
    for (size_t i = 0; i < c->n_inputs; i++) {
        widen_tensor(&c->inputs[i]);
    }
    widen_tensor(&c->output);
    for (size_t i = 0; i < c->n_attributes; i++) {
        struct onnx_attribute *a = &c->attributes[i];
        bool pads = strcmp(a->name, "pads") == 0;
        if (pads && a->n_integers == 2) { /* begin, end -> top, left, bottom, right */
            a->integers[2] = a->integers[1];
            a->integers[1] = a->integers[3] = 0;
            a->n_integers = 4;
        } else if (!pads && a->n_integers == 1) {
            a->integers[a->n_integers++] = 1;
        }
    }
}

/* ---- softmax, on any axis ---- */

/* Elements of the axis are `inner` apart; `outer` runs of them. */
static void run_softmax(const struct onnx_case *c, float *out)
{
    const struct onnx_tensor *x = &c->inputs[0];
    const struct nn_exec exec = {.kernels = nn_kernels_best()};
    int64_t axis = onnx_integer(c, "axis", -1);
    size_t at = (size_t)(axis < 0 ? axis + (int64_t)x->rank : axis), n = x->dims[at], inner = 1;
    nn_real *row = malloc(n * sizeof *row);
    assert_non_null(row);
    for (size_t i = at + 1; i < x->rank; i++) {
        inner *= x->dims[i];
    }
    for (size_t r = 0; r < x->count / n; r++) {
        size_t first = r / inner * inner * n + r % inner;
        for (size_t i = 0; i < n; i++) {
            row[i] = (nn_real)x->values[first + i * inner];
        }
        nn_softmax_forward(&exec, row, n, row, n, 1, n);
        for (size_t i = 0; i < n; i++) {
            out[first + i * inner] = (float)row[i];
        }
    }
    free(row);
}

/* ---- layers ---- */

/* Sets a list option: numbers from..from+1, or the four pads in our order (top, bottom, left,
 * right). */
static void set_list(json_t *layer, const char *option, const struct onnx_attribute *a)
{
    static const size_t PADS[4] = {0, 2, 1, 3};
    json_t *list = json_array();
    for (size_t i = 0; i < a->n_integers; i++) {
        size_t k = a->n_integers == 4 ? PADS[i] : i;
        (void)json_array_append_new(list, json_integer((json_int_t)a->integers[k]));
    }
    (void)json_object_set_new(layer, option, list);
}

/* SAME_LOWER: the output is the input divided by the stride, the odd pixel of padding goes before;
 * ours goes behind, so the padding is written out. */
static void set_same_lower(const struct onnx_case *c, json_t *layer)
{
    json_t *list = json_array();
    for (size_t axis = 0; axis < 2; axis++) {
        const struct onnx_attribute *strides = onnx_attribute(c, "strides");
        int64_t size = (int64_t)c->inputs[0].dims[2 + axis];
        int64_t stride = strides ? strides->integers[axis] : 1;
        int64_t kernel = onnx_attribute(c, "kernel_shape")->integers[axis];
        int64_t total = ((size + stride - 1) / stride - 1) * stride + kernel - size;
        total = total > 0 ? total : 0;
        (void)json_array_append_new(list, json_integer((json_int_t)(total - total / 2)));
        (void)json_array_append_new(list, json_integer((json_int_t)(total / 2)));
    }
    (void)json_object_set_new(layer, "padding", list);
}

static void set_window(const struct onnx_case *c, json_t *layer)
{
    const struct onnx_attribute *strides = onnx_attribute(c, "strides");
    const struct onnx_attribute *kernel = onnx_attribute(c, "kernel_shape");
    const struct onnx_attribute *pads = onnx_attribute(c, "pads");
    if (kernel) {
        set_list(layer, "kernel", kernel);
    } else {
        (void)json_object_set_new(layer, "kernel",
                                  json_pack("[I, I]", (json_int_t)c->inputs[1].dims[2],
                                            (json_int_t)c->inputs[1].dims[3]));
    }
    if (strides) {
        set_list(layer, "stride", strides);
    } else {
        (void)json_object_set_new(layer, "stride", json_integer(1));
    }
    if (text_is(c, "auto_pad", "SAME_UPPER")) {
        (void)json_object_set_new(layer, "same_padding", json_true());
    } else if (text_is(c, "auto_pad", "SAME_LOWER")) {
        set_same_lower(c, layer);
    } else if (pads) {
        set_list(layer, "padding", pads);
    }
}

/* ConvTranspose whose padding follows from the output's size (ONNX's rule: the odd pixel is cut
 * before, with SAME_UPPER behind; what is too few is added behind). */
static void set_cut(const struct onnx_case *c, json_t *layer)
{
    json_t *cut = json_array(), *more = json_array();
    for (size_t axis = 0; axis < 2; axis++) {
        const struct onnx_attribute *strides = onnx_attribute(c, "strides");
        const struct onnx_attribute *added = onnx_attribute(c, "output_padding");
        json_int_t stride = strides ? strides->integers[axis] : 1;
        json_int_t whole = (json_int_t)(c->inputs[0].dims[2 + axis] - 1) * stride +
                           (json_int_t)c->inputs[1].dims[2 + axis] +
                           (added ? added->integers[axis] : 0);
        json_int_t total = whole - (json_int_t)c->output.dims[2 + axis];
        json_int_t pads = total > 0 ? total : 0, few = pads / 2;
        json_int_t before = text_is(c, "auto_pad", "SAME_UPPER") ? few : pads - few;
        (void)json_array_append_new(cut, json_integer(before));
        (void)json_array_append_new(cut, json_integer(pads - before));
        (void)json_array_append_new(
            more, json_integer((added ? added->integers[axis] : 0) + (total < 0 ? -total : 0)));
    }
    (void)json_object_set_new(layer, "padding", cut);
    (void)json_object_set_new(layer, "output_padding", more);
}

static void set_convolution(const struct onnx_case *c, json_t *layer)
{
    bool transposed = strcmp(c->op, "ConvTranspose") == 0;
    json_int_t groups = onnx_integer(c, "group", 1);
    json_int_t filters = (json_int_t)c->inputs[1].dims[transposed];
    set_window(c, layer);
    if (onnx_attribute(c, "dilations")) {
        set_list(layer, "dilation", onnx_attribute(c, "dilations"));
    }
    if (transposed && (onnx_attribute(c, "output_shape") || onnx_attribute(c, "auto_pad"))) {
        (void)json_object_del(layer, "same_padding");
        set_cut(c, layer);
    } else if (onnx_attribute(c, "output_padding")) {
        set_list(layer, "output_padding", onnx_attribute(c, "output_padding"));
    }
    (void)json_object_set_new(layer, "filters",
                              json_integer(transposed ? groups * filters : filters));
    (void)json_object_set_new(layer, "groups", json_integer(groups));
    (void)json_object_set_new(layer, "bias", json_boolean(c->n_inputs > 2));
}

/* Top, bottom, left, right of what Pad adds (sign 1) or cuts (sign -1). */
static json_t *pads_of(const struct onnx_case *c, int64_t sign)
{
    json_t *list = json_array();
    for (size_t i = 0; i < 4; i++) {
        int64_t n = sign * pad_at(c, i % 2, 2 + i / 2);
        (void)json_array_append_new(list, json_integer((json_int_t)(n > 0 ? n : 0)));
    }
    return list;
}

static void set_pads(const struct onnx_case *c, json_t *layer)
{
    const struct onnx_attribute *value = onnx_attribute(c, "value");
    double constant = value ? value->real : 0;
    if (c->n_inputs > 2 && c->inputs[2].values) {
        constant = (double)c->inputs[2].values[0];
    }
    const char *mode = text_is(c, "mode", "reflect") ? "reflect"
                       : text_is(c, "mode", "edge")  ? "replicate"
                                                     : "constant";
    (void)json_object_set_new(layer, "size", pads_of(c, 1));
    (void)json_object_set_new(layer, "mode", json_string(mode));
    (void)json_object_set_new(layer, "value", json_real(constant));
}

static json_t *layer_of(const struct onnx_case *c)
{
    json_t *layer = json_pack("{s:s}", "name", "a");
    const char *kind = "batch_norm";
    if (is_convolution(c)) {
        kind = strcmp(c->op, "Conv") == 0 ? "convolution" : "transposed_convolution";
        set_convolution(c, layer);
    } else if (strcmp(c->op, "Pad") == 0) {
        kind = "spatial_padding";
        set_pads(c, layer);
    } else if (strcmp(c->op, "GlobalAveragePool") == 0) {
        kind = "global_average_pool";
    } else if (strcmp(c->op, "BatchNormalization") == 0) {
        const struct onnx_attribute *epsilon = onnx_attribute(c, "epsilon");
        (void)json_object_set_new(layer, "epsilon", json_real(epsilon ? epsilon->real : 1e-5));
    } else {
        bool average = strcmp(c->op, "AveragePool") == 0;
        kind = average ? "average_pool" : "max_pool";
        set_window(c, layer);
        (void)json_object_set_new(layer, "ceil_mode",
                                  json_boolean(onnx_integer(c, "ceil_mode", 0) != 0));
        if (average) {
            bool counted = onnx_integer(c, "count_include_pad", 0) != 0;
            (void)json_object_set_new(layer, "count_padding", json_boolean(counted));
        }
    }
    (void)json_object_set_new(layer, "kind", json_string(kind));
    return layer;
}

/* In the order of our parameters: weight, bias; scale, shift, mean, variance. */
static void set_parameters(const struct onnx_case *c, struct nn_network *network)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *p = nn_network_parameter(network, i);
        const struct onnx_tensor *from = &c->inputs[i + 1];
        nn_real *values = malloc(p->count * sizeof *values);
        assert_true(values && from->values && from->count == p->count);
        for (size_t k = 0; k < p->count; k++) {
            values[k] = (nn_real)from->values[k];
        }
        nn_parameter_from_torch(p, values);
        free(values);
    }
}

/* Channels first <-> channels last. */
static void run_network(struct nn_network *network, const struct onnx_case *c, float *out)
{
    const size_t *x = c->inputs[0].dims, *y = c->output.dims;
    nn_real *input = nn_network_input(network);
    size_t pixels = x[2] * x[3], out_pixels = y[2] * y[3];
    for (size_t i = 0; i < c->inputs[0].count; i++) {
        size_t n = i / pixels / x[1], channel = i / pixels % x[1];
        input[(n * pixels + i % pixels) * x[1] + channel] = (nn_real)c->inputs[0].values[i];
    }
    nn_network_forward(network, x[0], NN_PHASE_INFERENCE, NULL);
    const nn_real *output = nn_network_output(network);
    assert_int_equal(nn_network_output_size(network), y[1] * out_pixels);
    for (size_t i = 0; i < c->output.count; i++) {
        size_t n = i / out_pixels / y[1], channel = i / out_pixels % y[1];
        out[i] = (float)output[(n * out_pixels + i % out_pixels) * y[1] + channel];
    }
}

static void run_layer(const struct onnx_case *c, enum nn_operators operators, float *out)
{
    struct nn_error err = {0};
    struct nn_description *description = NULL;
    struct nn_network *network = NULL;
    const size_t *x = c->inputs[0].dims;
    const struct nn_network_bind bind = {.height = x[2], .width = x[3], .channels = x[1]};
    const struct nn_network_options options = {
        .max_batch = x[0], .phase = NN_PHASE_INFERENCE, .operators = operators};
    json_t *spec = json_pack("{s:[{s:s, s:s, s:s}, o]}", "layers", "name", "in", "kind",
                             "image_input", "normalisation", "none", layer_of(c));
    if (strcmp(c->op, "Pad") == 0) { /* negative pads */
        json_t *cut =
            json_pack("{s:s, s:s, s:o}", "name", "b", "kind", "cropping", "size", pads_of(c, -1));
        (void)json_array_append_new(json_object_get(spec, "layers"), cut);
    }
    if (nn_description_parse(spec, &description, &err) != NN_OK ||
        nn_network_create(description, &bind, &options, &network, &err) != NN_OK) {
        fail_msg("%s: %s", c->op, err.text);
    }
    set_parameters(c, network);
    run_network(network, c, out);
    nn_network_destroy(network);
    nn_description_destroy(description);
    json_decref(spec);
}

/* ---- all cases ---- */

struct tally {
    size_t passed, failed, lacking;
};

static void compare(const char *name, const struct onnx_case *c, const float *out,
                    struct tally *tally)
{
    double worst = 0, largest = 0;
    for (size_t i = 0; i < c->output.count; i++) {
        worst = fmax(worst, fabs((double)out[i] - (double)c->output.values[i]));
        largest = fmax(largest, fabs((double)c->output.values[i]));
    }
    bool fine = worst <= 1e-5 * fmax(largest, 1e-30);
    tally->passed += fine;
    tally->failed += !fine;
    if (!fine) {
        printf("%s: off by %g of %g\n", name, worst, largest);
    }
}

static bool is_ours(const char *op)
{
    for (size_t i = 0; i < sizeof OPS / sizeof OPS[0]; i++) {
        if (strcmp(op, OPS[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void run_case(const char *name, const struct onnx_case *c, struct tally *tally)
{
    const char *feature = lacking(c);
    if (feature) {
        printf("%-50s needs %s\n", name, feature);
        tally->lacking++;
        return;
    }
    float *out = malloc((c->output.count + 1) * sizeof *out);
    assert_non_null(out);
    if (strcmp(c->op, "Softmax") == 0) {
        run_softmax(c, out);
        compare(name, c, out, tally);
    } else {
        for (int plain = 0; plain < 2; plain++) {
            run_layer(c, plain ? NN_OPERATORS_PLAIN : NN_OPERATORS_OPTIMISED, out);
            compare(name, c, out, tally);
        }
    }
    free(out);
}

static void run_directory(const char *root, const char *part, struct tally *tally)
{
    char path[600], one[900];
    struct dirent **names = NULL;
    (void)snprintf(path, sizeof path, "%s/%s", root, part);
    int n = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        struct onnx_case c;
        (void)snprintf(one, sizeof one, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && onnx_case_read(one, &c)) {
            if (is_ours(c.op)) {
                widen(&c);
                run_case(names[i]->d_name, &c, tally);
            }
            onnx_case_free(&c);
        }
        free(names[i]);
    }
    free(names);
}

static void every_case_that_uses_what_there_is(void **state)
{
    const char *root = getenv("ASSAY_ONNX_DATA");
    struct tally tally = {0};
    (void)state;
    root = root ? root : DATA;
    DIR *directory = opendir(root);
    if (!directory) {
        fail_msg("%s: there is no such directory (`make deps-test` installs libonnx-testdata)",
                 root);
    }
    (void)closedir(directory);
    run_directory(root, "node", &tally);
    run_directory(root, "pytorch-converted", &tally);
    run_directory(root, "pytorch-operator", &tally);
    printf("%zu comparisons agree, %zu do not, %zu cases need more\n", tally.passed, tally.failed,
           tally.lacking);
    assert_int_equal(tally.failed, 0);
    assert_true(tally.passed >= 160);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_that_uses_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
