/* SPDX-License-Identifier: MIT
 *
 * What the mains of child processes share: the link to the supervisor, and the decoded start record
 * of a trial.
 */
#ifndef TRIAL_TRIAL_INTERNAL_H
#define TRIAL_TRIAL_INTERNAL_H

#include <jansson.h>

#include "core/base/cpu.h"
#include "core/base/sha256.h"
#include "core/explain/options.h"
#include "core/metrics/custom.h"
#include "core/network/freeze.h"
#include "core/training/training.h"
#include "server/base/error.h"
#include "server/trial/trial.h"
#include "server/wire/wire.h"

struct trial_start;
/* What the log has been told of a run so far. */
struct trial_story {
    const struct trial_start *start;
    uint64_t total_steps, step, next_step, epoch; /* next_step: the first to be told of again */
    double training_loss, loss, measure;          /* the last ones; NaN: none. Validation's */
    const char *measure_name;                     /* static; NULL: none yet */
    bool validates;
};

/* The link to the supervisor; confined to the main thread. When the supervisor is gone the process
 * ends at once, from within any of these calls: there is nobody to work for. */
struct trial_link {
    struct wire_channel *channel;
    bool stop, pause, cancel; /* wishes so far */
    size_t threads;           /* wanted; 0: nothing said */
    struct trial_story story;
    enum sv_status refusal; /* code of a refusal, for whoever waits; SV_OK: nothing in particular */
};

/* Limits and filters this process by its arguments, opens the link, waits for the start record.
 * On failure *out_exit is the status to leave with. */
NN_MUST_CHECK bool trial_open(int argc, char *const *argv, struct trial_link *out_link,
                              json_t **out_start, int *out_exit);
void trial_close(struct trial_link *link);

/* Takes what the supervisor has sent meanwhile. */
void trial_listen(struct trial_link *link);

/* Sends a JSON record; the value is transferred. */
void trial_say_take(struct trial_link *link, enum wire_type type, json_t *json);
void trial_say_bytes_take(struct trial_link *link, enum wire_type type, void *bytes, size_t size);
void trial_say_log(struct trial_link *link, const char *level, const char *text);
/* What a trial does now; said again before each piece of long work, or it would seem to hang. */
void trial_say_phase(struct trial_link *link, const char *phase);
/* The failed record of a core status; returns the exit status. */
int trial_say_failed(struct trial_link *link, enum nn_status status, const struct nn_error *err);
/* hello, with facts about this process that the caller adds. */
void trial_say_hello(struct trial_link *link, json_t *facts);

/* What happens to samples on their way in: images and signals have a normalisation, signals noise,
 * sequences the rest. */
struct trial_data {
    int normalisation; /* enum nn_normalisation */
    struct nn_noise noise;
    struct nn_scaling_options scaling;
    int sort; /* enum nn_sequence_sort */
    struct nn_window_options windows;
};

/* A trial's resolved spec, as far as its process needs it. */
struct trial_spec {
    uint64_t seed;
    const json_t *network;
    const json_t *freeze; /* core/network/freeze.h */
    struct trial_data data;
    struct nn_augmentation augmentation;
    struct nn_split_options split;
    struct nn_training_options training;
    int operators; /* enum nn_operators */
    struct nn_explain_options explain;
    bool explain_given;
    struct nn_custom_metric custom[NN_CUSTOM_MAX];
    size_t n_custom;
    struct nn_regression_options phm08;
};

