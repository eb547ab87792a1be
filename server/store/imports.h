/* SPDX-License-Identifier: MIT
 *
 * Import tasks: an asset in state checking, claimed like a trial. Functions that take a claim write
 * only while it holds; otherwise SV_ERR_WRONG_STATE: stop quietly.
 */
#ifndef STORE_IMPORTS_H
#define STORE_IMPORTS_H

#include "server/store/assets.h"
#include "server/store/blobs.h"

struct store_import_claim {
    enum store_asset asset;
    char id[SV_ID_SIZE], project_id[SV_ID_SIZE], worker_id[SV_ID_SIZE];
    int64_t fence;
};
struct store_import_file {
    const char *name;
    struct store_blob blob;
};
struct store_claimed_import {
    struct store_import_claim claim;
    const char *setup; /* JSON object: what the import must know beside the files */
    int64_t attempt, max_attempts;
    struct store_import_file *files;
    size_t n_files;
};

/* Imports of assets, which may take hours, and predictions, which somebody waits for, are claimed
 * apart. */
enum store_import_queue { STORE_QUEUE_ASSETS, STORE_QUEUE_PREDICTIONS };

/* Takes the oldest that waits in the queue; *out_found is false when there is none. */
SV_MUST_CHECK enum sv_status store_import_claim(struct store *store, enum store_import_queue queue,
                                                const char *worker_id, int lease_ms,
                                                struct store_memory *memory, bool *out_found,
                                                struct store_claimed_import *out_import,
                                                struct sv_error *err);
/* Extends the lease and shows the progress (0 to 1). */
SV_MUST_CHECK enum sv_status store_import_heartbeat(struct store *store,
                                                    const struct store_import_claim *claim,
                                                    int lease_ms, double progress,
                                                    struct sv_error *err);

/* An import that came to its end: store_dataset_ready, store_weights_ready. */

/* The content is at fault: refused for good. report is JSON or NULL. */
SV_MUST_CHECK enum sv_status store_import_refused(struct store *store,
                                                  const struct store_import_claim *claim,
                                                  const char *text, const char *report,
                                                  struct sv_error *err);
/* The child crashed: waits for another attempt, or is refused with this text at the last one. */
SV_MUST_CHECK enum sv_status store_import_crashed(struct store *store,
                                                  const struct store_import_claim *claim,
                                                  const char *text, struct sv_error *err);
/* Given back on shutdown; does not count as an attempt. */
SV_MUST_CHECK enum sv_status store_import_released(struct store *store,
                                                   const struct store_import_claim *claim,
                                                   int delay_ms, struct sv_error *err);

#endif
