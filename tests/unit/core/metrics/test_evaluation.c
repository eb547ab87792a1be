/* SPDX-License-Identifier: MIT
 *
 * core/metrics: evaluation, confusion matrix, intervals, and its JSON. Cases A10, A11, A14, A16,
 * A30, B34 of tests/README.md.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "core/metrics/metrics.h"

static const char *const NAMES[] = {"cat", "dog", "owl"};

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-12)) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

/* Evaluates n samples, added in groups of at most `batch`. */
static struct nn_evaluation evaluate(size_t classes, const uint32_t *truth,
                                     const uint32_t *predicted, const double *loss, size_t n,
                                     size_t batch)
{
    struct nn_evaluator *evaluator = NULL;
    struct nn_evaluation evaluation;
    assert_int_equal(nn_evaluator_create(classes, &evaluator, NULL), NN_OK);
    for (size_t i = 0; i < n; i += batch) {
        size_t count = n - i < batch ? n - i : batch;
        nn_evaluator_add(evaluator, truth + i, predicted + i, loss + i, count);
    }
    assert_int_equal(nn_evaluator_finish(evaluator, &evaluation, NULL), NN_OK);
    nn_evaluator_destroy(evaluator);
    return evaluation;
}

/* A16: 3 samples, batch 2, losses 10, 10 | 9: 29/3, whatever the batch. */
static void loss_is_weighted_by_samples(void **state)
{
    (void)state;
    const uint32_t truth[] = {0, 1, 1};
    const double loss[] = {10.0, 10.0, 9.0};
    for (size_t batch = 1; batch <= 4; batch++) {
        struct nn_evaluation e = evaluate(2, truth, truth, loss, 3, batch);
        assert_near(e.loss, 29.0 / 3.0);
        nn_evaluation_deinit(&e);
    }
}

static void result_does_not_depend_on_batches(void **state)
{
    (void)state;
    enum { N = 101 };
    uint32_t truth[N];
    uint32_t predicted[N];
    double loss[N];
    for (size_t i = 0; i < N; i++) {
        truth[i] = (uint32_t)(i * 7 % 3);
        predicted[i] = (uint32_t)(i * 5 % 3);
        loss[i] = 1.0 / (double)(i + 3);
    }
    struct nn_evaluation whole = evaluate(3, truth, predicted, loss, N, N);
    for (size_t batch = 1; batch < N; batch += 13) {
        struct nn_evaluation e = evaluate(3, truth, predicted, loss, N, batch);
        assert_memory_equal(&e.loss, &whole.loss, sizeof e.loss);
        assert_memory_equal(e.confusion.counts, whole.confusion.counts, 9 * sizeof(uint64_t));
        nn_evaluation_deinit(&e);
    }
    /* A10: the trace over the sum is the accuracy, exactly */
    const uint64_t *c = whole.confusion.counts;
    double trace = (double)(c[0] + c[4] + c[8]);
    assert_true(trace / (double)N == whole.accuracy.value);
    nn_evaluation_deinit(&whole);
}

