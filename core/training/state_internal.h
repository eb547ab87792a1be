/* SPDX-License-Identifier: MIT
 *
 * What a run consists of; private to the room. Confined to the thread that runs it.
 *
 * Invariants
 * 1. `step` is the last finished step; values, slots and `at` belong to it.
 * 2. Every point up to `step` is in the buffer or delivered; summaries count both.
 * 3. A checkpoint is written only when the buffer is empty and all values are finite.
 * 4. `kept` holds the network of the best validation, or without a validation part that of the last
 *    epoch's end; never values that are not finite.
 * 5. Nothing that enters values, points or decisions depends on the clock or on threads.
 */
#ifndef NN_TRAINING_STATE_INTERNAL_H
#define NN_TRAINING_STATE_INTERNAL_H

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/kernels/exec.h"
#include "core/training/feed_internal.h"
#include "core/training/training.h"

enum { NN_MAX_METRICS = 32 };

/* Points that wait to be delivered, and the summaries of all points so far. */
struct nn_point_log {
    struct nn_point *points;
    size_t count, capacity;
    double delivered_at;                       /* clock of the last delivery */
    struct nn_summary summary[NN_MAX_METRICS]; /* by row of nn_metric_table */
};

/* Where in the run: all that a checkpoint must hold beside arrays. */
struct nn_position {
    uint64_t step;       /* finished */
    uint64_t epoch;      /* of the next step, counted from 0 */
    uint64_t batch;      /* of the next step, within its epoch */
    uint64_t updates;    /* of the solver */
    uint64_t best_step;  /* 0 = no validation was finite yet */
    uint64_t since_best; /* validations since */
    double best_loss;    /* NaN = none */
    uint64_t has_kept;   /* 0 or 1 */
};

/* Seconds of the loop by what they went to. Those of the network's passes are counted by its own
 * profile. */
enum nn_time_kind {
    NN_TIME_LOADER,
    NN_TIME_LOSS,
    NN_TIME_SOLVER,
    NN_TIME_VALIDATION,
    NN_TIME_CHECKPOINT,
    NN_TIME_COUNT
};

struct nn_training_clock {
    double begin; /* of the run */
    double seconds[NN_TIME_COUNT];
    uint64_t steps; /* that were measured, and their seconds */
    double step_seconds;
    bool warm;            /* these are not the first ones of the run any more */
    double epoch_seconds; /* training time of the epoch so far, validations left out */
    uint64_t epoch_images;
    double stall_seen;        /* of the loader, up to the last epoch's end */
    double progress_at;       /* clock of the last progress call */
    uint64_t progress_images; /* since then */
};

struct nn_training_state {
    const struct nn_training_setup *setup;
    const struct nn_training_callbacks *calls;
    struct nn_network *network;
    struct nn_solver *solver;
    struct nn_feed *feed;
    struct nn_exec exec;
    nn_real *kept;    /* value_count */
    nn_real *average; /* value_count, of the values; NULL: none is wanted */
    size_t value_count, max_batch;
    uint64_t steps_per_epoch, total_steps;
    struct nn_position at;
    struct nn_point_log log;
    struct nn_training_clock clock;
    double checkpoint_at;     /* clock of the last checkpoint */
    uint64_t checkpoint_step; /* step of the last checkpoint, UINT64_MAX = none */
    bool checkpoint_missed;   /* the last one could not be written */
    uint64_t diverged_step;   /* 0 = not */
    bool patience_stopped;
    bool finishing;   /* after the loop: NN_PAUSE is heard between batches too */
    nn_clock_fn time; /* the setup's clock, or the system's */
    void *time_ctx;
    enum nn_training_control control; /* the last answer */
};

/* --- state.c: building --- */
NN_MUST_CHECK enum nn_status nn_state_init(struct nn_training_state *state,
                                           const struct nn_training_setup *setup,
                                           const struct nn_training_callbacks *calls,
                                           struct nn_error *err);
void nn_state_deinit(struct nn_training_state *state);

