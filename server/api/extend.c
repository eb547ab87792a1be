/* SPDX-License-Identifier: MIT
 *
 * More epochs for trials that have come to an end: each is read, jobs says what it becomes, the
 * store moves those that are still as they were read. Of a job those trials take it that can.
 */
#include <stdlib.h>
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/jobs_internal.h"
#include "server/store/extend.h"

/* Rows in the store's form, and what they own. */
struct making {
    struct jobs_verb verb;
    struct jobs_extension *extensions;
    char **texts; /* two a row */
    struct store_extended *rows;
    size_t n;
    struct sv_error refusal; /* of the first trial that does not take it */
    enum sv_status refused;
};

static void making_deinit(struct making *m)
{
    for (size_t i = 0; i < m->n; i++) {
        jobs_extension_deinit(&m->extensions[i]);
        free(m->texts[2 * i]);
        free(m->texts[2 * i + 1]);
    }
    free(m->extensions);
    free(m->texts);
    free(m->rows);
}

static enum sv_status decide(const struct store_extendable *trial, int64_t epochs,
                             struct jobs_extension *out, struct sv_error *err)
{
    enum jobs_state state = JOBS_QUEUED, to;
    if (!jobs_state_parse(trial->state, &state) ||
        jobs_transition(state, true, JOBS_EVENT_EXTEND, &to) != JOBS_CHANGED) {
        return sv_fail(err, SV_ERR_WRONG_STATE, "the trial is %s: extend is not possible",
                       trial->state);
    }
    const struct jobs_progress at = {
        .state = state, .step = trial->step, .total_steps = trial->total_steps};
    json_auto_t *resolved = api_document(trial->resolved);
    json_auto_t *parameters = api_document(trial->parameters);
    return resolved && parameters ? jobs_extend(&at, resolved, parameters, epochs, out, err)
                                  : api_no_memory(err);
}

static enum sv_status add_row(struct making *m, const struct store_extendable *trial,
                              int64_t epochs, struct sv_error *err)
{
    struct sv_error refusal = {0};
    struct jobs_extension *made = &m->extensions[m->n];
    enum sv_status st = decide(trial, epochs, made, &refusal);
    if (st == SV_ERR_WRONG_STATE || st == SV_ERR_INVALID_FIELD) {
        /* a number that does not fit says more than a state that would not fit any */
        bool better = m->refused == SV_OK || st == SV_ERR_INVALID_FIELD;
        m->refusal = better ? refusal : m->refusal;
        m->refused = better ? st : m->refused;
        return SV_OK;
    }
    if (st != SV_OK) {
        *err = refusal;
        return st;
    }
    size_t i = m->n++;
    m->texts[2 * i] = jx_dump(made->resolved, NULL);
    m->texts[2 * i + 1] = jx_dump(made->parameters, NULL);
    m->rows[i] = (struct store_extended){.from = trial,
                                         .resolved = m->texts[2 * i],
                                         .parameters = m->texts[2 * i + 1],
                                         .total_steps = made->total_steps};
    memcpy(m->rows[i].hash, made->hash, sizeof m->rows[i].hash);
    return m->texts[2 * i] && m->texts[2 * i + 1] ? SV_OK : api_no_memory(err);
}

static enum sv_status make_rows(struct making *m, const struct store_extendable_list *list,
                                int64_t epochs, struct sv_error *err)
{
    m->extensions = calloc(list->n, sizeof *m->extensions);
    m->texts = calloc(2 * list->n, sizeof *m->texts);
    m->rows = calloc(list->n, sizeof *m->rows);
    enum sv_status st = m->extensions && m->texts && m->rows ? SV_OK : api_no_memory(err);
    for (size_t i = 0; st == SV_OK && i < list->n; i++) {
        st = add_row(m, &list->rows[i], epochs, err);
    }
    if (st == SV_OK && m->n == 0) {
        *err = m->refusal;
        st = m->refused;
    }
    return st;
}

enum sv_status api_extend(struct api_ctx *ctx, const struct store_scope *scope, const char *job_id,
                          const char *trial_id, int64_t epochs, struct store_applied *out_applied,
                          struct sv_error *err)
{
    struct store_memory memory = {0};
    struct store_extendable_list list = {0};
    struct making m = {0};
    char detail[48];
    size_t changed = 0;
    jobs_verb_make(JOBS_EVENT_EXTEND, JOBS_ALL_STATES, &m.verb);
    (void)snprintf(detail, sizeof detail, "{\"epochs\": %lld}", (long long)epochs);
    enum sv_status st =
        store_extendable_read(ctx->store, scope, job_id, trial_id, &memory, &list, err);
    if (st == SV_OK) {
        st = make_rows(&m, &list, epochs, err);
    }
    if (st == SV_OK) {
        const struct store_extension extension = {.job_id = list.rows[0].job_id,
                                                  .trial_id = trial_id,
                                                  .verb = &m.verb.store,
                                                  .rows = m.rows,
                                                  .n = m.n,
                                                  .detail = detail};
        st = store_trials_extend(ctx->store, scope, &extension, &changed, err);
    }
    if (st == SV_OK && changed == 0) {
        st = sv_fail(err, SV_ERR_WRONG_STATE, "the state has changed meanwhile");
    }
    if (st == SV_OK) {
        *out_applied = (struct store_applied){.changed = changed, .refused = list.n - changed};
    }
    making_deinit(&m);
    store_memory_clear(&memory);
    return st;
}

/* POST /v1/trials/{id}/extend: 200 with the trial; 404; 409; 422. */
enum sv_status api_trials_extend(void *state, const struct http_request *req,
                                 struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct store_scope scope;
    struct store_applied applied;
    struct api_wish wish = {0};
    const char *id = http_path(req, "id");
    api_scope(req, &scope);
    enum sv_status st = http_query_decode(req, NULL, 0, NULL, err);
    if (st == SV_OK) {
        st = api_verb_decode(req->json, api_verb_find("extend"), &wish, err);
    }
    if (st == SV_OK) {
        st = api_extend(ctx, &scope, NULL, id, wish.epochs, &applied, err);
    }
    return st == SV_OK ? api_trial_answer(ctx, req, out_resp, id, "changed", err) : st;
}
