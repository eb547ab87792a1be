/* SPDX-License-Identifier: MIT
 *
 * Transfer: a run that starts from another network's weights with a head of its own, with frozen
 * layers and learning-rate factors.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/safetensors.h"
#include "tests/support/runs.h"

/* The head has as many outputs as the data set has classes. */
static const char NETWORK[] =
    "{\"layers\": [{\"kind\": \"image_input\", \"name\": \"input\"},"
    "{\"kind\": \"convolution\", \"name\": \"conv1\", \"filters\": 6, \"kernel\": 3},"
    "{\"kind\": \"batch_norm\", \"name\": \"bn1\"}, {\"kind\": \"relu\", \"name\": \"relu1\"},"
    "{\"kind\": \"dropout\", \"name\": \"drop1\", \"rate\": 0.2},"
    "{\"kind\": \"fully_connected\", \"name\": \"fc\"},"
    "{\"kind\": \"softmax\", \"name\": \"softmax\"}]}";
static const char TRAINING[] =
    "{\"solver\": \"sgdm\", \"learning_rate\": 0.03, \"epochs\": 6, \"batch_size\": 16,"
    " \"checkpoint_interval_seconds\": 0}";

static const char *const BACKBONE[] = {"conv1", "bn1"};
static const char *const TENSORS[] = {"conv1.weight", "conv1.bias",       "bn1.weight",
                                      "bn1.bias",     "bn1.running_mean", "bn1.running_var",
                                      "fc.weight",    "fc.bias"};
enum { BACKBONE_TENSORS = 6, ALL_TENSORS = 8 };

/* Bars at four places, in two classes: another task for the same network. */
static unsigned char two_bars(size_t i, unsigned char *pixels)
{
    return synthetic_bars(i, pixels) / 2;
}

/* A network trained on four classes; its file is kept at `path`. */
static struct run_record pretrained;
static char path[64] = "/tmp/assay-transfer-XXXXXX";
static struct synthetic_set target;

static int set_up(void **state)
{
    const struct synthetic_spec source_spec = {8, 8, 128, 0, synthetic_bars};
    const struct synthetic_spec target_spec = {8, 8, 96, 64, two_bars};
    const struct run_plan plan = {.network = NETWORK, .training = TRAINING, .seed = 1};
    struct synthetic_set source;
    (void)state;
    synthetic_open(&source, &source_spec);
    run_do(&pretrained, &source, &plan);
    synthetic_close(&source);
    int fd = mkstemp(path);
    bool fine =
        fd >= 0 && pretrained.network &&
        write(fd, pretrained.network, pretrained.network_size) == (ssize_t)pretrained.network_size;
    (void)close(fd);
    synthetic_open(&target, &target_spec);
    return fine ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    synthetic_close(&target);
    run_record_deinit(&pretrained);
    return unlink(path);
}

/* Whether a tensor has the same bytes in both runs' networks. */
static bool is_same(const struct run_record *a, const struct run_record *b, const char *name)
{
    struct nn_safetensors *files[2] = {NULL, NULL};
    assert_int_equal(nn_safetensors_open_bytes(a->network, a->network_size, NULL, &files[0], NULL),
                     NN_OK);
    assert_int_equal(nn_safetensors_open_bytes(b->network, b->network_size, NULL, &files[1], NULL),
                     NN_OK);
    const struct nn_file_tensor *x = nn_safetensors_find(files[0], name);
    const struct nn_file_tensor *y = nn_safetensors_find(files[1], name);
    bool same = x && y && x->bytes == y->bytes && memcmp(x->data, y->data, x->bytes) == 0;
    nn_safetensors_close(files[0]);
    nn_safetensors_close(files[1]);
    return same;
}

static struct run_plan transfer_plan(void)
{
    return (struct run_plan){.network = NETWORK,
                             .training = TRAINING,
                             .seed = 5,
                             .weights = path,
                             .head = NN_MATCH_HEAD_REPLACED};
}

static void another_number_of_classes_needs_a_new_head(void **state)
{
    struct run_record record;
    struct run_plan plan = transfer_plan();
    (void)state;
    plan.head = NN_MATCH_HEAD_KEPT;
    run_do(&record, &target, &plan);
    assert_int_equal(record.status, NN_ERR_INVALID);
    assert_non_null(strstr(record.err.text, "fc."));
    run_record_deinit(&record);
}

static void everything_learns_on(void **state)
{
    struct run_record record;
    const struct run_plan plan = transfer_plan();
    (void)state;
    run_do(&record, &target, &plan);
    assert_int_equal(record.status, NN_OK);
    for (size_t i = 0; i < ALL_TENSORS; i++) { /* a bias before a batch norm has no gradient */
        assert_int_equal(is_same(&pretrained, &record, TENSORS[i]), i == 1);
    }
    assert_true(record.result->parts[NN_PART_TEST].evaluation.accuracy.value > 0.9);
    run_record_deinit(&record);
}

/* Frozen layers leave the run as they entered it, batch-norm statistics included. */
static void frozen_layers_stay(void **state)
{
    struct run_record record;
    struct run_plan plan = transfer_plan();
    (void)state;
    plan.frozen = BACKBONE;
    plan.n_frozen = 2;
    run_do(&record, &target, &plan);
    assert_int_equal(record.status, NN_OK);
    for (size_t i = 0; i < ALL_TENSORS; i++) {
        assert_int_equal(is_same(&pretrained, &record, TENSORS[i]), i < BACKBONE_TENSORS);
    }
    assert_true(record.result->parts[NN_PART_TEST].evaluation.accuracy.value > 0.9);
    run_record_deinit(&record);
}

