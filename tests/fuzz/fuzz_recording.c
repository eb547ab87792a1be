/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a recording: the first one says by which format they are read. What is taken has
 * finite numbers, as many as it says.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "core/data/recording_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const NAMES[] = {"a.wav", "a.npy", "a.f32", "a.csv"};
    struct nn_recording recording = {0};
    const char *reason = NULL;
    if (size == 0) {
        return 0;
    }
    enum nn_status status =
        nn_recording_decode(NAMES[data[0] % 4], data + 1, size - 1, &recording, &reason, NULL);
    if (status != NN_OK) {
        NN_ASSERT(status != NN_ERR_INVALID || reason);
        return 0;
    }
    NN_ASSERT(recording.samples > 0 && recording.channels > 0);
    for (size_t i = 0; i < recording.samples * recording.channels; i++) {
        NN_ASSERT(isfinite(recording.values[i]));
    }
    nn_recording_deinit(&recording);
    return 0;
}
