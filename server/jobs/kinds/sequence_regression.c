/* SPDX-License-Identifier: MIT
 *
 * sequence_regression: a network predicts a number at each step of a sequence. Without
 * settings of its own a job is the published experiment on remaining useful life: an LSTM of 200
 * units under adam, sequences sorted by length, each parameter's gradient limited to norm 1,
 * targets cut off at three thresholds (where they are what remains of a life), one to three LSTM
 * layers. As there, everything trains and
 * trials are ranked by the RMSE of all steps of the test part; where a part validates, by that of
 * the validation part.
 */
#include "server/jobs/kinds.h"

static enum sv_status check(const struct jobs_dataset *dataset, struct sv_error *err)
{
    if (dataset->targets != 1) {
        return sv_fail_at(err, SV_ERR_NOT_SUPPORTED, "/dataset",
                          "training on %zu targets at once is not built yet", dataset->targets);
    }
    return SV_OK;
}

const struct jobs_kind jobs_kind_sequence_regression = {
    .name = "sequence_regression",
    .doc = "trains networks to predict a number at each step of sequences",
    .samples = JOBS_SEQUENCES,
    .defaults = "{\"network\": {\"name\": \"lstm_regression\"},"
                " \"training\": {\"solver\": \"adam\", \"learning_rate\": 0.01, \"epochs\": 60,"
                " \"batch_size\": 20, \"shuffle\": \"never\","
                " \"gradient_clipping\": {\"method\": \"l2norm\", \"threshold\": 1}}}",
    .sweep = {{"data.rul_threshold", "data.rul_threshold", "[150, 200, 250]", true},
              {"network.depth", "network", "[1, 2, 3]", false}},
    .target = {"data.rul_threshold"},
    .metrics = "[\"rmse\", \"mae\", \"r2\", \"mean_max_absolute_error\", \"last_step_rmse\","
               " \"phm08_score\", \"loss\"]",
    .headline_metric = "validation_rmse",
    .headline_of_test = "test_rmse",
    .check = check,
};