/* A killed and resumed run of that kind is the whole one. */
static void frozen_runs_resume_to_the_bit(void **state)
{
    struct run_record whole, broken, rest;
    struct run_plan plan = transfer_plan();
    (void)state;
    plan.frozen = BACKBONE;
    plan.n_frozen = 2;
    run_do(&whole, &target, &plan);
    plan.order_step = 17;
    plan.order = NN_CANCEL;
    run_do(&broken, &target, &plan);
    assert_int_equal(broken.status, NN_ERR_CANCELLED);
    plan.order_step = 0;
    plan.resume = true;
    run_do(&rest, &target, &plan);
    assert_int_equal(rest.start.step, 17);
    run_points_join(&broken, &rest);
    free(rest.points);
    rest.points = broken.points;
    rest.n_points = broken.n_points;
    broken.points = NULL;
    run_assert_equal(&whole, &rest);
    run_record_deinit(&whole);
    run_record_deinit(&broken);
    run_record_deinit(&rest);
}

/* The last pattern that fits counts; a factor of 0 keeps what is learned, not the statistics. */
static void factors_by_pattern(void **state)
{
    static const struct nn_layer_factor FACTORS[] = {{"*1", 0, 1}, {"bn1", 0.5, 1}, {"fc", 10, 1}};
    struct run_record record;
    struct run_plan plan = transfer_plan();
    (void)state;
    plan.factors = FACTORS;
    plan.n_factors = 3;
    run_do(&record, &target, &plan);
    assert_int_equal(record.status, NN_OK);
    for (size_t i = 0; i < ALL_TENSORS; i++) {
        assert_int_equal(is_same(&pretrained, &record, TENSORS[i]), i < 2);
    }
    run_record_deinit(&record);
    static const struct nn_layer_factor NOBODY[] = {{"block*", 2, 1}};
    plan.factors = NOBODY;
    plan.n_factors = 1;
    run_do(&record, &target, &plan);
    assert_int_equal(record.status, NN_ERR_INVALID);
    assert_non_null(strstr(record.err.text, "block*"));
    run_record_deinit(&record);
}

/* A factor of 10 on the head is ten times the step, at the first step exactly. */
static void a_factor_is_a_factor(void **state)
{
    static const struct nn_layer_factor TEN[] = {{"fc", 10, 1}};
    static const char ONE_STEP[] = "{\"solver\": \"sgdm\", \"learning_rate\": %s, \"epochs\": 1, "
                                   "\"batch_size\": 96, \"l2\": 0}";
    char slow[160], fast[160];
    struct run_record a, b;
    struct run_plan plan = transfer_plan();
    (void)state;
    (void)snprintf(slow, sizeof slow, ONE_STEP, "0.001");
    (void)snprintf(fast, sizeof fast, ONE_STEP, "0.01");
    plan.frozen = BACKBONE;
    plan.n_frozen = 2;
    plan.training = fast;
    run_do(&a, &target, &plan);
    plan.training = slow;
    plan.factors = TEN;
    plan.n_factors = 1;
    run_do(&b, &target, &plan);
    assert_int_equal(a.status, NN_OK);
    assert_true(is_same(&a, &b, "fc.weight") && is_same(&a, &b, "fc.bias"));
    run_record_deinit(&a);
    run_record_deinit(&b);
}

/* A new head starts small whatever its size, and from the seed. */
static void a_new_head_starts_small(void **state)
{
    static const struct nn_layer_factor NOTHING[] = {{"*", 0, 1}};
    struct run_record a, b;
    struct run_plan plan = transfer_plan();
    (void)state;
    plan.factors = NOTHING;
    plan.n_factors = 1;
    run_do(&a, &target, &plan);
    plan.seed = 6;
    run_do(&b, &target, &plan);
    assert_int_equal(a.status, NN_OK);
    assert_false(is_same(&a, &b, "fc.weight"));
    struct nn_safetensors *file = NULL;
    assert_int_equal(nn_safetensors_open_bytes(a.network, a.network_size, NULL, &file, NULL),
                     NN_OK);
    const struct nn_file_tensor *weight = nn_safetensors_find(file, "fc.weight");
    nn_real values[2 * 6 * 36];
    double squares = 0;
    assert_int_equal(weight->count, 2 * 6 * 36);
    nn_file_tensor_read(weight, values);
    for (size_t i = 0; i < weight->count; i++) {
        squares += (double)values[i] * (double)values[i];
    }
    double deviation = sqrt(squares / (double)weight->count); /* 0.01 within 4 deviations of it */
    assert_true(deviation > 0.0086 && deviation < 0.0114);
    nn_safetensors_close(file);
    run_record_deinit(&a);
    run_record_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_number_of_classes_needs_a_new_head),
        cmocka_unit_test(everything_learns_on),
        cmocka_unit_test(frozen_layers_stay),
        cmocka_unit_test(frozen_runs_resume_to_the_bit),
        cmocka_unit_test(factors_by_pattern),
        cmocka_unit_test(a_factor_is_a_factor),
        cmocka_unit_test(a_new_head_starts_small),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
