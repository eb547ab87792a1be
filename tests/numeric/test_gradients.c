/* SPDX-License-Identifier: MIT
 *
 * Gradients of every layer and every fused operator against central differences, and the checker
 * against backward passes that are wrong on purpose. Meant for MODE=f64; in float differences see
 * only errors above about a thousandth, and steps that wide cross kinks, so networks with kinks are
 * left to MODE=f64 there.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/network_internal.h"
#include "tests/support/network.h"
#include "tests/support/network_cases.h"
#include "tests/support/network_random.h"

#ifdef NN_REAL_DOUBLE
static const double STEP = 1e-5;
static const double BOUND = 1e-6;
static const double NOISE = 1e-8; /* below it a gradient counts as zero */
#else
static const double STEP = 1e-2;
static const double BOUND = 5e-3;
static const double NOISE = 2e-2;
#endif

enum { NUMBERS_MAX = 4096, CHECKED_MAX = 160, RANDOM_NETWORKS = 100 };

/* ---- one network under check ---- */

struct check {
    const struct test_network_case *from;
    struct test_network made;
    size_t batch, rows, outputs; /* rows: of the output */
    double floor;                /* a gradient smaller than this may differ as one of this size */
    struct nn_step step;
    nn_real *input;   /* what is loaded each time */
    nn_real *weights; /* loss = sum of weights * output, quadratic so that curvature shows */
};

static struct check check_create(const struct test_network_case *c, enum nn_operators operators)
{
    char text[TEST_NETWORK_TEXT_MAX];
    struct nn_network_bind bind = test_network_case_bind(c);
    struct nn_network_options options = {.max_batch = c->batch + 1,
                                         .operators = operators,
                                         .frozen = &c->frozen,
                                         .n_frozen = c->frozen ? 1 : 0,
                                         .input_gradient = true};
    test_network_case_text(c, text, sizeof text);
    struct check check = {
        .from = c, .made = test_network_create(text, &bind, &options), .batch = c->batch};
    check.step = (struct nn_step){.seed = 5, .epoch = 2, .first_sample = 10};
    check.outputs = nn_network_output_size(check.made.network);
    size_t n = test_network_case_rows(c, c->batch) * nn_network_input_size(check.made.network);
    check.input = calloc(n, sizeof *check.input);
    assert_non_null(check.input);
    test_network_case_load(c, check.made.network, c->batch, check.input);
    check.rows = nn_network_output_rows(check.made.network, c->batch);
    check.weights = malloc(check.rows * check.outputs * sizeof *check.weights);
    assert_non_null(check.weights);
    test_fill(check.input, n, 1);
    test_fill(check.weights, check.rows * check.outputs, 2);
    test_fill_parameters(check.made.network, 3);
    return check;
}

static void check_destroy(struct check *check)
{
    test_network_destroy(&check->made);
    free(check->input);
    free(check->weights);
}

static void forward(struct check *check)
{
    struct nn_network *network = check->made.network;
    test_network_case_load(check->from, network, check->batch, check->input);
    nn_network_forward(network, check->batch, NN_PHASE_TRAINING, &check->step);
}

/* sum of w * (y + y^2 / 2) */
static double loss(struct check *check)
{
    forward(check);
    const nn_real *y = nn_network_output(check->made.network);
    double sum = 0;
    for (size_t i = 0; i < check->rows * check->outputs; i++) {
        double v = (double)y[i];
        sum += (double)check->weights[i] * (v + v * v / 2);
    }
    return sum;
}

static void backward(struct check *check)
{
    struct nn_network *network = check->made.network;
    forward(check);
    nn_real *d_y = nn_network_output_gradient(network);
    for (size_t i = 0; i < check->rows * check->outputs; i++) {
        d_y[i] = check->weights[i] * (1 + nn_network_output(network)[i]);
    }
    nn_network_zero_grads(network);
    nn_network_backward(network, check->batch);
}

/* Relative difference between `analytic` and central differences over x; numbers are sampled when
 * there are many. */
