/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a weight file of any format: refused or read, never a step outside of them. What is
 * accepted must be readable to the last element, in order of names, and of bounded size.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/files/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nn_weights *weights = NULL;
    struct nn_error err = {0};
    size_t bytes = 0;
    if (nn_weights_open_bytes(data, size, NULL, &weights, &err) != NN_OK) {
        NN_ASSERT(err.text[0] != '\0');
        return 0;
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
    return 0;
}
