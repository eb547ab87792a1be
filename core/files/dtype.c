/* SPDX-License-Identifier: MIT
 *
 * Element types of weight files: names, sizes and conversion to nn_real.
 */
#include <string.h>

#include "core/files/dtype_internal.h"

struct dtype_row {
    const char *name;
    size_t bytes;
};

static const struct dtype_row DTYPES[NN_FILE_DTYPE_COUNT] = {
    [NN_FILE_BOOL] = {"BOOL", 1}, [NN_FILE_U8] = {"U8", 1},   [NN_FILE_I8] = {"I8", 1},
    [NN_FILE_I16] = {"I16", 2},   [NN_FILE_U16] = {"U16", 2}, [NN_FILE_F16] = {"F16", 2},
    [NN_FILE_BF16] = {"BF16", 2}, [NN_FILE_I32] = {"I32", 4}, [NN_FILE_U32] = {"U32", 4},
    [NN_FILE_F32] = {"F32", 4},   [NN_FILE_F64] = {"F64", 8}, [NN_FILE_I64] = {"I64", 8},
    [NN_FILE_U64] = {"U64", 8},
};

const char *nn_file_dtype_name(enum nn_file_dtype dtype)
{
    return DTYPES[dtype].name;
}

size_t nn_file_dtype_bytes(enum nn_file_dtype dtype)
{
    return DTYPES[dtype].bytes;
}

bool nn_file_dtype_find(const char *name, enum nn_file_dtype *out)
{
    for (int i = 0; i < NN_FILE_DTYPE_COUNT; i++) {
        if (strcmp(DTYPES[i].name, name) == 0) {
            *out = (enum nn_file_dtype)i;
            return true;
        }
    }
    return false;
}

static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 half: sign 1, exponent 5 (bias 15), fraction 10. Exact. */
static float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half >> 15) << 31;
    uint32_t exponent = (half >> 10) & 31U;
    uint32_t fraction = half & 1023U;
    if (exponent == 31) {
        return float_from_bits(sign | 0x7f800000U | fraction << 13);
    }
    if (exponent > 0) {
        return float_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    }
    float magnitude = (float)fraction * 0x1p-24F; /* zero or subnormal */
    return sign ? -magnitude : magnitude;
}

/* Reads each element of type `type` (memory may be unaligned) and converts it by `expression`. */
#define READ_ALL(type, expression)                                                                 \
    for (size_t i = 0; i < tensor->count; i++) {                                                   \
        type x;                                                                                    \
        memcpy(&x, bytes + i * sizeof x, sizeof x);                                                \
        dst[i] = (nn_real)(expression);                                                            \
    }                                                                                              \
    break

void nn_file_tensor_read(const struct nn_file_tensor *tensor, nn_real *dst)
{
    const unsigned char *bytes = tensor->data;
    switch (tensor->dtype) {
    case NN_FILE_BOOL:
        READ_ALL(uint8_t, x != 0);
    case NN_FILE_U8:
        READ_ALL(uint8_t, x);
    case NN_FILE_I8:
        READ_ALL(int8_t, x);
    case NN_FILE_I16:
        READ_ALL(int16_t, x);
    case NN_FILE_U16:
        READ_ALL(uint16_t, x);
    case NN_FILE_F16:
        READ_ALL(uint16_t, half_to_float(x));
    case NN_FILE_BF16:
        READ_ALL(uint16_t, float_from_bits((uint32_t)x << 16));
    case NN_FILE_I32:
        READ_ALL(int32_t, x);
    case NN_FILE_U32:
        READ_ALL(uint32_t, x);
    case NN_FILE_F32:
        READ_ALL(float, x);
    case NN_FILE_F64:
        READ_ALL(double, x);
    case NN_FILE_I64:
        READ_ALL(int64_t, x);
    case NN_FILE_U64:
        READ_ALL(uint64_t, x);
    case NN_FILE_DTYPE_COUNT:
        break;
    }
}
