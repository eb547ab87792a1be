/* SPDX-License-Identifier: MIT
 *
 * Metrics that a user writes, in Lua 5.4: the body of a function that sees what was predicted and
 * returns one number.
 *
 *     local wrong = 0
 *     for i, p in ipairs(predictions) do
 *         if p[targets[i]] < parameters.training.learning_rate then wrong = wrong + 1 end
 *     end
 *     return wrong / #predictions
 *
 * Variables, of one part in its order:
 *     predictions  classification: predictions[i][k], probability of class k of sample i
 *                  regression: predictions[i][s], of step s of sequence i, in the target's unit
 *     targets      classification: targets[i], number of the class (from 1); regression:
 * targets[i][s] lengths      regression: steps of sequence i; else nil classes      classification:
 * names; else nil parameters   the trial's resolved spec
 *
 * Functions: assert error ipairs select tonumber tostring type; math without random and randomseed;
 * string.byte char len lower rep reverse sub upper; table.concat insert remove sort unpack. There
 * is no other way out of the state: no metatables, coroutines, protected calls, files, code from
 * text. pairs and next are left out because their order differs from run to run.
 *
 * Each run has a fresh state. Work (instructions, and the elements that a library function goes
 * through) and memory are capped; nothing written in Lua can catch that. Both caps depend on the
 * program alone, so equal input gives an equal result. What they do not see, slow single
 * instructions, is ended by a limit on processor time, some ten times what 10^8 instructions take.
 */
#ifndef NN_METRICS_CUSTOM_H
#define NN_METRICS_CUSTOM_H

#include <jansson.h>

#include "core/json/json.h"
#include "core/metrics/metrics.h"

enum {
    NN_CUSTOM_MAX = 16,        /* metrics of a job */
    NN_CUSTOM_NAME_MAX = 40,   /* bytes of a name */
    NN_CUSTOM_LUA_MAX = 16384, /* bytes of a text */
    NN_CUSTOM_ERROR_MAX = 200,
};

struct nn_custom_metric {
    char name[NN_CUSTOM_NAME_MAX + 1];
    const char *lua; /* borrowed from the JSON */
    int direction;   /* enum nn_direction */
};

/* One item of `custom_metrics`, a list of at most NN_CUSTOM_MAX. */
extern const struct jx_field nn_custom_fields[];

/* Decodes and checks a list: names are a letter, then letters, digits and underscores, different
 * from each other and from the rows of nn_metric_table; texts compile. pointer is that of the list.
 * ERR_INVALID with the pointer of the field at fault; for Lua the text says the line. */
NN_MUST_CHECK enum nn_status nn_custom_decode(const json_t *list, const char *pointer,
                                              struct nn_custom_metric out[NN_CUSTOM_MAX],
                                              size_t *out_count, struct nn_error *err);

/* Compiles without running. Precompiled chunks are refused. ERR_INVALID, ERR_LIMIT, ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_custom_check(const char *lua, size_t size, struct nn_error *err);

/* What one part predicted. Borrowed. */
struct nn_custom_input {
    size_t samples;
    /* classification; NULL, 0 else */
    size_t classes;
    const float *probabilities;     /* [samples, classes] */
    const uint32_t *labels;         /* [samples], < classes */
    const char *const *class_names; /* [classes] */
    /* regression; NULL else */
    const float *predictions, *targets; /* packed, sequence after sequence */
    const uint32_t *lengths;            /* [samples] */
    const json_t *parameters;           /* NULL: an empty table */
};

struct nn_custom_limits {
    uint64_t work;  /* instructions and elements */
    size_t bytes;   /* of the state, predictions included */
    double seconds; /* of the thread's processor time */
};
/* 10^8, 256 MiB, 15 s. */
struct nn_custom_limits nn_custom_limits_default(void);

struct nn_custom_value {
    bool defined;
    double value;                        /* may be NaN or infinite: the metric said so */
    char error[NN_CUSTOM_ERROR_MAX + 1]; /* why there is none: one printable line; "" if defined */
};

/* Runs the text on the input. */
void nn_custom_run(const char *lua, size_t size, const struct nn_custom_input *input,
                   const struct nn_custom_limits *limits, struct nn_custom_value *out);

#endif
