/* SPDX-License-Identifier: MIT
 *
 * Scaling of a sequence set, each trial's own: which inputs are used, how they and the targets are
 * scaled, where targets are cut off. A value, made once from the sequences that train; it travels
 * with the network, so that what is predicted later is scaled alike.
 *
 *   z_score:  x' = (x - mean) / std      std with n - 1, as the reference's
 *   range:    x' = (x - min) / (max - min)
 *
 * Targets are cut off at `target_max` first, then scaled by the statistics of the cut targets;
 * original = offset + factor x scaled.
 */
#ifndef NN_DATA_SCALING_H
#define NN_DATA_SCALING_H

#include <jansson.h>

#include "core/data/sequences.h"
#include "core/json/json.h"

enum nn_scaling_rule { NN_SCALING_NONE, NN_SCALING_Z_SCORE, NN_SCALING_RANGE };

struct nn_scaling_options {
    int inputs;            /* enum nn_scaling_rule */
    int targets;           /* enum nn_scaling_rule */
    bool keep_constant;    /* do not leave out inputs with one value */
    double target_max;     /* > 0: targets above it become it (remaining life) */
    bool target_max_given; /* false: no limit */
};

/* {"input_scaling": "z_score", "target_scaling": "none", "keep_constant": false,
 * "rul_threshold": null} */
extern const struct jx_field nn_scaling_fields[];

/* One column: scaled = (original - offset) / factor; factor is never 0. */
struct nn_scaling_column {
    double offset;
    double factor;
    size_t column; /* of the set's inputs (targets) */
};

struct nn_scaling;

/* Makes one from the statistics of `items` (those that train), in their order, every step alike. A
 * used column with one value gets offset that value and factor 1. NN_ERR_INVALID: no item, an item
 * out of range, or no input with more than one value. NN_ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_scaling_create(const struct nn_sequences *sequences,
                                               const uint32_t *items, size_t count,
                                               const struct nn_scaling_options *options,
                                               struct nn_scaling **out_scaling,
                                               struct nn_error *err);
void nn_scaling_destroy(struct nn_scaling *scaling);

/* Inputs that are used, in the set's order; targets. Arrays borrowed until destroyed. */
size_t nn_scaling_inputs(const struct nn_scaling *scaling);
size_t nn_scaling_targets(const struct nn_scaling *scaling);
const struct nn_scaling_column *nn_scaling_input(const struct nn_scaling *scaling);
const struct nn_scaling_column *nn_scaling_target(const struct nn_scaling *scaling);
/* Where targets are cut off; INFINITY: nowhere. */
double nn_scaling_target_max(const struct nn_scaling *scaling);
/* Inputs that were left out: their columns in the set. */
const size_t *nn_scaling_dropped(const struct nn_scaling *scaling, size_t *out_count);

/* steps x set's inputs -> steps x used inputs, scaled. dst may not overlap src. */
void nn_scaling_apply_inputs(const struct nn_scaling *scaling, const float *src, size_t steps,
                             nn_real *dst);
/* steps x targets: cut off and scaled. */
void nn_scaling_apply_targets(const struct nn_scaling *scaling, const float *src, size_t steps,
                              nn_real *dst);
/* A scaled target (or prediction) of column r in original units. */
double nn_scaling_restore(const struct nn_scaling *scaling, size_t r, double scaled);

/* {"inputs": [{"name", "offset", "factor"}...], "dropped": [names], "targets": [...], "target_max":
 * number or null}; NULL when out of memory. Offsets and factors read back to the same bits. */
json_t *nn_scaling_encode(const struct nn_scaling *scaling);
/* The reverse, for sequences with `names` of n columns in any order: finds the columns by name.
 * NN_ERR_INVALID: a column is not there, or the document is not one of ours. */
NN_MUST_CHECK enum nn_status nn_scaling_decode(const json_t *json, const char *const *names,
                                               size_t n, struct nn_scaling **out_scaling,
                                               struct nn_error *err);

#endif
