/* SPDX-License-Identifier: MIT
 *
 * What a run tells while it goes on: points, summaries, progress; and what it is told: control.
 */
#include <time.h>

#include "core/training/state_internal.h"

enum { CAPACITY = 4096 };

/* Points and progress are told about once in this many seconds. */
static const double TELL_SECONDS = 1.0;

double nn_system_clock(void *ctx)
{
    (void)ctx;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double nn_now(const struct nn_training_state *state)
{
    return state->time(state->time_ctx);
}

enum nn_status nn_points_init(struct nn_point_log *log, struct nn_memory *memory)
{
    log->points = nn_memory_alloc(memory, CAPACITY, sizeof *log->points);
    log->capacity = CAPACITY;
    return log->points ? NN_OK : NN_ERR_MEMORY;
}

void nn_points_add(struct nn_training_state *state, const char *metric, double value)
{
    size_t rows;
    const struct nn_metric *table = nn_metric_table(&rows);
    const struct nn_metric *row = nn_metric_find(metric);
    NN_ASSERT(row && rows <= NN_MAX_METRICS);
    struct nn_point_log *log = &state->log;
    if (log->count == log->capacity) {
        nn_points_deliver(state);
    }
    log->points[log->count++] = (struct nn_point){row->name, state->at.step, value};
    nn_summary_add(&log->summary[row - table], state->at.step, value);
}

void nn_points_deliver(struct nn_training_state *state)
{
    struct nn_point_log *log = &state->log;
    if (log->count > 0 && state->calls->points) {
        state->calls->points(state->calls->ctx, log->points, log->count);
    }
    log->count = 0;
    log->delivered_at = nn_now(state);
}

void nn_points_deliver_if_due(struct nn_training_state *state)
{
    if (nn_now(state) - state->log.delivered_at >= TELL_SECONDS) {
        nn_points_deliver(state);
    }
}

uint64_t nn_points_last_step(const struct nn_point_log *log, const char *metric)
{
    size_t rows;
    const struct nn_metric *table = nn_metric_table(&rows);
    return log->summary[nn_metric_find(metric) - table].last_step;
}

static json_t *summary_json(const struct nn_summary *summary)
{
    json_t *object = json_object();
    bool ok = object != NULL;
    ok = json_object_set_new(object, "last", jx_number(summary->last)) == 0 && ok;
    ok = json_object_set_new(object, "min", jx_number(summary->min)) == 0 && ok;
    ok = json_object_set_new(object, "max", jx_number(summary->max)) == 0 && ok;
    const uint64_t counts[] = {summary->last_step, summary->min_step, summary->max_step,
                               summary->count};
    static const char *const NAMES[] = {"last_step", "min_step", "max_step", "count"};
    for (size_t i = 0; i < 4; i++) {
        json_t *count = json_integer((json_int_t)counts[i]);
        ok = json_object_set_new(object, NAMES[i], count) == 0 && ok;
    }
    if (!ok) {
        json_decref(object);
        return NULL;
    }
    return object;
}

json_t *nn_points_summaries(const struct nn_point_log *log)
{
    size_t rows;
    const struct nn_metric *table = nn_metric_table(&rows);
    json_t *object = json_object();
    bool ok = object != NULL;
    for (size_t i = 0; i < rows; i++) {
        if (log->summary[i].count > 0) {
            json_t *row = summary_json(&log->summary[i]);
            ok = json_object_set_new(object, table[i].name, row) == 0 && ok;
        }
    }
    if (!ok) {
        json_decref(object);
        return NULL;
    }
    return object;
}

uint64_t nn_state_epoch(const struct nn_training_state *state)
{
    return state->at.epoch + (state->at.batch > 0);
}

void nn_progress_if_due(struct nn_training_state *state, const char *phase)
{
    double now = nn_now(state);
    double elapsed = now - state->clock.progress_at;
    if (!state->calls->progress || elapsed < TELL_SECONDS) {
        return;
    }
    struct nn_training_progress progress = {
        .step = state->at.step,
        .total_steps = state->total_steps,
        .epoch = nn_state_epoch(state),
        .images_per_second = (double)state->clock.progress_images / elapsed,
        .phase = phase,
    };
    state->calls->progress(state->calls->ctx, &progress);
    state->clock.progress_at = now;
    state->clock.progress_images = 0;
}

enum nn_training_control nn_control_poll(struct nn_training_state *state)
{
    state->control = state->calls->control ? state->calls->control(state->calls->ctx) : NN_CONTINUE;
    return state->control;
}
