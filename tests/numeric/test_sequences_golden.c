/* SPDX-License-Identifier: MIT
 *
 * Small recurrent networks (tests/golden/make_sequences.py), transformers and temporal convolutions
 * (make_attention.py) against what PyTorch computed for them, sequence by sequence: outputs in both
 * modes, half mean squared error or cross-entropy, gradients.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>

#include "core/loss/loss.h"
#include "tests/support/close.h"
#include "tests/support/golden.h"

enum { SEQUENCES_MAX = 8, NUMBERS_MAX = 4096 };

/* A list of lists of numbers. */
struct lists {
    size_t n;
    size_t counts[SEQUENCES_MAX];
    nn_real *rows[SEQUENCES_MAX];
};

static struct lists lists_read(const json_t *array)
{
    struct lists lists = {.n = json_array_size(array)};
    assert_true(lists.n > 0 && lists.n <= SEQUENCES_MAX);
    for (size_t i = 0; i < lists.n; i++) {
        lists.rows[i] = golden_numbers(json_array_get(array, i), &lists.counts[i]);
    }
    return lists;
}

static void lists_free(struct lists *lists)
{
    for (size_t i = 0; i < lists->n; i++) {
        free(lists->rows[i]);
    }
}

static void expect(const char *name, const char *what, const nn_real *got, const nn_real *want,
                   size_t n)
{
    double error = test_relative_error(got, want, n);
    if (!(error < GOLDEN_BOUND)) {
        fail_msg("%s: %s differs by %g", name, what, error);
    }
}

static void load(struct nn_network *network, const struct lists *sequences)
{
    size_t lengths[SEQUENCES_MAX];
    for (size_t i = 0; i < sequences->n; i++) {
        lengths[i] = sequences->counts[i] / nn_network_input_size(network);
    }
    const struct nn_sequence_batch batch = {(const nn_real *const *)sequences->rows, lengths,
                                            sequences->n};
    nn_network_load_sequences(network, &batch);
}

static void expect_outputs(const char *name, const struct nn_network *network,
                           const struct lists *want)
{
    static nn_real found[SEQUENCES_MAX][NUMBERS_MAX];
    nn_real *out[SEQUENCES_MAX];
    for (size_t i = 0; i < want->n; i++) {
        out[i] = found[i];
    }
    nn_network_samples_from_rows(network, want->n, nn_network_output(network),
                                 nn_network_output_size(network), out);
    for (size_t i = 0; i < want->n; i++) {
        expect(name, "output", found[i], want->rows[i], want->counts[i]);
    }
}

static double take_loss(struct nn_network *network, const struct lists *targets)
{
    static nn_real rows[NUMBERS_MAX], weights[NUMBERS_MAX];
    size_t n = nn_network_output_size(network);
    nn_network_rows_from_samples(network, targets->n, (const nn_real *const *)targets->rows, n,
                                 rows);
    nn_network_row_weights(network, targets->n, weights);
    const struct nn_loss_responses batch = {nn_network_output(network),
                                            n,
                                            rows,
                                            weights,
                                            nn_network_output_rows(network, targets->n),
                                            n};
    return nn_loss_half_squared_error(&batch, nn_network_output_gradient(network), n);
}

/* Cross-entropy of a network that classifies. */
static double take_class_loss(struct nn_network *network, const json_t *c)
{
    static _Alignas(64) unsigned char workspace[4096];
    uint32_t labels[SEQUENCES_MAX];
    const json_t *told = json_object_get(c, "labels");
    size_t n_weights, n = nn_network_output_size(network);
    nn_real *weights = golden_numbers(json_object_get(c, "class_weights"), &n_weights);
    const struct nn_exec exec = {
        .kernels = nn_kernels_best(), .workspace = workspace, .workspace_bytes = sizeof workspace};
    assert_true(n == n_weights && nn_loss_workspace(json_array_size(told)) <= sizeof workspace);
    for (size_t i = 0; i < json_array_size(told); i++) {
        labels[i] = (uint32_t)json_integer_value(json_array_get(told, i));
    }
    const struct nn_loss_batch batch = {
        .logits = nn_network_output(network),
        .ld = n,
        .labels = labels,
        .rows = json_array_size(told),
        .classes = n,
        .label_smoothing = json_number_value(json_object_get(c, "label_smoothing")),
        .class_weights = weights};
    double loss = nn_loss_cross_entropy(&exec, &batch, nn_network_output_gradient(network), n).loss;
    free(weights);
    return loss;
}

/* Half mean squared error of one that predicts numbers. */
static double take_target_loss(struct nn_network *network, const json_t *c)
{
    struct lists targets = lists_read(json_object_get(c, "targets"));
    double loss = take_loss(network, &targets);
    lists_free(&targets);
    return loss;
}

static void expect_gradients(const char *name, const struct nn_network *network,
                             const json_t *gradients)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        struct nn_parameter p = *nn_network_parameter(network, i);
        size_t n;
        nn_real *want = golden_numbers(json_object_get(gradients, p.name), &n);
        nn_real *found = malloc(n * sizeof *found);
        assert_non_null(found);
        assert_int_equal(n, p.count);
        p.value = p.grad;
        nn_parameter_to_torch(&p, found);
        expect(name, p.name, found, want, n);
        free(want);
        free(found);
    }
}

static void check_case(const json_t *c, struct nn_network *network)
{
    const char *name = json_string_value(json_object_get(c, "name"));
    const struct nn_step step = {0};
    struct lists sequences = lists_read(json_object_get(c, "sequences"));
    struct lists outputs = lists_read(json_object_get(c, "outputs"));
    golden_load_parameters(network, json_object_get(c, "parameters"));
    load(network, &sequences);
    nn_network_forward(network, sequences.n, NN_PHASE_INFERENCE, NULL);
    expect_outputs(name, network, &outputs);
    nn_network_forward(network, sequences.n, NN_PHASE_TRAINING, &step);
    expect_outputs(name, network, &outputs);
    bool classifies = json_object_get(c, "labels") != NULL;
    double loss = classifies ? take_class_loss(network, c) : take_target_loss(network, c);
    double wanted = json_number_value(json_object_get(c, "loss"));
    assert_true(fabs(loss - wanted) <= GOLDEN_BOUND * wanted);
    nn_network_zero_grads(network);
    nn_network_backward(network, sequences.n);
    expect_gradients(name, network, json_object_get(c, "gradients"));
    lists_free(&sequences);
    lists_free(&outputs);
}

static struct test_network build(const json_t *c, enum nn_operators operators)
{
    const struct nn_network_bind bind = {
        .features = (size_t)json_integer_value(json_object_get(c, "features")),
        .longest = 9,
        .classes = (size_t)json_integer_value(json_object_get(c, "classes")),
        .responses = (size_t)json_integer_value(json_object_get(c, "responses"))};
    const struct nn_network_options options = {.max_batch = SEQUENCES_MAX, .operators = operators};
    return golden_build(c, &bind, &options);
}

static void run_case(const json_t *c, enum nn_operators operators)
{
    struct test_network t = build(c, operators);
    check_case(c, t.network);
    test_network_destroy(&t);
}

static void networks_compute_what_pytorch_computes(void **state)
{
    (void)state;
    golden_each("tests/golden/sequences.json", 17, run_case);
    golden_each("tests/golden/attention.json", 8, run_case);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_compute_what_pytorch_computes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
