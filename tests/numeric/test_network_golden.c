/* SPDX-License-Identifier: MIT
 *
 * Small networks against what PyTorch computed for them (tests/golden/make_network.py): scores in
 * both modes, gradients, running statistics, and the axis order of every parameter on the way.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/close.h"
#include "tests/support/golden.h"

static void expect(const char *name, const char *what, const nn_real *got, const json_t *array)
{
    size_t n;
    nn_real *want = golden_numbers(array, &n);
    double largest = 0;
    double worst = 0;
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs((double)want[i]));
        worst = fmax(worst, fabs((double)got[i] - (double)want[i]));
    }
    /* the bias before a batch norm has a gradient of rounding errors alone */
    if (!(test_relative_error(got, want, n) < GOLDEN_BOUND) && !(largest < 1e-9 && worst < 1e-5)) {
        fail_msg("%s: %s differs by %g of %g", name, what, worst, largest);
    }
    free(want);
}

static void expect_parameter(const char *name, const struct nn_parameter *p, const nn_real *memory,
                             const json_t *array)
{
    struct nn_parameter view = *p;
    nn_real *torch = malloc(p->count * sizeof *torch);
    nn_real *copy = malloc(p->count * sizeof *copy);
    assert_true(torch && copy);
    memcpy(copy, memory, p->count * sizeof *copy);
    view.value = copy;
    nn_parameter_to_torch(&view, torch);
    expect(name, p->name, torch, array);
    free(torch);
    free(copy);
}

/* d mean cross-entropy / d scores */
static void set_output_gradient(struct nn_network *network, size_t batch, const json_t *labels)
{
    size_t classes = nn_network_output_size(network);
    const nn_real *p = nn_network_probabilities(network, batch);
    nn_real *d = nn_network_output_gradient(network);
    for (size_t n = 0; n < batch; n++) {
        size_t label = (size_t)json_integer_value(json_array_get(labels, n));
        for (size_t c = 0; c < classes; c++) {
            d[n * classes + c] = (p[n * classes + c] - (c == label ? 1 : 0)) / (nn_real)batch;
        }
    }
}

static void check_case(const json_t *c, struct nn_network *network)
{
    const char *name = json_string_value(json_object_get(c, "name"));
    size_t batch = (size_t)json_integer_value(json_object_get(c, "batch"));
    const struct nn_step step = {0};
    size_t n;
    nn_real *input = golden_numbers(json_object_get(c, "input"), &n);
    assert_int_equal(n, batch * nn_network_input_size(network));
    golden_load_parameters(network, json_object_get(c, "parameters"));
    memcpy(nn_network_input(network), input, n * sizeof *input);
    nn_network_forward(network, batch, NN_PHASE_INFERENCE, NULL);
    expect(name, "evaluation", nn_network_output(network), json_object_get(c, "evaluation_scores"));
    nn_network_forward(network, batch, NN_PHASE_TRAINING, &step);
    expect(name, "scores", nn_network_output(network), json_object_get(c, "scores"));
    set_output_gradient(network, batch, json_object_get(c, "labels"));
    nn_network_zero_grads(network);
    nn_network_backward(network, batch);
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *p = nn_network_parameter(network, i);
        const char *part = p->grad ? "gradients" : "statistics";
        expect_parameter(name, p, p->grad ? p->grad : p->value,
                         json_object_get(json_object_get(c, part), p->name));
    }
    free(input);
}

static struct test_network build(const json_t *c, enum nn_operators operators)
{
    const char *const SIDES[] = {"height", "width", "channels", "classes", "batch"};
    size_t side[5];
    for (size_t i = 0; i < 5; i++) {
        side[i] = (size_t)json_integer_value(json_object_get(c, SIDES[i]));
    }
    struct nn_network_bind bind = {
        .height = side[0], .width = side[1], .channels = side[2], .classes = side[3]};
    struct nn_network_options options = {.max_batch = side[4], .operators = operators};
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
    golden_each("tests/golden/network.json", 6, run_case);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_compute_what_pytorch_computes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
