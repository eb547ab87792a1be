/* SPDX-License-Identifier: MIT
 *
 * signal_classification: networks tell classes of windows of signals apart, under noise. Without
 * settings of its own a job is the published comparison of residual shrinkage networks (Zhao et al.
 * 2020): four networks, white, Laplacian and pink noise that is part of the data, three of its
 * eleven levels; momentum 0.9, rate 0.1 that falls tenfold at two and at four fifths of 100 epochs,
 * batches of 128, L2 of 1e-4; the templates begin with He's weights.
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

const struct jobs_kind jobs_kind_signal_classification = {
    .name = "signal_classification",
    .doc = "trains networks to tell classes of windows of signals apart, under noise",
    .samples = JOBS_SIGNALS,
    .defaults = "{\"network\": {\"name\": \"drsn_cw_1d\"},"
                " \"training\": {\"solver\": \"sgdm\", \"learning_rate\": 0.1, \"momentum\": 0.9,"
                " \"l2\": 0.0001, \"epochs\": 100,"
                " \"batch_size\": 128, \"shuffle\": \"every_epoch\", \"validation_frequency\": 0,"
                " \"schedule\": {\"kind\": \"piecewise\", \"drop_factor\": 0.1,"
                " \"drop_period\": 40}}}",
    .sweep = {{"network.name", "network",
               "[\"convnet_1d\", \"resnet_1d\", \"drsn_cs_1d\", \"drsn_cw_1d\"]", false},
              {"data.noise.kind", "data.noise.kind", "[\"gaussian\", \"laplacian\", \"pink\"]",
               false},
              {"data.noise.snr_db", "data.noise", "[-5, 0, 5]", false}},
    .metrics = "[\"accuracy\", \"balanced_accuracy\", \"loss\"]",
    .headline_metric = "validation_accuracy",
    .headline_of_test = "test_accuracy",
    .check = check,
};
