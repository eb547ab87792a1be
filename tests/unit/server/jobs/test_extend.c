/* SPDX-License-Identifier: MIT
 *
 * What a trial becomes with more epochs: what changes of its spec, and which numbers add nothing.
 */
#include <stdio.h>

#include "core/json/json.h"
#include "server/jobs/jobs.h"
#include "server/jobs/transition.h"
#include "tests/support/cmocka_all.h"

static json_t *spec_of(int epochs)
{
    return json_pack("{s:s, s:{s:i, s:{s:s, s:i}}}", "kind", "solver_comparison", "training",
                     "epochs", epochs, "schedule", "kind", "cosine", "period", epochs);
}

/* Of 3 epochs of 10 steps each. */
static const struct {
    const char *name;
    enum jobs_state state;
    int64_t step, epochs;
    enum sv_status expected;
} CASES[] = {
    {"one more", JOBS_COMPLETED, 30, 4, SV_OK},
    {"as many", JOBS_COMPLETED, 30, 3, SV_ERR_INVALID_FIELD},
    {"fewer", JOBS_COMPLETED, 30, 1, SV_ERR_INVALID_FIELD},
    {"out of patience", JOBS_COMPLETED, 20, 9, SV_ERR_WRONG_STATE},
    {"stopped, to its end", JOBS_STOPPED, 15, 3, SV_OK},
    {"stopped, to the end of the epoch", JOBS_STOPPED, 15, 2, SV_OK},
    {"stopped, no further", JOBS_STOPPED, 20, 2, SV_ERR_INVALID_FIELD},
    {"stopped before its first step", JOBS_STOPPED, 0, 1, SV_OK},
};

static void only_more_steps_are_taken(void **state)
{
    (void)state;
    json_auto_t *resolved = spec_of(3);
    json_auto_t *parameters = json_object();
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const struct jobs_progress at = {
            .state = (int)CASES[i].state, .step = CASES[i].step, .total_steps = 30};
        struct jobs_extension made = {0};
        struct sv_error err = {0};
        enum sv_status st = jobs_extend(&at, resolved, parameters, CASES[i].epochs, &made, &err);
        if (st != CASES[i].expected) {
            fail_msg("%s: %d, %s", CASES[i].name, (int)st, err.text);
        }
        if (st == SV_ERR_INVALID_FIELD) {
            assert_string_equal(err.pointer, "/epochs");
        }
        if (st == SV_OK) {
            assert_int_equal(made.total_steps, 10 * CASES[i].epochs);
        }
        jobs_extension_deinit(&made);
    }
}

/* The period of a cosine and everything else stays; a number that the sweep chose follows. */
static void the_spec_says_the_new_epochs(void **state)
{
    (void)state;
    const struct jobs_progress at = {.state = JOBS_COMPLETED, .step = 30, .total_steps = 30};
    struct jobs_extension made = {0}, twice = {0};
    json_auto_t *resolved = spec_of(3);
    json_auto_t *swept = json_pack("{s:i, s:s}", "training.epochs", 3, "training.solver", "adam");
    json_auto_t *object = json_pack("{s:{s:i, s:s}}", "training", "epochs", 3, "solver", "adam");
    json_auto_t *expected = spec_of(3);
    json_object_set_new(json_object_get(expected, "training"), "epochs", json_integer(7));
    assert_int_equal(jobs_extend(&at, resolved, swept, 7, &made, NULL), SV_OK);
    assert_true(json_equal(made.resolved, expected));
    assert_int_equal(json_integer_value(json_object_get(made.parameters, "training.epochs")), 7);
    assert_int_equal(json_object_size(made.parameters), 2);
    assert_int_equal(jobs_extend(&at, resolved, object, 7, &twice, NULL), SV_OK);
    assert_int_equal(json_integer_value(jx_path_get(twice.parameters, "training.epochs")), 7);
    assert_string_equal(made.hash, twice.hash);
    jobs_extension_deinit(&twice);
    assert_int_equal(jobs_extend(&at, resolved, swept, 8, &twice, NULL), SV_OK);
    assert_string_not_equal(made.hash, twice.hash);
    assert_int_equal(json_integer_value(jx_path_get(resolved, "training.epochs")), 3);
    jobs_extension_deinit(&twice);
    jobs_extension_deinit(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_more_steps_are_taken),
        cmocka_unit_test(the_spec_says_the_new_epochs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
