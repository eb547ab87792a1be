/* SPDX-License-Identifier: MIT
 *
 * The wire format of protocol buffers: the fields of one message, one after the other. Private to
 * the room. It goes into no message by itself, so nothing recurses.
 */
#ifndef NN_FILES_PROTOBUF_INTERNAL_H
#define NN_FILES_PROTOBUF_INTERNAL_H

#include "core/base/base.h"

/* What is left of a message. */
struct nn_pb {
    const unsigned char *at, *end;
};

enum nn_pb_wire { NN_PB_VARINT = 0, NN_PB_FIXED64 = 1, NN_PB_BYTES = 2, NN_PB_FIXED32 = 5 };

struct nn_pb_field {
    uint32_t number; /* >= 1 */
    enum nn_pb_wire wire;
    uint64_t value;     /* VARINT, FIXED64, FIXED32 */
    struct nn_pb bytes; /* BYTES: within the message */
};

enum nn_pb_step { NN_PB_FIELD, NN_PB_END, NN_PB_BROKEN };

/* BROKEN: a length or number leaves the message, a varint is longer than ten bytes, a field has the
 * number 0, or it is a group. */
enum nn_pb_step nn_pb_next(struct nn_pb *message, struct nn_pb_field *out);

/* One number off the front; false as BROKEN above. */
NN_MUST_CHECK bool nn_pb_varint(struct nn_pb *message, uint64_t *out);

/* How many numbers a field of a repeated one holds, packed or single; wire is what a single one
 * has. false: broken, or of another type. */
NN_MUST_CHECK bool nn_pb_count(const struct nn_pb_field *field, enum nn_pb_wire wire, size_t *out);

static inline size_t nn_pb_size(struct nn_pb bytes)
{
    return (size_t)(bytes.end - bytes.at);
}

#endif
