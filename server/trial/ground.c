/* SPDX-License-Identifier: MIT
 *
 * What a run stands on: memory, threads, the data with its split, the network's description.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/kernels/exec.h"
#include "server/trial/trial_internal.h"

void trial_ground_destroy(struct trial_ground *ground)
{
    free(ground->factors);
    free(ground->class_weights);
    nn_frozen_deinit(&ground->frozen);
    nn_description_destroy(ground->description);
    nn_scaling_destroy(ground->scaling);
    nn_sequence_windows_destroy(ground->windows);
    nn_split_destroy(ground->split);
    nn_sequences_close(ground->sequences);
    nn_prepared_close(ground->prepared);
    nn_pool_destroy(ground->pool);
    nn_memory_destroy(ground->memory);
}

static void say_lines(struct trial_link *link, const char *level, const char *lines)
{
    char *copy = strdup(lines ? lines : "");
    char *rest = NULL;
    for (char *line = copy ? strtok_r(copy, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        trial_say_log(link, level, line);
    }
    free(copy);
}

static enum nn_status open_images(const struct trial_start *start, struct trial_ground *ground,
                                  struct nn_error *err)
{
    enum nn_status status = nn_prepared_open(start->prepared, &ground->prepared, err);
    return status == NN_OK
               ? nn_split_make(ground->prepared, &start->spec.split, &ground->split, err)
               : status;
}

/* Their scaling is made from those that train, whole. */
static enum nn_status open_sequences(const struct trial_start *start, struct trial_ground *ground,
                                     struct nn_error *err)
{
    enum nn_status status = nn_sequences_open(start->prepared, &ground->sequences, err);
    if (status == NN_OK) {
        status =
            nn_split_make_sequences(ground->sequences, &start->spec.split, &ground->split, err);
    }
    if (status == NN_OK) {
        const struct nn_split_side *train = &ground->split->side[NN_PART_TRAIN];
        status = nn_scaling_create(ground->sequences, train->items, train->count,
                                   &start->spec.data.scaling, &ground->scaling, err);
    }
    if (status == NN_OK && start->spec.data.windows.length_given) {
        status = nn_sequence_windows_create(ground->sequences, ground->split->side,
                                            &start->spec.data.windows, ground->memory,
                                            &ground->windows, err);
    }
    return status;
}

/* Layers that read the input as it is are said before the training, not as numbers that are none.
 * Nothing is scaled there. */
static enum nn_status check_steps(const struct trial_ground *ground, struct nn_error *err)
{
    enum nn_status status = NN_OK;
    const struct nn_sequences *sequences = ground->sequences;
    const struct nn_sequences_info *info = nn_sequences_info(sequences);
    size_t columns = nn_scaling_inputs(ground->scaling);
    nn_real *steps = calloc(info->longest * columns, sizeof *steps);
    if (!steps) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to look at the sequences");
    }
    for (size_t i = 0; status == NN_OK && i < info->count; i++) {
        struct nn_error wrong = {0};
        size_t n = nn_sequences_length(sequences, i);
        nn_scaling_apply_inputs(ground->scaling, nn_sequences_features(sequences, i), n, steps);
        status = nn_description_check_steps(ground->description, steps, n, columns, &wrong);
        if (status != NN_OK) {
            status = nn_fail(err, status, "sequence \"%s\", %s",
                             nn_sequences_item_name(sequences, i), wrong.text);
        }
    }
    free(steps);
    return status;
}

static enum nn_status machine_create(const struct trial_start *start, struct trial_ground *ground,
                                     struct nn_error *err)
{
    const struct nn_kernels *kernels = nn_kernels_get(start->isa);
    if (!kernels) {
        return nn_fail(err, NN_ERR_INTERNAL, "this processor has no %s", nn_isa_name(start->isa));
    }
    enum nn_status status = nn_kernels_self_test(kernels, err);
    if (status == NN_OK) {
        status = nn_memory_create(start->memory_bytes, &ground->memory);
    }
    if (status == NN_OK) {
        status = nn_pool_create(ground->memory, start->most_threads, &ground->pool, err);
        status = status == NN_ERR_LIMIT ? NN_ERR_IO : status; /* threads: the machine's, for now */
    }
    if (status == NN_OK) {
        nn_pool_set_threads(ground->pool, start->threads);
    }
    return status;
}

