/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a weight file: refused or read, never a step outside of them. What is accepted must
 * be readable to the last element.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/files/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nn_safetensors *file = NULL;
    struct nn_error err = {0};
    if (nn_safetensors_open_bytes(data, size, NULL, &file, &err) != NN_OK) {
        return 0;
    }
    for (size_t i = 0; i < nn_safetensors_count(file); i++) {
        const struct nn_file_tensor *tensor = nn_safetensors_tensor(file, i);
        NN_ASSERT(tensor->bytes <= size);
        nn_real *values = malloc((tensor->count + 1) * sizeof *values);
        if (values) {
            nn_file_tensor_read(tensor, values);
        }
        free(values);
        NN_ASSERT(nn_safetensors_find(file, tensor->name) == tensor);
    }
    nn_safetensors_close(file);
    return 0;
}
