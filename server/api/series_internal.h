/* SPDX-License-Identifier: MIT
 *
 * Metric summaries as JSON, for a trial's page and its curves.
 */
#ifndef API_SERIES_INTERNAL_H
#define API_SERIES_INTERNAL_H

#include "server/api/answer_internal.h"
#include "server/store/points.h"

/* {metric: {last, last_step, min, min_step, max, max_step, count, unit, direction}}; NULL when out
 * of memory. */
json_t *api_summaries_encode(const struct store_summary_list *list);

#endif
