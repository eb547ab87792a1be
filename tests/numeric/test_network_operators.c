/* SPDX-License-Identifier: MIT
 *
 * Optimised operators against plain ones on the same networks: scores, gradients, running
 * statistics, kept activations; and the same bits for any number of threads and on repetition.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/network/network_internal.h"
#include "tests/support/close.h"
#include "tests/support/network.h"
#include "tests/support/network_cases.h"
#include "tests/support/network_random.h"

#ifdef NN_REAL_DOUBLE
static const double BOUND = 1e-12;
static const double RANDOM_BOUND = 1e-9; /* batch norms over few rows blow rounding up */
#else
static const double BOUND = 2e-5;
static const double RANDOM_BOUND = 5e-3;
#endif

enum { RANDOM_NETWORKS = 400 };

static const size_t LARGE_LENGTHS[] = {130, 7, 180, 1, 92, 92, 150, 33, 64, 12, 5};

/* Larger images and batches than the gradient checks use, so that work is cut into chunks. */
static const struct test_network_case LARGE[] = {
    {"simple", 28, 28, 1, 10, 37, NULL,
     "{'name': 'c', 'kind': 'convolution', 'filters': 20, 'kernel': 5},"
     "{'name': 'n', 'kind': 'batch_norm'}, {'name': 'r', 'kind': 'relu'},"
     "{'name': 'fc', 'kind': 'fully_connected'}",
     NULL, NULL, true, 0},
    {"deep", 19, 17, 3, 5, 11, NULL,
     "{'name': 'a', 'kind': 'convolution', 'filters': 16, 'kernel': 3, 'same_padding': true},"
     "{'name': 'b', 'kind': 'batch_norm'}, {'name': 'd', 'kind': 'relu'},"
     "{'name': 'e', 'kind': 'max_pool', 'kernel': 3, 'stride': 2, 'ceil_mode': true},"
     "{'name': 'f', 'kind': 'convolution', 'filters': 24, 'kernel': 3, 'stride': 2},"
     "{'name': 'g', 'kind': 'relu'}, {'name': 'h', 'kind': 'dropout', 'rate': 0.3},"
     "{'name': 'fc', 'kind': 'fully_connected'}",
     NULL, NULL, true, 0},
    {"inception block", 14, 14, 8, 6, 9, NULL,
     "{'name': 'a', 'kind': 'convolution', 'filters': 8, 'kernel': 1},"
     "{'name': 'an', 'kind': 'batch_norm'}, {'name': 'ar', 'kind': 'relu'},"
     "{'name': 'b', 'kind': 'convolution', 'filters': 12, 'kernel': 3, 'padding': 1},"
     "{'name': 'br', 'kind': 'relu'},"
     "{'name': 'p', 'kind': 'max_pool', 'kernel': 3, 'stride': 1, 'padding': 1},"
     "{'name': 'q', 'kind': 'convolution', 'filters': 4, 'kernel': 1},"
     "{'name': 'j', 'kind': 'concatenation'},"
     "{'name': 'm', 'kind': 'average_pool', 'kernel': 2},"
     "{'name': 'fc', 'kind': 'fully_connected'}",
     "['in', 'a'], ['a', 'an'], ['an', 'ar'], ['in', 'b'], ['b', 'br'], ['in', 'p'], ['p', 'q'],"
     " ['ar', 'j'], ['br', 'j'], ['q', 'j'], ['j', 'm'], ['m', 'fc']",
     NULL, true, 0},
    {"residual blocks", 10, 10, 4, 3, 13, NULL,
     "{'name': 'a', 'kind': 'convolution', 'filters': 8, 'kernel': 3, 'padding': 1},"
     "{'name': 'n', 'kind': 'batch_norm'}, {'name': 'r', 'kind': 'relu'},"
     "{'name': 'b', 'kind': 'convolution', 'filters': 8, 'kernel': 3, 'padding': 1},"
     "{'name': 'm', 'kind': 'batch_norm'}, {'name': 's', 'kind': 'addition'},"
     "{'name': 't', 'kind': 'relu'}, {'name': 'g', 'kind': 'global_average_pool'},"
     "{'name': 'fc', 'kind': 'fully_connected'}",
     "['in', 'a'], ['a', 'n'], ['n', 'r'], ['r', 'b'], ['b', 'm'], ['m', 's'], ['r', 's'],"
     " ['s', 't'], ['t', 'g'], ['g', 'fc']",
     NULL, true, 0},
    {"two lstm", 1, 1, 17, 3, 9, LARGE_LENGTHS,
     "{'name': 'a', 'kind': 'lstm', 'units': 200}, {'name': 'b', 'kind': 'lstm', 'units': 70},"
     "{'name': 'f', 'kind': 'fully_connected', 'outputs': 50},"
     "{'name': 'd', 'kind': 'dropout', 'rate': 0.5}, {'name': 'fc', 'kind': 'fully_connected'}",
     NULL, NULL, false, 0},
    {"attention and convolutions", 1, 1, 17, 3, 9, LARGE_LENGTHS,
     "{'name': 'a', 'kind': 'temporal_convolution', 'filters': 20, 'kernel': 3, 'dilation': 5},"
     "{'name': 'b', 'kind': 'layer_norm'}, {'name': 'p', 'kind': 'positional_encoding'},"
     "{'name': 'c', 'kind': 'attention', 'heads': 4, 'causal': true},"
     "{'name': 'e', 'kind': 'attention', 'heads': 2}, {'name': 'fc', 'kind': 'fully_connected'}",
     NULL, NULL, false, 0},
};

