/* SPDX-License-Identifier: MIT
 *
 * Training on augmented images: the same bits after a stop in between, and only for what trains.
 */
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/runs.h"

static const char NETWORK[] =
    "{\"layers\": [{\"kind\": \"image_input\", \"name\": \"input\"},"
    "{\"kind\": \"convolution\", \"name\": \"conv1\", \"filters\": 5, \"kernel\": 3},"
    "{\"kind\": \"batch_norm\", \"name\": \"bn1\"}, {\"kind\": \"relu\", \"name\": \"relu1\"},"
    "{\"kind\": \"convolution\", \"name\": \"conv2\", \"filters\": 6, \"kernel\": 3},"
    "{\"kind\": \"relu\", \"name\": \"relu2\"},"
    "{\"kind\": \"dropout\", \"name\": \"drop1\", \"rate\": 0.3},"
    "{\"kind\": \"fully_connected\", \"name\": \"fc\", \"outputs\": 4},"
    "{\"kind\": \"softmax\", \"name\": \"softmax\"}]}";

#define TRAINING(solver)                                                                           \
    "{\"solver\": \"" solver "\", \"learning_rate\": 0.01, \"epochs\": 2, \"batch_size\": 8,"      \
    "\"shuffle\": \"every_epoch\", \"validation_frequency\": 4, \"l2\": 0.01,"                     \
    "\"checkpoint_interval_seconds\": 0, \"head_learning_rate_factor\": 3}"

static void open_set(struct synthetic_set *set)
{
    const struct synthetic_spec spec = {8, 8, 60, 21, synthetic_bars};
    synthetic_open(set, &spec);
    synthetic_hold_out(set, 16);
}

static void a_stopped_run_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record whole;
    open_set(&set);
    struct run_plan plan = {.network = NETWORK,
                            .training = TRAINING("sgdm"),
                            .seed = 4,
                            .augmentation = {.x_reflection = true, .crop_padding = 2},
                            .spec_digest = "augmented"};
    run_do(&whole, &set, &plan);
    assert_int_equal(whole.status, NN_OK);
    for (uint64_t at = 1; at < whole.result->step; at += 3) {
        struct run_record first, rest;
        plan.order_step = at;
        plan.order = NN_PAUSE;
        plan.resume = false;
        run_do(&first, &set, &plan);
        assert_int_equal(first.result->outcome, NN_TRAINING_PAUSED);
        plan.order_step = 0;
        plan.resume = true;
        run_do(&rest, &set, &plan);
        assert_int_equal(rest.start.step, at);
        run_points_join(&first, &rest);
        free(rest.points);
        rest.points = first.points;
        rest.n_points = first.n_points;
        first.points = NULL;
        run_assert_equal(&whole, &rest);
        run_record_deinit(&first);
        run_record_deinit(&rest);
    }
    run_record_deinit(&whole);
    synthetic_close(&set);
}

/* Augmentation is for training alone: what is evaluated are the images as they are. */
static void augmentation_reaches_the_train_part_only(void **state)
{
    (void)state;
    static const char *const ALL[] = {"conv1", "bn1", "conv2", "fc"};
    struct synthetic_set set;
    struct run_record plain, changed;
    open_set(&set);
    struct run_plan plan = {
        .network = NETWORK, .training = TRAINING("sgdm"), .seed = 3, .frozen = ALL, .n_frozen = 4};
    run_do(&plain, &set, &plan);
    plan.augmentation.crop_padding = 3;
    run_do(&changed, &set, &plan);
    assert_true(run_last(&plain, "training_loss") != run_last(&changed, "training_loss"));
    for (int part = 0; part < NN_PART_COUNT; part++) {
        assert_true(plain.result->parts[part].present);
        assert_memory_equal(&plain.result->parts[part].evaluation.loss,
                            &changed.result->parts[part].evaluation.loss, sizeof(double));
    }
    run_record_deinit(&plain);
    run_record_deinit(&changed);
    synthetic_close(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_run_goes_on_to_the_same_bits),
        cmocka_unit_test(augmentation_reaches_the_train_part_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
