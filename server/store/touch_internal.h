/* SPDX-License-Identifier: MIT
 *
 * The last call of every transaction that changes something: raises the revision of the job,
 * writes the event, notifies (migrations/0005_functions.sql). Of assets: asset_internal.h.
 */
#ifndef STORE_TOUCH_INTERNAL_H
#define STORE_TOUCH_INTERNAL_H

#include "server/store/sql_internal.h"

struct store_touch {
    const char *job_id;
    const char *trial_id; /* NULL: the job itself */
    const char *kind;     /* of the event */
    const char *detail;   /* JSON or NULL */
    const char *actor;
    bool recount; /* a trial's state or the job's pause changed */
};
SV_MUST_CHECK enum sv_status store_job_touch(struct store_conn *conn,
                                             const struct store_touch *touch, struct sv_error *err);

#endif
