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
    [JOBS_EVENT_RESTART] = STORE_WISH_NONE,
};

void jobs_verb_make(enum jobs_event event, unsigned states, struct jobs_verb *out_verb)
{
    size_t n = 0;
    for (unsigned s = 0; s < JOBS_STATE_COUNT; s++) {
        enum jobs_state to;
        enum jobs_effect effect = jobs_transition((enum jobs_state)s, event, &to);
        if (effect != JOBS_REFUSED && (states & (1u << s))) {
            out_verb->moves[n++] = (struct store_move){.from = jobs_state_text((enum jobs_state)s),
                                                       .effect = EFFECTS[effect],
                                                       .to = jobs_state_text(to)};
        }
    }
    out_verb->store = (struct store_verb){.name = jobs_event_text(event),
                                          .wish = WISHES[event],
                                          .moves = out_verb->moves,
                                          .n_moves = n};
}
