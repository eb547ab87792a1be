/* SPDX-License-Identifier: MIT
 *
 * core/solvers, core/training: defaults and ranges of the training options; the schedules (B01: the
 * rate is a function of the step alone, so a resumed run continues the series).
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
    double rate, decay, l2;
};

static void defaults_depend_on_the_solver(void **state)
{
    (void)state;
    static const struct default_row ROWS[] = {
        {"{}", 0.01, 0, 1e-4},
        {"{\"solver\": \"sgdm\"}", 0.01, 0, 1e-4},
        {"{\"solver\": \"rmsprop\"}", 0.001, 0.9, 1e-4},
        {"{\"solver\": \"adam\"}", 0.001, 0.999, 1e-4},
        {"{\"solver\": \"adam\", \"learning_rate\": 0.5}", 0.5, 0.999, 1e-4},
        {"{\"solver\": \"adam\", \"learning_rate\": null}", 0.001, 0.999, 1e-4},
        {"{\"solver\": \"rmsprop\", \"squared_gradient_decay_factor\": 0.5}", 0.001, 0.5, 1e-4},
        {"{\"solver\": \"adamw\"}", 0.001, 0.999, 0},
        {"{\"solver\": \"adamw\", \"l2\": 0.5}", 0.001, 0.999, 0.5},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct nn_training_options o;
        struct nn_error err = {0};
        assert_int_equal(decode(ROWS[i].text, &o, &err), NN_OK);
        assert_true(o.solver.learning_rate == ROWS[i].rate);
        assert_true(o.solver.squared_gradient_decay_factor == ROWS[i].decay);
        assert_true(o.solver.l2 == ROWS[i].l2 && o.solver.weight_decay == 0.01);
        assert_true(o.solver.momentum == 0.9 && o.solver.epsilon == 1e-8);
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
        {"{\"schedule\": {\"period\": 0}}", "/training/schedule/period"},
        {"{\"schedule\": {\"warmup\": {\"unit\": \"hours\"}}}", "/training/schedule/warmup/unit"},
        {"{\"schedule\": {\"warmup\": {\"start_factor\": 0}}}",
         "/training/schedule/warmup/start_factor"},
        {"{\"weight_decay\": -0.1}", "/training/weight_decay"},
        {"{\"nesterov\": 1}", "/training/nesterov"},
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
    assert_true(nn_solver_learning_rate(&o, 1000, 10) == 0.01);
    o.schedule.kind = NN_SCHEDULE_PIECEWISE;
    o.schedule.drop_factor = 0.5;
    o.schedule.drop_period = 3;
    const double expected[] = {0.01, 0.01, 0.01, 0.005, 0.005, 0.005, 0.0025};
    for (uint64_t step = 0; step < 7 * 4; step++) {
        assert_true(nn_solver_learning_rate(&o, step, 4) == expected[step / 4]);
    }
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-15;
}

/* At its corners; all steps against PyTorch: tests/numeric/test_solver_golden.c. */
static void cosine_and_warmup(void **state)
{
    (void)state;
    struct nn_solver_options o = nn_solver_options_default(NN_SOLVER_SGDM);
    o.schedule.kind = NN_SCHEDULE_COSINE;
    o.schedule.period = 10;
    o.schedule.minimum_learning_rate = 0.002;
    assert_true(nn_solver_learning_rate(&o, 0, 4) == 0.01);
    assert_true(near(nn_solver_learning_rate(&o, 20, 4), 0.006));
    assert_true(nn_solver_learning_rate(&o, 40, 4) == 0.002);
    assert_true(nn_solver_learning_rate(&o, 4000, 4) == 0.002);
    o.schedule.warmup = (struct nn_warmup_options){2, NN_WARMUP_EPOCHS, 0.5};
    assert_true(nn_solver_learning_rate(&o, 0, 4) == 0.005);
    assert_true(near(nn_solver_learning_rate(&o, 4, 4), 0.0075));
    assert_true(nn_solver_learning_rate(&o, 8, 4) == 0.01);
    assert_true(near(nn_solver_learning_rate(&o, 24, 4), 0.006));
    o.schedule.warmup = (struct nn_warmup_options){400, NN_WARMUP_STEPS, 0.5}; /* beyond the end */
    assert_true(nn_solver_learning_rate(&o, 400, 4) == 0.002);
}

/* An extended run keeps the schedule that it was submitted with. */
static void a_period_is_what_was_asked_for_first(void **state)
{
    (void)state;
    struct nn_training_options o;
    struct nn_error err = {0};
    const char *text = "{\"epochs\": 7, \"schedule\": {\"kind\": \"cosine\"}}";
    assert_int_equal(decode(text, &o, &err), NN_OK);
    assert_int_equal(o.solver.schedule.period, 7);
    o.epochs = 12;
    json_t *json = jx_encode(nn_training_fields, &o);
    assert_int_equal(jx_decode(nn_training_fields, json, "", &o, &err), NN_OK);
    nn_training_options_resolve(&o);
    assert_int_equal(o.solver.schedule.period, 7);
    assert_int_equal(o.epochs, 12);
    json_decref(json);
}

/* What spans fields. */
static void contradictions_are_refused(void **state)
{
    (void)state;
    static const struct refused_row ROWS[] = {
        {"{\"schedule\": {\"kind\": \"cosine\", \"minimum_learning_rate\": 0.02}}",
         "/schedule/minimum_learning_rate"},
        {"{\"epochs\": 3, \"schedule\": {\"kind\": \"cosine\", \"warmup\": {\"length\": 3, "
         "\"unit\": \"epochs\"}}}",
         "/schedule/warmup/length"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct nn_training_options o;
        struct nn_error err = {0};
        assert_int_equal(decode(ROWS[i].text, &o, &err), NN_OK);
        assert_int_equal(nn_training_options_check(&o, &err), NN_ERR_INVALID);
        assert_string_equal(err.pointer, ROWS[i].pointer);
        o.solver.schedule.kind = NN_SCHEDULE_PIECEWISE;
        assert_int_equal(nn_training_options_check(&o, &err), NN_OK);
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
        cmocka_unit_test(cosine_and_warmup),
        cmocka_unit_test(a_period_is_what_was_asked_for_first),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(steps_of_an_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
