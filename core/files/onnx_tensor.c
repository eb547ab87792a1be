/* SPDX-License-Identifier: MIT
 *
 * TensorProto: dims, a type, and the values as raw bytes or in the one field that the type has.
 * Raw bytes stay where they are in the file; fields of numbers are copied.
 */
#include <string.h>

#include "core/files/onnx_internal.h"

/* Field numbers of onnx.proto. */
enum {
    DIMS = 1,
    DATA_TYPE = 2,
    SEGMENT = 3,
    FLOAT_DATA = 4,
    INT32_DATA = 5,
    STRING_DATA = 6,
    INT64_DATA = 7,
    NAME = 8,
    RAW_DATA = 9,
    DOUBLE_DATA = 10,
    UINT64_DATA = 11,
    EXTERNAL_DATA = 13,
    DATA_LOCATION = 14
};

/* Types by their number in onnx.proto, and the field that holds them when they are not raw. */
struct kind {
    bool known;
    enum nn_file_dtype dtype;
    uint32_t field;
    enum nn_pb_wire wire;
};
static const struct kind KINDS[] = {
    [1] = {true, NN_FILE_F32, FLOAT_DATA, NN_PB_FIXED32},
    [2] = {true, NN_FILE_U8, INT32_DATA, NN_PB_VARINT},
    [3] = {true, NN_FILE_I8, INT32_DATA, NN_PB_VARINT},
    [4] = {true, NN_FILE_U16, INT32_DATA, NN_PB_VARINT},
    [5] = {true, NN_FILE_I16, INT32_DATA, NN_PB_VARINT},
    [6] = {true, NN_FILE_I32, INT32_DATA, NN_PB_VARINT},
    [7] = {true, NN_FILE_I64, INT64_DATA, NN_PB_VARINT},
    [9] = {true, NN_FILE_BOOL, INT32_DATA, NN_PB_VARINT},
    [10] = {true, NN_FILE_F16, INT32_DATA, NN_PB_VARINT},
    [11] = {true, NN_FILE_F64, DOUBLE_DATA, NN_PB_FIXED64},
    [12] = {true, NN_FILE_U32, UINT64_DATA, NN_PB_VARINT},
    [13] = {true, NN_FILE_U64, UINT64_DATA, NN_PB_VARINT},
    [16] = {true, NN_FILE_BF16, INT32_DATA, NN_PB_VARINT},
};
static const uint32_t DATA_FIELDS[] = {FLOAT_DATA, INT32_DATA, INT64_DATA, DOUBLE_DATA,
                                       UINT64_DATA};

/* What stands in the message beside dims. */
struct seen {
    uint64_t type;
    bool raw, external, partial, texts;
    struct nn_pb bytes;
};

static enum nn_status look_through(struct nn_onnx *file, struct nn_pb message,
                                   struct nn_file_tensor *out, struct seen *seen,
                                   struct nn_error *err)
{
    struct nn_pb_field f;
    enum nn_pb_step step;
    enum nn_status status = NN_OK;
    while (status == NN_OK && (step = nn_pb_next(&message, &f)) != NN_PB_END) {
        if (step == NN_PB_BROKEN) {
            return nn_onnx_broken("a tensor", err);
        }
        if (f.number == NAME) {
            status = nn_onnx_text(file, &f, "a tensor's name", &out->name, err);
        } else if (f.number == DATA_TYPE && f.wire == NN_PB_VARINT) {
            seen->type = f.value;
        } else if (f.number == RAW_DATA && f.wire == NN_PB_BYTES) {
            seen->raw = true;
            seen->bytes = f.bytes;
        } else if (f.number == DATA_LOCATION && f.wire == NN_PB_VARINT) {
            seen->external = seen->external || f.value != 0;
        } else {
            seen->external = seen->external || f.number == EXTERNAL_DATA;
            seen->partial = seen->partial || f.number == SEGMENT;
            seen->texts = seen->texts || f.number == STRING_DATA;
        }
    }
    return status;
}

