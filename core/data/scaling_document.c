/* SPDX-License-Identifier: MIT
 *
 * A scaling as JSON, and back.
 */
#include <math.h>
#include <string.h>

#include "core/data/scaling_internal.h"

static json_t *encode_columns(const struct nn_scaling_column *columns, const char *const *names,
                              size_t n)
{
    json_t *list = json_array();
    for (size_t k = 0; list && k < n; k++) {
        json_t *row =
            json_pack("{s:o, s:o, s:o}", "name", jx_text(names[k], SIZE_MAX), "offset",
                      jx_number(columns[k].offset), "factor", jx_number(columns[k].factor));
        if (json_array_append_new(list, row) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

json_t *nn_scaling_encode(const struct nn_scaling *s)
{
    json_t *dropped = json_array();
    for (size_t k = 0; dropped && k < s->n_dropped; k++) {
        if (json_array_append_new(dropped, jx_text(s->dropped_names[k], SIZE_MAX)) != 0) {
            json_decref(dropped);
            dropped = NULL;
        }
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "inputs",
                     encode_columns(s->inputs, s->input_names, s->n_inputs), "dropped", dropped,
                     "targets", encode_columns(s->targets, s->target_names, s->n_targets),
                     "target_max", isinf(s->target_max) ? json_null() : jx_number(s->target_max));
}

static enum nn_status not_ours(struct nn_error *err)
{
    return nn_fail(err, NN_ERR_INVALID, "the document of a scaling is damaged");
}

/* One column; its place is found by the caller. */
static enum nn_status decode_column(struct nn_scaling *s, const json_t *row,
                                    struct nn_scaling_column *out_column, const char **out_name,
                                    struct nn_error *err)
{
    const char *name = json_string_value(json_object_get(row, "name"));
    struct nn_scaling_column c = {0};
    if (!name || !jx_number_get(json_object_get(row, "offset"), &c.offset) ||
        !jx_number_get(json_object_get(row, "factor"), &c.factor) || !isfinite(c.offset) ||
        !isfinite(c.factor) || !(c.factor > 0)) {
        return not_ours(err);
    }
    *out_name = nn_arena_text(s->arena, name);
    *out_column = c;
    return *out_name ? NN_OK : nn_scaling_no_memory(err);
}

static enum nn_status decode_inputs(struct nn_scaling *s, const json_t *list,
                                    const char *const *names, size_t n, struct nn_error *err)
{
    s->width = n;
    for (size_t k = 0; k < json_array_size(list); k++) {
        size_t at = 0;
        enum nn_status status =
            decode_column(s, json_array_get(list, k), &s->inputs[k], &s->input_names[k], err);
        if (status != NN_OK) {
            return status;
        }
        while (at < n && strcmp(names[at], s->input_names[k]) != 0) {
            at++;
        }
        if (at == n) {
            return nn_fail(err, NN_ERR_INVALID, "there is no column \"%.100s\"", s->input_names[k]);
        }
        s->inputs[k].column = at;
        s->n_inputs++;
    }
    return s->n_inputs > 0 ? NN_OK : not_ours(err);
}

static enum nn_status decode_rest(struct nn_scaling *s, const json_t *json, struct nn_error *err)
{
    const json_t *targets = json_object_get(json, "targets");
    const json_t *dropped = json_object_get(json, "dropped");
    const json_t *target_max = json_object_get(json, "target_max");
    for (size_t r = 0; r < json_array_size(targets); r++) {
        enum nn_status status =
            decode_column(s, json_array_get(targets, r), &s->targets[r], &s->target_names[r], err);
        if (status != NN_OK) {
            return status;
        }
        s->targets[r].column = r;
        s->n_targets++;
    }
    for (size_t k = 0; k < json_array_size(dropped); k++) {
        const char *name = json_string_value(json_array_get(dropped, k));
        s->dropped_names[k] = name ? nn_arena_text(s->arena, name) : NULL;
        if (!s->dropped_names[k]) {
            return name ? nn_scaling_no_memory(err) : not_ours(err);
        }
        s->dropped[k] = SIZE_MAX; /* not among what is scaled */
        s->n_dropped++;
    }
    if (!json_is_null(target_max) &&
        !(jx_number_get(target_max, &s->target_max) && s->target_max > 0)) {
        return not_ours(err);
    }
    return NN_OK;
}

enum nn_status nn_scaling_decode(const json_t *json, const char *const *names, size_t n,
                                 struct nn_scaling **out_scaling, struct nn_error *err)
{
    const json_t *inputs = json_object_get(json, "inputs");
    struct nn_scaling *s = NULL;
    enum nn_status status = nn_scaling_allocate(
        json_array_size(inputs), json_array_size(json_object_get(json, "targets")),
        json_array_size(json_object_get(json, "dropped")), &s, err);
    if (status != NN_OK) {
        return status;
    }
    status = decode_inputs(s, inputs, names, n, err);
    if (status == NN_OK) {
        status = decode_rest(s, json, err);
    }
    if (status != NN_OK) {
        nn_scaling_destroy(s);
        return status;
    }
    *out_scaling = s;
    return NN_OK;
}
