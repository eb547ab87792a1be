/* SPDX-License-Identifier: MIT
 *
 * One recording of a signal as bytes of a file: which format it is (by the end of its name), and
 * its numbers. Formats: WAV (PCM of 8 to 32 bits, float of 32 and 64), NumPy's .npy (one or two
 * dimensions), raw little-endian float32 (.f32, one channel), text with a row a sample (.csv, .tsv,
 * .txt, .dat; commas, semicolons, tabs or blanks; lines before the first row of numbers are its
 * header).
 */
#ifndef NN_DATA_RECORDING_INTERNAL_H
#define NN_DATA_RECORDING_INTERNAL_H

#include "core/base/base.h"

struct nn_recording {
    float *values;   /* samples x channels, finite; owned */
    size_t samples;  /* of each channel, >= 1 */
    size_t channels; /* 1 to NN_RECORDING_CHANNELS_MAX */
};

#define NN_RECORDING_CHANNELS_MAX 4096

/* Whether the name ends like one of the formats. */
bool nn_recording_is(const char *name);

/* Decodes a file. NN_ERR_INVALID with a static *out_reason ("damaged", "not_a_number",
 * "not_finite", "too_large", "uneven_rows", "unsupported") and a text; NN_ERR_MEMORY. PCM is
 * scaled to -1..1; a double beyond float is "too_large". */
NN_MUST_CHECK enum nn_status nn_recording_decode(const char *name, const uint8_t *bytes,
                                                 size_t size, struct nn_recording *out,
                                                 const char **out_reason, struct nn_error *err);
void nn_recording_deinit(struct nn_recording *recording);

/* The formats, of recording_binary.c, recording_wav.c and recording_text.c; as above. */
NN_MUST_CHECK enum nn_status nn_recording_raw(const uint8_t *bytes, size_t size,
                                              struct nn_recording *out, const char **out_reason,
                                              struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_recording_npy(const uint8_t *bytes, size_t size,
                                              struct nn_recording *out, const char **out_reason,
                                              struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_recording_wav(const uint8_t *bytes, size_t size,
                                              struct nn_recording *out, const char **out_reason,
                                              struct nn_error *err);
NN_MUST_CHECK enum nn_status nn_recording_text(const uint8_t *bytes, size_t size,
                                               struct nn_recording *out, const char **out_reason,
                                               struct nn_error *err);

/* How numbers stand in a binary file, little-endian. */
enum nn_number_type {
    NN_NUMBER_U8,
    NN_NUMBER_I16,
    NN_NUMBER_I24,
    NN_NUMBER_I32,
    NN_NUMBER_F32,
    NN_NUMBER_F64
};
size_t nn_number_bytes(enum nn_number_type type);
/* As it stands: integers unscaled. */
double nn_number_at(enum nn_number_type type, const uint8_t *at);

/* Fills a recording from n x channels numbers, times scale. Element (sample, channel) stands at
 * sample * sample_stride + channel * channel_stride numbers. The range was checked. */
struct nn_number_grid {
    const uint8_t *bytes;
    enum nn_number_type type;
    size_t samples, channels, sample_stride, channel_stride;
    double scale;
};
NN_MUST_CHECK enum nn_status nn_recording_fill(const struct nn_number_grid *grid,
                                               struct nn_recording *out, const char **out_reason,
                                               struct nn_error *err);

/* Fails with NN_ERR_INVALID, leaving the reason. */
NN_PRINTF(4, 5)
enum nn_status nn_recording_refuse(const char **out_reason, struct nn_error *err,
                                   const char *reason, const char *fmt, ...);

#endif
