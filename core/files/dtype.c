/* SPDX-License-Identifier: MIT
 *
 * Element types of weight files: names, sizes, conversion to nn_real and back.
 */
#include <math.h>
#include <string.h>

#include "core/files/dtype_internal.h"

/* --- one element, little endian, perhaps unaligned ------------------------------------------- */

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

/* A function `name` that reads an element of type `type` and converts it by `expression` of x. */
#define READER(name, type, expression)                                                             \
    static double name(const unsigned char *bytes)                                                 \
    {                                                                                              \
        type x;                                                                                    \
        memcpy(&x, bytes, sizeof x);                                                               \
        return (double)(expression);                                                               \
    }

READER(read_bool, uint8_t, x != 0)
READER(read_u8, uint8_t, x)
READER(read_i8, int8_t, x)
READER(read_i16, int16_t, x)
READER(read_u16, uint16_t, x)
READER(read_f16, uint16_t, half_to_float(x))
READER(read_bf16, uint16_t, float_from_bits((uint32_t)x << 16))
READER(read_i32, int32_t, x)
READER(read_u32, uint32_t, x)
READER(read_f32, float, x)
READER(read_f64, double, x)
READER(read_i64, int64_t, x)
READER(read_u64, uint64_t, x)

/* --- the table ------------------------------------------------------------------------------- */

struct dtype_row {
    const char *name;
    size_t bytes;
    double (*read)(const unsigned char *bytes);
};

static const struct dtype_row DTYPES[NN_FILE_DTYPE_COUNT] = {
    [NN_FILE_BOOL] = {"BOOL", 1, read_bool}, [NN_FILE_U8] = {"U8", 1, read_u8},
    [NN_FILE_I8] = {"I8", 1, read_i8},       [NN_FILE_I16] = {"I16", 2, read_i16},
    [NN_FILE_U16] = {"U16", 2, read_u16},    [NN_FILE_F16] = {"F16", 2, read_f16},
    [NN_FILE_BF16] = {"BF16", 2, read_bf16}, [NN_FILE_I32] = {"I32", 4, read_i32},
    [NN_FILE_U32] = {"U32", 4, read_u32},    [NN_FILE_F32] = {"F32", 4, read_f32},
    [NN_FILE_F64] = {"F64", 8, read_f64},    [NN_FILE_I64] = {"I64", 8, read_i64},
    [NN_FILE_U64] = {"U64", 8, read_u64},
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

bool nn_file_name_is_clean(const char *name, size_t length)
{
    if (length == 0 || length > NN_FILE_NAME_MAX) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c < 32 || c == 127) {
            return false;
        }
    }
    return true;
}

void nn_file_tensor_read(const struct nn_file_tensor *tensor, nn_real *dst)
{
    const struct dtype_row *row = &DTYPES[tensor->dtype];
    const unsigned char *bytes = tensor->data;
    for (size_t i = 0; i < tensor->count; i++) {
        dst[i] = (nn_real)row->read(bytes + i * row->bytes);
    }
}

/* --- writing --------------------------------------------------------------------------------- */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The upper 16 bits, rounded. */
static uint16_t to_brain(float value)
{
    uint32_t bits = bits_of(value);
    if (isnan(value)) {
        return (uint16_t)(bits >> 16 | 64U);
    }
    return (uint16_t)((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

static uint16_t to_half(float value)
{
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7fffffffU;
    if (isnan(value)) {
        return (uint16_t)(sign | 0x7e00U);
    }
    if (magnitude >= 0x477ff000U) { /* 65520 and more */
        return (uint16_t)(sign | 0x7c00U);
    }
    if (magnitude < 0x38800000U) { /* below the smallest normal: a multiple of 2^-24 */
        float scaled = fabsf(value) * 0x1p24F;
        return (uint16_t)(sign | (uint32_t)lrintf(scaled));
    }
    uint32_t rounded = magnitude + 0xfffU + (magnitude >> 13 & 1U);
    return (uint16_t)(sign | ((rounded >> 13) - (112U << 10)));
}

bool nn_file_values_write(enum nn_file_dtype dtype, const nn_real *values, size_t n, void *dst)
{
    bool half = dtype == NN_FILE_F16, brain = dtype == NN_FILE_BF16, fine = true;
    if (!half && !brain && dtype != NN_FILE_F32) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        float value = (float)values[i];
        uint16_t narrow = half ? to_half(value) : to_brain(value);
        bool infinite =
            half ? (narrow & 0x7fffU) == 0x7c00U : brain && (narrow & 0x7fffU) == 0x7f80U;
        fine = fine && !(infinite && isfinite(value));
        if (half || brain) {
            memcpy((unsigned char *)dst + i * sizeof narrow, &narrow, sizeof narrow);
        } else {
            memcpy((unsigned char *)dst + i * sizeof value, &value, sizeof value);
        }
    }
    return fine;
}
