/* SPDX-License-Identifier: MIT
 *
 * core/network: building and running: parameters and their order, phases, batch norm's statistics,
 * memory, hooks.
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

static const struct nn_parameter *parameter(const struct nn_network *network, const char *name)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        if (strcmp(nn_network_parameter(network, i)->name, name) == 0) {
            return nn_network_parameter(network, i);
        }
    }
    fail_msg("no parameter %s", name);
    return NULL;
}

static void load_random(struct nn_network *network, size_t batch, uint64_t seed)
{
    test_fill(nn_network_input(network), batch * nn_network_input_size(network), seed);
}

/* ---- parameters ---- */

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
    load_random(t.network, 4, 3);
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
    const struct nn_parameter *fc = parameter(t.network, "fc.weight");
    const struct nn_parameter *conv = parameter(t.network, "conv1.weight");
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
    const struct nn_parameter *w = parameter(a.network, "conv1.weight");
    double limit = sqrt(6.0 / (2 * 9 + 3 * 9));
    double largest = 0;
    for (size_t i = 0; i < w->count; i++) {
        largest = fmax(largest, fabs((double)w->value[i]));
    }
    assert_true(largest <= limit && largest > 0.8 * limit);
    assert_true(parameter(a.network, "conv1.bias")->value[0] == 0);
    assert_true(parameter(a.network, "bn1.weight")->value[2] == 1);
    assert_true(parameter(a.network, "bn1.running_var")->value[1] == 1);
    nn_real before = w->value[0];
    nn_network_initialize(a.network, 43);
    assert_true(before != w->value[0]);
    test_network_destroy(&a);
    test_network_destroy(&b);
}

/* ---- input ---- */

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

/* ---- phases ---- */

static void copy_output(struct nn_network *network, size_t batch, nn_real *out)
{
    memcpy(out, nn_network_output(network), batch * nn_network_output_size(network) * sizeof *out);
}

static void inference_of_either_plan_is_the_same(void **state)
{
    (void)state;
    struct nn_network_options options = {.max_batch = 5};
    struct test_network training = test_network_create(CNN, &SMALL, &options);
    test_fill_parameters(training.network, 9);
    struct nn_network_options inference = {
        .max_batch = 3, .phase = NN_PHASE_INFERENCE, .weights_of = training.network};
    struct test_network borrowed = test_network_create(CNN, &SMALL, &inference);
    nn_real one[20];
    nn_real two[20];
    load_random(training.network, 3, 4);
    load_random(borrowed.network, 3, 4);
    nn_network_forward(training.network, 3, NN_PHASE_INFERENCE, NULL);
    nn_network_forward(borrowed.network, 3, NN_PHASE_INFERENCE, NULL);
    copy_output(training.network, 3, one);
    copy_output(borrowed.network, 3, two);
    assert_memory_equal(one, two, 12 * sizeof *one);
    size_t n;
    assert_null(nn_network_values(borrowed.network, &n));
    assert_null(nn_network_grads(borrowed.network, &n));
    assert_ptr_equal(parameter(borrowed.network, "fc.weight")->value,
                     parameter(training.network, "fc.weight")->value);
    assert_null(parameter(borrowed.network, "fc.weight")->grad);
    assert_true(borrowed.network->bytes < training.network->bytes);
    test_network_destroy(&borrowed);
    test_network_destroy(&training);
}

static void inference_changes_nothing_and_repeats(void **state)
{
    (void)state;
    struct nn_network_options options = {.max_batch = 5};
    struct test_network t = test_network_create(
        "{'layers': [{'name': 'in', 'kind': 'image_input'}, {'name': 'bn', 'kind': 'batch_norm'},"
        " {'name': 'd', 'kind': 'dropout'}, {'name': 'fc', 'kind': 'fully_connected'},"
        " {'name': 's', 'kind': 'softmax'}]}",
        &SMALL, &options);
    nn_real first[20];
    nn_real second[20];
    nn_real mean[2];
    test_fill_parameters(t.network, 1);
    memcpy(mean, parameter(t.network, "bn.running_mean")->value, sizeof mean);
    load_random(t.network, 5, 4);
    nn_network_forward(t.network, 5, NN_PHASE_INFERENCE, NULL);
    copy_output(t.network, 5, first);
    nn_network_forward(t.network, 5, NN_PHASE_INFERENCE, NULL);
    copy_output(t.network, 5, second);
    assert_memory_equal(first, second, sizeof first);
    assert_memory_equal(mean, parameter(t.network, "bn.running_mean")->value, sizeof mean);
    nn_network_forward(t.network, 5, NN_PHASE_TRAINING, &STEP);
    copy_output(t.network, 5, second);
    assert_memory_not_equal(first, second, sizeof first);
    assert_memory_not_equal(mean, parameter(t.network, "bn.running_mean")->value, sizeof mean);
    test_network_destroy(&t);
}

