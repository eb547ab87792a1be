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
#include "core/metrics/custom.h"
#include "core/training/training.h"
#include "server/trial/trial.h"
#include "server/wire/wire.h"

/* The link to the supervisor; confined to the main thread. When the supervisor is gone the process
 * ends at once, from within any of these calls: there is nobody to work for. */
struct trial_link {
    struct wire_channel *channel;
    bool stop, pause, cancel; /* wishes so far */
    size_t threads;           /* wanted; 0: nothing said */
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
/* The failed record of a core status; returns the exit status. */
int trial_say_failed(struct trial_link *link, enum nn_status status, const struct nn_error *err);
/* hello, with facts about this process that the caller adds. */
void trial_say_hello(struct trial_link *link, json_t *facts);

/* A trial's resolved spec, as far as its process needs it. */
struct trial_spec {
    uint64_t seed;
    const json_t *network;
    const json_t *freeze; /* core/network/freeze.h */
    int normalisation;    /* enum nn_normalisation */
    struct nn_augmentation augmentation;
    struct nn_split_options split;
    struct nn_training_options training;
    int operators; /* enum nn_operators */
    struct nn_custom_metric custom[NN_CUSTOM_MAX];
    size_t n_custom;
};

/* The start record of a trial. Strings are borrowed from the JSON. */
struct trial_start {
    struct trial_spec spec;
    const json_t *document; /* the resolved spec as it came */
    const char *prepared;   /* file in the working directory */
    const char *weights;    /* likewise, safetensors; NULL: it begins from the seed */
    const char *prefix;     /* likewise, of the frozen prefix's rows: used or made; NULL: neither */
    uint64_t prefix_bytes;  /* the largest */
    const char *resume[2];  /* newest first */
    size_t threads, most_threads;
    uint64_t memory_bytes;
    enum nn_isa isa;
    char core_build[128]; /* build, OpenBLAS core, instruction set */
    const char *spec_digest;
};
NN_MUST_CHECK enum nn_status trial_start_decode(const json_t *json, struct trial_start *out_start,
                                                struct nn_error *err);

/* Sends evaluations, predictions, artefacts of a finished run. */
void trial_say_results(struct trial_link *link, const struct trial_start *start,
                       const struct nn_training_result *result, const struct nn_prepared *prepared);

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
 * predictions were not kept. */
void trial_add_custom(struct trial_link *link, const struct trial_start *start,
                      const struct nn_part_result *result, const struct trial_classes *classes,
                      const struct trial_part *part);

#endif
