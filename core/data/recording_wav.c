/* SPDX-License-Identifier: MIT
 *
 * WAV: RIFF chunks, of which "fmt " says what "data" holds (Microsoft, Multimedia Programming
 * Interface and Data Specifications 1.0; WAVE_FORMAT_EXTENSIBLE names the format in its first two
 * bytes of GUID). A data chunk that claims more than the file holds is taken as far as it goes when
 * its length is 0 or 0xffffffff (written by streaming recorders), else refused.
 */
#include <string.h>

#include "core/data/recording_internal.h"

enum { WAV_PCM = 1, WAV_FLOAT = 3, WAV_EXTENSIBLE = 0xfffe };

struct wav {
    unsigned format, channels, bits, block;
    const uint8_t *data; /* NULL: not found */
    size_t data_bytes;
};

static unsigned u16(const uint8_t *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

static uint32_t u32(const uint8_t *at)
{
    return (uint32_t)u16(at) | (uint32_t)u16(at + 2) << 16;
}

static bool read_format(const uint8_t *chunk, size_t size, struct wav *wav)
{
    if (size < 16) {
        return false;
    }
    wav->format = u16(chunk);
    wav->channels = u16(chunk + 2);
    wav->block = u16(chunk + 12);
    wav->bits = u16(chunk + 14);
    if (wav->format == WAV_EXTENSIBLE && size >= 26) {
        wav->format = u16(chunk + 24);
    }
    return true;
}

/* Walks the chunks; false when they do not add up. */
static bool read_chunks(const uint8_t *bytes, size_t size, struct wav *wav)
{
    bool has_format = false;
    size_t at = 12;
    while (size - at >= 8 && !wav->data) {
        const uint8_t *chunk = bytes + at + 8;
        size_t room = size - at - 8;
        size_t length = u32(bytes + at + 4);
        bool is_data = memcmp(bytes + at, "data", 4) == 0;
        bool open_ended = is_data && (length == 0 || length == UINT32_MAX);
        length = open_ended ? room : length;
        if (length > room) {
            return false;
        }
        if (memcmp(bytes + at, "fmt ", 4) == 0) {
            has_format = read_format(chunk, length, wav);
        } else if (is_data) {
            wav->data = chunk;
            wav->data_bytes = length;
        }
        length += length % 2; /* chunks are padded to whole words */
        at = length > room ? size : at + 8 + length;
    }
    return has_format && wav->data;
}

static bool find_type(const struct wav *wav, enum nn_number_type *out_type)
{
    static const struct {
        unsigned format, bits;
        enum nn_number_type type;
    } TYPES[] = {{WAV_PCM, 8, NN_NUMBER_U8},     {WAV_PCM, 16, NN_NUMBER_I16},
                 {WAV_PCM, 24, NN_NUMBER_I24},   {WAV_PCM, 32, NN_NUMBER_I32},
                 {WAV_FLOAT, 32, NN_NUMBER_F32}, {WAV_FLOAT, 64, NN_NUMBER_F64}};
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        if (TYPES[i].format == wav->format && TYPES[i].bits == wav->bits) {
            *out_type = TYPES[i].type;
            return true;
        }
    }
    return false;
}

static double scale_of(enum nn_number_type type)
{
    static const double SCALES[] = {1.0 / 128,          1.0 / 32768, 1.0 / 8388608,
                                    1.0 / 2147483648.0, 1,           1};
    return SCALES[type];
}

enum nn_status nn_recording_wav(const uint8_t *bytes, size_t size, struct nn_recording *out,
                                const char **out_reason, struct nn_error *err)
{
    struct wav wav = {0};
    enum nn_number_type type;
    if (size < 12 || memcmp(bytes, "RIFF", 4) != 0 || memcmp(bytes + 8, "WAVE", 4) != 0 ||
        !read_chunks(bytes, size, &wav)) {
        return nn_recording_refuse(out_reason, err, "damaged", "it is no WAV file, or cut off");
    }
    if (!find_type(&wav, &type)) {
        return nn_recording_refuse(out_reason, err, "unsupported",
                                   "WAV format %u of %u bits; PCM of 8 to 32 bits and float can be "
                                   "read",
                                   wav.format, wav.bits);
    }
    size_t block = wav.channels * nn_number_bytes(type);
    if (wav.channels == 0 || wav.channels > NN_RECORDING_CHANNELS_MAX || wav.block != block ||
        wav.data_bytes < block) {
        return nn_recording_refuse(out_reason, err, "damaged", "its header does not add up");
    }
    const struct nn_number_grid grid = {.bytes = wav.data,
                                        .type = type,
                                        .samples = wav.data_bytes / block,
                                        .channels = wav.channels,
                                        .sample_stride = wav.channels,
                                        .channel_stride = 1,
                                        .scale = scale_of(type)};
    enum nn_status status = nn_recording_fill(&grid, out, out_reason, err);
    for (size_t i = 0; status == NN_OK && type == NN_NUMBER_U8 && i < out->samples * out->channels;
         i++) {
        out->values[i] -= 1; /* 8 bits are unsigned, 128 is silence */
    }
    return status;
}
