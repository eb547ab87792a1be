/* SPDX-License-Identifier: MIT
 *
 * The outbox as it is read, and revisions.
 */
#include "server/store/events.h"

#include <string.h>

#include "server/store/list_internal.h"

enum { EVENTS_MAX = 500 };

static void read_event(struct sql_reader *r, void *row)
{
    struct store_event *out = row;
    out->id = sql_read_int(r);
    out->kind = sql_read_text(r);
    sql_read_id(r, out->job_id);
    sql_read_id(r, out->trial_id);
    sql_read_id(r, out->dataset_id);
    sql_read_id(r, out->weights_id);
    out->revision = sql_read_int(r);
    out->detail = sql_read_text(r);
    out->actor = sql_read_text(r);
    sql_read_time(r, out->created_at);
}

/* Ids rise through all projects; what is trimmed is the beginning. So something after `after` is
 * gone when the oldest that is left is not its successor or older, and `after` is not the start. */
static enum sv_status find_gap(struct store *store, int64_t after, bool *out_gap,
                               struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_int(&params, after);
    enum sv_status st = store_query(
        store, "select coalesce((select min(id) from event) > $1 + 1, false)", &params, &rows, err);
    if (st == SV_OK) {
        struct sql_reader r = {.rows = &rows};
        *out_gap = sql_read_bool(&r);
        sql_rows_clear(&rows);
    }
    return st;
}

enum sv_status store_events_read(struct store *store, const struct store_scope *scope,
                                 const char *job_id, int64_t after, size_t limit,
                                 struct store_memory *memory, struct store_event_list *out_list,
                                 struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(struct store_event), read_event};
    struct sql_params params = {0};
    struct store_rows found;
    struct store_event_list list = {0};
    enum sv_status st = job_id ? store_id_check(job_id, "job", err) : SV_OK;
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, scope->project_id);
    sql_int(&params, after);
    sql_text(&params, job_id);
    sql_int(&params, (int64_t)(limit < EVENTS_MAX ? limit : EVENTS_MAX));
    st = store_read_rows(
        store,
        "select id, kind, job_id, trial_id, dataset_id, weights_id, revision, detail, actor,"
        " rfc3339(created_at) from event where project_id = $1 and id > $2 and"
        " ($3::text is null or job_id = ($3::text)::uuid) order by id limit $4",
        &params, &SHAPE, memory, &found, err);
    if (st == SV_OK && after > 0) {
        st = find_gap(store, after, &list.gap, err);
    }
    if (st == SV_OK) {
        list.rows = found.rows;
        list.n = found.n;
        *out_list = list;
    }
    return st;
}

enum sv_status store_events_latest(struct store *store, const struct store_scope *scope,
                                   int64_t *out_id, struct sv_error *err)
{
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    sql_text(&params, scope->project_id);
    enum sv_status st = store_query(
        store, "select coalesce(max(id), 0) from event where project_id = $1", &params, &rows, err);
    if (st == SV_OK) {
        struct sql_reader r = {.rows = &rows};
        *out_id = sql_read_int(&r);
        sql_rows_clear(&rows);
    }
    return st;
}

/* ---- revisions ---- */

/* What has revisions, by enum store_subject, which is the rank below too. */
static const struct {
    const char *what, *one;
} SUBJECTS[] = {
    [STORE_SUBJECT_JOB] = {"job", "select revision from job where id = $1 and project_id = $2"},
    [STORE_SUBJECT_DATASET] = {"data set",
                               "select revision from dataset where id = $1 and project_id = $2"},
    [STORE_SUBJECT_WEIGHTS] = {"weights",
                               "select revision from weights where id = $1 and project_id = $2"},
    [STORE_SUBJECT_PREDICTION] = {"prediction", "select revision from prediction where id = $1"
                                                " and project_id = $2"},
};

/* Jobs (rank 0), data sets (1), weights (2), each by number; the cursor's key is the rank. */
static const char REVISIONS[] =
    "select r.number, r.rank::text, r.rank::bigint, r.id, r.project_id, r.revision from (select 0 "
    "as"
    " rank, number, id, project_id, revision, updated_at from job union all select 1, number, id,"
    " project_id, revision, updated_at from dataset union all select 2, number, id, project_id,"
    " revision, updated_at from weights) r where ($1::text is null or r.updated_at >="
    " ($1::text)::timestamptz) and (not $2::boolean or (r.rank, r.number) >"
    " (($4::text)::integer, $3::bigint)) order by r.rank, r.number limit $5";

enum sv_status store_revisions_read(struct store *store, const char *since,
                                    const struct store_page *page, struct store_memory *memory,
                                    struct store_change_list *out_list, struct sv_error *err)
{
    struct store_cursor cursor = {0};
    struct sql_params params = {0};
    struct sql_rows rows = {0};
    struct store_change_list list = {0};
    enum sv_status st = store_cursor_parse(page->cursor, memory, &cursor, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, since);
    sql_bool(&params, cursor.present);
    sql_int(&params, cursor.number);
    sql_text(&params, cursor.key);
    sql_int(&params, (int64_t)page->limit);
    st = store_query(store, REVISIONS, &params, &rows, err);
    if (st != SV_OK) {
        return st;
    }
    list.rows = store_memory_array(memory, (size_t)rows.n, sizeof *list.rows);
    for (int i = 0; list.rows && i < rows.n; i++) {
        struct sql_reader r = {.rows = &rows, .row = i, .memory = memory};
        struct store_change *change = &list.rows[i];
        int64_t number = sql_read_int(&r);
        const char *rank = sql_read_text(&r);
        change->subject = (enum store_subject)sql_read_int(&r);
        sql_read_id(&r, change->id);
        sql_read_id(&r, change->project_id);
        change->revision = sql_read_int(&r);
        list.n++;
        if (list.n == page->limit) {
            list.next = store_cursor_make(memory, number, rank);
        }
    }
    sql_rows_clear(&rows);
    st = store_memory_check(memory, err);
    if (st == SV_OK) {
        *out_list = list;
    }
    return st;
}

static void read_revision(struct sql_reader *r, void *row)
{
    int64_t *revision = row;
    *revision = sql_read_int(r);
}

enum sv_status store_revision_get(struct store *store, const struct store_scope *scope,
                                  enum store_subject subject, const char *id, int64_t *out_revision,
                                  struct sv_error *err)
{
    static const struct store_shape SHAPE = {sizeof(int64_t), read_revision};
    const char *what = SUBJECTS[subject].what;
    enum sv_status st = store_id_check(id, what, err);
    if (st != SV_OK) {
        return st;
    }
    struct store_memory memory = {0};
    struct sql_params params = {0};
    sql_text(&params, id);
    sql_text(&params, scope->project_id);
    st = store_read_row(store, SUBJECTS[subject].one, &params, &SHAPE, what, &memory, out_revision,
                        err);
    store_memory_clear(&memory);
    return st;
}
