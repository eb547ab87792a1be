/* SPDX-License-Identifier: MIT
 *
 * The long results of a trial, page by page: predictions and log lines.
 */
#include "server/store/results.h"
#include "server/store/trial_internal.h"

/* The number of a prediction is its place in the evaluation; chunks before the cursor's are not
 * unfolded. */
static const char PREDICTIONS[] =
    "select p.n * 8192::bigint + x.i, null::text, x.sample, x.truth, x.predicted, x.probability "
    "from"
    " prediction_chunk p, unnest(p.samples, p.truths, p.predicted, p.probabilities) with ordinality"
    " as x (sample, truth, predicted, probability, i) where p.trial_id = $1 and p.part = $2 and p.n"
    " >= $3::bigint / 8192 and p.n * 8192::bigint + x.i > $3 and ($4::integer < 0 or x.truth = $4)"
    " and ($5::integer < 0 or x.predicted = $5) and ($6::integer < 0 or (x.truth <> x.predicted) ="
    " ($6 = 1)) order by p.n, x.i limit $7";

static void read_prediction(struct sql_reader *r, void *row)
{
    struct store_prediction *out = row;
    out->sample = sql_read_int(r);
    out->truth = (int32_t)sql_read_int(r);
    out->predicted = (int32_t)sql_read_int(r);
    out->probability = (float)sql_read_real(r);
}

enum sv_status store_predictions_list(struct store *store, const struct store_scope *scope,
                                      const char *trial_id,
                                      const struct store_prediction_filter *filter,
                                      const struct store_page *page, struct store_memory *memory,
                                      struct store_prediction_list *out_list, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_prediction), read_prediction};
    struct store_cursor cursor = {0};
    struct sql_params params = {0};
    struct store_rows found;
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st == SV_OK) {
        st = store_page_begin(page, memory, &cursor, err);
    }
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, trial_id);
    sql_text(&params, filter->part);
    sql_int(&params, cursor.number);
    sql_int(&params, filter->truth);
    sql_int(&params, filter->predicted);
    sql_int(&params, filter->wrong);
    sql_int(&params, (int64_t)page->limit + 1);
    st = store_read_page(store, PREDICTIONS, &params, &SHAPE, page, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_prediction_list){found.rows, found.n, found.next};
    }
    return st;
}

static void read_part(struct sql_reader *r, void *row)
{
    const char **out = row;
    *out = sql_read_text(r);
}

/* Every item stands on one side of a split. Of those that validated or were tested each has its
 * prediction kept, so one without has trained. */
enum sv_status store_sample_part(struct store *store, const struct store_scope *scope,
                                 const char *trial_id, int64_t sample, struct store_memory *memory,
                                 const char **out_part, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(const char *), read_part};
    struct sql_params params = {0};
    enum sv_status st = store_id_check(trial_id, "trial", err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, trial_id);
    sql_text(&params, scope->project_id);
    sql_int(&params, sample);
    return store_read_row(
        store,
        "select coalesce((select c.part from prediction_chunk c where c.trial_id ="
        " t.id and $3::bigint = any(c.samples) limit 1), (select e.part from"
        " evaluation e where e.trial_id = t.id and e.part = 'train')) from trial t"
        " where t.id = $1 and t.project_id = $2",
        &params, &SHAPE, "trial", memory, (void *)out_part, err);
}

static void read_line(struct sql_reader *r, void *row)
{
    struct store_logged_line *out = row;
    out->n = sql_read_int(r);
    out->fence = sql_read_int(r);
    out->level = sql_read_text(r);
    out->text = sql_read_text(r);
    sql_read_time(r, out->created_at);
}

enum sv_status store_log_read(struct store *store, const struct store_scope *scope,
                              const char *trial_id, const struct store_page *page,
                              struct store_memory *memory, struct store_log_list *out_list,
                              struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_logged_line), read_line};
    struct store_cursor cursor = {0};
    struct sql_params params = {0};
    struct store_rows found;
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st == SV_OK) {
        st = store_page_begin(page, memory, &cursor, err);
    }
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, trial_id);
    sql_int(&params, cursor.number);
    sql_int(&params, (int64_t)page->limit + 1);
    st = store_read_page(
        store,
        "select n, null::text, n, fence, level, line, rfc3339(created_at) from trial_log where"
        " trial_id = $1 and n > $2 order by n limit $3",
        &params, &SHAPE, page, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_log_list){found.rows, found.n, found.next};
    }
    return st;
}
