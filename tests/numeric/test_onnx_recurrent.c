/* SPDX-License-Identifier: MIT
 *
 * ONNX's own test cases of LSTM and GRU (Debian's libonnx-testdata) through our layers. What uses a
 * feature that the core lacks is listed with the feature. ASSAY_ONNX_DATA names another directory.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/network.h"
#include "tests/support/onnx.h"

#define DATA "/usr/share/libonnx-testdata/data"

enum { BATCH_MAX = 16, X = 0, W = 1, B = 3 }; /* inputs: X, W, R, B */

/* A kind: its gates among ONNX's, which are i, o, f, c of an LSTM and z, r, h of a GRU. */
struct kind {
    const char *name;
    size_t gates, order[4];
    bool one_bias; /* the sum of ONNX's two */
};

static const struct kind LSTM = {"lstm", 4, {0, 2, 3, 1}, true};
static const struct kind GRU = {"gru", 3, {1, 0, 2, 0}, false};

static size_t steps_of(const struct onnx_case *c)
{
    return c->inputs[X].dims[onnx_integer(c, "layout", 0) == 1 ? 1 : 0];
}

/* Whether it matters that a GRU's reset gate comes before the recurrent product (the state is 0 at
 * the first step; what remains then is the recurrent bias of h). */
static bool reset_comes_first(const struct onnx_case *c)
{
    const struct onnx_tensor *bias = &c->inputs[B];
    bool matters = steps_of(c) > 1;
    for (size_t i = bias->count / 6 * 5; c->n_inputs > B && i < bias->count; i++) {
        matters = matters || bias->values[i] != 0;
    }
    return matters && onnx_integer(c, "linear_before_reset", 0) == 0;
}

static const char *lacking(const struct kind *kind, const struct onnx_case *c)
{
    const struct onnx_attribute *direction = onnx_attribute(c, "direction");
    if (c->n_inputs > 4) {
        return "initial states or peepholes";
    }
    if (kind == &GRU && reset_comes_first(c)) {
        return "the reset gate before the recurrent product (linear_before_reset 0)";
    }
    return direction && strcmp(direction->text, "forward") != 0 ? "another direction" : NULL;
}

/* Rows of a parameter, gate by gate: of a weight; or of a bias, the first or the second of ONNX's,
 * or their sum. */
static void set_parameter(const struct kind *kind, const struct nn_parameter *p,
                          const struct onnx_tensor *from, size_t first)
{
    size_t part = p->count / kind->gates;
    bool two = from->count == 2 * p->count;
    nn_real *values = malloc(p->count * sizeof *values);
    assert_true(values && (two || from->count == p->count));
    for (size_t i = 0; i < p->count; i++) {
        size_t at = kind->order[i / part] * part + i % part;
        values[i] = (nn_real)from->values[first * p->count + at];
        values[i] += two && kind->one_bias ? (nn_real)from->values[p->count + at] : 0;
    }
    nn_parameter_from_torch(p, values);
    free(values);
}

static void set_parameters(const struct kind *kind, const struct nn_network *network,
                           const struct onnx_case *c)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        size_t second = i > 2; /* bias_hh */
        set_parameter(kind, nn_network_parameter(network, i), &c->inputs[W + i - second], second);
    }
}

static void load(struct nn_network *network, const struct onnx_case *c, size_t batch, size_t steps,
                 bool batch_first)
{
    const nn_real *sequences[BATCH_MAX];
    size_t lengths[BATCH_MAX], n = c->inputs[X].dims[2];
    nn_real *x = malloc(c->inputs[X].count * sizeof *x);
    assert_true(x && batch <= BATCH_MAX);
    for (size_t b = 0; b < batch; b++) {
        sequences[b] = x + b * steps * n;
        lengths[b] = steps;
        for (size_t e = 0; e < steps * n; e++) {
            size_t row = batch_first ? b * steps + e / n : e / n * batch + b;
            x[b * steps * n + e] = (nn_real)c->inputs[X].values[row * n + e % n];
        }
    }
    const struct nn_sequence_batch loaded = {sequences, lengths, batch};
    nn_network_load_sequences(network, &loaded);
    free(x);
}

/* The cases have one step, or ask for the last state: their first output is that state. */
static void run_case(const struct kind *kind, const char *name, const struct onnx_case *c)
{
    bool batch_first = onnx_integer(c, "layout", 0) == 1;
    size_t units = (size_t)onnx_integer(c, "hidden_size", 0);
    const size_t *dims = c->inputs[X].dims;
    size_t batch = dims[batch_first ? 0 : 1], steps = steps_of(c);
    char text[256];
    (void)snprintf(text, sizeof text,
                   "{'layers': [{'name': 'in', 'kind': 'sequence_input', 'normalisation': 'none'},"
                   " {'name': 'l', 'kind': '%s', 'units': %zu, 'output': 'last', 'bias': %s}]}",
                   kind->name, units, c->n_inputs >= 4 ? "true" : "false");
    const struct nn_network_bind bind = {.features = dims[2], .longest = steps};
    const struct nn_network_options options = {.max_batch = batch, .phase = NN_PHASE_INFERENCE};
    struct test_network t = test_network_create(text, &bind, &options);
    set_parameters(kind, t.network, c);
    load(t.network, c, batch, steps, batch_first);
    nn_network_forward(t.network, batch, NN_PHASE_INFERENCE, NULL);
    assert_int_equal(c->output.count, batch * units);
    for (size_t i = 0; i < c->output.count; i++) {
        double want = (double)c->output.values[i];
        double got = (double)nn_network_output(t.network)[i];
        if (!(fabs(got - want) <= 1e-5 * fabs(want))) {
            fail_msg("%s: %g instead of %g", name, got, want);
        }
    }
    test_network_destroy(&t);
}

/* Returns how many passed. */
static size_t run_cases(const struct kind *kind, const char *const *names, size_t n)
{
    const char *root = getenv("ASSAY_ONNX_DATA");
    size_t passed = 0;
    for (size_t i = 0; i < n; i++) {
        char path[600];
        struct onnx_case c;
        (void)snprintf(path, sizeof path, "%s/node/%s", root ? root : DATA, names[i]);
        if (!onnx_case_read(path, &c)) {
            fail_msg("%s cannot be read (`make deps-test` installs libonnx-testdata)", path);
        }
        const char *feature = lacking(kind, &c);
        if (feature) {
            printf("%-50s needs %s\n", names[i], feature);
        } else {
            run_case(kind, names[i], &c);
            passed++;
        }
        onnx_case_free(&c);
    }
    printf("%zu cases of %s passed\n", passed, kind->name);
    return passed;
}

static void every_lstm_that_uses_what_there_is(void **state)
{
    static const char *const NAMES[] = {"test_lstm_defaults", "test_lstm_with_initial_bias",
                                        "test_lstm_batchwise", "test_lstm_with_peepholes"};
    (void)state;
    assert_int_equal(run_cases(&LSTM, NAMES, 4), 3);
}

static void every_gru_that_uses_what_there_is(void **state)
{
    static const char *const NAMES[] = {"test_gru_defaults", "test_gru_with_initial_bias",
                                        "test_gru_batchwise", "test_gru_seq_length"};
    (void)state;
    assert_int_equal(run_cases(&GRU, NAMES, 4), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_lstm_that_uses_what_there_is),
        cmocka_unit_test(every_gru_that_uses_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
