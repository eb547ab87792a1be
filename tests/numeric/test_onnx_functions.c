/* SPDX-License-Identifier: MIT
 *
 * ONNX's own test cases (Debian's libonnx-testdata) of functions of each value, sums, products,
 * matrices and local response norm, through our layers; those of images are in test_onnx_cases.c.
 * What uses a feature that the core lacks is listed with it. ASSAY_ONNX_DATA names another
 * directory.
 */
#include "tests/support/cmocka_all.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/network.h"
#include "tests/support/network.h"
#include "tests/support/onnx.h"

#define DATA "/usr/share/libonnx-testdata/data"

/* Operators of one input as a kind of layer: an attribute and the option that it is. */
struct function {
    const char *op, *kind, *attribute, *option;
    double fallback;
};
static const struct function FUNCTIONS[] = {
    {"Relu", "relu", NULL, NULL, 0},        {"Sigmoid", "sigmoid", NULL, NULL, 0},
    {"Tanh", "tanh", NULL, NULL, 0},        {"Abs", "absolute", NULL, NULL, 0},
    {"Elu", "elu", "alpha", "alpha", 1},    {"LeakyRelu", "leaky_relu", "alpha", "slope", 0.01},
    {"Identity", "dropout", NULL, NULL, 0}, /* which is that outside of training */
    {"Dropout", "dropout", NULL, NULL, 0},  {0},
};

enum shape { VALUES, PAIRS, MATRIX, IMAGE };

static const struct function *function_of(const struct onnx_case *c)
{
    const struct function *f = FUNCTIONS;
    while (f->op && strcmp(f->op, c->op) != 0) {
        f++;
    }
    return f->op ? f : NULL;
}

static bool is(const struct onnx_case *c, const char *op)
{
    return strcmp(c->op, op) == 0;
}

static bool is_ours(const struct onnx_case *c)
{
    return function_of(c) || is(c, "Add") || is(c, "Mul") || is(c, "Gemm") || is(c, "MatMul") ||
           is(c, "LRN");
}

static enum shape shape_of(const struct onnx_case *c)
{
    return is(c, "Add") || is(c, "Mul")       ? PAIRS
           : is(c, "Gemm") || is(c, "MatMul") ? MATRIX
           : is(c, "LRN")                     ? IMAGE
                                              : VALUES;
}

/* ---- what the core lacks ---- */

static bool same_shape(const struct onnx_tensor *a, const struct onnx_tensor *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

static double real_of(const struct onnx_case *c, const char *name, double fallback)
{
    const struct onnx_attribute *a = onnx_attribute(c, name);
    return a ? a->real : fallback;
}

static const char *matrix_lacks(const struct onnx_case *c)
{
    size_t columns = c->inputs[1].dims[onnx_integer(c, "transB", 0) ? 0 : 1];
    if (c->inputs[0].rank != 2 || c->inputs[1].rank != 2) {
        return "products of several matrices";
    }
    if (onnx_integer(c, "transA", 0) != 0) {
        return "a first matrix turned round";
    }
    if (real_of(c, "alpha", 1) != 1 || real_of(c, "beta", 1) != 1) {
        return "products times a factor";
    }
    return c->n_inputs > 2 && c->inputs[2].count != columns ? "a bias that is no row" : NULL;
}

static const char *lacking(const struct onnx_case *c)
{
    if (c->n_nodes > 1) {
        return "a graph of several operators";
    }
    if (!c->inputs[0].values || !c->output.values) {
        return "other types than float32";
    }
    switch (shape_of(c)) {
    case PAIRS:
        return c->inputs[1].values && same_shape(&c->inputs[0], &c->inputs[1])
                   ? NULL
                   : "operands of two shapes or of other types";
    case MATRIX:
        return matrix_lacks(c);
    case IMAGE:
        return c->inputs[0].rank == 4 ? NULL : "other than four axes";
    case VALUES:
        break;
    }
    if (is(c, "Dropout") && (c->n_inputs > 2 || c->n_outputs > 1)) {
        return "dropout in training, or its mask";
    }
    return NULL;
}

/* ---- networks ---- */

static json_t *layers_of(const struct onnx_case *c)
{
    const struct function *f = function_of(c);
    if (shape_of(c) == PAIRS) { /* both operands as channels, each picked out by a convolution */
        return json_pack("[{s:s,s:s,s:i,s:i,s:b,s:[s]}, {s:s,s:s,s:i,s:i,s:b,s:[s]}, "
                         "{s:s,s:s,s:[s,s]}]",
                         "name", "a", "kind", "convolution", "filters", 1, "kernel", 1, "bias", 0,
                         "inputs", "in", "name", "b", "kind", "convolution", "filters", 1, "kernel",
                         1, "bias", 0, "inputs", "in", "name", "c", "kind",
                         is(c, "Add") ? "addition" : "multiplication", "inputs", "a", "b");
    }
    if (shape_of(c) == MATRIX) {
        return json_pack("[{s:s, s:s, s:I, s:b}]", "name", "a", "kind", "fully_connected",
                         "outputs", (json_int_t)c->output.dims[1], "bias", c->n_inputs > 2);
    }
    if (shape_of(c) == IMAGE) {
        return json_pack("[{s:s, s:s, s:I, s:f, s:f, s:f}]", "name", "a", "kind",
                         "local_response_norm", "size", (json_int_t)onnx_integer(c, "size", 1),
                         "alpha", real_of(c, "alpha", 1e-4), "beta", real_of(c, "beta", 0.75), "k",
                         real_of(c, "bias", 1));
    }
    json_t *layer = json_pack("{s:s, s:s}", "name", "a", "kind", f->kind);
    if (f->option) {
        (void)json_object_set_new(layer, f->option,
                                  json_real(real_of(c, f->attribute, f->fallback)));
    }
    return json_pack("[o]", layer);
}

static struct nn_network_bind bind_of(const struct onnx_case *c)
{
    const struct onnx_tensor *x = &c->inputs[0];
    switch (shape_of(c)) {
    case IMAGE:
        return (struct nn_network_bind){
            .height = x->dims[2], .width = x->dims[3], .channels = x->dims[1]};
    case MATRIX:
        return (struct nn_network_bind){.height = 1, .width = 1, .channels = x->dims[1]};
    case PAIRS:
        return (struct nn_network_bind){.height = 1, .width = x->count, .channels = 2};
    case VALUES:
        break;
    }
    return (struct nn_network_bind){.height = 1, .width = x->count, .channels = 1};
}

/* Where the i-th number of the input (or output) stands: images are turned channels last. */
static size_t place(const struct onnx_case *c, size_t i)
{
    const size_t *dims = c->inputs[0].dims;
    if (shape_of(c) != IMAGE) {
        return i;
    }
    size_t pixels = dims[2] * dims[3], n = i / pixels / dims[1], channel = i / pixels % dims[1];
    return (n * pixels + i % pixels) * dims[1] + channel;
}

static void set_parameters(const struct onnx_case *c, struct nn_network *network)
{
    const struct onnx_tensor *b = &c->inputs[1];
    bool turned = onnx_integer(c, "transB", 0) != 0;
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *p = nn_network_parameter(network, i);
        for (size_t k = 0; k < p->count; k++) {
            size_t rows = b->dims[0], columns = b->dims[1];
            p->value[k] = shape_of(c) == PAIRS ? (nn_real)(k == i) /* picks the i-th channel */
                          : i == 1             ? (nn_real)c->inputs[2].values[k]
                          : turned             ? (nn_real)b->values[k]
                                               : (nn_real)b->values[k % rows * columns + k / rows];
        }
    }
}