static void probabilities_are_the_softmax_of_the_scores(void **state)
{
    (void)state;
    struct nn_network_options options = {.max_batch = 2, .phase = NN_PHASE_INFERENCE};
    struct test_network t = test_network_create(CNN, &SMALL, &options);
    test_fill_parameters(t.network, 2);
    load_random(t.network, 2, 4);
    nn_network_forward(t.network, 2, NN_PHASE_INFERENCE, NULL);
    assert_true(nn_network_ends_in_softmax(t.network));
    const nn_real *scores = nn_network_output(t.network);
    const nn_real *p = nn_network_probabilities(t.network, 2);
    for (size_t n = 0; n < 2; n++) {
        double sum = 0;
        for (size_t c = 0; c < 4; c++) {
            sum += exp((double)scores[n * 4 + c]);
        }
        for (size_t c = 0; c < 4; c++) {
            assert_true(fabs((double)p[n * 4 + c] - exp((double)scores[n * 4 + c]) / sum) < 1e-6);
        }
    }
    test_network_destroy(&t);
}

static void dropout_depends_on_seed_epoch_and_sample(void **state)
{
    (void)state;
    struct nn_network_bind bind = {.height = 1, .width = 1, .channels = 64, .classes = 3};
    struct nn_network_options options = {
        .max_batch = 4, .kept = (const char *[]){"d"}, .n_kept = 1};
    struct test_network t = test_network_create(
        "{'layers': [{'name': 'in', 'kind': 'image_input'}, {'name': 'd', 'kind': 'dropout',"
        " 'rate': 0.25}, {'name': 'fc', 'kind': 'fully_connected'},"
        " {'name': 's', 'kind': 'softmax'}]}",
        &bind, &options);
    struct nn_layer_view view;
    nn_real first[256];
    for (size_t i = 0; i < 256; i++) {
        nn_network_input(t.network)[i] = 3;
    }
    nn_network_forward(t.network, 4, NN_PHASE_TRAINING, &STEP);
    assert_true(nn_network_activation(t.network, "d", &view));
    memcpy(first, view.data, sizeof first);
    size_t dropped = 0;
    for (size_t i = 0; i < 256; i++) {
        assert_true(first[i] == 0 || fabs((double)first[i] - 4) < 1e-6);
        dropped += first[i] == 0;
    }
    assert_in_range(dropped, 40, 90);
    struct nn_step later = STEP;
    later.first_sample += 1; /* the samples of rows 1, 2, 3 are now in rows 0, 1, 2 */
    nn_network_forward(t.network, 3, NN_PHASE_TRAINING, &later);
    assert_memory_equal(view.data, first + 64, 3 * 64 * sizeof *first);
    later = STEP;
    later.epoch += 1;
    nn_network_forward(t.network, 4, NN_PHASE_TRAINING, &later);
    assert_memory_not_equal(view.data, first, sizeof first);
    test_network_destroy(&t);
}

/* ---- batch norm's statistics ---- */

static const char NORM[] =
    "{'layers': [{'name': 'in', 'kind': 'image_input'}, {'name': 'bn', 'kind': 'batch_norm',"
    " 'momentum': 0.25}, {'name': 'fc', 'kind': 'fully_connected'},"
    " {'name': 's', 'kind': 'softmax'}]}";

/* Mean and unbiased variance of channel c over n rows of 2 channels. */
static void moments(const nn_real *x, size_t n, size_t c, double *mean, double *var)
{
    double sum = 0;
    double square = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)x[2 * i + c];
    }
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        square += ((double)x[2 * i + c] - *mean) * ((double)x[2 * i + c] - *mean);
    }
    *var = square / (double)(n - 1);
}

static void running_statistics_follow_torch(void **state)
{
    (void)state;
    struct nn_network_options options = {.max_batch = 5};
    struct test_network t = test_network_create(NORM, &SMALL, &options);
    double want_mean[2] = {0, 0};
    double want_var[2] = {1, 1};
    nn_network_initialize(t.network, 1);
    for (uint64_t k = 0; k < 3; k++) {
        size_t batch = k == 2 ? 2 : 5;
        load_random(t.network, batch, 20 + k);
        for (size_t c = 0; c < 2; c++) {
            double mean;
            double var;
            moments(nn_network_input(t.network), batch * 30, c, &mean, &var);
            want_mean[c] = 0.75 * want_mean[c] + 0.25 * mean;
            want_var[c] = 0.75 * want_var[c] + 0.25 * var;
        }
        nn_network_forward(t.network, batch, NN_PHASE_TRAINING, &STEP);
    }
    for (size_t c = 0; c < 2; c++) {
        assert_true(fabs((double)parameter(t.network, "bn.running_mean")->value[c] - want_mean[c]) <
                    1e-6);
        assert_true(fabs((double)parameter(t.network, "bn.running_var")->value[c] - want_var[c]) <
                    1e-6);
    }
    test_network_destroy(&t);
}

