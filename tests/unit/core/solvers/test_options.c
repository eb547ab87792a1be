/* SPDX-License-Identifier: MIT
 *
 * core/solvers, core/training: defaults and ranges of the training options; the schedule (B01: the
 * rate is a function of the epoch alone, so a resumed run continues the series).
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <string.h>

#include "core/training/training.h"

static enum nn_status decode(const char *text, struct nn_training_options *out,
                             struct nn_error *err)
{
    json_t *json = NULL;
    assert_int_equal(jx_parse(text, strlen(text), NULL, &json, err), NN_OK);
    enum nn_status status = jx_decode(nn_training_fields, json, "/training", out, err);
    if (status == NN_OK) {
        nn_training_options_resolve(out);
    }
    json_decref(json);
    return status;
}

struct default_row {
    const char *text;
    double rate, decay;
};

static void defaults_depend_on_the_solver(void **state)
{
    (void)state;
    static const struct default_row ROWS[] = {
        {"{}", 0.01, 0},
        {"{\"solver\": \"sgdm\"}", 0.01, 0},
        {"{\"solver\": \"rmsprop\"}", 0.001, 0.9},
        {"{\"solver\": \"adam\"}", 0.001, 0.999},
        {"{\"solver\": \"adam\", \"learning_rate\": 0.5}", 0.5, 0.999},
        {"{\"solver\": \"adam\", \"learning_rate\": null}", 0.001, 0.999},
        {"{\"solver\": \"rmsprop\", \"squared_gradient_decay_factor\": 0.5}", 0.001, 0.5},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct nn_training_options o;
        struct nn_error err = {0};
        assert_int_equal(decode(ROWS[i].text, &o, &err), NN_OK);
        assert_true(o.solver.learning_rate == ROWS[i].rate);
        assert_true(o.solver.squared_gradient_decay_factor == ROWS[i].decay);
        assert_true(o.solver.momentum == 0.9 && o.solver.epsilon == 1e-8 && o.solver.l2 == 1e-4);
        assert_int_equal(o.epochs, 30);
        assert_int_equal(o.batch_size, 128);
        assert_int_equal(o.shuffle, NN_SHUFFLE_ONCE);
    }
}

static void encoding_is_complete(void **state)
{
    (void)state;
    struct nn_training_options o;
    struct nn_training_options again;
    struct nn_error err = {0};
    assert_int_equal(decode("{\"solver\": \"adam\", \"gradient_clipping\": {\"method\": "
                            "\"l2norm\"}}",
                            &o, &err),
                     NN_OK);
    json_t *json = jx_encode(nn_training_fields, &o);
    assert_non_null(json);
    assert_true(json_number_value(json_object_get(json, "learning_rate")) == 0.001);
    assert_string_equal(json_string_value(jx_path_get(json, "gradient_clipping.method")), "l2norm");
    assert_int_equal(jx_decode(nn_training_fields, json, "", &again, &err), NN_OK);
    assert_true(again.solver.clipping.method == NN_CLIPPING_L2NORM);
    json_decref(json);
}

struct refused_row {
    const char *text, *pointer;
};

static void bad_values_are_refused(void **state)
{
    (void)state;
    static const struct refused_row ROWS[] = {
        {"{\"learning_rate\": 0}", "/training/learning_rate"},
        {"{\"learning_rate\": -1}", "/training/learning_rate"},
        {"{\"learning_rate\": 1e30}", "/training/learning_rate"},
        {"{\"epochs\": 0}", "/training/epochs"},
        {"{\"epochs\": 2.5}", "/training/epochs"},
        {"{\"batch_size\": 0}", "/training/batch_size"},
        {"{\"batch_size\": \"8\"}", "/training/batch_size"},
        {"{\"solver\": \"lion\"}", "/training/solver"},
        {"{\"momentum\": 1.5}", "/training/momentum"},
        {"{\"squared_gradient_decay_factor\": 1}", "/training/squared_gradient_decay_factor"},
        {"{\"gradient_clipping\": {\"method\": \"l2norm\", \"threshold\": 0}}",
         "/training/gradient_clipping/threshold"},
        {"{\"schedule\": {\"drop_period\": 0}}", "/training/schedule/drop_period"},
        {"{\"shuffel\": \"once\"}", "/training/shuffel"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct nn_training_options o;
        struct nn_error err = {0};
        if (decode(ROWS[i].text, &o, &err) != NN_ERR_INVALID) {
            fail_msg("accepted: %s", ROWS[i].text);
        }
        assert_string_equal(err.pointer, ROWS[i].pointer);
    }
}

static void piecewise_schedule(void **state)
{
    (void)state;
    struct nn_solver_options o = nn_solver_options_default(NN_SOLVER_SGDM);
    assert_true(nn_solver_learning_rate(&o, 1000) == 0.01);
    o.schedule.kind = NN_SCHEDULE_PIECEWISE;
    o.schedule.drop_factor = 0.5;
    o.schedule.drop_period = 3;
    const double expected[] = {0.01, 0.01, 0.01, 0.005, 0.005, 0.005, 0.0025};
    for (uint64_t epoch = 0; epoch < 7; epoch++) {
        assert_true(nn_solver_learning_rate(&o, epoch) == expected[epoch]);
    }
}

/* A17: a set smaller than a batch is one partial batch, also with drop_last. */
static void steps_of_an_epoch(void **state)
{
    (void)state;
    struct nn_training_options o = {.batch_size = 16, .drop_last = false};
    assert_int_equal(nn_training_steps_per_epoch(&o, 17), 2);
    assert_int_equal(nn_training_steps_per_epoch(&o, 16), 1);
    o.drop_last = true;
    assert_int_equal(nn_training_steps_per_epoch(&o, 17), 1);
    assert_int_equal(nn_training_steps_per_epoch(&o, 10), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_depend_on_the_solver),
        cmocka_unit_test(encoding_is_complete),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(piecewise_schedule),
        cmocka_unit_test(steps_of_an_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
