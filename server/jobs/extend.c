/* SPDX-License-Identifier: MIT
 *
 * What a trial becomes when it is given more epochs. Nothing else of its spec changes: a cosine's
 * period stands in it since the trial was made, so that the rates of steps that were done stay.
 */
#include "core/json/json.h"
#include "server/jobs/spec_internal.h"
#include "server/jobs/transition.h"

/* What was stopped on the way may also go on to the end that it was given at first. */
static bool adds_steps(const struct jobs_progress *at, int64_t had, int64_t epochs)
{
    int64_t in_epoch = had > 0 ? at->total_steps / had : 0;
    bool on_the_way = at->state == JOBS_STOPPED && in_epoch > 0;
    return on_the_way ? epochs * in_epoch > at->step : epochs > had;
}

static enum sv_status check(const struct jobs_progress *at, int64_t had, int64_t epochs,
                            struct sv_error *err)
{
    if (at->state == JOBS_COMPLETED && at->step < at->total_steps) {
        return sv_fail(err, SV_ERR_WRONG_STATE,
                       "patience ended the trial after step %lld: more epochs do not change that",
                       (long long)at->step);
    }
    return adds_steps(at, had, epochs)
               ? SV_OK
               : sv_fail_at(err, SV_ERR_INVALID_FIELD, "/epochs",
                            "are epochs in all, those that the trial has had too: it has done %lld"
                            " of %lld steps of %lld epochs, so this adds none",
                            (long long)at->step, (long long)at->total_steps, (long long)had);
}

/* Where the sweep chose the epochs, the trial's parameters say so. */
static bool put_parameter(json_t *parameters, int64_t epochs)
{
    json_t *training = json_object_get(parameters, "training");
    bool in_object = json_object_get(training, "epochs") != NULL;
    bool alone = json_object_get(parameters, "training.epochs") != NULL;
    return (!in_object || json_object_set_new(training, "epochs", json_integer(epochs)) == 0) &&
           (!alone ||
            json_object_set_new(parameters, "training.epochs", json_integer(epochs)) == 0);
}

enum sv_status jobs_extend(const struct jobs_progress *at, const json_t *resolved,
                           const json_t *parameters, int64_t epochs,
                           struct jobs_extension *out_extension, struct sv_error *err)
{
    const json_t *training = json_object_get(resolved, "training");
    int64_t had = json_integer_value(json_object_get(training, "epochs"));
    struct jobs_extension made = {0};
    enum sv_status st = check(at, had, epochs, err);
    if (st != SV_OK) {
        return st;
    }
    made.resolved = json_deep_copy(resolved);
    made.parameters = json_deep_copy(parameters);
    made.total_steps = had > 0 ? at->total_steps / had * epochs : 0;
    if (!made.resolved || !made.parameters ||
        jx_path_set(made.resolved, "training.epochs", json_integer(epochs), NULL) != NN_OK ||
        !put_parameter(made.parameters, epochs) || !jobs_hash(made.resolved, made.hash)) {
        jobs_extension_deinit(&made);
        return sv_fail(err, SV_ERR_INTERNAL, "out of memory");
    }
    *out_extension = made;
    return SV_OK;
}

void jobs_extension_deinit(struct jobs_extension *extension)
{
    json_decref(extension->resolved);
    json_decref(extension->parameters);
    *extension = (struct jobs_extension){0};
}
