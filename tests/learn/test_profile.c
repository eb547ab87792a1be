/* SPDX-License-Identifier: MIT
 *
 * The profile of the steps, by clocks that are known: nothing is lost, nothing is counted twice,
 * and no number depends on it.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <string.h>

#include "tests/support/runs.h"

static const char NETWORK[] =
    "{\"layers\": [{\"kind\": \"image_input\", \"name\": \"input\"},"
    "{\"kind\": \"convolution\", \"name\": \"conv1\", \"filters\": 6, \"kernel\": 3},"
    "{\"kind\": \"batch_norm\", \"name\": \"bn1\"}, {\"kind\": \"relu\", \"name\": \"relu1\"},"
    "{\"kind\": \"max_pool\", \"name\": \"pool1\", \"kernel\": 2},"
    "{\"kind\": \"fully_connected\", \"name\": \"fc\", \"outputs\": 4},"
    "{\"kind\": \"softmax\", \"name\": \"softmax\"}]}";
static const struct synthetic_spec BARS = {8, 8, 64, 0, synthetic_bars};

/* One second passes from look to look. */
static double tick(void *ctx)
{
    double *time = ctx;
    *time += 1;
    return *time;
}

static double seconds_of(const struct nn_training_profile *profile, const char *layers,
                         const char *operator_name, const char *phase)
{
    for (size_t i = 0; i < profile->count; i++) {
        const struct nn_profile_item *item = &profile->items[i];
        if (strcmp(item->layers, layers) == 0 && strcmp(item->phase, phase) == 0 &&
            strcmp(item->operator_name, operator_name) == 0) {
            return item->seconds;
        }
    }
    fail_msg("no row %s of %s, %s", phase, layers, operator_name);
    return 0;
}

static double sum_of(const struct nn_training_profile *profile)
{
    double sum = 0;
    for (size_t i = 0; i < profile->count; i++) {
        sum += profile->items[i].seconds;
    }
    return sum;
}

static void run_ticking(struct run_record *record, struct synthetic_set *set, const char *training)
{
    double time = 0;
    const struct run_plan plan = {
        .network = NETWORK, .training = training, .seed = 1, .clock = tick, .clock_ctx = &time};
    run_do(record, set, &plan);
    assert_int_equal(record->status, NN_OK);
}

/* At least once a step: a second passes between two looks at the clock. */
static void progress_is_told_of_every_step(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &BARS);
    synthetic_hold_out(&set, 16);
    run_ticking(&record, &set, "{\"epochs\": 3, \"batch_size\": 8}");
    assert_true(record.words >= record.result->total_steps);
    run_record_deinit(&record);
    synthetic_close(&set);
}

/* A pass takes one look's time, whatever its kind, and once a step each way. */
static void every_pass_is_counted_once(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &BARS);
    synthetic_hold_out(&set, 16);
    run_ticking(&record, &set, "{\"epochs\": 4, \"batch_size\": 16, \"solver\": \"adam\"}");
    const struct nn_training_profile *profile = &record.result->profile;
    double steps = 4 * 3 - NN_PROFILE_WARM_UP;
    assert_true((double)profile->steps == steps);
    assert_true(seconds_of(profile, "input", "image_input", "forward") == steps);
    assert_true(seconds_of(profile, "conv1+bn1+relu1", "convolution+batch_norm+relu", "forward") ==
                steps);
    assert_true(seconds_of(profile, "conv1+bn1+relu1", "convolution+batch_norm+relu", "backward") ==
                steps);
    assert_true(seconds_of(profile, "fc", "fully_connected", "backward") == steps);
    assert_true(seconds_of(profile, "", "loss", "loss") == steps);
    assert_true(seconds_of(profile, "", "adam", "update") == 2 * steps); /* zeroing, and the step */
    assert_true(seconds_of(profile, "", "loader", "data_wait") >= steps); /* it looks itself, too */
    assert_true(seconds_of(profile, "", "other", "other") > 0);
    assert_true(fabs(sum_of(profile) - profile->seconds) < 1e-9 * profile->seconds);
    assert_true(profile->validation_seconds > 0);
    run_record_deinit(&record);
    synthetic_close(&set);
}

static void short_runs_are_measured_whole(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &BARS);
    run_ticking(&record, &set, "{\"epochs\": 1, \"batch_size\": 64}");
    assert_int_equal(record.result->profile.steps, 1);
    assert_true(sum_of(&record.result->profile) == record.result->profile.seconds);
    run_record_deinit(&record);
    run_ticking(&record, &set, "{\"epochs\": 3, \"batch_size\": 64}");
    assert_int_equal(record.result->profile.steps, 1);
    run_record_deinit(&record);
    synthetic_close(&set);
}

/* What is only evaluated after its last step has nothing to show. */
static void a_run_without_steps_has_none(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &BARS);
    struct run_plan plan = {.network = NETWORK, .training = "{\"epochs\": 1}", .seed = 1};
    run_do(&record, &set, &plan);
    assert_true(record.result->profile.steps > 0);
    run_record_deinit(&record);
    plan.resume = true;
    run_do(&record, &set, &plan);
    assert_int_equal(record.result->profile.steps, 0);
    assert_int_equal(record.result->profile.count, 0);
    run_record_deinit(&record);
    synthetic_close(&set);
}

static void no_number_depends_on_the_clock(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record real, ticking;
    synthetic_open(&set, &BARS);
    static const char TRAINING[] = "{\"epochs\": 3, \"batch_size\": 16}";
    run_do(&real, &set,
           &(const struct run_plan){.network = NETWORK, .training = TRAINING, .seed = 1});
    run_ticking(&ticking, &set, TRAINING);
    run_assert_equal(&real, &ticking);
    run_record_deinit(&real);
    run_record_deinit(&ticking);
    synthetic_close(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pass_is_counted_once),
        cmocka_unit_test(short_runs_are_measured_whole),
        cmocka_unit_test(a_run_without_steps_has_none),
        cmocka_unit_test(progress_is_told_of_every_step),
        cmocka_unit_test(no_number_depends_on_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
