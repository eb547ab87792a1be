/* SPDX-License-Identifier: MIT
 *
 * Networks: parameters, initialisation, what the input does, memory.
 */
#include "core/network/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/network/network_internal.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/network.h"

static const struct nn_network_bind SMALL = {.height = 6, .width = 5, .channels = 2, .classes = 4};

static const char CNN[] = "{'name': 'simple_cnn', 'filters': 3, 'kernel': 3}";

static const struct nn_step STEP = {.seed = 11, .epoch = 1, .first_sample = 7};

static void parameters_have_torch_names_and_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum nn_role role;
        bool trainable;
        size_t ndim, shape[4];
        double l2;
    } WANT[] = {
        {"conv1.weight", NN_ROLE_WEIGHT, true, 4, {3, 2, 3, 3}, 1},
        {"conv1.bias", NN_ROLE_BIAS, true, 1, {3}, 0},
        {"bn1.weight", NN_ROLE_SCALE, true, 1, {3}, 0},
        {"bn1.bias", NN_ROLE_SHIFT, true, 1, {3}, 0},
        {"bn1.running_mean", NN_ROLE_RUNNING_MEAN, false, 1, {3}, 0},
        {"bn1.running_var", NN_ROLE_RUNNING_VAR, false, 1, {3}, 0},
        {"fc.weight", NN_ROLE_WEIGHT, true, 2, {4, 36}, 1},
        {"fc.bias", NN_ROLE_BIAS, true, 1, {4}, 0},
    };
    struct nn_network_options options = {.max_batch = 4};
    struct test_network t = test_network_create(CNN, &SMALL, &options);
    assert_int_equal(nn_network_parameter_count(t.network), 8);
    assert_null(nn_network_parameter(t.network, 8));
    for (size_t i = 0; i < 8; i++) {
        const struct nn_parameter *p = nn_network_parameter(t.network, i);
        assert_string_equal(p->name, WANT[i].name);
        assert_int_equal(p->role, WANT[i].role);
        assert_int_equal(p->trainable, WANT[i].trainable);
        assert_int_equal(p->ndim, WANT[i].ndim);
        assert_memory_equal(p->shape, WANT[i].shape, sizeof p->shape);
        assert_true(p->l2_factor == WANT[i].l2);
        assert_int_equal(p->grad != NULL, p->trainable);
        assert_int_equal((uintptr_t)p->value % NN_ALIGNMENT, 0);
    }
    test_network_destroy(&t);
}

static void trainable_values_and_gradients_are_one_block_each(void **state)
{
    (void)state;
    struct nn_network_options options = {.max_batch = 4};
    struct test_network t = test_network_create(CNN, &SMALL, &options);
    size_t n = 0;
    size_t n_grads = 0;
    nn_real *values = nn_network_values(t.network, &n);
    nn_real *grads = nn_network_grads(t.network, &n_grads);
    nn_network_initialize(t.network, 1);
    test_load_random(t.network, 4, 3);
    nn_network_forward(t.network, 4, NN_PHASE_TRAINING, &STEP);
    test_fill(nn_network_output_gradient(t.network), 16, 5);
    nn_network_backward(t.network, 4);
    assert_int_equal(n, n_grads);
    bool *owned = calloc(n, sizeof *owned);
    assert_non_null(owned);
    for (size_t i = 0; i < nn_network_parameter_count(t.network); i++) {
        const struct nn_parameter *p = nn_network_parameter(t.network, i);
        if (p->trainable) {
            size_t first = (size_t)(p->value - values);
            assert_int_equal(p->grad - grads, first);
            assert_true(first + p->count <= n);
            memset(owned + first, 1, p->count);
        }
    }
    for (size_t i = 0; i < n; i++) {
        assert_true(owned[i] || (values[i] == 0 && grads[i] == 0)); /* gaps stay zero */
    }
    nn_network_zero_grads(t.network);
    for (size_t i = 0; i < n; i++) {
        assert_true(grads[i] == 0);
    }
    free(owned);
    test_network_destroy(&t);
}

/* fc.weight [O, C*H*W] of torch against our features in the order H, W, C. */
static void weights_round_trip_in_torch_order(void **state)
{
    (void)state;
    struct nn_network_options options = {.max_batch = 1};
    struct test_network t = test_network_create(CNN, &SMALL, &options);
    const struct nn_parameter *fc = test_parameter(t.network, "fc.weight");
    const struct nn_parameter *conv = test_parameter(t.network, "conv1.weight");
    nn_real torch[4 * 36];
    nn_real back[4 * 36];
    for (size_t i = 0; i < 4 * 36; i++) {
        torch[i] = (nn_real)i;
    }
    nn_parameter_from_torch(fc, torch);
    for (size_t o = 0; o < 4; o++) {
        for (size_t c = 0; c < 3; c++) {
            for (size_t h = 0; h < 4; h++) {
                for (size_t w = 0; w < 3; w++) {
                    assert_true(fc->value[o * 36 + (h * 3 + w) * 3 + c] ==
                                (nn_real)(o * 36 + (c * 4 + h) * 3 + w));
                }
            }
        }
    }
    nn_parameter_to_torch(fc, back);
    assert_memory_equal(back, torch, sizeof torch);
    nn_parameter_from_torch(conv, torch); /* [3, 2, 3, 3], kept as KH, KW, I, O */
    assert_true(conv->value[((2 * 3 + 1) * 2 + 1) * 3 + 2] ==
                (nn_real)(((2 * 2 + 1) * 3 + 2) * 3 + 1));
    nn_parameter_to_torch(conv, back);
    assert_memory_equal(back, torch, conv->count * sizeof *torch);
    test_network_destroy(&t);
}

