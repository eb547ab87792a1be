/* SPDX-License-Identifier: MIT
 *
 * Training: one run of the loop over a data set, from a description to an evaluated network, with
 * validation, early stopping, checkpoints and resumption. Told what to do by a setup, tells what
 * happens by callbacks; knows no server, no database, no environment.
 *
 * The law: equal setup (options, data, seed, core build, instruction set) gives equal bits in every
 * number but those that nn_metric marks NN_NEEDS_CLOCK, whatever the number of threads, and whether
 * or not the run was killed at any moment and resumed from a checkpoint.
 */
#ifndef NN_TRAINING_TRAINING_H
#define NN_TRAINING_TRAINING_H

#include <jansson.h>

#include "core/base/base.h"
#include "core/data/loader.h"
#include "core/data/prepared.h"
#include "core/data/sequence_loader.h"
#include "core/data/split.h"
#include "core/exchange/match.h"
#include "core/metrics/metrics.h"
#include "core/metrics/regression.h"
#include "core/network/network.h"
#include "core/training/options.h"
#include "core/training/profile.h"

struct nn_kernels;

/* What the bind of a network of sequences says of its input: inputs that are scaled already are
 * not normalised once more. */
enum nn_normalisation nn_training_normalisation(const struct nn_scaling_options *scaling);

struct nn_training_setup {
    const struct nn_description *description;
    struct nn_network_bind bind; /* with zscore: mean and std are taken from the train part */
    const struct nn_prepared *prepared;   /* images or signals to classify; or NULL and: */
    const struct nn_sequences *sequences; /* sequences with one target a step, to predict it, or
                                             each with a class, to tell it */
    const struct nn_scaling *scaling; /* of the sequences, made from those that train; the bind's
                                         features are its inputs */
    enum nn_sequence_sort sequence_sort;
    const struct nn_sequence_windows *windows; /* over the sequences: parts are numbers of windows
                                                  then; NULL: sequences are whole */
    struct nn_split_side parts[NN_PART_COUNT]; /* by enum nn_part; count 0: there is none */
    struct nn_training_options options;        /* resolved */
    struct nn_augmentation augmentation;       /* of the train part's images while they train */
    struct nn_noise noise;                     /* of signals, in every part */
    uint64_t seed;
    struct nn_regression_options phm08; /* constants of the score; zeros: the defaults */
    bool keep_probabilities;            /* of all classes, where predictions are kept */
    bool plain_operators;               /* operators: "plain" */
    const struct nn_kernels *kernels;   /* of an instruction set; NULL = the processor's best */
    struct nn_memory *memory;           /* capped */
    struct nn_pool *pool;
    const char *directory;           /* existing, private; checkpoints and artefacts go there */
    const char *resume[2];           /* checkpoint files, newest first; the first that verifies is
                                        used; NULL, NULL = from the start */
    const char *initial_weights;     /* safetensors file, or NULL: initialised from the seed */
    enum nn_match_head initial_head; /* whether the file's head is taken */
    const char *initial_checkpoint;  /* of a run of the same network, whose weights it begins with:
                                        instead of those of the file or the seed; or NULL */
    const char *const *frozen;       /* layers that do not train (nn_description_frozen); */
    size_t n_frozen;                 /* batch norms among them keep their statistics */
    const struct nn_layer_factor *factors; /* of the learning rate; every pattern must match */
    size_t n_factors;
    const nn_real *class_weights; /* [classes] of nn_training_class_weights, or NULL */
    const char *prefix_path; /* file for what the frozen prefix computes (network/prefix.h): used,
                                or made first; NULL: computed at each step, to the same bits */
    uint64_t prefix_bytes;   /* the largest such file */
    nn_clock_fn clock;       /* monotonic seconds; NULL = the system's */
    void *clock_ctx;
    const char *core_build;  /* id of core build, core type and instruction set */
    const char *spec_digest; /* of what must be equal to resume: all but the epochs, so that a run
                                can be extended */
};

struct nn_point {
    const char *metric; /* static string, a row of nn_metric_table */
    uint64_t step;      /* counted from 1 */
    double value;
};

struct nn_training_start {
    uint64_t step; /* resumed after this step; 0 = from the start */
    uint64_t total_steps;
    uint64_t validated_step; /* of the last validation before that; a later one belonged to the end
                                of a run, and whoever resumes drops its points; 0 = none */
    bool bits_may_differ;    /* the checkpoint comes from another core build */
};

struct nn_training_progress {
    uint64_t step, total_steps, epoch; /* epoch that the step is of, from 1; 0 before any */
    double images_per_second;          /* since the last call */
    const char *phase;                 /* "training", "validating", "evaluating" */
};

struct nn_checkpoint_notice {
    const char *path; /* whole and synced; stays until two later ones exist */
    uint64_t step, epoch;
    const char
        *summaries; /* JSON: {metric: {last, min, max, last_step, min_step, max_step, count}} */
    bool final;     /* the last of this run: at pause, stop or the end */
};

