/* SPDX-License-Identifier: MIT
 *
 * Reflection and crop, done in one pass over the rows.
 */
#include "core/data/augment.h"

#include <string.h>

#include "core/base/random.h"

#define OFFSET(member) offsetof(struct nn_augmentation, member)
const struct jx_field nn_augmentation_fields[] = {
    {.name = "x_reflection",
     .type = JX_BOOL,
     .offset = OFFSET(x_reflection),
     .fallback = "false",
     .doc = "mirror left and right, every other time"},
    {.name = "crop_padding",
     .type = JX_INT,
     .offset = OFFSET(crop_padding),
     .min = 0,
     .max = 1024,
     .fallback = "0",
     .doc = "move by up to so many pixels in each direction; what comes in is black",
     .unit = "pixels"},
    JX_END,
};

bool nn_augmentation_is_on(const struct nn_augmentation *augmentation)
{
    return augmentation->x_reflection || augmentation->crop_padding > 0;
}

/* What happens to one image. Everything is drawn whatever is switched on, so that one option does
 * not change what another one does. */
struct change {
    bool mirrored;
    ptrdiff_t y, x; /* dst's pixel is src's pixel so much further down and right */
};

static struct change draw(const struct nn_augmentation *augmentation,
                          const struct nn_augment_key *key)
{
    struct nn_random random;
    uint64_t places = 2 * (uint64_t)augmentation->crop_padding + 1;
    nn_random_init(&random, key->seed, NN_RANDOM_AUGMENT, key->epoch, key->item);
    bool mirrored = (nn_random_u32(&random) & 1) != 0;
    ptrdiff_t y = (ptrdiff_t)nn_random_below(&random, places) - augmentation->crop_padding;
    ptrdiff_t x = (ptrdiff_t)nn_random_below(&random, places) - augmentation->crop_padding;
    return (struct change){augmentation->x_reflection && mirrored, y, x};
}

static bool is_within(ptrdiff_t i, size_t n)
{
    return i >= 0 && (size_t)i < n;
}

static void change_row(const struct change *change, const uint8_t *src, uint8_t *dst, size_t width,
                       size_t channels)
{
    for (size_t i = 0; i < width; i++) {
        ptrdiff_t from = (ptrdiff_t)i + change->x;
        if (!is_within(from, width)) {
            memset(dst + i * channels, 0, channels);
            continue;
        }
        size_t pixel = change->mirrored ? width - 1 - (size_t)from : (size_t)from;
        memcpy(dst + i * channels, src + pixel * channels, channels);
    }
}

void nn_augment(const struct nn_augmentation *augmentation, const struct nn_augment_key *key,
                const uint8_t *src, uint8_t *dst, size_t height, size_t width, size_t channels)
{
    struct change change = draw(augmentation, key);
    size_t row = width * channels;
    for (size_t i = 0; i < height; i++) {
        ptrdiff_t from = (ptrdiff_t)i + change.y;
        if (is_within(from, height)) {
            change_row(&change, src + (size_t)from * row, dst + i * row, width, channels);
        } else {
            memset(dst + i * row, 0, row);
        }
    }
}
