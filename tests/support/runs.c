/* SPDX-License-Identifier: MIT
 *
 * Runs in tests: the setup from texts, the record from the callbacks, the comparison to the bit.
 */
#include "tests/support/runs.h"

#include "tests/support/cmocka_all.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/training/checkpoint.h"

/* --- callbacks -------------------------------------------------------------------------------- */

struct listener {
    struct run_record *record;
    const struct run_plan *plan;
    const char *directory;
    uint64_t steps; /* finished, by the points and the start */
    size_t polls;
    uint64_t asked; /* for control */
    uint64_t epochs;
};

static void on_started(void *ctx, const struct nn_training_start *start)
{
    struct listener *listener = ctx;
    listener->record->start = *start;
    listener->record->starts++;
    listener->steps = start->step;
}

static void on_points(void *ctx, const struct nn_point *points, size_t n)
{
    struct listener *listener = ctx;
    struct run_record *record = listener->record;
    record->points = realloc(record->points, (record->n_points + n) * sizeof *record->points);
    assert_non_null(record->points);
    for (size_t i = 0; i < n; i++) {
        struct run_point *point = &record->points[record->n_points++];
        (void)snprintf(point->metric, sizeof point->metric, "%s", points[i].metric);
        point->step = points[i].step;
        point->value = points[i].value;
    }
}

/* Step and epoch of one word belong together, at the last step of an epoch too. */
static void on_progress(void *ctx, const struct nn_training_progress *progress)
{
    struct listener *listener = ctx;
    uint64_t steps = progress->total_steps / listener->epochs; /* of an epoch */
    assert_int_equal(progress->epoch, (progress->step + steps - 1) / steps);
    listener->record->words++;
}

static void on_checkpoint(void *ctx, const struct nn_checkpoint_notice *notice)
{
    struct listener *listener = ctx;
    struct run_record *record = listener->record;
    record->checkpoints++;
    record->last_checkpoint = notice->step;
    record->last_final = notice->final;
    record->points_at_checkpoint = record->n_points;
    (void)snprintf(record->summaries, sizeof record->summaries, "%s", notice->summaries);
    if (record->n_points > 0) {
        assert_true(record->points[record->n_points - 1].step <= notice->step);
    }
}

/* Polled before each step, so the n-th poll after the start means n - 1 finished steps. Polls
 * during evaluations only delay an order that was not given yet. */
static enum nn_training_control on_control(void *ctx)
{
    struct listener *listener = ctx;
    const struct run_plan *plan = listener->plan;
    uint64_t done = listener->steps;
    uint64_t asked = ++listener->asked;
    bool given = (plan->order_step > 0 && done >= plan->order_step) ||
                 (plan->order_poll > 0 && asked >= plan->order_poll);
    return given ? plan->order : NN_CONTINUE;
}

static void on_prefix(void *ctx, bool has_rows, bool is_new)
{
    struct listener *listener = ctx;
    assert_int_equal(listener->record->prefix, 0);
    listener->record->prefix = !has_rows ? 3 : is_new ? 2 : 1;
}

static void on_log(void *ctx, const char *text)
{
    struct listener *listener = ctx;
    assert_string_not_equal(text, "");
    listener->record->lines++;
}

static void move_directory(const struct listener *listener)
{
    const struct run_plan *plan = listener->plan;
    char away[300];
    (void)snprintf(away, sizeof away, "%s.away", listener->directory);
    if (plan->away_from > 0 && listener->steps == plan->away_from) {
        assert_int_equal(rename(listener->directory, away), 0);
    }
    if (plan->away_from > 0 && listener->steps == plan->away_until) {
        assert_int_equal(rename(away, listener->directory), 0);
    }
}

/* Called once before each step: counts them. */
static size_t on_threads(void *ctx)
{
    struct listener *listener = ctx;
    if (listener->polls++ > 0) {
        listener->steps++;
    }
    move_directory(listener);
    size_t most = listener->plan->threads ? listener->plan->threads : 1;
    return listener->plan->vary_threads ? 1 + listener->polls % most : most;
}

/* --- setup ------------------------------------------------------------------------------------ */

static json_t *parse(const char *text)
{
    json_t *json = NULL;
    struct nn_error err = {0};
    if (jx_parse(text, strlen(text), NULL, &json, &err) != NN_OK) {
        fail_msg("%s: %s", text, err.text);
    }
    return json;
}

