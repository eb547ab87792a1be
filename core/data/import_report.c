/* SPDX-License-Identifier: MIT
 *
 * What an import tells its user: classes and counts, what was refused or passed over and why,
 * pictures that occur more than once, and what looks like a mistake. Names are user text: they go
 * through jx_text.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/sha256.h"
#include "core/data/import_internal.h"

#define NAMES_PER_GROUP 10
#define DARK            32 /* of 255: all of 16-bit pictures below it have 13 bits at most */
#define IMBALANCE       4  /* times more images than the rarest class: worth a warning */
#define FOLDED_BYTES    256
#define LISTED_BYTES    ((size_t)1 << 20) /* of all lists but the classes */

struct report {
    const struct nn_import *import;
    json_t *root;
    json_t *warnings;
    size_t listed;                        /* bytes of the rows of all lists but the classes */
    size_t *counts;                       /* n_classes x NN_PART_COUNT */
    const struct nn_import_item **sorted; /* by digest, then order */
    size_t duplicates;
    size_t across; /* groups of equal pictures in more than one part */
    size_t conflicts;
    size_t *distinct; /* different pictures of a class that train */
    bool failed;      /* out of memory somewhere */
};

/* Sets a member; remembers when memory ran out. value is taken. */
static void set(struct report *r, json_t *object, const char *key, json_t *value)
{
    r->failed = json_object_set_new(object, key, value) != 0 || r->failed;
}

static void append(struct report *r, json_t *array, json_t *value)
{
    r->failed = json_array_append_new(array, value) != 0 || r->failed;
}

static json_t *text(const char *string)
{
    return jx_text(string, SIZE_MAX);
}

static json_t *count_of(size_t n)
{
    return json_integer((json_int_t)n);
}

static bool is_full(const struct report *r, const json_t *list)
{
    return json_array_size(list) >= r->import->limits.max_listed || r->listed >= LISTED_BYTES;
}

/* Appends to a list that ends early: names may be long, and a report travels in one piece. */
static void append_counted(struct report *r, json_t *list, json_t *row)
{
    r->listed += row ? json_dumpb(row, NULL, 0, JSON_COMPACT) : 0;
    append(r, list, row);
}

static NN_PRINTF(3, 4) void warn(struct report *r, const char *code, const char *fmt, ...)
{
    char line[640];
    va_list args;
    if (is_full(r, r->warnings)) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    append_counted(r, r->warnings, json_pack("{s:s, s:o}", "code", code, "text", text(line)));
}

/* What an item is called. */
static const char *item_noun(const struct report *r)
{
    return nn_import_is_signals(r->import) ? "window" : "image";
}

/* -------------------------------------------------------------------------------- classes, parts
 */

static size_t *class_counts(const struct report *r, size_t k)
{
    return r->counts + k * NN_PART_COUNT;
}

static size_t class_total(const struct report *r, size_t k)
{
    const size_t *counts = class_counts(r, k);
    return counts[NN_PART_TRAIN] + counts[NN_PART_VALIDATION] + counts[NN_PART_TEST];
}

static json_t *list_classes(struct report *r)
{
    json_t *list = json_array();
    for (size_t k = 0; k < r->import->n_classes; k++) {
        json_t *row = json_pack("{s:o}", "name", text(r->import->classes[k]));
        for (size_t p = 0; p < NN_PART_COUNT; p++) {
            set(r, row, nn_part_name((enum nn_part)p), count_of(class_counts(r, k)[p]));
        }
        append(r, list, row);
    }
    return list;
}

static void warn_of_empty_classes(struct report *r, const size_t part_counts[NN_PART_COUNT])
{
    for (size_t k = 0; k < r->import->n_classes; k++) {
        const char *name = r->import->classes[k];
        if (class_total(r, k) == 0) {
            warn(r, "empty_class", "class \"%s\" has no %s", name, item_noun(r));
            continue;
        }
        for (size_t p = 0; p < NN_PART_COUNT; p++) {
            if (part_counts[p] > 0 && class_counts(r, k)[p] == 0) {
                warn(r, "class_not_in_part", "class \"%s\" has no %s in the %s part", name,
                     item_noun(r), nn_part_name((enum nn_part)p));
            }
        }
    }
}

