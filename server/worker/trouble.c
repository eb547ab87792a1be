/* SPDX-License-Identifier: MIT
 *
 * The worker's own trouble: it cannot prepare attempts, by no fault of the trials. They go back to
 * the queue as they came; the worker claims no more for a pause that grows with each failure, then
 * mends its directory, and tries with one trial whether it is over.
 */
#include <stdio.h>

#include "server/base/clock.h"
#include "server/worker/worker_internal.h"

enum { FIRST_PAUSE_MS = 1000, LONGEST_PAUSE_MS = 60000, MOST_DOUBLINGS = 7 };

static int pause_ms(const struct worker_trouble *trouble)
{
    int doublings = trouble->in_a_row < MOST_DOUBLINGS ? trouble->in_a_row : MOST_DOUBLINGS;
    int pause = FIRST_PAUSE_MS << doublings >> 1;
    return pause < LONGEST_PAUSE_MS ? pause : LONGEST_PAUSE_MS;
}

int worker_trouble_met(struct worker *worker, const char *text)
{
    struct worker_trouble *trouble = &worker->trouble;
    int64_t now = sv_clock_monotonic_ms();
    worker_lock(worker);
    bool first = now >= trouble->until_ms; /* slots that fail together met the same trouble */
    if (first) {
        trouble->in_a_row++;
        trouble->until_ms = now + pause_ms(trouble);
    }
    (void)snprintf(trouble->text, sizeof trouble->text, "%.120s", text);
    int pause = (int)(trouble->until_ms - now);
    worker_unlock(worker);
    if (first) {
        log_event(worker->log, SV_LOG_ERROR, "cannot_prepare_attempts", LOG_TEXT("text", text),
                  LOG_INT("pause_ms", pause));
    }
    worker_wake(worker->keeper_wake_fd);
    return pause;
}

void worker_trouble_over(struct worker *worker)
{
    worker_lock(worker);
    int failures = worker->trouble.in_a_row;
    worker->trouble = (struct worker_trouble){0};
    worker_unlock(worker);
    if (failures > 0) {
        log_event(worker->log, SV_LOG_INFO, "prepares_attempts_again",
                  LOG_INT("failures", failures));
        worker_wake(worker->keeper_wake_fd);
    }
}

struct worker_trouble worker_trouble_now(struct worker *worker)
{
    worker_lock(worker);
    struct worker_trouble trouble = worker->trouble;
    worker_unlock(worker);
    return trouble;
}

bool worker_trouble_lets_claim(struct worker *worker, int64_t *out_again_ms)
{
    struct sv_error err = {0};
    struct worker_trouble trouble = worker_trouble_now(worker);
    *out_again_ms = trouble.until_ms;
    if (trouble.in_a_row == 0) {
        return true;
    }
    if (sv_clock_monotonic_ms() < trouble.until_ms) {
        return false;
    }
    if (worker_home_mend(worker, &err) != SV_OK) {
        *out_again_ms = sv_clock_monotonic_ms() + worker_trouble_met(worker, err.text);
        return false;
    }
    worker_lock(worker);
    worker->trouble.text[0] = '\0'; /* as far as can be seen before an attempt */
    worker_unlock(worker);
    return true;
}
