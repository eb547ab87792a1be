/* SPDX-License-Identifier: MIT
 *
 * The gold tests of training: equal setups give equal bits, on any number of threads, and whether
 * or not a run was killed anywhere and resumed. Cases B01, B02, B13, B14 of tests/README.md.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/training/checkpoint.h"
#include "tests/support/runs.h"

/* Everything that could break equality: dropout, batch norm, shuffling, a schedule (B01), clipping,
 * validation with patience, a partial last batch. 44 train samples: 6 steps an epoch, 18 in all. */
static const char NETWORK[] =
    "{\"layers\": [{\"kind\": \"image_input\", \"name\": \"input\"},"
    "{\"kind\": \"convolution\", \"name\": \"conv1\", \"filters\": 5, \"kernel\": 3},"
    "{\"kind\": \"batch_norm\", \"name\": \"bn1\"}, {\"kind\": \"relu\", \"name\": \"relu1\"},"
    "{\"kind\": \"dropout\", \"name\": \"drop1\", \"rate\": 0.3},"
    "{\"kind\": \"fully_connected\", \"name\": \"fc\", \"outputs\": 4},"
    "{\"kind\": \"softmax\", \"name\": \"softmax\"}]}";

#define TRAINING(solver)                                                                           \
    "{\"solver\": \"" solver "\", \"learning_rate\": 0.01, \"epochs\": 3, \"batch_size\": 8,"      \
    "\"shuffle\": \"every_epoch\", \"validation_frequency\": 4, \"checkpoint_interval_seconds\": " \
    "0,\"schedule\": {\"kind\": \"piecewise\", \"drop_factor\": 0.5, \"drop_period\": 1},"         \
    "\"output_network\": \"best_validation_loss\", \"gradient_clipping\": {\"method\": "           \
    "\"global_l2norm\", \"threshold\": 1}}"

static const char *const SOLVERS[] = {TRAINING("sgdm"), TRAINING("rmsprop"), TRAINING("adam")};
enum { STEPS = 18 };

static void open_set(struct synthetic_set *set)
{
    const struct synthetic_spec spec = {8, 8, 60, 21, synthetic_bars};
    synthetic_open(set, &spec);
    synthetic_hold_out(set, 16);
}

static void same_setup_gives_same_bits(void **state)
{
    (void)state;
    struct synthetic_set set;
    open_set(&set);
    for (size_t s = 0; s < 3; s++) {
        struct run_plan plan = {.network = NETWORK, .training = SOLVERS[s], .seed = 3};
        struct run_record first;
        struct run_record again;
        run_do(&first, &set, &plan);
        assert_int_equal(first.status, NN_OK);
        assert_int_equal(first.result->step, STEPS);
        assert_int_equal(first.result->outcome, NN_TRAINING_COMPLETED);
        plan.threads = 3;
        run_do(&again, &set, &plan);
        run_assert_equal(&first, &again);
        run_record_deinit(&again);
        plan.vary_threads = true;
        run_do(&again, &set, &plan);
        run_assert_equal(&first, &again);
        run_record_deinit(&again);
        /* the comparison can fail: another seed is another run */
        plan.seed = 4;
        run_do(&again, &set, &plan);
        double a = run_point_at(&first, "training_loss", 1);
        assert_true(a != run_point_at(&again, "training_loss", 1));
        run_record_deinit(&again);
        run_record_deinit(&first);
    }
    synthetic_close(&set);
}

/* Leaves after `step` without a word, then resumes; B13, B14: points after the checkpoint are told
 * again and replace the old ones, none is doubled or missing. */
static void leave_and_resume(const struct synthetic_set *set, struct run_plan plan, uint64_t step,
                             const struct run_record *whole)
{
    struct run_record broken;
    struct run_record rest;
    plan.order_step = step;
    plan.order = NN_CANCEL;
    run_do(&broken, set, &plan);
    assert_int_equal(broken.status, NN_ERR_CANCELLED);
    assert_null(broken.result);
    plan.order_step = 0;
    plan.resume = true;
    run_do(&rest, set, &plan);
    assert_int_equal(rest.status, NN_OK);
    assert_int_equal(rest.start.step, step);
    assert_false(rest.start.bits_may_differ);
    run_points_join(&broken, &rest);
    rest.points = realloc(rest.points, broken.n_points * sizeof *rest.points);
    assert_non_null(rest.points);
    memcpy(rest.points, broken.points, broken.n_points * sizeof *rest.points);
    rest.n_points = broken.n_points;
    run_assert_equal(whole, &rest);
    assert_string_not_equal(rest.summaries, "");
    run_record_deinit(&broken);
    run_record_deinit(&rest);
}

