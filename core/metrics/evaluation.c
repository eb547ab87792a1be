/* SPDX-License-Identifier: MIT
 *
 * Adds classified samples up. One double sum of losses in sample order and integer counts: the
 * result is a function of the samples alone, not of their grouping into batches.
 */
#include "core/metrics/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two-sided 95 % quantile of the normal distribution. */
static const double Z95 = 1.959963984540054;

struct nn_evaluator {
    size_t classes;
    uint64_t samples;
    uint64_t correct;
    double loss_sum;
    uint64_t counts[]; /* [classes * (classes + 1)], rows = true; the last column: no class */
};

enum nn_status nn_evaluator_create(size_t classes, struct nn_evaluator **out, struct nn_error *err)
{
    size_t cells;
    size_t bytes;
    if (!nn_size_mul(classes, classes + 1, &cells) ||
        !nn_size_mul(cells, sizeof(uint64_t), &bytes) ||
        !nn_size_add(bytes, sizeof(struct nn_evaluator), &bytes)) {
        return nn_fail(err, NN_ERR_LIMIT, "%zu classes are too many for a confusion matrix",
                       classes);
    }
    struct nn_evaluator *evaluator = calloc(1, bytes);
    if (!evaluator) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a confusion matrix of %zu classes",
                       classes);
    }
    evaluator->classes = classes;
    *out = evaluator;
    return NN_OK;
}

void nn_evaluator_destroy(struct nn_evaluator *evaluator)
{
    free(evaluator);
}

void nn_evaluator_reset(struct nn_evaluator *evaluator)
{
    evaluator->samples = 0;
    evaluator->correct = 0;
    evaluator->loss_sum = 0.0;
    memset(evaluator->counts, 0,
           evaluator->classes * (evaluator->classes + 1) * sizeof evaluator->counts[0]);
}

void nn_evaluator_add(struct nn_evaluator *evaluator, const uint32_t *truth,
                      const uint32_t *predicted, const double *loss, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool none = predicted[i] == NN_NO_CLASS;
        size_t column = none ? evaluator->classes : predicted[i];
        NN_ASSERT(truth[i] < evaluator->classes && column < evaluator->classes + none);
        evaluator->counts[truth[i] * (evaluator->classes + 1) + column]++;
        evaluator->correct += truth[i] == predicted[i];
        evaluator->loss_sum += loss[i];
    }
    evaluator->samples += n;
}

double nn_evaluator_loss(const struct nn_evaluator *evaluator)
{
    return evaluator->samples ? evaluator->loss_sum / (double)evaluator->samples : (double)NAN;
}

double nn_evaluator_accuracy(const struct nn_evaluator *evaluator)
{
    return evaluator->samples ? (double)evaluator->correct / (double)evaluator->samples
                              : (double)NAN;
}

static struct nn_quotient quotient_absent(void)
{
    return (struct nn_quotient){.defined = false, .value = NAN, .low = NAN, .high = NAN};
}

struct nn_quotient nn_quotient_make(uint64_t k, uint64_t n)
{
    if (n == 0) {
        return quotient_absent();
    }
    double count = (double)n;
    double p = (double)k / count;
    double z2 = Z95 * Z95;
    double middle = p + z2 / (2.0 * count);
    double half = Z95 * sqrt(p * (1.0 - p) / count + z2 / (4.0 * count * count));
    double scale = 1.0 + z2 / count;
    /* the exact bounds are 0 at k = 0 and 1 at k = n; rounding must not step over them */
    double low = k == 0 ? 0.0 : (middle - half) / scale;
    double high = k == n ? 1.0 : (middle + half) / scale;
    return (struct nn_quotient){.defined = true, .value = p, .low = low, .high = high};
}

/* A plain number without an interval; absent when n = 0. */
static struct nn_quotient quotient_plain(double sum, uint64_t n)
{
    struct nn_quotient result = quotient_absent();
    if (n > 0) {
        result.defined = true;
        result.value = sum / (double)n;
    }
    return result;
}

static struct nn_class_result class_result(const uint64_t *counts, size_t classes, size_t c)
{
    size_t columns = classes + 1;
    uint64_t support = counts[c * columns + classes];
    uint64_t predicted = 0;
    for (size_t i = 0; i < classes; i++) {
        support += counts[c * columns + i];
        predicted += counts[i * columns + c];
    }
    uint64_t hits = counts[c * columns + c];
    return (struct nn_class_result){
        .support = support,
        .predicted = predicted,
        .precision = nn_quotient_make(hits, predicted),
        .recall = nn_quotient_make(hits, support),
        .f1 = quotient_plain(2.0 * (double)hits, support + predicted),
    };
}

static void per_class_fill(const struct nn_evaluator *evaluator, struct nn_evaluation *evaluation)
{
    double recall_sum = 0.0;
    uint64_t occurring = 0;
    for (size_t c = 0; c < evaluator->classes; c++) {
        struct nn_class_result row = class_result(evaluator->counts, evaluator->classes, c);
        evaluation->per_class[c] = row;
        if (row.recall.defined) {
            recall_sum += row.recall.value;
            occurring++;
            evaluation->never_predicted += row.predicted == 0;
        }
    }
    evaluation->balanced_accuracy = quotient_plain(recall_sum, occurring);
}

enum nn_status nn_evaluator_finish(const struct nn_evaluator *evaluator, struct nn_evaluation *out,
                                   struct nn_error *err)
{
    size_t classes = evaluator->classes;
    size_t cells = classes * classes;
    uint64_t *counts = calloc(cells ? cells : 1, sizeof *counts);
    struct nn_class_result *per_class = calloc(classes ? classes : 1, sizeof *per_class);
    if (!counts || !per_class) {
        free(counts);
        free(per_class);
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the evaluation of %zu classes", classes);
    }
    struct nn_evaluation evaluation = {
        .samples = evaluator->samples,
        .loss = nn_evaluator_loss(evaluator),
        .accuracy = nn_quotient_make(evaluator->correct, evaluator->samples),
        .confusion = {.classes = classes, .counts = counts},
        .per_class = per_class,
    };
    for (size_t t = 0; t < classes; t++) {
        const uint64_t *row = evaluator->counts + t * (classes + 1);
        memcpy(counts + t * classes, row, classes * sizeof *counts);
        evaluation.unclassified += row[classes];
    }
    per_class_fill(evaluator, &evaluation);
    *out = evaluation;
    return NN_OK;
}

void nn_evaluation_deinit(struct nn_evaluation *evaluation)
{
    free(evaluation->confusion.counts);
    free(evaluation->per_class);
    *evaluation = (struct nn_evaluation){0};
}
