/* SPDX-License-Identifier: MIT
 *
 * sequence_classification: a network tells the classes of whole sequences apart. Without settings
 * of its own a job is one LSTM under adam, its gradient limited to norm 1, on inputs scaled to mean
 * 0 and deviation 1; there is no sweep. The order is that of a classification, anew at each epoch:
 * sorted by length, a batch of a set whose classes differ in length would be of one class.
 */
#include "server/jobs/kinds.h"

static enum sv_status check(const struct jobs_dataset *dataset, struct sv_error *err)
{
    if (dataset->classes < 2) {
        return sv_fail_at(err, SV_ERR_INVALID_FIELD, "/dataset",
                          "a classification needs a data set of at least 2 classes");
    }
    return SV_OK;
}

const struct jobs_kind jobs_kind_sequence_classification = {
    .name = "sequence_classification",
    .doc = "trains networks to tell classes of sequences apart",
    .samples = JOBS_CLASSED_SEQUENCES,
    .defaults = "{\"network\": {\"name\": \"lstm_classification\"},"
                " \"training\": {\"solver\": \"adam\", \"learning_rate\": 0.005, \"epochs\": 60,"
                " \"batch_size\": 20, \"shuffle\": \"every_epoch\", \"validation_frequency\": 0,"
                " \"gradient_clipping\": {\"method\": \"global_l2norm\", \"threshold\": 1}}}",
    .metrics = "[\"accuracy\", \"balanced_accuracy\", \"loss\"]",
    .headline_metric = "validation_accuracy",
    .headline_of_test = "test_accuracy",
    .check = check,
};
