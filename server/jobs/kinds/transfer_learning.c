/* SPDX-License-Identifier: MIT
 *
 * transfer_learning: networks that start from pretrained weights and get a new head, which learns
 * ten times as fast as the rest. A network without weights is trained from scratch, to compare
 * with.
 */
#include "server/jobs/kinds.h"

static enum sv_status check(const struct jobs_dataset *dataset, struct sv_error *err)
{
    if (dataset->classes < 2) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/dataset",
                          "a new head needs a data set of at least 2 classes");
    }
    return SV_OK;
}

const struct jobs_kind jobs_kind_transfer_learning = {
    .name = "transfer_learning",
    .doc = "trains pretrained networks with new heads on pictures of other classes",
    .starts_from_weights = true,
    .defaults = "{\"network\": {\"name\": \"squeezenet1_1\"}, \"freeze\": \"none\","
                " \"training\": {\"solver\": \"sgdm\", \"learning_rate\": 0.001, \"momentum\": 0.9,"
                " \"head_learning_rate_factor\": 10, \"epochs\": 5,"
                " \"batch_size\": 32, \"shuffle\": \"every_epoch\", \"validation_frequency\": 0}}",
    .metrics = "[\"accuracy\", \"balanced_accuracy\", \"loss\"]",
    .headline_metric = "validation_accuracy",
    .headline_of_test = "test_accuracy",
    .check = check,
};
