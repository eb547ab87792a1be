/* SPDX-License-Identifier: MIT
 *
 * The feed of regressions over sequences: scaled steps from the sequence loader, half mean squared
 * error against scaled targets. What is reported is in the target's own unit, against targets that
 * were cut off as those of training.
 *
 * A network predicts a row a step, or from the last step one row a sequence; then the target is
 * that of the last step. Where sequences are cut into windows, a window stands for a sequence; but
 * evaluation puts the windows of a sequence together again, so that figures and predictions are of
 * whole sequences, and no step counts twice.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/loss/loss.h"
#include "core/training/steps_internal.h"

/* Buffers of samples hold max_batch entries, those of rows max_rows; `restored` and `truths` also
 * the rows of a sequence whose last window is not judged yet, in front of those of a batch. */
struct sequence_feed {
    struct nn_steps steps;
    bool each_step; /* the network predicts every step */
    struct nn_scaling_column target;
    struct nn_regression_sums sums;
    /* of samples */
    const nn_real **targets;
    nn_real **outputs;
    uint32_t *rows_of; /* rows of each that are judged; then of each sequence that is complete */
    size_t held;       /* rows that wait for the last window of their sequence */
    /* of rows */
    nn_real *target_rows;
    nn_real *weights;
    nn_real *predicted;
    double *restored;
    double *truths;
};

static struct sequence_feed *sequences(struct nn_feed *feed)
{
    return (struct sequence_feed *)feed;
}

static const struct sequence_feed *const_sequences(const struct nn_feed *feed)
{
    return (const struct sequence_feed *)feed;
}

/* --- building --------------------------------------------------------------------------------- */

static void sequences_destroy(struct nn_feed *base)
{
    struct sequence_feed *feed = sequences(base);
    struct nn_memory *memory = base->setup->memory;
    nn_steps_deinit(&feed->steps);
    nn_memory_free(memory, feed->targets);
    nn_memory_free(memory, feed->outputs);
    nn_memory_free(memory, feed->rows_of);
    nn_memory_free(memory, feed->target_rows);
    nn_memory_free(memory, feed->weights);
    nn_memory_free(memory, feed->predicted);
    nn_memory_free(memory, feed->restored);
    nn_memory_free(memory, feed->truths);
    free(feed);
}

static enum nn_status buffers_make(struct sequence_feed *feed, struct nn_error *err)
{
    const struct nn_feed *base = &feed->steps.base;
    struct nn_memory *memory = base->setup->memory;
    size_t n = base->max_batch;
    size_t rows = feed->steps.max_rows;
    feed->targets = nn_memory_alloc(memory, n, sizeof *feed->targets);
    feed->outputs = nn_memory_alloc(memory, n, sizeof *feed->outputs);
    feed->rows_of = nn_memory_alloc(memory, n, sizeof *feed->rows_of);
    feed->target_rows = nn_memory_alloc(memory, rows, sizeof *feed->target_rows);
    feed->weights = nn_memory_alloc(memory, rows, sizeof *feed->weights);
    feed->predicted = nn_memory_alloc(memory, rows, sizeof *feed->predicted);
    size_t most = rows + nn_sequences_info(base->setup->sequences)->longest;
    feed->restored = nn_memory_alloc(memory, most, sizeof *feed->restored);
    feed->truths = nn_memory_alloc(memory, most, sizeof *feed->truths);
    bool ok = feed->targets && feed->outputs && feed->rows_of && feed->target_rows &&
              feed->weights && feed->predicted && feed->restored && feed->truths;
    return ok ? NN_OK : nn_fail(err, NN_ERR_MEMORY, "no memory for the buffers of a run");
}

static enum nn_status sequences_attach(struct nn_feed *base, struct nn_network *network,
                                       const struct nn_exec *exec, struct nn_error *err)
{
    (void)exec;
    struct sequence_feed *feed = sequences(base);
    if (nn_network_task(network) != NN_TASK_REGRESSION || nn_network_output_size(network) != 1) {
        return nn_fail(err, NN_ERR_INVALID, "the network must end in one number, the target");
    }
    feed->each_step = nn_network_output_is_sequence(network);
    enum nn_status status = nn_steps_attach(&feed->steps, network, err);
    return status == NN_OK ? buffers_make(feed, err) : status;
}

/* --- training --------------------------------------------------------------------------------- */

/* Where the targets of a sequence begin that the network predicts. */
static const nn_real *targets_at(const struct sequence_feed *feed, const nn_real *targets,
                                 size_t length)
{
    return feed->each_step ? targets : targets + (length - 1);
}

/* Of scaled rows. */
static double squares(const struct sequence_feed *feed, const nn_real *predictions, size_t rows)
{
    double sum = 0;
    for (size_t r = 0; r < rows; r++) {
        double difference = (double)predictions[r] - (double)feed->target_rows[r];
        sum += difference * difference;
    }
    return sum;
}

