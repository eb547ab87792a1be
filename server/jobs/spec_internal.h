/* SPDX-License-Identifier: MIT
 *
 * A job as a struct, and the two field tables that decode it: of a whole job, and of the part of it
 * that a trial keeps.
 */
#ifndef JOBS_SPEC_INTERNAL_H
#define JOBS_SPEC_INTERNAL_H

#include "core/data/noise.h"
#include "core/explain/options.h"
#include "core/json/json.h"
#include "core/search/search.h"
#include "core/training/training.h"
#include "server/jobs/jobs.h"

struct jobs_split_options {
    double train, validation;
    bool train_given, validation_given;
    int64_t seed;
};

struct jobs_limit_options {
    int64_t memory_bytes;
    bool memory_given;
    double seconds;             /* 0: none */
    double no_progress_seconds; /* 0: none */
};

/* What the samples of a data set are. */
enum jobs_samples { JOBS_IMAGES, JOBS_SEQUENCES, JOBS_CLASSED_SEQUENCES, JOBS_SIGNALS };
enum jobs_samples jobs_samples_of(const struct jobs_dataset *dataset);
const char *jobs_samples_name(enum jobs_samples samples); /* "images", in the plural */

/* Images and signals have a normalisation, signals noise, sequences all the rest; what is of
 * targets, and windows, only those that have targets. */
struct jobs_data_options {
    int normalisation; /* enum nn_normalisation */
    struct nn_noise noise;
    struct nn_scaling_options scaling;
    int sort; /* enum nn_sequence_sort */
    bool sort_given;
    struct nn_window_options windows;
};

/* What may be swept over. */
struct jobs_trial_spec {
    const json_t *network;
    const json_t *freeze; /* core/network/freeze.h */
    struct nn_augmentation augmentation;
    struct jobs_data_options data;
    struct jobs_split_options split;
    struct nn_training_options training;
    const json_t *metrics;        /* columns of the results table */
    const json_t *custom_metrics; /* NULL: none */
    struct nn_regression_options phm08;
    struct nn_explain_options explain;
    bool explain_given;
    int operators; /* enum nn_operators */
    int precision;
    struct jobs_limit_options limits;
    int64_t max_attempts;
    int64_t threads; /* 0: as many as the worker has to spare */
};

enum jobs_strategy { JOBS_GRID, JOBS_RANDOM, JOBS_BAYESIAN };

/* The sweep. What is not given is filled by jobs_sweep_init, where the strategy has it. */
struct jobs_search_options {
    int strategy;   /* enum jobs_strategy */
    int64_t trials; /* points; each makes a trial a seed */
    bool trials_given;
    int64_t seed; /* of the points */
    bool seed_given;
    int64_t initial_trials; /* bayesian: points at random before the first that is reasoned */
    bool initial_trials_given;
    int64_t at_once; /* bayesian: points that are chosen together */
    bool at_once_given;
    const json_t *parameters; /* {path: [values] or a range} */
};

struct jobs_job_spec {
    struct jobs_trial_spec trial; /* first: both tables use the same offsets */
    const char *kind, *dataset, *experiment, *name, *notes;
    const json_t *labels;
    const json_t *weights; /* an id, {network name: id}, or NULL */
    struct jx_ints seeds;
    struct jobs_search_options search;
};

extern const struct jx_field jobs_job_fields[];
extern const struct jx_field jobs_trial_fields[];

extern const struct jx_field jobs_data_fields[];

/* Refuses, with its pointer, a field of `data` or `evaluation` in a trial's JSON that is of the
 * other sort of samples. */
SV_MUST_CHECK enum sv_status jobs_data_check(const json_t *trial, enum jobs_samples samples,
                                             struct sv_error *err);
/* Of sequences: fills and checks what depends on the order of training (enum nn_shuffle). */
SV_MUST_CHECK enum sv_status jobs_data_complete(struct jobs_data_options *data, int shuffle,
                                                struct sv_error *err);
/* Takes the fields of the other sorts of samples out of an encoded spec. */
void jobs_data_prune(json_t *spec, enum jobs_samples samples);

/* Refuses, with its pointer, the first field or value that is valid but not built. */
SV_MUST_CHECK enum sv_status jobs_refuse_not_built(const json_t *submitted, struct sv_error *err);
/* The same for a path of a sweep and its values. */
SV_MUST_CHECK enum sv_status jobs_refuse_axis_not_built(const char *path, const json_t *values,
                                                        struct sv_error *err);