/* The start record of a trial. Strings are borrowed from the JSON. */
struct trial_start {
    struct trial_spec spec;
    const json_t *document; /* the resolved spec as it came */
    const char *prepared;   /* file in the working directory: images or sequences */
    const char *weights;    /* likewise, safetensors; NULL: it begins from the seed */
    const char *initial;    /* likewise, a checkpoint whose weights it begins with; NULL: none */
    const char *prefix;     /* likewise, of the frozen prefix's rows: used or made; NULL: neither */
    uint64_t prefix_bytes;  /* the largest */
    const char *resume[2];  /* newest first */
    size_t threads, most_threads;
    uint64_t memory_bytes;
    enum nn_isa isa;
    char core_build[128]; /* build, OpenBLAS core, instruction set */
    const char *spec_digest;
};
/* The resolved spec of a trial, borrowed from the JSON. */
NN_MUST_CHECK enum nn_status trial_spec_decode(const json_t *json, struct trial_spec *out_spec,
                                               struct nn_error *err);
NN_MUST_CHECK enum nn_status trial_start_decode(const json_t *json, struct trial_start *out_start,
                                                struct nn_error *err);

/* All that a run stands on. Images or sequences, as the network asks. */
struct trial_ground {
    struct nn_memory *memory;
    struct nn_pool *pool;
    struct nn_prepared *prepared; /* or: */
    struct nn_sequences *sequences;
    struct nn_scaling *scaling;
    struct nn_split *split;
    struct nn_sequence_windows *windows; /* NULL: sequences are whole */
    struct nn_description *description;
    struct nn_frozen frozen;
    struct nn_layer_factor *factors;
    size_t n_factors;
    nn_real *class_weights; /* or NULL */
};
/* ground comes zeroed; to be destroyed after a failure too. Warnings go to the log. */
NN_MUST_CHECK enum nn_status trial_ground_create(struct trial_link *link,
                                                 const struct trial_start *start,
                                                 struct trial_ground *ground, struct nn_error *err);
void trial_ground_destroy(struct trial_ground *ground);
/* The setup of a run on it; borrows both. */
void trial_ground_setup(const struct trial_start *start, const struct trial_ground *ground,
                        struct nn_training_setup *setup);

/* Lines of the log. story.start must be set before the first. */
void trial_tell_start(struct trial_link *link, const struct nn_training_start *at);
void trial_tell_points(struct trial_link *link, const struct nn_point *points, size_t n);
void trial_tell_progress(struct trial_link *link, const struct nn_training_progress *progress);
/* result: NULL without one. */
void trial_tell_end(struct trial_link *link, enum nn_status status,
                    const struct nn_training_result *result, const struct nn_error *err);

/* Sends evaluations, predictions, artefacts of a finished run. */
void trial_say_results(struct trial_link *link, const struct trial_start *start,
                       const struct nn_training_result *result, const struct trial_ground *ground);
/* One part of a regression over sequences. */
void trial_say_sequences(struct trial_link *link, const struct trial_start *start,
                         enum nn_part part, const struct nn_part_result *result,
                         const struct nn_sequences *set);

/* Makes a network and loads what a run left into it. */
NN_MUST_CHECK enum nn_status trial_network_load(const struct nn_description *description,
                                                const struct nn_network_bind *bind,
                                                const struct nn_network_options *options,
                                                const char *path, struct nn_network **out,
                                                struct nn_error *err);

/* Makes what the spec asks to be explained, by the network that the run left, and sends it as an
 * artefact (explained_internal.h says its form). What cannot be made is said in the log: the trial
 * is worth more than its pictures. False: it left off, as it was told to cancel or to pause. */
NN_MUST_CHECK bool trial_say_explanations(struct trial_link *link, const struct trial_start *start,
                                          const struct nn_training_result *result,
                                          const struct trial_ground *ground);

struct trial_classes {
    const char *const *names;
    size_t count;
};

/* Arrays that a part's evaluation is made of. */
struct trial_part {
    enum nn_part part;
    json_t *metrics; /* rows {metric, value, n} */
    json_t *custom;  /* what became of each custom metric */
};

/* Runs the spec's custom metrics on a part and appends to its arrays; nothing where the part's
 * predictions were not kept. classes NULL: there are none. */
void trial_add_custom(struct trial_link *link, const struct trial_start *start,
                      const struct nn_part_result *result, const struct trial_classes *classes,
                      const struct trial_part *part);

#endif
