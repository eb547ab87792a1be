/* SPDX-License-Identifier: MIT
 *
 * Writing a checkpoint of a run and resuming from one. The file is whole or absent (core/files);
 * the two newest stay. Points are delivered before the file is announced.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/sha256.h"
#include "core/files/atomic.h"
#include "core/training/checkpoint_format_internal.h"

/* --- writing ---------------------------------------------------------------------------------- */

/* A file that is hashed while it is written. */
struct writer {
    struct nn_atomic_file file;
    struct nn_sha256 hash;
};

static void writer_put(struct writer *writer, const void *bytes, size_t n)
{
    nn_sha256_update(&writer->hash, bytes, n);
    nn_atomic_write(&writer->file, bytes, n);
}

/* Numbers of the solver and of the moving average. */
static size_t slot_count(const struct nn_training_state *state)
{
    size_t slots;
    (void)nn_solver_slots(state->solver, &slots);
    return slots + (state->average ? state->value_count : 0);
}

static void head_fill(const struct nn_training_state *state, struct nn_checkpoint_head *head)
{
    memset(head, 0, sizeof *head); /* no stray bytes: equal states give equal files */
    memcpy(head->magic, NN_CHECKPOINT_MAGIC, sizeof head->magic);
    head->version = NN_CHECKPOINT_VERSION;
    head->real_bytes = sizeof(nn_real);
    head->value_count = state->value_count;
    head->slot_count = slot_count(state);
    head->at = state->at;
    for (size_t i = 0; i < NN_MAX_METRICS; i++) {
        head->summary_count += state->log.summary[i].count > 0;
    }
    (void)snprintf(head->core_build, sizeof head->core_build, "%s", state->setup->core_build);
    (void)snprintf(head->spec_digest, sizeof head->spec_digest, "%s", state->setup->spec_digest);
}

static void summaries_write(const struct nn_training_state *state, struct writer *writer)
{
    size_t rows;
    const struct nn_metric *table = nn_metric_table(&rows);
    for (size_t i = 0; i < rows; i++) {
        if (state->log.summary[i].count == 0) {
            continue;
        }
        struct nn_checkpoint_summary row;
        memset(&row, 0, sizeof row);
        (void)snprintf(row.metric, sizeof row.metric, "%s", table[i].name);
        row.summary = state->log.summary[i];
        writer_put(writer, &row, sizeof row);
    }
}

static void values_write(const struct nn_training_state *state, struct writer *writer)
{
    for (size_t i = 0; i < nn_network_parameter_count(state->network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(state->network, i);
        writer_put(writer, parameter->value, parameter->count * sizeof *parameter->value);
    }
    size_t slots;
    const nn_real *slot = nn_solver_slots(state->solver, &slots);
    writer_put(writer, slot, slots * sizeof *slot);
    if (state->average) {
        writer_put(writer, state->average, state->value_count * sizeof *state->average);
    }
    if (state->at.has_kept) {
        writer_put(writer, state->kept, state->value_count * sizeof *state->kept);
    }
}

static enum nn_status file_write(const struct nn_training_state *state, const char *path,
                                 struct nn_error *err)
{
    struct nn_checkpoint_head head;
    uint8_t digest[NN_SHA256_SIZE];
    struct writer *writer = malloc(sizeof *writer);
    if (!writer) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to write a checkpoint");
    }
    enum nn_status status = nn_atomic_open(&writer->file, path, err);
    if (status == NN_OK) {
        nn_sha256_init(&writer->hash);
        head_fill(state, &head);
        writer_put(writer, &head, sizeof head);
        summaries_write(state, writer);
        values_write(state, writer);
        nn_sha256_finish(&writer->hash, digest);
        nn_atomic_write(&writer->file, digest, sizeof digest);
        status = nn_atomic_commit(&writer->file, err);
    }
    free(writer);
    return status;
}

static enum nn_status announce(struct nn_training_state *state, const char *path, bool final,
                               struct nn_error *err)
{
    if (!state->calls->checkpoint) {
        return NN_OK;
    }
    json_t *summaries = nn_points_summaries(&state->log);
    char *text = summaries ? json_dumps(summaries, JSON_COMPACT) : NULL;
    json_decref(summaries);
    if (!text) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the summaries of a checkpoint");
    }
    const struct nn_checkpoint_notice notice = {.path = path,
                                                .step = state->at.step,
                                                .epoch = state->at.epoch,
                                                .summaries = text,
                                                .final = final};
    state->calls->checkpoint(state->calls->ctx, &notice);
    free(text);
    return NN_OK;
}

/* A state whose values are not finite is not written: the next step will find the divergence, and
 * the file before it stays the newest. */
enum nn_status nn_checkpoint_write(struct nn_training_state *state, bool final,
                                   struct nn_error *err)
{
    char path[512];
    if (!nn_values_finite(state)) {
        return NN_OK;
    }
    nn_points_deliver(state);
    double since = nn_now(state);
    nn_checkpoint_path(state->setup->directory, state->at.step, path, sizeof path);
    if (state->checkpoint_step != state->at.step) {
        enum nn_status status = file_write(state, path, err);
        if (status != NN_OK) {
            return status;
        }
        nn_checkpoint_prune(state->setup->directory, UINT64_MAX);
    }
    state->checkpoint_step = state->at.step;
    state->checkpoint_at = nn_now(state);
    state->clock.seconds[NN_TIME_CHECKPOINT] += state->checkpoint_at - since;
    return announce(state, path, final, err);
}