/* Completes what a trial is to explain, if anything, and checks it against network and data set. A
 * network that is wrong itself is no matter of explanations: then SV_OK. */
SV_MUST_CHECK enum sv_status jobs_explain_complete(struct jobs_trial_spec *spec,
                                                   const struct jobs_dataset *dataset,
                                                   struct sv_error *err);

/* Decodes by a table; a field that is not known is SV_ERR_UNKNOWN_FIELD, any other mistake
 * SV_ERR_INVALID_FIELD. */
SV_MUST_CHECK enum sv_status jobs_decode(const struct jx_field *fields, const json_t *json,
                                         void *out, struct sv_error *err);
/* The same of what stands at `pointer`. */
SV_MUST_CHECK enum sv_status jobs_decode_at(const struct jx_field *fields, const json_t *json,
                                            const char *pointer, void *out, struct sv_error *err);

/* A text without control characters. */
SV_MUST_CHECK enum sv_status jobs_line_check(const char *text, const char *pointer,
                                             struct sv_error *err);
/* Checks beyond the table: names are one line, labels and seeds do not repeat. */
SV_MUST_CHECK enum sv_status jobs_job_check(const struct jobs_job_spec *spec, struct sv_error *err);
/* Fills what depends on data set, solver and configuration, and checks what spans fields. */
SV_MUST_CHECK enum sv_status jobs_trial_complete(struct jobs_trial_spec *spec,
                                                 const struct jobs_dataset *dataset,
                                                 uint64_t memory_bytes, struct sv_error *err);

/* ------------------------------------------------------------------------------------- sweep */

struct jobs_axis {
    const char *path;     /* "training.solver", borrowed */
    const json_t *values; /* array, borrowed; NULL: a range */
    struct nn_search_axis search;
};

struct jobs_sweep {
    struct jobs_axis *axes;
    struct nn_search_axis *space; /* of the axes */
    size_t axis_count;
    size_t points;       /* that become trials, 1 without axes */
    size_t chosen;       /* of them, at submission; the rest when trials have ended */
    double *coordinates; /* [chosen x axis_count] as core/search has them */
};

/* Checks paths and that no value repeats, chooses the points, and fills what the search leaves
 * out; spec is borrowed until jobs_sweep_deinit. submitted is the job as it came: what it names
 * must not be swept as well. */
SV_MUST_CHECK enum sv_status jobs_sweep_init(struct jobs_job_spec *spec, const json_t *submitted,
                                             size_t max_trials, struct jobs_sweep *out_sweep,
                                             struct sv_error *err);
void jobs_sweep_deinit(struct jobs_sweep *sweep);

/* The coordinates of a chosen point. */
const double *jobs_sweep_point(const struct jobs_sweep *sweep, size_t point);
/* Is the field at the path set by an axis, itself or with an object that holds it? */
bool jobs_sweep_has(const struct jobs_sweep *sweep, const char *path);
/* Takes every field that an axis sets out of a job. */
void jobs_sweep_remove(const struct jobs_sweep *sweep, json_t *job);
/* Puts a value into a trial's JSON, an object over what is there, field by field. */
SV_MUST_CHECK enum sv_status jobs_sweep_put_value(const char *path, const json_t *value,
                                                  json_t *trial, struct sv_error *err);
/* Puts a point into a trial's JSON, and its values by their paths into `parameters`. */
SV_MUST_CHECK enum sv_status jobs_sweep_put(const struct jobs_sweep *sweep, const double *point,
                                            json_t *trial, json_t *parameters,
                                            struct sv_error *err);
/* Turns the pointer of a mistake in a swept field into that of the swept value, or of its range:
 * "/training/solver" -> "/search/parameters/training.solver/1". Other pointers stay. */
void jobs_sweep_blame(const struct jobs_sweep *sweep, const double *point, enum sv_status status,
                      struct sv_error *err);

/* ----------------------------------------------------------------------------------- network */

/* One network of a job, analysed once. */
struct jobs_network {
    char *key;               /* canonical text of spec, batch size and normalisation */
    json_t *spec;            /* expanded: every option with its value */
    double speed;            /* from history; 0: none */
    char weights[65];        /* digest of what it starts from; "": from the seed */
    char partly[320];        /* struct jobs_weights */
    json_t *warnings;        /* issues of its analysis that are none but are warned of */
    double multiply_adds;    /* of one sample, forward */
    uint64_t training_bytes; /* of the plan at the trial's batch size */
    uint64_t parameter_bytes;
};

