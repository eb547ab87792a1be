/* SPDX-License-Identifier: MIT
 *
 * core/metrics: the evaluation of regressions against numpy (tests/golden/regression.json), closed
 * forms, edges, its JSON. Case A16 of tests/README.md for sequences.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "core/metrics/regression.h"

static void assert_close(double actual, double expected, double tolerance)
{
    if (!(fabs(actual - expected) <= tolerance * fmax(1.0, fabs(expected)))) {
        fail_msg("%.17g is not %.17g", actual, expected);
    }
}

/* Evaluates n sequences, added in groups of at most `batch`. */
static struct nn_regression_evaluation evaluate(const struct nn_regression_options *options,
                                                const double *predictions, const double *targets,
                                                const uint32_t *lengths, size_t n, size_t batch)
{
    struct nn_regression_sums sums;
    struct nn_regression_evaluation evaluation;
    size_t first = 0;
    nn_regression_init(&sums, options);
    for (size_t i = 0; i < n; i += batch) {
        size_t count = n - i < batch ? n - i : batch;
        nn_regression_add(&sums, predictions + first, targets + first, lengths + i, count);
        for (size_t k = 0; k < count; k++) {
            first += lengths[i + k];
        }
    }
    nn_regression_finish(&sums, &evaluation);
    return evaluation;
}

static struct nn_regression_evaluation
evaluate_plain(const double *predictions, const double *targets, const uint32_t *lengths, size_t n)
{
    struct nn_regression_options options = nn_regression_defaults();
    return evaluate(&options, predictions, targets, lengths, n, n ? n : 1);
}

/* ------------------------------------------------------------------------------ golden vector */

static double *reals(const json_t *list)
{
    double *out = calloc(json_array_size(list), sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < json_array_size(list); i++) {
        out[i] = json_number_value(json_array_get(list, i));
    }
    return out;
}