/* For the operators with a batch norm inside: pooled batches equal one pass over all rows. */
static void population_statistics_are_those_of_all_rows(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {NORM, CNN};
    static const char *const MEANS[] = {"bn.running_mean", "bn1.running_mean"};
    static const char *const VARS[] = {"bn.running_var", "bn1.running_var"};
    for (size_t k = 0; k < 2; k++) {
        struct nn_network_options options = {.max_batch = 7};
        struct test_network parts = test_network_create(TEXTS[k], &SMALL, &options);
        struct test_network whole = test_network_create(TEXTS[k], &SMALL, &options);
        nn_network_initialize(parts.network, 5);
        nn_network_initialize(whole.network, 5);
        assert_true(nn_network_has_batch_norm(parts.network));
        nn_real all[7 * 60];
        test_fill(all, 7 * 60, 8);
        nn_network_statistics_begin(parts.network);
        nn_network_statistics_finish(parts.network); /* nothing seen: nothing changed */
        assert_true(parameter(parts.network, VARS[k])->value[0] == 1);
        nn_network_statistics_begin(parts.network);
        for (size_t first = 0; first < 7; first += 3) {
            size_t batch = first + 3 > 7 ? 7 - first : 3;
            memcpy(nn_network_input(parts.network), all + first * 60, batch * 60 * sizeof *all);
            nn_network_forward(parts.network, batch, NN_PHASE_STATISTICS, NULL);
        }
        assert_true(parameter(parts.network, VARS[k])->value[0] == 1); /* not before finish */
        nn_network_statistics_finish(parts.network);
        memcpy(nn_network_input(whole.network), all, sizeof all);
        nn_network_statistics_begin(whole.network);
        nn_network_forward(whole.network, 7, NN_PHASE_STATISTICS, NULL);
        nn_network_statistics_finish(whole.network);
        for (size_t c = 0; c < 2; c++) {
            double mean = (double)parameter(parts.network, MEANS[k])->value[c];
            double var = (double)parameter(parts.network, VARS[k])->value[c];
            assert_true(fabs(mean - (double)parameter(whole.network, MEANS[k])->value[c]) < 1e-6);
            assert_true(fabs(var - (double)parameter(whole.network, VARS[k])->value[c]) < 1e-6);
            if (k == 0) {
                double want_mean;
                double want_var;
                moments(all, 7 * 30, c, &want_mean, &want_var);
                assert_true(fabs(mean - want_mean) < 1e-6 && fabs(var - want_var) < 1e-6);
            }
        }
        test_network_destroy(&parts);
        test_network_destroy(&whole);
    }
}

/* Case A19: a last batch of one sample. One row in all: the stored statistics, left as they are;
 * with pixels there are rows enough. */
static void a_batch_of_one_sample_is_defined(void **state)
{
    (void)state;
    struct nn_network_bind flat = {.height = 1, .width = 1, .channels = 2, .classes = 4};
    for (size_t k = 0; k < 2; k++) {
        for (int plain = 0; plain < 2; plain++) {
            struct nn_network_options options = {
                .max_batch = 4, .operators = plain ? NN_OPERATORS_PLAIN : NN_OPERATORS_OPTIMISED};
            struct test_network t = test_network_create(NORM, k ? &SMALL : &flat, &options);
            nn_real before[2];
            test_fill_parameters(t.network, 3);
            memcpy(before, parameter(t.network, "bn.running_var")->value, sizeof before);
            load_random(t.network, 1, 2);
            nn_network_forward(t.network, 1, NN_PHASE_TRAINING, &STEP);
            test_fill(nn_network_output_gradient(t.network), 4, 6);
            nn_network_backward(t.network, 1);
            bool same =
                memcmp(before, parameter(t.network, "bn.running_var")->value, sizeof before) == 0;
            assert_int_equal(same, k == 0);
            size_t n;
            nn_real *grads = nn_network_grads(t.network, &n);
            for (size_t i = 0; i < n; i++) {
                assert_true(isfinite(grads[i]));
            }
            test_network_destroy(&t);
        }
    }
}

