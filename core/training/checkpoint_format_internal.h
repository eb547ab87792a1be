/* SPDX-License-Identifier: MIT
 *
 * The file of a checkpoint; private to the room. All of one machine's byte order (a checkpoint
 * moves between workers of one kind only). In this order, without padding between:
 *
 *   struct nn_checkpoint_head
 *   struct nn_checkpoint_summary [summary_count]
 *   nn_real values [value_count]     all values of the network, description order
 *   nn_real slots  [slot_count]      the solver's, then the moving average if there is one
 *   nn_real kept   [value_count]     only if has_kept
 *   SHA-256 of everything before     32 bytes
 */
#ifndef NN_TRAINING_CHECKPOINT_FORMAT_INTERNAL_H
#define NN_TRAINING_CHECKPOINT_FORMAT_INTERNAL_H

#include "core/training/state_internal.h"

enum {
    NN_CHECKPOINT_VERSION = 1,
    NN_CHECKPOINT_BUILD = 128,
    NN_CHECKPOINT_DIGEST = 80,
    NN_CHECKPOINT_STEP_DIGITS = 15, /* in the file's name */
};

#define NN_CHECKPOINT_MAGIC "ASSAYCP\n"

struct nn_checkpoint_head {
    char magic[8];
    uint32_t version;
    uint32_t real_bytes; /* 4, or 8 in MODE=f64 */
    uint64_t value_count, slot_count, summary_count;
    struct nn_position at;
    char core_build[NN_CHECKPOINT_BUILD];
    char spec_digest[NN_CHECKPOINT_DIGEST];
};

struct nn_checkpoint_summary {
    char metric[40];
    struct nn_summary summary;
};

/* Bytes of a whole file with this head; false when a count is absurd. */
NN_MUST_CHECK bool nn_checkpoint_size(const struct nn_checkpoint_head *head, size_t *out);

/* A whole file in memory, verified: length, magic, version, checksum. The caller frees *out. */
NN_MUST_CHECK enum nn_status nn_checkpoint_load(const char *path, unsigned char **out,
                                                size_t *out_size, struct nn_error *err);

/* Name of a step's checkpoint. */
void nn_checkpoint_path(const char *directory, uint64_t step, char *out, size_t size);

/* Removes checkpoints of the directory: all but the two newest, and those after step `last`. */
void nn_checkpoint_prune(const char *directory, uint64_t last);

#endif
