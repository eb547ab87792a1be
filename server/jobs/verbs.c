/* SPDX-License-Identifier: MIT
 *
 * From the transition table to the rows that server/store applies.
 */
#include "server/jobs/verbs.h"

static const enum store_effect EFFECTS[] = {
    [JOBS_REFUSED] = STORE_REFUSED,
    [JOBS_UNCHANGED] = STORE_UNCHANGED,
    [JOBS_REQUESTED] = STORE_REQUESTED,
    [JOBS_CHANGED] = STORE_CHANGED,
};

static const enum store_wish WISHES[JOBS_EVENT_COUNT] = {
    [JOBS_EVENT_PAUSE] = STORE_WISH_PAUSE,  [JOBS_EVENT_RESUME] = STORE_WISH_RESUME,
    [JOBS_EVENT_STOP] = STORE_WISH_STOP,    [JOBS_EVENT_CANCEL] = STORE_WISH_CANCEL,
    [JOBS_EVENT_RESTART] = STORE_WISH_NONE, [JOBS_EVENT_EXTEND] = STORE_WISH_NONE,
};

static struct store_move move_of(enum jobs_state from, bool begun, enum jobs_event event)
{
    enum jobs_state to;
    enum jobs_effect effect = jobs_transition(from, begun, event, &to);
    return (struct store_move){.from = jobs_state_text(from),
                               .effect = EFFECTS[effect],
                               .to = jobs_state_text(to),
                               .of = begun ? STORE_OF_BEGUN : STORE_OF_FRESH};
}

void jobs_verb_make(enum jobs_event event, unsigned states, struct jobs_verb *out_verb)
{
    size_t n = 0;
    for (unsigned s = 0; s < JOBS_STATE_COUNT; s++) {
        struct store_move fresh = move_of((enum jobs_state)s, false, event);
        struct store_move begun = move_of((enum jobs_state)s, true, event);
        if (!(states & (1u << s))) {
            continue;
        }
        if (fresh.effect == begun.effect && fresh.to == begun.to) {
            fresh.of = STORE_OF_ALL;
            begun.effect = STORE_REFUSED;
        }
        if (fresh.effect != STORE_REFUSED) {
            out_verb->moves[n++] = fresh;
        }
        if (begun.effect != STORE_REFUSED) {
            out_verb->moves[n++] = begun;
        }
    }
    out_verb->store = (struct store_verb){.name = jobs_event_text(event),
                                          .wish = WISHES[event],
                                          .moves = out_verb->moves,
                                          .n_moves = n};
}
