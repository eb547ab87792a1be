/* SPDX-License-Identifier: MIT
 *
 * Runs of core/training in tests: from JSON texts, with everything told by the callbacks recorded,
 * and with orders to leave at a given step.
 */
#ifndef TESTS_SUPPORT_RUNS_H
#define TESTS_SUPPORT_RUNS_H

#include "core/training/training.h"
#include "tests/support/synthetic.h"

/* What to run. Zeros are good defaults for all but network and training. */
struct run_plan {
    const char *network;  /* JSON spec of a network */
    const char *training; /* JSON of the "training" object */
    uint64_t seed;
    size_t threads;      /* of the pool; 0 = 1 */
    bool vary_threads;   /* another number of active threads at each step */
    uint64_t order_step; /* give `order` once this many steps are done; 0 = never */
    uint64_t order_poll; /* or once asked for the n-th time, before the first step too; 0 = never */
    enum nn_training_control order;
    bool resume;                          /* from the checkpoints of the set's directory */
    const char *core_build, *spec_digest; /* NULL = "test" */
    size_t memory_cap;                    /* 0 = 256 MiB */
    size_t fail_at;                       /* the n-th allocation fails; 0 = none */
    const char *weights;                  /* initial weights, or NULL */
    const char *initial;                  /* checkpoint whose weights it begins with, or NULL */
    struct nn_augmentation augmentation;
    const char *prefix; /* file for the frozen prefix's rows, or NULL */
    enum nn_normalisation normalisation;
    bool plain_operators;
    enum nn_match_head head; /* of the initial weights */
    const char *const *frozen;
    size_t n_frozen;
    const struct nn_layer_factor *factors;
    size_t n_factors;
    const nn_real *class_weights; /* or NULL */
    nn_clock_fn clock;            /* NULL = the system's */
    void *clock_ctx;
    uint64_t away_from, away_until; /* steps: the directory is away after the first; 0 = never */
};

struct run_point {
    char metric[32];
    uint64_t step;
    double value;
};

/* What happened. */
struct run_record {
    enum nn_status status;
    struct nn_error err;
    struct nn_training_result *result; /* NULL unless OK or DIVERGED */
    struct nn_memory *memory;          /* where its predictions lie */
    struct run_point *points;
    size_t n_points;
    struct nn_training_start start;
    uint64_t starts, checkpoints;
    uint64_t lines;           /* of the log */
    uint64_t words;           /* of progress, whose steps and epochs are checked */
    uint64_t last_checkpoint; /* step */
    bool last_final;
    uint64_t points_at_checkpoint; /* points delivered when it was announced */
    bool failure_pending;          /* the run made fewer allocations than plan->fail_at */
    int prefix;                    /* told: 0 no, 1 used, 2 made and used, 3 none to be had */
    size_t planned_bytes;          /* nn_training_plan_bytes of the setup */
    unsigned char *network;        /* the file of the kept network, NULL if there is none */
    size_t network_size;
    char summaries[4096]; /* of the last notice */
};

void run_do(struct run_record *record, const struct synthetic_set *set,
            const struct run_plan *plan);
void run_record_deinit(struct run_record *record);

/* The value of a metric at a step; fails the test when it is not there exactly once. */
double run_point_at(const struct run_record *record, const char *metric, uint64_t step);
/* Its last value. */
double run_last(const struct run_record *record, const char *metric);

/* Drops points after the step, and the validation, from which `next` went on, as whoever resumes
 * must; then appends those of `next`. */
void run_points_join(struct run_record *record, const struct run_record *next);

/* Fails the test unless both have the same points (values of clock metrics aside), results,
 * evaluations, predictions and network files. */
void run_assert_equal(const struct run_record *a, const struct run_record *b);

/* Runs the plan whole, then kills it again and again, each time every_ms later than before and
 * below below_ms, and finishes it from what is left: the network's file is that of the whole run.
 * The set's checkpoints are removed first. */
void run_assert_survives_kills(const struct synthetic_set *set, struct run_plan plan, int every_ms,
                               int below_ms);

/* Bytes of a file; the caller frees them. */
unsigned char *run_file(const char *path, size_t *out_size);

/* run_do() that must end well, with the task of the set; fails the test with the error's text. */
void run_well(struct run_record *record, const struct synthetic_set *set,
              const struct run_plan *plan);

/* Leaves after `step` without a word, then resumes: points and results are those of the whole. */
void run_leave_and_resume(const struct synthetic_set *set, struct run_plan plan, uint64_t step,
                          const struct run_record *whole);

#endif