static void initialisation_is_glorot_and_depends_on_the_seed_alone(void **state)
{
    (void)state;
    struct nn_network_options options = {.max_batch = 2};
    struct test_network a = test_network_create(CNN, &SMALL, &options);
    options.max_batch = 5;
    options.operators = NN_OPERATORS_PLAIN;
    struct test_network b = test_network_create(CNN, &SMALL, &options);
    nn_network_initialize(a.network, 42);
    nn_network_initialize(b.network, 42);
    for (size_t i = 0; i < nn_network_parameter_count(a.network); i++) {
        const struct nn_parameter *p = nn_network_parameter(a.network, i);
        const struct nn_parameter *q = nn_network_parameter(b.network, i);
        assert_memory_equal(p->value, q->value, p->count * sizeof *p->value);
    }
    const struct nn_parameter *w = test_parameter(a.network, "conv1.weight");
    double limit = sqrt(6.0 / (2 * 9 + 3 * 9));
    double largest = 0;
    for (size_t i = 0; i < w->count; i++) {
        largest = fmax(largest, fabs((double)w->value[i]));
    }
    assert_true(largest <= limit && largest > 0.8 * limit);
    assert_true(test_parameter(a.network, "conv1.bias")->value[0] == 0);
    assert_true(test_parameter(a.network, "bn1.weight")->value[2] == 1);
    assert_true(test_parameter(a.network, "bn1.running_var")->value[1] == 1);
    nn_real before = w->value[0];
    nn_network_initialize(a.network, 43);
    assert_true(before != w->value[0]);
    test_network_destroy(&a);
    test_network_destroy(&b);
}

static void pixels_are_normalised_as_told(void **state)
{
    (void)state;
    static const uint8_t PIXELS[] = {0, 255, 51, 102};
    static const struct {
        const char *options;
        enum nn_normalisation bound;
        double want[4];
    } CASES[] = {
        {"", NN_NORMALISATION_DESCRIBED, {0, 1, 0.2, 0.4}},
        {", 'normalisation': 'none'", NN_NORMALISATION_DESCRIBED, {0, 255, 51, 102}},
        {", 'normalisation': 'none'", NN_NORMALISATION_RESCALE_SYMMETRIC, {-1, 1, -0.6, -0.2}},
        {", 'normalisation': 'zscore', 'mean': [51, 55], 'std': [2, 0]}",
         NN_NORMALISATION_DESCRIBED,
         {-25.5, 200, 0, 47}},
        {", 'normalisation': 'zscore'", NN_NORMALISATION_DESCRIBED, {0, 255, 51, 102}},
    };
    struct nn_network_bind bind = {.height = 1, .width = 1, .channels = 2, .classes = 3};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char text[512];
        bool closed = strchr(CASES[i].options, '}') != NULL;
        (void)snprintf(text, sizeof text,
                       "{'layers': [{'name': 'in', 'kind': 'image_input'%s%s,"
                       " {'name': 'fc', 'kind': 'fully_connected'},"
                       " {'name': 's', 'kind': 'softmax'}]}",
                       CASES[i].options, closed ? "" : "}");
        bind.normalisation = CASES[i].bound;
        struct nn_network_options options = {.max_batch = 2};
        struct test_network t = test_network_create(text, &bind, &options);
        nn_real reals[4];
        for (int real = 0; real < 2; real++) {
            for (size_t k = 0; k < 4; k++) {
                reals[k] = (nn_real)PIXELS[k];
            }
            if (real) {
                nn_network_load_real(t.network, reals, 2);
            } else {
                nn_network_load_u8(t.network, PIXELS, 2);
            }
            for (size_t k = 0; k < 4; k++) {
                double got = (double)nn_network_input(t.network)[k];
                if (!(fabs(got - CASES[i].want[k]) < 1e-4)) {
                    fail_msg("case %zu, number %zu: %g, not %g", i, k, got, CASES[i].want[k]);
                }
            }
        }
        test_network_destroy(&t);
    }
}

static const char NORM[] =
    "{'layers': [{'name': 'in', 'kind': 'image_input'}, {'name': 'bn', 'kind': 'batch_norm',"
    " 'momentum': 0.25}, {'name': 'fc', 'kind': 'fully_connected'},"
    " {'name': 's', 'kind': 'softmax'}]}";

