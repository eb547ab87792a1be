/* SPDX-License-Identifier: MIT
 *
 * What earlier trials tell about later ones.
 */
#ifndef STORE_HISTORY_H
#define STORE_HISTORY_H

#include "server/store/store.h"

struct store_speed_query {
    const char *network; /* JSON, as it stands in resolved specs */
    const char *pace;    /* JSON object: dotted paths into resolved specs, and the values there */
    int64_t height, width, channels;
};
/* Median training speed, in samples per second and thread, of the project's latest completed trials
 * of this network and pace on samples of this size; 0 when there is none. */
SV_MUST_CHECK enum sv_status store_speed_read(struct store *store, const struct store_scope *scope,
                                              const struct store_speed_query *query,
                                              double *out_speed, struct sv_error *err);

#endif
