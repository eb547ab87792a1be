/* SPDX-License-Identifier: MIT
 *
 * From the names in an archive to parts and classes. Labels come from whole folder names, compared
 * byte by byte; the order in the archive has no say.
 *
 * The class folder stands at some depth d: 0 at first, one deeper for each single folder that
 * everything else lies in. When all folders with pictures at depth d are named like parts and hold
 * folders themselves, d is the part and d + 1 the class.
 */
#include <stdlib.h>
#include <string.h>

#include "core/data/import_internal.h"

struct part_word {
    const char *word;
    enum nn_part part;
};

static const struct part_word PART_WORDS[] = {
    {"train", NN_PART_TRAIN},      {"training", NN_PART_TRAIN}, {"validation", NN_PART_VALIDATION},
    {"valid", NN_PART_VALIDATION}, {"val", NN_PART_VALIDATION}, {"test", NN_PART_TEST},
    {"testing", NN_PART_TEST},
};

struct layout {
    size_t class_depth;
    bool parts;
};

bool nn_import_find_part(const char *word, size_t n, enum nn_part *out_part)
{
    for (size_t i = 0; i < sizeof PART_WORDS / sizeof PART_WORDS[0]; i++) {
        if (strlen(PART_WORDS[i].word) == n && memcmp(PART_WORDS[i].word, word, n) == 0) {
            *out_part = PART_WORDS[i].part;
            return true;
        }
    }
    return false;
}

/* A picture, taken or refused: it shows where the class folders are. */
static bool is_picture(const struct nn_import_row *row)
{
    return row->state == NN_ROW_ITEM || (row->state == NN_ROW_REFUSED && row->is_picture);
}

/* ------------------------------------------------------------------------------- sorted by name */

static int by_name(const void *left, const void *right)
{
    const struct nn_import_row *const *a = left;
    const struct nn_import_row *const *b = right;
    int order = strcmp((*a)->name, (*b)->name);
    return order ? order : (*a > *b) - (*a < *b);
}

static bool is_below(const char *name, const char *folder, size_t n)
{
    return strncmp(name, folder, n) == 0 && name[n] == '/';
}

/* The first of the sorted rows that is not before folder/. */
static size_t lower_bound(struct nn_import_row *const *sorted, size_t n, const char *folder,
                          size_t length)
{
    size_t low = 0;
    size_t high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *name = sorted[middle]->name;
        int order = strncmp(name, folder, length);
        if (order < 0 || (order == 0 && (unsigned char)name[length] < '/')) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void mark_empty_folders(struct nn_import_row *const *sorted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(sorted[i]->name);
        if (sorted[i]->state != NN_ROW_FOLDER) {
            continue;
        }
        sorted[i]->is_empty = true;
        for (size_t k = lower_bound(sorted, n, sorted[i]->name, length);
             k < n && sorted[i]->is_empty && is_below(sorted[k]->name, sorted[i]->name, length);
             k++) {
            sorted[i]->is_empty =
                sorted[k]->state == NN_ROW_FOLDER || sorted[k]->state == NN_ROW_IGNORED;
        }
    }
}

/* Two entries of one name: the second would replace the first when unpacked. Which one was meant is
 * a guess, so the first stays and the others are refused. */
static enum nn_status refuse_doubles(struct nn_import *import, struct nn_import_row *const *sorted)
{
    enum nn_status status = NN_OK;
    for (size_t i = 1; i < import->n_rows && status == NN_OK; i++) {
        struct nn_import_row *row = sorted[i];
        bool same = strcmp(row->name, sorted[i - 1]->name) == 0;
        if (same && row->state == NN_ROW_ITEM && sorted[i - 1]->state != NN_ROW_IGNORED) {
            status = nn_import_refuse(import, (size_t)(row - import->rows), "duplicate_name",
                                      "an entry before it has the same name");
        }
    }
    return status;
}

enum nn_status nn_import_study_names(struct nn_import *import)
{
    size_t n = import->n_rows;
    struct nn_import_row **sorted = malloc((n + 1) * sizeof(struct nn_import_row *));
    if (!sorted) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for %zu names", n);
    }
    for (size_t i = 0; i < n; i++) {
        sorted[i] = &import->rows[i];
    }
    qsort(sorted, n, sizeof(struct nn_import_row *), by_name);
    enum nn_status status = refuse_doubles(import, sorted);
    mark_empty_folders(sorted, n);
    free(sorted);
    return status;
}

/* ------------------------------------------------------------------------------ depth of classes
 */

/* What stands at one depth. */
struct level {
    const char *top; /* the first folder seen */
    size_t top_length;
    bool many;      /* more than one folder */
    bool all_parts; /* every folder with pictures is named like a part */
    bool deep;      /* a picture lies in a folder in a folder */
    bool loose;     /* a picture lies in no folder */
};

static void see_folder(struct level *level, const char *top, size_t n)
{
    if (!level->top) {
        level->top = top;
        level->top_length = n;
    } else if (n != level->top_length || memcmp(top, level->top, n) != 0) {
        level->many = true;
    }
}

