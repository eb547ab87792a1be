/* SPDX-License-Identifier: MIT
 *
 * Checkpoints from outside: what a file says about itself, without loading it.
 */
#ifndef NN_TRAINING_CHECKPOINT_H
#define NN_TRAINING_CHECKPOINT_H

#include "core/base/base.h"

struct nn_checkpoint_info {
    uint32_t version;
    uint64_t step, epoch;
    uint64_t bytes;
    char core_build[128];
    char spec_digest[80];
};

/* Verifies length and SHA-256 of the whole file. ERR_IO (cannot be read), ERR_CORRUPT. */
NN_MUST_CHECK enum nn_status nn_checkpoint_verify(const char *path, struct nn_checkpoint_info *out,
                                                  struct nn_error *err);

/* The checkpoints of a run's directory, newest first; whole names, verified by no one yet.
 * out_paths[2][256]; returns how many there are (0 to 2). */
size_t nn_checkpoint_list(const char *directory, char out_paths[2][256]);

#endif
