/* SPDX-License-Identifier: MIT
 *
 * From a submitted job to the trials that run: field tables, defaults, refusals that name the
 * field, the sweep, hashes and the estimate of a dry run. Pure: no database, no clock, no files;
 * the caller hands in what is known of the data set. The transition table of trials is in
 * transition.h.
 *
 * A trial's resolved spec is all that its process needs beside file paths:
 *     {kind, network, weights, freeze, augmentation, data, split, seed, training, evaluation,
 *      explain, operators, precision, limits, max_attempts, threads}
 * where weights is the SHA-256 of the weights it starts from, or null, and one more member,
 * initial_checkpoint, that of the checkpoint whose weights a fork begins with instead,
 * so it runs without its kind, and equal text means an equal trial.
 */
#ifndef JOBS_JOBS_H
#define JOBS_JOBS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "server/base/error.h"

struct nn_network_bind;
struct nn_scaling_options;

enum { JOBS_NAME_MAX = 200, JOBS_NOTES_MAX = 20000, JOBS_LABELS_MAX = 32, JOBS_LABEL_MAX = 64 };

/* What a spec is checked against. Counts are samples per part. */
struct jobs_dataset {
    char id[33];
    bool sequences;                 /* with targets, or with classes; else images, or: */
    bool signals;                   /* windows, as images of one row */
    size_t height, width, channels; /* of images and windows */
    size_t classes;
    size_t inputs, constant_inputs; /* of a step; the latter are those with one value, left out */
    char constant_names[120];       /* of the latter, the first ones */
    size_t targets, longest;        /* of a step; steps of the longest sequence */
    bool remaining_life;            /* the target is what remains of a life */
    double mean_steps;              /* of a sequence */
    size_t train, validation, test;
    bool indivisible; /* of the train part none can be kept back to validate or test */
};

/* What a network for the data set is bound to, in a job, an analysis and a match with weights
 * alike. scaling (of sequences) NULL: as in a job that says nothing of it. */
struct nn_network_bind jobs_dataset_bind(const struct jobs_dataset *dataset,
                                         const struct nn_scaling_options *scaling);

/* Fills out_dataset for an id of the caller's project; SV_ERR_NOT_FOUND when there is none,
 * SV_ERR_WRONG_STATE at /dataset, with the state in err's text, when it is not ready. */
typedef enum sv_status (*jobs_dataset_fn)(void *ctx, const char *id,
                                          struct jobs_dataset *out_dataset, struct sv_error *err);
/* Weights that a trial starts from. */
struct jobs_weights {
    char id[33];
    char digest[65];       /* SHA-256 of their content */
    char partly[320];      /* what of them or of the network found no counterpart; "": nothing */
    json_t *preprocessing; /* of inputs: {scale, mean, std, transform_input}, or NULL; owned */
};
/* Fills out_weights for an id of the caller's project, after matching them, the head replaced, with
 * `network` (as in a job, known to be sound) bound as its trial will be. SV_ERR_NOT_FOUND;
 * SV_ERR_WRONG_STATE: not ready; SV_ERR_INVALID_FIELD: they do not fit, err's text says why. */
typedef enum sv_status (*jobs_weights_fn)(void *ctx, const char *id, const json_t *network,
                                          const struct nn_network_bind *bind,
                                          struct jobs_weights *out_weights, struct sv_error *err);
/* What decides how fast a trial goes, as JSON texts. */
struct jobs_pace {
    const char *network; /* as it stands in resolved specs */
    const char *rest;    /* an object: dotted paths into resolved specs, and the values there */
};
/* Median training speed of completed trials of the same pace on sets of the same shape, in samples
 * per second and thread; 0 when there is no history. */
typedef double (*jobs_history_fn)(void *ctx, const struct jobs_pace *pace,
                                  const struct jobs_dataset *dataset);

struct jobs_context {
    jobs_dataset_fn find_dataset; /* not NULL */
    jobs_weights_fn find_weights; /* not NULL */
    jobs_history_fn history;      /* NULL: none */
    void *ctx;
    size_t max_trials;           /* of one job */
    uint64_t trial_memory_bytes; /* limit of a trial that names none */
};

