/* SPDX-License-Identifier: MIT
 *
 * Recordings: formats by name, and what the binary ones share.
 */
#include "core/data/recording_internal.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef enum nn_status (*decode_fn)(const uint8_t *bytes, size_t size, struct nn_recording *out,
                                    const char **out_reason, struct nn_error *err);

static const struct {
    const char *ending;
    decode_fn decode;
} FORMATS[] = {
    {".wav", nn_recording_wav},  {".npy", nn_recording_npy},  {".f32", nn_recording_raw},
    {".csv", nn_recording_text}, {".tsv", nn_recording_text}, {".txt", nn_recording_text},
    {".dat", nn_recording_text},
};

static decode_fn format_of(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++) {
        size_t n = strlen(FORMATS[i].ending);
        if (length > n && strcasecmp(name + length - n, FORMATS[i].ending) == 0) {
            return FORMATS[i].decode;
        }
    }
    return NULL;
}

bool nn_recording_is(const char *name)
{
    return format_of(name) != NULL;
}

enum nn_status nn_recording_refuse(const char **out_reason, struct nn_error *err,
                                   const char *reason, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    *out_reason = reason;
    return nn_fail(err, NN_ERR_INVALID, "%s", text);
}

enum nn_status nn_recording_decode(const char *name, const uint8_t *bytes, size_t size,
                                   struct nn_recording *out, const char **out_reason,
                                   struct nn_error *err)
{
    decode_fn decode = format_of(name);
    if (!decode) {
        return nn_recording_refuse(out_reason, err, "unsupported",
                                   "recordings are .wav, .npy, .f32, .csv, .tsv, .txt or .dat");
    }
    if (size == 0) {
        return nn_recording_refuse(out_reason, err, "damaged", "the file is empty");
    }
    return decode(bytes, size, out, out_reason, err);
}

void nn_recording_deinit(struct nn_recording *recording)
{
    free(recording->values);
    *recording = (struct nn_recording){0};
}

/* ------------------------------------------------------------------------------------- numbers */

size_t nn_number_bytes(enum nn_number_type type)
{
    static const size_t BYTES[] = {1, 2, 3, 4, 4, 8};
    return BYTES[type];
}

double nn_number_at(enum nn_number_type type, const uint8_t *at)
{
    int16_t i16;
    int32_t i32;
    float f32;
    double f64;
    switch (type) {
    case NN_NUMBER_U8:
        return (double)at[0];
    case NN_NUMBER_I16:
        memcpy(&i16, at, sizeof i16);
        return (double)i16;
    case NN_NUMBER_I24:
        i32 = (int32_t)((uint32_t)at[0] << 8 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 24);
        return (double)i32 / 256; /* the lowest byte is 0 */
    case NN_NUMBER_I32:
        memcpy(&i32, at, sizeof i32);
        return (double)i32;
    case NN_NUMBER_F32:
        memcpy(&f32, at, sizeof f32);
        return (double)f32;
    case NN_NUMBER_F64:
    default:
        memcpy(&f64, at, sizeof f64);
        return f64;
    }
}

enum nn_status nn_recording_fill(const struct nn_number_grid *g, struct nn_recording *out,
                                 const char **out_reason, struct nn_error *err)
{
    size_t width = nn_number_bytes(g->type);
    float *values = calloc(g->samples * g->channels, sizeof *values);
    if (!values) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for a recording");
    }
    for (size_t i = 0; i < g->samples * g->channels; i++) {
        size_t sample = i / g->channels, channel = i % g->channels;
        size_t at = sample * g->sample_stride + channel * g->channel_stride;
        double value = nn_number_at(g->type, g->bytes + at * width) * g->scale;
        if (!(fabs(value) <= (double)FLT_MAX)) {
            free(values);
            bool finite = isfinite(value);
            return nn_recording_refuse(out_reason, err, finite ? "too_large" : "not_finite",
                                       "sample %zu of channel %zu is %s", sample + 1, channel + 1,
                                       finite ? "beyond float" : "not finite");
        }
        values[i] = (float)value;
    }
    *out = (struct nn_recording){values, g->samples, g->channels};
    return NN_OK;
}
