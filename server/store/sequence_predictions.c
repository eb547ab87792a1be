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
    out->rmse = sql_read_real(r);
    out->worst_step = sql_read_int(r);
    out->worst_target = sql_read_real(r);
    out->worst_predicted = sql_read_real(r);
    out->targets = sql_read_real_array(r, &out->n);
    out->predictions = sql_read_real_array(r, &n);
}

/* What a row of the list says. What is predicted of a sequence ends with its last step. */
#define SEQUENCE_COLUMNS                                                                           \
    " p.sample, p.name, p.length, p.targets[cardinality(p.targets)],"                              \
    " p.predicted[cardinality(p.predicted)], p.rmse,"                                              \
    " p.length - cardinality(p.targets) + p.worst_step, p.targets[p.worst_step], "                 \
    "p.predicted[p.worst_step],"

/* Arrays of one sequence, or of a small page: they could be any size. */
static const char SEQUENCES[] =
    "select p.n, null::text," SEQUENCE_COLUMNS
    " case when $6 then p.targets else '{}' end, case when $6 then p.predicted else '{}' end"
    " from sequence_prediction p where p.trial_id = $1 and p.part = $2 and p.n > $3 and"
    " ($4::bigint < 0 or p.sample = $4) order by p.n limit $5";
/* The page is found before its arrays are opened. */
static const char SEQUENCES_WORST_FIRST[] =
    "select p.n, p.worst_error::text," SEQUENCE_COLUMNS
    " '{}'::real[], '{}'::real[] from (select trial_id, part, n from sequence_prediction where"
    " trial_id = $1 and part = $2 and ($4::text is null or worst_error < $4::double precision or"
    " (worst_error = $4::double precision and n > $3)) order by worst_error desc, n limit $5) found"
    " join sequence_prediction p using (trial_id, part, n) order by p.worst_error desc, p.n";

enum sv_status store_sequence_predictions_list(struct store *store, const struct store_scope *scope,
                                               const char *trial_id,
                                               const struct store_sequence_filter *filter,
                                               const struct store_page *page,
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
    sql_text(&params, filter->part);
    sql_int(&params, cursor.number);
    if (filter->worst_first) {
        sql_text(&params, cursor.present ? cursor.key : NULL);
    } else {
        sql_int(&params, filter->sample);
    }
    sql_int(&params, (int64_t)page->limit + 1);
    if (!filter->worst_first) {
        sql_bool(&params, filter->steps || filter->sample >= 0);
    }
    st = store_read_page(store, filter->worst_first ? SEQUENCES_WORST_FIRST : SEQUENCES, &params,
                         &SHAPE, page, memory, &found, err);
    if (st == SV_OK) {
        *out_list = (struct store_sequence_prediction_list){found.rows, found.n, found.next};
    }
    return st;
}

/* ---- the errors of all steps ---- */

static void read_spread(struct sql_reader *r, void *row)
{
    struct store_error_spread *out = row;
    size_t n = 0;
    out->sequences = sql_read_int(r);
    out->steps = sql_read_int(r);
    out->not_finite = sql_read_int(r);
    out->low = sql_read_real(r);
    out->high = sql_read_real(r);
    out->bins = sql_read_int_array(r, &out->n_bins);
    out->samples = sql_read_int_array(r, &out->n_points);
    out->at = sql_read_int_array(r, &n);
    out->targets = sql_read_real_array(r, &n);
    out->predicted = sql_read_real_array(r, &n);
}

/* Places are counted over all sequences, so that every k-th step is one of the points whatever the
 * lengths; every step goes into the bins. Equal errors share the first bin. Steps are read twice
 * rather than kept: there may be millions. */
static const char SPREAD[] =
    "with sequences as materialized (select n, sample, length, targets, predicted,"
    " (sum(cardinality(targets)) over (order by n) - cardinality(targets))::bigint as before"
    " from sequence_prediction where trial_id = $1 and part = $2), stride as materialized"
    " (select greatest(1, ceil(sum(cardinality(targets))::numeric / $3::bigint))::bigint as k"
    " from sequences), steps as not materialized (select u.p::double precision - u.t::double"
    " precision as e from sequences s, unnest(s.targets, s.predicted) as u (t, p)), range as"
    " materialized (select count(*) as n, count(*) filter (where not abs(e) < 'Infinity') as"
    " not_finite, min(e) filter (where abs(e) < 'Infinity') as low, max(e) filter (where abs(e)"
    " < 'Infinity') as high from steps), bins as (select case when r.high > r.low then"
    " least(width_bucket(s.e, r.low, r.high, $4::integer), $4) else 1 end as bin, count(*) as n"
    " from steps s, range r where abs(s.e) < 'Infinity' group by 1), points as materialized"
    " (select s.sample, s.before + i as place,"
    " s.length - cardinality(s.targets) + i as step, s.targets[i::integer] as t, "
    "s.predicted[i::integer] as p from"
    " sequences s, stride, generate_series(1 + (stride.k - s.before % stride.k) % stride.k,"
    " cardinality(s.targets)::bigint, stride.k) as i) select (select count(*) from sequences),"
    " r.n, r.not_finite, r.low, r.high, array(select coalesce(b.n, 0) from generate_series(1,"
    " $4) g left join bins b on b.bin = g order by g), array(select sample from points order by"
    " place), array(select step from points order by place), array(select t from points order by"
    " place), array(select p from points order by place) from range r";

enum sv_status store_error_spread_get(struct store *store, const struct store_scope *scope,
                                      const char *trial_id, const char *part, int64_t points,
                                      int64_t n_bins, struct store_memory *memory,
                                      struct store_error_spread *out_spread, struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_error_spread), read_spread};
    struct sql_params params = {0};
    enum sv_status st = store_trial_exists(store, scope, trial_id, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, trial_id);
    sql_text(&params, part);
    sql_int(&params, points);
    sql_int(&params, n_bins);
    return store_read_row(store, SPREAD, &params, &SHAPE, "trial", memory, out_spread, err);
}
