/* SPDX-License-Identifier: MIT
 *
 * From a stream of points to the curve that is handed out (thin.c).
 */
#ifndef STORE_THIN_INTERNAL_H
#define STORE_THIN_INTERNAL_H

#include "server/store/points.h"
#include "server/store/sql_internal.h"

struct store_thin_point {
    int64_t step;
    double value;
};

/* One series on its way out. */
struct store_thinner {
    struct store_series *series;
    size_t capacity; /* points of the arrays */
    int64_t total;
    int64_t seen;  /* points so far */
    size_t head;   /* points kept at the beginning: 1 or 2; 0: all are kept */
    size_t runs;   /* between head and last */
    int64_t run;   /* that is open, -1: none */
    size_t filled; /* points of the open run, up to 2 in first */
    struct store_thin_point first[2];
    struct store_thin_point low, high;
    bool has_extremes;
};

/* A zeroed thinner with run -1 may be ended at once. */
#define STORE_THINNER_IDLE ((struct store_thinner){.run = -1})

/* Makes room in `memory` for a curve of `total` points, max_points of them to be kept (0: all).
 * False when there is no memory. */
bool store_thin_begin(struct store_thinner *t, struct store_series *series,
                      struct store_memory *memory, const char *metric, int64_t total,
                      size_t max_points);
void store_thin_add(struct store_thinner *t, struct store_thin_point point);
/* After the last point; may be called more than once. */
void store_thin_end(struct store_thinner *t);

#endif