static const size_t N_LARGE = sizeof LARGE / sizeof LARGE[0];

static const struct test_network_case *case_at(size_t i)
{
    return i < N_LARGE
               ? &LARGE[i]
               : (i - N_LARGE < test_network_cases_count ? &test_network_cases[i - N_LARGE] : NULL);
}

static struct test_network build(const struct test_network_case *c,
                                 const struct nn_network_options *base)
{
    char text[TEST_NETWORK_TEXT_MAX];
    struct nn_network_bind bind = test_network_case_bind(c);
    struct nn_network_options options = *base;
    options.max_batch = c->batch + 2;
    options.frozen = &c->frozen;
    options.n_frozen = c->frozen ? 1 : 0;
    options.input_gradient = true;
    test_network_case_text(c, text, sizeof text);
    struct test_network t = test_network_create(text, &bind, &options);
    test_fill_parameters(t.network, 3);
    return t;
}

static void load(const struct test_network_case *c, struct nn_network *network, size_t batch)
{
    size_t n = test_network_case_rows(c, batch) * nn_network_input_size(network);
    nn_real *input = malloc(n * sizeof *input);
    assert_non_null(input);
    test_fill(input, n, 1);
    test_network_case_load(c, network, batch, input);
    free(input);
}

static size_t scores_of(const struct nn_network *network, size_t batch)
{
    return nn_network_output_rows(network, batch) * nn_network_output_size(network);
}

static void step(const struct test_network_case *c, struct nn_network *network, size_t batch)
{
    const struct nn_step where = {.seed = 5, .epoch = 2, .first_sample = 10};
    load(c, network, batch);
    nn_network_forward(network, batch, NN_PHASE_TRAINING, &where);
    test_fill(nn_network_output_gradient(network), scores_of(network, batch), 2);
    nn_network_zero_grads(network);
    nn_network_backward(network, batch);
}

/* Relative to the vector itself, or to `size`, the largest number of its kind: what is zero but for
 * rounding (the gradient of a bias before a batch norm) has no size of its own. */
static bool is_close(const nn_real *a, const nn_real *b, size_t n, double size, double bound)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        worst = d > worst || isnan(d) ? d : worst;
    }
    return test_relative_error(a, b, n) < bound || worst < bound * size;
}

static double largest_gradient(const struct nn_network *network)
{
    size_t n;
    const nn_real *grads = nn_network_grads(network, &n);
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs((double)grads[i]));
    }
    return largest;
}

