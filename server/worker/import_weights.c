/* SPDX-License-Identifier: MIT
 *
 * The import of weights: done {report, format, tensors, element_count}.
 */
#include <stdlib.h>

#include "server/store/weights.h"
#include "server/worker/import_internal.h"

static enum sv_status ready(struct worker_slot *slot, const char *report, struct sv_error *err)
{
    const json_t *record = slot->done_record;
    const json_t *list = json_object_get(record, "tensors");
    char *tensors = json_is_array(list) ? json_dumps(list, JSON_COMPACT) : NULL;
    struct store_weights_ready result = {
        .report = report,
        .tensors = tensors,
        .format = json_string_value(json_object_get(record, "format")),
        .content = &slot->artefacts[0].blob,
        .tensor_count = (int64_t)json_array_size(list),
        .element_count = worker_record_number(record, "element_count"),
    };
    enum sv_status st =
        tensors && result.format
            ? store_weights_ready(slot->worker->store, &slot->import.claim, &result, err)
            : sv_fail(err, SV_ERR_INTERNAL, "the import's result is incomplete");
    free(tensors);
    return st;
}

const struct worker_import_kind worker_import_weights = {
    .asset = "weights", .artefact = "weights", .ready = ready};