static void options_parse(const char *text, struct nn_training_options *out)
{
    struct nn_error err = {0};
    json_t *json = parse(text);
    if (jx_decode(nn_training_fields, json, "", out, &err) != NN_OK) {
        fail_msg("%s: %s at %s", text, err.text, err.pointer);
    }
    nn_training_options_resolve(out);
    json_decref(json);
}

static struct nn_description *description_parse(const char *text)
{
    struct nn_error err = {0};
    struct nn_description *description = NULL;
    json_t *json = parse(text);
    if (nn_description_parse(json, &description, &err) != NN_OK) {
        fail_msg("%s: %s at %s", text, err.text, err.pointer);
    }
    json_decref(json);
    return description;
}

static struct nn_network_bind bind_images(const struct synthetic_set *set,
                                          const struct run_plan *plan)
{
    const struct nn_prepared_info *info = nn_prepared_info(set->prepared);
    return (struct nn_network_bind){
        .height = info->height,
        .width = info->width,
        .channels = info->channels,
        .classes = info->class_count,
        .normalisation = plan->normalisation ? plan->normalisation : NN_NORMALISATION_RESCALE_UNIT};
}

static struct nn_network_bind bind_sequences(const struct synthetic_set *set,
                                             const struct run_plan *plan)
{
    const struct nn_sequences_info *info = nn_sequences_info(set->sequences);
    return (struct nn_network_bind){.classes = info->class_count,
                                    .features = nn_scaling_inputs(set->scaling),
                                    .longest = info->longest,
                                    .responses = info->targets,
                                    .normalisation = plan->normalisation};
}

static struct nn_training_setup setup_make(const struct synthetic_set *set,
                                           const struct run_plan *plan, char resume[2][256])
{
    struct nn_training_setup setup = {
        .bind = set->prepared ? bind_images(set, plan) : bind_sequences(set, plan),
        .prepared = set->prepared,
        .sequences = set->sequences,
        .scaling = set->scaling,
        .sequence_sort = set->sort,
        .windows = set->windows,
        .seed = plan->seed,
        .clock = plan->clock,
        .clock_ctx = plan->clock_ctx,
        .plain_operators = plan->plain_operators,
        .directory = set->directory,
        .initial_weights = plan->weights,
        .initial_head = plan->head,
        .initial_checkpoint = plan->initial,
        .augmentation = plan->augmentation,
        .prefix_path = plan->prefix,
        .prefix_bytes = (uint64_t)1 << 30,
        .frozen = plan->frozen,
        .n_frozen = plan->n_frozen,
        .factors = plan->factors,
        .n_factors = plan->n_factors,
        .class_weights = plan->class_weights,
        .core_build = plan->core_build ? plan->core_build : "test",
        .spec_digest = plan->spec_digest ? plan->spec_digest : "test",
    };
    memcpy(setup.parts, set->side, sizeof setup.parts);
    for (int part = 0; set->windows && part < NN_PART_COUNT; part++) {
        setup.parts[part] = nn_sequence_windows_side(set->windows, (enum nn_part)part);
    }
    options_parse(plan->training, &setup.options);
    size_t found = plan->resume ? nn_checkpoint_list(set->directory, resume) : 0;
    for (size_t i = 0; i < found; i++) {
        setup.resume[i] = resume[i];
    }
    return setup;
}

void run_do(struct run_record *record, const struct synthetic_set *set, const struct run_plan *plan)
{
    char resume[2][256];
    *record = (struct run_record){0};
    struct nn_training_setup setup = setup_make(set, plan, resume);
    struct nn_description *description = description_parse(plan->network);
    size_t cap = plan->memory_cap ? plan->memory_cap : (size_t)256 << 20;
    assert_int_equal(nn_memory_create(cap, &setup.memory), NN_OK);
    struct nn_memory *pool_memory = NULL; /* the pool is not what the cap is about */
    assert_int_equal(
        nn_pool_create(pool_memory, plan->threads ? plan->threads : 1, &setup.pool, NULL), NN_OK);
    setup.description = description;
    struct listener listener = {.record = record,
                                .plan = plan,
                                .directory = set->directory,
                                .epochs = (uint64_t)setup.options.epochs};
    const struct nn_training_callbacks callbacks = {
        .ctx = &listener,
        .started = on_started,
        .points = on_points,
        .progress = on_progress,
        .checkpoint = on_checkpoint,
        .control = on_control,
        .threads = on_threads,
        .prefix = on_prefix,
        .log = on_log,
    };
    assert_int_equal(nn_training_plan_bytes(&setup, &record->planned_bytes, NULL), NN_OK);
    nn_memory_fail_at(setup.memory, plan->fail_at);
    record->status = nn_training_run(&setup, &callbacks, &record->result, &record->err);
    record->failure_pending = nn_memory_pending_failure(setup.memory);
    if (record->result && record->result->network_path[0] != '\0') {
        record->network = run_file(record->result->network_path, &record->network_size);
    }
    nn_pool_destroy(setup.pool);
    record->memory = setup.memory;
    nn_description_destroy(description);
}

