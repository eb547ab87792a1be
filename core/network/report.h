/* SPDX-License-Identifier: MIT
 *
 * A report of nn_network_analyze as text.
 */
#ifndef NN_NETWORK_REPORT_H
#define NN_NETWORK_REPORT_H

#include <jansson.h>

/* The graph in Graphviz's language: a node a layer with kind, size and learnables, those with
 * errors red, with warnings amber, with learnables blue; issues of no layer below. To be freed with
 * free(); NULL when out of memory. */
char *nn_report_dot(const json_t *report);

/* A table: a line a layer, totals, issues. Likewise. */
char *nn_report_table(const json_t *report);

#endif
