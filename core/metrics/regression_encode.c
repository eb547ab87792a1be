/* SPDX-License-Identifier: MIT
 *
 * The evaluation of a regression as JSON: the same form as that of a classification, which is why
 * confusion matrix and classes are there, as null.
 */
#include <math.h>
#include <stdio.h>

#include "core/metrics/regression.h"

/* Sets value (transferred); a failure is remembered in *ok. */
static void put(json_t *object, const char *key, json_t *value, bool *ok)
{
    *ok = json_object_set_new(object, key, value) == 0 && *ok;
}

static void put_bound(json_t *object, const char *name, const char *side, double value, bool *ok)
{
    char key[64];
    (void)snprintf(key, sizeof key, "%s_%s", name, side);
    put(object, key, jx_number(value), ok);
}

static void put_figure(json_t *object, const char *name, const struct nn_figure *figure, bool *ok)
{
    put(object, name, figure->defined ? jx_number(figure->value) : json_null(), ok);
    if (figure->defined && isfinite(figure->low) && isfinite(figure->high)) {
        put_bound(object, name, "low", figure->low, ok);
        put_bound(object, name, "high", figure->high, ok);
    }
}

static json_t *non_finite(const struct nn_regression_evaluation *evaluation)
{
    if (evaluation->non_finite == 0) {
        return json_null();
    }
    return json_pack("{s:I, s:I, s:I}", "count", (json_int_t)evaluation->non_finite, "sequence",
                     (json_int_t)evaluation->non_finite_sequence, "step",
                     (json_int_t)evaluation->non_finite_step);
}

json_t *nn_regression_encode(const struct nn_regression_evaluation *evaluation)
{
    bool ok = true;
    json_t *object = json_object();
    json_t *counts = json_object();
    json_t *undefined = json_object();
    put(object, "task", json_string(nn_metric_task_name(NN_OF_REGRESSION)), &ok);
    put(object, "samples", json_integer((json_int_t)evaluation->sequences), &ok);
    put(object, "steps", json_integer((json_int_t)evaluation->steps), &ok);
    for (int i = 0; i < NN_REGRESSION_COUNT; i++) {
        const char *name = nn_regression_name((enum nn_regression_metric)i);
        const struct nn_figure *figure = &evaluation->figure[i];
        put_figure(object, name, figure, &ok);
        put(counts, name, json_integer((json_int_t)figure->n), &ok);
        if (figure->reason) {
            put(undefined, name, json_string(figure->reason), &ok);
        }
    }
    put(object, "counts", counts, &ok);
    put(object, "undefined", undefined, &ok);
    put(object, "phm08",
        json_pack("{s:o, s:o}", "a_early", jx_number(evaluation->options.a_early), "a_late",
                  jx_number(evaluation->options.a_late)),
        &ok);
    put(object, "non_finite", non_finite(evaluation), &ok);
    put(object, "confusion_matrix", json_null(), &ok);
    put(object, "per_class", json_null(), &ok);
    if (!ok) {
        json_decref(object);
        return NULL;
    }
    return object;
}
