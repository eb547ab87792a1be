/* SPDX-License-Identifier: MIT
 *
 * The table of metrics and the comparison in which nothing that is not finite ever wins.
 */
#include "core/metrics/metrics.h"

#include <math.h>
#include <string.h>

static const struct nn_metric METRICS[] = {
    {"training_loss", "", NN_DIRECTION_LOWER, NN_NEEDS_STEP,
     "mean loss of the step's batch, before the step's update"},
    {"training_accuracy", "", NN_DIRECTION_HIGHER, NN_NEEDS_STEP,
     "share of the step's batch that is classified right, in training mode"},
    {"learning_rate", "", NN_DIRECTION_NONE, NN_NEEDS_STEP,
     "learning rate of the step, before factors of parameters"},
    {"gradient_norm", "", NN_DIRECTION_NONE, NN_NEEDS_STEP,
     "L2 norm over all gradients, before L2 regularisation and clipping"},
    {"validation_loss", "", NN_DIRECTION_LOWER, NN_NEEDS_VALIDATION,
     "mean loss over the validation part, in evaluation mode"},
    {"validation_accuracy", "", NN_DIRECTION_HIGHER, NN_NEEDS_VALIDATION,
     "share of the validation part that is classified right"},
    {"images_per_second", "1/s", NN_DIRECTION_HIGHER, NN_NEEDS_CLOCK,
     "training samples per second of an epoch, validations left out"},
    {"loader_stall_seconds", "s", NN_DIRECTION_LOWER, NN_NEEDS_CLOCK,
     "seconds of an epoch in which the step waited for its batch"},
    {"loss", "", NN_DIRECTION_LOWER, NN_NEEDS_PREDICTIONS, "mean loss over a part"},
    {"accuracy", "", NN_DIRECTION_HIGHER, NN_NEEDS_PREDICTIONS,
     "share of a part that is classified right"},
    {"balanced_accuracy", "", NN_DIRECTION_HIGHER, NN_NEEDS_PREDICTIONS,
     "mean recall of the classes that occur in a part"},
    {"precision", "", NN_DIRECTION_HIGHER, NN_NEEDS_PREDICTIONS,
     "per class: share of the samples predicted as it that are of it"},
    {"recall", "", NN_DIRECTION_HIGHER, NN_NEEDS_PREDICTIONS,
     "per class: share of its samples that are predicted as it"},
    {"f1", "", NN_DIRECTION_HIGHER, NN_NEEDS_PREDICTIONS,
     "per class: harmonic mean of precision and recall"},
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
