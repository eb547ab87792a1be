/* SPDX-License-Identifier: MIT
 *
 * The options of training: the "training" object of a spec, and what follows from it.
 */
#ifndef NN_TRAINING_OPTIONS_H
#define NN_TRAINING_OPTIONS_H

#include "core/base/base.h"
#include "core/data/prepared.h"
#include "core/data/split.h"
#include "core/json/json.h"
#include "core/network/network.h"
#include "core/solvers/solvers.h"

enum nn_batch_norm_statistics { NN_BATCH_NORM_MOVING, NN_BATCH_NORM_POPULATION };
enum nn_output_network { NN_OUTPUT_LAST, NN_OUTPUT_BEST_VALIDATION_LOSS };

/* The "training" object of a spec. Integers are in the ranges of the field table. */
struct nn_training_options {
    struct nn_solver_options solver; /* its fields stand flat beside the others in JSON */
    int64_t epochs;
    int64_t batch_size;
    bool drop_last; /* drop the partial last batch of an epoch, unless it is the only one */
    int shuffle;    /* enum nn_shuffle */
    int batch_norm_statistics;    /* enum nn_batch_norm_statistics */
    int64_t validation_frequency; /* steps; 0 = at the end of each epoch. The last step always. */
    int64_t patience;             /* validations without a lower loss before stopping; 0 = never */
    int output_network;           /* enum nn_output_network */
    double checkpoint_interval_seconds; /* 0 = after every step */
    double head_learning_rate_factor;   /* times the rate of the head (nn_description_head) */
    const json_t *layer_factors;        /* rows of nn_layer_factor_fields, borrowed; NULL: none */
    int64_t micro_batch_size;           /* samples that are computed at once; 0: the whole batch */
    double label_smoothing;             /* of classifications: [0, 1) */
    const json_t *class_weights;        /* "balanced" or a weight a class, borrowed; NULL: none */
    double ema_decay; /* of the averaged weights that are evaluated and kept; 0: none */
};

/* Field table of nn_training_options (decoding, defaults, ranges, documentation). After decoding
 * call nn_training_options_resolve, which fills defaults that depend on the solver; encoding after
 * that gives every value. */
extern const struct jx_field nn_training_fields[];
void nn_training_options_resolve(struct nn_training_options *options);

/* What ranges cannot say, of resolved options: ERR_INVALID, the pointer relative to the training
 * object. */
NN_MUST_CHECK enum nn_status nn_training_options_check(const struct nn_training_options *options,
                                                       struct nn_error *err);

/* Of nn_solver_conditions, as bits: which options of these (resolved) are not as where they are
 * left out, and count, or do not. false: no memory. */
NN_MUST_CHECK bool nn_training_conditions(const struct nn_training_options *options,
                                          unsigned *out_counting, unsigned *out_idle);

/* Multiplies learning rate and L2 of the layers whose names fit a pattern (`*` any text, `?` any
 * character). Of several that fit a layer the last counts. 0: the layer does not learn. */
struct nn_layer_factor {
    const char *pattern;
    double factor, l2_factor;
};
extern const struct jx_field nn_layer_factor_fields[]; /* a row of the options' layer_factors */

/* The factors of a setup by its options: that of the head first, where it is not 1, then the rows
 * of layer_factors. Patterns are borrowed from options and description; *out is to be freed with
 * free(). NN_ERR_INVALID: a row is malformed or fits no layer that learns; the pointer is relative
 * to the training object. */
NN_MUST_CHECK enum nn_status nn_training_factors(const struct nn_training_options *options,
                                                 const struct nn_description *description,
                                                 const struct nn_network_bind *bind,
                                                 struct nn_layer_factor **out, size_t *out_n,
                                                 struct nn_error *err);

/* Steps of an epoch and of a whole run (0 only for an empty train part, which is refused). */
uint64_t nn_training_steps_per_epoch(const struct nn_training_options *options, size_t n_train);

/* The most samples that are computed at once: of a batch, or of a micro-batch. */
size_t nn_training_max_batch(const struct nn_training_options *options, size_t n_train);

/* Whether class_weights says "balanced", or a finite weight >= 0 for each class, one of them over
 * 0. ERR_INVALID, the pointer relative to the training object. */
NN_MUST_CHECK enum nn_status nn_training_class_weights_check(const json_t *class_weights,
                                                             size_t classes, struct nn_error *err);

/* Where the class of a sample stands: one of them. */
struct nn_training_labels {
    const struct nn_prepared *prepared;
    const struct nn_sequences *sequences;
};

/* The weights of the classes, to be freed with free(); NULL where the options name none. Balanced:
 * n / (k n_c) for a class with n_c of the n samples that train, k such classes; 1 for the others.
 * ERR_INVALID too where no class that trains has a weight over 0. */
NN_MUST_CHECK enum nn_status nn_training_class_weights(const struct nn_training_options *options,
                                                       const struct nn_training_labels *labels,
                                                       const struct nn_split_side *train,
                                                       nn_real **out, struct nn_error *err);

#endif
