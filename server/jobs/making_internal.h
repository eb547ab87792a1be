/* SPDX-License-Identifier: MIT
 *
 * A job in the making: what submitting it and going on with its search have in common.
 */
#ifndef JOBS_MAKING_INTERNAL_H
#define JOBS_MAKING_INTERNAL_H

#include "server/jobs/spec_internal.h"

struct jobs_kind;

/* Everything in the making; what is done moves into the plan. The caller sets the first three. */
struct jobs_making {
    const struct jobs_context *context;
    const json_t *submitted;
    json_t **out_issues; /* NULL: not wanted */
    const struct jobs_kind *kind;
    json_t *merged; /* submitted and the kind's defaults */
    json_t *base;   /* the part of it that trials share */
    struct jobs_job_spec spec;
    struct jobs_dataset dataset;
    struct jobs_sweep sweep;
    struct jobs_networks networks;
    struct jobs_idle idle;
    const double *point; /* the one that is being understood; NULL: none */
    struct jobs_plan *plan;
};

/* Understands the job itself: kind, fields, data set, axes. jobs_making_end in any case. */
SV_MUST_CHECK enum sv_status jobs_making_begin(struct jobs_making *m, struct sv_error *err);
/* The part of a job that trials share: the rows of jobs_trial_fields. NULL when out of memory. */
json_t *jobs_making_base(const struct jobs_making *m);
/* All trials of a job that is submitted: of the points that are chosen already, and open ones. */
SV_MUST_CHECK enum sv_status jobs_making_trials(struct jobs_making *m, struct sv_error *err);
/* Adds the trials of a point to the plan, one a seed: of every seed, or (wanted not NULL) of those
 * it is true for. number: of the point, from 0. A mistake names the swept value. */
SV_MUST_CHECK enum sv_status jobs_making_point(struct jobs_making *m, const double *point,
                                               size_t number, const bool *wanted,
                                               struct sv_error *err);
/* Puts trials that are refused in the place of those from number `from` of the plan on. */
SV_MUST_CHECK enum sv_status jobs_making_refuse(struct jobs_making *m, const double *point,
                                                size_t number, const bool *wanted, size_t from,
                                                struct sv_error *why);
/* Ends it with this status, which it returns: the plan goes out when that is SV_OK. */
enum sv_status jobs_making_end(struct jobs_making *m, enum sv_status st,
                               struct jobs_plan **out_plan);

/* Frees what a trial of a plan owns. */
void jobs_trial_clear(struct jobs_trial *trial);

#endif