static void a_frozen_layer_keeps_its_values_and_statistics(void **state)
{
    (void)state;
    const char *frozen[] = {"conv1", "bn1"};
    struct nn_network_options options = {.max_batch = 3, .frozen = frozen, .n_frozen = 2};
    struct test_network t = test_network_create(CNN, &SMALL, &options);
    nn_real before[3];
    test_fill_parameters(t.network, 3);
    memcpy(before, parameter(t.network, "bn1.running_mean")->value, sizeof before);
    load_random(t.network, 3, 2);
    nn_network_forward(t.network, 3, NN_PHASE_TRAINING, &STEP);
    test_fill(nn_network_output_gradient(t.network), 12, 6);
    nn_network_backward(t.network, 3);
    assert_memory_equal(before, parameter(t.network, "bn1.running_mean")->value, sizeof before);
    assert_null(parameter(t.network, "conv1.weight")->grad);
    assert_false(parameter(t.network, "bn1.weight")->trainable);
    assert_non_null(parameter(t.network, "fc.weight")->grad);
    size_t n;
    (void)nn_network_values(t.network, &n);
    assert_int_equal(n, nn_padded_count(144) + nn_padded_count(4));
    test_network_destroy(&t);
}

/* ---- hooks ---- */

struct announced {
    size_t times[16];
    const struct nn_network *network;
};

static void announce(void *ctx, size_t i)
{
    struct announced *a = ctx;
    assert_in_range(i, 0, 15);
    a->times[i]++;
}

static void each_gradient_is_announced_once(void **state)
{
    (void)state;
    struct nn_network_options options = {.max_batch = 2};
    struct test_network t = test_network_create(CNN, &SMALL, &options);
    struct announced a = {.network = t.network};
    nn_network_on_gradient(t.network, announce, &a);
    nn_network_forward(t.network, 2, NN_PHASE_TRAINING, &STEP);
    nn_network_backward(t.network, 2);
    for (size_t i = 0; i < nn_network_parameter_count(t.network); i++) {
        assert_int_equal(a.times[i], nn_network_parameter(t.network, i)->trainable ? 1 : 0);
    }
    test_network_destroy(&t);
}

static double tick(void *ctx)
{
    double *time = ctx;
    *time += 1;
    return *time;
}

static void the_profile_counts_self_time_of_each_pass(void **state)
{
    (void)state;
    struct nn_network_options options = {.max_batch = 2};
    struct test_network t = test_network_create(CNN, &SMALL, &options);
    double time = 0;
    uint8_t pixels[120] = {0};
    nn_network_set_clock(t.network, tick, &time);
    for (int i = 0; i < 3; i++) {
        nn_network_load_u8(t.network, pixels, 2);
        nn_network_forward(t.network, 2, NN_PHASE_TRAINING, &STEP);
        nn_network_backward(t.network, 2);
    }
    assert_int_equal(nn_network_profile_count(t.network), 3);
    struct nn_profile_row row = nn_network_profile(t.network, 0);
    assert_string_equal(row.operator_name, "image_input");
    assert_true(row.forward_seconds == 3 && row.forward_calls == 3 && row.backward_calls == 0);
    row = nn_network_profile(t.network, 1);
    assert_string_equal(row.layers, "conv1+bn1+relu1");
    assert_string_equal(row.operator_name, "convolution+batch_norm+relu");
    assert_true(row.forward_seconds == 3 && row.backward_seconds == 3 && row.backward_calls == 3);
    nn_network_profile_reset(t.network);
    row = nn_network_profile(t.network, 2);
    assert_true(row.forward_seconds == 0 && row.forward_calls == 0);
    nn_network_set_clock(t.network, NULL, NULL);
    nn_network_forward(t.network, 2, NN_PHASE_TRAINING, &STEP);
    assert_true(nn_network_profile(t.network, 2).forward_seconds == 0);
    test_network_destroy(&t);
}

/* ---- memory ---- */

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
        load_random(t.network, 9, 1);
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
        cmocka_unit_test(inference_of_either_plan_is_the_same),
        cmocka_unit_test(inference_changes_nothing_and_repeats),
        cmocka_unit_test(probabilities_are_the_softmax_of_the_scores),
        cmocka_unit_test(dropout_depends_on_seed_epoch_and_sample),
        cmocka_unit_test(running_statistics_follow_torch),
        cmocka_unit_test(population_statistics_are_those_of_all_rows),
        cmocka_unit_test(a_batch_of_one_sample_is_defined),
        cmocka_unit_test(a_frozen_layer_keeps_its_values_and_statistics),
        cmocka_unit_test(each_gradient_is_announced_once),
        cmocka_unit_test(the_profile_counts_self_time_of_each_pass),
        cmocka_unit_test(the_plan_says_its_bytes_and_running_takes_none),
        cmocka_unit_test(a_network_over_the_cap_is_refused),
        cmocka_unit_test(pieces_that_meet_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
