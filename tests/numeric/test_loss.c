/* SPDX-License-Identifier: MIT
 *
 * Half mean squared error by hand and against differences. Softmax cross-entropy: values against
 * the definition in double, the gradient against central differences (norm-relative 1e-6 in double,
 * 1e-3 in float), per-row results, ties, extremes.
 */
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>

#include "core/loss/loss.h"

enum { MAX_ROWS = 131, MAX_CLASSES = 103 };

struct loss_case {
    const char *name;
    size_t rows, classes, padding;
    double scale; /* size of the logits */
};

static const struct loss_case CASES[] = {
    {"one row, one class", 1, 1, 0, 1},    {"one row", 1, 10, 0, 1},   {"two classes", 17, 2, 3, 1},
    {"batch of the spine", 128, 10, 6, 1}, {"primes", 131, 103, 1, 2}, {"sharp", 7, 10, 0, 20},
};

static nn_real logits[MAX_ROWS * (MAX_CLASSES + 8)];
static nn_real gradient[MAX_ROWS * (MAX_CLASSES + 8)];
static uint32_t labels[MAX_ROWS];
static _Alignas(64) unsigned char workspace[1 << 16];

static struct nn_exec loss_exec(void)
{
    return (struct nn_exec){
        .kernels = nn_kernels_best(), .workspace = workspace, .workspace_bytes = sizeof workspace};
}

static struct nn_loss_batch fill(const struct loss_case *c)
{
    size_t ld = c->classes + c->padding;
    for (size_t i = 0; i < c->rows * ld; i++) {
        logits[i] = (nn_real)(c->scale * sin(12.9898 * (double)(i + 1)));
        gradient[i] = (nn_real)777; /* written, not added to; padding stays */
    }
    for (size_t r = 0; r < c->rows; r++) {
        labels[r] = (uint32_t)(r * 7 % c->classes);
    }
    assert_true(nn_loss_workspace(c->rows) <= sizeof workspace);
    return (struct nn_loss_batch){.logits = logits,
                                  .ld = ld,
                                  .labels = labels,
                                  .rows = c->rows,
                                  .classes = c->classes,
                                  .weight = 1};
}

/* The definition, without the shift by the maximum. */
static double definition(const struct nn_loss_batch *b)
{
    double loss = 0;
    for (size_t r = 0; r < b->rows; r++) {
        double sum = 0;
        for (size_t i = 0; i < b->classes; i++) {
            sum += exp((double)b->logits[r * b->ld + i]);
        }
        loss -= log(exp((double)b->logits[r * b->ld + b->labels[r]]) / sum);
    }
    return loss / (double)b->rows;
}

static void values_follow_the_definition(void **state)
{
    (void)state;
    struct nn_exec exec = loss_exec();
    const double tolerance = sizeof(nn_real) == 8 ? 1e-12 : 1e-5;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct nn_loss_batch b = fill(&CASES[i]);
        double expected = definition(&b);
        double actual = nn_loss_cross_entropy(&exec, &b, NULL, 0).loss;
        if (!(fabs(actual - expected) <= tolerance * (1 + fabs(expected)))) {
            fail_msg("case \"%s\": %.12g instead of %.12g", CASES[i].name, actual, expected);
        }
    }
}

/* Norm-relative difference of `gradient` (times `planted`) to central differences. */
static double gradient_difference(const struct nn_loss_batch *b, double planted)
{
    const double h = sizeof(nn_real) == 8 ? 1e-5 : 1e-2;
    double diff = 0;
    double norms = 0;
    for (size_t r = 0; r < b->rows; r++) {
        struct nn_loss_batch row = *b;
        row.logits += r * b->ld;
        row.labels += r;
        row.rows = 1;
        for (size_t i = 0; i < b->classes; i++) {
            nn_real *z = &logits[r * b->ld + i];
            nn_real kept = *z;
            *z = (nn_real)((double)kept + h);
            double up = (double)*z;
            double high = definition(&row);
            *z = (nn_real)((double)kept - h);
            double numeric = (high - definition(&row)) / (up - (double)*z) / (double)b->rows;
            *z = kept;
            double d = planted * (double)gradient[r * b->ld + i] - numeric;
            diff += d * d;
            norms += numeric * numeric;
        }
    }
    return norms > 0 ? sqrt(diff / norms) : sqrt(diff);
}

static void gradient_agrees_with_differences(void **state)
{
    (void)state;
    struct nn_exec exec = loss_exec();
    const double tolerance = sizeof(nn_real) == 8 ? 1e-6 : 1e-3;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct nn_loss_batch b = fill(&CASES[i]);
        (void)nn_loss_cross_entropy(&exec, &b, gradient, b.ld);
        double d = gradient_difference(&b, 1.0);
        if (!(d <= tolerance)) {
            fail_msg("case \"%s\": difference %.3g", CASES[i].name, d);
        }
        for (size_t r = 0; r < b.rows; r++) {
            for (size_t k = b.classes; k < b.ld; k++) {
                assert_true(gradient[r * b.ld + k] == (nn_real)777);
            }
        }
        if (b.classes > 1) {
            assert_true(gradient_difference(&b, 1.01) > tolerance); /* the check sees an error */
        }
    }
}

