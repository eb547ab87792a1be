/* SPDX-License-Identifier: MIT
 *
 * Trials that go on with more epochs: read, so that jobs can say what each becomes, and moved back
 * into the queue in one transaction, where each is still as it was read.
 *
 * Points, summaries, checkpoints, evaluations and artefacts stay. The next attempt goes on from the
 * last checkpoint; what it leaves at its end replaces evaluations and artefacts.
 */
#ifndef STORE_EXTEND_H
#define STORE_EXTEND_H

#include "server/store/store.h"
#include "server/store/verbs.h"

/* A trial as it stands. */
struct store_extendable {
    char id[SV_ID_SIZE], job_id[SV_ID_SIZE];
    int64_t fence;
    const char *state;
    int64_t step, total_steps;         /* total 0: not known */
    const char *resolved, *parameters; /* JSON */
};
struct store_extendable_list {
    struct store_extendable *rows; /* in order of the sweep */
    size_t n;
};
/* All trials of a job, or one (the other id is NULL). SV_ERR_NOT_FOUND. */
SV_MUST_CHECK enum sv_status
store_extendable_read(struct store *store, const struct store_scope *scope, const char *job_id,
                      const char *trial_id, struct store_memory *memory,
                      struct store_extendable_list *out_list, struct sv_error *err);

/* What a trial becomes. */
struct store_extended {
    const struct store_extendable *from; /* borrowed */
    const char *resolved, *parameters;   /* JSON */
    char hash[65];                       /* of the canonical resolved text */
    int64_t total_steps;                 /* 0: as it is */
};
struct store_extension {
    const char *job_id;            /* of all of them */
    const char *trial_id;          /* asked for alone; NULL: with its job */
    const struct store_verb *verb; /* moves: from which states to which */
    const struct store_extended *rows;
    size_t n;
    const char *detail; /* of the event, JSON */
};
/* *out_changed: how many; a trial that was moved or claimed since it was read is left alone. */
SV_MUST_CHECK enum sv_status store_trials_extend(struct store *store,
                                                 const struct store_scope *scope,
                                                 const struct store_extension *extension,
                                                 size_t *out_changed, struct sv_error *err);

#endif