static void warn_of_imbalance(struct report *r)
{
    size_t most = SIZE_MAX;
    size_t least = SIZE_MAX;
    for (size_t k = 0; k < r->import->n_classes; k++) {
        size_t n = class_counts(r, k)[NN_PART_TRAIN];
        if (n == 0) {
            continue;
        }
        most = most == SIZE_MAX || n > class_counts(r, most)[NN_PART_TRAIN] ? k : most;
        least = least == SIZE_MAX || n < class_counts(r, least)[NN_PART_TRAIN] ? k : least;
    }
    if (most == SIZE_MAX) {
        return;
    }
    size_t high = class_counts(r, most)[NN_PART_TRAIN];
    size_t low = class_counts(r, least)[NN_PART_TRAIN];
    if (high >= IMBALANCE * low) {
        warn(r, "imbalance",
             "the train part is unbalanced: %zu %ss of class \"%s\", %zu of class \"%s\"", high,
             item_noun(r), r->import->classes[most], low, r->import->classes[least]);
    }
}

struct folded {
    char text[FOLDED_BYTES];
    const char *name;
};

static int by_folded(const void *left, const void *right)
{
    const struct folded *a = left;
    const struct folded *b = right;
    int order = strcmp(a->text, b->text);
    return order ? order : strcmp(a->name, b->name);
}

/* "Rose" and "rose", or one accent written in two ways: two classes to us, one to the eye. */
static void warn_of_similar_names(struct report *r)
{
    size_t n = r->import->n_classes;
    struct folded *names = calloc(n, sizeof *names);
    if (!names) {
        r->failed = true;
        return;
    }
    for (size_t k = 0; k < n; k++) {
        names[k].name = r->import->classes[k];
        nn_name_fold(names[k].name, names[k].text, sizeof names[k].text);
    }
    qsort(names, n, sizeof *names, by_folded);
    for (size_t k = 1; k < n; k++) {
        if (strcmp(names[k].text, names[k - 1].text) == 0) {
            warn(r, "similar_class_names", "classes \"%s\" and \"%s\" look alike",
                 names[k - 1].name, names[k].name);
        }
    }
    free(names);
}

/* ------------------------------------------------------------------------------------- contents */

static int by_digest(const void *left, const void *right)
{
    const struct nn_import_item *const *a = left;
    const struct nn_import_item *const *b = right;
    int order = memcmp((*a)->digest, (*b)->digest, NN_DIGEST_BYTES);
    return order ? order : (*a > *b) - (*a < *b);
}

static json_t *list_group(struct report *r, size_t from, size_t end, bool with_class)
{
    json_t *items = json_array();
    for (size_t i = from; i < end && i < from + NAMES_PER_GROUP; i++) {
        const struct nn_import_item *item = r->sorted[i];
        json_t *row =
            json_pack("{s:o, s:s}", "name", text(item->name), "part", nn_part_name(item->part));
        if (with_class) {
            set(r, row, "class", text(r->import->classes[item->label]));
        }
        append(r, items, row);
    }
    return json_pack("{s:o, s:o}", "count", count_of(end - from), "items", items);
}

/* As the split counts: equal pictures are one, of the class of the first that trains. */
static void count_distinct(struct report *r, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++) {
        if (r->sorted[i]->part == NN_PART_TRAIN) {
            r->distinct[r->sorted[i]->label]++;
            return;
        }
    }
}

static void judge_division(struct report *r, const size_t part_counts[NN_PART_COUNT])
{
    bool divisible = false;
    for (size_t k = 0; k < r->import->n_classes; k++) {
        divisible = divisible || r->distinct[k] > 1;
    }
    set(r, r->root, "divisible", json_boolean(divisible));
    for (size_t k = 0; k < r->import->n_classes; k++) {
        size_t n = class_counts(r, k)[NN_PART_TRAIN];
        if (n > 1 && r->distinct[k] == 1) {
            warn(r, "alike", "all %zu %ss of class \"%s\" in the train part are the same", n,
                 item_noun(r), r->import->classes[k]);
        }
    }
    if (part_counts[NN_PART_TRAIN] == 0) {
        warn(r, "no_train_part", "no %s trains: jobs cannot use this data set", item_noun(r));
    } else if (!divisible && part_counts[NN_PART_VALIDATION] == 0) {
        warn(r, "indivisible",
             "no class has two different %ss in the train part: none can be kept back to "
             "validate",
             item_noun(r));
    }
}