enum nn_training_control {
    NN_CONTINUE,
    NN_PAUSE,  /* finish the step, write a checkpoint, return NN_TRAINING_PAUSED */
    NN_STOP,   /* finish the step, evaluate, keep: NN_TRAINING_STOPPED */
    NN_CANCEL, /* leave at once: NN_ERR_CANCELLED */
};

/* All on the thread that called nn_training_run. Any may be NULL. Everything passed is borrowed for
 * the call. */
struct nn_training_callbacks {
    void *ctx;
    /* Once, before the first point. */
    void (*started)(void *ctx, const struct nn_training_start *start);
    /* About once a second, always before a checkpoint notice (which therefore vouches for every
     * point up to its step), and before the run returns. In order of step. A validation after the
     * last step, where none is due there, is told after the last notice. */
    void (*points)(void *ctx, const struct nn_point *points, size_t n);
    void (*progress)(void *ctx, const struct nn_training_progress *progress);
    void (*checkpoint)(void *ctx, const struct nn_checkpoint_notice *notice);
    enum nn_training_control (*control)(void *ctx); /* polled at each step and evaluation batch */
    size_t (*threads)(void *ctx);                   /* wanted threads, polled at each step */
    /* Once, after started: whether the run uses the file at prefix_path, and whether it made it. */
    void (*prefix)(void *ctx, bool has_rows, bool is_new);
    void (*log)(void *ctx, const char *text);
};

enum nn_training_outcome {
    NN_TRAINING_COMPLETED, /* all epochs done, or patience ran out */
    NN_TRAINING_STOPPED,
    NN_TRAINING_PAUSED,
    NN_TRAINING_DIVERGED,
};
const char *nn_training_outcome_text(enum nn_training_outcome outcome);

/* One predicted sample: what the predictions of a part are made of. */
struct nn_prediction {
    uint32_t sample; /* index into the prepared set */
    uint32_t truth;
    uint32_t predicted;
    float probability; /* of the predicted class */
};

/* Predictions of the sequences of a part, in its order and in the target's unit. A network that
 * predicts every step has as many rows of a sequence as that has steps, else there is one, of its
 * last step. */
struct nn_sequence_prediction {
    uint32_t sample; /* index into the set */
    size_t first;    /* row of `predicted` and `target` */
    size_t rows;
};

struct nn_sequence_predictions {
    size_t count, rows;
    struct nn_sequence_prediction *sequences; /* [count] */
    float *predicted, *target;                /* [rows]; target as it was cut off */
};

/* By the run's task: evaluation and predictions, or regression and sequences. */
struct nn_part_result {
    bool present;
    struct nn_evaluation evaluation;
    struct nn_prediction *predictions; /* [evaluation.samples] in order of the part */
    float *probabilities; /* [samples, classes] likewise; NULL for train and unless kept */
    struct nn_regression_evaluation regression;
    struct nn_sequence_predictions sequences; /* empty for train */
};

struct nn_training_result {
    struct nn_memory *memory; /* the setup's, where predictions lie: it must outlive the result */
    enum nn_training_outcome outcome;
    enum nn_task task; /* what the parts were evaluated for */
    bool patience_stopped;
    uint64_t step, total_steps, epoch; /* where it ended */
    uint64_t diverged_step;            /* 0 = did not */
    double best_validation_loss;       /* NaN if never validated */
    uint64_t best_step;
    struct nn_part_result parts[NN_PART_COUNT]; /* of the output network; none when paused */
    char network_path[256];                     /* safetensors; "" when paused */
    json_t *summaries;                          /* as in nn_checkpoint_notice */
    struct nn_training_profile profile;
    double seconds; /* of this call */
    double loader_stall_seconds;
    size_t plan_bytes;
};

/* Runs. OK: *out describes the outcome. ERR_DIVERGED: *out is set too (results of the last finite
 * network; outcome DIVERGED, diverged_step). Other failures leave it untouched: ERR_CANCELLED,
 * ERR_MEMORY (the plan is checked against the cap before the first step), ERR_INVALID (empty train
 * part, weights that do not fit, checkpoint of another spec), ERR_CORRUPT (no checkpoint verifies),
 * ERR_IO. Denormals are flushed on the calling thread from then on. */
NN_MUST_CHECK enum nn_status nn_training_run(const struct nn_training_setup *setup,
                                             const struct nn_training_callbacks *callbacks,
                                             struct nn_training_result **out, struct nn_error *err);
/* Back to a paused run, which left a checkpoint: what was evaluated will be done again. */
void nn_training_result_pause(struct nn_training_result *result);
void nn_training_result_destroy(struct nn_training_result *result);

/* Bytes that a run would plan (network, solver, best copy, loader): for dry runs. */
NN_MUST_CHECK enum nn_status nn_training_plan_bytes(const struct nn_training_setup *setup,
                                                    size_t *out, struct nn_error *err);

#endif
