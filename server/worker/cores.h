/* SPDX-License-Identifier: MIT
 *
 * Core tokens: how a worker's cores are shared by its running trials.
 */
#ifndef WORKER_CORES_H
#define WORKER_CORES_H

#include <stddef.h>

/* Shares `cores` among n trials in order; each takes at least one and at most its limit
 * (limits[i] >= 1), what is left goes round from the first on. Bits do not depend on the outcome.
 * n may exceed cores only by trials that are about to end; each still gets one. */
void worker_cores_share(size_t cores, const size_t *limits, size_t n, size_t *out_shares);

#endif
