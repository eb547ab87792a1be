/* SPDX-License-Identifier: MIT
 *
 * What the import of a sequence set tells its user: sequences, steps and lengths by part, columns
 * and their statistics, what was refused, filled or taken for granted. Names are user text: they go
 * through jx_text.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/sha256.h"
#include "core/data/import_table_internal.h"

#define LISTED_BYTES    ((size_t)1 << 19) /* of a list */
#define NAMES_PER_GROUP 10

struct report {
    const struct nn_table_import *import;
    const struct nn_sequences *set;
    json_t *root;
    json_t *warnings;
    size_t *trains;   /* sequences of each class that train; of a regression all are one class */
    size_t *distinct; /* different ones of these */
    bool failed;      /* out of memory somewhere */
};

static void set(struct report *r, json_t *object, const char *key, json_t *value)
{
    r->failed = json_object_set_new(object, key, value) != 0 || r->failed;
}

/* Appends to a list that ends early; counts beside it are always whole. */
static void append(struct report *r, json_t *list, size_t *listed, json_t *row)
{
    *listed += row ? json_dumpb(row, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) : 0;
    if (json_array_size(list) >= r->import->base->limits.max_listed || *listed > LISTED_BYTES) {
        json_decref(row);
        return;
    }
    r->failed = json_array_append_new(list, row) != 0 || r->failed;
}

static json_t *count_of(size_t n)
{
    return json_integer((json_int_t)n);
}

static NN_PRINTF(3, 4) void warn(struct report *r, const char *code, const char *fmt, ...)
{
    char line[640];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    json_t *row = json_pack("{s:s, s:o}", "code", code, "text", jx_text(line, SIZE_MAX));
    r->failed = json_array_append_new(r->warnings, row) != 0 || r->failed;
}

/* -------------------------------------------------------------------------------------- columns */

static json_t *describe_column(const char *name, const struct nn_column_statistics *s)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", jx_text(name, SIZE_MAX), "min",
                     jx_number(s->min), "max", jx_number(s->max), "mean", jx_number(s->mean), "std",
                     jx_number(s->std));
}

static void list_inputs(struct report *r)
{
    const struct nn_sequences_info *info = nn_sequences_info(r->set);
    json_t *columns = json_array();
    json_t *constant = json_array();
    size_t listed[2] = {0};
    size_t n_constant = 0;
    size_t n_filled = 0;
    for (size_t k = 0; k < info->inputs; k++) {
        const char *name = nn_sequences_input_name(r->set, k);
        struct nn_column_statistics s = nn_sequences_input_statistics(r->set, k);
        json_t *row = describe_column(name, &s);
        set(r, row, "filled", count_of(r->import->filled[k]));
        n_filled += r->import->filled[k];
        append(r, columns, &listed[0], row);
        if (s.min == s.max) {
            n_constant++;
            append(r, constant, &listed[1], jx_text(name, SIZE_MAX));
        }
    }
    set(r, r->root, "inputs", columns);
    set(r, r->root, "constant_inputs", constant);
    set(r, json_object_get(r->root, "counts"), "constant_inputs", count_of(n_constant));
    set(r, json_object_get(r->root, "counts"), "filled", count_of(n_filled));
    if (n_constant > 0) {
        const char *first = json_string_value(json_array_get(constant, 0));
        warn(r, "constant_inputs",
             "%zu of %zu inputs have one value in the whole train part (\"%.100s\"%s); they are "
             "left "
             "out of training unless data.keep_constant says otherwise",
             n_constant, info->inputs, first ? first : "", n_constant > 1 ? ", ..." : "");
    }
    if (n_filled > 0) {
        warn(r, "filled", "%zu missing values were filled by the rule \"%s\"", n_filled,
             nn_table_missing_name((enum nn_table_missing)r->import->options->missing));
    }
}

static void list_targets(struct report *r)
{
    const struct nn_sequences_info *info = nn_sequences_info(r->set);
    json_t *targets = json_array();
    size_t listed = 0;
    for (size_t k = 0; k < info->targets; k++) {
        struct nn_column_statistics s = nn_sequences_target_statistics(r->set, k);
        const char *name = nn_sequences_target_name(r->set, k);
        append(r, targets, &listed, describe_column(name, &s));
        if (s.min == s.max) {
            warn(r, "constant_target", "target \"%s\" has one value in the whole train part", name);
        }
    }
    set(r, r->root, "targets", targets);
}

static void list_ignored(struct report *r)
{
    json_t *list = json_array();
    size_t listed = 0;
    for (size_t k = 0; k < r->import->n_ignored; k++) {
        append(r, list, &listed, jx_text(r->import->ignored[k], SIZE_MAX));
    }
    set(r, r->root, "ignored_columns", list);
}

