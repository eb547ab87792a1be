/* SPDX-License-Identifier: MIT
 *
 * The feed of classifications of sequences: scaled steps from the sequence loader, cross-entropy
 * over the classes, one score a class and sequence. A sequence is a sample, as an image is: all
 * that is judged and kept of it is the same.
 */
#include <stdlib.h>

#include "core/training/classes_internal.h"
#include "core/training/steps_internal.h"

struct class_feed {
    struct nn_steps steps;
    struct nn_classes classes;
};

static struct class_feed *class_feed(struct nn_feed *feed)
{
    return (struct class_feed *)feed;
}

static const struct class_feed *const_class_feed(const struct nn_feed *feed)
{
    return (const struct class_feed *)feed;
}

static void class_feed_destroy(struct nn_feed *base)
{
    struct class_feed *feed = class_feed(base);
    nn_classes_deinit(&feed->classes, base->setup->memory);
    nn_steps_deinit(&feed->steps);
    free(feed);
}

static enum nn_status class_feed_attach(struct nn_feed *base, struct nn_network *network,
                                        const struct nn_exec *exec, struct nn_error *err)
{
    struct class_feed *feed = class_feed(base);
    enum nn_status status = nn_steps_attach(&feed->steps, network, err);
    return status == NN_OK ? nn_classes_make(&feed->classes, base, exec, err) : status;
}

static struct nn_feed_loss class_feed_loss(struct nn_feed *base, size_t first, size_t count)
{
    struct class_feed *feed = class_feed(base);
    const struct nn_sequence_loader_batch *batch = &feed->steps.batch;
    return nn_classes_loss(&feed->classes, base, batch->labels + first, count, batch->count);
}

static void class_feed_begin(struct nn_feed *base)
{
    nn_evaluator_reset(class_feed(base)->classes.evaluator);
}

static void class_feed_load_part(struct nn_feed *base, const struct nn_split_side *side,
                                 size_t first, size_t count)
{
    uint32_t *labels = class_feed(base)->classes.labels;
    nn_steps_load_part(base, side, first, count);
    for (size_t i = 0; i < count; i++) {
        labels[i] = nn_sequences_label(base->setup->sequences, side->items[first + i]);
    }
}

static void class_feed_judge_part(struct nn_feed *base, const struct nn_split_side *side,
                                  size_t first, size_t count, struct nn_part_result *result)
{
    nn_classes_judge(&class_feed(base)->classes, base, side, first, count, result);
}

static double class_feed_part_loss(const struct nn_feed *base)
{
    return nn_evaluator_loss(const_class_feed(base)->classes.evaluator);
}

static double class_feed_part_measure(const struct nn_feed *base)
{
    return nn_evaluator_accuracy(const_class_feed(base)->classes.evaluator);
}

static enum nn_status class_feed_finish(struct nn_feed *base, struct nn_part_result *result,
                                        struct nn_error *err)
{
    return nn_evaluator_finish(class_feed(base)->classes.evaluator, &result->evaluation, err);
}

static const struct nn_feed_kind SEQUENCE_CLASSES = {
    .task = NN_TASK_CLASSIFICATION,
    .training_measure = "training_accuracy",
    .validation_measure = "validation_accuracy",
    .destroy = class_feed_destroy,
    .max_rows = nn_steps_max_rows,
    .attach = class_feed_attach,
    .input_statistics = nn_steps_input_statistics,
    .start = nn_steps_start,
    .next = nn_steps_next,
    .load = nn_steps_load,
    .loss = class_feed_loss,
    .measure = nn_classes_measure,
    .stall_seconds = nn_steps_stall_seconds,
    .begin = class_feed_begin,
    .load_part = class_feed_load_part,
    .judge_part = class_feed_judge_part,
    .part_loss = class_feed_part_loss,
    .part_measure = class_feed_part_measure,
    .predictions_make = nn_classes_predictions_make,
    .finish = class_feed_finish,
    .scaling = nn_steps_scaling,
};

static enum nn_status setup_check(const struct nn_training_setup *setup, struct nn_error *err)
{
    if (setup->bind.classes != nn_sequences_info(setup->sequences)->class_count) {
        return nn_fail(err, NN_ERR_INVALID, "the network is bound to another data set");
    }
    if (setup->windows) {
        return nn_fail(err, NN_ERR_INVALID,
                       "a class is of a whole sequence, not of each of its windows");
    }
    return NN_OK;
}

enum nn_status nn_feed_sequence_classes_create(const struct nn_training_setup *setup,
                                               size_t max_batch, struct nn_feed **out,
                                               struct nn_error *err)
{
    enum nn_status status = setup_check(setup, err);
    if (status != NN_OK) {
        return status;
    }
    struct class_feed *feed = calloc(1, sizeof *feed);
    if (!feed) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a feed");
    }
    feed->steps.base =
        (struct nn_feed){.kind = &SEQUENCE_CLASSES, .setup = setup, .max_batch = max_batch};
    status = nn_steps_init(&feed->steps, err);
    if (status != NN_OK) {
        class_feed_destroy(&feed->steps.base);
        return status;
    }
    *out = &feed->steps.base;
    return NN_OK;
}
