/* SPDX-License-Identifier: MIT
 *
 * What a person asks of trials, as the data that server/store takes: one row per state (two where
 * it matters whether the trial has a checkpoint), made from the transition table.
 */
#ifndef JOBS_VERBS_H
#define JOBS_VERBS_H

#include "server/jobs/transition.h"
#include "server/store/verbs.h"

struct jobs_verb {
    struct store_move moves[2 * JOBS_STATE_COUNT];
    struct store_verb store; /* points into moves: do not copy the struct */
};

/* event: PAUSE, RESUME, STOP, CANCEL, RESTART or EXTEND. states: a set bit (1 << state) lets the
 * verb touch trials in that state; JOBS_ALL_STATES for no restriction. */
#define JOBS_ALL_STATES ((1u << JOBS_STATE_COUNT) - 1u)
void jobs_verb_make(enum jobs_event event, unsigned states, struct jobs_verb *out_verb);

#endif