static struct level study_level(const struct nn_import *import, size_t depth)
{
    struct level level = {.all_parts = true};
    for (size_t i = 0; i < import->n_rows; i++) {
        const struct nn_import_row *row = &import->rows[i];
        bool picture = is_picture(row);
        bool folder = row->state == NN_ROW_FOLDER && row->is_empty;
        size_t folders = nn_entry_name_depth(row->name) - picture;
        size_t n;
        enum nn_part part;
        if (!picture && !folder) {
            continue;
        }
        if (folders <= depth) {
            level.loose = level.loose || picture;
            continue;
        }
        const char *top = nn_entry_name_part(row->name, depth, &n);
        see_folder(&level, top, n);
        if (picture) {
            level.deep = level.deep || folders > depth + 1;
            level.all_parts = level.all_parts && nn_import_find_part(top, n, &part);
        }
    }
    return level;
}

static struct layout find_layout(const struct nn_import *import)
{
    for (size_t depth = 0;; depth++) {
        struct level level = study_level(import, depth);
        if (level.deep && level.all_parts) {
            return (struct layout){depth + 1, true};
        }
        if (!level.top || level.many || level.loose || !level.deep) {
            return (struct layout){depth, false};
        }
    }
}

/* -------------------------------------------------------------------------------------- classes */

/* Class folder and part of a row; false when it stands above the class folders. */
static bool place_row(const struct layout *layout, const struct nn_import_row *row, bool is_folder,
                      const char **out_class, size_t *out_length, enum nn_part *out_part)
{
    size_t n;
    size_t folders = nn_entry_name_depth(row->name) - !is_folder;
    if (folders <= layout->class_depth) {
        return false;
    }
    *out_part = NN_PART_TRAIN;
    if (layout->parts) {
        const char *word = nn_entry_name_part(row->name, layout->class_depth - 1, &n);
        if (!nn_import_find_part(word, n, out_part)) {
            return false;
        }
    }
    *out_class = nn_entry_name_part(row->name, layout->class_depth, out_length);
    return true;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

enum nn_status nn_import_sort_classes(struct nn_import *import, const char **names, size_t n)
{
    size_t kept = 0;
    qsort(names, n, sizeof *names, by_text);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(names[i], names[kept - 1]) != 0) {
            names[kept++] = names[i];
        }
    }
    if (kept > import->limits.max_classes) {
        return nn_fail(import->err, NN_ERR_LIMIT, "%zu classes; at most %zu", kept,
                       import->limits.max_classes);
    }
    import->classes = nn_arena_alloc(import->arena, kept + 1, sizeof *names);
    if (!import->classes) {
        return nn_fail(import->err, NN_ERR_MEMORY, "no memory for %zu classes", kept);
    }
    memcpy(import->classes, names, kept * sizeof *names);
    import->n_classes = kept;
    return NN_OK;
}

static enum nn_status collect_classes(struct nn_import *import, const struct layout *layout)
{
    const char **names = calloc(import->n_rows + 1, sizeof *names);
    size_t n = 0;
    const char *class_name;
    size_t length;
    enum nn_part part;
    bool enough = names != NULL;
    for (size_t i = 0; i < import->n_rows && enough; i++) {
        const struct nn_import_row *row = &import->rows[i];
        bool folder = row->state == NN_ROW_FOLDER && row->is_empty;
        if ((folder || is_picture(row)) &&
            place_row(layout, row, folder, &class_name, &length, &part)) {
            names[n] = nn_import_text(import, "%.*s", (int)length, class_name);
            enough = names[n++] != NULL;
        }
    }
    enum nn_status status = enough ? nn_import_sort_classes(import, names, n)
                                   : nn_fail(import->err, NN_ERR_MEMORY, "no memory for classes");
    free(names);
    return status;
}

uint32_t nn_import_label_of(const struct nn_import *import, const char *name, size_t length)
{
    size_t low = 0;
    size_t high = import->n_classes;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(import->classes[middle], name, length);
        if (order > 0 || (order == 0 && import->classes[middle][length] != '\0')) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return (uint32_t)low;
}

enum nn_status nn_import_assign(struct nn_import *import)
{
    enum nn_status status = nn_import_study_names(import);
    if (status != NN_OK) {
        return status;
    }
    struct layout layout = find_layout(import);
    status = collect_classes(import, &layout);
    for (size_t i = 0; i < import->n_rows && status == NN_OK; i++) {
        struct nn_import_row *row = &import->rows[i];
        const char *class_name;
        size_t length;
        if (row->state != NN_ROW_ITEM) {
            continue;
        }
        if (place_row(&layout, row, false, &class_name, &length, &row->part)) {
            row->label = nn_import_label_of(import, class_name, length);
        } else {
            status = nn_import_refuse(import, i, "no_class", "it lies in no class folder");
        }
    }
    return status;
}
