/* SPDX-License-Identifier: MIT
 *
 * The frozen prefix computed once: its rows for every item of the data set, in the order of the
 * items and each alone, kept in a file that later runs of the same prefix only open.
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

/* Room for the rows of n samples, in the feed. */
static enum nn_status room_make(struct nn_training_state *state, size_t n, struct nn_error *err)
{
    struct nn_feed *feed = state->feed;
    feed->prefix_rows =
        nn_memory_alloc(state->setup->memory, n, feed->prefix_width * sizeof *feed->prefix_rows);
    return feed->prefix_rows
               ? NN_OK
               : nn_fail(err, NN_ERR_MEMORY, "no memory for what the frozen prefix computes");
}

static void room_free(struct nn_training_state *state)
{
    nn_memory_free(state->setup->memory, state->feed->prefix_rows);
    state->feed->prefix_rows = NULL;
}

/* Each item alone: see rows_load of the feed of images. Ends at the first write that fails, which
 * closing reports; ERR_CANCELLED at any wish to leave. */
static enum nn_status compute(struct nn_training_state *state, const struct nn_rows_key *key,
                              struct nn_rows_writer *writer, struct nn_error *err)
{
    const struct nn_prepared *prepared = state->setup->prepared;
    nn_real *row = state->feed->prefix_rows;
    bool written = true;
    for (size_t i = 0; written && i < key->count; i++) {
        nn_progress_if_due(state, "preparing");
        if (nn_control_poll(state) != NN_CONTINUE) {
            return nn_fail(err, NN_ERR_CANCELLED, "cancelled");
        }
        nn_network_load_u8(state->network, nn_prepared_pixels(prepared, i), 1);
        nn_network_prefix_forward(state->network, 1, row);
        written = nn_rows_write(writer, row, 1);
    }
    return NN_OK;
}

static enum nn_status make(struct nn_training_state *state, const struct nn_rows_key *key,
                           struct nn_error *err)
{
    struct nn_rows_writer *writer = NULL;
    const char *path = state->setup->prefix_path;
    enum nn_status status = room_make(state, 1, err);
    if (status == NN_OK) {
        status = nn_rows_writer_open(path, key, &writer, err);
    }
    if (status == NN_OK) {
        status = compute(state, key, writer, err);
        enum nn_status closed = nn_rows_writer_close(writer, status == NN_OK, err);
        status = status == NN_OK ? closed : status;
    }
    room_free(state);
    return status;
}

/* ---- the whole ---- */

static void tell(const struct nn_training_state *state, bool has_rows, bool is_new)
{
    if (state->calls->prefix) {
        state->calls->prefix(state->calls->ctx, has_rows, is_new);
    }
}

/* Whether a failure to make the file costs only speed: rows are then computed at each step, to the
 * same bits. So it is with a disk that is full, and with a wish to pause or stop, which the loop
 * hears before its first step. */
static bool goes_on_without(const struct nn_training_state *state, enum nn_status status)
{
    return status == NN_ERR_IO || status == NN_ERR_CORRUPT ||
           (status == NN_ERR_CANCELLED && state->control != NN_CANCEL);
}

/* Opens the file, or makes it, unless it would be too large. */
static enum nn_status open_or_make(struct nn_training_state *state, const struct nn_rows_key *key,
                                   struct nn_error *err)
{
    const char *path = state->setup->prefix_path;
    struct nn_rows **rows = &state->feed->rows;
    struct nn_error why = {0};
    if (!path || nn_rows_bytes(key) > state->setup->prefix_bytes) {
        tell(state, false, false);
        return NN_OK;
    }
    bool is_new = nn_rows_open(path, key, rows, NULL) != NN_OK;
    enum nn_status status = is_new ? make(state, key, &why) : NN_OK;
    if (status == NN_OK && is_new) {
        status = nn_rows_open(path, key, rows, &why);
    }
    if (goes_on_without(state, status)) {
        if (status != NN_ERR_CANCELLED && state->calls->log) {
            state->calls->log(state->calls->ctx, why.text);
        }
        tell(state, false, false);
        return NN_OK;
    }
    if (status != NN_OK) {
        return nn_fail(err, status, "%s", why.text);
    }
    tell(state, true, is_new);
    return NN_OK;
}

enum nn_status nn_state_prefix(struct nn_training_state *state, struct nn_error *err)
{
    const struct nn_training_setup *setup = state->setup;
    struct nn_feed *feed = state->feed;
    struct nn_prefix prefix;
    struct nn_rows_key key;
    if (!setup->prepared || nn_prepared_info(setup->prepared)->value_bytes != 1 ||
        nn_augmentation_is_on(&setup->augmentation) ||
        !nn_network_prefix(state->network, &prefix)) {
        tell(state, false, false);
        return NN_OK;
    }
    enum nn_status status = key_make(state, &prefix, &key, err);
    if (status != NN_OK) {
        return status;
    }
    feed->prefix_width = key.width;
    status = open_or_make(state, &key, err);
    return status == NN_OK && !feed->rows ? room_make(state, state->max_batch, err) : status;
}
