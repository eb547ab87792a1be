/* SPDX-License-Identifier: MIT
 *
 * Searches that go on when trials have ended. Nothing is kept between two calls, and whoever comes
 * second finds nothing open: any number of servers may do it, and each may die at any point.
 */
#include <stdlib.h>
#include <string.h>

#include "server/api/answer_internal.h"
#include "server/api/api.h"
#include "server/api/resolving_internal.h"
#include "server/store/searches.h"

/* Of a person's wish nothing is learned; a failure is. One that is open gets its point even when it
 * is discarded, or its job would wait for it for ever. */
static enum jobs_tried_state state_of(const struct store_search_trial *trial)
{
    if (!trial->chosen && strcmp(trial->state, "queued") == 0) {
        return JOBS_TRIED_OPEN;
    }
    if (trial->discarded || strcmp(trial->state, "cancelled") == 0) {
        return JOBS_TRIED_UNKNOWN;
    }
    if (strcmp(trial->state, "failed") == 0) {
        return JOBS_TRIED_FAILED;
    }
    bool ended = strcmp(trial->state, "completed") == 0 || strcmp(trial->state, "stopped") == 0;
    return ended ? JOBS_TRIED_MEASURED : JOBS_TRIED_UNKNOWN;
}

static void tried_free(struct jobs_tried *tried, size_t n)
{
    for (size_t i = 0; tried && i < n; i++) {
        json_decref((json_t *)(uintptr_t)tried[i].parameters);
    }
    free(tried);
}

/* A trial that never had a point has none to tell, whatever stands there. */
static struct jobs_tried *tried_of(const struct store_search_trial_list *list)
{
    struct jobs_tried *tried = calloc(list->n + 1, sizeof *tried);
    for (size_t i = 0; tried && i < list->n; i++) {
        const struct store_search_trial *row = &list->rows[i];
        bool has_point = row->chosen || strcmp(row->state, "failed") == 0;
        tried[i] =
            (struct jobs_tried){.state = state_of(row),
                                .parameters = has_point ? api_document(row->parameters) : NULL,
                                .value = row->value};
        if (has_point && !tried[i].parameters) {
            tried_free(tried, list->n);
            return NULL;
        }
    }
    return tried;
}

static void chosen_free(struct store_chosen *rows, size_t n)
{
    for (size_t i = 0; rows && i < n; i++) {
        free((void *)(uintptr_t)rows[i].parameters);
        free((void *)(uintptr_t)rows[i].resolved);
    }
    free(rows);
}

static struct store_chosen *chosen_of(const struct jobs_plan *plan)
{
    struct store_chosen *rows = calloc(plan->trial_count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < plan->trial_count; i++) {
        const struct jobs_trial *trial = &plan->trials[i];
        json_t *attempts = json_object_get(trial->resolved, "max_attempts");
        rows[i] = (struct store_chosen){
            .index = (int64_t)trial->index,
            .parameters = jx_dump(trial->parameters, NULL),
            .resolved = trial->resolved ? jx_dump(trial->resolved, NULL) : NULL,
            .hash = trial->hash,
            .max_attempts = json_integer_value(attempts),
            .total_steps = (int64_t)trial->total_steps,
            .refusal = trial->refusal,
        };
        if (!rows[i].parameters || (trial->resolved && !rows[i].resolved)) {
            chosen_free(rows, plan->trial_count);
            return NULL;
        }
    }
    return rows;
}

static enum sv_status choose(struct api_ctx *ctx, const struct store_search *search,
                             const struct store_search_trial_list *trials,
                             struct jobs_plan **out_plan, struct sv_error *err)
{
    struct api_resolving resolving = {.api = ctx};
    struct jobs_context context;
    json_auto_t *submitted = api_document(search->submitted);
    json_auto_t *resolved = api_document(search->resolved);
    json_auto_t *job = submitted && resolved ? jobs_search_job(submitted, resolved) : NULL;
    struct jobs_tried *tried = tried_of(trials);
    enum sv_status st = job && tried ? SV_OK : api_no_memory(err);
    memcpy(resolving.scope.project_id, search->project_id, sizeof resolving.scope.project_id);
    api_resolving_context(&resolving, &context);
    context.max_trials = SIZE_MAX; /* they are there already */
    if (st == SV_OK) {
        st = jobs_search_next(job, &context, tried, trials->n, search->higher_is_better, out_plan,
                              err);
    }
    tried_free(tried, trials->n);
    return st;
}

static enum sv_status go_on(struct api_ctx *ctx, const struct store_search *search, size_t *written,
                            struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_search_trial_list trials = {0};
    struct jobs_plan *plan = NULL;
    struct store_chosen *rows = NULL;
    enum sv_status st = store_search_trials(ctx->store, search->job_id, &memory, &trials, err);
    if (st == SV_OK) {
        st = choose(ctx, search, &trials, &plan, err);
    }
    if (st == SV_OK) {
        rows = chosen_of(plan);
        st = rows ? store_search_choose(ctx->store, search->job_id, rows, plan->trial_count,
                                        written, err)
                  : api_no_memory(err);
    }
    if (rows) {
        chosen_free(rows, plan->trial_count);
    }
    jobs_plan_destroy(plan);
    store_memory_clear(&memory);
    return st;
}

enum sv_status api_searches_go_on(struct api_ctx *ctx, size_t *out_chosen, struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_search_list list = {0};
    size_t chosen = 0;
    enum sv_status first = store_searches_ready(ctx->store, &memory, &list, err);
    for (size_t i = 0; i < list.n; i++) {
        struct sv_error why = {0};
        size_t written = 0;
        enum sv_status st = go_on(ctx, &list.rows[i], &written, &why);
        chosen += written;
        if (st != SV_OK && first == SV_OK) { /* the others may go on all the same */
            first = st;
            *err = why;
        }
    }
    store_memory_clear(&memory);
    *out_chosen = chosen;
    return first;
}
