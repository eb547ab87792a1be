/* SPDX-License-Identifier: MIT
 *
 * Submitted jobs and their plans, for tests of server/jobs.
 */
#ifndef TESTS_SUPPORT_JOBS_H
#define TESTS_SUPPORT_JOBS_H

#include "server/jobs/jobs.h"

#define TEST_DATASET "0192a1b2c3d47e5f8a9b0c1d2e3f4a5b"

/* Fashion-MNIST as a data set of that id, and the fields of the shortest job on it. */
#define TEST_FASHION                                                                               \
    {                                                                                              \
        .id = TEST_DATASET, .height = 28, .width = 28, .channels = 1, .classes = 10,               \
        .train = 60000, .test = 10000                                                              \
    }
#define TEST_MINIMAL "'kind': 'solver_comparison', 'dataset': '" TEST_DATASET "'"

/* jobs_context.find_dataset: ctx is the one struct jobs_dataset that there is; NOT_FOUND for other
 * ids than its. */
enum sv_status test_find_dataset(void *ctx, const char *id, struct jobs_dataset *out_dataset,
                                 struct sv_error *err);

/* jobs_resolve() of a text with ' for "; issues of the network are checked to be there when they
 * are the reason, and dropped. */
enum sv_status test_try(const struct jobs_context *context, const char *text,
                        struct jobs_plan **out_plan, struct sv_error *err);
/* The plan of a job that is taken; fails the test with the refusal's text. */
struct jobs_plan *test_resolve(const struct jobs_context *context, const char *text);

#endif
