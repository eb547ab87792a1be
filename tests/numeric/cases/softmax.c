/* SPDX-License-Identifier: MIT
 *
 * Cases of softmax.h.
 */
#include "tests/numeric/cases/cases.h"
#include "tests/ref/ref.h"

static const size_t SHAPES[][3] = {{1, 1, 0},   {128, 10, 0}, {7, 10, 3}, {3, 1000, 0},
                                   {65, 17, 1}, {2, 33, 0},   {5, 8, 0},  {0, 4, 0}};

static size_t shape_count(void)
{
    return sizeof SHAPES / sizeof *SHAPES;
}

/* Logits up to +-50 and beyond, so that exp without the maximum would overflow. */
static struct field logits_of(struct numeric *t, size_t i)
{
    struct field x = numeric_field(t, SHAPES[i][0], SHAPES[i][1], SHAPES[i][2]);
    for (size_t e = 0; e < x.rows * x.columns; e++) {
        x.data[e / x.columns * x.ld + e % x.columns] *= i % 2 == 0 ? 4 : 120;
    }
    numeric_sealed(t, x);
    return x;
}

static void softmax(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        struct field x = logits_of(t, i), y = numeric_field(t, x.rows, x.columns, i % 3);
        double *expected = numeric_doubles(t, y);
        ref_softmax(expected, x.data, x.ld, x.rows, x.columns);
        nn_softmax_forward(&t->exec, y.data, y.ld, x.data, x.ld, x.rows, x.columns);
        numeric_compare(t, y, expected, 0, "softmax rows=%zu columns=%zu", x.rows, x.columns);
        nn_softmax_forward(&t->exec, x.data, x.ld, x.data, x.ld, x.rows, x.columns);
        numeric_compare(t, x, expected, 0, "softmax in place rows=%zu", x.rows);
    }
}

static void softmax_gradient(struct numeric *t)
{
    for (size_t i = 1; i < shape_count(); i++) {
        size_t rows = SHAPES[i][0], columns = SHAPES[i][1];
        struct field y = numeric_field(t, rows, columns, i % 2);
        struct field d_y = numeric_field(t, rows, columns, i % 3);
        nn_softmax_forward(&t->exec, y.data, y.ld, y.data, y.ld, rows, columns);
        numeric_sealed(t, y);
        double *expected = numeric_doubles(t, d_y);
        ref_softmax_gradient(expected, d_y.data, d_y.ld, y.data, y.ld, rows, columns);
        struct nn_softmax_gradient args = {d_y.data, d_y.data, y.data, d_y.ld,
                                           d_y.ld,   y.ld,     rows,   columns};
        nn_softmax_gradient(&t->exec, &args);
        numeric_compare(t, d_y, expected, 0, "softmax gradient rows=%zu columns=%zu", rows,
                        columns);
    }
}

/* What rows should have said, by the definition in softmax.h. */
static double *wanted(struct numeric *t, const uint32_t *labels, const struct nn_cross_entropy *a)
{
    double *q = numeric_array(t, a->rows * a->classes, sizeof *q);
    for (size_t e = 0; e < a->rows * a->classes; e++) {
        size_t r = e / a->classes, c = e % a->classes;
        double smoothing = (double)a->smoothing, weight = a->weights ? (double)a->weights[c] : 1;
        q[e] = weight * ((1 - smoothing) * (c == labels[r]) + smoothing / (double)a->classes);
    }
    return q;
}

/* Classes are weighted in variants 1 and 2, labels smoothed in 2 and 3. */
static void check_cross_entropy(struct numeric *t, size_t i, int variant)
{
    struct field x = logits_of(t, i);
    size_t rows = x.rows, classes = x.columns, hits = 0;
    struct field d_x = numeric_field(t, rows, classes, 1), p = numeric_field(t, rows, classes, 2);
    uint32_t *labels = numeric_array(t, rows, sizeof *labels);
    uint32_t *predicted = numeric_array(t, rows, sizeof *predicted);
    nn_real *weights = numeric_array(t, classes, sizeof *weights);
    for (size_t r = 0; r < rows; r++) {
        labels[r] = (uint32_t)((r * 7 + i) % classes);
    }
    for (size_t c = 0; c < classes; c++) {
        weights[c] = (nn_real)(c % 5) / 4;
    }
    struct nn_cross_entropy args = {.rows = rows,
                                    .classes = classes,
                                    .logits = x.data,
                                    .ld = x.ld,
                                    .labels = labels,
                                    .d_logits = d_x.data,
                                    .ldd = d_x.ld,
                                    .factor = (nn_real)0.125,
                                    .probabilities = p.data,
                                    .ldp = p.ld,
                                    .predicted = predicted,
                                    .smoothing = variant >= 2 ? (nn_real)0.1 : 0,
                                    .weights = variant == 1 || variant == 2 ? weights : NULL};
    double *d = numeric_doubles(t, d_x), *probabilities = numeric_doubles(t, p);
    const double *q = wanted(t, labels, &args);
    double loss = ref_cross_entropy(d, probabilities, x.data, x.ld, q, rows, classes, 0.125);
    numeric_workspace(t, nn_cross_entropy_workspace(rows));
    struct nn_cross_entropy_result result = nn_cross_entropy(&t->exec, &args);
    numeric_compare_doubles(t, &result.loss_sum, &loss, 1, 0, "loss rows=%zu classes=%zu", rows,
                            classes);
    numeric_compare(t, d_x, d, 0, "loss gradient rows=%zu classes=%zu", rows, classes);
    numeric_compare(t, p, probabilities, 0, "probabilities rows=%zu classes=%zu", rows, classes);
    for (size_t r = 0; r < rows; r++) {
        size_t best = 0;
        for (size_t c = 1; c < classes; c++) {
            best = x.data[r * x.ld + c] > x.data[r * x.ld + best] ? c : best;
        }
        t->mistakes += predicted[r] != best;
        hits += best == labels[r];
    }
    t->mistakes += result.correct != hits;
}

static void cross_entropy(struct numeric *t)
{
    for (size_t i = 0; i < shape_count(); i++) {
        for (int variant = 0; variant < 4; variant++) {
            check_cross_entropy(t, i, variant);
        }
    }
}

/* The gradient may take the place of the logits. */
static void cross_entropy_in_place(struct numeric *t)
{
    struct field x = logits_of(t, 2);
    uint32_t *labels = numeric_array(t, x.rows, sizeof *labels);
    double *d = numeric_doubles(t, x);
    struct nn_cross_entropy args = {.rows = x.rows, .classes = x.columns, .logits = x.data};
    const double *q = wanted(t, labels, &args);
    double loss = ref_cross_entropy(d, NULL, x.data, x.ld, q, x.rows, x.columns, 1);
    args.ld = args.ldd = x.ld;
    args.labels = labels;
    args.d_logits = x.data;
    args.factor = 1;
    numeric_workspace(t, nn_cross_entropy_workspace(x.rows));
    struct nn_cross_entropy_result result = nn_cross_entropy(&t->exec, &args);
    numeric_compare_doubles(t, &result.loss_sum, &loss, 1, 0, "loss in place");
    numeric_compare(t, x, d, 0, "loss gradient in place");
}

const struct numeric_case softmax_cases[] = {
    {"softmax", "softmax", softmax},
    {"softmax_gradient", "softmax_gradient", softmax_gradient},
    {"cross_entropy", "cross_entropy", cross_entropy},
    {"cross_entropy_in_place", "cross_entropy", cross_entropy_in_place},
    {NULL, NULL, NULL},
};
