/* SPDX-License-Identifier: MIT
 *
 * What jobs asks while it understands a job: data sets and weights of a project.
 */
#ifndef API_RESOLVING_INTERNAL_H
#define API_RESOLVING_INTERNAL_H

#include "server/jobs/jobs.h"
#include "server/store/store.h"

struct api_ctx;

/* In whose project; lives as long as the context made of it. */
struct api_resolving {
    struct api_ctx *api;
    struct store_scope scope;
};

/* Without history. */
void api_resolving_context(struct api_resolving *resolving, struct jobs_context *out_context);

#endif
