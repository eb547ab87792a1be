/* SPDX-License-Identifier: MIT
 *
 * What the texts of a report share.
 */
#ifndef NN_NETWORK_REPORT_INTERNAL_H
#define NN_NETWORK_REPORT_INTERNAL_H

#include <jansson.h>
#include <stdio.h>

#define NN_REPORT_SIZE_TEXT 80

/* A string member; "" when there is none. Borrowed. */
const char *nn_report_text(const json_t *object, const char *key);

/* "24x24x20 SSC": an activation and what its axes mean; "?" when it is not known. */
void nn_report_size(const json_t *row, char out[NN_REPORT_SIZE_TEXT]);

/* Closes a memory stream; its text, or NULL (and freed) if anything failed. out may be NULL. */
char *nn_report_finish(FILE *out, char **text);

#endif
