/* SPDX-License-Identifier: MIT
 *
 * A number where an id should stand: resources show both, and the short one is what people type.
 * The number is no second address, which would double every cursor, ETag and link; it is told where
 * the resource is.
 */
#include <stdlib.h>
#include <string.h>

#include "server/api/answer_internal.h"
#include "server/api/api.h"
#include "server/store/numbers.h"

enum { DIGITS_MAX = 18 }; /* of an int64_t */

static const struct {
    const char *path, *noun;
    enum store_numbered kind;
} NUMBERED[] = {
    {"/v1/jobs/", "job", STORE_NUMBERED_JOB},
    {"/v1/trials/", "trial", STORE_NUMBERED_TRIAL},
    {"/v1/datasets/", "data set", STORE_NUMBERED_DATASET},
    {"/v1/weights/", "weights", STORE_NUMBERED_WEIGHTS},
    {"/v1/experiments/", "experiment", STORE_NUMBERED_EXPERIMENT},
};

static enum sv_status explain(struct api_ctx *ctx, const struct http_request *req, size_t which,
                              const char *number, struct sv_error *err)
{
    struct store_scope scope;
    char id[SV_ID_SIZE];
    enum sv_status st = SV_ERR_NOT_FOUND;
    api_scope(req, &scope);
    if (strlen(number) <= DIGITS_MAX) {
        st = store_number_find(ctx->store, &scope, NUMBERED[which].kind, strtoll(number, NULL, 10),
                               id, err);
    }
    if (st == SV_OK) {
        return sv_fail(err, SV_ERR_NOT_FOUND,
                       "\"%s\" is no id: ids are 32 hex digits; %s %s is %s%s", number,
                       NUMBERED[which].noun, number, NUMBERED[which].path, id);
    }
    return st != SV_ERR_NOT_FOUND
               ? st
               : sv_fail(err, st,
                         "\"%.24s\" is no id: ids are 32 hex digits, and no %s has the number",
                         number, NUMBERED[which].noun);
}

enum sv_status api_explain_number(void *state, const struct http_request *req, const char *pattern,
                                  const char *number, struct sv_error *err)
{
    for (size_t i = 0; i < API_COUNT(NUMBERED); i++) {
        if (strncmp(pattern, NUMBERED[i].path, strlen(NUMBERED[i].path)) == 0) {
            return explain(state, req, i, number, err);
        }
    }
    return sv_fail(err, SV_ERR_NOT_FOUND, "\"%.24s\" is no id: ids are 32 hex digits", number);
}
