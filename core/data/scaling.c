/* SPDX-License-Identifier: MIT
 *
 * Scaling of sequences: from statistics to offsets and factors, and their use.
 */
#include "core/data/scaling_fields.h"

#include <math.h>
#include <stdlib.h>

#include "core/data/scaling_internal.h"

const struct jx_choice nn_scaling_rules[] = {
    {"none", NN_SCALING_NONE, "as they are"},
    {"z_score", NN_SCALING_Z_SCORE, "mean 0 and standard deviation 1 over what trains"},
    {"range", NN_SCALING_RANGE, "0 to 1 over what trains"},
    JX_END,
};

const struct jx_field nn_scaling_fields[] = {
    NN_SCALING_FIELDS(0),
    JX_END,
};

/* ------------------------------------------------------------------------------------- building */

enum nn_status nn_scaling_no_memory(struct nn_error *err)
{
    return nn_fail(err, NN_ERR_MEMORY, "no memory to scale sequences");
}

enum nn_status nn_scaling_allocate(size_t inputs, size_t targets, size_t dropped,
                                   struct nn_scaling **out_scaling, struct nn_error *err)
{
    struct nn_scaling *s = calloc(1, sizeof *s);
    if (!s || nn_arena_create(NULL, 0, &s->arena) != NN_OK) {
        free(s);
        return nn_scaling_no_memory(err);
    }
    s->inputs = nn_arena_alloc(s->arena, inputs, sizeof *s->inputs);
    s->targets = nn_arena_alloc(s->arena, targets, sizeof *s->targets);
    s->dropped = nn_arena_alloc(s->arena, dropped, sizeof *s->dropped);
    s->input_names = nn_arena_alloc(s->arena, inputs, sizeof *s->input_names);
    s->target_names = nn_arena_alloc(s->arena, targets, sizeof *s->target_names);
    s->dropped_names = nn_arena_alloc(s->arena, dropped, sizeof *s->dropped_names);
    if (!s->inputs || !s->targets || !s->dropped || !s->input_names || !s->target_names ||
        !s->dropped_names) {
        nn_scaling_destroy(s);
        return nn_scaling_no_memory(err);
    }
    s->target_max = (double)INFINITY;
    *out_scaling = s;
    return NN_OK;
}

/* Without spread, or where the quotient would not be finite, only the offset is taken. */
static struct nn_scaling_column column_of(int rule, const struct nn_column_statistics *s,
                                          size_t column)
{
    struct nn_scaling_column c = {.offset = 0, .factor = 1, .column = column};
    if (rule == NN_SCALING_Z_SCORE) {
        c.offset = s->mean;
        c.factor = s->std;
    } else if (rule == NN_SCALING_RANGE) {
        c.offset = s->min;
        c.factor = s->max - s->min;
    }
    if (!(c.factor > 0) || s->min == s->max) {
        c.factor = 1;
    }
    return c;
}

/* Of each item that trains. */
struct runs {
    const float **features;
    const float **targets;
    size_t *lengths;
};

static enum nn_status collect(const struct nn_sequences *set, const uint32_t *items, size_t count,
                              struct runs *r, struct nn_error *err)
{
    r->features = calloc(count, sizeof *r->features);
    r->targets = calloc(count, sizeof *r->targets);
    r->lengths = calloc(count, sizeof *r->lengths);
    if (!r->features || !r->targets || !r->lengths) {
        return nn_scaling_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        if (items[i] >= nn_sequences_info(set)->count) {
            return nn_fail(err, NN_ERR_INVALID, "there is no sequence %u", items[i]);
        }
        r->features[i] = nn_sequences_features(set, items[i]);
        r->targets[i] = nn_sequences_targets(set, items[i]);
        r->lengths[i] = nn_sequences_length(set, items[i]);
    }
    return NN_OK;
}

static bool take_inputs(struct nn_scaling *s, const struct nn_sequences *set,
                        const struct nn_scaling_options *options,
                        const struct nn_column_statistics *statistics)
{
    for (size_t k = 0; k < s->width; k++) {
        const char *name = nn_arena_text(s->arena, nn_sequences_input_name(set, k));
        if (!name) {
            return false;
        }
        if (statistics[k].min == statistics[k].max && !options->keep_constant) {
            s->dropped_names[s->n_dropped] = name;
            s->dropped[s->n_dropped++] = k;
        } else {
            s->input_names[s->n_inputs] = name;
            s->inputs[s->n_inputs++] = column_of(options->inputs, &statistics[k], k);
        }
    }
    return true;
}