static void resumed_run_equals_whole(void **state)
{
    (void)state;
    struct synthetic_set set;
    open_set(&set);
    for (size_t s = 0; s < 3; s++) {
        struct run_plan plan = {.network = NETWORK, .training = SOLVERS[s], .seed = 7};
        struct run_record whole;
        run_do(&whole, &set, &plan);
        assert_int_equal(whole.status, NN_OK);
        for (uint64_t step = 1 + s; step < STEPS; step += 3) {
            plan.threads = 1 + step % 2;
            leave_and_resume(&set, plan, step, &whole);
        }
        run_record_deinit(&whole);
    }
    synthetic_close(&set);
}

/* B01: the rate follows the epoch, resumed or not. */
static void learning_rate_continues(void **state)
{
    (void)state;
    struct synthetic_set set;
    open_set(&set);
    struct run_plan plan = {.network = NETWORK, .training = SOLVERS[0], .seed = 1};
    plan.order_step = 9;
    plan.order = NN_CANCEL;
    struct run_record record;
    run_do(&record, &set, &plan);
    run_record_deinit(&record);
    plan.order_step = 0;
    plan.resume = true;
    run_do(&record, &set, &plan);
    assert_true(run_point_at(&record, "learning_rate", 10) == 0.005);
    assert_true(run_point_at(&record, "learning_rate", 12) == 0.005);
    assert_true(run_point_at(&record, "learning_rate", 13) == 0.0025);
    run_record_deinit(&record);
    synthetic_close(&set);
}

/* Every checkpoint notice comes after all points up to its step, and carries their summaries. */
static void checkpoint_vouches_for_points(void **state)
{
    (void)state;
    struct synthetic_set set;
    open_set(&set);
    struct run_plan plan = {.network = NETWORK, .training = SOLVERS[2]};
    struct run_record record;
    run_do(&record, &set, &plan);
    assert_int_equal(record.starts, 1);
    assert_int_equal(record.last_checkpoint, STEPS);
    assert_true(record.last_final);
    /* 18 steps, a validation each 4: that of the end is told behind it */
    assert_int_equal(record.points_at_checkpoint, record.n_points - 2);
    assert_true(isfinite(run_point_at(&record, "validation_loss", STEPS)));
    json_t *summaries = json_loads(record.summaries, 0, NULL);
    json_t *loss = json_object_get(summaries, "training_loss");
    assert_int_equal(json_integer_value(json_object_get(loss, "count")), STEPS);
    assert_int_equal(json_integer_value(json_object_get(loss, "last_step")), STEPS);
    assert_true(json_number_value(json_object_get(loss, "last")) ==
                run_point_at(&record, "training_loss", STEPS));
    assert_true(json_equal(loss, json_object_get(record.result->summaries, "training_loss")));
    assert_int_equal(json_integer_value(json_object_get(
                         json_object_get(summaries, "validation_loss"), "last_step")),
                     16);
    json_decref(summaries);
    run_record_deinit(&record);
    char paths[2][256];
    assert_int_equal(nn_checkpoint_list(set.directory, paths), 2);
    struct nn_checkpoint_info info;
    struct nn_error err = {0};
    assert_int_equal(nn_checkpoint_verify(paths[0], &info, &err), NN_OK);
    assert_int_equal(info.step, STEPS);
    assert_string_equal(info.core_build, "test");
    assert_int_equal(nn_checkpoint_verify(paths[1], &info, &err), NN_OK);
    assert_int_equal(info.step, STEPS - 1);
    synthetic_close(&set);
}

static void pause_and_stop(void **state)
{
    (void)state;
    struct synthetic_set set;
    open_set(&set);
    struct run_plan plan = {.network = NETWORK, .training = SOLVERS[1], .seed = 2};
    struct run_record whole;
    run_do(&whole, &set, &plan);
    plan.order_step = 5;
    plan.order = NN_PAUSE;
    struct run_record record;
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_OK);
    assert_int_equal(record.result->outcome, NN_TRAINING_PAUSED);
    assert_int_equal(record.result->step, 5);
    assert_false(record.result->parts[NN_PART_TEST].present);
    assert_string_equal(record.result->network_path, "");
    assert_true(record.last_final && record.last_checkpoint == 5);
    run_record_deinit(&record);
    plan.order_step = 0;
    plan.resume = true;
    run_do(&record, &set, &plan);
    assert_int_equal(record.start.step, 5);
    assert_memory_equal(record.network, whole.network, whole.network_size);
    run_record_deinit(&record);
    plan.resume = false;
    plan.order_step = 5;
    plan.order = NN_STOP;
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_OK);
    assert_int_equal(record.result->outcome, NN_TRAINING_STOPPED);
    assert_true(record.result->parts[NN_PART_TEST].present);
    assert_int_equal(record.result->parts[NN_PART_TEST].evaluation.samples, 21);
    assert_non_null(record.network);
    run_record_deinit(&record);
    run_record_deinit(&whole);
    synthetic_close(&set);
}

