/* SPDX-License-Identifier: MIT
 *
 * The job's `weights`: one id for all its networks, or one for each by name. Whether they exist and
 * fit is asked through the context.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/jobs/spec_internal.h"

enum { STARTS_MAX = 64 }; /* networks of a job that start from weights */

static const char *name_of(const json_t *network)
{
    const char *name = json_string_value(json_object_get(network, "name"));
    return name ? name : "";
}

const char *jobs_weights_id(const json_t *weights, const json_t *network)
{
    return json_is_string(weights) ? json_string_value(weights)
                                   : json_string_value(json_object_get(weights, name_of(network)));
}

void jobs_weights_pointer(const json_t *weights, const json_t *network, char *out, size_t size)
{
    if (json_is_string(weights)) {
        (void)snprintf(out, size, "/weights");
    } else {
        jx_pointer_key("/weights", name_of(network), out, size);
    }
}

enum sv_status jobs_weights_check(const json_t *weights, struct sv_error *err)
{
    const char *name;
    json_t *id, *map = json_incref((json_t *)(uintptr_t)weights);
    enum sv_status st = SV_OK;
    if (weights && !json_is_string(weights) && !json_is_object(weights) && !json_is_null(weights)) {
        st = sv_fail_at(err, SV_ERR_INVALID_FIELD, "/weights",
                        "an id or an object of ids by network name is expected");
    }
    json_object_foreach(map, name, id)
    {
        char pointer[160];
        jx_pointer_key("/weights", name, pointer, sizeof pointer);
        if (st == SV_OK && !json_is_string(id)) {
            st = sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer, "an id is expected");
        }
    }
    json_decref(map);
    return st;
}

enum sv_status jobs_weights_note(struct jobs_plan *plan, const json_t *network, const char *id,
                                 struct sv_error *err)
{
    const char *name = name_of(network);
    for (size_t i = 0; i < plan->start_count; i++) {
        if (strcmp(plan->starts[i].network, name) == 0) {
            return SV_OK; /* one network, one start */
        }
    }
    if (plan->start_count == STARTS_MAX) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/weights",
                          "at most %d networks of a job can start from weights", STARTS_MAX);
    }
    struct jobs_start *starts =
        reallocarray(plan->starts, plan->start_count + 1, sizeof *plan->starts);
    if (!starts) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    plan->starts = starts;
    struct jobs_start *start = &starts[plan->start_count];
    *start = (struct jobs_start){.network = strdup(name)};
    if (!start->network) {
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    plan->start_count++;
    (void)snprintf(start->weights_id, sizeof start->weights_id, "%s", id);
    return SV_OK;
}

enum sv_status jobs_weights_check_used(const struct jobs_plan *plan, const json_t *weights,
                                       struct sv_error *err)
{
    const char *name;
    json_t *id, *map = json_incref((json_t *)(uintptr_t)weights);
    enum sv_status st = SV_OK;
    json_object_foreach(map, name, id)
    {
        size_t i = 0;
        while (i < plan->start_count && strcmp(plan->starts[i].network, name) != 0) {
            i++;
        }
        if (st == SV_OK && i == plan->start_count) {
            char pointer[160];
            jx_pointer_key("/weights", name, pointer, sizeof pointer);
            st = sv_fail_at(err, SV_ERR_INVALID_FIELD, pointer,
                            "no trial of the job has a network of that name");
        }
    }
    json_decref(map);
    return st;
}