static double compare(struct check *check, nn_real *x, const nn_real *analytic, size_t n)
{
    double difference = 0;
    double norms[2] = {0, 0};
    size_t stride = n / CHECKED_MAX + 1;
    for (size_t i = 0; i < n; i += stride) {
        nn_real before = x[i];
        x[i] = before + (nn_real)STEP;
        double above = (double)x[i];
        double loss_above = loss(check);
        x[i] = before - (nn_real)STEP;
        double width = above - (double)x[i];
        double numeric = (loss_above - loss(check)) / width;
        x[i] = before;
        double a = (double)analytic[i];
        difference += (numeric - a) * (numeric - a);
        norms[0] += numeric * numeric;
        norms[1] += a * a;
    }
    double size = fmax(sqrt(norms[0]) + sqrt(norms[1]), check->floor);
    return sqrt(difference) / (size > NOISE ? size : NOISE / BOUND);
}

/* The largest relative difference over all parameters and the input. */
static double worst_gradient(struct check *check, char *out_where, size_t size)
{
    struct nn_network *network = check->made.network;
    size_t n_input =
        test_network_case_rows(check->from, check->batch) * nn_network_input_size(network);
    static nn_real kept[NUMBERS_MAX];
    double worst = 0;
    for (size_t i = 0; i <= nn_network_parameter_count(network); i++) {
        const struct nn_parameter *p = nn_network_parameter(network, i);
        struct nn_layer_view input;
        backward(check);
        assert_true(nn_network_activation(network, "in", &input));
        const nn_real *grad = p ? p->grad : input.grad;
        size_t n = p ? p->count : n_input;
        if (!grad) {
            continue; /* running statistics, frozen */
        }
        assert_true(n <= NUMBERS_MAX);
        memcpy(kept, grad, n * sizeof *kept);
        double e = compare(check, p ? p->value : check->input, kept, n);
        if (!(e <= worst)) {
            worst = e;
            (void)snprintf(out_where, size, "%s", p ? p->name : "input");
        }
    }
    return worst;
}

static void check_gradients(const struct test_network_case *c, enum nn_operators operators,
                            double floor)
{
    char text[TEST_NETWORK_TEXT_MAX];
    char where[96] = "";
    struct check check = check_create(c, operators);
    check.floor = floor;
    double worst = worst_gradient(&check, where, sizeof where);
    if (!(worst < BOUND)) {
        test_network_case_text(c, text, sizeof text);
        fail_msg("%s, %s: %s differs by %g\n%s", c->name,
                 operators == NN_OPERATORS_PLAIN ? "plain" : "optimised", where, worst, text);
    }
    check_destroy(&check);
}

static void every_gradient_agrees_with_differences(void **state)
{
    (void)state;
    for (size_t i = 0; i < test_network_cases_count; i++) {
        if (sizeof(nn_real) == sizeof(double) || !test_network_cases[i].kinks) {
            check_gradients(&test_network_cases[i], NN_OPERATORS_OPTIMISED, 0);
            check_gradients(&test_network_cases[i], NN_OPERATORS_PLAIN, 0);
        }
    }
}

/* The plain operators; that the optimised ones agree with them test_network_operators.c says.
 * Convolutions before batch norms have gradients that are zero but for rounding: hence the floor.
 */
static void gradients_of_random_networks_agree_with_differences(void **state)
{
    (void)state;
    struct test_random_network random;
    for (uint64_t seed = 1; seed <= RANDOM_NETWORKS; seed++) {
        test_random_network_make(seed, &random);
        if (sizeof(nn_real) == sizeof(double) || !random.c.kinks) {
            check_gradients(&random.c, NN_OPERATORS_PLAIN, 0.1);
        }
    }
}

/* ---- every operator has a case ---- */

static void every_operator_is_checked(void **state)
{
    (void)state;
    bool seen[256] = {false};
    for (size_t i = 0; i < test_network_cases_count; i++) {
        for (int plain = 0; plain < 2; plain++) {
            struct check check = check_create(&test_network_cases[i],
                                              plain ? NN_OPERATORS_PLAIN : NN_OPERATORS_OPTIMISED);
            const struct nn_network *network = check.made.network;
            for (size_t p = 0; p < network->n_passes; p++) {
                for (size_t k = 0; nn_operators[k]; k++) {
                    seen[k] = seen[k] || nn_operators[k] == network->passes[p].pass.op;
                }
            }
            check_destroy(&check);
        }
    }
    for (size_t k = 0; nn_operators[k]; k++) {
        if (!seen[k]) {
            fail_msg("no case runs the operator %s", nn_operators[k]->name);
        }
    }
}