static void run(const struct onnx_case *c, enum nn_operators operators, float *out)
{
    const struct nn_network_bind bind = bind_of(c);
    bool rows = shape_of(c) == MATRIX || shape_of(c) == IMAGE;
    size_t batch = rows ? c->inputs[0].dims[0] : 1;
    const struct nn_network_options options = {
        .max_batch = batch, .phase = NN_PHASE_INFERENCE, .operators = operators};
    json_t *layers = json_pack("[{s:s, s:s, s:s}]", "name", "in", "kind", "image_input",
                               "normalisation", "none");
    json_t *more = layers_of(c);
    (void)json_array_extend(layers, more);
    json_t *spec = json_pack("{s:o}", "layers", layers);
    char *text = json_dumps(spec, 0);
    struct test_network net = test_network_create(text, &bind, &options);
    set_parameters(c, net.network);
    nn_real *input = nn_network_input(net.network);
    for (size_t i = 0; i < c->inputs[0].count; i++) {
        if (shape_of(c) == PAIRS) {
            input[2 * i] = (nn_real)c->inputs[0].values[i];
            input[2 * i + 1] = (nn_real)c->inputs[1].values[i];
        } else {
            input[place(c, i)] = (nn_real)c->inputs[0].values[i];
        }
    }
    nn_network_forward(net.network, batch, NN_PHASE_INFERENCE, NULL);
    assert_int_equal(batch * nn_network_output_size(net.network), c->output.count);
    for (size_t i = 0; i < c->output.count; i++) {
        out[i] = (float)nn_network_output(net.network)[place(c, i)];
    }
    test_network_destroy(&net);
    json_decref(spec);
    json_decref(more);
    free(text);
}

/* ---- all cases ---- */

struct tally {
    size_t passed, failed, lacking;
};

static void run_case(const char *name, const struct onnx_case *c, struct tally *tally)
{
    const char *feature = lacking(c);
    if (feature) {
        printf("%-50s needs %s\n", name, feature);
        tally->lacking++;
        return;
    }
    float *out = calloc(c->output.count + 1, sizeof *out);
    assert_non_null(out);
    for (int plain = 0; plain < 2; plain++) {
        double worst = 0, largest = 1e-30;
        run(c, plain ? NN_OPERATORS_PLAIN : NN_OPERATORS_OPTIMISED, out);
        for (size_t i = 0; i < c->output.count; i++) {
            worst = fmax(worst, fabs((double)out[i] - (double)c->output.values[i]));
            largest = fmax(largest, fabs((double)c->output.values[i]));
        }
        bool fine = worst <= 1e-5 * largest;
        tally->passed += fine;
        tally->failed += !fine;
        if (!fine) {
            printf("%s: off by %g of %g\n", name, worst, largest);
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
            if (is_ours(&c)) {
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
    static const char *const PARTS[] = {"node", "pytorch-converted", "pytorch-operator"};
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
    for (size_t i = 0; i < 3; i++) {
        run_directory(root, PARTS[i], &tally);
    }
    printf("%zu comparisons agree, %zu do not, %zu cases need more\n", tally.passed, tally.failed,
           tally.lacking);
    assert_int_equal(tally.failed, 0);
    assert_true(tally.passed >= 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_that_uses_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
