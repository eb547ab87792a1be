/* SPDX-License-Identifier: MIT
 *
 * Predictions of sequences: written with the evaluation they belong to, read as a list of their
 * last steps or one by one.
 */
#include "server/store/attempt_internal.h"
#include "server/store/results.h"
#include "server/store/trial_internal.h"

enum { CHUNK_SEQUENCES = 1024, CHUNK_ROWS = 1 << 20 };

/* ---- writing ---- */

/* How many sequences from `at` on go into one statement: at least one. */
static size_t chunk_size(const struct store_sequence_predictions *all, size_t at)
{
    size_t n = 1;
    int64_t rows = all->rows[at];
    while (at + n < all->n && n < CHUNK_SEQUENCES && rows + all->rows[at + n] <= CHUNK_ROWS) {
        rows += all->rows[at + n++];
    }
    return n;
}

static enum sv_status insert_chunk(struct store_conn *conn, const struct store_claim *claim,
                                   const char *part, const struct store_sequence_predictions *all,
                                   size_t at, size_t n, struct sv_error *err)
{
    struct sql_params params = {0};
    size_t begin = (size_t)all->firsts[at];
    size_t rows = (size_t)(all->firsts[at + n - 1] + all->rows[at + n - 1]) - begin;
    sql_text(&params, claim->trial_id);
    sql_text(&params, part);
    sql_int(&params, (int64_t)at);
    sql_text(&params, claim->project_id);
    sql_int(&params, (int64_t)begin);
    sql_int_array(&params, all->samples + at, n);
    sql_text_array(&params, all->names + at, n);
    sql_int_array(&params, all->lengths + at, n);
    sql_int_array(&params, all->firsts + at, n);
    sql_int_array(&params, all->rows + at, n);
    sql_float_array(&params, all->targets + begin, rows);
    sql_float_array(&params, all->predicted + begin, rows);
    return sql_run(conn,
                   "insert into sequence_prediction (trial_id, part, n, project_id, sample, name,"
                   " length, targets, predicted) select $1, $2, $3::bigint + x.i, $4, x.sample,"
                   " x.name, x.length, ($11::real[])[x.at + 1 : x.at + x.rows],"
                   " ($12::real[])[x.at + 1 : x.at + x.rows] from (select u.sample, u.name,"
                   " u.length, (u.first - $5::bigint)::integer as at, u.rows::integer as rows, u.i"
                   " from unnest($6::bigint[], $7::text[], $8::bigint[], $9::bigint[],"
                   " $10::bigint[]) with ordinality as u (sample, name, length, first, rows, i)) x",
                   &params, NULL, err);
}

enum sv_status store_sequence_predictions_write(struct store_conn *conn,
                                                const struct store_claim *claim, const char *part,
                                                const struct store_sequence_predictions *all,
                                                struct sv_error *err)
{
    enum sv_status st = SV_OK;
    for (size_t at = 0; st == SV_OK && at < all->n;) {
        size_t n = chunk_size(all, at);
        st = insert_chunk(conn, claim, part, all, at, n, err);
        at += n;
    }
    return st;
}

/* ---- reading ---- */

static void read_sequence(struct sql_reader *r, void *row)
{
    struct store_sequence_prediction *out = row;
    size_t n = 0;
    out->sample = sql_read_int(r);
    out->name = sql_read_text(r);
    out->length = sql_read_int(r);
    out->target = sql_read_real(r);
    out->predicted = sql_read_real(r);
    out->targets = sql_read_real_array(r, &out->n);
    out->predictions = sql_read_real_array(r, &n);
}

/* Arrays of one sequence alone: a page of them could be any size. */
static const char SEQUENCES[] =
    "select p.n, null::text, p.sample, p.name, p.length, p.targets[cardinality(p.targets)],"
    " p.predicted[cardinality(p.predicted)], case when $4::bigint < 0 then '{}' else p.targets end,"
    " case when $4 < 0 then '{}' else p.predicted end from sequence_prediction p where p.trial_id"
    " = $1 and p.part = $2 and p.n > $3 and ($4 < 0 or p.sample = $4) order by p.n limit $5";

enum sv_status store_sequence_predictions_list(struct store *store, const struct store_scope *scope,
                                               const char *trial_id, const char *part,
                                               int64_t sample, const struct store_page *page,
                                               struct store_memory *memory,
                                               struct store_sequence_prediction_list *out_list,
                                               struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_sequence_prediction),
                                             read_sequence};
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
    sql_text(&params, part);
    sql_int(&params, cursor.number);
    sql_int(&params, sample);
    sql_int(&params, (int64_t)page->limit + 1);
    st = store_read_page(store, SEQUENCES, &params, &SHAPE, page, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_sequence_prediction_list){found.rows, found.n, found.next};
    }
    return st;
}
