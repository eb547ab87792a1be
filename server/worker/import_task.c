/* SPDX-License-Identifier: MIT
 *
 * What a slot does for an import, whatever it imports. The child says: progress {done, total},
 * artefact {kind, path}, done {outcome "ready", report, ...}; or failed.
 */
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "server/config/config.h"
#include "server/worker/import_internal.h"

/* The longest honest silence: 16 GiB are written and hashed, then read again, at 40 MB/s. */
enum { MIB = 1 << 20, MOST_SILENT_MS = 900000 };

static const struct worker_import_kind *const KINDS[STORE_ASSETS] = {
    [STORE_DATASET] = &worker_import_dataset,
    [STORE_WEIGHTS] = &worker_import_weights,
    [STORE_PREDICTION] = &worker_import_prediction,
};

static const struct worker_import_kind *kind_of(const struct worker_slot *slot)
{
    return KINDS[slot->import.claim.asset];
}

static json_t *file_list(struct worker_slot *slot, struct sv_error *err, enum sv_status *out_st)
{
    json_t *files = json_array();
    for (size_t i = 0; i < slot->import.n_files && *out_st == SV_OK; i++) {
        const struct store_import_file *file = &slot->import.files[i];
        char path[32];
        (void)snprintf(path, sizeof path, "input-%zu", i);
        *out_st =
            worker_slot_link_blob(slot, slot->import.claim.project_id, &file->blob, path, err);
        (void)json_array_append_new(files,
                                    json_pack("{s:s, s:s}", "name", file->name, "path", path));
    }
    return files;
}

/* The setup of the import with what every child gets; files is transferred. */
static json_t *start_record_take(const struct worker_slot *slot, json_t *files,
                                 int64_t memory_bytes)
{
    json_t *start = json_loads(slot->import.setup, 0, NULL);
    bool ok = json_object_set_new(start, "files", files) == 0;
    ok = ok && json_object_set_new(start, "asset", json_string(kind_of(slot)->asset)) == 0;
    const char *isa = slot->worker->environment.instruction_set;
    ok = ok && json_object_set_new(start, "instruction_set", json_string(isa)) == 0;
    ok = ok && json_object_set_new(start, "memory_bytes", json_integer(memory_bytes)) == 0;
    if (!ok) {
        json_decref(start);
        return NULL;
    }
    return start;
}

static enum sv_status prepare(struct worker_slot *slot, json_t **out_start, struct sv_error *err)
{
    struct worker *worker = slot->worker;
    int64_t memory_bytes = worker->config->trial_memory_bytes;
    enum sv_status st = SV_OK;
    json_t *files = file_list(slot, err, &st);
    slot->most_silent_ms = MOST_SILENT_MS;
    worker_lock(worker);
    slot->process.wall_clock_ms = kind_of(slot)->wall_clock_ms;
    slot->process.memory_bytes = memory_bytes;
    /* the file it leaves is written by mapping or stream: it may be as large as its cap */
    slot->process.spawn.address_space = memory_bytes + STORE_BLOB_MAX + (int64_t)1024 * MIB;
    slot->process.spawn.file_size = STORE_BLOB_MAX;
    worker_unlock(worker);
    if (st != SV_OK) {
        json_decref(files);
        return st;
    }
    *out_start = start_record_take(slot, files, memory_bytes);
    return *out_start ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "no memory");
}

static bool take_progress(struct worker_slot *slot, const json_t *record)
{
    double done = json_number_value(json_object_get(record, "done"));
    double total = json_number_value(json_object_get(record, "total"));
    worker_lock(slot->worker);
    slot->control.progress = total > 0 && done >= 0 && done <= total ? done / total : 0;
    worker_unlock(slot->worker);
    return true;
}

static bool take_artefact(struct worker_slot *slot, const json_t *record)
{
    const char *path = json_string_value(json_object_get(record, "path"));
    const char *kind = json_string_value(json_object_get(record, "kind"));
    if (!path || !kind || strcmp(kind, kind_of(slot)->artefact) != 0 || slot->n_artefacts != 0) {
        return false;
    }
    if (!worker_slot_upload(slot, slot->import.claim.project_id, slot->directory_fd, path,
                            &slot->artefacts[0].blob)) {
        return worker_slot_lost(slot);
    }
    slot->n_artefacts = 1;
    return true;
}

static bool take(struct worker_slot *slot, const struct wire_record *record)
{
    bool taken = false;
    json_t *json = worker_record_json(record);
    if (json && record->type == WIRE_PROGRESS) {
        taken = take_progress(slot, json);
    } else if (json && record->type == WIRE_ARTEFACT) {
        taken = take_artefact(slot, json);
    } else {
        taken = json && (record->type == WIRE_HELLO || record->type == WIRE_LOG);
    }
    json_decref(json);
    return taken;
}

static void commit(struct worker_slot *slot, bool all)
{
    (void)slot;
    (void)all; /* progress goes with the heartbeat */
}

int64_t worker_record_number(const json_t *record, const char *name)
{
    return json_integer_value(json_object_get(record, name));
}

/* Input at fault: refused for good. Anything else that failed is tried again. */
static bool is_refusal(const struct worker_verdict *verdict)
{
    return verdict->outcome == WORKER_FAILED &&
           (verdict->class == WORKER_CLASS_INVALID_INPUT ||
            verdict->class == WORKER_CLASS_OUT_OF_MEMORY || verdict->class == WORKER_CLASS_TIMEOUT);
}

static enum sv_status record_refusal(struct worker_slot *slot, const struct worker_verdict *verdict,
                                     struct sv_error *err)
{
    const struct worker_import_kind *kind = kind_of(slot);
    char *report = kind->refusal ? kind->refusal(slot, verdict) : NULL;
    enum sv_status st =
        store_import_refused(slot->worker->store, &slot->import.claim, verdict->text, report, err);
    free(report);
    return st;
}

static enum sv_status record_end(struct worker_slot *slot, const struct worker_verdict *verdict,
                                 const char *report, struct sv_error *err)
{
    struct store *store = slot->worker->store;
    const struct store_import_claim *claim = &slot->import.claim;
    bool whole = slot->n_artefacts == 1 || kind_of(slot)->may_be_bare;
    if (verdict->outcome == WORKER_DONE && whole && report) {
        return kind_of(slot)->ready(slot, report, err);
    }
    bool left_off = verdict->outcome == WORKER_DONE && strcmp(slot->done_outcome, "cancelled") == 0;
    if (left_off || verdict->outcome == WORKER_GIVEN_BACK || verdict->outcome == WORKER_CANCELLED) {
        return store_import_released(store, claim, slot->given_back_ms, err);
    }
    if (is_refusal(verdict)) {
        return record_refusal(slot, verdict, err);
    }
    const char *text = verdict->text[0] ? verdict->text : "the import ended without a result";
    return store_import_crashed(store, claim, text, err);
}

static void end(struct worker_slot *slot, const struct worker_verdict *verdict)
{
    struct sv_error err = {0};
    const json_t *document = json_object_get(slot->done_record, "report");
    char *report = document ? json_dumps(document, JSON_COMPACT) : NULL;
    enum sv_status st = SV_OK;
    if (verdict->outcome != WORKER_LOST) {
        do {
            st = record_end(slot, verdict, report, &err);
        } while (worker_slot_retry(slot, st, &err));
    }
    free(report);
}

const struct worker_task worker_import_task = {"import", prepare, take, commit, end};
