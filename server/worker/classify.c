/* SPDX-License-Identifier: MIT
 *
 * The verdict on an ended child. Order of belief: a lost lease silences everything; what the worker
 * itself could not prepare goes back; a done record stands even when the process then died; our own
 * reason to kill comes before what the dying child said; the child's word comes before its exit
 * status.
 */
#include "server/worker/classify.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static const struct {
    const char *slug;
    bool may_retry;
} CLASSES[WORKER_CLASS_COUNT] = {
#define CLASS_ROW(name, slug, again) {slug, again},
    WORKER_CLASS_MAP(CLASS_ROW)
#undef CLASS_ROW
};

const char *worker_class_slug(enum worker_class class)
{
    return CLASSES[class].slug;
}

bool worker_class_may_retry(enum worker_class class)
{
    return CLASSES[class].may_retry;
}

enum worker_class worker_class_parse(const char *slug)
{
    for (int i = 0; i < WORKER_CLASS_COUNT; i++) {
        if (strcmp(CLASSES[i].slug, slug) == 0) {
            return (enum worker_class)i;
        }
    }
    return WORKER_CLASS_INTERNAL;
}

static struct worker_verdict failed(enum worker_class class, const char *text)
{
    struct worker_verdict verdict = {.outcome = WORKER_FAILED, .class = class};
    (void)snprintf(verdict.text, sizeof verdict.text, "%s", text);
    return verdict;
}

static struct worker_verdict plain(enum worker_outcome outcome)
{
    return (struct worker_verdict){.outcome = outcome};
}

/* Our own reason; a child that was slow to leave may have said why before. False when there was
 * none, or one that leaves the word to the child. */
static bool judge_kill(const struct worker_ending *ending, struct worker_verdict *out)
{
    switch (ending->killed_for) {
    case WORKER_KILL_CANCEL:
        *out = plain(WORKER_CANCELLED);
        return true;
    case WORKER_KILL_DRAIN:
        *out = plain(WORKER_GIVEN_BACK);
        return true;
    case WORKER_KILL_NO_PROGRESS:
        *out = failed(WORKER_CLASS_TIMEOUT, "the process made no progress for too long");
        return true;
    case WORKER_KILL_WALL_CLOCK:
        *out = failed(WORKER_CLASS_TIMEOUT, "the process took longer than its time limit");
        return true;
    case WORKER_KILL_MEMORY:
        *out = failed(WORKER_CLASS_OUT_OF_MEMORY, "the process grew beyond its memory limit");
        return true;
    case WORKER_KILL_PROTOCOL:
        *out = failed(WORKER_CLASS_INTERNAL, "the process broke the protocol with its supervisor");
        return true;
    case WORKER_KILL_SLOW_END:
        if (ending->failed_class) {
            return false;
        }
        *out = failed(WORKER_CLASS_CRASHED, "the process did not end when it was asked to");
        return true;
    case WORKER_KILL_LEASE_LOST:
    case WORKER_KILL_NONE:
        break;
    }
    return false;
}

static struct worker_verdict judge_signal(const struct worker_ending *ending)
{
    int number = WTERMSIG(ending->wait_status);
    struct worker_verdict verdict = {.outcome = WORKER_FAILED, .class = WORKER_CLASS_CRASHED};
    const char *name = sigabbrev_np(number);
    if (number == SIGKILL && ending->out_of_memory_seen) {
        return failed(WORKER_CLASS_OUT_OF_MEMORY, "the machine ran out of memory");
    }
    if (number == SIGXFSZ) {
        return failed(WORKER_CLASS_INTERNAL, "the process wrote a file over its size limit");
    }
    (void)snprintf(verdict.text, sizeof verdict.text, "the process was ended by signal SIG%s",
                   name ? name : "?");
    return verdict;
}

struct worker_verdict worker_classify(const struct worker_ending *ending)
{
    struct worker_verdict verdict;
    if (ending->killed_for == WORKER_KILL_LEASE_LOST) {
        return plain(WORKER_LOST);
    }
    if (ending->unprepared) {
        return plain(WORKER_GIVEN_BACK);
    }
    if (ending->done) {
        return plain(WORKER_DONE);
    }
    if (judge_kill(ending, &verdict)) {
        return verdict;
    }
    if (ending->failed_class) {
        enum worker_class class = worker_class_parse(ending->failed_class);
        return failed(class, ending->failed_text ? ending->failed_text : "");
    }
    if (!ending->started) {
        return failed(WORKER_CLASS_INTERNAL, "the process could not be started");
    }
    if (WIFSIGNALED(ending->wait_status)) {
        return judge_signal(ending);
    }
    verdict = failed(WORKER_CLASS_CRASHED, "");
    (void)snprintf(verdict.text, sizeof verdict.text,
                   "the process ended with status %d and without a result",
                   WEXITSTATUS(ending->wait_status));
    return verdict;
}
