/* SPDX-License-Identifier: MIT
 *
 * /v1/trials/{id}/profile: where the time of a step went, by operator and by layer.
 */
#include <stdlib.h>
#include <string.h>

#include "server/api/handlers_internal.h"
#include "server/api/trial_read_internal.h"

/* Rows of one operator in one phase. */
struct item {
    const char *operator_name, *phase;
    int64_t layers; /* 0: what is no layer */
    double seconds;
};

static double total_of(const struct store_profile *profile)
{
    double total = 0;
    for (size_t i = 0; i < profile->n; i++) {
        total += profile->row_seconds[i];
    }
    return total;
}

/* Fills items, which has room for a row each; returns how many there are. */
static size_t gather(const struct store_profile *profile, struct item *items)
{
    size_t n = 0;
    for (size_t i = 0; i < profile->n; i++) {
        size_t k = 0;
        while (k < n && (strcmp(items[k].operator_name, profile->operators[i]) != 0 ||
                         strcmp(items[k].phase, profile->phases[i]) != 0)) {
            k++;
        }
        if (k == n) {
            items[n++] = (struct item){profile->operators[i], profile->phases[i], 0, 0};
        }
        items[k].layers += profile->layers[i][0] != '\0';
        items[k].seconds += profile->row_seconds[i];
    }
    return n;
}

/* Longest first; of equal ones by name, so that the order is always the same. */
static int compare(const void *left, const void *right)
{
    const struct item *a = left;
    const struct item *b = right;
    if (a->seconds != b->seconds) {
        return a->seconds < b->seconds ? 1 : -1;
    }
    int order = strcmp(a->operator_name, b->operator_name);
    return order != 0 ? order : strcmp(a->phase, b->phase);
}

/* Seconds of one step, and its share of the whole; row is transferred. */
static json_t *add_time_take(json_t *row, const struct store_profile *profile, double seconds)
{
    double total = total_of(profile);
    bool added =
        row != NULL &&
        json_object_set_new(row, "seconds", jx_number(seconds / (double)profile->steps)) == 0 &&
        json_object_set_new(row, "share", jx_number(total > 0 ? seconds / total : 0)) == 0;
    if (!added) {
        json_decref(row);
    }
    return added ? row : NULL;
}

static json_t *encode_items(const struct store_profile *profile, struct item *items)
{
    size_t n = gather(profile, items);
    qsort(items, n, sizeof *items, compare);
    json_t *rows = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_pack("{s:s, s:s, s:I}", "operator", items[i].operator_name, "phase",
                                items[i].phase, "layers", (json_int_t)items[i].layers);
        rows = api_append_take(rows, add_time_take(row, profile, items[i].seconds));
    }
    return rows;
}

static json_t *encode_layers(const struct store_profile *profile)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < profile->n; i++) {
        const char *layer = profile->layers[i][0] ? profile->layers[i] : NULL;
        json_t *row = json_pack("{s:s?, s:s, s:s}", "layer", layer, "operator",
                                profile->operators[i], "phase", profile->phases[i]);
        rows = api_append_take(rows, add_time_take(row, profile, profile->row_seconds[i]));
    }
    return rows;
}

static json_t *encode_profile(const char *trial_id, const struct store_profile *profile)
{
    struct item *items = calloc(profile->n, sizeof *items);
    if (!items) {
        return NULL;
    }
    json_t *json = json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "trial", trial_id, "steps",
                             (json_int_t)profile->steps, "seconds_per_step",
                             jx_number(total_of(profile) / (double)profile->steps),
                             "validation_seconds", jx_number(profile->validation_seconds),
                             "checkpoint_seconds", jx_number(profile->checkpoint_seconds), "items",
                             encode_items(profile, items), "by_layer", encode_layers(profile));
    free(items);
    return json;
}

/* GET /v1/trials/{id}/profile: shares of a step by operator and phase, and by layer. 404 before the
 * trial has ended, and when no step of it was measured. */
enum sv_status api_trials_profile(void *state, const struct http_request *req,
                                  struct http_response *out_resp, struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct api_trial_read read;
    struct store_profile profile;
    bool done = false;
    enum sv_status st = api_trial_read_begin(ctx, req, out_resp, NULL, NULL, &read, &done, err);
    if (st != SV_OK || done) {
        return st;
    }
    st = store_profile_get(ctx->store, &read.scope, read.id, &read.memory, &profile, err);
    json_t *json = st == SV_OK ? encode_profile(read.id, &profile) : NULL;
    return api_trial_read_end_take(ctx, req, out_resp, &read, st, json, err);
}
