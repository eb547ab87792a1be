/* SPDX-License-Identifier: MIT
 *
 * The main of `assayd trial`: from the start record to the last one.
 *
 * hello -> started -> (points | progress | checkpoint | log)* -> evaluations, predictions,
 * artefacts -> done {outcome}, or failed {class, text}.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cpu.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/kernels/exec.h"
#include "server/trial/trial_internal.h"

/* ------------------------------------------------------------------------------ callbacks */

static void on_started(void *ctx, const struct nn_training_start *start)
{
    trial_say_take(ctx, WIRE_STARTED,
                   json_pack("{s:I, s:I, s:I, s:b}", "step", (json_int_t)start->step,
                             "validated_step", (json_int_t)start->validated_step, "total_steps",
                             (json_int_t)start->total_steps, "bits_may_differ",
                             start->bits_may_differ));
    trial_tell_start(ctx, start);
}

static void on_points(void *ctx, const struct nn_point *points, size_t n)
{
    enum { AT_ONCE = 8192 };
    for (size_t first = 0; first < n; first += AT_ONCE) {
        size_t count = n - first < AT_ONCE ? n - first : AT_ONCE;
        struct wire_point *rows = calloc(count, sizeof *rows);
        void *bytes = NULL;
        size_t size = 0;
        for (size_t i = 0; rows && i < count; i++) {
            const struct nn_point *from = &points[first + i];
            rows[i] = (struct wire_point){from->metric, (int64_t)from->step, from->value};
        }
        if (!rows || wire_points_encode(rows, count, &bytes, &size) != SV_OK) {
            abort();
        }
        free(rows);
        trial_say_bytes_take(ctx, WIRE_POINTS, bytes, size);
    }
    trial_tell_points(ctx, points, n);
}

static void on_progress(void *ctx, const struct nn_training_progress *progress)
{
    trial_say_take(ctx, WIRE_PROGRESS,
                   json_pack("{s:I, s:I, s:I, s:s}", "step", (json_int_t)progress->step,
                             "total_steps", (json_int_t)progress->total_steps, "epoch",
                             (json_int_t)progress->epoch, "phase", progress->phase));
    trial_tell_progress(ctx, progress);
}

static void on_checkpoint(void *ctx, const struct nn_checkpoint_notice *notice)
{
    const char *slash = strrchr(notice->path, '/');
    trial_say_take(ctx, WIRE_CHECKPOINT,
                   json_pack("{s:s, s:I, s:I, s:b}", "path", slash ? slash + 1 : notice->path,
                             "step", (json_int_t)notice->step, "epoch", (json_int_t)notice->epoch,
                             "final", notice->final));
}

static enum nn_training_control on_control(void *ctx)
{
    struct trial_link *link = ctx;
    trial_listen(link);
    return link->cancel ? NN_CANCEL : link->pause ? NN_PAUSE : link->stop ? NN_STOP : NN_CONTINUE;
}

static size_t on_threads(void *ctx)
{
    return ((struct trial_link *)ctx)->threads;
}

static void on_prefix(void *ctx, bool has_rows, bool is_new)
{
    trial_say_take(ctx, WIRE_PREFIX, json_pack("{s:b, s:b}", "kept", has_rows, "new", is_new));
}

static void on_log(void *ctx, const char *text)
{
    trial_say_log(ctx, "info", text);
}

/* --------------------------------------------------------------------------------- the run */

static enum nn_status run(struct trial_link *link, struct nn_training_setup *setup,
                          struct nn_training_result **out, struct nn_error *err)
{
    struct nn_training_callbacks callbacks = {
        .ctx = link,
        .started = on_started,
        .points = on_points,
        .progress = on_progress,
        .checkpoint = on_checkpoint,
        .control = on_control,
        .threads = on_threads,
        .prefix = on_prefix,
        .log = on_log,
    };
    enum nn_status status = nn_training_run(setup, &callbacks, out, err);
    if (status == NN_ERR_CORRUPT && setup->resume[0]) {
        /* the run from the start has the same numbers; only time is lost */
        trial_say_log(link, "warn", "no checkpoint is whole: starting over");
        setup->resume[0] = setup->resume[1] = NULL;
        status = nn_training_run(setup, &callbacks, out, err);
    }
    return status;
}

