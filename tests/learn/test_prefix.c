/* SPDX-License-Identifier: MIT
 *
 * The frozen prefix kept in a file: a run that loads its rows has the bits of one that computes it
 * at each step, also when it is stopped and goes on; files of other prefixes and damaged ones are
 * made anew.
 */
#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/runs.h"

/* Branches that meet in a concatenation, batch norm, pooling, a dropout before the head: 8 x 8 in.
 */
static const char NETWORK[] =
    "{\"layers\": [{\"kind\": \"image_input\", \"name\": \"input\", \"normalisation\": \"zscore\"},"
    "{\"kind\": \"convolution\", \"name\": \"conv1\", \"filters\": 5, \"kernel\": 3},"
    "{\"kind\": \"batch_norm\", \"name\": \"bn1\"}, {\"kind\": \"relu\", \"name\": \"relu1\"},"
    "{\"kind\": \"convolution\", \"name\": \"left\", \"filters\": 3, \"kernel\": 1},"
    "{\"kind\": \"relu\", \"name\": \"left_relu\"},"
    "{\"kind\": \"convolution\", \"name\": \"right\", \"filters\": 6, \"kernel\": 3, \"padding\": "
    "1},"
    "{\"kind\": \"relu\", \"name\": \"right_relu\"},"
    "{\"kind\": \"concatenation\", \"name\": \"join\"},"
    "{\"kind\": \"max_pool\", \"name\": \"pool\", \"kernel\": 2},"
    "{\"kind\": \"convolution\", \"name\": \"conv3\", \"filters\": 7, \"kernel\": 2},"
    "{\"kind\": \"batch_norm\", \"name\": \"bn3\"},"
    "{\"kind\": \"dropout\", \"name\": \"drop\", \"rate\": 0.3},"
    "{\"kind\": \"fully_connected\", \"name\": \"fc\", \"outputs\": 4},"
    "{\"kind\": \"softmax\", \"name\": \"softmax\"}], \"connections\": [[\"input\", \"conv1\"],"
    "[\"conv1\", \"bn1\"], [\"bn1\", \"relu1\"], [\"relu1\", \"left\"], [\"left\", \"left_relu\"],"
    "[\"relu1\", \"right\"], [\"right\", \"right_relu\"], [\"left_relu\", \"join\"],"
    "[\"right_relu\", \"join\"], [\"join\", \"pool\"], [\"pool\", \"conv3\"], [\"conv3\", \"bn3\"],"
    "[\"bn3\", \"drop\"], [\"drop\", \"fc\"], [\"fc\", \"softmax\"]]}";

#define TRAINING(solver)                                                                           \
    "{\"solver\": \"" solver "\", \"learning_rate\": 0.01, \"epochs\": 3, \"batch_size\": 8,"      \
    "\"shuffle\": \"every_epoch\", \"validation_frequency\": 4, \"l2\": 0.01,"                     \
    "\"checkpoint_interval_seconds\": 0}"
static const char *const SOLVERS[] = {TRAINING("sgdm"), TRAINING("rmsprop"), TRAINING("adam")};

/* What is frozen, from nothing but the first block to all but the head. */
static const char *const LAYERS[] = {"conv1", "bn1", "left", "right", "conv3", "bn3"};

struct fixture {
    struct synthetic_set set;
    char file[128];
};

static int set_up(void **state)
{
    static struct fixture fixture;
    const struct synthetic_spec spec = {8, 8, 60, 21, synthetic_bars};
    synthetic_open(&fixture.set, &spec);
    synthetic_hold_out(&fixture.set, 16);
    (void)snprintf(fixture.file, sizeof fixture.file, "%s/prefix", fixture.set.directory);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    synthetic_close(&((struct fixture *)*state)->set);
    return 0;
}

static struct run_plan plan_of(size_t n_frozen)
{
    return (struct run_plan){.network = NETWORK,
                             .training = SOLVERS[0],
                             .seed = 3,
                             .frozen = LAYERS,
                             .n_frozen = n_frozen,
                             .normalisation = NN_NORMALISATION_DESCRIBED};
}

static void kept_rows_give_the_same_bits(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < 12; i++) {
        struct run_record computed, made, used;
        struct run_plan plan = plan_of(2 + i % 4 + (i % 4 == 3));
        plan.training = SOLVERS[i / 4];
        plan.plain_operators = i % 3 == 2;
        run_do(&computed, &f->set, &plan);
        assert_int_equal(computed.status, NN_OK);
        assert_int_equal(computed.prefix, 3);
        plan.prefix = f->file;
        plan.threads = 3;
        plan.vary_threads = true;
        run_do(&made, &f->set, &plan);
        run_do(&used, &f->set, &plan);
        assert_int_equal(made.prefix, 2);
        assert_int_equal(used.prefix, 1);
        run_assert_equal(&computed, &made);
        run_assert_equal(&computed, &used);
        run_record_deinit(&computed);
        run_record_deinit(&made);
        run_record_deinit(&used);
        assert_int_equal(unlink(f->file), 0);
    }
}