/* All of a row add up to 1, the predicted one is the largest and the one that evaluation gives. */
static void check_probabilities(const struct nn_loss_batch *b, const uint32_t *predicted,
                                const float *probability)
{
    float *all = calloc(b->rows * b->classes + 1, sizeof *all);
    assert_non_null(all);
    all[b->rows * b->classes] = 7.0F;
    nn_loss_probabilities(b, all);
    for (size_t r = 0; r < b->rows; r++) {
        const float *row = all + r * b->classes;
        double sum = 0;
        for (size_t k = 0; k < b->classes; k++) {
            sum += (double)row[k];
            assert_true(row[k] <= row[predicted[r]]);
        }
        assert_true(fabs(sum - 1.0) <= 1e-6);
        assert_true(row[predicted[r]] == probability[r]);
    }
    assert_true(all[b->rows * b->classes] == 7.0F);
    free(all);
}

static void rows_agree_with_the_batch(void **state)
{
    (void)state;
    static double loss[MAX_ROWS];
    static uint32_t predicted[MAX_ROWS];
    static float probability[MAX_ROWS];
    const struct nn_loss_rows rows = {loss, predicted, probability};
    struct nn_exec exec = loss_exec();
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct nn_loss_batch b = fill(&CASES[i]);
        struct nn_loss_result whole = nn_loss_cross_entropy(&exec, &b, NULL, 0);
        nn_loss_evaluate(&b, &rows);
        double sum = 0;
        size_t correct = 0;
        for (size_t r = 0; r < b.rows; r++) {
            sum += loss[r];
            correct += predicted[r] == labels[r];
            assert_true(probability[r] > 0.0F && probability[r] <= 1.0F);
        }
        check_probabilities(&b, predicted, probability);
        assert_true(fabs(sum / (double)b.rows - whole.loss) <= 1e-5 * (1 + whole.loss));
        assert_int_equal(correct, whole.correct);
    }
}

/* Ties go to the lowest index in both paths. */
static void ties_go_to_the_lowest_index(void **state)
{
    (void)state;
    const nn_real z[] = {1, 3, 3, 3, 2, 3, 0, 3, 3, 3};
    uint32_t label = 1;
    struct nn_loss_batch b = {
        .logits = z, .ld = 10, .labels = &label, .rows = 1, .classes = 10, .weight = 1};
    struct nn_exec exec = loss_exec();
    double loss;
    uint32_t predicted;
    float probability;
    nn_loss_evaluate(&b, &(struct nn_loss_rows){&loss, &predicted, &probability});
    assert_int_equal(predicted, 1);
    assert_int_equal(nn_loss_cross_entropy(&exec, &b, NULL, 0).correct, 1);
    label = 2;
    assert_int_equal(nn_loss_cross_entropy(&exec, &b, NULL, 0).correct, 0);
}

static void extremes(void **state)
{
    (void)state;
    nn_real z[] = {(nn_real)1e30, (nn_real)-1e30, 0};
    uint32_t label = 0;
    struct nn_loss_batch b = {
        .logits = z, .ld = 3, .labels = &label, .rows = 1, .classes = 3, .weight = 1};
    struct nn_exec exec = loss_exec();
    double loss;
    uint32_t predicted;
    float probability;
    const struct nn_loss_rows rows = {&loss, &predicted, &probability};
    assert_true(nn_loss_cross_entropy(&exec, &b, NULL, 0).loss == 0.0);
    nn_loss_evaluate(&b, &rows);
    assert_true(loss == 0.0 && probability == 1.0F);
    z[2] = (nn_real)NAN;
    assert_true(isnan(nn_loss_cross_entropy(&exec, &b, NULL, 0).loss));
    nn_loss_evaluate(&b, &rows);
    assert_true(isnan(loss) && isnan(probability));
    assert_int_equal(predicted, NN_NO_CLASS);
    label = 2; /* nor is the place of a NaN a hit */
    assert_int_equal(nn_loss_cross_entropy(&exec, &b, NULL, 0).correct, 0);
    z[2] = (nn_real)INFINITY;
    assert_int_equal(nn_loss_cross_entropy(&exec, &b, NULL, 0).correct, 0);
    nn_loss_evaluate(&b, &rows);
    assert_int_equal(predicted, NN_NO_CLASS);
    z[0] = z[1] = (nn_real)-INFINITY; /* a class may be impossible */
    z[2] = 0;
    assert_int_equal(nn_loss_cross_entropy(&exec, &b, NULL, 0).correct, 1);
    nn_loss_evaluate(&b, &rows);
    assert_int_equal(predicted, 2);
    assert_true(loss == 0.0 && probability == 1.0F);
}