/* Turns a byte of a file over. */
static void spoil(const char *path, long offset)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, offset, offset < 0 ? SEEK_END : SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
    assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
    assert_int_equal(fclose(file), 0);
}

static void broken_checkpoint_falls_back(void **state)
{
    (void)state;
    struct synthetic_set set;
    char paths[2][256];
    open_set(&set);
    struct run_plan plan = {.network = NETWORK, .training = SOLVERS[0], .seed = 9};
    struct run_record whole;
    run_do(&whole, &set, &plan);
    for (int how = 0; how < 3; how++) {
        struct run_record record;
        plan.resume = false;
        plan.order_step = 11;
        plan.order = NN_CANCEL;
        run_do(&record, &set, &plan);
        run_record_deinit(&record);
        assert_int_equal(nn_checkpoint_list(set.directory, paths), 2);
        if (how == 0) {
            spoil(paths[0], 500);
        } else if (how == 1) {
            spoil(paths[0], -1);
        } else {
            assert_int_equal(truncate(paths[0], 700), 0);
        }
        struct nn_checkpoint_info info;
        assert_int_equal(nn_checkpoint_verify(paths[0], &info, NULL), NN_ERR_CORRUPT);
        plan.order_step = 0;
        plan.resume = true;
        run_do(&record, &set, &plan);
        assert_int_equal(record.start.step, 10);
        assert_memory_equal(record.network, whole.network, whole.network_size);
        run_record_deinit(&record);
    }
    assert_int_equal(nn_checkpoint_list(set.directory, paths), 2);
    spoil(paths[0], 1);
    spoil(paths[1], 1);
    struct run_record record;
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_ERR_CORRUPT);
    run_record_deinit(&record);
    run_record_deinit(&whole);
    synthetic_close(&set);
}

static void foreign_checkpoints(void **state)
{
    (void)state;
    struct synthetic_set set;
    open_set(&set);
    struct run_plan plan = {.network = NETWORK, .training = SOLVERS[0], .order_step = 4};
    plan.order = NN_PAUSE;
    struct run_record record;
    run_do(&record, &set, &plan);
    run_record_deinit(&record);
    plan.resume = true;
    plan.spec_digest = "another";
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_ERR_INVALID);
    run_record_deinit(&record);
    plan.spec_digest = NULL;
    plan.training = SOLVERS[2]; /* another solver has other slots */
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_ERR_INVALID);
    run_record_deinit(&record);
    plan.training = SOLVERS[0];
    plan.core_build = "another build";
    run_do(&record, &set, &plan);
    assert_int_equal(record.status, NN_OK);
    assert_true(record.start.bits_may_differ);
    run_record_deinit(&record);
    synthetic_close(&set);
}

/* B02: killed at any moment while every step is saved; there is always a checkpoint to go on from,
 * and the end is that of the run that nobody killed. */
static void killed_anywhere(void **state)
{
    (void)state;
    struct synthetic_set set;
    open_set(&set);
    const struct run_plan plan = {.network = NETWORK, .training = SOLVERS[2], .seed = 5};
    run_assert_survives_kills(&set, plan, 4, 36);
    synthetic_close(&set);
}

/* A disk that takes no checkpoint for a while: the run goes on, says so once, and writes the next
 * one that can be written. */
static void run_outlives_a_full_disk(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record whole;
    struct run_record disturbed;
    open_set(&set);
    struct run_plan plan = {.network = NETWORK, .training = SOLVERS[0], .seed = 3};
    run_do(&whole, &set, &plan);
    plan.away_from = 5;
    plan.away_until = 10;
    run_do(&disturbed, &set, &plan);
    assert_int_equal(disturbed.status, NN_OK);
    assert_int_equal(disturbed.checkpoints + 5, whole.checkpoints);
    assert_int_equal(whole.lines, 0);
    assert_int_equal(disturbed.lines, 1);
    assert_int_equal(disturbed.last_checkpoint, STEPS);
    run_assert_equal(&whole, &disturbed);
    run_record_deinit(&disturbed);
    run_record_deinit(&whole);
    synthetic_close(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_setup_gives_same_bits),    cmocka_unit_test(resumed_run_equals_whole),
        cmocka_unit_test(learning_rate_continues),       cmocka_unit_test(pause_and_stop),
        cmocka_unit_test(checkpoint_vouches_for_points), cmocka_unit_test(foreign_checkpoints),
        cmocka_unit_test(broken_checkpoint_falls_back),  cmocka_unit_test(killed_anywhere),
        cmocka_unit_test(run_outlives_a_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
