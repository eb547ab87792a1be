/* SPDX-License-Identifier: MIT
 *
 * The evaluation as JSON. Absent quotients are null; numbers that are not finite go out by the one
 * rule of core/json.
 */
#include <math.h>

#include "core/json/json.h"
#include "core/metrics/metrics.h"

static json_t *quotient_value(const struct nn_quotient *quotient)
{
    return quotient->defined ? jx_number(quotient->value) : json_null();
}

/* Bounds of the interval; null where there is none. */
static json_t *bound(const struct nn_quotient *quotient, double value)
{
    return quotient->defined && isfinite(value) ? jx_number(value) : json_null();
}

static json_t *count_value(uint64_t count)
{
    return json_integer((json_int_t)count);
}

/* Sets value (transferred); a failure is remembered in *ok. */
static void put(json_t *object, const char *key, json_t *value, bool *ok)
{
    *ok = json_object_set_new(object, key, value) == 0 && *ok;
}

static void put_interval(json_t *object, const char *low, const char *high,
                         const struct nn_quotient *quotient, bool *ok)
{
    put(object, low, bound(quotient, quotient->low), ok);
    put(object, high, bound(quotient, quotient->high), ok);
}

static json_t *class_row(const struct nn_class_result *row, const char *name, bool *ok)
{
    json_t *object = json_object();
    put(object, "class", jx_text(name, SIZE_MAX), ok);
    put(object, "support", count_value(row->support), ok);
    put(object, "predicted", count_value(row->predicted), ok);
    put(object, "precision", quotient_value(&row->precision), ok);
    put(object, "recall", quotient_value(&row->recall), ok);
    put(object, "f1", quotient_value(&row->f1), ok);
    put_interval(object, "precision_low", "precision_high", &row->precision, ok);
    put_interval(object, "recall_low", "recall_high", &row->recall, ok);
    return object;
}

static json_t *matrix(const struct nn_confusion *confusion, const char *const *names, bool *ok)
{
    json_t *object = json_object();
    json_t *classes = json_array();
    json_t *counts = json_array();
    for (size_t t = 0; t < confusion->classes; t++) {
        json_t *row = json_array();
        for (size_t p = 0; p < confusion->classes; p++) {
            uint64_t count = confusion->counts[t * confusion->classes + p];
            *ok = json_array_append_new(row, count_value(count)) == 0 && *ok;
        }
        *ok = json_array_append_new(counts, row) == 0 && *ok;
        *ok = json_array_append_new(classes, jx_text(names[t], SIZE_MAX)) == 0 && *ok;
    }
    put(object, "rows", json_string("true"), ok);
    put(object, "columns", json_string("predicted"), ok);
    put(object, "classes", classes, ok);
    put(object, "counts", counts, ok);
    return object;
}

static json_t *never_predicted(const struct nn_evaluation *evaluation, const char *const *names,
                               bool *ok)
{
    json_t *list = json_array();
    for (size_t c = 0; c < evaluation->confusion.classes; c++) {
        const struct nn_class_result *row = &evaluation->per_class[c];
        if (row->support > 0 && row->predicted == 0) {
            *ok = json_array_append_new(list, jx_text(names[c], SIZE_MAX)) == 0 && *ok;
        }
    }
    return list;
}

json_t *nn_evaluation_encode(const struct nn_evaluation *evaluation, const char *const *class_names)
{
    bool ok = true;
    json_t *object = json_object();
    json_t *per_class = json_array();
    for (size_t c = 0; c < evaluation->confusion.classes; c++) {
        json_t *row = class_row(&evaluation->per_class[c], class_names[c], &ok);
        ok = json_array_append_new(per_class, row) == 0 && ok;
    }
    put(object, "task", json_string(nn_metric_task_name(NN_OF_CLASSIFICATION)), &ok);
    put(object, "samples", count_value(evaluation->samples), &ok);
    put(object, "loss", evaluation->samples ? jx_number(evaluation->loss) : json_null(), &ok);
    put(object, "accuracy", quotient_value(&evaluation->accuracy), &ok);
    put_interval(object, "accuracy_low", "accuracy_high", &evaluation->accuracy, &ok);
    put(object, "balanced_accuracy", quotient_value(&evaluation->balanced_accuracy), &ok);
    put(object, "unclassified", count_value(evaluation->unclassified), &ok);
    put(object, "never_predicted", never_predicted(evaluation, class_names, &ok), &ok);
    put(object, "confusion_matrix", matrix(&evaluation->confusion, class_names, &ok), &ok);
    put(object, "per_class", per_class, &ok);
    if (!ok) {
        json_decref(object);
        return NULL;
    }
    return object;
}