/* --- values.c: all values of the network as one vector (value_count) --- */
size_t nn_values_count(const struct nn_network *network);
void nn_values_get(const struct nn_network *network, nn_real *out);
void nn_values_set(struct nn_network *network, const nn_real *values);
/* First values of a head that is made new beside trained layers; its bias is zero already. */
NN_MUST_CHECK enum nn_status nn_values_new_head(const struct nn_training_state *state,
                                                struct nn_error *err);
bool nn_values_finite(const struct nn_training_state *state);

/* --- average.c: the moving average, where there is one --- */

/* After an update of the values. */
void nn_average_update(struct nn_training_state *state);
/* Exchanges values and average, before an evaluation and after it. */
void nn_average_swap(struct nn_training_state *state);
/* What is to be kept: the average, else the values (value_count). */
void nn_average_get(const struct nn_training_state *state, nn_real *out);

/* --- points.c --- */
double nn_now(const struct nn_training_state *state);
/* The epoch that the last step was of, counted from 1; 0 before the first step. */
uint64_t nn_state_epoch(const struct nn_training_state *state);
NN_MUST_CHECK enum nn_status nn_points_init(struct nn_point_log *log, struct nn_memory *memory);
void nn_points_add(struct nn_training_state *state, const char *metric, double value);
void nn_points_deliver(struct nn_training_state *state);
void nn_points_deliver_if_due(struct nn_training_state *state);
/* Step of the last point of a metric, which must be in the table; 0: there is none. */
uint64_t nn_points_last_step(const struct nn_point_log *log, const char *metric);
json_t *nn_points_summaries(const struct nn_point_log *log); /* NULL = out of memory */
void nn_progress_if_due(struct nn_training_state *state, const char *phase);
enum nn_training_control nn_control_poll(struct nn_training_state *state);

/* --- evaluate.c --- */

/* Has the feed judge the network on a part; its predictions go to result, unless NULL.
 * ERR_CANCELLED when told to leave between batches. */
NN_MUST_CHECK enum nn_status nn_state_evaluate(struct nn_training_state *state,
                                               const struct nn_split_side *part, const char *phase,
                                               struct nn_part_result *result, struct nn_error *err);
/* Batch-norm statistics over the train part. */
NN_MUST_CHECK enum nn_status nn_state_population(struct nn_training_state *state,
                                                 struct nn_error *err);

/* --- prefix.c --- */

/* Opens or makes the rows of the frozen prefix, for the feed to load. Values are those of the run.
 * ERR_CANCELLED, ERR_MEMORY. */
NN_MUST_CHECK enum nn_status nn_state_prefix(struct nn_training_state *state, struct nn_error *err);

/* --- checkpoint.c --- */
NN_MUST_CHECK enum nn_status nn_checkpoint_write(struct nn_training_state *state, bool final,
                                                 struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_checkpoint_resume(struct nn_training_state *state,
                                                  bool *out_bits_may_differ, struct nn_error *err);
/* Takes the values alone, of any run of the same network. ERR_INVALID: of another network. */
NN_MUST_CHECK enum nn_status nn_checkpoint_values(struct nn_training_state *state, const char *path,
                                                  struct nn_error *err);

/* --- loop.c: steps until the end, a wish to stop or divergence --- */
NN_MUST_CHECK enum nn_status nn_state_train(struct nn_training_state *state, struct nn_error *err);
/* The validation after the last step where none is due there. It belongs to the end of the run, not
 * to its course: no checkpoint knows it, so that a run that goes on later is one that never ended.
 */
NN_MUST_CHECK enum nn_status nn_state_last_validation(struct nn_training_state *state,
                                                      struct nn_error *err);

/* --- result.c --- */
NN_MUST_CHECK enum nn_status nn_state_finish(struct nn_training_state *state,
                                             enum nn_training_outcome outcome,
                                             struct nn_training_result **out, struct nn_error *err);

/* --- profile.c --- */

/* Before a step: forgets those that only warmed up. */
void nn_profile_step(struct nn_training_state *state);
NN_MUST_CHECK enum nn_status nn_profile_fill(const struct nn_training_state *state,
                                             struct nn_training_profile *out);
void nn_profile_deinit(struct nn_training_profile *profile);

#endif
