/* SPDX-License-Identifier: MIT
 *
 * The table of metrics and the comparison in which nothing that is not finite ever wins.
 */
#include "core/metrics/metrics.h"

#include <math.h>
#include <string.h>

static const struct nn_metric METRICS[] = {
    {"training_loss", "", NN_DIRECTION_LOWER, NN_NEEDS_STEP, NN_OF_ANY,
     "mean loss of the step's batch, before the step's update"},
    {"training_accuracy", "", NN_DIRECTION_HIGHER, NN_NEEDS_STEP, NN_OF_CLASSIFICATION,
     "share of the step's batch that is classified right, in training mode"},
    {"learning_rate", "", NN_DIRECTION_NONE, NN_NEEDS_STEP, NN_OF_ANY,
     "learning rate of the step, before factors of parameters"},
    {"gradient_norm", "", NN_DIRECTION_NONE, NN_NEEDS_STEP, NN_OF_ANY,
     "L2 norm over all gradients, before L2 regularisation and clipping"},
    {"validation_loss", "", NN_DIRECTION_LOWER, NN_NEEDS_VALIDATION, NN_OF_ANY,
     "mean loss over the validation part, in evaluation mode"},
    {"validation_accuracy", "", NN_DIRECTION_HIGHER, NN_NEEDS_VALIDATION, NN_OF_CLASSIFICATION,
     "share of the validation part that is classified right"},
    {"images_per_second", "1/s", NN_DIRECTION_HIGHER, NN_NEEDS_CLOCK, NN_OF_ANY,
     "training samples per second of an epoch, validations left out"},
    {"loader_stall_seconds", "s", NN_DIRECTION_LOWER, NN_NEEDS_CLOCK, NN_OF_ANY,
     "seconds of an epoch in which the step waited for its batch"},
    {"loss", "", NN_DIRECTION_LOWER, NN_NEEDS_PREDICTIONS, NN_OF_ANY, "mean loss over a part"},
    {"accuracy", "", NN_DIRECTION_HIGHER, NN_NEEDS_PREDICTIONS, NN_OF_CLASSIFICATION,
     "share of a part that is classified right"},
    {"balanced_accuracy", "", NN_DIRECTION_HIGHER, NN_NEEDS_PREDICTIONS, NN_OF_CLASSIFICATION,
     "mean recall of the classes that occur in a part"},
    {"precision", "", NN_DIRECTION_HIGHER, NN_NEEDS_PREDICTIONS, NN_OF_CLASSIFICATION,
     "per class: share of the samples predicted as it that are of it"},
    {"recall", "", NN_DIRECTION_HIGHER, NN_NEEDS_PREDICTIONS, NN_OF_CLASSIFICATION,
     "per class: share of its samples that are predicted as it"},
    {"f1", "", NN_DIRECTION_HIGHER, NN_NEEDS_PREDICTIONS, NN_OF_CLASSIFICATION,
     "per class: harmonic mean of precision and recall"},
    {"training_rmse", "target", NN_DIRECTION_LOWER, NN_NEEDS_STEP, NN_OF_REGRESSION,
     "root of the mean squared error over the rows of the step's batch, in training mode"},
    {"validation_rmse", "target", NN_DIRECTION_LOWER, NN_NEEDS_VALIDATION, NN_OF_REGRESSION,
     "root of the mean squared error over all steps of the validation part"},
    {"rmse", "target", NN_DIRECTION_LOWER, NN_NEEDS_PREDICTIONS, NN_OF_REGRESSION,
     "root of the mean squared error over all steps of a part"},
    {"mae", "target", NN_DIRECTION_LOWER, NN_NEEDS_PREDICTIONS, NN_OF_REGRESSION,
     "mean absolute error over all steps of a part"},
    {"r2", "", NN_DIRECTION_HIGHER, NN_NEEDS_PREDICTIONS, NN_OF_REGRESSION,
     "share of the targets' variance over all steps of a part that is explained"},
    {"mean_max_absolute_error", "target", NN_DIRECTION_LOWER, NN_NEEDS_PREDICTIONS,
     NN_OF_REGRESSION, "mean over the sequences of the largest absolute error of a step"},
    {"last_step_rmse", "target", NN_DIRECTION_LOWER, NN_NEEDS_PREDICTIONS, NN_OF_REGRESSION,
     "root of the mean squared error at the last step of each sequence"},
    {"phm08_score", "", NN_DIRECTION_LOWER, NN_NEEDS_PREDICTIONS, NN_OF_REGRESSION,
     "sum over the sequences of exp(|d| / a) - 1 at the last step; a differs for early and late"},
};

const struct nn_metric *nn_metric_table(size_t *out_count)
{
    *out_count = sizeof METRICS / sizeof METRICS[0];
    return METRICS;
}

const struct nn_metric *nn_metric_find(const char *name)
{
    for (size_t i = 0; i < sizeof METRICS / sizeof METRICS[0]; i++) {
        if (strcmp(METRICS[i].name, name) == 0) {
            return &METRICS[i];
        }
    }
    return NULL;
}

const char *nn_direction_name(enum nn_direction direction)
{
    switch (direction) {
    case NN_DIRECTION_HIGHER:
        return "higher";
    case NN_DIRECTION_LOWER:
        return "lower";
    case NN_DIRECTION_NONE:
        break;
    }
    return "none";
}

const char *nn_metric_task_name(enum nn_metric_task task)
{
    switch (task) {
    case NN_OF_CLASSIFICATION:
        return "classification";
    case NN_OF_REGRESSION:
        return "regression";
    case NN_OF_ANY:
        break;
    }
    return "any";
}

bool nn_metric_better(enum nn_direction direction, double value, double best)
{
    if (direction == NN_DIRECTION_NONE || !isfinite(value)) {
        return false;
    }
    if (!isfinite(best)) {
        return true;
    }
    return direction == NN_DIRECTION_HIGHER ? value > best : value < best;
}
