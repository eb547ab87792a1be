/* SPDX-License-Identifier: MIT
 *
 * A feed: what stands between the loop and a data set; private to the room. The loop knows neither
 * images nor sequences: it asks its feed for the next batch, has it loaded into the network, and
 * asks for the loss, whose gradient the feed writes where the network expects it. Parts are
 * evaluated in the same way.
 *
 * A feed allocates while it is made; after attach it allocates only in start (the loader) and for
 * results. It holds no state that a checkpoint would need: the batches are a function of the setup,
 * of epoch and batch. Confined to the thread that runs.
 */
#ifndef NN_TRAINING_FEED_INTERNAL_H
#define NN_TRAINING_FEED_INTERNAL_H

#include "core/data/rows.h"
#include "core/kernels/exec.h"
#include "core/training/training.h"

struct nn_feed;

/* The training batch that was taken last. */
struct nn_feed_batch {
    size_t epoch;
    size_t first; /* position of its first sample within the epoch */
    size_t count; /* samples, 1..batch_size */
};

/* Of a piece of the batch; pieces of a batch are added up member by member. */
struct nn_feed_loss {
    double loss;      /* its part of the mean over the batch's samples; NaN if an output is */
    double sum, size; /* what `measure` makes of them */
};

struct nn_feed_kind {
    enum nn_task task;
    const char *training_measure; /* rows of nn_metric_table */
    const char *validation_measure;

    void (*destroy)(struct nn_feed *feed);
    /* The most rows of a batch of training or evaluation; 0: as many as samples. */
    size_t (*max_rows)(const struct nn_feed *feed);
    /* The network is built, with max_batch and max_rows: checks its output, allocates all buffers
     * from the setup's memory. network outlives the feed, exec is copied. ERR_INVALID, ERR_MEMORY.
     */
    enum nn_status (*attach)(struct nn_feed *feed, struct nn_network *network,
                             const struct nn_exec *exec, struct nn_error *err);
    /* Statistics of the input from the train part, where the network wants them. */
    void (*input_statistics)(struct nn_feed *feed);

    /* Training: once start, then next until false. Of each batch consecutive pieces of at most
     * max_batch samples, [first, first + count): load, the network's forward pass, loss, which
     * writes the gradient of the piece's part; then measure of all pieces. */
    enum nn_status (*start)(struct nn_feed *feed, size_t epoch, size_t batch, struct nn_error *err);
    bool (*next)(struct nn_feed *feed, struct nn_feed_batch *out_batch);
    void (*load)(struct nn_feed *feed, size_t first, size_t count);
    struct nn_feed_loss (*loss)(struct nn_feed *feed, size_t first, size_t count);
    double (*measure)(const struct nn_feed *feed, const struct nn_feed_loss *batch);
    double (*stall_seconds)(const struct nn_feed *feed); /* waited for batches so far */

    /* Evaluation: begin, then for consecutive pieces of a side load_part, forward and judge_part.
     * result: where its predictions go, after predictions_make; NULL: not wanted. */
    void (*begin)(struct nn_feed *feed);
    void (*load_part)(struct nn_feed *feed, const struct nn_split_side *side, size_t first,
                      size_t count);
    void (*judge_part)(struct nn_feed *feed, const struct nn_split_side *side, size_t first,
                       size_t count, struct nn_part_result *result);
    double (*part_loss)(const struct nn_feed *feed);    /* of what was judged since begin */
    double (*part_measure)(const struct nn_feed *feed); /* what `validation_measure` names */
    enum nn_status (*predictions_make)(const struct nn_feed *feed, enum nn_part part,
                                       struct nn_part_result *result, struct nn_error *err);
    enum nn_status (*finish)(struct nn_feed *feed, struct nn_part_result *result,
                             struct nn_error *err);
    /* How data was scaled, to be kept with the network; a new reference, NULL: out of memory. The
     * function itself is NULL where nothing is. */
    json_t *(*scaling)(const struct nn_feed *feed);
};

/* What every feed begins with. */
struct nn_feed {
    const struct nn_feed_kind *kind;
    const struct nn_training_setup *setup;
    struct nn_network *network; /* since attach */
    size_t max_batch;
    /* The frozen prefix (prefix.c): its rows, to load instead of pixels; or room for max_batch of
     * prefix_width numbers, to compute them at each step; or both NULL: there is none. */
    struct nn_rows *rows;
    nn_real *prefix_rows;
    size_t prefix_width;
};

/* The feed of a setup, after checking that its parts and the network's bind fit its data set. */
NN_MUST_CHECK enum nn_status nn_feed_create(const struct nn_training_setup *setup, size_t max_batch,
                                            struct nn_feed **out, struct nn_error *err);

/* Where statistics of the input are wanted: those of a zscore that the description does not give;
 * count 0: nowhere. */
struct nn_feed_statistics {
    nn_real *mean, *deviation; /* [count], of the network's parameters */
    size_t count;
};
struct nn_feed_statistics nn_feed_statistics_of(const struct nn_feed *feed);

/* points.c: the clock of setups without one */
double nn_system_clock(void *ctx);

/* feed_images.c */
NN_MUST_CHECK enum nn_status nn_feed_images_create(const struct nn_training_setup *setup,
                                                   size_t max_batch, struct nn_feed **out,
                                                   struct nn_error *err);
/* feed_sequences.c: regressions */
NN_MUST_CHECK enum nn_status nn_feed_sequences_create(const struct nn_training_setup *setup,
                                                      size_t max_batch, struct nn_feed **out,
                                                      struct nn_error *err);
/* feed_sequence_classes.c */
NN_MUST_CHECK enum nn_status nn_feed_sequence_classes_create(const struct nn_training_setup *setup,
                                                             size_t max_batch, struct nn_feed **out,
                                                             struct nn_error *err);
/* steps.c: the most steps of a batch of any part. */
size_t nn_feed_sequences_rows(const struct nn_training_setup *setup, size_t max_batch);

#endif
