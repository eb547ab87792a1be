/* SPDX-License-Identifier: MIT
 *
 * GET /v1/trials/{id}/regression: predicted against true over all steps of a part, as points taken
 * evenly, and the histogram of the errors.
 */
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/trial_read_internal.h"
#include "server/store/results.h"

static const char *const PARTS[] = {"train", "validation", "test", NULL};
enum { PART_VALIDATION = 1, POINTS_DEFAULT = 2000, POINTS_MAX = 20000, BINS_DEFAULT = 40 };

struct regression_query {
    int part;
    int64_t points, bins;
};

#define QUERY(member) offsetof(struct regression_query, member)
static const struct http_param REGRESSION_PARAMS[] = {
    {"part", HTTP_PARAM_CHOICE, QUERY(part), 0, 0, PARTS},
    {"points", HTTP_PARAM_INT, QUERY(points), 1, POINTS_MAX, NULL},
    {"bins", HTTP_PARAM_INT, QUERY(bins), 1, 1000, NULL},
};

static json_t *encode_points(const struct store_error_spread *spread)
{
    json_t *samples = json_array(), *steps = json_array();
    json_t *targets = json_array(), *predicted = json_array();
    for (size_t i = 0; i < spread->n_points; i++) {
        samples = api_append_take(samples, json_integer((json_int_t)spread->samples[i]));
        steps = api_append_take(steps, json_integer((json_int_t)spread->at[i]));
        targets = api_append_take(targets, jx_number_f32((float)spread->targets[i]));
        predicted = api_append_take(predicted, jx_number_f32((float)spread->predicted[i]));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "sample", samples, "step", steps, "target", targets,
                     "predicted", predicted);
}

static json_t *encode_histogram(const struct store_error_spread *spread)
{
    json_t *counts = json_array();
    bool any = spread->steps > spread->not_finite;
    for (size_t i = 0; i < spread->n_bins; i++) {
        counts = api_append_take(counts, json_integer((json_int_t)spread->bins[i]));
    }
    return json_pack("{s:o, s:o, s:o, s:I}", "low", any ? jx_number(spread->low) : json_null(),
                     "high", any ? jx_number(spread->high) : json_null(), "counts", counts,
                     "not_finite", (json_int_t)spread->not_finite);
}

static enum sv_status read_spread(struct api_ctx *ctx, struct api_trial_read *read,
                                  const struct regression_query *query, json_t **out_json,
                                  struct sv_error *err)
{
    struct store_error_spread spread;
    const char *part = PARTS[query->part], *task = "";
    enum sv_status st =
        store_evaluation_task(ctx->store, &read->scope, read->id, part, &read->memory, &task, err);
    if (st == SV_OK && strcmp(task, "regression") != 0) {
        st = sv_fail(err, SV_ERR_NOT_FOUND,
                     "a %s has no regression; see evaluations and confusion-matrix", task);
    }
    if (st == SV_OK) {
        st = store_error_spread_get(ctx->store, &read->scope, read->id, part, query->points,
                                    query->bins, &read->memory, &spread, err);
    }
    if (st == SV_OK) {
        *out_json =
            json_pack("{s:s, s:I, s:I, s:o, s:o}", "part", part, "sequences",
                      (json_int_t)spread.sequences, "steps", (json_int_t)spread.steps, "points",
                      encode_points(&spread), "errors", encode_histogram(&spread));
    }
    return st;
}

/* GET /v1/trials/{id}/regression?part=test&points=2000&bins=40. 404 also when the part was not
 * evaluated, or is of another task. */
enum sv_status api_trials_regression(void *state, const struct http_request *req,
                                     struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct regression_query query = {
        .part = PART_VALIDATION, .points = POINTS_DEFAULT, .bins = BINS_DEFAULT};
    struct api_params params = {REGRESSION_PARAMS, API_COUNT(REGRESSION_PARAMS), &query};
    struct api_trial_read read;
    json_t *json = NULL;
    bool done = false;
    enum sv_status st = api_trial_read_begin(ctx, req, out_resp, &params, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = read_spread(ctx, &read, &query, &json, err);
    return api_trial_read_end_take(ctx, req, out_resp, &read, st, json, err);
}
