/* SPDX-License-Identifier: MIT
 *
 * The sets of curves that are kept: a short list, since a person watches few trials at a time.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/curves_internal.h"

enum { SETS_MAX = 256, POINT_BYTES = sizeof(int64_t) + sizeof(double), CURVE_SHARE = 8 };

struct store_curves {
    pthread_mutex_t mutex;
    struct store_curve_set *sets;
    size_t n, bytes, max_bytes;
    uint64_t clock;
};

struct store_curves *store_curves_create(size_t max_bytes)
{
    struct store_curves *curves = max_bytes > 0 ? calloc(1, sizeof *curves) : NULL;
    if (curves) {
        curves->max_bytes = max_bytes;
        (void)pthread_mutex_init(&curves->mutex, NULL);
    }
    return curves;
}

size_t store_curves_points_max(const struct store_curves *curves)
{
    return curves->max_bytes / CURVE_SHARE / POINT_BYTES;
}

void store_curve_set_clear(struct store_curve_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        free(set->curves[i].metric);
        free(set->curves[i].steps);
        free(set->curves[i].values);
    }
    free(set->curves);
    set->curves = NULL;
    set->n = 0;
}

static void set_free(struct store_curve_set *set)
{
    store_curve_set_clear(set);
    (void)pthread_mutex_destroy(&set->mutex);
    free(set);
}

void store_curves_destroy(struct store_curves *curves)
{
    if (!curves) {
        return;
    }
    while (curves->sets) {
        struct store_curve_set *set = curves->sets;
        curves->sets = set->next;
        set_free(set);
    }
    (void)pthread_mutex_destroy(&curves->mutex);
    free(curves);
}

/* ---- the list, under its mutex ---- */

static struct store_curve_set *set_find(struct store_curves *curves, const char *trial_id)
{
    struct store_curve_set *set = curves->sets;
    while (set && strcmp(set->trial_id, trial_id) != 0) {
        set = set->next;
    }
    return set;
}

static struct store_curve_set *set_add(struct store_curves *curves, const char *trial_id)
{
    struct store_curve_set *set = calloc(1, sizeof *set);
    if (set) {
        (void)pthread_mutex_init(&set->mutex, NULL);
        memcpy(set->trial_id, trial_id, sizeof set->trial_id);
        set->next = curves->sets;
        curves->sets = set;
        curves->n++;
    }
    return set;
}

/* The link to the set that nobody reads and that was used longest ago; NULL: all are read. */
static struct store_curve_set **oldest(struct store_curves *curves)
{
    struct store_curve_set **found = NULL;
    for (struct store_curve_set **link = &curves->sets; *link; link = &(*link)->next) {
        if ((*link)->readers == 0 && (!found || (*link)->used < (*found)->used)) {
            found = link;
        }
    }
    return found;
}

static void shrink(struct store_curves *curves)
{
    while (curves->bytes > curves->max_bytes || curves->n > SETS_MAX) {
        struct store_curve_set **link = oldest(curves);
        if (!link) {
            return;
        }
        struct store_curve_set *set = *link;
        *link = set->next;
        curves->n--;
        curves->bytes -= set->bytes;
        set_free(set);
    }
}

struct store_curve_set *store_curves_lock(struct store_curves *curves, const char *trial_id)
{
    (void)pthread_mutex_lock(&curves->mutex);
    struct store_curve_set *set = set_find(curves, trial_id);
    set = set ? set : set_add(curves, trial_id);
    if (set) {
        set->readers++;
        set->used = ++curves->clock;
    }
    (void)pthread_mutex_unlock(&curves->mutex);
    if (set) {
        (void)pthread_mutex_lock(&set->mutex);
    }
    return set;
}

static size_t set_bytes(const struct store_curve_set *set)
{
    size_t bytes = sizeof *set;
    for (size_t i = 0; i < set->n; i++) {
        bytes += sizeof set->curves[i] + set->curves[i].capacity * POINT_BYTES;
    }
    return bytes;
}

void store_curves_unlock(struct store_curves *curves, struct store_curve_set *set)
{
    size_t bytes = set_bytes(set);
    (void)pthread_mutex_unlock(&set->mutex);
    (void)pthread_mutex_lock(&curves->mutex);
    curves->bytes += bytes - set->bytes;
    set->bytes = bytes;
    set->readers--;
    shrink(curves);
    (void)pthread_mutex_unlock(&curves->mutex);
}

/* ---- one set, under its own ---- */

struct store_curve *store_curve_get(struct store_curve_set *set, const char *metric)
{
    for (size_t i = 0; i < set->n; i++) {
        if (strcmp(set->curves[i].metric, metric) == 0) {
            return &set->curves[i];
        }
    }
    char *name = strdup(metric);
    struct store_curve *curves = name ? realloc(set->curves, (set->n + 1) * sizeof *curves) : NULL;
    if (!curves) {
        free(name);
        return NULL;
    }
    set->curves = curves;
    curves[set->n] = (struct store_curve){.metric = name};
    return &curves[set->n++];
}

bool store_curve_append(struct store_curve *curve, int64_t step, double value)
{
    if (curve->n == curve->capacity) {
        size_t capacity = curve->capacity ? curve->capacity * 2 : 256;
        int64_t *steps = realloc(curve->steps, capacity * sizeof *steps);
        curve->steps = steps ? steps : curve->steps;
        double *values = steps ? realloc(curve->values, capacity * sizeof *values) : NULL;
        if (!values) {
            return false;
        }
        curve->values = values;
        curve->capacity = capacity;
    }
    curve->steps[curve->n] = step;
    curve->values[curve->n++] = value;
    return true;
}
