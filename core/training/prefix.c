/* SPDX-License-Identifier: MIT
 *
 * The frozen prefix computed once: its rows for every item of the data set, in the order of the
 * items and in chunks of a batch, kept in a file that later runs of the same prefix only open.
 */
#include <stdlib.h>
#include <string.h>

#include "core/network/prefix.h"
#include "core/training/state_internal.h"

/* ---- the key ---- */

static void add_text(struct nn_sha256 *hash, const char *text)
{
    nn_sha256_update(hash, text, strlen(text) + 1);
}

/* All that the rows depend on: what the prefix is, its values, the pictures, and who computes. */
static enum nn_status key_make(const struct nn_training_state *state,
                               const struct nn_prefix *prefix, struct nn_rows_key *out,
                               struct nn_error *err)
{
    const struct nn_training_setup *setup = state->setup;
    const struct nn_prepared_info *info = nn_prepared_info(setup->prepared);
    char *text = nn_network_prefix_text(state->network);
    struct nn_sha256 hash;
    if (!text) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the key of a frozen prefix");
    }
    nn_sha256_init(&hash);
    add_text(&hash, text);
    add_text(&hash, setup->core_build);
    nn_sha256_update(&hash, &setup->plain_operators, sizeof setup->plain_operators);
    nn_sha256_update(&hash, &setup->bind.normalisation, sizeof setup->bind.normalisation);
    nn_sha256_update(&hash, info->digest, sizeof info->digest);
    for (size_t i = 0; i < nn_network_parameter_count(state->network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(state->network, i);
        if (nn_network_prefix_has(state->network, parameter)) {
            nn_sha256_update(&hash, parameter->value, parameter->count * sizeof(nn_real));
        }
    }
    nn_sha256_finish(&hash, out->digest);
    free(text);
    out->count = info->count;
    out->width = prefix->height * prefix->width * prefix->channels;
    return NN_OK;
}

/* ---- computing ---- */

static void compute_chunk(struct nn_training_state *state, size_t first, size_t count,
                          uint32_t *items, nn_real *rows)
{
    for (size_t i = 0; i < count; i++) {
        items[i] = (uint32_t)(first + i);
    }
    const struct nn_split_side side = {items, count};
    state->feed->kind->load_part(state->feed, &side, 0, count);
    nn_network_prefix_forward(state->network, count, rows);
}

static enum nn_status compute(struct nn_training_state *state, const struct nn_rows_key *key,
                              struct nn_rows_writer *writer, struct nn_error *err)
{
    struct nn_memory *memory = state->setup->memory;
    enum nn_status status = NN_OK;
    nn_real *rows = nn_memory_alloc(memory, state->max_batch, key->width * sizeof *rows);
    uint32_t *items = nn_memory_alloc(memory, state->max_batch, sizeof *items);
    if (!rows || !items) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory for the rows of a frozen prefix");
    }
    for (size_t first = 0; status == NN_OK && first < key->count; first += state->max_batch) {
        size_t left = key->count - first;
        size_t count = left < state->max_batch ? left : state->max_batch;
        nn_progress_if_due(state, "preparing");
        if (nn_control_poll(state) == NN_CANCEL) {
            status = nn_fail(err, NN_ERR_CANCELLED, "cancelled");
            break;
        }
        compute_chunk(state, first, count, items, rows);
        nn_rows_write(writer, rows, count);
    }
    nn_memory_free(memory, rows);
    nn_memory_free(memory, items);
    return status;
}

static enum nn_status make(struct nn_training_state *state, const struct nn_rows_key *key,
                           struct nn_error *err)
{
    struct nn_rows_writer *writer = NULL;
    const char *path = state->setup->prefix_path;
    enum nn_status status = nn_rows_writer_open(path, key, &writer, err);
    if (status != NN_OK) {
        return status;
    }
    status = compute(state, key, writer, err);
    enum nn_status closed = nn_rows_writer_close(writer, status == NN_OK, err);
    return status == NN_OK ? closed : status;
}

/* ---- the whole ---- */

static void tell(const struct nn_training_state *state, bool has_rows, bool is_new)
{
    if (state->calls->prefix) {
        state->calls->prefix(state->calls->ctx, has_rows, is_new);
    }
}

/* A disk that is full costs speed, not the run. */
static enum nn_status fall_back(struct nn_training_state *state, enum nn_status status,
                                struct nn_error *err)
{
    if (status != NN_ERR_IO && status != NN_ERR_CORRUPT) {
        return status;
    }
    if (state->calls->log && err) {
        state->calls->log(state->calls->ctx, err->text);
    }
    tell(state, false, false);
    return NN_OK;
}

enum nn_status nn_state_prefix(struct nn_training_state *state, struct nn_error *err)
{
    const struct nn_training_setup *setup = state->setup;
    struct nn_prefix prefix;
    struct nn_rows_key key;
    struct nn_error why = {0};
    bool wanted = setup->prefix_path && setup->prepared &&
                  !nn_augmentation_is_on(&setup->augmentation) &&
                  nn_network_prefix(state->network, &prefix);
    enum nn_status status = wanted ? key_make(state, &prefix, &key, err) : NN_OK;
    if (status != NN_OK) {
        return status;
    }
    if (!wanted || nn_rows_bytes(&key) > setup->prefix_bytes) {
        tell(state, false, false);
        return NN_OK;
    }
    bool is_new = nn_rows_open(setup->prefix_path, &key, &state->feed->rows, NULL) != NN_OK;
    if (is_new) {
        status = make(state, &key, &why);
        if (status == NN_OK) {
            status = nn_rows_open(setup->prefix_path, &key, &state->feed->rows, &why);
        }
        if (status != NN_OK) {
            status = fall_back(state, status, &why);
            return status == NN_OK ? NN_OK : nn_fail(err, status, "%s", why.text);
        }
    }
    tell(state, true, is_new);
    return NN_OK;
}
