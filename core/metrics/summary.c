/* SPDX-License-Identifier: MIT
 *
 * Running summary of a metric. Values that are not finite are counted and may be last, but are
 * never the minimum or the maximum.
 */
#include "core/metrics/metrics.h"

#include <math.h>

void nn_summary_add(struct nn_summary *summary, uint64_t step, double value)
{
    bool first = summary->count == 0;
    if (first) {
        summary->min = NAN;
        summary->max = NAN;
    }
    summary->last = value;
    summary->last_step = step;
    summary->count++;
    if (nn_metric_better(NN_DIRECTION_LOWER, value, summary->min)) {
        summary->min = value;
        summary->min_step = step;
    }
    if (nn_metric_better(NN_DIRECTION_HIGHER, value, summary->max)) {
        summary->max = value;
        summary->max_step = step;
    }
}