static void the_plan_says_its_bytes_and_running_takes_none(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {CNN, "{'name': 'mlp', 'hidden': [40, 30], 'dropout': 0.2}",
                                        NORM};
    for (size_t k = 0; k < 3; k++) {
        struct nn_memory *memory = NULL;
        assert_int_equal(nn_memory_create(SIZE_MAX, &memory), NN_OK);
        struct nn_network_options options = {.max_batch = 9, .memory = memory};
        struct test_network t = test_network_create(TEXTS[k], &SMALL, &options);
        size_t bytes = 0;
        assert_int_equal(nn_network_plan_bytes(t.description, &SMALL, &options, &bytes, NULL),
                         NN_OK);
        assert_int_equal(nn_memory_used(memory), bytes);
        nn_network_initialize(t.network, 1);
        test_load_random(t.network, 9, 1);
        nn_network_forward(t.network, 9, NN_PHASE_TRAINING, &STEP);
        nn_network_backward(t.network, 9);
        assert_int_equal(nn_memory_peak(memory), bytes);
        test_network_destroy(&t);
        assert_int_equal(nn_memory_used(memory), 0);
        nn_memory_destroy(memory);
    }
}

static void a_network_over_the_cap_is_refused(void **state)
{
    (void)state;
    struct nn_memory *memory = NULL;
    assert_int_equal(nn_memory_create(50000, &memory), NN_OK);
    struct nn_network_options options = {.max_batch = 64, .memory = memory};
    json_t *spec = test_json(CNN);
    struct nn_description *description = NULL;
    struct nn_network *network = NULL;
    struct nn_error err = {0};
    assert_int_equal(nn_description_parse(spec, &description, &err), NN_OK);
    assert_int_equal(nn_network_create(description, &SMALL, &options, &network, &err),
                     NN_ERR_MEMORY);
    assert_null(network);
    assert_non_null(strstr(err.text, "bytes"));
    assert_int_equal(nn_memory_used(memory), 0);
    nn_memory_fail_at(memory, 1);
    options.max_batch = 1;
    assert_int_equal(nn_network_create(description, &SMALL, &options, &network, &err),
                     NN_ERR_MEMORY);
    assert_int_equal(nn_network_create(description, &SMALL, &options, &network, &err), NN_OK);
    nn_network_destroy(network);
    static const size_t BATCHES[] = {0, SIZE_MAX, (size_t)1 << 21};
    for (size_t i = 0; i < 3; i++) {
        options.max_batch = BATCHES[i];
        assert_int_equal(nn_network_create(description, &SMALL, &options, &network, &err),
                         NN_ERR_LIMIT);
    }
    options =
        (struct nn_network_options){.max_batch = 1, .kept = (const char *[]){"nope"}, .n_kept = 1};
    assert_int_equal(nn_network_create(description, &SMALL, &options, &network, &err),
                     NN_ERR_INVALID);
    struct nn_network_bind none = {0};
    options.n_kept = 0;
    assert_int_equal(nn_network_create(description, &none, &options, &network, &err),
                     NN_ERR_INVALID);
    nn_description_destroy(description);
    json_decref(spec);
    nn_memory_destroy(memory);
}

/* Pieces that are alive at the same time never touch. */
static void pieces_that_meet_do_not_overlap(void **state)
{
    (void)state;
    struct nn_network_options options = {.max_batch = 9};
    struct test_network t =
        test_network_create("{'name': 'mlp', 'hidden': [64, 64, 64, 64, 64]}", &SMALL, &options);
    const struct nn_network *network = t.network;
    size_t sum = 0;
    for (size_t i = 0; i < network->n_pieces; i++) {
        const struct nn_piece_plan *a = &network->pieces[i];
        assert_int_equal(a->offset % NN_ALIGNMENT, 0);
        assert_true(a->offset + a->bytes <= network->bytes);
        sum += a->bytes;
        for (size_t k = 0; k < i; k++) {
            const struct nn_piece_plan *b = &network->pieces[k];
            bool apart = a->last < b->first || b->last < a->first ||
                         a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset ||
                         a->bytes == 0 || b->bytes == 0;
            assert_true(apart);
        }
    }
    assert_true(network->bytes < sum); /* something is shared */
    test_network_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_have_torch_names_and_shapes),
        cmocka_unit_test(trainable_values_and_gradients_are_one_block_each),
        cmocka_unit_test(weights_round_trip_in_torch_order),
        cmocka_unit_test(initialisation_is_glorot_and_depends_on_the_seed_alone),
        cmocka_unit_test(pixels_are_normalised_as_told),
        cmocka_unit_test(the_plan_says_its_bytes_and_running_takes_none),
        cmocka_unit_test(a_network_over_the_cap_is_refused),
        cmocka_unit_test(pieces_that_meet_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