struct jobs_trial {
    size_t index;       /* from 1, in the order of the sweep: seeds run fastest */
    json_t *parameters; /* {"training.solver": "adam"}: the swept values alone; null until chosen */
    uint64_t seed;
    json_t *resolved; /* see the file head; NULL: the search chooses its point later */
    /* Steps it will train, by the shares of the split; the cut by class may round otherwise. */
    uint64_t total_steps;
    char hash[65]; /* SHA-256 of the canonical text of `resolved`; "" without */
    char *refusal; /* of jobs_search_next: why no trial can be made of the point; owned */
};

/* Which network of the job starts from which weights. */
struct jobs_start {
    char *network; /* its name; "" for layers without one; owned */
    char weights_id[33];
};

struct jobs_estimate {
    double seconds;        /* of one worker core, all trials one after the other */
    const char *basis;     /* "history" or "multiply_adds" */
    uint64_t memory_bytes; /* of the largest trial's plan */
    double multiply_adds;  /* of all trials */
};

/* A job understood: owned by the caller, ended by jobs_plan_destroy. */
struct jobs_plan {
    const char *kind;            /* static */
    const char *headline_metric; /* static; "validation_accuracy" */
    char dataset_id[33];
    char *name, *experiment, *notes; /* "" when not given */
    json_t *labels;                  /* array of strings */
    json_t *resolved;                /* the whole job with every default */
    char hash[65];                   /* SHA-256 of the canonical text of `resolved` */
    struct jobs_trial *trials;
    size_t trial_count;
    struct jobs_start *starts; /* one a network that starts from weights */
    size_t start_count;
    bool without_weights; /* a trial of a kind that starts from weights has none */
    json_t *warnings;     /* [{code, pointer, text}]: what is allowed and is seldom meant */
    struct jobs_estimate estimate;
};

/* Understands `submitted` (borrowed). On SV_ERR_INVALID_NETWORK *out_issues is the array of all
 * issues (owned by the caller); otherwise it is untouched. Errors name the JSON pointer:
 * SV_ERR_UNKNOWN_FIELD, SV_ERR_INVALID_FIELD, SV_ERR_NOT_SUPPORTED, SV_ERR_INVALID_NETWORK. */
SV_MUST_CHECK enum sv_status jobs_resolve(json_t *submitted, const struct jobs_context *context,
                                          struct jobs_plan **out_plan, json_t **out_issues,
                                          struct sv_error *err);
void jobs_plan_destroy(struct jobs_plan *plan);

/* What became of a trial of a search. */
enum jobs_tried_state {
    JOBS_TRIED_OPEN,     /* its point is to be chosen */
    JOBS_TRIED_UNKNOWN,  /* it is under way, or tells nothing: cancelled, discarded */
    JOBS_TRIED_MEASURED, /* it has ended with a value */
    JOBS_TRIED_FAILED,   /* it has ended without one */
};
struct jobs_tried {
    enum jobs_tried_state state;
    const json_t *parameters; /* as in jobs_trial */
    double value;             /* of the headline metric */
};

/* What a search goes on from: the job as it was submitted, so that later trials get their defaults
 * as the first ones did (the period of a cosine hangs on swept epochs), with the search and the
 * limit of memory that it got then. New; NULL when out of memory. */
json_t *jobs_search_job(const json_t *submitted, const json_t *resolved);

/* Goes on with a search whose trials up to the first open one have ended: chooses the next points.
 * job: of jobs_search_job; tried: its trials, by index, of which those after the search's own do
 * not count; higher: larger values are better. The plan holds the trials that were open and now are
 * chosen, those of a point that cannot be tried with a refusal, and nothing else that is of use.
 * None open: a plan without trials. The points depend on the job and on what was tried before them,
 * and on nothing else. */
SV_MUST_CHECK enum sv_status jobs_search_next(json_t *job, const struct jobs_context *context,
                                              const struct jobs_tried *tried, size_t n, bool higher,
                                              struct jobs_plan **out_plan, struct sv_error *err);

/* The answer of a dry run: {resolved, trials, trial_count, estimate, warnings}. NULL when out of
 * memory. */