/* ---------------------------------------------------------------------------------------- parts */

static json_t *describe_part(const struct report *r, enum nn_part part)
{
    const struct nn_sequences_info *info = nn_sequences_info(r->set);
    size_t shortest = SIZE_MAX;
    size_t longest = 0;
    size_t n = info->part_count[part];
    if (n == 0) {
        return json_null();
    }
    for (size_t i = 0; i < info->count; i++) {
        size_t length = nn_sequences_length(r->set, i);
        if (nn_sequences_part(r->set, i) == part) {
            shortest = length < shortest ? length : shortest;
            longest = length > longest ? length : longest;
        }
    }
    return json_pack("{s:o, s:o, s:{s:o, s:o, s:o}}", "sequences", count_of(n), "steps",
                     count_of(info->part_steps[part]), "length", "min", count_of(shortest), "max",
                     count_of(longest), "mean",
                     jx_number((double)info->part_steps[part] / (double)n));
}

static void list_parts(struct report *r)
{
    json_t *parts = json_object();
    for (int part = 0; part < NN_PART_COUNT; part++) {
        const char *name = nn_part_name((enum nn_part)part);
        set(r, parts, name, describe_part(r, (enum nn_part)part));
        if (r->import->assumed_end[part]) {
            warn(r, "assumed_run_to_failure",
                 "no file says how much life is left at the end of the %s part: its sequences are "
                 "taken for runs to failure",
                 name);
        }
    }
    set(r, r->root, "parts", parts);
}

static void list_classes(struct report *r)
{
    const struct nn_sequences_info *info = nn_sequences_info(r->set);
    json_t *list = json_array();
    size_t listed = 0;
    size_t *counts = calloc(info->class_count * NN_PART_COUNT + 1, sizeof *counts);
    if (!counts) {
        r->failed = true;
        json_decref(list);
        return;
    }
    for (size_t i = 0; i < info->count; i++) {
        counts[nn_sequences_label(r->set, i) * NN_PART_COUNT + nn_sequences_part(r->set, i)]++;
    }
    for (size_t k = 0; k < info->class_count; k++) {
        const char *name = nn_sequences_class_name(r->set, k);
        json_t *row = json_pack("{s:o}", "name", jx_text(name, SIZE_MAX));
        for (size_t p = 0; p < NN_PART_COUNT; p++) {
            set(r, row, nn_part_name((enum nn_part)p), count_of(counts[k * NN_PART_COUNT + p]));
        }
        append(r, list, &listed, row);
        if (counts[k * NN_PART_COUNT + NN_PART_TRAIN] == 0) {
            warn(r, "class_not_in_part", "class \"%.200s\" has no sequence in the train part",
                 name);
        }
    }
    free(counts);
    set(r, r->root, "classes", list);
    if (info->class_count == 1) {
        warn(r, "single_class", "there is only one class");
    }
}

/* -------------------------------------------------------------------------------------- content */

static void list_refused(struct report *r)
{
    json_t *list = json_array();
    size_t listed = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->import->n_sequences; i++) {
        const struct nn_table_sequence *s = &r->import->sequences[i];
        if (s->reason) {
            n++;
            append(r, list, &listed,
                   json_pack("{s:o, s:s, s:o}", "name", jx_text(s->name, SIZE_MAX), "reason",
                             s->reason, "text", jx_text(s->text, SIZE_MAX)));
        }
    }
    set(r, r->root, "refused", list);
    set(r, json_object_get(r->root, "counts"), "refused", count_of(n));
    if (n > 0) {
        warn(r, "refused_sequences", "%zu sequences were refused", n);
    }
}

struct content {
    const uint8_t *digest;
    size_t item;
};

static int by_digest(const void *left, const void *right)
{
    const struct content *a = left;
    const struct content *b = right;
    int order = memcmp(a->digest, b->digest, NN_DIGEST_BYTES);
    return order ? order : (a->item > b->item) - (a->item < b->item);
}

static json_t *list_group(struct report *r, const struct content *first, size_t n)
{
    json_t *items = json_array();
    size_t listed = 0;
    for (size_t i = 0; i < n && i < NAMES_PER_GROUP; i++) {
        size_t item = first[i].item;
        append(r, items, &listed,
               json_pack("{s:o, s:s}", "name",
                         jx_text(nn_sequences_item_name(r->set, item), SIZE_MAX), "part",
                         nn_part_name(nn_sequences_part(r->set, item))));
    }
    return json_pack("{s:o, s:o}", "count", count_of(n), "items", items);
}