struct jobs_networks {
    struct jobs_network *rows;
    size_t count;
};

/* Puts what weights say of their inputs ({scale, mean, std}; JSON null or NULL: nothing) into the
 * input layer of the expanded network *spec. `submitted` is the network as it came: what it says
 * itself of its inputs must agree. SV_ERR_INVALID_FIELD at /weights. */
SV_MUST_CHECK enum sv_status jobs_inputs_adopt(const json_t *submitted,
                                               const struct nn_network_bind *bind,
                                               const json_t *preprocessing, json_t **spec,
                                               struct sv_error *err);

void jobs_networks_deinit(struct jobs_networks *networks);
/* The analysed network of a trial, from the list or new in it (then history is asked, and weights
 * are matched: an id, or NULL). On SV_ERR_INVALID_NETWORK *out_issues is set. The pointer is good
 * until the next call. */
SV_MUST_CHECK enum sv_status
jobs_networks_get(struct jobs_networks *networks, const struct jobs_trial_spec *trial,
                  const char *weights_id, const struct jobs_dataset *dataset,
                  const struct jobs_context *context, const struct jobs_network **out_network,
                  json_t **out_issues, struct sv_error *err);

/* ----------------------------------------------------------------------------------- weights */

/* The id that a trial's network starts from, by the job's `weights`; NULL: from the seed. */
const char *jobs_weights_id(const json_t *weights, const json_t *network);
/* An id, or a map of ids. */
SV_MUST_CHECK enum sv_status jobs_weights_check(const json_t *weights, struct sv_error *err);
/* Where in the job the weights of a network are named. */
void jobs_weights_pointer(const json_t *weights, const json_t *network, char *out, size_t size);
/* Notes that the network starts from these, once. */
SV_MUST_CHECK enum sv_status jobs_weights_note(struct jobs_plan *plan, const json_t *network,
                                               const char *id, struct sv_error *err);
/* Each of a map was of use. */
SV_MUST_CHECK enum sv_status jobs_weights_check_used(const struct jobs_plan *plan,
                                                     const json_t *weights, struct sv_error *err);

/* ---------------------------------------------------------------------------------- warnings */

/* Adds a warning to the plan, unless it has the same one or very many. */
SV_MUST_CHECK enum sv_status jobs_warn(struct jobs_plan *plan, struct sv_error *err,
                                       const char *code, const char *pointer, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Those of a trial's network and of what it starts from (`weights`: as in the job), and of inputs
 * that do not come to it. */
SV_MUST_CHECK enum sv_status
jobs_warn_of_trial(struct jobs_plan *plan, const struct jobs_trial_spec *trial,
                   const struct jobs_network *network, const json_t *weights,
                   const struct jobs_dataset *dataset, struct sv_error *err);

/* Options that count only beside others: which of them are not as where they are left out, and
 * count in a trial, or do not in one. */
struct jobs_idle {
    unsigned counting, idle; /* bits by nn_solver_conditions, then by those of `data` (warn.c) */
};
SV_MUST_CHECK enum sv_status
jobs_idle_add(struct jobs_idle *idle, const struct jobs_trial_spec *trial, struct sv_error *err);
/* A default of the job's kind is nobody's wish: only what `submitted` or the sweep names. */
SV_MUST_CHECK enum sv_status jobs_idle_warn(const struct jobs_idle *idle, const json_t *submitted,
                                            const struct jobs_sweep *sweep, struct jobs_plan *plan,
                                            struct sv_error *err);

/* Bytes of the network's plan while it trains on batches of so many; 0: it has none. */
uint64_t jobs_network_bytes(const struct jobs_network *network, const struct jobs_trial_spec *trial,
                            const struct jobs_dataset *dataset, size_t batch);

/* Steps of a trial by the shares of its split: what is told until its process has cut the set. */
uint64_t jobs_estimate_steps(const struct jobs_trial_spec *trial,
                             const struct jobs_dataset *dataset);
/* Adds one trial to the estimate; memory over its limit is refused. */
SV_MUST_CHECK enum sv_status jobs_estimate_add(struct jobs_estimate *estimate,
                                               const struct jobs_trial_spec *trial,
                                               const struct jobs_network *network,
                                               const struct jobs_dataset *dataset,
                                               struct sv_error *err);

/* SHA-256 of the canonical text; false when out of memory. */
SV_MUST_CHECK bool jobs_hash(const json_t *json, char out_hex[65]);

#endif