static enum nn_status read_dims(struct nn_pb message, struct nn_file_tensor *out,
                                struct nn_error *err)
{
    int64_t dims[NN_FILE_MAX_RANK] = {0};
    enum nn_status status = nn_onnx_count(message, DIMS, NN_PB_VARINT, &out->rank, err);
    if (status != NN_OK) {
        return status;
    }
    if (out->rank > NN_FILE_MAX_RANK) {
        return nn_fail(err, NN_ERR_LIMIT, "tensor \"%.100s\" has %zu axes, more than %d", out->name,
                       out->rank, (int)NN_FILE_MAX_RANK);
    }
    nn_onnx_gather(message, DIMS, NN_PB_VARINT, sizeof dims[0], (unsigned char *)dims);
    out->count = 1;
    for (size_t i = 0; i < out->rank; i++) {
        if (dims[i] < 0 || !nn_size_mul(out->count, (size_t)dims[i], &out->count)) {
            return nn_fail(err, NN_ERR_INVALID,
                           "tensor \"%.100s\": a size is negative or too large", out->name);
        }
        out->shape[i] = (size_t)dims[i];
    }
    return NN_OK;
}

static enum nn_status take_raw(struct seen *seen, struct nn_file_tensor *out, struct nn_error *err)
{
    if (nn_pb_size(seen->bytes) != out->bytes) {
        return nn_fail(err, NN_ERR_INVALID,
                       "tensor \"%.100s\" has %zu bytes where its sizes need %zu", out->name,
                       nn_pb_size(seen->bytes), out->bytes);
    }
    out->data = seen->bytes.at;
    return NN_OK;
}

/* The field of the type; any other one with values is a contradiction. */
static enum nn_status take_typed(struct nn_onnx *file, struct nn_pb message,
                                 const struct kind *kind, struct nn_file_tensor *out,
                                 struct nn_error *err)
{
    size_t count;
    void *values;
    enum nn_status status = nn_onnx_count(message, kind->field, kind->wire, &count, err);
    if (status != NN_OK) {
        return status;
    }
    if (count != out->count) {
        return nn_fail(err, NN_ERR_INVALID,
                       "tensor \"%.100s\" has %zu values where its sizes need %zu", out->name,
                       count, out->count);
    }
    status = nn_onnx_memory(file, count + 1, nn_file_dtype_bytes(kind->dtype), &values, err);
    if (status == NN_OK) {
        nn_onnx_gather(message, kind->field, kind->wire, nn_file_dtype_bytes(kind->dtype), values);
        out->data = values;
    }
    return status;
}

static enum nn_status check_fields(struct nn_pb message, bool raw, const struct kind *kind,
                                   const char *name, struct nn_error *err)
{
    for (size_t i = 0; i < sizeof DATA_FIELDS / sizeof DATA_FIELDS[0]; i++) {
        size_t n;
        enum nn_status status = nn_onnx_fields(message, DATA_FIELDS[i], &n, err);
        if (status != NN_OK) {
            return status;
        }
        if (n > 0 && (raw || DATA_FIELDS[i] != kind->field)) {
            return nn_fail(err, NN_ERR_INVALID, "tensor \"%.100s\" has values of two kinds", name);
        }
    }
    return NN_OK;
}

static enum nn_status check_kind(const struct seen *seen, const char *name, struct nn_error *err)
{
    if (seen->external) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED,
                       "the values of tensor \"%.100s\" lie in another file (external data); save "
                       "the model as one file",
                       name);
    }
    if (seen->partial) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED, "tensor \"%.100s\" is a segment of another one",
                       name);
    }
    if (seen->type >= sizeof KINDS / sizeof KINDS[0] || !KINDS[seen->type].known || seen->texts) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED,
                       "tensor \"%.100s\" has the type %llu of ONNX, which is not read", name,
                       (unsigned long long)seen->type);
    }
    return NN_OK;
}

enum nn_status nn_onnx_read_tensor(struct nn_onnx *file, struct nn_pb message,
                                   struct nn_file_tensor *out, struct nn_error *err)
{
    struct seen seen = {0};
    *out = (struct nn_file_tensor){.name = ""};
    enum nn_status status = look_through(file, message, out, &seen, err);
    status = status == NN_OK ? check_kind(&seen, out->name, err) : status;
    status = status == NN_OK ? read_dims(message, out, err) : status;
    if (status != NN_OK) {
        return status;
    }
    const struct kind *kind = &KINDS[seen.type];
    out->dtype = kind->dtype;
    if (!nn_size_mul(out->count, nn_file_dtype_bytes(kind->dtype), &out->bytes)) {
        return nn_fail(err, NN_ERR_INVALID, "tensor \"%.100s\" is too large", out->name);
    }
    status = check_fields(message, seen.raw, kind, out->name, err);
    if (status != NN_OK) {
        return status;
    }
    return seen.raw ? take_raw(&seen, out, err) : take_typed(file, message, kind, out, err);
}