/* A11: a constant predictor on 5/3/2 samples fills one column; the row sums are the supports. */
static void rows_are_true_classes(void **state)
{
    (void)state;
    const uint32_t truth[] = {0, 0, 0, 0, 0, 1, 1, 1, 2, 2};
    const uint32_t predicted[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const double loss[10] = {0};
    struct nn_evaluation e = evaluate(3, truth, predicted, loss, 10, 4);
    const uint64_t expected[] = {0, 5, 0, 0, 3, 0, 0, 2, 0};
    assert_memory_equal(e.confusion.counts, expected, sizeof expected);
    assert_int_equal(e.per_class[0].support, 5);
    assert_int_equal(e.per_class[1].support, 3);
    assert_int_equal(e.per_class[2].support, 2);
    /* precision of a class that nobody predicts is absent, not 0 */
    assert_false(e.per_class[0].precision.defined);
    assert_true(e.per_class[0].recall.defined);
    assert_near(e.per_class[0].recall.value, 0.0);
    assert_near(e.per_class[1].precision.value, 0.3);
    assert_near(e.per_class[1].f1.value, 6.0 / 13.0);
    assert_near(e.per_class[0].f1.value, 0.0);
    nn_evaluation_deinit(&e);
}

/* A14: a class that the part does not hold has a zero row and an absent recall. */
static void absent_class_keeps_its_place(void **state)
{
    (void)state;
    const uint32_t truth[] = {0, 0, 2, 2};
    const uint32_t predicted[] = {0, 2, 2, 2};
    const double loss[4] = {0};
    struct nn_evaluation e = evaluate(3, truth, predicted, loss, 4, 4);
    const uint64_t expected[] = {1, 0, 1, 0, 0, 0, 0, 0, 2};
    assert_memory_equal(e.confusion.counts, expected, sizeof expected);
    assert_false(e.per_class[1].recall.defined);
    assert_false(e.per_class[1].precision.defined);
    assert_false(e.per_class[1].f1.defined);
    assert_near(e.balanced_accuracy.value, 0.75); /* over the two classes that occur */
    assert_int_equal(e.never_predicted, 0);       /* the absent class is not blamed */
    json_t *json = nn_evaluation_encode(&e, NAMES);
    assert_non_null(json);
    assert_int_equal(json_array_size(jx_path_get(json, "confusion_matrix.counts")), 3);
    assert_true(json_is_null(jx_path_get(json, "per_class.1.recall")));
    assert_true(json_is_null(jx_path_get(json, "per_class.1.recall_low")));
    assert_true(json_is_real(jx_path_get(json, "per_class.0.recall_low")));
    json_decref(json);
    nn_evaluation_deinit(&e);
}

/* B34: 94/6 imbalance; the accuracy looks well, the class never predicted is named. */
static void never_predicted_class_is_named(void **state)
{
    (void)state;
    uint32_t truth[100] = {0};
    uint32_t predicted[100] = {0};
    double loss[100] = {0};
    for (size_t i = 94; i < 100; i++) {
        truth[i] = 1;
    }
    struct nn_evaluation e = evaluate(2, truth, predicted, loss, 100, 32);
    assert_near(e.accuracy.value, 0.94);
    assert_near(e.balanced_accuracy.value, 0.5);
    assert_int_equal(e.never_predicted, 1);
    json_t *json = nn_evaluation_encode(&e, NAMES);
    json_t *named = json_object_get(json, "never_predicted");
    assert_int_equal(json_array_size(named), 1);
    assert_string_equal(json_string_value(json_array_get(named, 0)), "dog");
    assert_string_equal(json_string_value(jx_path_get(json, "confusion_matrix.rows")), "true");
    assert_int_equal(json_integer_value(jx_path_get(json, "confusion_matrix.counts.1.0")), 6);
    json_decref(json);
    nn_evaluation_deinit(&e);
}

static void no_samples_give_absent_values(void **state)
{
    (void)state;
    struct nn_evaluation e = evaluate(2, NULL, NULL, NULL, 0, 8);
    assert_true(isnan(e.loss));
    assert_false(e.accuracy.defined);
    assert_false(e.balanced_accuracy.defined);
    json_t *json = nn_evaluation_encode(&e, NAMES);
    assert_true(json_is_null(json_object_get(json, "loss")));
    assert_true(json_is_null(json_object_get(json, "accuracy")));
    json_decref(json);
    nn_evaluation_deinit(&e);
}

/* A30: a NaN loss is a string in JSON, and the rest of the document stays. */
static void nan_loss_is_encoded(void **state)
{
    (void)state;
    const uint32_t zero[] = {0};
    const double loss[] = {NAN};
    struct nn_evaluation e = evaluate(2, zero, zero, loss, 1, 1);
    json_t *json = nn_evaluation_encode(&e, NAMES);
    assert_string_equal(json_string_value(json_object_get(json, "loss")), "NaN");
    assert_near(json_number_value(json_object_get(json, "accuracy")), 1.0);
    json_decref(json);
    nn_evaluation_deinit(&e);
}

/* Of four samples two are given no class: they are wrong, and stand in no cell. */
static void no_class_is_wrong_and_in_no_cell(void **state)
{
    (void)state;
    const uint32_t truth[] = {0, 0, 1, 1};
    const uint32_t predicted[] = {0, NN_NO_CLASS, 1, NN_NO_CLASS};
    const double loss[] = {0, NAN, 0, NAN};
    struct nn_evaluation e = evaluate(2, truth, predicted, loss, 4, 3);
    const uint64_t expected[] = {1, 0, 0, 1};
    assert_memory_equal(e.confusion.counts, expected, sizeof expected);
    assert_int_equal(e.samples, 4);
    assert_int_equal(e.unclassified, 2);
    assert_near(e.accuracy.value, 0.5);
    assert_near(e.balanced_accuracy.value, 0.5);
    assert_int_equal(e.per_class[1].support, 2);
    assert_near(e.per_class[1].recall.value, 0.5);
    assert_near(e.per_class[1].precision.value, 1.0);
    json_t *json = nn_evaluation_encode(&e, NAMES);
    assert_int_equal(json_integer_value(json_object_get(json, "unclassified")), 2);
    json_decref(json);
    nn_evaluation_deinit(&e);
}

/* Each bound p of Wilson's interval solves |k/n - p| = z sqrt(p (1 - p) / n). */
static void assert_bound(double p, uint64_t k, uint64_t n)
{
    double distance = fabs((double)k / (double)n - p);
    double expected = 1.959963984540054 * sqrt(p * (1.0 - p) / (double)n);
    if (fabs(distance - expected) > 1e-9) {
        fail_msg("%d of %d: bound %.12f", (int)k, (int)n, p);
    }
}

static void wilson_intervals(void **state)
{
    (void)state;
    static const uint64_t ROWS[][2] = {{0, 10}, {10, 10}, {14, 20}, {1, 1}, {9161, 10000}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct nn_quotient q = nn_quotient_make(ROWS[i][0], ROWS[i][1]);
        assert_true(q.defined && q.low <= q.value && q.value <= q.high);
        assert_true(q.low >= 0.0 && q.high <= 1.0 && q.low < q.high);
        assert_bound(q.low, ROWS[i][0], ROWS[i][1]);
        assert_bound(q.high, ROWS[i][0], ROWS[i][1]);
    }
    assert_false(nn_quotient_make(0, 0).defined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_is_weighted_by_samples),
        cmocka_unit_test(result_does_not_depend_on_batches),
        cmocka_unit_test(rows_are_true_classes),
        cmocka_unit_test(absent_class_keeps_its_place),
        cmocka_unit_test(never_predicted_class_is_named),
        cmocka_unit_test(no_samples_give_absent_values),
        cmocka_unit_test(nan_loss_is_encoded),
        cmocka_unit_test(no_class_is_wrong_and_in_no_cell),
        cmocka_unit_test(wilson_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
