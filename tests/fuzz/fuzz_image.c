/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a picture: refused, or decoded to what its header promised.
 */
#include <stddef.h>
#include <stdint.h>

#include "core/image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct nn_image_limits limits = {.max_pixels = 1 << 18, .max_side = 4096};
    struct nn_image_header header;
    struct nn_image image = {0};
    struct nn_image small = {0};
    enum nn_image_refusal refusal;
    enum nn_status status = nn_image_decode(data, size, &limits, &image, &refusal, NULL);
    NN_ASSERT((status == NN_OK) == (refusal == NN_IMAGE_REFUSED_NONE));
    if (status != NN_OK) {
        return 0;
    }
    NN_ASSERT(nn_image_probe(data, size, &limits, &header, NULL, NULL) == NN_OK);
    NN_ASSERT(header.height == image.height && header.width == image.width);
    NN_ASSERT(header.channels == image.channels);
    if (nn_image_resize(&image, 7, 5, &small, NULL) == NN_OK) {
        NN_ASSERT(small.channels == image.channels);
        nn_image_deinit(&small);
    }
    nn_image_deinit(&image);
    return 0;
}
