/* SPDX-License-Identifier: MIT
 *
 * What the phases of a network do: inference, dropout, statistics of batch norm, frozen layers,
 * hooks.
 */
#include "core/network/network.h"

#include <math.h>
#include <string.h>

#include "core/network/network_internal.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/network.h"

static const struct nn_network_bind SMALL = {.height = 6, .width = 5, .channels = 2, .classes = 4};

static const char CNN[] = "{'name': 'simple_cnn', 'filters': 3, 'kernel': 3}";

static const struct nn_step STEP = {.seed = 11, .epoch = 1, .first_sample = 7};

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
    test_load_random(training.network, 3, 4);
    test_load_random(borrowed.network, 3, 4);
    nn_network_forward(training.network, 3, NN_PHASE_INFERENCE, NULL);
    nn_network_forward(borrowed.network, 3, NN_PHASE_INFERENCE, NULL);
    copy_output(training.network, 3, one);
    copy_output(borrowed.network, 3, two);
    assert_memory_equal(one, two, 12 * sizeof *one);
    size_t n;
    assert_null(nn_network_values(borrowed.network, &n));
    assert_null(nn_network_grads(borrowed.network, &n));
    assert_ptr_equal(test_parameter(borrowed.network, "fc.weight")->value,
                     test_parameter(training.network, "fc.weight")->value);
    assert_null(test_parameter(borrowed.network, "fc.weight")->grad);
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
    memcpy(mean, test_parameter(t.network, "bn.running_mean")->value, sizeof mean);
    test_load_random(t.network, 5, 4);
    nn_network_forward(t.network, 5, NN_PHASE_INFERENCE, NULL);
    copy_output(t.network, 5, first);
    nn_network_forward(t.network, 5, NN_PHASE_INFERENCE, NULL);
    copy_output(t.network, 5, second);
    assert_memory_equal(first, second, sizeof first);
    assert_memory_equal(mean, test_parameter(t.network, "bn.running_mean")->value, sizeof mean);
    nn_network_forward(t.network, 5, NN_PHASE_TRAINING, &STEP);
    copy_output(t.network, 5, second);
    assert_memory_not_equal(first, second, sizeof first);
    assert_memory_not_equal(mean, test_parameter(t.network, "bn.running_mean")->value, sizeof mean);
    test_network_destroy(&t);
}

static void probabilities_are_the_softmax_of_the_scores(void **state)
{
    (void)state;
    struct nn_network_options options = {.max_batch = 2, .phase = NN_PHASE_INFERENCE};
    struct test_network t = test_network_create(CNN, &SMALL, &options);
    test_fill_parameters(t.network, 2);
    test_load_random(t.network, 2, 4);
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
        test_load_random(t.network, batch, 20 + k);
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
        assert_true(fabs((double)test_parameter(t.network, "bn.running_mean")->value[c] -
                         want_mean[c]) < 1e-6);
        assert_true(fabs((double)test_parameter(t.network, "bn.running_var")->value[c] -
                         want_var[c]) < 1e-6);
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
        assert_true(test_parameter(parts.network, VARS[k])->value[0] == 1);
        nn_network_statistics_begin(parts.network);
        for (size_t first = 0; first < 7; first += 3) {
            size_t batch = first + 3 > 7 ? 7 - first : 3;
            memcpy(nn_network_input(parts.network), all + first * 60, batch * 60 * sizeof *all);
            nn_network_forward(parts.network, batch, NN_PHASE_STATISTICS, NULL);
        }
        assert_true(test_parameter(parts.network, VARS[k])->value[0] == 1); /* not before finish */
        nn_network_statistics_finish(parts.network);
        memcpy(nn_network_input(whole.network), all, sizeof all);
        nn_network_statistics_begin(whole.network);
        nn_network_forward(whole.network, 7, NN_PHASE_STATISTICS, NULL);
        nn_network_statistics_finish(whole.network);
        for (size_t c = 0; c < 2; c++) {
            double mean = (double)test_parameter(parts.network, MEANS[k])->value[c];
            double var = (double)test_parameter(parts.network, VARS[k])->value[c];
            assert_true(fabs(mean - (double)test_parameter(whole.network, MEANS[k])->value[c]) <
                        1e-6);
            assert_true(fabs(var - (double)test_parameter(whole.network, VARS[k])->value[c]) <
                        1e-6);
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
            memcpy(before, test_parameter(t.network, "bn.running_var")->value, sizeof before);
            test_load_random(t.network, 1, 2);
            nn_network_forward(t.network, 1, NN_PHASE_TRAINING, &STEP);
            test_fill(nn_network_output_gradient(t.network), 4, 6);
            nn_network_backward(t.network, 1);
            bool same = memcmp(before, test_parameter(t.network, "bn.running_var")->value,
                               sizeof before) == 0;
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
    memcpy(before, test_parameter(t.network, "bn1.running_mean")->value, sizeof before);
    test_load_random(t.network, 3, 2);
    nn_network_forward(t.network, 3, NN_PHASE_TRAINING, &STEP);
    test_fill(nn_network_output_gradient(t.network), 12, 6);
    nn_network_backward(t.network, 3);
    assert_memory_equal(before, test_parameter(t.network, "bn1.running_mean")->value,
                        sizeof before);
    assert_null(test_parameter(t.network, "conv1.weight")->grad);
    assert_false(test_parameter(t.network, "bn1.weight")->trainable);
    assert_non_null(test_parameter(t.network, "fc.weight")->grad);
    size_t n;
    (void)nn_network_values(t.network, &n);
    assert_int_equal(n, nn_padded_count(144) + nn_padded_count(4));
    test_network_destroy(&t);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