/* Two samples of three and one steps, two responses, rows mixed. */
static void half_squared_error_follows_its_formula(void **state)
{
    (void)state;
    nn_real y[4][3] = {{1, 2, 99}, {0, -1, 99}, {3, 0, 99}, {5, 5, 99}}, d[4][2];
    const nn_real t[4][2] = {{0, 0}, {1, 1}, {3, 1}, {2, 5}};
    const nn_real w[4] = {(nn_real)(1.0 / 6), (nn_real)0.5, (nn_real)(1.0 / 6), (nn_real)(1.0 / 6)};
    struct nn_loss_responses batch = {y[0], 3, t[0], w, 4, 2};
    double first = (1 + 4 + 1 + 9) / 6.0, second = (1 + 4) / 2.0;
    double loss = nn_loss_half_squared_error(&batch, d[0], 2);
    assert_true(fabs(loss - (first + second) / 2) < 1e-6);
    assert_true(nn_loss_half_squared_error(&batch, NULL, 0) == loss);
    const double h = sizeof(nn_real) == 8 ? 1e-5 : 1e-2;
    for (size_t r = 0; r < 4; r++) {
        for (size_t k = 0; k < 2; k++) {
            nn_real kept = y[r][k];
            y[r][k] = (nn_real)((double)kept + h);
            double high = nn_loss_half_squared_error(&batch, NULL, 0);
            y[r][k] = (nn_real)((double)kept - h);
            double numeric = (high - nn_loss_half_squared_error(&batch, NULL, 0)) / (2 * h);
            y[r][k] = kept;
            assert_true(fabs(numeric - (double)d[r][k]) < (sizeof(nn_real) == 8 ? 1e-8 : 1e-4));
            assert_true(fabs(1.01 * numeric - (double)d[r][k]) > 1e-4 || d[r][k] == 0);
        }
    }
    y[2][1] = (nn_real)NAN;
    assert_true(isnan(nn_loss_half_squared_error(&batch, NULL, 0)));
    assert_true(nn_loss_half_squared_error(&batch, y[0], 3) != loss); /* in place */
}

struct peer_row {
    double smoothing;
    bool weighted;
    double loss, gradient[12];
};

/* torch.nn.functional.cross_entropy(z, t, weight, label_smoothing=e, reduction="sum") / 3 and its
 * gradient, of PyTorch 1.13.1 in double. */
static void weights_and_smoothing_are_pytorchs(void **state)
{
    (void)state;
    static const struct peer_row ROWS[] = {
        {0,
         true,
         0.4263580759772994,
         {0.023569195605833, 0.10562980634332, -0.193266718075884, 0.064067716126731,
          -0.075289939986223, 0.012366495186532, 0.05542278631587, 0.007500658483821,
          0.009462705795221, 0.042408905138267, 0.005739421188642, -0.05761103212213}},
        {0.1,
         false,
         0.8187816132585869,
         {0.003451264469583, 0.044481569838327, -0.071633359037942, 0.023700524730032,
          -0.125579879972446, 0.016399657039731, 0.102512239298407, 0.006667983634308,
          0.029517489847551, 0.161302287219734, 0.014624351421235, -0.205444128488519}},
        {0.1,
         true,
         0.5343111696225621,
         {0.018150415422606, 0.091684889547998, -0.168416090344769, 0.058580785374166,
          -0.054794476401684, 0.005115230182021, 0.043605613451842, 0.006073632767822,
          0.00789828322224, 0.045738020717957, -0.009348904651148, -0.044287399289049}},
    };
    static const nn_real weights[] = {(nn_real)0.5, 1, 2, (nn_real)0.25};
    static const uint32_t wanted[] = {2, 0, 3};
    const double tolerance = sizeof(nn_real) == 8 ? 1e-14 : 1e-6;
    struct nn_exec exec = loss_exec();
    nn_real z[12], d[12];
    for (size_t i = 0; i < 12; i++) {
        z[i] = (nn_real)((int)(i / 4 * 5 + i % 4 * 3) % 7 - 3) / 2;
    }
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct nn_loss_batch b = {.logits = z, .ld = 4, .labels = wanted, .rows = 3, .classes = 4};
        b.label_smoothing = ROWS[i].smoothing;
        b.class_weights = ROWS[i].weighted ? weights : NULL;
        double loss = nn_loss_cross_entropy(&exec, &b, d, 4).loss;
        assert_true(fabs(loss - ROWS[i].loss) <= tolerance);
        for (size_t k = 0; k < 12; k++) {
            assert_true(fabs((double)d[k] - ROWS[i].gradient[k]) <= tolerance);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_the_definition),
        cmocka_unit_test(gradient_agrees_with_differences),
        cmocka_unit_test(rows_agree_with_the_batch),
        cmocka_unit_test(ties_go_to_the_lowest_index),
        cmocka_unit_test(extremes),
        cmocka_unit_test(half_squared_error_follows_its_formula),
        cmocka_unit_test(weights_and_smoothing_are_pytorchs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
