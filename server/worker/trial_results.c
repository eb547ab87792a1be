/* SPDX-License-Identifier: MIT
 *
 * What a trial leaves behind: gathered while its child speaks, stored when its attempt ends, in one
 * transaction with the change of its state.
 */
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "server/worker/checkpoints_internal.h"
#include "server/worker/worker_internal.h"

/* ---------------------------------------------------------------------------------- taking */

static struct worker_part *find_part(struct worker_slot *slot, const char *name)
{
    for (size_t i = 0; name && i < WORKER_PARTS; i++) {
        struct worker_part *part = &slot->parts[i];
        if (!part->name[0]) {
            (void)snprintf(part->name, sizeof part->name, "%s", name);
        }
        if (strcmp(part->name, name) == 0) {
            return part;
        }
    }
    return NULL;
}

struct worker_part *worker_part_of(struct worker_slot *slot, uint32_t index)
{
    static const char *const parts[WORKER_PARTS] = {"train", "validation", "test"};
    return index < WORKER_PARTS ? find_part(slot, parts[index]) : NULL;
}

bool worker_results_evaluation(struct worker_slot *slot, json_t *record)
{
    struct worker_part *part = find_part(slot, json_string_value(json_object_get(record, "part")));
    if (!part || part->record) {
        return false;
    }
    part->record = json_incref(record);
    return true;
}

static bool grow_part(struct worker_part *part, size_t n)
{
    if (part->n + n <= part->capacity) {
        return true;
    }
    size_t capacity = 2 * part->capacity > part->n + n ? 2 * part->capacity : part->n + n;
    int64_t *samples = realloc(part->samples, capacity * sizeof *samples);
    part->samples = samples ? samples : part->samples;
    int32_t *truths = realloc(part->truths, capacity * sizeof *truths);
    part->truths = truths ? truths : part->truths;
    int32_t *predicted = realloc(part->predicted, capacity * sizeof *predicted);
    part->predicted = predicted ? predicted : part->predicted;
    float *probabilities = realloc(part->probabilities, capacity * sizeof *probabilities);
    part->probabilities = probabilities ? probabilities : part->probabilities;
    if (!samples || !truths || !predicted || !probabilities) {
        return false;
    }
    part->capacity = capacity;
    return true;
}

bool worker_results_predictions(struct worker_slot *slot, const struct wire_record *record)
{
    struct wire_prediction *rows = NULL;
    uint32_t index = 0;
    size_t n = 0;
    if (wire_predictions_decode(record->payload, record->size, &index, &rows, &n) != SV_OK) {
        return false;
    }
    struct worker_part *part = worker_part_of(slot, index);
    bool taken = part && grow_part(part, n);
    for (size_t i = 0; taken && i < n; i++) {
        part->samples[part->n] = rows[i].sample;
        part->truths[part->n] = (int32_t)rows[i].truth;
        part->predicted[part->n] = (int32_t)rows[i].predicted;
        part->probabilities[part->n] = rows[i].probability;
        part->n++;
    }
    free(rows);
    return taken;
}

bool worker_results_artefact(struct worker_slot *slot, const json_t *record)
{
    const char *kind = json_string_value(json_object_get(record, "kind"));
    const char *path = json_string_value(json_object_get(record, "path"));
    const char *type = json_string_value(json_object_get(record, "media_type"));
    const json_t *detail = json_object_get(record, "detail");
    if (!kind || !path || !type || slot->n_artefacts == WORKER_ARTEFACTS) {
        return false;
    }
    struct worker_artefact *artefact = &slot->artefacts[slot->n_artefacts];
    if (!worker_slot_upload(slot, slot->trial.claim.project_id, slot->directory_fd, path,
                            &artefact->blob)) {
        return worker_slot_lost(slot);
    }
    (void)snprintf(artefact->kind, sizeof artefact->kind, "%s", kind);
    (void)snprintf(artefact->media_type, sizeof artefact->media_type, "%s", type);
    artefact->detail = detail ? json_dumps(detail, JSON_COMPACT) : NULL;
    slot->n_artefacts++;
    return true;
}

