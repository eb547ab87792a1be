/* SPDX-License-Identifier: MIT
 *
 * ONNX's own test cases of LSTM (Debian's libonnx-testdata) through our layer. What uses a feature
 * that the core lacks is listed with the feature. ASSAY_ONNX_DATA names another directory.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/network.h"
#include "tests/support/onnx.h"

#define DATA "/usr/share/libonnx-testdata/data"

enum { BATCH_MAX = 16, X = 0, W = 1 }; /* inputs: X, W, R, B */

/* Our gates i, f, g, o among ONNX's i, o, f, c. */
static const size_t GATES[4] = {0, 2, 3, 1};

static const char *lacking(const struct onnx_case *c)
{
    const struct onnx_attribute *direction = onnx_attribute(c, "direction");
    if (c->n_inputs > 4) {
        return "initial states or peepholes";
    }
    return direction && strcmp(direction->text, "forward") != 0 ? "another direction" : NULL;
}

/* Rows of a parameter, gate by gate: of a weight, or the sum of both biases. */
static void set_parameter(const struct nn_parameter *p, const struct onnx_tensor *from)
{
    size_t part = p->count / 4;
    bool two = from->count == 2 * p->count;
    nn_real *values = malloc(p->count * sizeof *values);
    assert_true(values && (two || from->count == p->count));
    for (size_t i = 0; i < p->count; i++) {
        size_t at = GATES[i / part] * part + i % part;
        values[i] = (nn_real)(from->values[at] + (two ? from->values[p->count + at] : 0));
    }
    nn_parameter_from_torch(p, values);
    free(values);
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
static void run_case(const char *name, const struct onnx_case *c)
{
    bool batch_first = onnx_integer(c, "layout", 0) == 1;
    size_t units = (size_t)onnx_integer(c, "hidden_size", 0);
    const size_t *dims = c->inputs[X].dims;
    size_t batch = dims[batch_first ? 0 : 1], steps = dims[batch_first ? 1 : 0];
    char text[256];
    (void)snprintf(text, sizeof text,
                   "{'layers': [{'name': 'in', 'kind': 'sequence_input', 'normalisation': 'none'},"
                   " {'name': 'l', 'kind': 'lstm', 'units': %zu, 'output': 'last', 'bias': %s}]}",
                   units, c->n_inputs >= 4 ? "true" : "false");
    const struct nn_network_bind bind = {.features = dims[2], .longest = steps};
    const struct nn_network_options options = {.max_batch = batch, .phase = NN_PHASE_INFERENCE};
    struct test_network t = test_network_create(text, &bind, &options);
    for (size_t i = 0; i < nn_network_parameter_count(t.network); i++) {
        set_parameter(nn_network_parameter(t.network, i), &c->inputs[W + i]);
    }
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

static void every_case_that_uses_what_there_is(void **state)
{
    static const char *const NAMES[] = {"test_lstm_defaults", "test_lstm_with_initial_bias",
                                        "test_lstm_batchwise", "test_lstm_with_peepholes"};
    const char *root = getenv("ASSAY_ONNX_DATA");
    size_t passed = 0;
    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        char path[600];
        struct onnx_case c;
        (void)snprintf(path, sizeof path, "%s/node/%s", root ? root : DATA, NAMES[i]);
        if (!onnx_case_read(path, &c)) {
            fail_msg("%s cannot be read (`make deps-test` installs libonnx-testdata)", path);
        }
        const char *feature = lacking(&c);
        if (feature) {
            printf("%-50s needs %s\n", NAMES[i], feature);
        } else {
            run_case(NAMES[i], &c);
            passed++;
        }
        onnx_case_free(&c);
    }
    printf("%zu cases of LSTM passed\n", passed);
    assert_int_equal(passed, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_that_uses_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
