/* SPDX-License-Identifier: MIT
 *
 * What a slot does for a trial: inputs and start record, records of the child, commits, the end.
 *
 * Order that must hold: store_attempt_resume before the first point; every point up to a
 * checkpoint's step before or with the checkpoint; large bytes as blobs before what refers to them.
 */
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "server/base/clock.h"
#include "server/config/config.h"
#include "server/worker/checkpoints_internal.h"
#include "server/worker/worker_internal.h"

/* Points that may wait for the commit of the next second: 12 MB at most. A network of a few numbers
 * makes 200,000 a second; what makes more commits more often. */
enum { MIB = 1 << 20, MAX_POINTS_PENDING = 1 << 19 };

/* A child tells of its steps once in so long (core/training/points.c). */
enum { TELL_MS = 1000 };

/* Address space beyond the budget: OpenBLAS maps 134 MB, each thread's heap and stack reserve 136
 * MB, and the limit must never be the tight one (OpenBLAS spins for ever when it is). */
static int64_t address_space(int64_t memory_bytes, int64_t mapped_bytes, size_t threads)
{
    return memory_bytes + mapped_bytes + ((int64_t)1024 + 136 * (int64_t)(threads + 2)) * MIB;
}

/* ------------------------------------------------------------------------------- starting */

static int64_t limit_ms(const json_t *limits, const char *name)
{
    return (int64_t)(json_number_value(json_object_get(limits, name)) * 1000);
}

static void set_limits(struct worker_slot *slot, const json_t *resolved, int64_t memory_bytes)
{
    struct worker *worker = slot->worker;
    const json_t *limits = json_object_get(resolved, "limits");
    size_t threads = (size_t)json_integer_value(json_object_get(resolved, "threads"));
    int64_t no_progress_ms = limit_ms(limits, "no_progress_seconds");
    int64_t mapped = slot->trial.prepared.size + slot->trial.weights.size +
                     worker->config->blob_cache_bytes / 2; /* rows of a frozen prefix */
    slot->most_silent_ms = no_progress_ms > 0 ? no_progress_ms + TELL_MS : 0;
    worker_lock(worker);
    slot->process.wall_clock_ms = limit_ms(limits, "seconds");
    slot->process.memory_bytes = memory_bytes;
    slot->process.spawn.address_space = address_space(memory_bytes, mapped, worker->cores);
    slot->process.spawn.file_size = memory_bytes + (int64_t)1024 * MIB;
    slot->control.most_threads = threads > 0 && threads < worker->cores ? threads : worker->cores;
    worker_share_cores(worker);
    worker_unlock(worker);
}

static int64_t memory_limit(const struct worker_slot *slot, const json_t *resolved)
{
    const json_t *limits = json_object_get(resolved, "limits");
    int64_t wanted = json_integer_value(json_object_get(limits, "memory_bytes"));
    return wanted > 0 ? wanted : slot->worker->config->trial_memory_bytes;
}

/* What must be equal to go on from a checkpoint: the spec, but for epochs that were added, and the
 * data. */
static void spec_digest(const struct worker_slot *slot, char out[140])
{
    (void)snprintf(out, 140, "%.64s-%.64s", slot->trial.checkpoint_hash,
                   slot->trial.dataset_digest);
}

static json_t *start_record(struct worker_slot *slot, json_t *resolved,
                            const struct worker_resume *resume, size_t n_resume, const char *prefix)
{
    struct worker *worker = slot->worker;
    char digest[140];
    json_t *files = json_array();
    for (size_t i = 0; i < n_resume; i++) {
        (void)json_array_append_new(files, json_string(resume[i].name));
    }
    worker_lock(worker);
    size_t threads = slot->control.threads;
    size_t most = slot->control.most_threads;
    worker_unlock(worker);
    slot->sent_threads = threads;
    spec_digest(slot, digest);
    const char *weights = slot->trial.weights.id[0] ? "weights" : NULL;
    const char *initial = slot->trial.initial.id[0] ? "initial" : NULL;
    return json_pack("{s:O, s:s, s:s?, s:s?, s:s?, s:I, s:o, s:I, s:I, s:I, s:s, s:s, s:s}",
                     "trial", resolved, "prepared", "prepared", "weights", weights, "initial",
                     initial, "prefix", prefix, "prefix_bytes",
                     (json_int_t)worker_prefix_bytes(slot), "resume", files, "threads",
                     (json_int_t)threads, "most_threads", (json_int_t)most, "memory_bytes",
                     (json_int_t)memory_limit(slot, resolved), "instruction_set",
                     worker->environment.instruction_set, "core_build",
                     worker->environment.core_build, "spec_digest", digest);
}