/* The name of the first thing that differs, or NULL. */
static const char *first_difference(const struct nn_network *a, const struct nn_network *b,
                                    size_t batch, bool gradients, double bound)
{
    struct nn_layer_view x;
    struct nn_layer_view y;
    double size = gradients ? largest_gradient(b) : 0;
    if (!is_close(nn_network_output(a), nn_network_output(b), scores_of(a, batch), 0, bound)) {
        return "scores";
    }
    for (size_t i = 0; i < nn_network_parameter_count(a); i++) {
        const struct nn_parameter *p = nn_network_parameter(a, i);
        const struct nn_parameter *q = nn_network_parameter(b, i);
        if (!is_close(p->value, q->value, p->count, 0, bound) ||
            (gradients && p->grad && !is_close(p->grad, q->grad, p->count, size, bound))) {
            return p->name;
        }
    }
    if (gradients && nn_network_activation(a, "in", &x) && nn_network_activation(b, "in", &y) &&
        !is_close(x.grad, y.grad,
                  (x.sequence ? nn_rows_count(&a->rows) : batch) * nn_network_input_size(a), size,
                  bound)) {
        return "the input's gradient";
    }
    return NULL;
}

static void compare_operators(const struct test_network_case *c, double bound)
{
    const struct nn_network_options fast = {.operators = NN_OPERATORS_OPTIMISED};
    const struct nn_network_options plain = {.operators = NN_OPERATORS_PLAIN};
    struct test_network a = build(c, &fast);
    struct test_network b = build(c, &plain);
    step(c, a.network, c->batch);
    step(c, b.network, c->batch);
    const char *what = first_difference(a.network, b.network, c->batch, true, bound);
    if (what) {
        fail_msg("%s, training: %s differs\n%s\n%s", c->name, what, c->layers,
                 c->connections ? c->connections : "");
    }
    load(c, a.network, c->batch + 2);
    load(c, b.network, c->batch + 2);
    nn_network_forward(a.network, c->batch + 2, NN_PHASE_INFERENCE, NULL);
    nn_network_forward(b.network, c->batch + 2, NN_PHASE_INFERENCE, NULL);
    what = first_difference(a.network, b.network, c->batch + 2, false, bound);
    if (what) {
        fail_msg("%s, inference: %s differs", c->name, what);
    }
    test_network_destroy(&a);
    test_network_destroy(&b);
}

static void optimised_and_plain_agree(void **state)
{
    (void)state;
    for (size_t i = 0; case_at(i); i++) {
        compare_operators(case_at(i), BOUND);
    }
}

static void an_inference_plan_agrees_with_a_training_plan(void **state)
{
    (void)state;
    for (size_t i = 0; case_at(i); i++) {
        const struct test_network_case *c = case_at(i);
        struct test_network a = build(c, &(struct nn_network_options){0});
        struct nn_network_options options = {.phase = NN_PHASE_INFERENCE, .weights_of = a.network};
        struct test_network b = build(c, &options);
        load(c, a.network, c->batch);
        load(c, b.network, c->batch);
        nn_network_forward(a.network, c->batch, NN_PHASE_INFERENCE, NULL);
        nn_network_forward(b.network, c->batch, NN_PHASE_INFERENCE, NULL);
        if (!is_close(nn_network_output(a.network), nn_network_output(b.network),
                      scores_of(a.network, c->batch), 0, BOUND)) {
            fail_msg("%s: the plans differ", c->name);
        }
        test_network_destroy(&b);
        test_network_destroy(&a);
    }
}

/* ---- kept layers ---- */

static bool is_near(nn_real a, nn_real b, double bound)
{
    return fabs((double)a - (double)b) < fmax(1e-4, bound) * fmax(1, fabs((double)b));
}

static void compare_kept(const struct test_network_case *c, const char *name,
                         const struct test_network *optimised, const struct test_network *plain,
                         double bound)
{
    struct nn_layer_view x;
    struct nn_layer_view y;
    assert_true(nn_network_activation(optimised->network, name, &x));
    assert_true(nn_network_activation(plain->network, name, &y));
    size_t samples = y.sequence ? nn_rows_count(&plain->network->rows) : c->batch;
    for (size_t r = 0; r < samples * y.height * y.width; r++) {
        for (size_t k = 0; k < y.channels; k++) {
            if (!is_near(x.data[r * x.ld + k], y.data[r * y.ld + k], bound) ||
                !is_near(x.grad[r * x.grad_ld + k], y.grad[r * y.grad_ld + k], bound)) {
                fail_msg("%s: kept %s differs at row %zu\n%s\n%s", c->name, name, r, c->layers,
                         c->connections ? c->connections : "");
            }
        }
    }
}

