/* SPDX-License-Identifier: MIT
 *
 * The one table of a trial's states. Whoever changes a state asks here first and then runs the one
 * conditional UPDATE of server/store that names the old state and, for a running trial, the fence.
 */
#ifndef JOBS_TRANSITION_H
#define JOBS_TRANSITION_H

#include <stdbool.h>
#include <stddef.h>

/* JOBS_STATE(name, text as stored and shown, is final) */
#define JOBS_STATE_MAP(X)                                                                          \
    X(QUEUED, "queued", false)                                                                     \
    X(RUNNING, "running", false)                                                                   \
    X(PAUSED, "paused", false)                                                                     \
    X(COMPLETED, "completed", true)                                                                \
    X(STOPPED, "stopped", true)                                                                    \
    X(CANCELLED, "cancelled", true)                                                                \
    X(FAILED, "failed", true)

enum jobs_state {
#define JOBS_STATE_ENUM(name, text, final) JOBS_##name,
    JOBS_STATE_MAP(JOBS_STATE_ENUM)
#undef JOBS_STATE_ENUM
        JOBS_STATE_COUNT
};

/* JOBS_EVENT(name, text, who causes it) */
#define JOBS_EVENT_MAP(X)                                                                          \
    X(CLAIM, "claim", "a worker takes the trial")                                                  \
    X(COMPLETE, "complete", "the worker, with the evaluation, in one transaction")                 \
    X(PAUSED_AT, "paused_at", "the worker, when a wanted pause is reached")                        \
    X(STOPPED_AT, "stopped_at", "the worker, when a wanted stop is reached and evaluated")         \
    X(CANCELLED_AT, "cancelled_at", "the worker, when a wanted cancel is reached")                 \
    X(FAIL, "fail", "the worker, with a class and a sentence")                                     \
    X(LOSE, "lose", "the reaper, when process or worker is gone and attempts are left")            \
    X(GIVE_UP, "give_up", "the reaper, when process or worker is gone and none is left")           \
    X(REFUSE, "refuse", "the search, when its next point cannot be tried")                         \
    X(PAUSE, "pause", "a person")                                                                  \
    X(RESUME, "resume", "a person")                                                                \
    X(STOP, "stop", "a person")                                                                    \
    X(CANCEL, "cancel", "a person")                                                                \
    X(RESTART, "restart", "a person")                                                              \
    X(EXTEND, "extend", "a person, with more epochs")

enum jobs_event {
#define JOBS_EVENT_ENUM(name, text, who) JOBS_EVENT_##name,
    JOBS_EVENT_MAP(JOBS_EVENT_ENUM)
#undef JOBS_EVENT_ENUM
        JOBS_EVENT_COUNT
};

/* What an event does to a trial in a state. */
enum jobs_effect {
    JOBS_REFUSED,   /* 409 wrong_state */
    JOBS_UNCHANGED, /* already so: 200, nothing is written */
    JOBS_REQUESTED, /* a column asks the worker; the state changes later, by an _AT event */
    JOBS_CHANGED    /* the state changes now */
};

/* The effect, and in *out_to the new state (the old one unless JOBS_CHANGED). begun: the trial has
 * a checkpoint, so that there is something to evaluate. */
enum jobs_effect jobs_transition(enum jobs_state from, bool begun, enum jobs_event event,
                                 enum jobs_state *out_to);

const char *jobs_state_text(enum jobs_state state);
bool jobs_state_is_final(enum jobs_state state);
/* false when text names no state. */
bool jobs_state_parse(const char *text, enum jobs_state *out_state);
const char *jobs_event_text(enum jobs_event event);

#endif
