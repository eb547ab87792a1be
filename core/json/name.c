/* SPDX-License-Identifier: MIT
 *
 * Rows of tables by name, and the nearest name to a misspelt one.
 */
#include "core/json/json.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 48, RANKS = 2 * (NAME_MAX_LENGTH + 1) };

const struct jx_field *jx_field_find(const struct jx_field *fields, const char *name)
{
    for (; fields->name; fields++) {
        if (strcmp(fields->name, name) == 0) {
            return fields;
        }
    }
    return NULL;
}

const struct jx_choice *jx_choice_find(const struct jx_choice *choices, const char *name)
{
    for (; choices->name; choices++) {
        if (strcmp(choices->name, name) == 0) {
            return choices;
        }
    }
    return NULL;
}

const char *jx_choice_name(const struct jx_choice *choices, int value)
{
    for (; choices->name; choices++) {
        if (choices->value == value) {
            return choices->name;
        }
    }
    return NULL;
}

/* Letters and digits alone, in lower case, so that learnRate, learn-rate and learn_rate are one
 * word. False if nothing is left or too much. */
static bool simplify(const char *name, char out[NAME_MAX_LENGTH + 1])
{
    size_t n = 0;
    for (; *name; name++) {
        if (isalnum((unsigned char)*name)) {
            if (n == NAME_MAX_LENGTH) {
                return false;
            }
            out[n++] = (char)tolower((unsigned char)*name);
        }
    }
    out[n] = '\0';
    return n > 0;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits from a to b: insert, delete, replace, swap of neighbours (optimal string alignment). */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][NAME_MAX_LENGTH + 1];
    size_t n = strlen(b);
    for (size_t j = 0; j <= n; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *now = rows[i % 3];
        const size_t *last = rows[(i + 2) % 3];
        const size_t *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
            now[j] = least(least(last[j] + 1, now[j - 1] + 1), last[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = least(now[j], before[j - 2] + 1);
            }
        }
    }
    return rows[strlen(a) % 3][n];
}

/* How far apart two names are: 0 the same but for case and dashes; SIZE_MAX nothing in common. A
 * name that is part of another is two edits away; of several such, the one that begins so is
 * nearest, then the shorter one. */
static size_t score(const char *wanted, const char *row_name)
{
    char row[NAME_MAX_LENGTH + 1];
    if (!simplify(row_name, row)) {
        return SIZE_MAX;
    }
    size_t longer = strlen(wanted) > strlen(row) ? strlen(wanted) : strlen(row);
    size_t edits = distance(wanted, row);
    size_t shorter = least(strlen(wanted), strlen(row));
    bool part = shorter >= 4 && (strstr(wanted, row) != NULL || strstr(row, wanted) != NULL);
    if (part) {
        bool begins = strncmp(wanted, row, shorter) == 0;
        return least(edits, 2) * RANKS + (begins ? 0 : RANKS / 2) + longer - shorter;
    }
    return edits <= (longer < 3 ? 1 : longer / 3) ? edits * RANKS : SIZE_MAX;
}

const char *jx_nearest(const char *name, const void *rows, size_t stride)
{
    char wanted[NAME_MAX_LENGTH + 1];
    const char *best = NULL;
    size_t best_score = SIZE_MAX;
    if (!simplify(name, wanted)) {
        return NULL;
    }
    for (const char *row = rows;; row += stride) {
        const char *row_name;
        memcpy(&row_name, row, sizeof row_name);
        if (!row_name) {
            return best;
        }
        size_t s = score(wanted, row_name);
        if (s < best_score) {
            best_score = s;
            best = row_name;
        }
    }
}
