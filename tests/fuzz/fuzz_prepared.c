/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a prepared set, with checksums that fit, as a liar would write them: refused, or
 * every item can be read.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "core/data/prepared_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal(uint8_t *bytes, size_t size)
{
    struct nn_prepared_header h;
    if (size < sizeof h) {
        return;
    }
    memcpy(&h, bytes, sizeof h);
    h.payload_crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes + sizeof h, size - sizeof h);
    h.header_crc = nn_section_header_crc(&h, sizeof h);
    memcpy(bytes, &h, sizeof h);
}

static void read_all(const struct nn_prepared *set)
{
    const struct nn_prepared_info *info = nn_prepared_info(set);
    size_t bytes = info->height * info->width * info->channels;
    size_t sum = strlen(info->options);
    for (size_t i = 0; i < info->count; i++) {
        NN_ASSERT(nn_prepared_label(set, i) < info->class_count);
        NN_ASSERT((size_t)nn_prepared_part(set, i) < NN_PART_COUNT);
        sum += strlen(nn_prepared_item_name(set, i)) + nn_prepared_item_digest(set, i)[31];
        sum += nn_prepared_pixels(set, i)[0] + nn_prepared_pixels(set, i)[bytes - 1];
    }
    for (size_t k = 0; k < info->class_count; k++) {
        sum += strlen(nn_prepared_class_name(set, k));
    }
    NN_ASSERT(sum < SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nn_prepared *set = NULL;
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes) {
        return 0;
    }
    memcpy(bytes, data, size);
    seal(bytes, size);
    if (nn_prepared_open_bytes(bytes, size, &set, NULL) == NN_OK) {
        read_all(set);
        nn_prepared_close(set);
    }
    free(bytes);
    return 0;
}
