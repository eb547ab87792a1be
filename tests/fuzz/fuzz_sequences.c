/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a prepared sequence set, with checksums that fit, as a liar would write them:
 * refused, or every sequence can be read.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/sequences_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal(uint8_t *bytes, size_t size)
{
    struct nn_sequences_header h;
    if (size < sizeof h) {
        return;
    }
    memcpy(&h, bytes, sizeof h);
    h.payload_crc = nn_section_crc(bytes + sizeof h, size - sizeof h);
    h.header_crc = nn_section_header_crc(&h, sizeof h);
    memcpy(bytes, &h, sizeof h);
}

static void read_all(const struct nn_sequences *set)
{
    const struct nn_sequences_info *info = nn_sequences_info(set);
    size_t sum = strlen(info->options);
    size_t steps = 0;
    for (size_t i = 0; i < info->count; i++) {
        size_t length = nn_sequences_length(set, i);
        const float *targets = nn_sequences_targets(set, i);
        NN_ASSERT(length > 0 && length <= info->longest);
        NN_ASSERT((size_t)nn_sequences_part(set, i) < NN_PART_COUNT);
        NN_ASSERT(nn_sequences_label(set, i) < (info->class_count ? info->class_count : 1));
        NN_ASSERT(isfinite(nn_sequences_features(set, i)[length * info->inputs - 1]));
        NN_ASSERT(!targets || isfinite(targets[length * info->targets - 1]));
        sum += strlen(nn_sequences_item_name(set, i)) + nn_sequences_item_digest(set, i)[31];
        steps += length;
    }
    NN_ASSERT(steps == info->steps && sum < SIZE_MAX);
    for (size_t k = 0; k < info->inputs; k++) {
        sum += strlen(nn_sequences_input_name(set, k));
    }
    for (size_t r = 0; r < info->targets; r++) {
        sum += strlen(nn_sequences_target_name(set, r));
    }
    for (size_t c = 0; c < info->class_count; c++) {
        sum += strlen(nn_sequences_class_name(set, c));
    }
    NN_ASSERT(sum < SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nn_sequences *set = NULL;
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes) {
        return 0;
    }
    memcpy(bytes, data, size);
    seal(bytes, size);
    if (nn_sequences_open_bytes(bytes, size, &set, NULL) == NN_OK) {
        read_all(set);
        nn_sequences_close(set);
    }
    free(bytes);
    return 0;
}
