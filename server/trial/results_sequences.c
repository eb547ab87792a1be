/* SPDX-License-Identifier: MIT
 *
 * What a finished regression over sequences says of its parts: figures, and every predicted
 * sequence.
 */
#include <stdlib.h>

#include "server/trial/trial_internal.h"

/* A figure that does not exist is left out; why stands in the document. */
static json_t *encode_metrics(const struct nn_regression_evaluation *evaluation)
{
    json_t *metrics = json_array();
    for (int i = 0; i < NN_REGRESSION_COUNT; i++) {
        const struct nn_figure *figure = &evaluation->figure[i];
        if (!figure->defined) {
            continue;
        }
        const char *name = nn_regression_name((enum nn_regression_metric)i);
        (void)json_array_append_new(
            metrics, json_pack("{s:s, s:o, s:o, s:o, s:I}", "metric", name, "value",
                               jx_number(figure->value), "low", jx_number(figure->low), "high",
                               jx_number(figure->high), "n", (json_int_t)figure->n));
    }
    return metrics;
}

static void warn_non_finite(struct trial_link *link, enum nn_part part,
                            const struct nn_regression_evaluation *evaluation)
{
    if (evaluation->non_finite > 0) {
        char text[160];
        (void)snprintf(text, sizeof text, "%llu predictions of the %s part are not finite",
                       (unsigned long long)evaluation->non_finite, nn_part_name(part));
        trial_say_log(link, "warn", text);
    }
}

static void say_piece(struct trial_link *link, const struct wire_sequence *piece)
{
    void *bytes = NULL;
    size_t size = 0;
    if (wire_sequence_encode(piece, &bytes, &size) != SV_OK) {
        abort();
    }
    trial_say_bytes_take(link, WIRE_SEQUENCE, bytes, size);
}

static void say_sequence(struct trial_link *link, enum nn_part part, const struct nn_sequences *set,
                         const struct nn_sequence_predictions *all,
                         const struct nn_sequence_prediction *one)
{
    for (size_t at = 0; at < one->rows; at += WIRE_SEQUENCE_ROWS_MAX) {
        size_t left = one->rows - at;
        size_t rows = left < WIRE_SEQUENCE_ROWS_MAX ? left : WIRE_SEQUENCE_ROWS_MAX;
        const struct wire_sequence piece = {.part = (uint32_t)part,
                                            .sample = one->sample,
                                            .length =
                                                (uint32_t)nn_sequences_length(set, one->sample),
                                            .first = (uint32_t)at,
                                            .rows = (uint32_t)rows,
                                            .name = nn_sequences_item_name(set, one->sample),
                                            .target = all->target + one->first + at,
                                            .predicted = all->predicted + one->first + at};
        say_piece(link, &piece);
    }
}

void trial_say_sequences(struct trial_link *link, const struct trial_start *start,
                         enum nn_part part, const struct nn_part_result *result,
                         const struct nn_sequences *set)
{
    json_t *document = nn_regression_encode(&result->regression);
    struct trial_part rows = {part, encode_metrics(&result->regression), json_array()};
    trial_add_custom(link, start, result, NULL, &rows);
    (void)json_object_set_new(document, "custom_metrics", rows.custom);
    trial_say_take(link, WIRE_EVALUATION,
                   json_pack("{s:s, s:I, s:o, s:o}", "part", nn_part_name(part), "samples",
                             (json_int_t)result->regression.sequences, "document", document,
                             "metrics", rows.metrics));
    for (size_t i = 0; i < result->sequences.count; i++) {
        say_sequence(link, part, set, &result->sequences, &result->sequences.sequences[i]);
    }
    warn_non_finite(link, part, &result->regression);
}
