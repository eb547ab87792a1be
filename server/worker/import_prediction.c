/* SPDX-License-Identifier: MIT
 *
 * A question to a trained network: done {report}, which is the answer, and where an explanation was
 * asked for its file. Of a refusal the report is {code, pointer}: the code of the service's list of
 * errors.
 */
#include <stdlib.h>

#include "server/store/predictions.h"
#include "server/worker/import_internal.h"

/* A question is answered in milliseconds, and others wait behind one that is not. Said in
 * api-spec/openapi.yaml. */
enum { QUESTION_MS = 60000 };

static enum sv_status ready(struct worker_slot *slot, const char *report, struct sv_error *err)
{
    const char *blob_id = slot->n_artefacts > 0 ? slot->artefacts[0].blob.id : NULL;
    return store_prediction_ready(slot->worker->store, &slot->import.claim, report, blob_id, err);
}

/* What grew too large or took too long was killed, and said nothing itself. */
static char *refusal(const struct worker_slot *slot, const struct worker_verdict *verdict)
{
    const char *code = json_string_value(json_object_get(slot->failed_record, "code"));
    const char *pointer = json_string_value(json_object_get(slot->failed_record, "pointer"));
    enum sv_status otherwise =
        verdict->class == WORKER_CLASS_INVALID_INPUT ? SV_ERR_INVALID_FIELD : SV_ERR_TOO_LARGE;
    json_t *report = json_pack("{s:s, s:s}", "code", code ? code : sv_status_slug(otherwise),
                               "pointer", pointer ? pointer : "");
    char *text = report ? json_dumps(report, JSON_COMPACT) : NULL;
    json_decref(report);
    return text;
}

const struct worker_import_kind worker_import_prediction = {.asset = "prediction",
                                                            .artefact = "explanations",
                                                            .may_be_bare = true,
                                                            .wall_clock_ms = QUESTION_MS,
                                                            .ready = ready,
                                                            .refusal = refusal};