/* What the memory was asked for, as far as a person can change it. */
static void add_limits(const struct trial_start *start, enum nn_status status, struct nn_error *err)
{
    struct nn_error first = *err;
    if (status != NN_ERR_MEMORY) {
        return;
    }
    (void)nn_fail_at(err, status, first.pointer,
                     "%s; limits.memory_bytes is %zu, a batch has %zu samples at once",
                     first.text[0] ? first.text : nn_status_text(status),
                     (size_t)start->memory_bytes,
                     nn_training_max_batch(&start->spec.training, SIZE_MAX));
}

static void say_done(struct trial_link *link, const char *outcome,
                     const struct nn_training_result *result)
{
    json_t *done = json_pack("{s:s}", "outcome", outcome);
    if (result) {
        (void)json_object_set_new(done, "step", json_integer((json_int_t)result->step));
        (void)json_object_set_new(done, "total_steps",
                                  json_integer((json_int_t)result->total_steps));
        (void)json_object_set_new(done, "epoch", json_integer((json_int_t)result->epoch));
        (void)json_object_set_new(done, "patience_stopped", json_boolean(result->patience_stopped));
        (void)json_object_set_new(done, "seconds", jx_number(result->seconds));
    }
    trial_say_take(link, WIRE_DONE, done);
}

/* Told to while it explained. */
static enum nn_status leave_off(const struct trial_link *link, struct nn_training_result **result,
                                struct nn_error *err)
{
    if (link->cancel) {
        nn_training_result_destroy(*result);
        *result = NULL;
        return nn_fail(err, NN_ERR_CANCELLED, "cancelled");
    }
    nn_training_result_pause(*result);
    return NN_OK;
}

static int train(struct trial_link *link, const struct trial_start *start)
{
    struct trial_ground ground = {0};
    struct nn_training_setup setup;
    struct nn_training_result *result = NULL;
    struct nn_error err = {0};
    int exit_status = TRIAL_EXIT_DONE;
    enum nn_status status = trial_ground_create(link, start, &ground, &err);
    if (status == NN_OK) {
        link->threads = start->threads;
        link->story.start = start;
        trial_ground_setup(start, &ground, &setup);
        status = run(link, &setup, &result, &err);
    }
    if (result) { /* progress is told about once a second: say where it ended */
        on_progress(link, &(struct nn_training_progress){.step = result->step,
                                                         .total_steps = result->total_steps,
                                                         .epoch = result->epoch,
                                                         .phase = ""});
    }
    bool evaluated = result && result->outcome != NN_TRAINING_PAUSED;
    if (evaluated && (status == NN_OK || status == NN_ERR_DIVERGED)) {
        trial_say_results(link, start, result, &ground);
    }
    if (evaluated && status == NN_OK && !trial_say_explanations(link, start, result, &ground)) {
        status = leave_off(link, &result, &err);
    }
    add_limits(start, status, &err);
    trial_tell_end(link, status, result, &err);
    if (status == NN_ERR_CANCELLED) {
        say_done(link, "cancelled", NULL);
    } else if (status != NN_OK) {
        exit_status = trial_say_failed(link, status, &err);
    } else {
        say_done(link, nn_training_outcome_text(result->outcome), result);
    }
    nn_training_result_destroy(result);
    trial_ground_destroy(&ground);
    return exit_status;
}

int trial_train_main(int argc, char *const *argv)
{
    struct trial_link link;
    struct trial_start start;
    struct nn_error err = {0};
    json_t *json = NULL;
    int exit_status = TRIAL_EXIT_PROTOCOL;
    if (!trial_open(argc, argv, &link, &json, &exit_status)) {
        return exit_status;
    }
    enum nn_status status = trial_start_decode(json, &start, &err);
    if (status == NN_OK) {
        trial_say_hello(&link, json_pack("{s:s, s:s, s:s}", "core_build", start.core_build,
                                         "instruction_set", nn_isa_name(start.isa), "blas_core",
                                         nn_blas_core()));
        exit_status = train(&link, &start);
    } else {
        exit_status = trial_say_failed(&link, status, &err);
    }
    json_decref(json);
    trial_close(&link);
    return exit_status;
}
