/* SPDX-License-Identifier: MIT
 *
 * Splits. The items of the train part with equal content form a group, which belongs to the class
 * of its first item and never parts. Within a class the groups stand in the order of a random key
 * drawn from (seed, content digest); the first ones go to test, the next to validation, the rest
 * trains; a group too large for its side is passed over.
 */
#include "core/data/split.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

struct member {
    uint32_t item;
    uint32_t label; /* of the group, once grouped */
    uint64_t key;
    const uint8_t *digest;
};

/* What is cut: images, or sequences; those of a regression are all of one class without a name. */
struct source {
    const void *set;
    size_t count;
    const char *noun;
    enum nn_part (*part)(const void *set, size_t i);
    uint32_t (*label)(const void *set, size_t i);
    const uint8_t *(*digest)(const void *set, size_t i);
    const char *(*class_name)(const void *set, size_t k); /* NULL: there are no classes */
};

struct cut {
    const struct source *source;
    const struct nn_split_options *options;
    struct nn_split *split;
    struct member *members;
    size_t n_members;
    uint8_t *side; /* of each item of the set */
    size_t warned; /* bytes of warnings so far */
    size_t room;
};

static int by_content(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;
    int order = memcmp(a->digest, b->digest, NN_DIGEST_BYTES);
    return order ? order : (a->item > b->item) - (a->item < b->item);
}

static int by_class_and_key(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;
    if (a->label != b->label) {
        return a->label < b->label ? -1 : 1;
    }
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return by_content(left, right);
}

static bool same_group(const struct member *a, const struct member *b)
{
    return memcmp(a->digest, b->digest, NN_DIGEST_BYTES) == 0;
}

/* 56 bits of the digest choose the stream, so that equal content draws equal keys. */
uint64_t nn_split_key(uint64_t seed, const uint8_t *digest)
{
    struct nn_random random;
    uint64_t index = 0;
    memcpy(&index, digest, 7);
    nn_random_init(&random, seed, NN_RANDOM_SPLIT, 0, index);
    return nn_random_u64(&random);
}

static void collect(struct cut *c)
{
    const struct source *source = c->source;
    for (size_t i = 0; i < source->count; i++) {
        enum nn_part part = source->part(source->set, i);
        c->side[i] = (uint8_t)part;
        if (part == NN_PART_TRAIN) {
            const uint8_t *digest = source->digest(source->set, i);
            c->members[c->n_members++] = (struct member){
                .item = (uint32_t)i,
                .label = source->label(source->set, i),
                .key = nn_split_key(c->options->seed, digest),
                .digest = digest,
            };
        }
    }
    qsort(c->members, c->n_members, sizeof *c->members, by_content);
    for (size_t i = 1; i < c->n_members; i++) {
        if (same_group(&c->members[i], &c->members[i - 1])) {
            c->members[i].label = c->members[i - 1].label;
        }
    }
    qsort(c->members, c->n_members, sizeof *c->members, by_class_and_key);
}

