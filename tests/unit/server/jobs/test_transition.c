/* SPDX-License-Identifier: MIT
 *
 * The transition table against a second, independent writing of DESIGN's diagram: one line a state,
 * one letter an event.
 */
#include "server/jobs/verbs.h"

#include <string.h>

#include "tests/support/cmocka_all.h"

/* Rows: the state before. Columns: events in the order of JOBS_EVENT_MAP. A capital letter is the
 * new state (Queued Running Paused Completed Stopped cAncelled Failed), '.' refused, '=' unchanged,
 * '?' requested. */
static const char *const EXPECTED[JOBS_STATE_COUNT] = {
    /* claim complete paused_at stopped_at cancelled_at fail lose give_up refuse |
     * pause resume stop cancel restart extend */
    [JOBS_QUEUED] = "R.......F"
                    ".=AA..",
    [JOBS_RUNNING] = ".CPSAFQF."
                     "????..",
    [JOBS_PAUSED] = "........."
                    "=QQA..",
    [JOBS_COMPLETED] = "........."
                       ".....Q",
    [JOBS_STOPPED] = "........."
                     "..=.QQ",
    [JOBS_CANCELLED] = "........."
                       "...=Q.",
    [JOBS_FAILED] = "........."
                    "....Q.",
};

static const char LETTERS[] = "QRPCSAF";

static void every_cell_is_as_drawn(void **state)
{
    (void)state;
    for (size_t s = 0; s < JOBS_STATE_COUNT; s++) {
        assert_int_equal(strlen(EXPECTED[s]), JOBS_EVENT_COUNT);
        for (size_t e = 0; e < JOBS_EVENT_COUNT; e++) {
            enum jobs_state to = JOBS_STATE_COUNT;
            enum jobs_effect effect =
                jobs_transition((enum jobs_state)s, false, (enum jobs_event)e, &to);
            char seen = effect == JOBS_CHANGED     ? LETTERS[to]
                        : effect == JOBS_UNCHANGED ? '='
                        : effect == JOBS_REQUESTED ? '?'
                                                   : '.';
            if (seen != EXPECTED[s][e]) {
                fail_msg("%s + %s: %c, not %c", jobs_state_text((enum jobs_state)s),
                         jobs_event_text((enum jobs_event)e), seen, EXPECTED[s][e]);
            }
            assert_true(effect == JOBS_CHANGED || to == (enum jobs_state)s);
        }
    }
}

/* With a checkpoint there is something to evaluate: a stop in the queue is then a wish. */
static void a_checkpoint_changes_one_cell(void **state)
{
    (void)state;
    for (size_t s = 0; s < JOBS_STATE_COUNT; s++) {
        for (size_t e = 0; e < JOBS_EVENT_COUNT; e++) {
            enum jobs_state fresh_to;
            enum jobs_state to;
            enum jobs_effect fresh =
                jobs_transition((enum jobs_state)s, false, (enum jobs_event)e, &fresh_to);
            enum jobs_effect effect =
                jobs_transition((enum jobs_state)s, true, (enum jobs_event)e, &to);
            bool waits_to_be_stopped = s == JOBS_QUEUED && e == JOBS_EVENT_STOP;
            assert_int_equal(effect, waits_to_be_stopped ? JOBS_REQUESTED : fresh);
            assert_int_equal(to, waits_to_be_stopped ? JOBS_QUEUED : fresh_to);
        }
    }
}

/* As rows: a trial in the queue meets one of two, in every other state one for all. */
static void rows_tell_begun_from_fresh(void **state)
{
    (void)state;
    struct jobs_verb stop;
    jobs_verb_make(JOBS_EVENT_STOP, JOBS_ALL_STATES, &stop);
    size_t queued = 0;
    for (size_t i = 0; i < stop.store.n_moves; i++) {
        const struct store_move *move = &stop.store.moves[i];
        bool in_queue = strcmp(move->from, "queued") == 0;
        queued += in_queue;
        assert_int_equal(move->of == STORE_OF_ALL, !in_queue);
        if (in_queue) {
            assert_int_equal(move->effect,
                             move->of == STORE_OF_BEGUN ? STORE_REQUESTED : STORE_CHANGED);
        }
    }
    assert_int_equal(queued, 2);
    assert_int_equal(stop.store.n_moves, 5);
}

static void names_round_trip(void **state)
{
    (void)state;
    for (size_t s = 0; s < JOBS_STATE_COUNT; s++) {
        enum jobs_state back = JOBS_STATE_COUNT;
        assert_true(jobs_state_parse(jobs_state_text((enum jobs_state)s), &back));
        assert_int_equal(back, s);
        assert_int_equal(jobs_state_is_final(back), s >= JOBS_COMPLETED);
    }
    enum jobs_state untouched = JOBS_PAUSED;
    assert_false(jobs_state_parse("lost", &untouched));
    assert_int_equal(untouched, JOBS_PAUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_is_as_drawn),
        cmocka_unit_test(a_checkpoint_changes_one_cell),
        cmocka_unit_test(rows_tell_begun_from_fresh),
        cmocka_unit_test(names_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
