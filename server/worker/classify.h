/* SPDX-License-Identifier: MIT
 *
 * How a child process ended, as a verdict on its attempt: one pure function, so that every way to
 * die is a row of a test table.
 */
#ifndef WORKER_CLASSIFY_H
#define WORKER_CLASSIFY_H

#include <stdbool.h>

/* WORKER_CLASS(name, slug, the trial may be tried again) */
#define WORKER_CLASS_MAP(X)                                                                        \
    X(INVALID_INPUT, "invalid_input", false)                                                       \
    X(DIVERGED, "diverged", false)                                                                 \
    X(OUT_OF_MEMORY, "out_of_memory", false)                                                       \
    X(CRASHED, "crashed", true)                                                                    \
    X(TIMEOUT, "timeout", false)                                                                   \
    X(WORKER_LOST, "worker_lost", true)                                                            \
    X(INTERNAL, "internal", false)

enum worker_class {
#define WORKER_CLASS_ENUM(name, slug, again) WORKER_CLASS_##name,
    WORKER_CLASS_MAP(WORKER_CLASS_ENUM)
#undef WORKER_CLASS_ENUM
        WORKER_CLASS_COUNT
};

const char *worker_class_slug(enum worker_class class);
bool worker_class_may_retry(enum worker_class class);
/* WORKER_CLASS_INTERNAL for a slug that is not in the table. */
enum worker_class worker_class_parse(const char *slug);

/* Why the supervisor ended a child, if it did. The first reason stays. */
enum worker_kill {
    WORKER_KILL_NONE,
    WORKER_KILL_CANCEL,      /* a person cancelled */
    WORKER_KILL_DRAIN,       /* the worker stops */
    WORKER_KILL_LEASE_LOST,  /* the attempt is not ours any more */
    WORKER_KILL_NO_PROGRESS, /* silent for too long */
    WORKER_KILL_WALL_CLOCK,  /* over its time */
    WORKER_KILL_MEMORY,      /* resident size over the limit */
    WORKER_KILL_PROTOCOL,    /* sent what no child of ours sends */
    WORKER_KILL_SLOW_END,    /* asked to stop or pause, or done, and did not leave in time */
};

/* All that is known of an ended child. */
struct worker_ending {
    bool started;    /* false: no process came to be */
    bool unprepared; /* by the worker's own fault: directory, disk, no process to be had */
    int wait_status; /* of waitpid, when started */
    enum worker_kill killed_for;
    bool out_of_memory_seen;  /* the kernel killed for memory meanwhile, in this control group */
    bool done;                /* a done record came */
    const char *failed_class; /* of the failed record; NULL if none came */
    const char *failed_text;
};

enum worker_outcome {
    WORKER_DONE,       /* the done record says how */
    WORKER_CANCELLED,  /* as a person wanted */
    WORKER_GIVEN_BACK, /* to the queue, no attempt counted */
    WORKER_FAILED,     /* see class and text */
    WORKER_LOST        /* say nothing: another attempt may be running */
};

struct worker_verdict {
    enum worker_outcome outcome;
    enum worker_class class; /* when WORKER_FAILED */
    char text[320];          /* one sentence for a person, "" unless WORKER_FAILED */
};

struct worker_verdict worker_classify(const struct worker_ending *ending);

#endif