/* Root of the mean square over the rows, in the target's unit. */
static double sequences_measure(const struct nn_feed *base, const struct nn_feed_loss *batch)
{
    return sqrt(batch->sum / batch->size) * const_sequences(base)->target.factor;
}

/* Rows weigh as in the whole batch. */
static void weights_make(struct sequence_feed *feed, size_t count, size_t rows)
{
    nn_real share = (nn_real)count / (nn_real)feed->steps.batch.count;
    nn_network_row_weights(feed->steps.base.network, count, feed->weights);
    for (size_t r = 0; r < rows && count < feed->steps.batch.count; r++) {
        feed->weights[r] *= share;
    }
}

static struct nn_feed_loss sequences_loss(struct nn_feed *base, size_t first, size_t count)
{
    struct sequence_feed *feed = sequences(base);
    const struct nn_sequence_loader_batch *batch = &feed->steps.batch;
    size_t rows = nn_network_output_rows(base->network, count);
    for (size_t i = 0; i < count; i++) {
        feed->targets[i] = targets_at(feed, batch->targets[first + i], batch->lengths[first + i]);
    }
    nn_network_rows_from_samples(base->network, count, feed->targets, 1, feed->target_rows);
    weights_make(feed, count, rows);
    const struct nn_loss_responses responses = {.predictions = nn_network_output(base->network),
                                                .ld = 1,
                                                .targets = feed->target_rows,
                                                .weights = feed->weights,
                                                .rows = rows,
                                                .responses = 1};
    double sum = squares(feed, responses.predictions, rows);
    double loss =
        nn_loss_half_squared_error(&responses, nn_network_output_gradient(base->network), 1);
    return (struct nn_feed_loss){loss, sum, (double)rows};
}

/* --- evaluation ------------------------------------------------------------------------------- */

static void sequences_begin(struct nn_feed *base)
{
    const struct nn_regression_options *given = &base->setup->phm08;
    struct nn_regression_options options = given->a_early > 0 ? *given : nn_regression_defaults();
    options.target_scale = sequences(base)->target.factor;
    nn_regression_init(&sequences(base)->sums, &options);
    sequences(base)->held = 0;
}

static void sequences_load_part(struct nn_feed *base, const struct nn_split_side *side,
                                size_t first, size_t count)
{
    struct sequence_feed *feed = sequences(base);
    nn_steps_load_part(base, side, first, count);
    for (size_t i = 0; i < count; i++) {
        feed->rows_of[i] = feed->each_step ? nn_steps_piece(base, side->items[first + i]).fresh : 1;
    }
}

/* Predictions and targets of the loaded pieces in the target's unit, one piece after the other,
 * behind the rows that are held. */
static void rows_restore(struct sequence_feed *feed, const struct nn_split_side *side, size_t first,
                         size_t count)
{
    const struct nn_training_setup *setup = feed->steps.base.setup;
    double cut = nn_scaling_target_max(setup->scaling);
    size_t predicted = 0;
    for (size_t i = 0; i < count; i++) {
        feed->outputs[i] = feed->predicted + predicted;
        predicted += feed->each_step ? feed->steps.lengths[i] : 1;
    }
    nn_network_samples_from_rows(feed->steps.base.network, count,
                                 nn_network_output(feed->steps.base.network), 1, feed->outputs);
    size_t row = feed->held;
    for (size_t i = 0; i < count; i++) {
        const struct nn_sequence_piece piece =
            nn_steps_piece(&feed->steps.base, side->items[first + i]);
        size_t rows = feed->rows_of[i];
        const float *targets = nn_sequences_targets(setup->sequences, piece.sequence) +
                               piece.first + piece.length - rows;
        const nn_real *outputs = feed->outputs[i] + (feed->each_step ? piece.length - rows : 0);
        for (size_t t = 0; t < rows; t++, row++) {
            feed->truths[row] = fmin((double)targets[t], cut);
            feed->restored[row] = nn_scaling_restore(setup->scaling, 0, (double)outputs[t]);
        }
    }
}

static void prediction_take(const struct sequence_feed *feed, uint32_t sequence, size_t first,
                            size_t rows, struct nn_sequence_predictions *out)
{
    out->sequences[out->count++] = (struct nn_sequence_prediction){
        .sample = sequence, .first = out->rows, .rows = (uint32_t)rows};
    for (size_t row = first; row < first + rows; row++) {
        out->predicted[out->rows] = (float)feed->restored[row];
        out->target[out->rows++] = (float)feed->truths[row];
    }
}

/* Judges the sequences whose last piece this batch has, and keeps the rows of the one that goes on
 * in the next. */
