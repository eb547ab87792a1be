/* SPDX-License-Identifier: MIT
 *
 * Protocol buffers as they stand in a file: tags, varints, fixed numbers, lengths.
 */
#include "core/files/protobuf_internal.h"

bool nn_pb_varint(struct nn_pb *message, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && message->at < message->end; shift += 7) {
        unsigned char byte = *message->at++;
        if (shift == 63 && byte > 1) {
            return false;
        }
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool fixed(struct nn_pb *message, size_t n, uint64_t *out)
{
    if (nn_pb_size(*message) < n) {
        return false;
    }
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        *out |= (uint64_t)*message->at++ << (8 * i);
    }
    return true;
}

static bool bytes(struct nn_pb *message, struct nn_pb *out)
{
    uint64_t size;
    if (!nn_pb_varint(message, &size) || size > nn_pb_size(*message)) {
        return false;
    }
    *out = (struct nn_pb){message->at, message->at + size};
    message->at += size;
    return true;
}

enum nn_pb_step nn_pb_next(struct nn_pb *message, struct nn_pb_field *out)
{
    uint64_t tag;
    bool fine = false;
    if (message->at >= message->end) {
        return NN_PB_END;
    }
    if (!nn_pb_varint(message, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3) {
        return NN_PB_BROKEN;
    }
    *out = (struct nn_pb_field){.number = (uint32_t)(tag >> 3),
                                .wire = (enum nn_pb_wire)(unsigned)(tag & 7)};
    if (out->wire == NN_PB_VARINT) {
        fine = nn_pb_varint(message, &out->value);
    } else if (out->wire == NN_PB_FIXED64 || out->wire == NN_PB_FIXED32) {
        fine = fixed(message, out->wire == NN_PB_FIXED64 ? 8 : 4, &out->value);
    } else if (out->wire == NN_PB_BYTES) {
        fine = bytes(message, &out->bytes);
    }
    return fine ? NN_PB_FIELD : NN_PB_BROKEN;
}

bool nn_pb_count(const struct nn_pb_field *field, enum nn_pb_wire wire, size_t *out)
{
    size_t size = nn_pb_size(field->bytes), each = wire == NN_PB_FIXED64 ? 8 : 4;
    *out = 1;
    if (field->wire == wire) {
        return true;
    }
    if (field->wire != NN_PB_BYTES) {
        return false;
    }
    *out = size / each;
    if (wire != NN_PB_VARINT) {
        return size % each == 0;
    }
    struct nn_pb left = field->bytes;
    uint64_t value;
    for (*out = 0; left.at < left.end; ++*out) {
        if (!nn_pb_varint(&left, &value)) {
            return false;
        }
    }
    return true;
}
