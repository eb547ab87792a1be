/* SPDX-License-Identifier: MIT
 *
 * Windows over sequences: a list of pieces, part by part.
 */
#include "core/data/windows_fields.h"

const struct jx_choice nn_windows_tested_choices[] = {
    {"last", NN_WINDOWS_TESTED_LAST, "the last one alone"},
    {"every", NN_WINDOWS_TESTED_EVERY, "every one"},
    JX_END,
};

struct nn_sequence_windows {
    struct nn_memory *memory;
    struct nn_sequence_piece *pieces;
    uint32_t *numbers; /* 0, 1, 2, ...: what sides point to */
    size_t first[NN_PART_COUNT + 1];
};

size_t nn_windows_count(const struct nn_window_options *options, size_t steps)
{
    size_t length = (size_t)options->length, stride = (size_t)options->stride;
    return !options->length_given || steps <= length ? 1 : (steps - length) / stride + 1;
}

static bool only_last(const struct nn_window_options *options, int part)
{
    return part == NN_PART_TEST && options->tested == NN_WINDOWS_TESTED_LAST;
}

static bool count_side(const struct nn_sequences *sequences, const struct nn_split_side *side,
                       int part, const struct nn_window_options *options, size_t *total)
{
    for (size_t i = 0; i < side->count; i++) {
        size_t steps = nn_sequences_length(sequences, side->items[i]);
        size_t n = only_last(options, part) ? 1 : nn_windows_count(options, steps);
        if (n > UINT32_MAX - *total) {
            return false;
        }
        *total += n;
    }
    return true;
}

/* The windows of a sequence, from the first; returns where the next one goes. */
static struct nn_sequence_piece *cut(struct nn_sequence_piece *out, uint32_t sequence, size_t steps,
                                     const struct nn_window_options *options, size_t n)
{
    size_t stride = (size_t)options->stride;
    size_t length = steps < (size_t)options->length ? steps : (size_t)options->length;
    for (size_t k = n; k-- > 0;) {
        bool opens = k + 1 == n;
        *out++ = (struct nn_sequence_piece){
            .sequence = sequence,
            .first = (uint32_t)(steps - length - k * stride),
            .length = (uint32_t)length,
            .fresh = (uint32_t)(opens || stride > length ? length : stride),
            .ends = k == 0,
        };
    }
    return out;
}

static void cut_side(struct nn_sequence_windows *w, const struct nn_sequences *sequences,
                     const struct nn_split_side *side, int part,
                     const struct nn_window_options *options)
{
    struct nn_sequence_piece *out = w->pieces + w->first[part];
    for (size_t i = 0; i < side->count; i++) {
        size_t steps = nn_sequences_length(sequences, side->items[i]);
        size_t n = only_last(options, part) ? 1 : nn_windows_count(options, steps);
        out = cut(out, side->items[i], steps, options, n);
    }
}

enum nn_status nn_sequence_windows_create(const struct nn_sequences *sequences,
                                          const struct nn_split_side *sides,
                                          const struct nn_window_options *options,
                                          struct nn_memory *memory,
                                          struct nn_sequence_windows **out, struct nn_error *err)
{
    size_t total = 0;
    struct nn_sequence_windows *w = nn_memory_alloc(memory, 1, sizeof *w);
    if (!w) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for windows");
    }
    *w = (struct nn_sequence_windows){.memory = memory};
    for (int part = 0; part < NN_PART_COUNT; part++) {
        if (!count_side(sequences, &sides[part], part, options, &total)) {
            nn_sequence_windows_destroy(w);
            return nn_fail(err, NN_ERR_LIMIT, "more windows than can be counted");
        }
        w->first[part + 1] = total;
    }
    w->pieces = nn_memory_alloc(memory, total, sizeof *w->pieces);
    w->numbers = nn_memory_alloc(memory, total, sizeof *w->numbers);
    if (!w->pieces || !w->numbers) {
        nn_sequence_windows_destroy(w);
        return nn_fail(err, NN_ERR_MEMORY, "no memory for %zu windows", total);
    }
    for (int part = 0; part < NN_PART_COUNT; part++) {
        cut_side(w, sequences, &sides[part], part, options);
    }
    for (size_t i = 0; i < total; i++) {
        w->numbers[i] = (uint32_t)i;
    }
    *out = w;
    return NN_OK;
}

void nn_sequence_windows_destroy(struct nn_sequence_windows *windows)
{
    if (windows) {
        nn_memory_free(windows->memory, windows->pieces);
        nn_memory_free(windows->memory, windows->numbers);
        nn_memory_free(windows->memory, windows);
    }
}

struct nn_split_side nn_sequence_windows_side(const struct nn_sequence_windows *windows,
                                              enum nn_part part)
{
    return (struct nn_split_side){.items = windows->numbers + windows->first[part],
                                  .count = windows->first[part + 1] - windows->first[part]};
}

size_t nn_sequence_windows_total(const struct nn_sequence_windows *windows)
{
    return windows->first[NN_PART_COUNT];
}

struct nn_sequence_piece nn_sequence_piece_at(const struct nn_sequences *sequences,
                                              const struct nn_sequence_windows *windows, uint32_t i)
{
    if (windows) {
        return windows->pieces[i];
    }
    uint32_t steps = (uint32_t)nn_sequences_length(sequences, i);
    return (struct nn_sequence_piece){i, 0, steps, steps, true};
}