static void sequences_judge_part(struct nn_feed *base, const struct nn_split_side *side,
                                 size_t first, size_t count, struct nn_part_result *result)
{
    struct sequence_feed *feed = sequences(base);
    size_t begin = 0, complete = 0; /* of the sequence under way: its first row; of all: how many */
    rows_restore(feed, side, first, count);
    size_t end = feed->held;
    for (size_t i = 0; i < count; i++) {
        const struct nn_sequence_piece piece = nn_steps_piece(base, side->items[first + i]);
        end += feed->rows_of[i];
        if (!piece.ends) {
            continue;
        }
        if (result && result->sequences.sequences) {
            prediction_take(feed, piece.sequence, begin, end - begin, &result->sequences);
        }
        feed->rows_of[complete++] = (uint32_t)(end - begin);
        begin = end;
    }
    nn_regression_add(&feed->sums, feed->restored, feed->truths, feed->rows_of, complete);
    feed->held = end - begin;
    memmove(feed->restored, feed->restored + begin, feed->held * sizeof *feed->restored);
    memmove(feed->truths, feed->truths + begin, feed->held * sizeof *feed->truths);
}

static double sequences_part_loss(const struct nn_feed *base)
{
    return nn_regression_loss(&const_sequences(base)->sums);
}

static double sequences_part_measure(const struct nn_feed *base)
{
    return nn_regression_rmse(&const_sequences(base)->sums);
}

/* Those of the train part are of no use to anybody, step by step. */
static enum nn_status sequences_predictions_make(const struct nn_feed *base, enum nn_part part,
                                                 struct nn_part_result *result,
                                                 struct nn_error *err)
{
    const struct nn_split_side *side = &base->setup->parts[part];
    struct nn_sequence_predictions *out = &result->sequences;
    size_t rows = 0, count = 0;
    if (part == NN_PART_TRAIN) {
        return NN_OK;
    }
    for (size_t i = 0; i < side->count; i++) {
        const struct nn_sequence_piece piece = nn_steps_piece(base, side->items[i]);
        rows += const_sequences(base)->each_step ? piece.fresh : 1;
        count += piece.ends;
    }
    struct nn_memory *memory = base->setup->memory;
    out->sequences = nn_memory_alloc(memory, count, sizeof *out->sequences);
    out->predicted = nn_memory_alloc(memory, rows, sizeof *out->predicted);
    out->target = nn_memory_alloc(memory, rows, sizeof *out->target);
    return out->sequences && out->predicted && out->target
               ? NN_OK
               : nn_fail(err, NN_ERR_MEMORY, "no memory for %zu predictions", rows);
}

static enum nn_status sequences_finish(struct nn_feed *base, struct nn_part_result *result,
                                       struct nn_error *err)
{
    (void)err;
    nn_regression_finish(&sequences(base)->sums, &result->regression);
    return NN_OK;
}

/* --- the whole -------------------------------------------------------------------------------- */

static const struct nn_feed_kind SEQUENCES = {
    .task = NN_TASK_REGRESSION,
    .training_measure = "training_rmse",
    .validation_measure = "validation_rmse",
    .destroy = sequences_destroy,
    .max_rows = nn_steps_max_rows,
    .attach = sequences_attach,
    .input_statistics = nn_steps_input_statistics,
    .start = nn_steps_start,
    .next = nn_steps_next,
    .load = nn_steps_load,
    .loss = sequences_loss,
    .measure = sequences_measure,
    .stall_seconds = nn_steps_stall_seconds,
    .begin = sequences_begin,
    .load_part = sequences_load_part,
    .judge_part = sequences_judge_part,
    .part_loss = sequences_part_loss,
    .part_measure = sequences_part_measure,
    .predictions_make = sequences_predictions_make,
    .finish = sequences_finish,
    .scaling = nn_steps_scaling,
};

static enum nn_status setup_check(const struct nn_training_setup *setup, struct nn_error *err)
{
    size_t targets = nn_sequences_info(setup->sequences)->targets;
    if (targets != 1 || setup->bind.responses != targets) {
        return nn_fail(err, NN_ERR_INVALID, "a regression needs one target a step");
    }
    if (setup->options.label_smoothing > 0 || setup->class_weights) {
        return nn_fail(err, NN_ERR_INVALID, "a regression has no classes to weigh or smooth");
    }
    return NN_OK;
}

enum nn_status nn_feed_sequences_create(const struct nn_training_setup *setup, size_t max_batch,
                                        struct nn_feed **out, struct nn_error *err)
{
    enum nn_status status = setup_check(setup, err);
    if (status != NN_OK) {
        return status;
    }
    struct sequence_feed *feed = calloc(1, sizeof *feed);
    if (!feed) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a feed");
    }
    feed->steps.base = (struct nn_feed){.kind = &SEQUENCES, .setup = setup, .max_batch = max_batch};
    status = nn_steps_init(&feed->steps, err);
    if (status != NN_OK) {
        sequences_destroy(&feed->steps.base);
        return status;
    }
    feed->target = nn_scaling_target(setup->scaling)[0];
    *out = &feed->steps.base;
    return NN_OK;
}
