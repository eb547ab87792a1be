/* SPDX-License-Identifier: MIT
 *
 * Calls of job_touch.
 */
#include "server/store/touch_internal.h"

enum sv_status store_job_touch(struct store_conn *conn, const struct store_touch *touch,
                               struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, touch->job_id);
    sql_text(&params, touch->trial_id);
    sql_text(&params, touch->kind);
    sql_text(&params, touch->detail);
    sql_text(&params, touch->actor);
    sql_bool(&params, touch->recount);
    return sql_run(conn, "select job_touch($1, $2, $3, $4, $5, $6)", &params, NULL, err);
}
