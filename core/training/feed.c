/* SPDX-License-Identifier: MIT
 *
 * Which feed a setup wants, and what all of them check.
 */
#include "core/training/feed_internal.h"

static enum nn_status part_check(const struct nn_training_setup *setup, enum nn_part part,
                                 size_t count, struct nn_error *err)
{
    const struct nn_split_side *side = &setup->parts[part];
    for (size_t i = 0; i < side->count; i++) {
        if (side->items[i] >= count) {
            return nn_fail(err, NN_ERR_INVALID, "the %s part names sample %u of %zu",
                           nn_part_name(part), (unsigned)side->items[i], count);
        }
    }
    return NN_OK;
}

struct nn_feed_statistics nn_feed_statistics_of(const struct nn_feed *feed)
{
    const struct nn_parameter *mean = NULL;
    const struct nn_parameter *deviation = NULL;
    for (size_t i = 0; i < nn_network_parameter_count(feed->network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(feed->network, i);
        mean = parameter->role == NN_ROLE_INPUT_MEAN ? parameter : mean;
        deviation = parameter->role == NN_ROLE_INPUT_STD ? parameter : deviation;
    }
    if (!mean || !deviation || mean->described) {
        return (struct nn_feed_statistics){0};
    }
    return (struct nn_feed_statistics){mean->value, deviation->value, mean->count};
}

enum nn_status nn_feed_create(const struct nn_training_setup *setup, size_t max_batch,
                              struct nn_feed **out, struct nn_error *err)
{
    if (!setup->prepared == !setup->sequences) {
        return nn_fail(err, NN_ERR_INVALID, "a run trains on images, signals or sequences");
    }
    size_t count = setup->prepared  ? nn_prepared_info(setup->prepared)->count
                   : setup->windows ? nn_sequence_windows_total(setup->windows)
                                    : nn_sequences_info(setup->sequences)->count;
    if (setup->parts[NN_PART_TRAIN].count == 0) {
        return nn_fail(err, NN_ERR_INVALID, "there is no sample to train on");
    }
    for (int part = 0; part < NN_PART_COUNT; part++) {
        enum nn_status status = part_check(setup, (enum nn_part)part, count, err);
        if (status != NN_OK) {
            return status;
        }
    }
    if (setup->prepared) {
        return nn_feed_images_create(setup, max_batch, out, err);
    }
    return nn_sequences_info(setup->sequences)->class_count > 0
               ? nn_feed_sequence_classes_create(setup, max_batch, out, err)
               : nn_feed_sequences_create(setup, max_batch, out, err);
}
