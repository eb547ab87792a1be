/* SPDX-License-Identifier: MIT
 *
 * A step that leaves finite weights whose network overflows: no step after it shows that, so the
 * evaluation must. What is no number wins no comparison, and the run has diverged.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/runs.h"

enum { LAYERS = 40, EACH = 64 }; /* moved by 1e12 each, they overflow in double too */
static const char ONE_STEP[] = "{\"solver\": \"adam\", \"learning_rate\": 1e12, \"epochs\": 1, "
                               "\"batch_size\": 64}";

/* Layers that multiply, between an input and what ends the network. */
static const char *network(const char *input, const char *end)
{
    static char text[256 + LAYERS * EACH];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "{\"layers\": [{\"name\": \"in\", \"kind\": \"%s\", "
                                   "\"normalisation\": \"none\"}",
                                   input);
    for (int i = 0; i < LAYERS; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 ", {\"name\": \"fc%d\", \"kind\": \"fully_connected\", "
                                 "\"outputs\": 4}",
                                 i);
    }
    (void)snprintf(text + used, sizeof text - used, "%s]}", end);
    return text;
}

/* Runs the one step; the record is to be ended by run_record_deinit. */
static void overflow(struct run_record *record, const struct synthetic_set *set,
                     const char *description)
{
    const struct run_plan plan = {.network = description, .training = ONE_STEP};
    run_do(record, set, &plan);
    assert_int_equal(record->status, NN_ERR_DIVERGED);
    assert_non_null(strstr(record->err.text, "train part"));
    assert_int_equal(record->result->outcome, NN_TRAINING_DIVERGED);
    assert_int_equal(record->result->diverged_step, 1);
    assert_true(isfinite(run_last(record, "training_loss")));
    assert_true(isfinite(run_last(record, "gradient_norm")));
    assert_non_null(record->network);
}

static void assert_unclassified(const struct nn_part_result *part)
{
    const struct nn_evaluation *evaluation = &part->evaluation;
    uint64_t support = 0;
    assert_true(part->present && evaluation->samples > 0);
    assert_true(isnan(evaluation->loss));
    assert_true(evaluation->accuracy.value == 0);
    assert_int_equal(evaluation->unclassified, evaluation->samples);
    for (size_t k = 0; k < evaluation->confusion.classes; k++) {
        support += evaluation->per_class[k].support;
        assert_int_equal(evaluation->per_class[k].predicted, 0);
    }
    assert_int_equal(support, evaluation->samples);
    for (size_t i = 0; i < evaluation->samples; i++) {
        assert_int_equal(part->predictions[i].predicted, NN_NO_CLASS);
        assert_true(isnan(part->predictions[i].probability));
    }
}

static void images_are_given_no_class(void **state)
{
    (void)state;
    const struct synthetic_spec spec = {8, 8, 64, 16, synthetic_bars};
    struct synthetic_set set;
    struct run_record record;
    synthetic_open(&set, &spec);
    overflow(&record, &set,
             network("image_input", ", {\"name\": \"fc\", \"kind\": \"fully_connected\"}, "
                                    "{\"name\": \"softmax\", \"kind\": \"softmax\"}"));
    assert_unclassified(&record.result->parts[NN_PART_TRAIN]);
    assert_unclassified(&record.result->parts[NN_PART_TEST]);
    run_record_deinit(&record);
    synthetic_close(&set);
}

static void sequences_are_given_no_class(void **state)
{
    (void)state;
    struct synthetic_set set;
    struct run_record record;
    synthetic_open_classes(&set, 36, 0, 12);
    overflow(&record, &set,
             network("sequence_input", ", {\"name\": \"pool\", \"kind\": \"sequence_pool\"}, "
                                       "{\"name\": \"fc\", \"kind\": \"fully_connected\"}, "
                                       "{\"name\": \"softmax\", \"kind\": \"softmax\"}"));
    assert_unclassified(&record.result->parts[NN_PART_TEST]);
    run_record_deinit(&record);
    synthetic_close(&set);
}

static void a_regression_has_diverged_too(void **state)
{
    (void)state;
    static const struct nn_scaling_options Z_SCORE = {.inputs = NN_SCALING_Z_SCORE};
    struct synthetic_set set;
    struct run_record record;
    synthetic_open_sequences(&set, 36, 0, 7, &Z_SCORE);
    overflow(&record, &set,
             network("sequence_input", ", {\"name\": \"fc\", \"kind\": \"fully_connected\"}"));
    assert_true(record.result->parts[NN_PART_TEST].regression.non_finite > 0);
    run_record_deinit(&record);
    synthetic_close(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_given_no_class),
        cmocka_unit_test(sequences_are_given_no_class),
        cmocka_unit_test(a_regression_has_diverged_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
