/* SPDX-License-Identifier: MIT
 *
 * Kinds of jobs: one row each, one file each under kinds/. A kind only chooses and restricts;
 * whatever it decides stands in the resolved spec, so that trials run without it.
 */
#ifndef JOBS_KINDS_H
#define JOBS_KINDS_H

#include <stdbool.h>

#include "server/jobs/jobs.h"
#include "server/jobs/spec_internal.h"

enum { JOBS_DEFAULT_AXES = 3, JOBS_TARGET_PATHS = 1 };

struct jobs_kind {
    const char *name; /* first member: jx_nearest walks the table */
    const char *doc;
    /* JSON object of values that stand where the job has none ("" for none); a network of the job
     * replaces that of the kind whole. */
    const char *defaults;
    enum jobs_samples samples; /* of which data sets */
    bool starts_from_weights;  /* a job without them is warned of */
    /* The sweep of a job that names no parameters; of each axis, the field whose presence in the
     * job means that it wants no sweep over it. Ended by a NULL path. */
    struct {
        const char *path, *unless, *values;
        bool of_remaining_life; /* only where the target is what remains of a life */
    } sweep[JOBS_DEFAULT_AXES + 1];
    const char *metrics; /* JSON array: the default of evaluation.metrics */
    const char *headline_metric;
    const char *headline_of_test; /* instead, where nothing validates; NULL: the same */
    /* Dotted paths of what the target hangs on beside the data set: trials that differ there are
     * not asked the same, and their errors are not compared. Ended by NULL. */
    const char *target[JOBS_TARGET_PATHS + 1];
    /* What the kind asks of a data set. NULL: nothing. */
    enum sv_status (*check)(const struct jobs_dataset *dataset, struct sv_error *err);
};

extern const struct jobs_kind jobs_kind_solver_comparison;
extern const struct jobs_kind jobs_kind_transfer_learning;
extern const struct jobs_kind jobs_kind_sequence_regression;
extern const struct jobs_kind jobs_kind_sequence_classification;
extern const struct jobs_kind jobs_kind_signal_classification;

/* NULL when there is none of that name. */
const struct jobs_kind *jobs_kind_find(const char *name);
/* The kind's name that looks most like name, or NULL. */
const char *jobs_kind_nearest(const char *name);

#endif
