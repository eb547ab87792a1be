/* SPDX-License-Identifier: MIT
 *
 * GET /v1/trials/{id}/predictions.csv: every prediction of a part as one table, read page by page.
 */
#include <stdlib.h>
#include <string.h>

#include "server/api/csv_internal.h"
#include "server/api/handlers_internal.h"
#include "server/api/trial_read_internal.h"
#include "server/store/results.h"

static const char *const PARTS[] = {"train", "validation", "test", NULL};
enum { PART_VALIDATION = 1, SAMPLES_AT_ONCE = 500, SEQUENCES_AT_ONCE = 20 };

struct table_query {
    int part;
};
static const struct http_param TABLE_PARAMS[] = {
    {"part", HTTP_PARAM_CHOICE, offsetof(struct table_query, part), 0, 0, PARTS},
};

struct table {
    struct api_ctx *ctx;
    const struct api_trial_read *read;
    const char *part;
    struct csv_writer csv;
};

/* What follows after a page; the memory of the page is gone with it. */
struct position {
    char cursor[256];
    bool more;
};

static void move(struct position *at, const char *next)
{
    at->more = next && strlen(next) < sizeof at->cursor;
    if (at->more) {
        memcpy(at->cursor, next, strlen(next) + 1);
    }
}

/* ------------------------------------------------------------------------------ classification */

static void write_class(struct csv_writer *csv, const struct store_confusion *matrix, int32_t index)
{
    bool known = index >= 0 && (size_t)index < matrix->n_classes;
    csv_text(csv, known ? matrix->classes[index] : NULL);
}

static enum sv_status write_samples_page(struct table *t, const struct store_confusion *matrix,
                                         struct position *at, struct sv_error *err)
{
    const struct store_prediction_filter filter = {
        .part = t->part, .wrong = -1, .truth = -1, .predicted = -1};
    const struct store_page page = {.limit = SAMPLES_AT_ONCE,
                                    .cursor = at->more ? at->cursor : NULL};
    struct store_memory memory = {0};
    struct store_prediction_list list = {0};
    enum sv_status st = store_predictions_list(t->ctx->store, &t->read->scope, t->read->id, &filter,
                                               &page, &memory, &list, err);
    for (size_t i = 0; st == SV_OK && i < list.n; i++) {
        csv_integer(&t->csv, list.rows[i].sample);
        write_class(&t->csv, matrix, list.rows[i].truth);
        write_class(&t->csv, matrix, list.rows[i].predicted);
        csv_number_f32(&t->csv, list.rows[i].probability);
        csv_end_row(&t->csv);
    }
    move(at, st == SV_OK ? list.next : NULL);
    store_memory_clear(&memory);
    return st;
}

/* ---------------------------------------------------------------------------------- regression */

/* What is predicted of a sequence ends with its last step. */
static void write_sequence(struct csv_writer *csv, const struct store_sequence_prediction *p)
{
    for (size_t i = 0; i < p->n; i++) {
        csv_integer(csv, p->sample);
        csv_text(csv, p->name);
        csv_integer(csv, p->length - (int64_t)(p->n - i) + 1);
        csv_number_f32(csv, (float)p->targets[i]);
        csv_number_f32(csv, (float)p->predictions[i]);
        csv_end_row(csv);
    }
}

static enum sv_status write_sequences_page(struct table *t, struct position *at,
                                           struct sv_error *err)
{
    const struct store_sequence_filter filter = {.part = t->part, .sample = -1, .steps = true};
    const struct store_page page = {.limit = SEQUENCES_AT_ONCE,
                                    .cursor = at->more ? at->cursor : NULL};
    struct store_memory memory = {0};
    struct store_sequence_prediction_list list = {0};
    enum sv_status st = store_sequence_predictions_list(t->ctx->store, &t->read->scope, t->read->id,
                                                        &filter, &page, &memory, &list, err);
    for (size_t i = 0; st == SV_OK && i < list.n; i++) {
        write_sequence(&t->csv, &list.rows[i]);
    }
    move(at, st == SV_OK ? list.next : NULL);
    store_memory_clear(&memory);
    return st;
}

/* -------------------------------------------------------------------------------------- handler */

static void write_head(struct csv_writer *csv, bool regression)
{
    static const char *const SAMPLES[] = {"sample", "true", "predicted", "probability", NULL};
    static const char *const STEPS[] = {"sample", "name", "step", "target", "predicted", NULL};
    const char *const *names = regression ? STEPS : SAMPLES;
    for (size_t i = 0; names[i]; i++) {
        csv_text(csv, names[i]);
    }
    csv_end_row(csv);
}

static enum sv_status write_table(struct table *t, struct store_memory *memory,
                                  struct sv_error *err)
{
    const char *task = "";
    struct store_confusion matrix = {0};
    struct position at = {0};
    enum sv_status st = store_evaluation_task(t->ctx->store, &t->read->scope, t->read->id, t->part,
                                              memory, &task, err);
    bool regression = st == SV_OK && strcmp(task, "regression") == 0;
    if (st == SV_OK && !regression) {
        st = store_confusion_get(t->ctx->store, &t->read->scope, t->read->id, t->part, memory,
                                 &matrix, err);
    }
    if (st != SV_OK) {
        return st;
    }
    write_head(&t->csv, regression);
    do {
        st = regression ? write_sequences_page(t, &at, err)
                        : write_samples_page(t, &matrix, &at, err);
    } while (st == SV_OK && at.more);
    return st;
}

/* GET /v1/trials/{id}/predictions.csv?part=validation. 404 also when the part was not evaluated. */
enum sv_status api_trials_predictions_csv(void *state, const struct http_request *req,
                                          struct http_response *out_resp, struct sv_error *err)
{
    struct table_query query = {.part = PART_VALIDATION};
    const struct api_params params = {TABLE_PARAMS, API_COUNT(TABLE_PARAMS), &query};
    struct api_trial_read read;
    struct table table = {.ctx = state, .read = &read};
    size_t size = 0;
    bool done = false;
    http_response_filename(out_resp, "predictions.csv"); /* of an answer kept, too */
    enum sv_status st =
        api_trial_read_begin(state, req, out_resp, &params, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    table.part = PARTS[query.part];
    if (!csv_begin(&table.csv)) {
        return api_trial_read_end_bytes_take(state, req, out_resp, &read, API_CSV, NULL, 0, err);
    }
    st = write_table(&table, &read.memory, err);
    char *text = csv_finish(&table.csv, &size);
    if (st == SV_OK) {
        return api_trial_read_end_bytes_take(state, req, out_resp, &read, API_CSV, text, size, err);
    }
    free(text);
    return api_trial_read_end_take(state, req, out_resp, &read, st, NULL, err);
}