void run_record_deinit(struct run_record *record)
{
    nn_training_result_destroy(record->result);
    assert_true(!record->memory || nn_memory_used(record->memory) == 0);
    nn_memory_destroy(record->memory);
    free(record->points);
    free(record->network);
    *record = (struct run_record){0};
}

/* --- reading a record ------------------------------------------------------------------------- */

double run_point_at(const struct run_record *record, const char *metric, uint64_t step)
{
    double value = 0;
    size_t found = 0;
    for (size_t i = 0; i < record->n_points; i++) {
        if (record->points[i].step == step && strcmp(record->points[i].metric, metric) == 0) {
            value = record->points[i].value;
            found++;
        }
    }
    if (found != 1) {
        fail_msg("%d points of %s at step %d", (int)found, metric, (int)step);
    }
    return value;
}

double run_last(const struct run_record *record, const char *metric)
{
    for (size_t i = record->n_points; i > 0; i--) {
        if (strcmp(record->points[i - 1].metric, metric) == 0) {
            return record->points[i - 1].value;
        }
    }
    fail_msg("no point of %s", metric);
    return 0;
}

void run_points_join(struct run_record *record, const struct run_record *next)
{
    size_t kept = 0;
    for (size_t i = 0; i < record->n_points; i++) {
        const struct run_point *point = &record->points[i];
        bool of_validation = strncmp(point->metric, "validation_", 11) == 0;
        if (point->step <= (of_validation ? next->start.validated_step : next->start.step)) {
            record->points[kept++] = *point;
        }
    }
    record->n_points = kept;
    size_t total = kept + next->n_points;
    record->points = realloc(record->points, (total ? total : 1) * sizeof *record->points);
    assert_non_null(record->points);
    if (next->n_points > 0) {
        memcpy(record->points + kept, next->points, next->n_points * sizeof *next->points);
    }
    record->n_points = total;
}

unsigned char *run_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    unsigned char *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), (size_t)size);
    (void)fclose(file);
    *out_size = (size_t)size;
    return bytes;
}

/* --- comparison ------------------------------------------------------------------------------- */

static void assert_points_equal(const struct run_record *a, const struct run_record *b)
{
    assert_int_equal(a->n_points, b->n_points);
    for (size_t i = 0; i < a->n_points; i++) {
        const struct run_point *x = &a->points[i];
        const struct run_point *y = &b->points[i];
        assert_string_equal(x->metric, y->metric);
        assert_int_equal(x->step, y->step);
        bool clock = nn_metric_find(x->metric)->needs == NN_NEEDS_CLOCK;
        if (!clock && memcmp(&x->value, &y->value, sizeof x->value) != 0) {
            fail_msg("%s at step %d: %.17g and %.17g", x->metric, (int)x->step, x->value, y->value);
        }
    }
}

/* By members: between them stands what the stack held. */
static void assert_figures_equal(const struct nn_figure *a, const struct nn_figure *b)
{
    for (size_t i = 0; i < NN_REGRESSION_COUNT; i++) {
        assert_int_equal(a[i].defined, b[i].defined);
        assert_memory_equal(&a[i].value, &b[i].value, sizeof(double));
        assert_memory_equal(&a[i].low, &b[i].low, sizeof(double));
        assert_memory_equal(&a[i].high, &b[i].high, sizeof(double));
        assert_int_equal(a[i].n, b[i].n);
        assert_ptr_equal(a[i].reason, b[i].reason);
    }
}

