/* SPDX-License-Identifier: MIT
 *
 * Thinning of a curve, point by point as they come.
 *
 * n points to m < n: the first and the last are kept; if m is odd also the second; the rest is cut
 * into (m - 2) / 2 runs of equal length, each of which gives its smallest and largest finite point
 * (or, when they coincide or there is none, its first ones) in order of step. So the extremes of
 * the whole are always among them, and exactly m points come back.
 */
#include "server/store/thin_internal.h"

#include <math.h>
#include <string.h>

bool store_thin_begin(struct store_thinner *t, struct store_series *series,
                      struct store_memory *memory, const char *metric, int64_t total,
                      size_t max_points)
{
    bool thin = max_points > 0 && total > (int64_t)max_points;
    size_t capacity = thin ? max_points : (size_t)total;
    *series = (struct store_series){
        .metric = store_memory_copy(memory, metric, strlen(metric)),
        .steps = store_memory_array(memory, capacity, sizeof *series->steps),
        .values = store_memory_array(memory, capacity, sizeof *series->values),
        .total = total};
    *t = (struct store_thinner){.series = series, .capacity = capacity, .total = total, .run = -1};
    if (thin) {
        t->head = max_points % 2 == 0 ? 1 : 2;
        t->runs = (max_points - 1 - t->head) / 2;
    }
    return !memory->failed;
}

static void put_point(struct store_thinner *t, struct store_thin_point point)
{
    if (t->series->n < t->capacity) {
        t->series->steps[t->series->n] = point.step;
        t->series->values[t->series->n] = point.value;
        t->series->n++;
    }
}

void store_thin_end(struct store_thinner *t)
{
    if (t->run < 0 || !t->series) {
        return;
    }
    struct store_thin_point a = t->first[0];
    struct store_thin_point b = t->first[1];
    if (t->has_extremes && t->low.step != t->high.step) {
        a = t->low;
        b = t->high;
    } else if (t->has_extremes && t->low.step != a.step) {
        b = t->low;
    }
    bool swapped = a.step > b.step;
    put_point(t, swapped ? b : a);
    put_point(t, swapped ? a : b);
    t->filled = 0;
    t->has_extremes = false;
}

static void add_to_run(struct store_thinner *t, struct store_thin_point point)
{
    if (t->filled < 2) {
        t->first[t->filled++] = point;
    }
    if (!isfinite(point.value)) {
        return;
    }
    if (!t->has_extremes || point.value < t->low.value) {
        t->low = point;
    }
    if (!t->has_extremes || point.value > t->high.value) {
        t->high = point;
    }
    t->has_extremes = true;
}

void store_thin_add(struct store_thinner *t, struct store_thin_point point)
{
    int64_t i = t->seen++;
    bool inside = t->head > 0 && i >= (int64_t)t->head && i < t->total - 1;
    if (!inside) {
        store_thin_end(t);
        t->run = -1;
        put_point(t, point);
        return;
    }
    int64_t inner = t->total - 1 - (int64_t)t->head; /* times runs it stays far below 2^63 */
    int64_t run = (i - (int64_t)t->head) * (int64_t)t->runs / inner;
    if (run != t->run) {
        store_thin_end(t);
        t->run = run;
    }
    add_to_run(t, point);
}
