/* SPDX-License-Identifier: MIT
 *
 * What a person asks of a trial (stop, cancel, pause, resume, restart, extend), as data. The table
 * of states stands in jobs; it is handed in as one row per state. The store locks the trial, looks
 * its state up in the rows, and runs the one conditional UPDATE that names this state and the
 * fence.
 */
#ifndef STORE_VERBS_H
#define STORE_VERBS_H

#include <stddef.h>

enum store_effect {
    STORE_REFUSED,   /* the state does not allow it: nothing is written */
    STORE_UNCHANGED, /* it is so already: nothing is written */
    STORE_REQUESTED, /* the wish is written into the row, for the worker's next heartbeat */
    STORE_CHANGED,   /* the state changes now */
};

/* The wish that a verb leaves in a running trial, and in one that is queued to fulfil it. */
enum store_wish {
    STORE_WISH_NONE, /* restart, extend */
    STORE_WISH_STOP,
    STORE_WISH_CANCEL,
    STORE_WISH_PAUSE,
    STORE_WISH_RESUME, /* takes a wish to pause back */
};

/* Which trials of a state a move is for. */
enum store_of {
    STORE_OF_ALL,
    STORE_OF_FRESH, /* without a checkpoint */
    STORE_OF_BEGUN, /* with one */
};

struct store_move {
    const char *from; /* state as stored */
    enum store_effect effect;
    const char *to; /* state, for STORE_CHANGED */
    enum store_of of;
};

struct store_verb {
    const char *name; /* of the event: "cancel" */
    enum store_wish wish;
    const struct store_move *moves; /* each trial has one at most; one without is refused */
    size_t n_moves;
};

/* How many trials met which effect. */
struct store_applied {
    size_t changed, requested, unchanged, refused;
};

#endif