static NN_PRINTF(2, 3) bool warn(struct cut *c, const char *fmt, ...)
{
    char line[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    size_t n = strlen(line);
    if (c->warned + n + 1 > c->room) {
        size_t room = 2 * c->room + sizeof line;
        char *text = realloc(c->split->warnings, room);
        if (!text) {
            return false;
        }
        c->split->warnings = text;
        c->room = room;
    }
    memcpy(c->split->warnings + c->warned, line, n + 1);
    c->warned += n;
    return true;
}

/* How many of n items a side wants: the nearest whole number, at least one if any. */
static size_t share_of(double fraction, size_t n)
{
    double share = floor(fraction * (double)n + 0.5);
    return fraction <= 0 ? 0 : share < 1 ? 1 : (size_t)share;
}

/* End of the group that begins at `from`. */
static size_t group_end(const struct cut *c, size_t from, size_t end)
{
    size_t next = from + 1;
    while (next < end && same_group(&c->members[next], &c->members[from])) {
        next++;
    }
    return next;
}

static void move_group(struct cut *c, size_t from, size_t end, enum nn_part side)
{
    for (size_t i = from; i < end; i++) {
        c->side[c->members[i].item] = (uint8_t)side;
    }
}

/* Moves groups that still train to `side`, in order, while that brings its size nearer to `wanted`;
 * where every group is too large, the smallest one. Leaves `keep` groups. */
static void take_groups(struct cut *c, size_t begin, size_t end, size_t *groups, size_t keep,
                        size_t wanted, enum nn_part side)
{
    size_t taken = 0;
    size_t smallest = end;
    size_t smallest_size = SIZE_MAX;
    size_t next;
    for (size_t from = begin; from<end && * groups> keep && taken < wanted; from = next) {
        next = group_end(c, from, end);
        size_t size = next - from;
        if (c->side[c->members[from].item] != NN_PART_TRAIN) {
            continue;
        }
        if (taken + size <= wanted || taken + size - wanted < wanted - taken) {
            move_group(c, from, next, side);
            taken += size;
            (*groups)--;
        } else if (size < smallest_size) {
            smallest = from;
            smallest_size = size;
        }
    }
    if (taken == 0 && smallest < end) {
        move_group(c, smallest, smallest + smallest_size, side);
        (*groups)--;
    }
}

static double test_fraction(const struct nn_split_options *options)
{
    double rest = 1 - options->train - options->validation;
    return rest > 1e-9 ? rest : 0;
}

static bool warn_of_few(struct cut *c, size_t label, size_t groups)
{
    const struct source *source = c->source;
    char who[256] = "the train part";
    if (source->class_name) {
        (void)snprintf(who, sizeof who, "class \"%.200s\"", source->class_name(source->set, label));
    }
    if (groups == 1) {
        c->split->single_classes++;
        return warn(c, "%s has one distinct %s: it trains, nothing else\n", who, source->noun);
    }
    return warn(c, "%s has %zu distinct %ss: none for the test side\n", who, groups, source->noun);
}

/* One class: members [from, end). Training is served first, then validation, then test. */
static bool cut_class(struct cut *c, size_t from, size_t end)
{
    double validation = c->options->validation;
    double test = test_fraction(c->options);
    size_t validates = validation > 0 ? 1 : 0;
    size_t tests = test > 0 ? 1 : 0;
    size_t groups = 0;
    for (size_t i = from; i < end; i = group_end(c, i, end)) {
        groups++;
    }
    if (groups < 1 + validates + tests && !warn_of_few(c, c->members[from].label, groups)) {
        return false;
    }
    take_groups(c, from, end, &groups, 1 + validates, share_of(test, end - from), NN_PART_TEST);
    take_groups(c, from, end, &groups, 1, share_of(validation, end - from), NN_PART_VALIDATION);
    return true;
}

static bool cut_classes(struct cut *c)
{
    size_t from = 0;
    while (from < c->n_members) {
        size_t end = from + 1;
        while (end < c->n_members && c->members[end].label == c->members[from].label) {
            end++;
        }
        if (!cut_class(c, from, end)) {
            return false;
        }
        from = end;
    }
    return true;
}

/* Of a class all of whose contents are another one's too nothing may be left: brings the first of
 * them back. `trains` counts what trains of each class. */
static bool bring_back(struct cut *c, size_t i, size_t *trains)
{
    const struct source *source = c->source;
    uint32_t label = source->label(source->set, c->members[i].item);
    size_t begin = i, end = group_end(c, i, c->n_members);
    while (begin > 0 && same_group(&c->members[begin - 1], &c->members[i])) {
        begin--;
    }
    move_group(c, begin, end, NN_PART_TRAIN);
    for (size_t k = begin; k < end; k++) {
        trains[source->label(source->set, c->members[k].item)]++;
    }
    return !source->class_name ||
           warn(c, "class \"%.200s\" has no %s that is not another class's too: one trains\n",
                source->class_name(source->set, label), source->noun);
}

static bool leave_each_class(struct cut *c)
{
    const struct source *source = c->source;
    size_t most = 0;
    for (size_t i = 0; i < c->n_members; i++) {
        size_t label = source->label(source->set, c->members[i].item);
        most = label > most ? label : most;
    }
    size_t *trains = calloc(most + 1, sizeof *trains);
    bool ok = trains != NULL;
    for (size_t i = 0; ok && i < c->n_members; i++) {
        uint32_t item = c->members[i].item;
        trains[source->label(source->set, item)] += c->side[item] == NN_PART_TRAIN;
    }
    for (size_t i = 0; ok && i < c->n_members; i++) {
        if (trains[source->label(source->set, c->members[i].item)] == 0) {
            ok = bring_back(c, i, trains);
        }
    }
    free(trains);
    return ok;
}

static bool fill_sides(struct cut *c)
{
    size_t count = c->source->count;
    size_t counts[NN_PART_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        counts[c->side[i]]++;
    }
    for (size_t k = 0; k < NN_PART_COUNT; k++) {
        c->split->side[k].items = malloc((counts[k] + 1) * sizeof(uint32_t));
        if (!c->split->side[k].items) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct nn_split_side *side = &c->split->side[c->side[i]];
        NN_ASSERT(side->items);
        side->items[side->count++] = (uint32_t)i;
    }
    return true;
}

static enum nn_status check_options(const struct nn_split_options *o, struct nn_error *err)
{
    if (!(o->train > 0 && o->train <= 1)) {
        return nn_fail_at(err, NN_ERR_INVALID, "/train", "must be above 0 and at most 1");
    }
    if (!(o->validation >= 0 && o->validation < 1)) {
        return nn_fail_at(err, NN_ERR_INVALID, "/validation", "must be at least 0 and below 1");
    }
    if (o->train + o->validation > 1 + 1e-9) {
        return nn_fail_at(err, NN_ERR_INVALID, "/validation",
                          "train and validation add up to more than 1");
    }
    return NN_OK;
}

static enum nn_status make(const struct source *source, const struct nn_split_options *options,
                           struct nn_split **out_split, struct nn_error *err)
{
    struct cut c = {.source = source, .options = options};
    size_t count = source->count;
    enum nn_status status = check_options(options, err);
    if (status != NN_OK) {
        return status;
    }
    c.split = calloc(1, sizeof *c.split);
    c.members = calloc(count, sizeof *c.members);
    c.side = calloc(count, 1);
    bool ok = c.split && c.members && c.side && (c.split->warnings = calloc(1, 1));
    if (ok) {
        collect(&c);
        ok = cut_classes(&c) && leave_each_class(&c) && fill_sides(&c);
    }
    if (!ok) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory to split %zu items", count);
    } else if (c.split->side[NN_PART_TRAIN].count == 0) {
        status = nn_fail(err, NN_ERR_INVALID, "no item is left to train on");
    }
    free(c.members);
    free(c.side);
    if (status != NN_OK) {
        nn_split_destroy(c.split);
        return status;
    }
    *out_split = c.split;
    return NN_OK;
}

