/* SPDX-License-Identifier: MIT
 *
 * Questions to trained networks: a row that waits like an import (imports.h), claimed and ended
 * alike, whose answer is its report. Kept for a day.
 */
#ifndef STORE_PREDICTIONS_H
#define STORE_PREDICTIONS_H

#include "server/store/blobs.h"
#include "server/store/imports.h"

/* A project's questions that may wait at a time: bodies lie in the database until they are old. */
enum { STORE_QUESTIONS_WAITING = 256 };

struct store_posted_new {
    const char *trial_id;
    const char *media_type;
    const char *blob_id; /* of the body */
    const char *explain; /* JSON {options, class, picture}; NULL: what does the network say? */
};
/* SV_ERR_NOT_FOUND: no such trial; SV_ERR_TOO_MANY: the queue is full. */
SV_MUST_CHECK enum sv_status store_prediction_create(struct store *store,
                                                     const struct store_scope *scope,
                                                     const struct store_posted_new *posted,
                                                     const struct store_idempotency *idempotency,
                                                     struct store_created *out_created,
                                                     struct sv_error *err);

struct store_posted {
    int64_t number;
    char id[SV_ID_SIZE], trial_id[SV_ID_SIZE];
    const char *media_type;
    const char *state; /* checking, ready, refused */
    bool explains;
    const char *report;              /* JSON: the answer; of a refusal NULL or {code, pointer} */
    const char *error_text;          /* NULL unless refused */
    char output_blob_id[SV_ID_SIZE]; /* "": none */
    int64_t revision;
    char created_at[STORE_TIME_SIZE], finished_at[STORE_TIME_SIZE];
};
SV_MUST_CHECK enum sv_status store_prediction_get(struct store *store,
                                                  const struct store_scope *scope, const char *id,
                                                  struct store_memory *memory,
                                                  struct store_posted *out_prediction,
                                                  struct sv_error *err);

/* The end of the work on it; report is JSON, blob_id that of the file of an explanation, or NULL.
 */
SV_MUST_CHECK enum sv_status store_prediction_ready(struct store *store,
                                                    const struct store_import_claim *claim,
                                                    const char *report, const char *blob_id,
                                                    struct sv_error *err);

#endif