json_t *jobs_plan_encode(const struct jobs_plan *plan);

/* Of `parameters` (search.parameters of a resolved job of that kind; NULL: none) those along which
 * the target differs: trials that differ in them are not ranked against one another. New; NULL: out
 * of memory, as below. */
json_t *jobs_target_parameters(const char *kind, const json_t *parameters);
/* What a resolved spec says of its target: {"data.rul_threshold": 150}; {} of most kinds. */
json_t *jobs_target_of(const char *kind, const json_t *resolved);

/* Why does a network say what it says of one sample? */
struct jobs_question {
    const struct nn_network_bind *bind;
    bool signals;       /* windows, not pictures */
    const char *method; /* of enum nn_explain_method */
    const char *layer;  /* NULL: the usual one */
    const json_t *body; /* {mask_value, occlusion, lime} as in `explain` of a job, beside other
                           fields; NULL: none of them */
};
/* Whether a trained network, as it stands in a resolved spec, can be asked this. *out_options is
 * the `explain` object for it, new. SV_ERR_INVALID_FIELD, SV_ERR_NOT_SUPPORTED at /method, /layer
 * or a field of the body. */
SV_MUST_CHECK enum sv_status jobs_explain_later(const json_t *network,
                                                const struct jobs_question *question,
                                                json_t **out_options, struct sv_error *err);

/* A trial that has come to an end, and what it becomes when it is given more epochs. */
struct jobs_progress {
    int state; /* enum jobs_state: completed or stopped */
    int64_t step, total_steps;
};
struct jobs_extension {
    json_t *resolved, *parameters; /* the trial's, new */
    char hash[65];
    int64_t total_steps; /* 0: not known */
};
/* epochs: in all, those of before too. SV_ERR_INVALID_FIELD at /epochs when these are no more than
 * it has had; SV_ERR_WRONG_STATE when patience ended it. */
SV_MUST_CHECK enum sv_status jobs_extend(const struct jobs_progress *at, const json_t *resolved,
                                         const json_t *parameters, int64_t epochs,
                                         struct jobs_extension *out_extension,
                                         struct sv_error *err);
void jobs_extension_deinit(struct jobs_extension *extension);

/* A trial and its job, as they were stored. */
struct jobs_settled {
    const json_t *submitted, *job_resolved; /* of the job */
    const json_t *parameters, *resolved;    /* of the trial */
    uint64_t seed;
};
/* The job that has this trial alone: the submitted one with what its sweep chose settled. */
SV_MUST_CHECK enum sv_status jobs_of_trial(const struct jobs_settled *trial, json_t **out_spec,
                                           struct sv_error *err);

/* A fork changes how its trial trains and what is made of it, not what trains on what. NULL: no
 * changes. SV_ERR_INVALID_FIELD at a field that stays as it is. */
SV_MUST_CHECK enum sv_status jobs_fork_check(const json_t *patch, struct sv_error *err);
/* Has all trials of the plan begin with a checkpoint of this SHA-256: it is in their specs. */
SV_MUST_CHECK enum sv_status jobs_plan_fork(struct jobs_plan *plan, const char *sha256,
                                            struct sv_error *err);

/* JSON schemas of a job, of a range in its search, and of its PATCH as the field tables describe
 * them, for the drift test of the API description. NULL when out of memory. */
json_t *jobs_schema(void);
json_t *jobs_range_schema(void);
json_t *jobs_edit_schema(void);

/* {name, notes, labels} of a PATCH: each given one checked by the same rules as at submission; an
 * empty body is refused. */
struct jobs_edit {
    const char *name, *notes; /* borrowed from the body; NULL: leave as is */
    const json_t *labels;     /* borrowed; NULL: leave as is */
};
SV_MUST_CHECK enum sv_status jobs_edit_decode(const json_t *body, struct jobs_edit *out_edit,
                                              struct sv_error *err);
/* Labels, an array of strings: without control characters, none of them twice; pointers say
 * /labels.
 */
SV_MUST_CHECK enum sv_status jobs_labels_check(const json_t *labels, struct sv_error *err);

#endif
