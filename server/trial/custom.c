/* SPDX-License-Identifier: MIT
 *
 * Metrics that the user wrote, on the parts whose predictions are kept. One that fails costs its
 * own value: the reason stands in the evaluation and in the trial's log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/trial/trial_internal.h"

/* Kept labels and lengths, in the form that a metric takes. */
static uint32_t *integers_of(const struct nn_part_result *part, size_t n)
{
    uint32_t *out = calloc(n ? n : 1, sizeof *out);
    for (size_t i = 0; out && i < n; i++) {
        out[i] = part->probabilities ? part->predictions[i].truth
                                     : (uint32_t)part->sequences.sequences[i].rows;
    }
    return out;
}

static struct nn_custom_input input_of(const struct trial_start *start,
                                       const struct nn_part_result *part,
                                       const struct trial_classes *classes, uint32_t **out_integers)
{
    struct nn_custom_input input = {.parameters = start->document};
    if (part->probabilities) {
        input.samples = (size_t)part->evaluation.samples;
        input.classes = classes->count;
        input.class_names = classes->names;
        input.probabilities = part->probabilities;
        input.labels = *out_integers = integers_of(part, input.samples);
    } else {
        input.samples = part->sequences.count;
        input.predictions = part->sequences.predicted;
        input.targets = part->sequences.target;
        input.lengths = *out_integers = integers_of(part, input.samples);
    }
    return input;
}

static void add_value(const struct trial_part *part, const struct nn_custom_metric *metric,
                      const struct nn_custom_value *value, size_t n)
{
    json_t *item = json_pack("{s:s, s:s, s:o, s:o}", "name", metric->name, "direction",
                             nn_direction_name((enum nn_direction)metric->direction), "value",
                             value->defined ? jx_number(value->value) : json_null(), "error",
                             value->defined ? json_null() : json_string(value->error));
    (void)json_array_append_new(part->custom, item);
    if (value->defined) {
        (void)json_array_append_new(part->metrics,
                                    json_pack("{s:s, s:o, s:I}", "metric", metric->name, "value",
                                              jx_number(value->value), "n", (json_int_t)n));
    }
}

void trial_add_custom(struct trial_link *link, const struct trial_start *start,
                      const struct nn_part_result *result, const struct trial_classes *classes,
                      const struct trial_part *part)
{
    uint32_t *integers = NULL;
    struct nn_custom_limits limits = nn_custom_limits_default();
    if (start->spec.n_custom == 0 || (!result->probabilities && !result->sequences.sequences)) {
        return;
    }
    struct nn_custom_input input = input_of(start, result, classes, &integers);
    if (!integers) {
        abort();
    }
    if (limits.bytes > start->memory_bytes) {
        limits.bytes = (size_t)start->memory_bytes;
    }
    for (size_t i = 0; i < start->spec.n_custom; i++) {
        const struct nn_custom_metric *metric = &start->spec.custom[i];
        struct nn_custom_value value;
        trial_say_phase(link, "measuring");
        nn_custom_run(metric->lua, strlen(metric->lua), &input, &limits, &value);
        add_value(part, metric, &value, input.samples);
        if (!value.defined) {
            char text[400];
            (void)snprintf(text, sizeof text, "metric '%s' has no value on the %s part: %s",
                           metric->name, nn_part_name(part->part), value.error);
            trial_say_log(link, "warn", text);
        }
    }
    free(integers);
}
