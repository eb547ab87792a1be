/* SPDX-License-Identifier: MIT
 *
 * What a child has said and the database does not have yet.
 */
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "server/worker/worker_internal.h"

/* The metrics of a trial are few; a child that names more is not sound. */
enum { MAX_NAMES = 255 };

static const char *intern(struct worker_pending *pending, const char *name)
{
    for (size_t i = 0; i < pending->n_names; i++) {
        if (strcmp(pending->names[i], name) == 0) {
            return pending->names[i];
        }
    }
    if (pending->n_names == MAX_NAMES) {
        return NULL;
    }
    if (!pending->names) {
        pending->names = calloc(MAX_NAMES, sizeof *pending->names);
    }
    char *copy = pending->names ? strdup(name) : NULL;
    if (copy) {
        pending->names[pending->n_names++] = copy;
    }
    return copy;
}

/* Room for n more items; the array may move. */
static bool grow(void *array_pointer, size_t *capacity, size_t used, size_t n, size_t item)
{
    void *array;
    memcpy(&array, array_pointer, sizeof array);
    if (used + n <= *capacity) {
        return true;
    }
    size_t wanted = *capacity ? 2 * *capacity : 256;
    wanted = wanted < used + n ? used + n : wanted;
    void *bigger = realloc(array, wanted * item);
    if (!bigger) {
        return false;
    }
    memcpy(array_pointer, &bigger, sizeof bigger);
    *capacity = wanted;
    return true;
}

bool worker_pending_points(struct worker_pending *pending, const struct wire_point *points,
                           size_t n)
{
    if (!grow(&pending->points, &pending->points_capacity, pending->n_points, n,
              sizeof *pending->points)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const char *name = intern(pending, points[i].metric);
        if (!name) {
            return false;
        }
        pending->points[pending->n_points++] =
            (struct store_point){name, points[i].step, points[i].value};
        if (points[i].step > pending->progress.step) { /* a point is progress too */
            pending->progress.step = points[i].step;
            pending->has_progress = true;
        }
    }
    return true;
}

bool worker_pending_line(struct worker_pending *pending, const char *level, const char *text)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    const char *known = "info";
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        known = strcmp(levels[i], level) == 0 ? levels[i] : known;
    }
    if (!grow(&pending->lines, &pending->lines_capacity, pending->n_lines, 1,
              sizeof *pending->lines)) {
        return false;
    }
    char *copy = strdup(text);
    if (!copy) {
        return false;
    }
    pending->lines[pending->n_lines++] = (struct store_log_line){known, copy};
    return true;
}

static void take_number(const json_t *record, const char *name, int64_t *value)
{
    const json_t *number = json_object_get(record, name);
    if (json_is_integer(number)) {
        *value = json_integer_value(number);
    }
}

void worker_pending_progress(struct worker_pending *pending, const json_t *record)
{
    const char *phase = json_string_value(json_object_get(record, "phase"));
    take_number(record, "step", &pending->progress.step);
    take_number(record, "total_steps", &pending->progress.total_steps);
    take_number(record, "epoch", &pending->progress.epoch);
    if (phase) {
        (void)snprintf(pending->phase, sizeof pending->phase, "%s", phase);
    }
    pending->has_progress = true;
}

struct store_commit worker_pending_commit(struct worker_pending *pending)
{
    pending->progress.phase = pending->phase;
    return (struct store_commit){
        .progress = pending->has_progress ? &pending->progress : NULL,
        .points = pending->points,
        .n_points = pending->n_points,
        .lines = pending->lines,
        .n_lines = pending->n_lines,
    };
}

void worker_pending_clear(struct worker_pending *pending)
{
    for (size_t i = 0; i < pending->n_lines; i++) {
        free((void *)(uintptr_t)pending->lines[i].text);
    }
    pending->n_points = pending->n_lines = 0;
    pending->has_progress = false;
}

void worker_pending_deinit(struct worker_pending *pending)
{
    worker_pending_clear(pending);
    for (size_t i = 0; i < pending->n_names; i++) {
        free(pending->names[i]);
    }
    free(pending->names);
    free(pending->points);
    free(pending->lines);
    *pending = (struct worker_pending){0};
}
