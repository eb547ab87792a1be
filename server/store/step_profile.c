/* SPDX-License-Identifier: MIT
 *
 * The profile of a trial's steps: written with its evaluations, read whole.
 */
#include "server/store/attempt_internal.h"
#include "server/store/results.h"
#include "server/store/trial_internal.h"

enum sv_status store_profile_write(struct store_conn *conn, const struct store_claim *claim,
                                   const struct store_profile *profile, struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, claim->trial_id);
    sql_int(&params, claim->fence);
    sql_text(&params, claim->project_id);
    sql_int(&params, profile->steps);
    sql_real(&params, profile->seconds);
    sql_real(&params, profile->validation_seconds);
    sql_real(&params, profile->checkpoint_seconds);
    sql_text_array(&params, profile->layers, profile->n);
    sql_text_array(&params, profile->operators, profile->n);
    sql_text_array(&params, profile->phases, profile->n);
    sql_real_array(&params, profile->row_seconds, profile->n);
    return sql_run(conn,
                   "insert into step_profile (trial_id, fence, project_id, steps, seconds,"
                   " validation_seconds, checkpoint_seconds, layers, operators, phases,"
                   " row_seconds) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                   &params, NULL, err);
}

static void read_profile(struct sql_reader *r, void *row)
{
    struct store_profile *out = row;
    out->steps = sql_read_int(r);
    out->seconds = sql_read_real(r);
    out->validation_seconds = sql_read_real(r);
    out->checkpoint_seconds = sql_read_real(r);
    out->layers = sql_read_text_array(r, &out->n);
    out->operators = sql_read_text_array(r, &out->n);
    out->phases = sql_read_text_array(r, &out->n);
    out->row_seconds = sql_read_real_array(r, &out->n);
}

enum sv_status store_profile_get(struct store *store, const struct store_scope *scope,
                                 const char *trial_id, struct store_memory *memory,
                                 struct store_profile *out_profile, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_profile), read_profile};
    struct sql_params params = {0};
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, trial_id);
    return store_read_row(store,
                          "select steps, seconds, validation_seconds, checkpoint_seconds, layers,"
                          " operators, phases, row_seconds from step_profile where trial_id = $1",
                          &params, &SHAPE, "profile", memory, out_profile, err);
}
