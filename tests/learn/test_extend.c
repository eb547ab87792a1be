/* SPDX-License-Identifier: MIT
 *
 * Runs that go on with more epochs after their end: to the bit those that had as many from the
 * start, wherever they ended and however often they are extended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "core/training/checkpoint.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/runs.h"

static const char NETWORK[] =
    "{\"layers\": [{\"kind\": \"image_input\", \"name\": \"input\"},"
    "{\"kind\": \"convolution\", \"name\": \"conv1\", \"filters\": 4, \"kernel\": 3},"
    "{\"kind\": \"batch_norm\", \"name\": \"bn1\"}, {\"kind\": \"relu\", \"name\": \"relu1\"},"
    "{\"kind\": \"dropout\", \"name\": \"drop1\", \"rate\": 0.3},"
    "{\"kind\": \"fully_connected\", \"name\": \"fc\", \"outputs\": 4},"
    "{\"kind\": \"softmax\", \"name\": \"softmax\"}]}";

/* 44 train samples: 6 steps an epoch. */
enum { EPOCH = 6 };

struct course {
    const char *name, *training; /* all but the epochs */
    uint64_t validated;          /* of 3 epochs, before their end */
    enum nn_training_outcome outcome;
};

#define COMMON "\"batch_size\": 8, \"shuffle\": \"every_epoch\", "

static const struct course COURSES[] = {
    {"validated where it ends",
     "\"solver\": \"adam\", \"learning_rate\": 0.01, \"validation_frequency\": 0, " COMMON
     "\"batch_norm_statistics\": \"population\", \"ema_decay\": 0.9",
     18, NN_TRAINING_COMPLETED},
    /* 18 steps, a validation each 4: there is one more at the end, and none of it may stay */
    {"validated beyond its course",
     "\"solver\": \"sgdm\", \"learning_rate\": 0.01, \"validation_frequency\": 4, " COMMON
     "\"output_network\": \"best_validation_loss\", \"schedule\": {\"kind\": \"piecewise\", "
     "\"drop_factor\": 0.5, \"drop_period\": 1}",
     16, NN_TRAINING_COMPLETED},
    /* A rate of nearly nothing: the first validation is the best, and the fourth one after it ends
     * the run, at step 20. Were the one at step 18 counted, it would be over before it went on. */
    {"patience counts on",
     "\"solver\": \"sgdm\", \"learning_rate\": 1e-30, \"validation_frequency\": 4, " COMMON
     "\"patience\": 4",
     16, NN_TRAINING_COMPLETED},
};

static void say(char *training, size_t size, const char *rest, int epochs)
{
    (void)snprintf(training, size, "{\"epochs\": %d, %s}", epochs, rest);
}

static void open_set(struct synthetic_set *set)
{
    const struct synthetic_spec spec = {8, 8, 60, 21, synthetic_bars};
    synthetic_open(set, &spec);
    synthetic_hold_out(set, 16);
}

/* Goes on from where `before` ended; its points are then those of all runs so far. */
static void go_on(const struct synthetic_set *set, struct run_plan plan, const char *rest,
                  int epochs, struct run_record *before, struct run_record *after)
{
    char training[512];
    say(training, sizeof training, rest, epochs);
    plan.training = training;
    plan.resume = true;
    plan.threads = 2;
    run_well(after, set, &plan);
    run_points_join(before, after);
    struct run_point *points = after->points;
    after->points = before->points;
    after->n_points = before->n_points;
    before->points = points;
    run_record_deinit(before);
}

static void whole_run(const struct synthetic_set *set, const char *rest, int epochs,
                      struct run_record *out)
{
    char training[512];
    say(training, sizeof training, rest, epochs);
    const struct run_plan plan = {.network = NETWORK, .training = training, .seed = 3};
    run_well(out, set, &plan);
}

static void an_extended_run_equals_a_longer_one(void **state)
{
    (void)state;
    struct synthetic_set set;
    open_set(&set);
    for (size_t i = 0; i < sizeof COURSES / sizeof COURSES[0]; i++) {
        const struct course *course = &COURSES[i];
        const struct run_plan plan = {.network = NETWORK, .seed = 3};
        struct run_record whole, first, second, third;
        whole_run(&set, course->training, 6, &whole);
        whole_run(&set, course->training, 3, &first);
        assert_int_equal(first.result->step, 3 * EPOCH);
        go_on(&set, plan, course->training, 4, &first, &second);
        assert_int_equal(second.start.step, 3 * EPOCH);
        if (second.start.validated_step != course->validated) {
            fail_msg("%s: validated at %d", course->name, (int)second.start.validated_step);
        }
        go_on(&set, plan, course->training, 6, &second, &third);
        assert_int_equal(third.result->outcome, course->outcome);
        run_assert_equal(&whole, &third);
        run_record_deinit(&third);
        run_record_deinit(&whole);
    }
    synthetic_close(&set);
}

