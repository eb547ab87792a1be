/* SPDX-License-Identifier: MIT
 *
 * Predictions of a part as a file: how they cross from the trial's process to its supervisor.
 */
#ifndef NN_TRAINING_PREDICTIONS_H
#define NN_TRAINING_PREDICTIONS_H

#include "core/training/training.h"

NN_MUST_CHECK enum nn_status nn_predictions_write(const char *path,
                                                  const struct nn_prediction *predictions, size_t n,
                                                  struct nn_error *err);
/* *out is malloc'ed, the caller frees it. The file is checked: ERR_CORRUPT when it is not whole. */
NN_MUST_CHECK enum nn_status nn_predictions_read(const char *path, struct nn_prediction **out,
                                                 size_t *out_n, struct nn_error *err);

#endif