static double real(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void check_figures(const struct nn_regression_evaluation *e, const json_t *row)
{
    for (int i = 0; i < NN_REGRESSION_COUNT; i++) {
        const char *name = nn_regression_name((enum nn_regression_metric)i);
        assert_true(e->figure[i].defined);
        assert_close(e->figure[i].value, real(json_object_get(row, "figures"), name), 1e-9);
    }
    const struct nn_figure *mean = &e->figure[NN_REGRESSION_MEAN_MAX_ABSOLUTE_ERROR];
    double half = nn_student_t95(e->sequences - 1) * real(row, "max_standard_error");
    assert_close(mean->high - mean->value, half, 1e-9);
    assert_close(mean->value - mean->low, half, 1e-9);
}

static void figures_are_those_of_numpy(void **state)
{
    (void)state;
    json_t *cases = json_load_file("tests/golden/regression.json", 0, NULL);
    assert_true(json_array_size(cases) == 3);
    size_t index;
    json_t *row;
    json_array_foreach(cases, index, row)
    {
        const json_t *list = json_object_get(row, "lengths");
        size_t n = json_array_size(list);
        uint32_t *lengths = calloc(n, sizeof *lengths);
        double *predictions = reals(json_object_get(row, "predictions"));
        double *targets = reals(json_object_get(row, "targets"));
        struct nn_regression_options options = {real(row, "a_early"), real(row, "a_late"),
                                                real(row, "target_scale")};
        assert_non_null(lengths);
        for (size_t i = 0; i < n; i++) {
            lengths[i] = (uint32_t)json_integer_value(json_array_get(list, i));
        }
        struct nn_regression_evaluation whole =
            evaluate(&options, predictions, targets, lengths, n, n);
        check_figures(&whole, row);
        for (size_t batch = 1; batch < n; batch++) { /* to the bit */
            struct nn_regression_evaluation e =
                evaluate(&options, predictions, targets, lengths, n, batch);
            for (int i = 0; i < NN_REGRESSION_COUNT; i++) {
                assert_memory_equal(&e.figure[i].value, &whole.figure[i].value, sizeof(double));
            }
        }
        free(lengths);
        free(predictions);
        free(targets);
    }
    json_decref(cases);
}

/* ------------------------------------------------------------------------------- closed forms */

/* Every figure of two short sequences by hand; late costs more than early. */
static void figures_by_hand(void **state)
{
    (void)state;
    const double targets[] = {3.0, 2.0, 1.0, 5.0};
    const double predictions[] = {4.0, 0.0, 11.0, -8.0}; /* d = 1, -2, 10 | -13 */
    const uint32_t lengths[] = {3, 1};
    struct nn_regression_evaluation e = evaluate_plain(predictions, targets, lengths, 2);
    assert_int_equal(e.sequences, 2);
    assert_int_equal(e.steps, 4);
    assert_close(e.figure[NN_REGRESSION_LOSS].value, (105.0 / 6.0 + 169.0 / 2.0) / 2.0, 1e-14);
    assert_close(e.figure[NN_REGRESSION_RMSE].value, sqrt(274.0 / 4.0), 1e-14);
    assert_close(e.figure[NN_REGRESSION_MAE].value, 26.0 / 4.0, 1e-14);
    assert_close(e.figure[NN_REGRESSION_R2].value, 1.0 - 274.0 / 8.75, 1e-14);
    assert_close(e.figure[NN_REGRESSION_MEAN_MAX_ABSOLUTE_ERROR].value, 11.5, 1e-14);
    assert_close(e.figure[NN_REGRESSION_LAST_STEP_RMSE].value, sqrt(269.0 / 2.0), 1e-14);
    assert_close(e.figure[NN_REGRESSION_PHM08_SCORE].value, 2.0 * (exp(1.0) - 1.0), 1e-14);
    assert_int_equal(e.figure[NN_REGRESSION_RMSE].n, 4);
    assert_int_equal(e.figure[NN_REGRESSION_LOSS].n, 2);
    assert_true(isnan(e.figure[NN_REGRESSION_RMSE].low));
}

static void late_costs_more_than_early(void **state)
{
    (void)state;
    const double target = 50.0;
    const double early = 40.0;
    const double late = 60.0;
    const uint32_t length = 1;
    struct nn_regression_evaluation a = evaluate_plain(&early, &target, &length, 1);
    struct nn_regression_evaluation b = evaluate_plain(&late, &target, &length, 1);
    assert_close(a.figure[NN_REGRESSION_PHM08_SCORE].value, exp(10.0 / 13.0) - 1.0, 1e-14);
    assert_close(b.figure[NN_REGRESSION_PHM08_SCORE].value, exp(1.0) - 1.0, 1e-14);
}

/* ------------------------------------------------------------------------------------- edges */

static void perfect_predictions(void **state)
{
    (void)state;
    const double targets[] = {1e9 + 2.0, 1e9 + 1.0, 1e9};
    const uint32_t lengths[] = {3};
    struct nn_regression_evaluation e = evaluate_plain(targets, targets, lengths, 1);
    for (int i = 0; i < NN_REGRESSION_COUNT; i++) {
        assert_true(e.figure[i].defined);
        assert_true(e.figure[i].value == (i == NN_REGRESSION_R2 ? 1.0 : 0.0));
        assert_true(isnan(e.figure[i].low)); /* one sequence: no interval */
    }
}

static void constant_targets_have_no_r2(void **state)
{
    (void)state;
    const double targets[] = {0.1, 0.1, 0.1};
    const double predictions[] = {0.2, 0.1, 0.3};
    const uint32_t lengths[] = {2, 1};
    struct nn_regression_evaluation e = evaluate_plain(predictions, targets, lengths, 2);
    assert_false(e.figure[NN_REGRESSION_R2].defined);
    assert_non_null(e.figure[NN_REGRESSION_R2].reason);
    json_t *json = nn_regression_encode(&e);
    assert_true(json_is_null(json_object_get(json, "r2")));
    const json_t *reason = jx_path_get(json, "undefined.r2");
    assert_string_equal(json_string_value(reason), "all targets are equal");
    assert_int_equal(json_object_size(json_object_get(json, "undefined")), 1);
    json_decref(json);
}

static void no_samples_give_null(void **state)
{
    (void)state;
    struct nn_regression_evaluation e = evaluate_plain(NULL, NULL, NULL, 0);
    json_t *json = nn_regression_encode(&e);
    for (int i = 0; i < NN_REGRESSION_COUNT; i++) {
        const char *name = nn_regression_name((enum nn_regression_metric)i);
        assert_true(json_is_null(json_object_get(json, name)));
        assert_non_null(json_object_get(json_object_get(json, "undefined"), name));
    }
    json_decref(json);
    struct nn_regression_options options = nn_regression_defaults();
    struct nn_regression_sums sums;
    nn_regression_init(&sums, &options);
    assert_true(isnan(nn_regression_rmse(&sums)) && isnan(nn_regression_loss(&sums)));
}

/* A NaN in the middle is not hidden by a larger error after it, is named, and never wins. */
static void what_is_not_finite_is_named(void **state)
{
    (void)state;
    const double targets[] = {1.0, 1.0, 2.0, 3.0, 4.0};
    const double predictions[] = {1.0, 2.0, (double)NAN, 9.0, (double)INFINITY};
    const uint32_t lengths[] = {1, 3, 1};
    struct nn_regression_evaluation e = evaluate_plain(predictions, targets, lengths, 3);
    assert_int_equal(e.non_finite, 2);
    assert_int_equal(e.non_finite_sequence, 1);
    assert_int_equal(e.non_finite_step, 1);
    const struct nn_figure *mean = &e.figure[NN_REGRESSION_MEAN_MAX_ABSOLUTE_ERROR];
    assert_true(mean->defined && isnan(mean->value) && isnan(mean->low));
    for (int i = 0; i < NN_REGRESSION_COUNT; i++) {
        bool finite = isfinite(e.figure[i].value);
        assert_false(finite);
        assert_false(nn_metric_better(NN_DIRECTION_LOWER, e.figure[i].value, 1e300));
    }
    json_t *json = nn_regression_encode(&e);
    assert_string_equal(json_string_value(json_object_get(json, "rmse")), "NaN");
    assert_string_equal(json_string_value(json_object_get(json, "phm08_score")), "Infinity");
    assert_int_equal(json_integer_value(jx_path_get(json, "non_finite.count")), 2);
    assert_null(json_object_get(json, "loss_low"));
    json_decref(json);
}

static void encoding_names_its_constants(void **state)
{
    (void)state;
    const double targets[] = {1.0, 2.0};
    const double predictions[] = {2.0, 2.0};
    const uint32_t lengths[] = {1, 1};
    struct nn_regression_evaluation e = evaluate_plain(predictions, targets, lengths, 2);
    json_t *json = nn_regression_encode(&e);
    assert_string_equal(json_string_value(json_object_get(json, "task")), "regression");
    assert_true(real(json_object_get(json, "phm08"), "a_early") == 13.0);
    assert_true(real(json_object_get(json, "phm08"), "a_late") == 10.0);
    assert_true(json_is_null(json_object_get(json, "confusion_matrix")));
    assert_true(json_is_null(json_object_get(json, "non_finite")));
    assert_int_equal(json_integer_value(jx_path_get(json, "counts.rmse")), 2);
    assert_true(real(json, "mean_max_absolute_error_low") < 0.5);
    assert_null(json_object_get(json, "rmse_low"));
    json_decref(json);
}

/* Printed tables of the quantile, and the sum meets the expansion where it takes over. */
static void student_quantiles(void **state)
{
    (void)state;
    static const struct {
        uint64_t nu;
        double t;
    } ROWS[] = {{1, 12.706205}, {2, 4.302653},  {3, 3.182446},  {4, 2.776445},  {5, 2.570582},
                {9, 2.262157},  {10, 2.228139}, {30, 2.042272}, {99, 1.984217}, {1000, 1.962339}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        assert_close(nn_student_t95(ROWS[i].nu), ROWS[i].t, 5e-7);
    }
    /* smooth across 199 | 200: of 1.96 + 2.37 / nu the third difference there is 6 * 2.37 / nu^4 */
    double third = nn_student_t95(198) - 3.0 * nn_student_t95(199) + 3.0 * nn_student_t95(200) -
                   nn_student_t95(201);
    assert_true(fabs(third - 9.0e-9) < 1e-9);
}

static void names_are_rows_of_the_table(void **state)
{
    (void)state;
    for (int i = 0; i < NN_REGRESSION_COUNT; i++) {
        const struct nn_metric *row =
            nn_metric_find(nn_regression_name((enum nn_regression_metric)i));
        assert_non_null(row);
        assert_int_equal(row->needs, NN_NEEDS_PREDICTIONS);
        assert_true(row->task == NN_OF_REGRESSION || row->task == NN_OF_ANY);
        assert_int_equal(row->direction,
                         i == NN_REGRESSION_R2 ? NN_DIRECTION_HIGHER : NN_DIRECTION_LOWER);
    }
    assert_string_equal(nn_metric_task_name(NN_OF_CLASSIFICATION), "classification");
    assert_string_equal(nn_metric_task_name(NN_OF_ANY), "any");
}

static void constants_are_positive(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"{\"a_early\": 0}", "{\"a_late\": -1}", "{\"early\": 13}"};
    for (size_t i = 0; i < 3; i++) {
        struct nn_regression_options options = nn_regression_defaults();
        json_t *json = json_loads(TEXTS[i], 0, NULL);
        assert_int_equal(jx_decode(nn_phm08_fields, json, "", &options, NULL), NN_ERR_INVALID);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_numpy),
        cmocka_unit_test(figures_by_hand),
        cmocka_unit_test(late_costs_more_than_early),
        cmocka_unit_test(perfect_predictions),
        cmocka_unit_test(constant_targets_have_no_r2),
        cmocka_unit_test(no_samples_give_null),
        cmocka_unit_test(what_is_not_finite_is_named),
        cmocka_unit_test(encoding_names_its_constants),
        cmocka_unit_test(student_quantiles),
        cmocka_unit_test(names_are_rows_of_the_table),
        cmocka_unit_test(constants_are_positive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