/* ---------------------------------------------------------------------- in the store's form */

enum { MAX_METRICS = 32 };

/* One part's evaluation in the form the store takes; arrays are freed by evaluation_deinit. */
struct evaluation {
    struct store_evaluation_new made;
    struct store_metric_value metrics[MAX_METRICS];
    const char **classes;
    int64_t *counts;
    char *document;
};

static void evaluation_deinit(struct evaluation *evaluation)
{
    free(evaluation->classes);
    free(evaluation->counts);
    free(evaluation->document);
}

static size_t decode_metrics(const json_t *record, struct store_metric_value out[MAX_METRICS])
{
    const json_t *rows = json_object_get(record, "metrics");
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(rows) && n < MAX_METRICS; i++) {
        const json_t *row = json_array_get(rows, i);
        struct store_metric_value value = {
            .metric = json_string_value(json_object_get(row, "metric")),
            .n = json_integer_value(json_object_get(row, "n")),
        };
        value.has_interval = jx_number_get(json_object_get(row, "low"), &value.low) &&
                             jx_number_get(json_object_get(row, "high"), &value.high);
        if (value.metric && jx_number_get(json_object_get(row, "value"), &value.value)) {
            out[n++] = value;
        }
    }
    return n;
}

/* Classes and the flat matrix; false when they do not fit together. */
static bool decode_matrix(const json_t *record, struct evaluation *out)
{
    const json_t *classes = json_object_get(record, "classes");
    const json_t *counts = json_object_get(record, "counts");
    size_t n = json_array_size(classes);
    if (n == 0) {
        return true;
    }
    out->classes = calloc(n, sizeof *out->classes);
    out->counts = calloc(n * n, sizeof *out->counts);
    if (!out->classes || !out->counts || json_array_size(counts) != n * n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        out->classes[i] = json_string_value(json_array_get(classes, i));
        if (!out->classes[i]) {
            return false;
        }
    }
    for (size_t i = 0; i < n * n; i++) {
        out->counts[i] = json_integer_value(json_array_get(counts, i));
    }
    out->made.classes = out->classes;
    out->made.n_classes = n;
    out->made.counts = out->counts;
    return true;
}

static bool decode_evaluation(const struct worker_part *part, struct evaluation *out)
{
    const json_t *document = json_object_get(part->record, "document");
    out->document = document ? json_dumps(document, JSON_COMPACT) : NULL;
    out->made.part = part->name;
    out->made.sample_count = json_integer_value(json_object_get(part->record, "samples"));
    out->made.document = out->document;
    out->made.metrics = out->metrics;
    out->made.n_metrics = decode_metrics(part->record, out->metrics);
    out->made.predictions = (struct store_predictions){part->samples, part->truths, part->predicted,
                                                       part->probabilities, part->n};
    out->made.sequences = worker_sequences_stored(&part->sequences);
    return out->document && decode_matrix(part->record, out);
}

/* ------------------------------------------------------------------------------ the end */

static enum store_outcome outcome_of(struct worker_slot *slot, const struct worker_verdict *verdict)
{
    static const struct {
        const char *text;
        enum store_outcome outcome;
    } done[] = {
        {"completed", STORE_OUTCOME_COMPLETED},
        {"stopped", STORE_OUTCOME_STOPPED},
        {"cancelled", STORE_OUTCOME_CANCELLED},
    };
    switch (verdict->outcome) {
    case WORKER_CANCELLED:
        return STORE_OUTCOME_CANCELLED;
    case WORKER_GIVEN_BACK:
        return STORE_OUTCOME_RELEASED;
    case WORKER_FAILED:
    case WORKER_LOST:
        return STORE_OUTCOME_FAILED;
    case WORKER_DONE:
        break;
    }
    for (size_t i = 0; i < sizeof done / sizeof done[0]; i++) {
        if (strcmp(done[i].text, slot->done_outcome) == 0) {
            return done[i].outcome;
        }
    }
    /* paused: because a person wants it, else because this worker drains */
    worker_lock(slot->worker);
    bool wanted = slot->control.pause;
    worker_unlock(slot->worker);
    return wanted ? STORE_OUTCOME_PAUSED : STORE_OUTCOME_RELEASED;
}

