/* SPDX-License-Identifier: MIT
 *
 * Speeds of earlier trials. Looks at a bounded number of the latest ones.
 */
#include "server/store/history.h"

#include <math.h>

#include "server/store/sql_internal.h"

static const char SPEED[] =
    "select percentile_cont(0.5) within group (order by s.last / greatest(a.threads, 1)) from"
    " (select t.id, t.fence, t.job_id, t.resolved, t.state from trial t where t.project_id = $1"
    " order by t.number desc limit 300) t join job j on j.id = t.job_id join dataset d on d.id ="
    " j.dataset_id join metric_summary s on s.trial_id = t.id and s.metric = 'images_per_second'"
    " join attempt a on a.trial_id = t.id and a.fence = t.fence where t.state = 'completed' and"
    " s.last > 0 and s.last < 'Infinity' and d.height = $2 and d.width = $3 and d.channels = $4 and"
    " (t.resolved -> 'network')::text = $5 and not exists (select 1 from jsonb_each($6::jsonb) p"
    " where coalesce((t.resolved #> string_to_array(p.key, '.'))::jsonb, 'null') <> p.value)";

enum sv_status store_speed_read(struct store *store, const struct store_scope *scope,
                                const struct store_speed_query *query, double *out_speed,
                                struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, scope->project_id);
    sql_int(&params, query->height);
    sql_int(&params, query->width);
    sql_int(&params, query->channels);
    sql_text(&params, query->network);
    sql_text(&params, query->pace);
    enum sv_status st = store_query(store, SPEED, &params, &rows, err);
    if (st == SV_OK) {
        struct sql_reader r = {.rows = &rows};
        double speed = sql_read_real(&r);
        *out_speed = isfinite(speed) ? speed : 0;
    }
    sql_rows_clear(&rows);
    return st;
}