/* As the split counts: equal ones are one, of the class of the first that trains. */
static void count_training(struct report *r, const struct content *first, size_t n)
{
    bool counted = false;
    for (size_t i = 0; i < n; i++) {
        size_t label = nn_sequences_label(r->set, first[i].item);
        if (nn_sequences_part(r->set, first[i].item) == NN_PART_TRAIN) {
            r->trains[label]++;
            r->distinct[label] += !counted;
            counted = true;
        }
    }
}

static void judge_division(struct report *r)
{
    const struct nn_sequences_info *info = nn_sequences_info(r->set);
    bool divisible = false;
    for (size_t k = 0; k < info->class_count || k == 0; k++) {
        size_t n = r->distinct[k] == 1 ? r->trains[k] : 0;
        divisible = divisible || r->distinct[k] > 1;
        if (n > 1 && info->class_count > 0) {
            warn(r, "alike", "all %zu sequences of class \"%.200s\" in the train part are the same",
                 n, nn_sequences_class_name(r->set, k));
        } else if (n > 1) {
            warn(r, "alike", "all %zu sequences of the train part are the same", n);
        }
    }
    set(r, r->root, "divisible", json_boolean(divisible));
}

/* Equal sequences; those in more than one part are listed, as evaluation would flatter. */
static void study_contents(struct report *r)
{
    size_t n = nn_sequences_info(r->set)->count;
    struct content *sorted = calloc(n, sizeof *sorted);
    json_t *across = json_array();
    size_t duplicates = 0;
    size_t groups = 0;
    size_t listed = 0;
    for (size_t i = 0; sorted && i < n; i++) {
        sorted[i] = (struct content){nn_sequences_item_digest(r->set, i), i};
    }
    if (sorted) {
        qsort(sorted, n, sizeof *sorted, by_digest);
    }
    for (size_t from = 0, end; sorted && from < n; from = end) {
        bool parts = false;
        for (end = from + 1;
             end < n && memcmp(sorted[end].digest, sorted[from].digest, NN_DIGEST_BYTES) == 0;
             end++) {
            parts = parts || nn_sequences_part(r->set, sorted[end].item) !=
                                 nn_sequences_part(r->set, sorted[from].item);
        }
        count_training(r, sorted + from, end - from);
        duplicates += end - from - 1;
        if (parts) {
            groups++;
            append(r, across, &listed, list_group(r, sorted + from, end - from));
        }
    }
    r->failed = r->failed || !sorted;
    free(sorted);
    set(r, r->root, "duplicates", across);
    set(r, json_object_get(r->root, "counts"), "duplicates", count_of(duplicates));
    if (groups > 0) {
        warn(r, "duplicates_across_parts",
             "%zu sequences occur in more than one part: evaluation will look better than it is",
             groups);
    }
}

static void fill(struct report *r)
{
    const struct nn_sequences_info *info = nn_sequences_info(r->set);
    char hex[NN_SHA256_HEX];
    nn_sha256_hex(info->digest, hex);
    set(r, r->root, "digest", json_string(hex));
    set(r, r->root, "counts",
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "files",
                  count_of(r->import->base->setup->n_files), "rows", count_of(r->import->rows_read),
                  "sequences", count_of(info->count), "steps", count_of(info->steps), "train",
                  count_of(info->part_count[NN_PART_TRAIN]), "validation",
                  count_of(info->part_count[NN_PART_VALIDATION]), "test",
                  count_of(info->part_count[NN_PART_TEST])));
    list_parts(r);
    list_inputs(r);
    list_targets(r);
    list_ignored(r);
    if (info->class_count) {
        list_classes(r);
    }
    list_refused(r);
    study_contents(r);
    judge_division(r);
    set(r, r->root, "warnings", json_incref(r->warnings));
}

json_t *nn_sequences_report(const struct nn_table_import *import,
                            const struct nn_sequences *sequences)
{
    struct report r = {.import = import, .set = sequences};
    r.root = json_object();
    r.warnings = json_array();
    r.trains = calloc(nn_sequences_info(sequences)->class_count + 1, sizeof *r.trains);
    r.distinct = calloc(nn_sequences_info(sequences)->class_count + 1, sizeof *r.distinct);
    r.failed = !r.root || !r.warnings || !r.trains || !r.distinct;
    if (!r.failed) {
        fill(&r);
    }
    free(r.trains);
    free(r.distinct);
    json_decref(r.warnings);
    if (r.failed) {
        json_decref(r.root);
        return NULL;
    }
    return r.root;
}