/* What the trial reads: its data, and what it begins with. */
static enum sv_status link_inputs(struct worker_slot *slot, struct sv_error *err)
{
    const struct {
        const struct store_blob *blob;
        const char *name;
    } inputs[] = {
        {&slot->trial.prepared, "prepared"},
        {&slot->trial.weights, "weights"},
        {&slot->trial.initial, "initial"},
    };
    enum sv_status st = SV_OK;
    for (size_t i = 0; st == SV_OK && i < sizeof inputs / sizeof inputs[0]; i++) {
        if (inputs[i].blob->id[0]) {
            st = worker_slot_link_blob(slot, slot->trial.claim.project_id, inputs[i].blob,
                                       inputs[i].name, err);
        }
    }
    return st;
}

static enum sv_status prepare(struct worker_slot *slot, json_t **out_start, struct sv_error *err)
{
    struct worker_resume resume[2];
    size_t n_resume = 0;
    json_t *resolved = NULL;
    static const struct jx_limits limits = {.max_bytes = (size_t)16 << 20, .max_depth = 64};
    if (jx_parse(slot->trial.resolved, strlen(slot->trial.resolved), &limits, &resolved, NULL)) {
        return sv_fail(err, SV_ERR_INVALID_JSON, "the trial's spec cannot be read");
    }
    set_limits(slot, resolved, memory_limit(slot, resolved));
    enum sv_status st = link_inputs(slot, err);
    if (st == SV_OK) {
        st = worker_checkpoints_fetch(slot, resume, &n_resume, err);
    }
    if (st == SV_OK) {
        const char *prefix = worker_prefix_begin(slot, resolved);
        *out_start = start_record(slot, resolved, resume, n_resume, prefix);
        st = *out_start ? SV_OK : sv_fail(err, SV_ERR_INTERNAL, "no memory");
    }
    json_decref(resolved);
    return st;
}

/* -------------------------------------------------------------------------------- commits */

/* Commits what is pending, with a checkpoint if one is given. False: lost or broken. */
static bool commit_with(struct worker_slot *slot, const struct store_checkpoint *checkpoint)
{
    struct sv_error err = {0};
    struct store_commit commit = worker_pending_commit(&slot->pending);
    enum sv_status st;
    commit.checkpoint = checkpoint;
    if (!commit.progress && !commit.n_points && !commit.n_lines && !checkpoint) {
        return true;
    }
    do {
        st = store_attempt_commit(slot->worker->store, &slot->trial.claim, &commit, NULL, &err);
    } while (worker_slot_retry(slot, st, &err));
    if (st == SV_OK) {
        worker_pending_clear(&slot->pending);
    }
    return st == SV_OK;
}

static void commit(struct worker_slot *slot, bool all)
{
    (void)all;
    if (slot->started || slot->pending.n_points == 0) {
        (void)commit_with(slot, NULL);
    }
}

/* -------------------------------------------------------------------------------- records */

static bool take_started(struct worker_slot *slot, const json_t *record)
{
    struct sv_error err = {0};
    enum sv_status st;
    const struct store_resumption at = {
        .step = json_integer_value(json_object_get(record, "step")),
        .validated_step = json_integer_value(json_object_get(record, "validated_step")),
        .bits_may_differ = json_is_true(json_object_get(record, "bits_may_differ"))};
    do {
        st = store_attempt_resume(slot->worker->store, &slot->trial.claim, &at, &err);
    } while (worker_slot_retry(slot, st, &err));
    slot->started = st == SV_OK;
    worker_pending_progress(&slot->pending, record);
    log_event(slot->worker->log, SV_LOG_INFO, "trial_runs",
              LOG_TEXT("attempt", slot->directory_name), LOG_INT("after_step", at.step));
    return true;
}

static bool take_points(struct worker_slot *slot, const struct wire_record *record)
{
    struct wire_point *points = NULL;
    size_t n = 0;
    if (!slot->started || wire_points_decode(record->payload, record->size, &points, &n) != SV_OK) {
        return false;
    }
    bool taken = worker_pending_points(&slot->pending, points, n);
    free(points);
    if (taken && slot->pending.n_points >= MAX_POINTS_PENDING) {
        (void)commit_with(slot, NULL);
    }
    return taken;
}

/* The disk does not take a checkpoint: the trial goes on, and would start again from the one
 * before. Said once until one is kept again. */
