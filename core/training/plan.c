/* SPDX-License-Identifier: MIT
 *
 * The bytes of a run before it exists, for dry runs: an estimate that is a little high.
 */
#include "core/network/prefix.h"
#include "core/training/state_internal.h"

/* Learnable values of the network, from its analysis. */
static enum nn_status learnables(const struct nn_training_setup *setup, size_t batch, size_t *out,
                                 struct nn_error *err)
{
    json_t *report = NULL;
    json_t *spec = nn_description_json(setup->description);
    if (!spec) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to analyse a network");
    }
    enum nn_status status = nn_network_analyze(spec, &setup->bind, batch, &report, err);
    if (status == NN_OK) {
        *out = (size_t)json_integer_value(jx_path_get(report, "totals.learnables")) +
               (size_t)json_integer_value(jx_path_get(report, "totals.states"));
    }
    json_decref(report);
    json_decref(spec);
    return status;
}

/* Rows of the frozen prefix for a batch, as if there were no file of them: it may not fit. */
static enum nn_status prefix_bytes(const struct nn_training_setup *setup,
                                   const struct nn_network_options *options, size_t *out,
                                   struct nn_error *err)
{
    struct nn_prefix prefix;
    bool has = false;
    enum nn_status status = NN_OK;
    if (!setup->sequences && !nn_augmentation_is_on(&setup->augmentation)) {
        status =
            nn_network_plan_prefix(setup->description, &setup->bind, options, &has, &prefix, err);
    }
    *out =
        has ? options->max_batch * prefix.height * prefix.width * prefix.channels * sizeof(nn_real)
            : 0;
    return status;
}

static bool is_regression(const struct nn_training_setup *setup)
{
    return setup->sequences && nn_sequences_info(setup->sequences)->class_count == 0;
}

/* Of a feed: batches in flight, buffers of evaluation, scaled copies. */
static size_t feed_bytes(const struct nn_training_setup *setup, size_t max_rows)
{
    if (!setup->sequences) {
        const struct nn_prepared_info *info = nn_prepared_info(setup->prepared);
        size_t item = info->height * info->width * info->channels * info->value_bytes;
        size_t ahead = 6; /* evaluation's included */
        size_t train = setup->parts[NN_PART_TRAIN].count;
        size_t batch_size = (size_t)setup->options.batch_size;
        size_t batch = train < batch_size ? train : batch_size;
        size_t noisy = nn_noise_is_on(&setup->noise) ? info->count * item : 0;
        return ahead * batch * item + noisy;
    }
    size_t scaled =
        setup->scaling ? nn_scaled_sequences_bytes(setup->sequences, setup->scaling) : 0;
    /* windows and the loader's order of them */
    size_t windows = setup->windows ? nn_sequence_windows_total(setup->windows) *
                                          (sizeof(struct nn_sequence_piece) + 3 * sizeof(uint32_t))
                                    : 0;
    size_t held = max_rows + nn_sequences_info(setup->sequences)->longest;
    size_t judged =
        is_regression(setup) ? max_rows * 3 * sizeof(nn_real) + held * 2 * sizeof(double) : 0;
    return scaled + windows + judged;
}

/* Of the parts that are held out, as if every step of a sequence were predicted; of a
 * classification also of those that train. */
static size_t predictions_bytes(const struct nn_training_setup *setup)
{
    size_t train = setup->parts[NN_PART_TRAIN].count;
    bool regression = is_regression(setup);
    size_t bytes = regression ? 0 : train * sizeof(struct nn_prediction);
    for (int part = NN_PART_TRAIN + 1; part < NN_PART_COUNT; part++) {
        const struct nn_split_side *side = &setup->parts[part];
        size_t row = setup->keep_probabilities ? setup->bind.classes * sizeof(float) : 0;
        bytes += side->count * (regression ? sizeof(struct nn_sequence_prediction)
                                           : sizeof(struct nn_prediction) + row);
        for (size_t i = 0; regression && i < side->count; i++) {
            bytes += nn_sequence_piece_at(setup->sequences, setup->windows, side->items[i]).fresh *
                     2 * sizeof(float);
        }
    }
    return bytes;
}

enum nn_status nn_training_plan_bytes(const struct nn_training_setup *setup, size_t *out,
                                      struct nn_error *err)
{
    size_t train = setup->parts[NN_PART_TRAIN].count;
    size_t batch = nn_training_max_batch(&setup->options, train);
    size_t values = 0;
    size_t network = 0;
    size_t prefix = 0;
    size_t max_rows = setup->sequences ? nn_feed_sequences_rows(setup, batch) : 0;
    const struct nn_network_options options = {.max_batch = batch,
                                               .max_rows = max_rows,
                                               .phase = NN_PHASE_TRAINING,
                                               .frozen = setup->frozen,
                                               .n_frozen = setup->n_frozen};
    enum nn_status status =
        nn_network_plan_bytes(setup->description, &setup->bind, &options, &network, err);
    if (status == NN_OK) {
        status = learnables(setup, batch, &values, err);
    }
    if (status == NN_OK) {
        status = prefix_bytes(setup, &options, &prefix, err);
    }
    if (status != NN_OK) {
        return status;
    }
    size_t copies = nn_solver_slots_per_value(setup->options.solver.kind) + 1; /* and `kept` */
    copies += setup->options.ema_decay > 0;
    enum { FIXED = 1 << 20 };
    *out = network + copies * values * sizeof(nn_real) + feed_bytes(setup, max_rows) + prefix +
           predictions_bytes(setup) + FIXED;
    return NN_OK;
}
