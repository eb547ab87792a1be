/* SPDX-License-Identifier: MIT
 *
 * What an attempt at a trial commits, for tests of the store.
 */
#ifndef TESTS_SUPPORT_ATTEMPTS_H
#define TESTS_SUPPORT_ATTEMPTS_H

#include "server/store/results.h"
#include "server/store/trials.h"
#include "tests/support/store_fixture.h"

struct store_trial test_trial_get(struct store_world *w, const struct store_claim *claim);
/* Points first..last of one metric, value = step / 8. */
void test_commit_steps(struct store_world *w, const struct store_claim *claim, const char *metric,
                       int64_t first, int64_t last);
struct store_checkpoint test_checkpoint_at(int64_t step);
void test_commit_checkpoint(struct store_world *w, const struct store_claim *claim, int64_t step);
/* The validation part of four samples of two classes, accuracy 0.75, its loss not a number. */
struct store_evaluation_new test_evaluation(void);
/* Ends with that evaluation, and a text when there is a class of error; state: what the trial is
 * then. */
enum sv_status test_attempt_end(struct store_world *w, const struct store_claim *claim,
                                enum store_outcome outcome, const char *error_class,
                                char state[16]);

#endif
