/* SPDX-License-Identifier: MIT
 *
 * solver_comparison: one network under several solvers, told apart by validation accuracy. Without
 * a sweep of its own it compares all solvers, each with its own default learning rate (which
 * core/solvers fills in where the job names none).
 */
#include "server/jobs/kinds.h"

static enum sv_status check(const struct jobs_dataset *dataset, struct sv_error *err)
{
    if (dataset->classes < 2) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/dataset",
                          "a comparison of classifiers needs a data set of at least 2 classes");
    }
    return SV_OK;
}

const struct jobs_kind jobs_kind_solver_comparison = {
    .name = "solver_comparison",
    .doc = "trains one network under several solvers and compares them",
    .defaults = "{\"network\": {\"name\": \"simple_cnn\"}}",
    .sweep = {{"training.solver", "training.solver", "[\"sgdm\", \"rmsprop\", \"adam\"]", false}},
    .metrics = "[\"accuracy\", \"balanced_accuracy\", \"loss\"]",
    .headline_metric = "validation_accuracy",
    .headline_of_test = "test_accuracy",
    .check = check,
};