static bool miss_checkpoint(struct worker_slot *slot)
{
    bool said = slot->checkpoint_missed;
    slot->checkpoint_missed = true;
    return said || worker_pending_line(&slot->pending, "warn",
                                       "a checkpoint cannot be kept on the worker's disk: the one"
                                       " before it stays");
}

/* Keeps the file on this disk, now and then and at the end in the database too, and commits it with
 * all points before it. One that the child has replaced meanwhile is passed over: newer ones
 * follow. */
static bool take_checkpoint(struct worker_slot *slot, const json_t *record)
{
    struct store_checkpoint checkpoint;
    const char *path = json_string_value(json_object_get(record, "path"));
    int64_t step = json_integer_value(json_object_get(record, "step"));
    int64_t epoch = json_integer_value(json_object_get(record, "epoch"));
    int64_t now = sv_clock_monotonic_ms();
    bool final = json_is_true(json_object_get(record, "final"));
    if (!slot->started || step < 1) {
        return false;
    }
    enum worker_kept kept = worker_checkpoint_keep(slot, path, step, epoch, &checkpoint);
    if (kept == WORKER_NOT_A_FILE) {
        return !final && worker_checkpoint_is_gone(slot, path);
    }
    if (kept == WORKER_NOT_KEPT) {
        return miss_checkpoint(slot);
    }
    slot->checkpoint_missed = false;
    bool due =
        now - slot->stored_checkpoint_ms >= slot->worker->config->checkpoint_store_seconds * 1000;
    bool store = final || due;
    if (store && checkpoint.size <= STORE_BLOB_MAX) {
        struct store_blob blob;
        if (!worker_checkpoint_upload(slot, step, &blob)) {
            return worker_slot_lost(slot);
        }
        memcpy(checkpoint.blob_id, blob.id, sizeof checkpoint.blob_id);
        slot->stored_checkpoint_ms = sv_clock_monotonic_ms();
    }
    return commit_with(slot, &checkpoint) || worker_slot_lost(slot);
}

/* OpenBLAS takes processors it does not know for a Prescott and is then several times slower. */
static void take_hello(struct worker_slot *slot, const json_t *record)
{
    const char *core = json_string_value(json_object_get(record, "blas_core"));
    const char *isa = json_string_value(json_object_get(record, "instruction_set"));
    bool slow = core && isa && strcasecmp(core, "prescott") == 0 && strcmp(isa, "plain") != 0;
    log_event(slot->worker->log, slow ? SV_LOG_WARN : SV_LOG_INFO,
              slow ? "blas_core_is_prescott" : "child_ready",
              LOG_TEXT("attempt", slot->directory_name), LOG_TEXT("blas_core", core),
              LOG_TEXT("instruction_set", isa));
}

static bool take_json(struct worker_slot *slot, unsigned type, json_t *record)
{
    const char *level = json_string_value(json_object_get(record, "level"));
    const char *text = json_string_value(json_object_get(record, "text"));
    switch (type) {
    case WIRE_HELLO:
        take_hello(slot, record);
        return true;
    case WIRE_STARTED:
        return take_started(slot, record);
    case WIRE_PROGRESS:
        worker_pending_progress(&slot->pending, record);
        return true;
    case WIRE_CHECKPOINT:
        return take_checkpoint(slot, record);
    case WIRE_ARTEFACT:
        return worker_results_artefact(slot, record);
    case WIRE_EVALUATION:
        return worker_results_evaluation(slot, record);
    case WIRE_PROFILE:
        return worker_profile_take(&slot->profile, record);
    case WIRE_PREFIX:
        return worker_prefix_take(slot, record);
    case WIRE_LOG:
        return level && text && worker_pending_line(&slot->pending, level, text);
    default:
        return false;
    }
}

static bool take(struct worker_slot *slot, const struct wire_record *record)
{
    if (record->type == WIRE_POINTS) {
        return take_points(slot, record);
    }
    if (record->type == WIRE_PREDICTIONS) {
        return worker_results_predictions(slot, record);
    }
    if (record->type == WIRE_SEQUENCE) {
        return worker_sequences_take(slot, record);
    }
    json_t *json = worker_record_json(record);
    bool taken = json && take_json(slot, record->type, json);
    json_decref(json);
    return taken;
}

static void end(struct worker_slot *slot, const struct worker_verdict *verdict)
{
    worker_prefix_end(slot); /* first: the database may keep us waiting */
    worker_results_end(slot, verdict);
}

const struct worker_task worker_trial_task = {"trial", prepare, take, commit, end};