/* --- resuming --------------------------------------------------------------------------------- */

/* Reads in order from a verified file. */
struct reader {
    const unsigned char *bytes;
};

static void reader_take(struct reader *reader, void *out, size_t n)
{
    memcpy(out, reader->bytes, n);
    reader->bytes += n;
}

static enum nn_status head_check(const struct nn_training_state *state,
                                 const struct nn_checkpoint_head *head, struct nn_error *err)
{
    if (strncmp(head->spec_digest, state->setup->spec_digest, NN_CHECKPOINT_DIGEST - 1) != 0) {
        return nn_fail(err, NN_ERR_INVALID, "the checkpoint belongs to another spec");
    }
    if (head->value_count != state->value_count || head->slot_count != slot_count(state)) {
        return nn_fail(err, NN_ERR_INVALID, "the checkpoint belongs to another network or solver");
    }
    return NN_OK;
}

static void summaries_take(struct nn_training_state *state, struct reader *reader, size_t n)
{
    size_t rows;
    const struct nn_metric *table = nn_metric_table(&rows);
    for (size_t i = 0; i < n; i++) {
        struct nn_checkpoint_summary row;
        reader_take(reader, &row, sizeof row);
        row.metric[sizeof row.metric - 1] = '\0';
        const struct nn_metric *metric = nn_metric_find(row.metric);
        if (metric) {
            state->log.summary[metric - table] = row.summary;
        }
    }
}

static void parameters_take(struct nn_training_state *state, struct reader *reader)
{
    for (size_t i = 0; i < nn_network_parameter_count(state->network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(state->network, i);
        reader_take(reader, parameter->value, parameter->count * sizeof *parameter->value);
    }
}

static void state_take(struct nn_training_state *state, const struct nn_checkpoint_head *head,
                       struct reader *reader)
{
    size_t slots;
    nn_real *slot = nn_solver_slots(state->solver, &slots);
    summaries_take(state, reader, head->summary_count);
    parameters_take(state, reader);
    reader_take(reader, slot, slots * sizeof *slot);
    if (state->average) {
        reader_take(reader, state->average, state->value_count * sizeof *state->average);
    }
    if (head->at.has_kept) {
        reader_take(reader, state->kept, state->value_count * sizeof *state->kept);
    }
    nn_solver_set_updates(state->solver, head->at.updates);
    state->at = head->at;
}

/* Loads a file; *out_bytes is to be freed, the reader stands behind the head. */
static enum nn_status checkpoint_open(const char *path, unsigned char **out_bytes,
                                      struct nn_checkpoint_head *out_head,
                                      struct reader *out_reader, struct nn_error *err)
{
    size_t size;
    enum nn_status status = nn_checkpoint_load(path, out_bytes, &size, err);
    if (status == NN_OK) {
        *out_reader = (struct reader){*out_bytes};
        reader_take(out_reader, out_head, sizeof *out_head);
    }
    return status;
}

static enum nn_status resume_from(struct nn_training_state *state, const char *path,
                                  bool *out_bits_may_differ, struct nn_error *err)
{
    unsigned char *bytes = NULL;
    struct nn_checkpoint_head head;
    struct reader reader;
    enum nn_status status = checkpoint_open(path, &bytes, &head, &reader, err);
    if (status != NN_OK) {
        return status;
    }
    status = head_check(state, &head, err);
    if (status == NN_OK) {
        state_take(state, &head, &reader);
        *out_bits_may_differ =
            strncmp(head.core_build, state->setup->core_build, NN_CHECKPOINT_BUILD - 1) != 0;
        nn_checkpoint_prune(state->setup->directory, head.at.step);
    }
    free(bytes);
    return status;
}

enum nn_status nn_checkpoint_values(struct nn_training_state *state, const char *path,
                                    struct nn_error *err)
{
    unsigned char *bytes = NULL;
    struct nn_checkpoint_head head;
    struct reader reader;
    enum nn_status status = checkpoint_open(path, &bytes, &head, &reader, err);
    if (status != NN_OK) {
        return status;
    }
    if (head.value_count == state->value_count) {
        reader.bytes += head.summary_count * sizeof(struct nn_checkpoint_summary);
        parameters_take(state, &reader);
    } else {
        status = nn_fail(err, NN_ERR_INVALID, "the checkpoint belongs to another network");
    }
    free(bytes);
    return status;
}

enum nn_status nn_checkpoint_resume(struct nn_training_state *state, bool *out_bits_may_differ,
                                    struct nn_error *err)
{
    *out_bits_may_differ = false;
    enum nn_status status = NN_OK;
    for (size_t i = 0; i < 2 && state->setup->resume[i]; i++) {
        status = resume_from(state, state->setup->resume[i], out_bits_may_differ, err);
        if (status != NN_ERR_CORRUPT && status != NN_ERR_IO) {
            return status;
        }
        if (state->calls->log) {
            state->calls->log(state->calls->ctx, "a checkpoint does not verify; trying the older");
        }
    }
    return status == NN_OK ? NN_OK
                           : nn_fail(err, NN_ERR_CORRUPT, "no checkpoint of this trial verifies");
}