/* The same where it was stopped in the middle of an epoch, or killed while it went on. */
static void a_stopped_run_goes_on(void **state)
{
    (void)state;
    struct synthetic_set set;
    const char *rest = COURSES[1].training;
    char training[512];
    open_set(&set);
    say(training, sizeof training, rest, 3);
    struct run_plan plan = {.network = NETWORK, .training = training, .seed = 3};
    struct run_record whole, stopped, after;
    whole_run(&set, rest, 4, &whole);
    plan.order_step = 9;
    plan.order = NN_STOP;
    run_well(&stopped, &set, &plan);
    assert_int_equal(stopped.result->outcome, NN_TRAINING_STOPPED);
    plan.order_step = 0;
    go_on(&set, plan, rest, 4, &stopped, &after);
    assert_int_equal(after.start.step, 9);
    run_assert_equal(&whole, &after);
    run_record_deinit(&after);
    run_record_deinit(&whole);
    synthetic_close(&set);
}

/* Between the last checkpoint and the end of the run lies one validation: it is made again. */
static void a_run_killed_at_its_end_validates_again(void **state)
{
    (void)state;
    struct synthetic_set set;
    open_set(&set);
    struct run_record whole, again;
    whole_run(&set, COURSES[1].training, 3, &whole);
    struct run_record before = {0};
    const struct run_plan plan = {.network = NETWORK, .seed = 3};
    before.points = malloc(whole.n_points * sizeof *before.points);
    assert_non_null(before.points);
    memcpy(before.points, whole.points, whole.n_points * sizeof *before.points);
    before.n_points = whole.n_points;
    go_on(&set, plan, COURSES[1].training, 3, &before, &again);
    assert_int_equal(again.start.step, 3 * EPOCH);
    run_assert_equal(&whole, &again);
    run_record_deinit(&again);
    run_record_deinit(&whole);
    synthetic_close(&set);
}

/* A rate of nearly nothing leaves every value as it was: the weights of the run before, whatever
 * the seed, and no slot of its solver. */
static void a_run_begins_with_the_weights_of_another(void **state)
{
    (void)state;
    static const char PLAIN[] =
        "{\"layers\": [{\"kind\": \"image_input\", \"name\": \"input\"},"
        "{\"kind\": \"convolution\", \"name\": \"conv1\", \"filters\": 4, \"kernel\": 3},"
        "{\"kind\": \"relu\", \"name\": \"relu1\"},"
        "{\"kind\": \"fully_connected\", \"name\": \"fc\", \"outputs\": 4},"
        "{\"kind\": \"softmax\", \"name\": \"softmax\"}]}";
    struct synthetic_set set;
    char paths[2][256];
    char path[300];
    open_set(&set);
    struct run_plan plan = {.network = PLAIN,
                            .training = "{\"solver\": \"adam\", \"learning_rate\": 0.01, "
                                        "\"epochs\": 3, \"batch_size\": 8}",
                            .seed = 3};
    struct run_record first, still, moved;
    run_well(&first, &set, &plan);
    assert_int_equal(nn_checkpoint_list(set.directory, paths), 1);
    (void)snprintf(path, sizeof path, "%s/kept", set.directory);
    assert_int_equal(rename(paths[0], path), 0);
    plan.training = "{\"solver\": \"sgdm\", \"learning_rate\": 1e-30, \"epochs\": 3, "
                    "\"batch_size\": 8}";
    plan.seed = 4;
    plan.initial = path;
    run_well(&still, &set, &plan);
    assert_int_equal(still.start.step, 0);
    assert_int_equal(still.network_size, first.network_size);
    assert_memory_equal(still.network, first.network, first.network_size);
    plan.training = "{\"solver\": \"sgdm\", \"learning_rate\": 0.01, \"epochs\": 3, "
                    "\"batch_size\": 8}";
    run_well(&moved, &set, &plan);
    assert_memory_not_equal(moved.network, first.network, first.network_size);
    run_record_deinit(&still);
    plan.network = NETWORK; /* another one */
    run_do(&still, &set, &plan);
    assert_int_equal(still.status, NN_ERR_INVALID);
    assert_int_equal(unlink(path), 0);
    run_record_deinit(&moved);
    run_record_deinit(&still);
    run_record_deinit(&first);
    synthetic_close(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_extended_run_equals_a_longer_one),
        cmocka_unit_test(a_stopped_run_goes_on),
        cmocka_unit_test(a_run_killed_at_its_end_validates_again),
        cmocka_unit_test(a_run_begins_with_the_weights_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
