/* SPDX-License-Identifier: MIT
 *
 * Searches: which may go on, from what, and the one UPDATE that gives open trials their points. It
 * names the state that they are in, so whoever comes second changes nothing.
 */
#include "server/store/searches.h"

#include "server/store/list_internal.h"
#include "server/store/touch_internal.h"

static void read_search(struct sql_reader *r, void *row)
{
    struct store_search *out = row;
    sql_read_id(r, out->job_id);
    sql_read_id(r, out->project_id);
    out->submitted = sql_read_text(r);
    out->resolved = sql_read_text(r);
    out->higher_is_better = sql_read_bool(r);
}

enum sv_status store_searches_ready(struct store *store, struct store_memory *memory,
                                    struct store_search_list *out_list, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_search), read_search};
    struct sql_params params = {0};
    struct store_rows found;
    enum sv_status st = store_read_rows(
        store,
        "with o as (select job_id, min(idx) as idx from trial where state = 'queued' and not held"
        " and not chosen group by job_id) select j.id, j.project_id, j.submitted,"
        " j.resolved, j.headline_direction = 'higher' from o join job j on j.id = o.job_id where "
        "not exists"
        " (select 1 from trial t where t.job_id = o.job_id and t.idx < o.idx and t.state in"
        " ('queued', 'running', 'paused')) order by j.number limit 16",
        &params, &SHAPE, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_search_list){found.rows, found.n};
    }
    return st;
}

static void read_trial(struct sql_reader *r, void *row)
{
    struct store_search_trial *out = row;
    out->parameters = sql_read_text(r);
    out->state = sql_read_text(r);
    out->chosen = sql_read_bool(r);
    out->discarded = sql_read_bool(r);
    out->value = sql_read_real(r);
}

enum sv_status store_search_trials(struct store *store, const char *job_id,
                                   struct store_memory *memory,
                                   struct store_search_trial_list *out_list, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_search_trial), read_trial};
    struct sql_params params = {0};
    struct store_rows found;
    sql_text(&params, job_id);
    enum sv_status st =
        store_read_rows(store,
                        "select parameters, state, chosen, discarded, headline_value from trial"
                        " where job_id = $1 order by idx",
                        &params, &SHAPE, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_search_trial_list){found.rows, found.n};
    }
    return st;
}

struct choosing {
    const char *job_id;
    const struct store_chosen *rows;
    size_t n, written;
};

/* In the order in which every transaction locks them. */
static enum sv_status lock_trials(struct store_conn *conn, const struct choosing *c,
                                  struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, c->job_id);
    sql_int(&params, c->rows[0].index);
    sql_int(&params, c->rows[c->n - 1].index);
    return sql_run(conn,
                   "select 1 from trial where job_id = $1 and idx between $2 and $3 order by idx"
                   " for no key update",
                   &params, NULL, err);
}

static void add_rows(struct sql_params *params, const struct choosing *c)
{
    size_t n = c->n;
    const char **texts = store_memory_array(&params->memory, 4 * n, sizeof *texts);
    int64_t *numbers = store_memory_array(&params->memory, 3 * n, sizeof *numbers);
    for (size_t i = 0; texts && numbers && i < n; i++) {
        const struct store_chosen *row = &c->rows[i];
        texts[i] = row->parameters;
        texts[n + i] = row->refusal ? NULL : row->resolved;
        texts[2 * n + i] = row->refusal ? NULL : row->hash;
        texts[3 * n + i] = row->refusal;
        numbers[i] = row->index;
        numbers[n + i] = row->refusal ? 1 : row->max_attempts;
        numbers[2 * n + i] = row->refusal ? 0 : row->total_steps;
    }
    for (size_t column = 0; texts && numbers && column < 4; column++) {
        sql_text_array(params, texts + column * n, n);
    }
    for (size_t column = 0; texts && numbers && column < 3; column++) {
        sql_int_array(params, numbers + column * n, n);
    }
}

/* $1 job; parameters, resolved, hash, refusal, index, attempts, steps. */
static const char CHOOSE[] =
    "update trial t set parameters = x.parameters::json, chosen = x.refusal is null,"
    " resolved = coalesce(x.resolved::json, t.resolved), hash = coalesce(decode(x.hash, 'hex'),"
    " t.hash), max_attempts = x.max_attempts, total_steps = nullif(x.total_steps, 0),"
    " state = case when x.refusal is null then 'queued' else 'failed' end,"
    " error_class = case when x.refusal is not null then 'invalid_input' end,"
    " error_text = x.refusal, queued_at = clock_timestamp(),"
    " finished_at = case when x.refusal is not null then clock_timestamp() end"
    " from unnest($2, $3, $4, $5, $6, $7, $8) as x (parameters, resolved, hash, refusal, idx,"
    " max_attempts, total_steps) where t.job_id = $1 and t.idx = x.idx and t.state = 'queued'"
    " and not t.held and not t.chosen";

static enum sv_status choose_tx(struct store_conn *conn, void *ctx, struct sv_error *err)
{
    struct choosing *c = ctx;
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    enum sv_status st = lock_trials(conn, c, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, c->job_id);
    add_rows(&params, c);
    st = sql_run(conn, CHOOSE, &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    c->written = (size_t)rows.affected;
    sql_rows_clear(&rows);
    struct store_touch touch = {
        .job_id = c->job_id, .kind = "trials_chosen", .actor = "search", .recount = true};
    return c->written > 0 ? store_job_touch(conn, &touch, err) : SV_OK;
}

enum sv_status store_search_choose(struct store *store, const char *job_id,
                                   const struct store_chosen *rows, size_t n, size_t *out_written,
                                   struct sv_error *err)
{
    struct choosing choosing = {.job_id = job_id, .rows = rows, .n = n};
    enum sv_status st =
        n > 0 ? store_tx_run(store, "search_choose", choose_tx, &choosing, err) : SV_OK;
    if (st == SV_OK) {
        *out_written = choosing.written;
    }
    return st;
}