static struct nn_network_bind bind_of(const struct trial_start *start,
                                      const struct trial_ground *ground)
{
    if (ground->sequences) {
        const struct nn_sequences_info *info = nn_sequences_info(ground->sequences);
        return (struct nn_network_bind){.classes = info->class_count,
                                        .features = nn_scaling_inputs(ground->scaling),
                                        .longest = info->longest,
                                        .responses = info->targets,
                                        .normalisation =
                                            nn_training_normalisation(&start->spec.data.scaling)};
    }
    const struct nn_prepared_info *info = nn_prepared_info(ground->prepared);
    return (struct nn_network_bind){.height = info->height,
                                    .width = info->width,
                                    .channels = info->channels,
                                    .classes = info->class_count,
                                    .normalisation =
                                        (enum nn_normalisation)start->spec.data.normalisation};
}

enum nn_status trial_ground_create(struct trial_link *link, const struct trial_start *start,
                                   struct trial_ground *ground, struct nn_error *err)
{
    enum nn_status status = machine_create(start, ground, err);
    if (status == NN_OK) {
        status = nn_description_parse(start->spec.network, &ground->description, err);
    }
    if (status == NN_OK) {
        status = nn_description_takes_sequences(ground->description)
                     ? open_sequences(start, ground, err)
                     : open_images(start, ground, err);
    }
    if (status == NN_OK && nn_description_reads_input(ground->description)) {
        status = check_steps(ground, err);
    }
    if (status == NN_OK) {
        say_lines(link, "warn", ground->split->warnings);
        status = nn_freeze_layers(ground->description, start->spec.freeze, &ground->frozen, err);
    }
    if (status == NN_OK) {
        const struct nn_network_bind bind = bind_of(start, ground);
        status = nn_training_factors(&start->spec.training, ground->description, &bind,
                                     &ground->factors, &ground->n_factors, err);
    }
    if (status == NN_OK) {
        const struct nn_training_labels labels = {ground->prepared, ground->sequences};
        status = nn_training_class_weights(&start->spec.training, &labels,
                                           &ground->split->side[NN_PART_TRAIN],
                                           &ground->class_weights, err);
    }
    return status;
}

void trial_ground_setup(const struct trial_start *start, const struct trial_ground *ground,
                        struct nn_training_setup *setup)
{
    *setup = (struct nn_training_setup){
        .description = ground->description,
        .bind = bind_of(start, ground),
        .prepared = ground->prepared,
        .sequences = ground->sequences,
        .scaling = ground->scaling,
        .windows = ground->windows,
        .sequence_sort = (enum nn_sequence_sort)start->spec.data.sort,
        .options = start->spec.training,
        .augmentation = start->spec.augmentation,
        .noise = start->spec.data.noise,
        .seed = start->spec.seed,
        .phm08 = start->spec.phm08,
        .keep_probabilities = start->spec.n_custom > 0,
        .plain_operators = start->spec.operators == NN_OPERATORS_PLAIN,
        .kernels = nn_kernels_get(start->isa),
        .memory = ground->memory,
        .pool = ground->pool,
        .directory = ".",
        .initial_weights = start->weights,
        .initial_head = NN_MATCH_HEAD_REPLACED,
        .initial_checkpoint = start->initial,
        .frozen = ground->frozen.layers,
        .n_frozen = ground->frozen.count,
        .factors = ground->factors,
        .n_factors = ground->n_factors,
        .class_weights = ground->class_weights,
        .prefix_path = start->prefix,
        .prefix_bytes = start->prefix_bytes,
        .resume = {start->resume[0], start->resume[1]},
        .core_build = start->core_build,
        .spec_digest = start->spec_digest,
    };
    for (int i = 0; i < NN_PART_COUNT; i++) {
        setup->parts[i] = ground->windows
                              ? nn_sequence_windows_side(ground->windows, (enum nn_part)i)
                              : ground->split->side[i];
    }
}
