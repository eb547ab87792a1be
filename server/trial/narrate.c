/* SPDX-License-Identifier: MIT
 *
 * The log of a trial as a person reads it: what runs where, how it goes, how it ended. At most
 * about LINES lines of progress, spread by steps, so that a long run does not push its start out of
 * what is kept.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/trial/trial_internal.h"

enum { LINES = 60, TEXT_SIZE = 400 };

__attribute__((format(printf, 3, 4))) static void say(struct trial_link *link, const char *level,
                                                      const char *fmt, ...)
{
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    trial_say_log(link, level, text);
}

void trial_tell_start(struct trial_link *link, const struct nn_training_start *at)
{
    struct trial_story *story = &link->story;
    const struct trial_start *start = story->start;
    *story = (struct trial_story){.start = start,
                                  .total_steps = at->total_steps,
                                  .training_loss = NAN,
                                  .loss = NAN,
                                  .measure = NAN};
    say(link, "info",
        "starts: core %s, instruction set %s, threads %zu of at most %zu, "
        "%llu steps in %lld epochs",
        start->core_build, nn_isa_name(start->isa), link->threads, start->most_threads,
        (unsigned long long)at->total_steps, (long long)start->spec.training.epochs);
    if (at->step > 0) {
        say(link, "info", "goes on after step %llu%s", (unsigned long long)at->step,
            at->bits_may_differ ? ", with another core build: bits may differ" : "");
    }
    story->next_step = at->step;
}

/* One line now, the next one a share of the run later. */
static void tell_step(struct trial_link *link)
{
    struct trial_story *story = &link->story;
    char validated[120] = "";
    if (!isnan(story->loss)) {
        (void)snprintf(validated, sizeof validated, ", validation loss %.4g, %s %.4g", story->loss,
                       story->measure_name ? story->measure_name : "measure", story->measure);
    }
    say(link, "info", "step %llu of %llu: training loss %.4g%s", (unsigned long long)story->step,
        (unsigned long long)story->total_steps, story->training_loss, validated);
    story->next_step = story->step + story->total_steps / LINES + 1;
}

static void end_validation(struct trial_link *link)
{
    struct trial_story *story = &link->story;
    if (isnan(story->loss)) {
        return;
    }
    if (story->step >= story->next_step) {
        tell_step(link);
    }
    story->loss = NAN;
}

void trial_tell_points(struct trial_link *link, const struct nn_point *points, size_t n)
{
    static const char VALIDATION[] = "validation_";
    struct trial_story *story = &link->story;
    for (size_t i = 0; i < n; i++) {
        const struct nn_point *point = &points[i];
        if (point->step != story->step) {
            end_validation(link);
        }
        story->step = point->step;
        if (strcmp(point->metric, "training_loss") == 0) {
            story->training_loss = point->value;
        } else if (strcmp(point->metric, "validation_loss") == 0) {
            story->loss = point->value;
            story->validates = true;
        } else if (strncmp(point->metric, VALIDATION, sizeof VALIDATION - 1) == 0) {
            story->measure = point->value;
            story->measure_name = point->metric + sizeof VALIDATION - 1;
        }
    }
    end_validation(link); /* the points of a step come together */
}

void trial_tell_progress(struct trial_link *link, const struct nn_training_progress *progress)
{
    struct trial_story *story = &link->story;
    if (!story->validates && progress->epoch > story->epoch && progress->step >= story->next_step &&
        progress->step > 0 && !isnan(story->training_loss)) {
        story->step = progress->step;
        tell_step(link);
    }
    story->epoch = progress->epoch;
}

/* "0.8712", or nothing to say. */
static void figure(char *out, size_t size, const char *name, bool defined, double value)
{
    out[0] = '\0';
    if (defined) {
        (void)snprintf(out, size, ", %s %.6g", name, value);
    }
}

static void tell_part(struct trial_link *link, enum nn_part part,
                      const struct nn_part_result *result, enum nn_task task)
{
    char text[80];
    if (task == NN_TASK_CLASSIFICATION) {
        const struct nn_evaluation *e = &result->evaluation;
        figure(text, sizeof text, "accuracy", e->accuracy.defined, e->accuracy.value);
        say(link, "info", "%s part: %llu samples, loss %.6g%s", nn_part_name(part),
            (unsigned long long)e->samples, e->loss, text);
    } else {
        const struct nn_regression_evaluation *e = &result->regression;
        const struct nn_figure *rmse = &e->figure[NN_REGRESSION_RMSE];
        figure(text, sizeof text, "RMSE", rmse->defined, rmse->value);
        say(link, "info", "%s part: %llu sequences, %llu steps%s", nn_part_name(part),
            (unsigned long long)e->sequences, (unsigned long long)e->steps, text);
    }
}

void trial_tell_end(struct trial_link *link, enum nn_status status,
                    const struct nn_training_result *result, const struct nn_error *err)
{
    for (int i = 0; result && i < NN_PART_COUNT; i++) {
        if (result->parts[i].present) {
            tell_part(link, (enum nn_part)i, &result->parts[i], result->task);
        }
    }
    if (result) {
        say(link, "info", "%s after step %llu of %llu%s, in %.1f s",
            nn_training_outcome_text(result->outcome), (unsigned long long)result->step,
            (unsigned long long)result->total_steps,
            result->patience_stopped ? ", patience ran out" : "", result->seconds);
    }
    if (status == NN_ERR_CANCELLED) {
        say(link, "info", "cancelled");
    } else if (status != NN_OK) {
        say(link, "error", "%s", err->text[0] ? err->text : nn_status_text(status));
    }
}