static void assert_parts_equal(const struct nn_part_result *a, const struct nn_part_result *b)
{
    assert_int_equal(a->present, b->present);
    if (!a->present) {
        return;
    }
    assert_figures_equal(a->regression.figure, b->regression.figure);
    assert_int_equal(a->sequences.rows, b->sequences.rows);
    assert_int_equal(a->sequences.count, b->sequences.count);
    if (a->sequences.rows > 0) {
        size_t bytes = a->sequences.rows * sizeof *a->sequences.predicted;
        assert_memory_equal(a->sequences.predicted, b->sequences.predicted, bytes);
        assert_memory_equal(a->sequences.target, b->sequences.target, bytes);
    }
    size_t classes = a->evaluation.confusion.classes;
    assert_int_equal(a->evaluation.samples, b->evaluation.samples);
    assert_memory_equal(&a->evaluation.loss, &b->evaluation.loss, sizeof(double));
    if (classes > 0) {
        assert_memory_equal(a->evaluation.confusion.counts, b->evaluation.confusion.counts,
                            classes * classes * sizeof(uint64_t));
    }
    assert_int_equal(a->predictions != NULL, b->predictions != NULL);
    if (a->predictions) {
        assert_memory_equal(a->predictions, b->predictions,
                            a->evaluation.samples * sizeof *a->predictions);
    }
}

void run_assert_equal(const struct run_record *a, const struct run_record *b)
{
    assert_int_equal(a->status, b->status);
    assert_points_equal(a, b);
    assert_int_equal(a->result->outcome, b->result->outcome);
    assert_int_equal(a->result->step, b->result->step);
    assert_int_equal(a->result->best_step, b->result->best_step);
    assert_memory_equal(&a->result->best_validation_loss, &b->result->best_validation_loss,
                        sizeof(double));
    assert_int_equal(a->network_size, b->network_size);
    assert_memory_equal(a->network, b->network, a->network_size);
    for (int part = 0; part < NN_PART_COUNT; part++) {
        assert_parts_equal(&a->result->parts[part], &b->result->parts[part]);
    }
}

/* --- kills ------------------------------------------------------------------------------------ */

static void run_and_kill(const struct synthetic_set *set, const struct run_plan *plan, int after_ms)
{
    const struct timespec wait = {.tv_nsec = after_ms * 1000000L};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct run_record record;
        run_do(&record, set, plan);
        _exit(0);
    }
    (void)nanosleep(&wait, NULL);
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

void run_assert_survives_kills(const struct synthetic_set *set, struct run_plan plan, int every_ms,
                               int below_ms)
{
    struct run_record whole;
    struct run_record rest;
    char paths[2][256];
    run_do(&whole, set, &plan);
    assert_int_equal(whole.status, NN_OK);
    while (nn_checkpoint_list(set->directory, paths) > 0) {
        assert_int_equal(unlink(paths[0]), 0);
    }
    plan.resume = true;
    for (int after_ms = every_ms; after_ms < below_ms; after_ms += every_ms) {
        run_and_kill(set, &plan, after_ms);
    }
    run_do(&rest, set, &plan);
    assert_int_equal(rest.status, NN_OK);
    assert_int_equal(rest.network_size, whole.network_size);
    assert_memory_equal(rest.network, whole.network, whole.network_size);
    run_record_deinit(&rest);
    run_record_deinit(&whole);
}

void run_well(struct run_record *record, const struct synthetic_set *set,
              const struct run_plan *plan)
{
    run_do(record, set, plan);
    if (record->status != NN_OK) {
        fail_msg("%s", record->err.text);
    }
    bool classes = !set->sequences || nn_sequences_info(set->sequences)->class_count > 0;
    assert_int_equal(record->result->task, classes ? NN_TASK_CLASSIFICATION : NN_TASK_REGRESSION);
}

void run_leave_and_resume(const struct synthetic_set *set, struct run_plan plan, uint64_t step,
                          const struct run_record *whole)
{
    struct run_record broken;
    struct run_record rest;
    plan.order_step = step;
    plan.order = NN_CANCEL;
    run_do(&broken, set, &plan);
    assert_int_equal(broken.status, NN_ERR_CANCELLED);
    plan.order_step = 0;
    plan.resume = true;
    run_well(&rest, set, &plan);
    assert_int_equal(rest.start.step, step);
    run_points_join(&broken, &rest);
    struct run_point *points = rest.points;
    rest.points = broken.points;
    rest.n_points = broken.n_points;
    broken.points = points;
    run_assert_equal(whole, &rest);
    run_record_deinit(&broken);
    run_record_deinit(&rest);
}
