/* SPDX-License-Identifier: MIT
 *
 * Raw float32, and NumPy's .npy (its format is described in numpy.lib.format): a magic, a version,
 * the length of a header that is a Python dictionary of type, order and shape, the numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/recording_internal.h"

enum nn_status nn_recording_raw(const uint8_t *bytes, size_t size, struct nn_recording *out,
                                const char **out_reason, struct nn_error *err)
{
    if (size % sizeof(float) != 0) {
        return nn_recording_refuse(out_reason, err, "damaged",
                                   "%zu bytes are no whole number of float32", size);
    }
    const struct nn_number_grid grid = {bytes, NN_NUMBER_F32, size / sizeof(float), 1, 1, 1, 1};
    return nn_recording_fill(&grid, out, out_reason, err);
}

/* ---------------------------------------------------------------------------------------- .npy */

#define HEADER_MAX 4096

/* What a header says. */
struct npy {
    enum nn_number_type type;
    bool by_columns; /* Fortran's order */
    size_t samples, channels;
};

/* Behind "key": in the header; NULL when it is not there. */
static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    at = at ? strchr(at + strlen(key), ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

static bool read_type(const char *header, enum nn_number_type *out_type)
{
    static const struct {
        const char *name;
        enum nn_number_type type;
    } TYPES[] = {{"<f4", NN_NUMBER_F32},
                 {"<f8", NN_NUMBER_F64},
                 {"<i2", NN_NUMBER_I16},
                 {"<i4", NN_NUMBER_I32},
                 {"|u1", NN_NUMBER_U8}};
    const char *text = value_of(header, "'descr'");
    for (size_t i = 0; text && text[0] == '\'' && i < sizeof TYPES / sizeof TYPES[0]; i++) {
        if (strncmp(text + 1, TYPES[i].name, 3) == 0 && text[4] == '\'') {
            *out_type = TYPES[i].type;
            return true;
        }
    }
    return false;
}

/* "(n,)" or "(n, channels)". */
static bool read_shape(const char *header, struct npy *npy)
{
    const char *text = value_of(header, "'shape'");
    char *end = NULL;
    if (!text || text[0] != '(' || text[1] < '0' || text[1] > '9') {
        return false;
    }
    npy->samples = strtoull(text + 1, &end, 10);
    npy->channels = 1;
    end += strspn(end, ", ");
    if (*end >= '0' && *end <= '9') {
        npy->channels = strtoull(end, &end, 10);
        end += strspn(end, ", ");
    }
    return *end == ')' && npy->samples > 0 && npy->channels > 0;
}

static bool read_header(const char *header, struct npy *npy)
{
    const char *order = value_of(header, "'fortran_order'");
    npy->by_columns = order && strncmp(order, "True", 4) == 0;
    return read_type(header, &npy->type) && read_shape(header, npy);
}

/* The header's text, NUL-terminated, into header; where the numbers begin, or 0. */
static size_t find_header(const uint8_t *bytes, size_t size, char header[HEADER_MAX])
{
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3) {
        return 0;
    }
    bool wide = bytes[6] > 1;
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    length |= wide ? (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24 : 0;
    size_t begin = wide ? 12 : 10;
    if (length >= HEADER_MAX || length > size - begin) {
        return 0;
    }
    memcpy(header, bytes + begin, length);
    header[length] = '\0';
    return begin + length;
}

enum nn_status nn_recording_npy(const uint8_t *bytes, size_t size, struct nn_recording *out,
                                const char **out_reason, struct nn_error *err)
{
    char header[HEADER_MAX];
    struct npy npy = {0};
    size_t count;
    size_t begin = find_header(bytes, size, header);
    if (begin == 0) {
        return nn_recording_refuse(out_reason, err, "damaged", "it is no .npy file");
    }
    if (!read_header(header, &npy)) {
        return nn_recording_refuse(
            out_reason, err, "unsupported",
            "only arrays of one or two dimensions of f4, f8, i2, i4 or u1, little-endian");
    }
    if (npy.channels > NN_RECORDING_CHANNELS_MAX ||
        !nn_size_mul(npy.samples, npy.channels, &count) ||
        count > (size - begin) / nn_number_bytes(npy.type)) {
        return nn_recording_refuse(out_reason, err, "damaged",
                                   "it is shorter than its shape says, or has over %d columns",
                                   NN_RECORDING_CHANNELS_MAX);
    }
    const struct nn_number_grid grid = {.bytes = bytes + begin,
                                        .type = npy.type,
                                        .samples = npy.samples,
                                        .channels = npy.channels,
                                        .sample_stride = npy.by_columns ? 1 : npy.channels,
                                        .channel_stride = npy.by_columns ? npy.samples : 1,
                                        .scale = 1};
    return nn_recording_fill(&grid, out, out_reason, err);
}