static bool take_targets(struct nn_scaling *s, const struct nn_sequences *set, int rule,
                         const struct nn_column_statistics *statistics)
{
    size_t targets = nn_sequences_info(set)->targets;
    for (; s->n_targets < targets; s->n_targets++) {
        const char *name = nn_arena_text(s->arena, nn_sequences_target_name(set, s->n_targets));
        if (!name) {
            return false;
        }
        s->target_names[s->n_targets] = name;
        s->targets[s->n_targets] = column_of(rule, &statistics[s->n_targets], s->n_targets);
    }
    return true;
}

static enum nn_status fill(struct nn_scaling *s, const struct nn_sequences *set,
                           const struct nn_scaling_options *options, const struct runs *r,
                           size_t count, struct nn_error *err)
{
    size_t targets = nn_sequences_info(set)->targets;
    struct nn_column_statistics *statistics = calloc(s->width + targets, sizeof *statistics);
    enum nn_status status = NN_OK;
    if (!statistics) {
        return nn_scaling_no_memory(err);
    }
    nn_column_statistics_of(r->features, r->lengths, count, s->width, (double)INFINITY, statistics);
    nn_column_statistics_of(r->targets, r->lengths, count, targets, s->target_max,
                            statistics + s->width);
    if (!take_inputs(s, set, options, statistics) ||
        !take_targets(s, set, options->targets, statistics + s->width)) {
        status = nn_scaling_no_memory(err);
    } else if (s->n_inputs == 0) {
        status = nn_fail(err, NN_ERR_INVALID, "every input has one value in all that trains");
    }
    free(statistics);
    return status;
}

enum nn_status nn_scaling_create(const struct nn_sequences *sequences, const uint32_t *items,
                                 size_t count, const struct nn_scaling_options *options,
                                 struct nn_scaling **out_scaling, struct nn_error *err)
{
    const struct nn_sequences_info *info = nn_sequences_info(sequences);
    struct nn_scaling *s = NULL;
    struct runs runs = {0};
    if (count == 0) {
        return nn_fail(err, NN_ERR_INVALID, "there is no sequence to train on");
    }
    enum nn_status status = nn_scaling_allocate(info->inputs, info->targets, info->inputs, &s, err);
    if (status != NN_OK) {
        return status;
    }
    s->width = info->inputs;
    if (options->target_max_given) {
        s->target_max = options->target_max;
    }
    status = collect(sequences, items, count, &runs, err);
    if (status == NN_OK) {
        status = fill(s, sequences, options, &runs, count, err);
    }
    free(runs.features);
    free(runs.targets);
    free(runs.lengths);
    if (status != NN_OK) {
        nn_scaling_destroy(s);
        return status;
    }
    *out_scaling = s;
    return NN_OK;
}

void nn_scaling_destroy(struct nn_scaling *scaling)
{
    if (scaling) {
        nn_arena_destroy(scaling->arena);
        free(scaling);
    }
}

/* -------------------------------------------------------------------------------------- getters */

size_t nn_scaling_inputs(const struct nn_scaling *scaling)
{
    return scaling->n_inputs;
}

size_t nn_scaling_targets(const struct nn_scaling *scaling)
{
    return scaling->n_targets;
}

const struct nn_scaling_column *nn_scaling_input(const struct nn_scaling *scaling)
{
    return scaling->inputs;
}

const struct nn_scaling_column *nn_scaling_target(const struct nn_scaling *scaling)
{
    return scaling->targets;
}

double nn_scaling_target_max(const struct nn_scaling *scaling)
{
    return scaling->target_max;
}

const size_t *nn_scaling_dropped(const struct nn_scaling *scaling, size_t *out_count)
{
    *out_count = scaling->n_dropped;
    return scaling->dropped;
}

/* ------------------------------------------------------------------------------------- applying */

void nn_scaling_apply_inputs(const struct nn_scaling *s, const float *src, size_t steps,
                             nn_real *dst)
{
    for (size_t t = 0; t < steps; t++) {
        for (size_t k = 0; k < s->n_inputs; k++) {
            const struct nn_scaling_column *c = &s->inputs[k];
            double value = (double)src[t * s->width + c->column];
            dst[t * s->n_inputs + k] = (nn_real)((value - c->offset) / c->factor);
        }
    }
}

void nn_scaling_apply_targets(const struct nn_scaling *s, const float *src, size_t steps,
                              nn_real *dst)
{
    for (size_t t = 0; t < steps; t++) {
        for (size_t r = 0; r < s->n_targets; r++) {
            double value = fmin((double)src[t * s->n_targets + r], s->target_max);
            dst[t * s->n_targets + r] =
                (nn_real)((value - s->targets[r].offset) / s->targets[r].factor);
        }
    }
}

double nn_scaling_restore(const struct nn_scaling *scaling, size_t r, double scaled)
{
    return scaling->targets[r].offset + scaling->targets[r].factor * scaled;
}
