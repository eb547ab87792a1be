/* SPDX-License-Identifier: MIT
 *
 * A verb of the design that is not built yet: it is known, and says so, where an address that does
 * not exist would be a client's mistake.
 */
#include "server/api/handlers_internal.h"
#include "server/api/jobs_internal.h"
#include "server/store/trials.h"

static enum sv_status not_built(enum sv_status found, const char *verb, struct sv_error *err)
{
    return found == SV_OK ? sv_fail(err, SV_ERR_NOT_SUPPORTED, "%s is not built yet", verb) : found;
}

static enum sv_status of_trial(void *state, const struct http_request *req, const char *verb,
                               struct sv_error *err)
{
    struct api_ctx *ctx = state;
    struct store_scope scope;
    struct store_memory memory = {0};
    struct store_trial trial;
    api_scope(req, &scope);
    enum sv_status st =
        store_trial_get(ctx->store, &scope, http_path(req, "id"), &memory, &trial, err);
    store_memory_clear(&memory);
    return not_built(st, verb, err);
}

/* POST /v1/trials/{id}/<verb>: 404; 422 not_supported. */
#define LATER(name, of, verb)                                                                      \
    enum sv_status name(void *state, const struct http_request *req,                               \
                        struct http_response *out_resp, struct sv_error *err)                      \
    {                                                                                              \
        (void)out_resp;                                                                            \
        return of(state, req, verb, err);                                                          \
    }
LATER(api_trials_fork, of_trial, "fork")
