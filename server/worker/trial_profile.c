/* SPDX-License-Identifier: MIT
 *
 * The profile of a trial's steps as its child tells it: columns of equal length.
 */
#include "server/worker/trial_profile_internal.h"

#include <math.h>
#include <stdlib.h>

static bool read_seconds(const json_t *value, double *out)
{
    *out = json_number_value(value);
    return json_is_number(value) && isfinite(*out) && *out >= 0;
}

static bool read_texts(const json_t *column, size_t n, const char **out)
{
    bool sound = json_array_size(column) == n;
    for (size_t i = 0; sound && i < n; i++) {
        out[i] = json_string_value(json_array_get(column, i));
        sound = out[i] != NULL;
    }
    return sound;
}

static bool read_figures(const json_t *record, struct store_profile *out)
{
    out->steps = json_integer_value(json_object_get(record, "steps"));
    return out->steps >= 1 &&
           read_seconds(json_object_get(record, "step_seconds"), &out->seconds) &&
           read_seconds(json_object_get(record, "validation_seconds"), &out->validation_seconds) &&
           read_seconds(json_object_get(record, "checkpoint_seconds"), &out->checkpoint_seconds);
}

static bool read_columns(const json_t *record, size_t n, struct worker_profile *out)
{
    const json_t *seconds = json_object_get(record, "seconds");
    bool sound = read_texts(json_object_get(record, "layers"), n, out->texts) &&
                 read_texts(json_object_get(record, "operators"), n, out->texts + n) &&
                 read_texts(json_object_get(record, "phases"), n, out->texts + 2 * n);
    for (size_t i = 0; sound && i < n; i++) {
        sound = read_seconds(json_array_get(seconds, i), &out->seconds[i]);
    }
    return sound;
}

bool worker_profile_take(struct worker_profile *profile, json_t *record)
{
    size_t n = json_array_size(json_object_get(record, "seconds"));
    if (profile->record || n == 0 || n > WORKER_PROFILE_ROWS) {
        return false;
    }
    struct worker_profile made = {
        .texts = calloc(3 * n, sizeof *made.texts),
        .seconds = calloc(n, sizeof *made.seconds),
    };
    made.record = json_incref(record);
    made.stored.n = n;
    made.stored.layers = made.texts;
    made.stored.operators = made.texts + n;
    made.stored.phases = made.texts + 2 * n;
    made.stored.row_seconds = made.seconds;
    if (!made.texts || !made.seconds || !read_figures(record, &made.stored) ||
        !read_columns(record, n, &made)) {
        worker_profile_deinit(&made);
        return false;
    }
    *profile = made;
    return true;
}

void worker_profile_deinit(struct worker_profile *profile)
{
    free(profile->texts);
    free(profile->seconds);
    json_decref(profile->record);
    *profile = (struct worker_profile){0};
}
