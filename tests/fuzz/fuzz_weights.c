/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a weight file of any format: refused or read, never a step outside of them. What is
 * accepted must be readable to the last element, in order of names, and of bounded size.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/files/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t number32(const uint8_t *bytes)
{
    return (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 |
           (size_t)bytes[3] << 24;
}

/* Gives every entry of a zip directory the checksum of its data, so that changed bytes get past the
 * comparison. Record and local header as in APPNOTE.TXT 4.3.12 and 4.3.7. */
static void checksums_mend(uint8_t *data, size_t size)
{
    static const uint8_t CENTRAL[4] = {'P', 'K', 1, 2};
    for (size_t i = 0; i + 46 <= size; i++) {
        if (memcmp(data + i, CENTRAL, sizeof CENTRAL) != 0) {
            continue;
        }
        size_t at = number32(data + i + 42), length = number32(data + i + 24);
        if (at + 30 > size) {
            continue;
        }
        at += 30 + (number32(data + at + 26) & 0xffff) + (number32(data + at + 26) >> 16);
        if (at > size || length > size - at) {
            continue;
        }
        size_t crc = crc32_z(0, data + at, length);
        for (size_t k = 0; k < 4; k++) {
            data[i + 16 + k] = (uint8_t)(crc >> (8 * k));
        }
    }
}

static void open_and_read(const uint8_t *data, size_t size)
{
    struct nn_weights *weights = NULL;
    struct nn_error err = {0};
    size_t bytes = 0;
    if (nn_weights_open_bytes(data, size, NULL, &weights, &err) != NN_OK) {
        NN_ASSERT(err.text[0] != '\0');
        return;
    }
    for (size_t i = 0; i < nn_weights_count(weights); i++) {
        const struct nn_file_tensor *tensor = nn_weights_tensor(weights, i);
        nn_real *values = malloc((tensor->count + 1) * sizeof *values);
        if (values) {
            nn_file_tensor_read(tensor, values);
        }
        free(values);
        bytes += tensor->bytes;
        NN_ASSERT(nn_weights_find(weights, tensor->name) == tensor);
        NN_ASSERT(i == 0 || strcmp(nn_weights_tensor(weights, i - 1)->name, tensor->name) < 0);
    }
    NN_ASSERT(bytes <= 8 * size);
    nn_weights_close(weights);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    open_and_read(data, size);
    if (size > 2 && data[0] == 'P' && data[1] == 'K') {
        uint8_t *mended = malloc(size);
        if (mended) {
            memcpy(mended, data, size);
            checksums_mend(mended, size);
            open_and_read(mended, size);
        }
        free(mended);
    }
    return 0;
}