/* One group of equal pictures: is it across parts, or under two labels? */
static void judge_group(struct report *r, size_t from, size_t end, json_t *across,
                        json_t *conflicting)
{
    bool parts = false;
    bool labels = false;
    for (size_t i = from + 1; i < end; i++) {
        parts = parts || r->sorted[i]->part != r->sorted[from]->part;
        labels = labels || r->sorted[i]->label != r->sorted[from]->label;
    }
    r->duplicates += end - from - 1;
    r->across += parts;
    r->conflicts += labels;
    if (parts && !is_full(r, across)) {
        append_counted(r, across, list_group(r, from, end, false));
    }
    if (labels && !is_full(r, conflicting)) {
        append_counted(r, conflicting, list_group(r, from, end, true));
    }
}

static void study_contents(struct report *r)
{
    size_t n = r->import->n_items;
    json_t *across = json_array();
    json_t *conflicting = json_array();
    for (size_t i = 0; i < n; i++) {
        r->sorted[i] = &r->import->items[i];
    }
    qsort(r->sorted, n, sizeof(const struct nn_import_item *), by_digest);
    for (size_t from = 0, end; from < n; from = end) {
        for (end = from + 1; end < n && memcmp(r->sorted[end]->digest, r->sorted[from]->digest,
                                               NN_DIGEST_BYTES) == 0;) {
            end++;
        }
        count_distinct(r, from, end);
        if (end - from > 1) {
            judge_group(r, from, end, across, conflicting);
        }
    }
    if (r->across > 0) {
        warn(r, "duplicates_across_parts",
             "%zu %ss occur in more than one part: evaluation will look better than it is",
             r->across, item_noun(r));
    }
    if (r->conflicts > 0) {
        warn(r, "conflicting_labels", "%zu %ss stand in more than one class", r->conflicts,
             item_noun(r));
    }
    set(r, r->root, "duplicates", across);
    set(r, r->root, "conflicting_labels", conflicting);
}

/* -------------------------------------------------------------------------------------- entries */

static size_t list_rows(struct report *r, const char *key, enum nn_row_state state)
{
    json_t *list = json_array();
    size_t n = 0;
    for (size_t i = 0; i < r->import->n_rows; i++) {
        const struct nn_import_row *row = &r->import->rows[i];
        if (row->state != state) {
            continue;
        }
        n++;
        if (!is_full(r, list)) {
            json_t *object =
                json_pack("{s:o, s:s}", "name", text(row->name), "reason", row->reason);
            if (state == NN_ROW_REFUSED) {
                set(r, object, "text", text(row->text));
            }
            append_counted(r, list, object);
        }
    }
    set(r, r->root, key, list);
    return n;
}

static void set_counts(struct report *r, size_t refused, size_t ignored,
                       const size_t part_counts[NN_PART_COUNT])
{
    const struct nn_import *import = r->import;
    const struct {
        const char *name;
        size_t n;
    } rows[] = {
        {"entries", import->n_rows ? import->n_rows : import->n_items},
        {"items", import->n_items},
        {"train", part_counts[NN_PART_TRAIN]},
        {"validation", part_counts[NN_PART_VALIDATION]},
        {"test", part_counts[NN_PART_TEST]},
        {"refused", refused},
        {"ignored", ignored},
        {"resized", import->n_resized},
        {"sixteen_bit", import->n_sixteen_bit},
        {"duplicates", r->duplicates},
        {"conflicts", r->conflicts},
    };
    json_t *counts = json_object();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set(r, counts, rows[i].name, count_of(rows[i].n));
    }
    set(r, r->root, "counts", counts);
}

static json_t *describe_layout(struct report *r, const struct nn_prepared_layout *l)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"count", l->count},         {"item_bytes", l->item_bytes}, {"pixels", l->pixels},
        {"labels", l->labels},       {"parts", l->parts},           {"digests", l->digests},
        {"name_ends", l->name_ends}, {"names", l->names},           {"file_bytes", l->file_bytes},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set(r, object, rows[i].name, json_integer((json_int_t)rows[i].value));
    }
    return object;
}

