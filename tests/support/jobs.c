/* SPDX-License-Identifier: MIT
 *
 * Submitted jobs and their plans.
 */
#include "tests/support/jobs.h"

#include <string.h>

#include "tests/support/cmocka_all.h"
#include "tests/support/network.h"

enum sv_status test_find_dataset(void *ctx, const char *id, struct jobs_dataset *out_dataset,
                                 struct sv_error *err)
{
    const struct jobs_dataset *only = ctx;
    (void)err;
    if (strcmp(id, only->id) != 0) {
        return SV_ERR_NOT_FOUND;
    }
    *out_dataset = *only;
    return SV_OK;
}

enum sv_status test_try(const struct jobs_context *context, const char *text,
                        struct jobs_plan **out_plan, struct sv_error *err)
{
    json_t *issues = NULL, *submitted = test_json(text);
    enum sv_status st = jobs_resolve(submitted, context, out_plan, &issues, err);
    assert_int_equal(st == SV_ERR_INVALID_NETWORK, json_array_size(issues) > 0);
    json_decref(issues);
    json_decref(submitted);
    return st;
}

struct jobs_plan *test_resolve(const struct jobs_context *context, const char *text)
{
    struct jobs_plan *plan = NULL;
    struct sv_error err = {0};
    enum sv_status st = test_try(context, text, &plan, &err);
    if (st != SV_OK) {
        fail_msg("%s: %s at %s: %s", text, sv_status_slug(st), err.pointer, err.text);
    }
    return plan;
}