static bool is_final(const char *state)
{
    return strcmp(state, "completed") == 0 || strcmp(state, "stopped") == 0 ||
           strcmp(state, "cancelled") == 0 || strcmp(state, "failed") == 0;
}

static void record_end(struct worker_slot *slot, struct store_ending *ending)
{
    struct sv_error err = {0};
    char state[16] = "";
    enum sv_status st;
    do {
        st = store_attempt_end(slot->worker->store, &slot->trial.claim, ending, state, &err);
    } while (worker_slot_retry(slot, st, &err));
    if (st != SV_OK && slot->broken) { /* results the store refuses: say so and nothing more */
        struct store_ending bare = {
            .outcome = STORE_OUTCOME_FAILED,
            .error_class = worker_class_slug(WORKER_CLASS_INTERNAL),
            .error_text = "the results could not be stored",
        };
        slot->broken = false;
        do {
            st = store_attempt_end(slot->worker->store, &slot->trial.claim, &bare, state, &err);
        } while (worker_slot_retry(slot, st, &err));
    }
    if (st == SV_OK && is_final(state)) {
        worker_checkpoints_remove(slot->worker, slot->trial.claim.trial_id);
    }
}

static void free_results(struct worker_slot *slot)
{
    for (size_t i = 0; i < WORKER_PARTS; i++) {
        json_decref(slot->parts[i].record);
        free(slot->parts[i].samples);
        free(slot->parts[i].truths);
        free(slot->parts[i].predicted);
        free(slot->parts[i].probabilities);
        worker_sequences_deinit(&slot->parts[i].sequences);
    }
    memset(slot->parts, 0, sizeof slot->parts);
    for (size_t i = 0; i < slot->n_artefacts; i++) {
        free(slot->artefacts[i].detail);
    }
    slot->n_artefacts = 0;
    worker_profile_deinit(&slot->profile);
}

static void fill_artefacts(const struct worker_slot *slot,
                           struct store_artefact_new out[WORKER_ARTEFACTS])
{
    for (size_t i = 0; i < slot->n_artefacts; i++) {
        const struct worker_artefact *from = &slot->artefacts[i];
        out[i] =
            (struct store_artefact_new){from->kind, from->media_type, from->blob.id, from->detail};
    }
}

void worker_results_end(struct worker_slot *slot, const struct worker_verdict *verdict)
{
    struct evaluation evaluations[WORKER_PARTS];
    struct store_evaluation_new made[WORKER_PARTS];
    struct store_artefact_new artefacts[WORKER_ARTEFACTS];
    struct store_ending ending = {.outcome = outcome_of(slot, verdict),
                                  .delay_ms = slot->given_back_ms,
                                  .evaluations = made,
                                  .artefacts = artefacts,
                                  .n_artefacts = slot->n_artefacts,
                                  .profile = slot->profile.record ? &slot->profile.stored : NULL};
    memset(evaluations, 0, sizeof evaluations);
    if (verdict->outcome == WORKER_FAILED) {
        ending.error_class = worker_class_slug(verdict->class);
        ending.error_text = verdict->text;
    }
    for (size_t i = 0; i < WORKER_PARTS; i++) {
        if (slot->parts[i].record && decode_evaluation(&slot->parts[i], &evaluations[i])) {
            made[ending.n_evaluations++] = evaluations[i].made;
        }
    }
    fill_artefacts(slot, artefacts);
    if (slot->started) {
        ending.last = worker_pending_commit(&slot->pending);
    } else { /* nothing was resumed, so no point may be written */
        ending.last.lines = slot->pending.lines;
        ending.last.n_lines = slot->pending.n_lines;
    }
    if (verdict->outcome != WORKER_LOST) {
        record_end(slot, &ending);
    }
    for (size_t i = 0; i < WORKER_PARTS; i++) {
        evaluation_deinit(&evaluations[i]);
    }
    free_results(slot);
}