static void warn_of_depth(struct report *r)
{
    const struct nn_import *import = r->import;
    if (import->n_sixteen_bit == 0) {
        return;
    }
    warn(r, "sixteen_bit", "%zu pictures have 16 bits a sample, of which the upper 8 are kept",
         import->n_sixteen_bit);
    if (import->sixteen_most < DARK) {
        warn(r, "sixteen_bit_dark",
             "none of the 16-bit pictures is brighter than %u of 255: they use a small part of "
             "the 16 bits, most of what they show is lost; scale them up to 65535 first",
             import->sixteen_most);
    }
}

/* What was done in the end; recordings are those that gave windows. */
static json_t *describe_signal(const struct nn_import *import)
{
    const struct nn_signal_options *o = &import->signal;
    size_t recordings = 0;
    for (size_t i = 0; i < import->n_rows; i++) {
        recordings += import->rows[i].state == NN_ROW_ITEM;
    }
    bool by_time = o->parts.by == NN_SIGNAL_BY_TIME;
    return json_pack("{s:I, s:I, s:I, s:I, s:s, s:o}", "window", (json_int_t)o->window, "stride",
                     (json_int_t)o->stride, "channels", (json_int_t)import->channels, "recordings",
                     (json_int_t)recordings, "parts_by", nn_signal_by_name(o->parts.by), "gap",
                     by_time ? json_integer(o->parts.gap) : json_null());
}

static void fill(struct report *r, const struct nn_prepared_layout *layout, const uint8_t *digest)
{
    const struct nn_import *import = r->import;
    size_t part_counts[NN_PART_COUNT] = {0};
    char hex[NN_SHA256_HEX];
    for (size_t i = 0; i < import->n_items; i++) {
        class_counts(r, import->items[i].label)[import->items[i].part]++;
        part_counts[import->items[i].part]++;
    }
    nn_sha256_hex(digest, hex);
    set(r, r->root, "digest", json_string(hex));
    if (nn_import_is_signals(import)) {
        set(r, r->root, "signal", describe_signal(import));
    } else {
        set(r, r->root, "image",
            json_pack("{s:I, s:I, s:I}", "height", (json_int_t)import->height, "width",
                      (json_int_t)import->width, "channels", (json_int_t)import->channels));
    }
    set(r, r->root, "classes", list_classes(r));
    size_t refused = list_rows(r, "refused", NN_ROW_REFUSED);
    size_t ignored = list_rows(r, "ignored", NN_ROW_IGNORED);
    if (refused > 0) {
        warn(r, "refused_entries", "%zu entries were refused", refused);
    }
    if (import->n_resized > 0) {
        warn(r, "resized", "%zu images were resized to %zu x %zu", import->n_resized,
             import->height, import->width);
    }
    warn_of_depth(r);
    if (import->n_classes == 1) {
        warn(r, "single_class", "there is only one class, \"%s\"", import->classes[0]);
    }
    warn_of_empty_classes(r, part_counts);
    warn_of_imbalance(r);
    warn_of_similar_names(r);
    study_contents(r);
    judge_division(r, part_counts);
    set_counts(r, refused, ignored, part_counts);
    set(r, r->root, "warnings", json_incref(r->warnings));
    set(r, r->root, "prepared", describe_layout(r, layout));
}

json_t *nn_import_report(const struct nn_import *import, const struct nn_prepared_layout *layout,
                         const uint8_t digest[NN_DIGEST_BYTES])
{
    struct report r = {.import = import};
    r.root = json_object();
    r.warnings = json_array();
    r.counts = calloc(import->n_classes * NN_PART_COUNT, sizeof *r.counts);
    r.sorted = calloc(import->n_items, sizeof(const struct nn_import_item *));
    r.distinct = calloc(import->n_classes + 1, sizeof *r.distinct);
    r.failed = !r.root || !r.warnings || !r.counts || !r.sorted || !r.distinct;
    if (!r.failed) {
        fill(&r, layout, digest);
    }
    free(r.counts);
    free(r.sorted);
    free(r.distinct);
    json_decref(r.warnings);
    if (r.failed) {
        json_decref(r.root);
        return NULL;
    }
    return r.root;
}
