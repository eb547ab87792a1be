/* SPDX-License-Identifier: MIT
 *
 * The options of signals.
 */
#include "core/data/signal.h"

#define WINDOW_MIN 16
#define WINDOW_MAX 1048576

static const struct jx_choice BY[] = {
    {"folders", NN_SIGNAL_BY_FOLDERS, "by folders named train, validation, test; else all train"},
    {"recordings", NN_SIGNAL_BY_RECORDINGS, "whole recordings, shares of each class"},
    {"time", NN_SIGNAL_BY_TIME, "each recording in the order of time, with gaps"},
    JX_END,
};

#define PART(member) offsetof(struct nn_signal_parts, member)
static const struct jx_field PART_FIELDS[] = {
    {.name = "by",
     .type = JX_ENUM,
     .offset = PART(by),
     .given = JX_GIVEN(struct nn_signal_parts, by_given),
     .choices = BY,
     .nullable = true,
     .doc = "what goes to one part as a whole; default: folders where there are folders of parts, "
            "else recordings"},
    {.name = "train",
     .type = JX_REAL,
     .offset = PART(train),
     .min = 0,
     .max = 1,
     .above_min = true,
     .fallback = "0.7",
     .doc = "share that trains, of recordings or of time"},
    {.name = "validation",
     .type = JX_REAL,
     .offset = PART(validation),
     .min = 0,
     .max = 1,
     .below_max = true,
     .fallback = "0.15",
     .doc = "share that validates; what is left tests"},
    {.name = "gap",
     .type = JX_INT,
     .offset = PART(gap),
     .given = JX_GIVEN(struct nn_signal_parts, gap_given),
     .min = 0,
     .max = 1e9,
     .nullable = true,
     .doc = "samples between two parts of a recording cut by time; default: a window",
     .unit = "samples"},
    {.name = "seed",
     .type = JX_INT,
     .offset = PART(seed),
     .min = 0,
     .max = 9007199254740991.0,
     .fallback = "1",
     .doc = "seed of the order in which recordings go to parts"},
    JX_END,
};

#define OFFSET(member) offsetof(struct nn_signal_options, member)
const struct jx_field nn_signal_fields[] = {
    {.name = "window",
     .type = JX_INT,
     .offset = OFFSET(window),
     .min = WINDOW_MIN,
     .max = WINDOW_MAX,
     .fallback = "2048",
     .doc = "length of a window",
     .unit = "samples"},
    {.name = "stride",
     .type = JX_INT,
     .offset = OFFSET(stride),
     .given = JX_GIVEN(struct nn_signal_options, stride_given),
     .min = 1,
     .max = 1e9,
     .nullable = true,
     .doc = "from the beginning of one window to that of the next; default: a window, so that none "
            "overlap",
     .unit = "samples"},
    {.name = "channels",
     .type = JX_INTS,
     .offset = OFFSET(channels),
     .min = 1,
     .max = 4096,
     .max_items = JX_LIST_MAX,
     .scalar_too = true,
     .nullable = true,
     .doc = "which channels (columns) of the recordings, from 1; default: the first"},
    {.name = "parts",
     .type = JX_OBJECT,
     .offset = OFFSET(parts),
     .fields = PART_FIELDS,
     .doc = "how windows come to parts"},
    JX_END,
};

const char *nn_signal_by_name(int by)
{
    return jx_choice_name(BY, by);
}

static enum nn_status check_channels(const struct jx_ints *channels, const char *pointer,
                                     struct nn_error *err)
{
    char field[160];
    for (size_t i = 0; i < channels->count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (channels->value[i] == channels->value[k]) {
                jx_pointer_key(pointer, "channels", field, sizeof field);
                return nn_fail_at(err, NN_ERR_INVALID, field, "channel %lld is named twice",
                                  (long long)channels->value[i]);
            }
        }
    }
    return NN_OK;
}

enum nn_status nn_signal_options_complete(struct nn_signal_options *options, const char *pointer,
                                          struct nn_error *err)
{
    struct nn_signal_parts *parts = &options->parts;
    char field[160];
    if (!options->stride_given) {
        options->stride = options->window;
    }
    if (!parts->gap_given) {
        parts->gap = options->window;
    }
    if (options->channels.count == 0) {
        options->channels = (struct jx_ints){.count = 1, .value = {1}};
    }
    if (parts->train + parts->validation > 1 + 1e-9) {
        char below[160];
        jx_pointer_key(pointer, "parts", below, sizeof below);
        jx_pointer_key(below, "validation", field, sizeof field);
        return nn_fail_at(err, NN_ERR_INVALID, field,
                          "train and validation are more than the whole");
    }
    return check_channels(&options->channels, pointer, err);
}