static enum nn_part image_part(const void *set, size_t i)
{
    return nn_prepared_part(set, i);
}

static uint32_t image_label(const void *set, size_t i)
{
    return nn_prepared_label(set, i);
}

static const uint8_t *image_digest(const void *set, size_t i)
{
    return nn_prepared_item_digest(set, i);
}

static const char *image_class(const void *set, size_t k)
{
    return nn_prepared_class_name(set, k);
}

enum nn_status nn_split_make(const struct nn_prepared *prepared,
                             const struct nn_split_options *options, struct nn_split **out_split,
                             struct nn_error *err)
{
    const struct source source = {.set = prepared,
                                  .count = nn_prepared_info(prepared)->count,
                                  .noun = "image",
                                  .part = image_part,
                                  .label = image_label,
                                  .digest = image_digest,
                                  .class_name = image_class};
    return make(&source, options, out_split, err);
}

static enum nn_part sequence_part(const void *set, size_t i)
{
    return nn_sequences_part(set, i);
}

static uint32_t sequence_label(const void *set, size_t i)
{
    return nn_sequences_label(set, i);
}

static const uint8_t *sequence_digest(const void *set, size_t i)
{
    return nn_sequences_item_digest(set, i);
}

static const char *sequence_class(const void *set, size_t k)
{
    return nn_sequences_class_name(set, k);
}

enum nn_status nn_split_make_sequences(const struct nn_sequences *sequences,
                                       const struct nn_split_options *options,
                                       struct nn_split **out_split, struct nn_error *err)
{
    const struct nn_sequences_info *info = nn_sequences_info(sequences);
    const struct source source = {.set = sequences,
                                  .count = info->count,
                                  .noun = "sequence",
                                  .part = sequence_part,
                                  .label = sequence_label,
                                  .digest = sequence_digest,
                                  .class_name = info->class_count ? sequence_class : NULL};
    return make(&source, options, out_split, err);
}

void nn_split_destroy(struct nn_split *split)
{
    if (!split) {
        return;
    }
    for (size_t k = 0; k < NN_PART_COUNT; k++) {
        free(split->side[k].items);
    }
    free(split->warnings);
    free(split);
}
