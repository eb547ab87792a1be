/* SPDX-License-Identifier: MIT
 *
 * A trial's life. Each arrow names its event; (x) is a person, (w) the worker, (r) the reaper,
 * (s) the search.
 *
 *            claim (w)                complete (w)
 *   queued ------------> running ---------------------> completed ---+
 *    ^ ^ ^                | | | |     stopped_at (w)                 | extend (x)
 *    | | |   lose (r)     | | | +---------------------> stopped -----+
 *    | | +----------------+ | |       cancelled_at (w)            |  |
 *    | |                    | +-----------------------> cancelled-+  |
 *    | |    paused_at (w)   |         fail (w), give_up (r)       |  |
 *    | |   paused <---------+-------------------------> failed ---+  |
 *    | |     |                                                    |  |
 *    | +-----+ resume, stop (x)            restart (x)            |  |
 *    +------------------------------------------------------------+--+
 *   queued, paused -- cancel (x) --> cancelled;  queued, not begun -- stop (x) --> cancelled
 *   queued, its point not chosen yet -- refuse (s) --> failed
 *
 * restart begins anew and throws away what was made; extend goes on from the last checkpoint with
 * more epochs, and results stay until those of the new end replace them.
 *
 * pause, stop and cancel of a running trial are requests: columns that the worker reads with every
 * heartbeat. A trial with a checkpoint that is stopped while no worker has it goes through the
 * queue with the stop wanted, so that a worker evaluates what the checkpoint holds: stopped keeps.
 */
#include "server/jobs/transition.h"

#include <string.h>

#define STAY(state, effect)                                                                        \
    {                                                                                              \
        effect, state                                                                              \
    }
#define TO(state)                                                                                  \
    {                                                                                              \
        JOBS_CHANGED, state                                                                        \
    }

struct outcome {
    enum jobs_effect effect;
    enum jobs_state to;
};

/* Cells not named are JOBS_REFUSED (0), and the state stays. */
static const struct outcome TABLE[JOBS_EVENT_COUNT][JOBS_STATE_COUNT] = {
    [JOBS_EVENT_CLAIM] = {[JOBS_QUEUED] = TO(JOBS_RUNNING)},
    [JOBS_EVENT_COMPLETE] = {[JOBS_RUNNING] = TO(JOBS_COMPLETED)},
    [JOBS_EVENT_PAUSED_AT] = {[JOBS_RUNNING] = TO(JOBS_PAUSED)},
    [JOBS_EVENT_STOPPED_AT] = {[JOBS_RUNNING] = TO(JOBS_STOPPED)},
    [JOBS_EVENT_CANCELLED_AT] = {[JOBS_RUNNING] = TO(JOBS_CANCELLED)},
    [JOBS_EVENT_FAIL] = {[JOBS_RUNNING] = TO(JOBS_FAILED)},
    [JOBS_EVENT_LOSE] = {[JOBS_RUNNING] = TO(JOBS_QUEUED)},
    [JOBS_EVENT_GIVE_UP] = {[JOBS_RUNNING] = TO(JOBS_FAILED)},
    [JOBS_EVENT_REFUSE] = {[JOBS_QUEUED] = TO(JOBS_FAILED)},
    [JOBS_EVENT_PAUSE] = {[JOBS_RUNNING] = STAY(JOBS_RUNNING, JOBS_REQUESTED),
                          [JOBS_PAUSED] = STAY(JOBS_PAUSED, JOBS_UNCHANGED)},
    [JOBS_EVENT_RESUME] = {[JOBS_PAUSED] = TO(JOBS_QUEUED),
                           [JOBS_RUNNING] = STAY(JOBS_RUNNING, JOBS_REQUESTED),
                           [JOBS_QUEUED] = STAY(JOBS_QUEUED, JOBS_UNCHANGED)},
    [JOBS_EVENT_STOP] = {[JOBS_QUEUED] = TO(JOBS_CANCELLED),
                         [JOBS_PAUSED] = TO(JOBS_QUEUED),
                         [JOBS_RUNNING] = STAY(JOBS_RUNNING, JOBS_REQUESTED),
                         [JOBS_STOPPED] = STAY(JOBS_STOPPED, JOBS_UNCHANGED)},
    [JOBS_EVENT_CANCEL] = {[JOBS_QUEUED] = TO(JOBS_CANCELLED),
                           [JOBS_PAUSED] = TO(JOBS_CANCELLED),
                           [JOBS_RUNNING] = STAY(JOBS_RUNNING, JOBS_REQUESTED),
                           [JOBS_CANCELLED] = STAY(JOBS_CANCELLED, JOBS_UNCHANGED)},
    [JOBS_EVENT_RESTART] = {[JOBS_STOPPED] = TO(JOBS_QUEUED),
                            [JOBS_CANCELLED] = TO(JOBS_QUEUED),
                            [JOBS_FAILED] = TO(JOBS_QUEUED)},
    [JOBS_EVENT_EXTEND] = {[JOBS_COMPLETED] = TO(JOBS_QUEUED), [JOBS_STOPPED] = TO(JOBS_QUEUED)},
};

struct state_row {
    const char *text;
    bool is_final;
};

static const struct state_row STATES[JOBS_STATE_COUNT] = {
#define STATE_ROW(name, text, final) {text, final},
    JOBS_STATE_MAP(STATE_ROW)
#undef STATE_ROW
};

static const char *const EVENTS[JOBS_EVENT_COUNT] = {
#define EVENT_ROW(name, text, who) text,
    JOBS_EVENT_MAP(EVENT_ROW)
#undef EVENT_ROW
};

enum jobs_effect jobs_transition(enum jobs_state from, bool begun, enum jobs_event event,
                                 enum jobs_state *out_to)
{
    static const struct outcome wanted = STAY(JOBS_QUEUED, JOBS_REQUESTED);
    bool evaluates = begun && from == JOBS_QUEUED && event == JOBS_EVENT_STOP;
    struct outcome outcome = evaluates ? wanted : TABLE[event][from];
    *out_to = outcome.effect == JOBS_CHANGED ? outcome.to : from;
    return outcome.effect;
}

const char *jobs_state_text(enum jobs_state state)
{
    return STATES[state].text;
}

bool jobs_state_is_final(enum jobs_state state)
{
    return STATES[state].is_final;
}

bool jobs_state_parse(const char *text, enum jobs_state *out_state)
{
    for (size_t i = 0; i < JOBS_STATE_COUNT; i++) {
        if (strcmp(STATES[i].text, text) == 0) {
            *out_state = (enum jobs_state)i;
            return true;
        }
    }
    return false;
}

const char *jobs_event_text(enum jobs_event event)
{
    return EVENTS[event];
}
