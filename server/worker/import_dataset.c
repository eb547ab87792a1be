/* SPDX-License-Identifier: MIT
 *
 * The import of a data set: done {report, digest, height, width, channels, class_count, train,
 * validation, test}.
 */
#include "server/store/datasets.h"
#include "server/worker/import_internal.h"

static enum sv_status ready(struct worker_slot *slot, const char *report, struct sv_error *err)
{
    const json_t *record = slot->done_record;
    const char *digest = json_string_value(json_object_get(record, "digest"));
    struct store_dataset_ready result = {
        .report = report,
        .prepared_blob_id = slot->artefacts[0].blob.id,
        .height = worker_record_number(record, "height"),
        .width = worker_record_number(record, "width"),
        .channels = worker_record_number(record, "channels"),
        .class_count = worker_record_number(record, "class_count"),
        .train_count = worker_record_number(record, "train"),
        .validation_count = worker_record_number(record, "validation"),
        .test_count = worker_record_number(record, "test"),
    };
    (void)snprintf(result.digest, sizeof result.digest, "%s", digest ? digest : "");
    return store_dataset_ready(slot->worker->store, &slot->import.claim, &result, err);
}

const struct worker_import_kind worker_import_dataset = {
    .asset = "dataset", .artefact = "prepared", .ready = ready};