static void a_stopped_run_goes_on_with_or_without_them(void **state)
{
    struct fixture *f = *state;
    struct run_record whole;
    struct run_plan plan = plan_of(6);
    run_do(&whole, &f->set, &plan);
    for (uint64_t at = 1; at < whole.result->step; at += 2) {
        struct run_record first, rest;
        plan.order_step = at;
        plan.order = NN_PAUSE;
        plan.resume = false;
        plan.prefix = at % 4 == 1 ? f->file : NULL;
        run_do(&first, &f->set, &plan);
        plan.order_step = 0;
        plan.resume = true;
        plan.prefix = at % 8 < 4 ? f->file : NULL;
        run_do(&rest, &f->set, &plan);
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
    assert_int_equal(unlink(f->file), 0);
}

/* A wish to leave is heard while the rows are made, which then are not kept. */
static void making_them_can_be_stopped(void **state)
{
    struct fixture *f = *state;
    struct run_record whole, first, rest;
    struct run_plan plan = plan_of(6);
    run_do(&whole, &f->set, &plan);
    plan.prefix = f->file;
    plan.order_poll = 5;
    plan.order = NN_CANCEL;
    run_do(&first, &f->set, &plan);
    assert_int_equal(first.status, NN_ERR_CANCELLED);
    run_record_deinit(&first);
    plan.order = NN_STOP;
    run_do(&first, &f->set, &plan);
    assert_int_equal(first.result->outcome, NN_TRAINING_STOPPED);
    run_record_deinit(&first);
    plan.order = NN_PAUSE;
    run_do(&first, &f->set, &plan);
    assert_int_equal(first.status, NN_OK);
    assert_int_equal(first.result->outcome, NN_TRAINING_PAUSED);
    assert_int_equal(first.result->step, 0);
    assert_int_equal(first.prefix, 3);
    assert_int_not_equal(access(f->file, F_OK), 0);
    plan.order_poll = 0;
    plan.resume = true;
    run_do(&rest, &f->set, &plan);
    assert_int_equal(rest.prefix, 2);
    run_assert_equal(&whole, &rest);
    run_record_deinit(&first);
    run_record_deinit(&rest);
    run_record_deinit(&whole);
    assert_int_equal(unlink(f->file), 0);
}

/* Without a file a batch of rows is held; with one they are only mapped. The plan counts them. */
static void their_memory_is_planned(void **state)
{
    struct fixture *f = *state;
    struct run_record computed, made, used;
    struct run_plan plan = plan_of(2); /* 5 x 6 x 6 numbers a sample */
    const size_t row = 5 * 6 * 6 * sizeof(nn_real);
    run_do(&computed, &f->set, &plan);
    plan.prefix = f->file;
    run_do(&made, &f->set, &plan);
    run_do(&used, &f->set, &plan);
    assert_true(computed.planned_bytes >= computed.result->plan_bytes);
    assert_true(computed.result->plan_bytes >= used.result->plan_bytes + 8 * row);
    assert_int_equal(made.result->plan_bytes, used.result->plan_bytes);
    plan.augmentation.x_reflection = true; /* switches the prefix off */
    struct run_record off;
    run_do(&off, &f->set, &plan);
    assert_true(computed.planned_bytes >= off.planned_bytes + 8 * row);
    run_record_deinit(&computed);
    run_record_deinit(&made);
    run_record_deinit(&used);
    run_record_deinit(&off);
    assert_int_equal(unlink(f->file), 0);
}

static int told(const struct fixture *f, const struct run_plan *plan)
{
    struct run_record record;
    run_do(&record, &f->set, plan);
    assert_int_equal(record.status, NN_OK);
    int prefix = record.prefix;
    run_record_deinit(&record);
    return prefix;
}

static void only_the_same_prefix_is_used_again(void **state)
{
    struct fixture *f = *state;
    struct run_plan plan = plan_of(5);
    plan.prefix = f->file;
    assert_int_equal(told(f, &plan), 2);
    plan.training = TRAINING("adam"); /* how the rest learns does not matter */
    assert_int_equal(told(f, &plan), 1);
    plan.seed = 4; /* other values of the frozen layers */
    assert_int_equal(told(f, &plan), 2);
    plan.core_build = "another";
    assert_int_equal(told(f, &plan), 2);
    plan.normalisation = NN_NORMALISATION_NONE;
    assert_int_equal(told(f, &plan), 2);
    plan.plain_operators = true;
    assert_int_equal(told(f, &plan), 2);
    plan.n_frozen = 2; /* it ends earlier */
    assert_int_equal(told(f, &plan), 2);
    assert_int_equal(told(f, &plan), 1);
    assert_int_equal(unlink(f->file), 0);
}

static void damaged_files_are_made_anew(void **state)
{
    struct fixture *f = *state;
    struct run_plan plan = plan_of(6);
    struct stat about;
    plan.prefix = f->file;
    assert_int_equal(told(f, &plan), 2);
    assert_int_equal(stat(f->file, &about), 0);
    const off_t places[] = {0, 8, 40, 71, 4000, 4096, about.st_size - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char byte;
        int fd = open(f->file, O_RDWR);
        assert_int_equal(pread(fd, &byte, 1, places[i]), 1);
        byte = (char)(byte ^ 4);
        assert_int_equal(pwrite(fd, &byte, 1, places[i]), 1);
        assert_int_equal(close(fd), 0);
        assert_int_equal(told(f, &plan), 2);
    }
    assert_int_equal(truncate(f->file, about.st_size - 4), 0);
    assert_int_equal(told(f, &plan), 2);
    assert_int_equal(told(f, &plan), 1);
    assert_int_equal(unlink(f->file), 0);
}

static void where_there_is_none(void **state)
{
    struct fixture *f = *state;
    struct run_plan plan = plan_of(0); /* nothing frozen */
    plan.prefix = f->file;
    assert_int_equal(told(f, &plan), 3);
    plan.n_frozen = 6;
    plan.augmentation.x_reflection = true;
    assert_int_equal(told(f, &plan), 3);
    plan.augmentation.x_reflection = false;
    plan.prefix = "/nowhere/prefix"; /* a file that cannot be made costs speed, not the run */
    assert_int_equal(told(f, &plan), 3);
    assert_int_not_equal(access(f->file, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kept_rows_give_the_same_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stopped_run_goes_on_with_or_without_them, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(making_them_can_be_stopped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(their_memory_is_planned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_the_same_prefix_is_used_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_files_are_made_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(where_there_is_none, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
