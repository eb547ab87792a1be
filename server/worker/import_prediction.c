/* SPDX-License-Identifier: MIT
 *
 * A question to a trained network: done {report}, which is the answer; no file.
 */
#include "server/store/predictions.h"
#include "server/worker/import_internal.h"

static enum sv_status ready(struct worker_slot *slot, const char *report, struct sv_error *err)
{
    return store_prediction_ready(slot->worker->store, &slot->import.claim, report, err);
}

const struct worker_import_kind worker_import_prediction = {"prediction", NULL, ready};