/* none: the plain network that keeps nothing, after a step. */
static void keep_layer(const struct test_network_case *c, const char *name,
                       const struct test_network *none, double bound)
{
    const struct nn_network_options fast = {.kept = &name, .n_kept = 1};
    const struct nn_network_options plain = {
        .operators = NN_OPERATORS_PLAIN, .kept = &name, .n_kept = 1};
    struct test_network a = build(c, &fast);
    struct test_network b = build(c, &plain);
    step(c, a.network, c->batch);
    step(c, b.network, c->batch);
    const char *what = first_difference(a.network, none->network, c->batch, true, bound);
    if (what) {
        fail_msg("%s keeping %s: %s differs", c->name, name, what);
    }
    compare_kept(c, name, &a, &b, bound);
    test_network_destroy(&a);
    test_network_destroy(&b);
}

static void keep_each_layer(const struct test_network_case *c, double bound)
{
    const struct nn_network_options plain = {.operators = NN_OPERATORS_PLAIN};
    struct test_network none = build(c, &plain);
    step(c, none.network, c->batch);
    for (size_t n = 0; n < none.description->n_nodes; n++) {
        const char *name = none.description->nodes[n].layer.name;
        if (strcmp(name, "softmax") != 0 && strcmp(name, "in") != 0) {
            keep_layer(c, name, &none, bound);
        }
    }
    test_network_destroy(&none);
}

/* Keeping a layer changes how layers are fused and placed, but not what they compute. */
static void every_layer_can_be_kept(void **state)
{
    (void)state;
    for (size_t i = 2; case_at(i); i++) { /* the first two are large and plain to see */
        keep_each_layer(case_at(i), BOUND);
    }
}

/* ---- random networks ---- */

static void random_networks_agree(void **state)
{
    (void)state;
    struct test_random_network random;
    for (uint64_t seed = 1; seed <= RANDOM_NETWORKS; seed++) {
        test_random_network_make(seed, &random);
        compare_operators(&random.c, RANDOM_BOUND);
        if (seed % 8 < 2) {
            keep_each_layer(&random.c, RANDOM_BOUND);
        }
    }
}

/* ---- bits ---- */

/* Scores, gradients and running statistics after some steps, as one array. */
static nn_real *results(const struct test_network_case *c, struct nn_pool *pool, size_t threads,
                        size_t *out_count)
{
    const struct nn_network_options options = {.pool = pool};
    struct test_network t = build(c, &options);
    nn_pool_set_threads(pool, threads);
    for (int i = 0; i < 3; i++) {
        step(c, t.network, c->batch);
    }
    size_t n = scores_of(t.network, c->batch);
    for (size_t i = 0; i < nn_network_parameter_count(t.network); i++) {
        n += 2 * nn_network_parameter(t.network, i)->count;
    }
    nn_real *all = calloc(n, sizeof *all);
    assert_non_null(all);
    size_t used = scores_of(t.network, c->batch);
    memcpy(all, nn_network_output(t.network), used * sizeof *all);
    for (size_t i = 0; i < nn_network_parameter_count(t.network); i++) {
        const struct nn_parameter *p = nn_network_parameter(t.network, i);
        memcpy(all + used, p->value, p->count * sizeof *all);
        used += p->count;
        if (p->grad) {
            memcpy(all + used, p->grad, p->count * sizeof *all);
            used += p->count;
        }
    }
    test_network_destroy(&t);
    *out_count = used;
    return all;
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    struct nn_pool *pool = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_pool_create(NULL, 3, &pool, &err), NN_OK);
    for (size_t i = 0; case_at(i); i++) {
        const struct test_network_case *c = case_at(i);
        size_t n = 0;
        nn_real *one = results(c, pool, 1, &n);
        for (size_t threads = 1; threads <= 3; threads++) {
            nn_real *more = results(c, pool, threads, &n);
            if (memcmp(one, more, n * sizeof *one) != 0) {
                fail_msg("%s: %zu threads give other bits", c->name, threads);
            }
            free(more);
        }
        free(one);
    }
    nn_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimised_and_plain_agree),
        cmocka_unit_test(an_inference_plan_agrees_with_a_training_plan),
        cmocka_unit_test(every_layer_can_be_kept),
        cmocka_unit_test(random_networks_agree),
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
