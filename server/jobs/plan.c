/* SPDX-License-Identifier: MIT
 *
 * The plan as an object: its end, its JSON, and the fields of a job that may be edited later.
 */
#include <stdlib.h>

#include "server/jobs/making_internal.h"

void jobs_trial_clear(struct jobs_trial *trial)
{
    json_decref(trial->parameters);
    json_decref(trial->resolved);
    free(trial->refusal);
}

void jobs_plan_destroy(struct jobs_plan *plan)
{
    if (!plan) {
        return;
    }
    for (size_t i = 0; i < plan->trial_count; i++) {
        jobs_trial_clear(&plan->trials[i]);
    }
    free(plan->trials);
    for (size_t i = 0; i < plan->start_count; i++) {
        free(plan->starts[i].network);
    }
    free(plan->starts);
    free(plan->name);
    free(plan->experiment);
    free(plan->notes);
    json_decref(plan->labels);
    json_decref(plan->resolved);
    json_decref(plan->warnings);
    free(plan);
}

static json_t *encode_trials(const struct jobs_plan *plan)
{
    json_t *out = json_array();
    for (size_t i = 0; out && i < plan->trial_count; i++) {
        const struct jobs_trial *trial = &plan->trials[i];
        json_t *row = json_pack("{s:I, s:O, s:I, s:s?}", "index", (json_int_t)trial->index,
                                "parameters", trial->parameters, "seed", (json_int_t)trial->seed,
                                "hash", trial->resolved ? trial->hash : NULL);
        if (json_array_append_new(out, row) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

json_t *jobs_plan_encode(const struct jobs_plan *plan)
{
    const struct jobs_estimate *estimate = &plan->estimate;
    return json_pack("{s:b, s:s, s:s, s:O, s:s, s:I, s:o, s:{s:o, s:s, s:I, s:o}, s:O}", "dry_run",
                     1, "kind", plan->kind, "headline_metric", plan->headline_metric, "resolved",
                     plan->resolved, "hash", plan->hash, "trial_count",
                     (json_int_t)plan->trial_count, "trials", encode_trials(plan), "estimate",
                     "seconds", jx_number(estimate->seconds), "basis", estimate->basis,
                     "memory_bytes", (json_int_t)estimate->memory_bytes, "multiply_adds",
                     jx_number(estimate->multiply_adds), "warnings", plan->warnings);
}

static const struct jx_field LABEL_ITEM = {
    .name = "label", .type = JX_STRING, .min = 1, .max = JOBS_LABEL_MAX};

#define EDIT(member) offsetof(struct jobs_edit, member)
static const struct jx_field EDIT_FIELDS[] = {
    {.name = "name",
     .type = JX_STRING,
     .offset = EDIT(name),
     .max = JOBS_NAME_MAX,
     .doc = "title for people"},
    {.name = "notes",
     .type = JX_STRING,
     .offset = EDIT(notes),
     .max = JOBS_NOTES_MAX,
     .doc = "remarks"},
    {.name = "labels",
     .type = JX_ARRAY,
     .offset = EDIT(labels),
     .items = &LABEL_ITEM,
     .max_items = JOBS_LABELS_MAX,
     .doc = "words to filter by"},
    JX_END,
};

json_t *jobs_edit_schema(void)
{
    return jx_schema(EDIT_FIELDS);
}

enum sv_status jobs_edit_decode(const json_t *body, struct jobs_edit *out_edit,
                                struct sv_error *err)
{
    struct jobs_edit edit = {0};
    enum sv_status st = jobs_decode(EDIT_FIELDS, body, &edit, err);
    if (st == SV_OK && edit.name) {
        st = jobs_line_check(edit.name, "/name", err);
    }
    if (st == SV_OK && edit.labels) {
        st = jobs_labels_check(edit.labels, err);
    }
    if (st == SV_OK && json_object_size(body) == 0) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, "", "the body names nothing to change");
    }
    if (st == SV_OK) {
        *out_edit = edit;
    }
    return st;
}
