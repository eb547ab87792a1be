/* SPDX-License-Identifier: MIT
 *
 * A piece of a predicted sequence as it travels: six u32 (part, sample, length, first, rows, bytes
 * of the name), then targets and predictions as f32, then the name; in the machine's byte order.
 */
#include <stdlib.h>
#include <string.h>

#include "server/wire/wire.h"

enum { HEAD = 6 };

enum sv_status wire_sequence_encode(const struct wire_sequence *piece, void **out_bytes,
                                    size_t *out_size)
{
    size_t name = strlen(piece->name);
    if (piece->rows > WIRE_SEQUENCE_ROWS_MAX || name > WIRE_SEQUENCE_NAME_MAX) {
        return SV_ERR_TOO_LARGE;
    }
    uint32_t head[HEAD] = {piece->part,  piece->sample, piece->length,
                           piece->first, piece->rows,   (uint32_t)name};
    size_t floats = piece->rows * sizeof(float);
    size_t size = sizeof head + 2 * floats + name;
    char *bytes = malloc(size);
    if (!bytes) {
        return SV_ERR_INTERNAL;
    }
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + sizeof head, piece->target, floats);
    memcpy(bytes + sizeof head + floats, piece->predicted, floats);
    memcpy(bytes + sizeof head + 2 * floats, piece->name, name);
    *out_bytes = bytes;
    *out_size = size;
    return SV_OK;
}

enum sv_status wire_sequence_decode(const void *bytes, size_t size, struct wire_sequence *out_piece,
                                    void **out_block)
{
    uint32_t head[HEAD];
    if (size < sizeof head) {
        return SV_ERR_INVALID_FIELD;
    }
    memcpy(head, bytes, sizeof head);
    uint32_t length = head[2], first = head[3], rows = head[4], name = head[5];
    size_t floats = rows * sizeof(float);
    if (rows < 1 || rows > WIRE_SEQUENCE_ROWS_MAX || name > WIRE_SEQUENCE_NAME_MAX ||
        first > length || rows > length - first || size != sizeof head + 2 * floats + name ||
        memchr((const char *)bytes + sizeof head + 2 * floats, '\0', name)) {
        return SV_ERR_INVALID_FIELD;
    }
    char *block = malloc(2 * floats + name + 1);
    if (!block) {
        return SV_ERR_INTERNAL;
    }
    memcpy(block, (const char *)bytes + sizeof head, 2 * floats + name);
    block[2 * floats + name] = '\0';
    *out_piece = (struct wire_sequence){.part = head[0],
                                        .sample = head[1],
                                        .length = length,
                                        .first = first,
                                        .rows = rows,
                                        .name = block + 2 * floats,
                                        .target = (const float *)(void *)block,
                                        .predicted = (const float *)(void *)(block + floats)};
    *out_block = block;
    return SV_OK;
}