/* ---- the checker notices faults ---- */

static void (*right_backward)(const struct nn_pass *, const struct nn_run *,
                              const struct nn_backward *);

/* Batch norm that forgets that mean and variance depend on the input. */
static void backward_constant_statistics(const struct nn_pass *pass, const struct nn_run *run,
                                         const struct nn_backward *args)
{
    struct nn_placed placed = *pass->layers[0];
    struct nn_pass wrong = *pass;
    placed.frozen = true; /* its stored statistics are set to those of the batch by the test */
    wrong.layers[0] = &placed;
    right_backward(&wrong, run, args);
}

/* ReLU that lets everything through. */
static void backward_no_mask(const struct nn_pass *pass, const struct nn_run *run,
                             const struct nn_backward *args)
{
    nn_copy(run->exec, args->d_x[0].view.data, args->d_x[0].view.ld, args->d_x[0].add,
            args->d_y.data, args->d_y.ld, run->batch * pass->out.height * pass->out.width,
            pass->out.channels);
}

/* A gradient that is two percent too large. */
static void backward_too_large(const struct nn_pass *pass, const struct nn_run *run,
                               const struct nn_backward *args)
{
    size_t rows = run->batch * pass->out.height * pass->out.width;
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < pass->out.channels; c++) {
            args->d_y.data[i * args->d_y.ld + c] *= (nn_real)1.02;
        }
    }
    right_backward(pass, run, args);
}

/* An input gradient that is written where it should be added. */
static void backward_writes(const struct nn_pass *pass, const struct nn_run *run,
                            const struct nn_backward *args)
{
    struct nn_gradient d_x = {args->d_x[0].view, false};
    struct nn_backward wrong = *args;
    wrong.d_x = &d_x;
    right_backward(pass, run, &wrong);
}

struct fault {
    const char *case_name, *op;
    void (*backward)(const struct nn_pass *, const struct nn_run *, const struct nn_backward *);
};

static const struct fault FAULTS[] = {
    {"batch_norm", "batch_norm", backward_constant_statistics},
    {"relu", "relu", backward_no_mask},
    {"max_pool", "max_pool", backward_too_large},
    {"fully_connected+relu", "fully_connected", backward_too_large},
    {"convolution+batch_norm+relu", "convolution+batch_norm+relu", backward_too_large},
    {"a tensor used by a concatenation and beside it", "relu", backward_writes},
    {"lstm", "lstm", backward_too_large},
    {"lstm beside lstm", "lstm", backward_writes},
    {"gru", "gru", backward_too_large},
    {"gru beside gru", "gru", backward_writes},
    {"lstm both ways", "lstm", backward_too_large},
};

static void wrong_backward_passes_are_caught(void **state)
{
    (void)state;
    char where[96];
    for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++) {
        struct check check =
            check_create(test_network_case_named(FAULTS[i].case_name), NN_OPERATORS_OPTIMISED);
        struct nn_network *network = check.made.network;
        struct nn_operator wrong = {0};
        for (size_t p = 0; p < network->n_passes; p++) {
            struct nn_pass *pass = &network->passes[p].pass;
            if (strcmp(pass->op->name, FAULTS[i].op) == 0) {
                right_backward = pass->op->backward;
                wrong = *pass->op;
                wrong.backward = FAULTS[i].backward;
                pass->op = &wrong;
            }
        }
        assert_non_null(wrong.name);
        double worst = worst_gradient(&check, where, sizeof where);
        if (!(worst > 10 * BOUND || worst > 5e-3)) {
            fail_msg("%s: a fault in %s passes with %g", FAULTS[i].case_name, FAULTS[i].op, worst);
        }
        check_destroy(&check);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gradient_agrees_with_differences),
        cmocka_unit_test(gradients_of_random_networks_agree_with_differences),
        cmocka_unit_test(every_operator_is_checked),
        cmocka_unit_test(wrong_backward_passes_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
