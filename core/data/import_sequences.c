/* SPDX-License-Identifier: MIT
 *
 * From the rows of all files to the prepared sequence set: sequences in order, their steps one
 * behind the other, gaps filled, remaining life counted, classes sorted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/import_table_internal.h"

/* The set in the making. */
struct gathered {
    struct nn_sequences_item *items;
    size_t *of; /* sequence of each item */
    size_t count;
    size_t train; /* of these, in the train part: they come first */
    size_t train_steps;
    float *features;
    float *targets;
};

static enum nn_status no_memory(const struct nn_table_import *import)
{
    return nn_fail(import->base->err, NN_ERR_MEMORY, "no memory for %zu sequences",
                   import->n_sequences);
}

/* -------------------------------------------------------------------------------------- classes */

static bool is_whole_number(const char *text)
{
    size_t n = strspn(text, "0123456789");
    return n > 0 && n <= 9 && text[n] == '\0';
}

static int by_number(const void *left, const void *right)
{
    const char *a = *(const char *const *)left;
    const char *b = *(const char *const *)right;
    long difference = strtol(a, NULL, 10) - strtol(b, NULL, 10);
    return difference ? (difference > 0) - (difference < 0) : strcmp(a, b);
}

static int by_bytes(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* By number when all are whole numbers, else by the bytes of their names. */
static enum nn_status sort_classes(struct nn_table_import *import)
{
    size_t n = import->n_classes;
    const char **old = calloc(n + 1, sizeof *old);
    bool numbers = true;
    if (n == 0) {
        free(old);
        return NN_OK;
    }
    if (!old) {
        return no_memory(import);
    }
    memcpy(old, import->classes, n * sizeof *old);
    for (size_t k = 0; k < n; k++) {
        numbers = numbers && is_whole_number(old[k]);
    }
    qsort(import->classes, n, sizeof *import->classes, numbers ? by_number : by_bytes);
    for (size_t i = 0; i < import->n_sequences; i++) {
        struct nn_table_sequence *s = &import->sequences[i];
        for (size_t k = 0; s->label != UINT32_MAX && k < n; k++) {
            if (import->classes[k] == old[s->label]) {
                s->label = (uint32_t)k;
                break;
            }
        }
    }
    free(old);
    return NN_OK;
}

/* ------------------------------------------------------------------------------------ gathering */

/* Sequences that were not refused, by part, then in order of the files. */
static void list_items(const struct nn_table_import *import, struct gathered *g)
{
    bool classifies = import->options->task == NN_TABLE_CLASSIFICATION;
    for (int part = 0; part < NN_PART_COUNT; part++) {
        for (size_t i = 0; i < import->n_sequences; i++) {
            const struct nn_table_sequence *s = &import->sequences[i];
            if ((int)s->part != part || s->reason) {
                continue;
            }
            g->of[g->count] = i;
            g->items[g->count++] = (struct nn_sequences_item){.name = s->name,
                                                              .length = s->length,
                                                              .label = classifies ? s->label : 0,
                                                              .part = s->part};
            g->train += part == NN_PART_TRAIN;
            g->train_steps += part == NN_PART_TRAIN ? s->length : 0;
        }
    }
}

/* next[i]: where the next row of sequence i goes. */
static void copy_rows(const struct nn_table_import *import, struct gathered *g, size_t *next)
{
    size_t step = 0;
    for (size_t i = 0; i < g->count; i++) {
        next[g->of[i]] = step;
        step += g->items[i].length;
    }
    for (size_t row = 0; row < import->n_rows; row++) {
        const struct nn_table_sequence *s = &import->sequences[import->owners[row]];
        if (s->reason) {
            continue;
        }
        size_t to = next[import->owners[row]]++;
        memcpy(g->features + to * import->n_inputs, import->features + row * import->n_inputs,
               import->n_inputs * sizeof(float));
        if (import->options->remaining_life) {
            g->targets[to] = (float)(s->end + (s->last_time - import->times[row]));
        } else if (import->options->task == NN_TABLE_REGRESSION) {
            memcpy(g->targets + to * import->n_targets, import->targets + row * import->n_targets,
                   import->n_targets * sizeof(float));
        }
    }
}

static enum nn_status gather(struct nn_table_import *import, struct gathered *g)
{
    size_t n = import->n_sequences;
    size_t *next = calloc(n + 1, sizeof *next);
    g->items = calloc(n + 1, sizeof *g->items);
    g->of = calloc(n + 1, sizeof *g->of);
    g->features = calloc(import->n_rows + 1, import->n_inputs * sizeof(float));
    g->targets = calloc(import->n_rows + 1, import->n_targets * sizeof(float));
    bool ok = next && g->items && g->of && g->features && g->targets;
    if (ok) {
        list_items(import, g);
        copy_rows(import, g, next);
    }
    free(next);
    return ok ? NN_OK : no_memory(import);
}

/* First reason of a refused sequence, for the set that has nothing else. */
static enum nn_status check_train(const struct nn_table_import *import, const struct gathered *g)
{
    const char *reason = "";
    for (size_t i = import->n_sequences; i-- > 0;) {
        reason = import->sequences[i].reason ? import->sequences[i].text : reason;
    }
    return g->train > 0 ? NN_OK
                        : nn_fail(import->base->err, NN_ERR_INVALID,
                                  "no sequence of the train part is left; %.250s", reason);
}

/* -------------------------------------------------------------------------------------- filling */

/* Mean of the values that are there, over the train part. NaN if there is none. */
static double mean_of(const struct nn_table_import *import, const struct gathered *g, size_t column)
{
    double sum = 0;
    size_t n = 0;
    for (size_t t = 0; t < g->train_steps; t++) {
        float value = g->features[t * import->n_inputs + column];
        if (!isnan(value)) {
            sum += (double)value;
            n++;
        }
    }
    return sum / (double)n;
}

static void fill_column(struct nn_table_import *import, const struct gathered *g, size_t column,
                        float value)
{
    size_t step = 0;
    bool previous = import->options->missing == NN_TABLE_MISSING_PREVIOUS;
    for (size_t i = 0; i < g->count; i++) {
        float last = value;
        for (size_t t = 0; t < g->items[i].length; t++, step++) {
            float *cell = &g->features[step * import->n_inputs + column];
            if (isnan(*cell)) {
                *cell = last;
                import->filled[column]++;
            }
            last = previous ? *cell : value;
        }
    }
}

static enum nn_status fill(struct nn_table_import *import, const struct gathered *g)
{
    const struct nn_table_options *o = import->options;
    import->filled = nn_arena_alloc(import->base->arena, import->n_inputs, sizeof *import->filled);
    if (!import->filled) {
        return no_memory(import);
    }
    if (o->missing == NN_TABLE_MISSING_REFUSE) {
        return NN_OK;
    }
    for (size_t k = 0; k < import->n_inputs; k++) {
        double value =
            o->missing == NN_TABLE_MISSING_VALUE ? o->missing_value : mean_of(import, g, k);
        if (isnan(value)) {
            return nn_fail(import->base->err, NN_ERR_INVALID,
                           "column \"%.100s\" has no value in the train part",
                           import->input_names[k]);
        }
        fill_column(import, g, k, (float)value);
    }
    return NN_OK;
}

/* -------------------------------------------------------------------------------------- writing */

/* What made these numbers of those files. */
static json_t *describe_options(const struct nn_table_import *import)
{
    const struct nn_table_options *o = import->options;
    json_t *filling =
        o->missing == NN_TABLE_MISSING_VALUE ? json_real(o->missing_value) : json_null();
    return json_pack("{s:s, s:s, s:b, s:s, s:o}", "layout", import->preset ? "cmapss" : "table",
                     "task", o->task == NN_TABLE_CLASSIFICATION ? "classification" : "regression",
                     "remaining_life", o->remaining_life ? 1 : 0, "missing",
                     nn_table_missing_name((enum nn_table_missing)o->missing), "missing_value",
                     filling);
}

static enum nn_status write_set(struct nn_table_import *import, const struct gathered *g,
                                const char *path)
{
    bool classifies = import->options->task == NN_TABLE_CLASSIFICATION;
    json_t *options = describe_options(import);
    char *text = options ? json_dumps(options, JSON_COMPACT) : NULL;
    enum nn_status status = NN_OK;
    if (!text) {
        status = no_memory(import);
        goto cleanup;
    }
    struct nn_sequences_draft draft = {
        .count = g->count,
        .inputs = import->n_inputs,
        .targets = classifies ? 0 : import->n_targets,
        .class_count = classifies ? import->n_classes : 0,
        .items = g->items,
        .features = g->features,
        .target_values = g->targets,
        .input_names = import->input_names,
        .target_names = import->target_names,
        .classes = import->classes,
        .options = text,
    };
    status = nn_sequences_write(path, &draft, NULL, import->base->err);
cleanup:
    free(text);
    json_decref(options);
    return status;
}

static enum nn_status report(const struct nn_table_import *import, const char *path,
                             json_t **out_report)
{
    struct nn_sequences *sequences = NULL;
    enum nn_status status = nn_sequences_open(path, &sequences, import->base->err);
    if (status != NN_OK) {
        return status;
    }
    json_t *made = nn_sequences_report(import, sequences);
    nn_sequences_close(sequences);
    if (!made) {
        return nn_fail(import->base->err, NN_ERR_MEMORY, "no memory for the report");
    }
    *out_report = made;
    return NN_OK;
}

static enum nn_status make_set(struct nn_table_import *import, const char *path,
                               json_t **out_report)
{
    struct gathered g = {0};
    enum nn_status status = nn_table_read_files(import);
    if (status == NN_OK) {
        status = sort_classes(import);
    }
    if (status == NN_OK) {
        status = gather(import, &g);
    }
    if (status == NN_OK) {
        status = check_train(import, &g);
    }
    if (status == NN_OK) {
        status = fill(import, &g);
    }
    if (status == NN_OK) {
        status = write_set(import, &g, path);
    }
    if (status == NN_OK) {
        status = report(import, path, out_report);
    }
    free(g.items);
    free(g.of);
    free(g.features);
    free(g.targets);
    return status;
}

enum nn_status nn_import_sequences(struct nn_import *import, const char *path, json_t **out_report)
{
    struct nn_table_options options = import->setup->options.table;
    bool preset = import->setup->layout == NN_IMPORT_CMAPSS;
    enum nn_status status = nn_table_options_check(&options, preset, "/table", import->err);
    if (status != NN_OK) {
        return status;
    }
    options.remaining_life = options.remaining_life || preset;
    struct nn_table_import table = {.base = import, .options = &options, .preset = preset};
    status = make_set(&table, path, out_report);
    free(table.sequences);
    free(table.slots);
    free(table.classes);
    free(table.features);
    free(table.targets);
    free(table.times);
    free(table.owners);
    return status;
}
