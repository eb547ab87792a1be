/* SPDX-License-Identifier: MIT
 *
 * Occlusion: how far the score of a class falls while a mask covers each part of a sample.
 */
#include <string.h>

#include "core/base/memory.h"
#include "core/explain/hiding_internal.h"

size_t nn_occlusion_places(size_t side, size_t mask, size_t stride)
{
    return (side - mask + stride - 1) / stride + 1;
}

/* The last mask stands at the far end, however the stride divides. */
static size_t start_of(size_t place, size_t side, size_t mask, size_t stride)
{
    return place * stride < side - mask ? place * stride : side - mask;
}

struct rectangle {
    size_t top, left, height, width;
};

static size_t columns_of(const struct nn_hider *hider)
{
    const struct nn_occlusion *o = &hider->occlusion;
    return nn_occlusion_places(hider->width, o->mask_width, o->stride_right);
}

static size_t places_of(const struct nn_hider *hider)
{
    const struct nn_occlusion *o = &hider->occlusion;
    return columns_of(hider) * nn_occlusion_places(hider->height, o->mask_height, o->stride_down);
}

static struct rectangle mask_at(const struct nn_hider *hider, size_t place)
{
    const struct nn_occlusion *o = &hider->occlusion;
    size_t columns = columns_of(hider);
    return (struct rectangle){
        start_of(place / columns, hider->height, o->mask_height, o->stride_down),
        start_of(place % columns, hider->width, o->mask_width, o->stride_right), o->mask_height,
        o->mask_width};
}

static void cover(const struct nn_hider *hider, size_t copy, uint8_t *slot)
{
    struct rectangle r = mask_at(hider, copy - 1);
    for (size_t y = r.top; y < r.top + r.height; y++) {
        uint8_t *row = slot + (y * hider->width + r.left) * hider->pixel_bytes;
        for (size_t x = 0; x < r.width; x++) {
            memcpy(row + x * hider->pixel_bytes, hider->fill, hider->pixel_bytes);
        }
    }
}

static void add_to(const struct nn_hider *hider, double *sums, size_t place, double value)
{
    struct rectangle r = mask_at(hider, place);
    for (size_t y = r.top; y < r.top + r.height; y++) {
        double *row = sums + y * hider->width + r.left;
        for (size_t x = 0; x < r.width; x++) {
            row[x] += value;
        }
    }
}

enum nn_status nn_occlusion_init(struct nn_hider *hider, struct nn_error *err)
{
    size_t pixels = hider->height * hider->width;
    hider->sums = nn_memory_alloc(hider->setup.memory, pixels, sizeof *hider->sums);
    hider->masks_over = nn_memory_alloc(hider->setup.memory, pixels, sizeof *hider->masks_over);
    if (!hider->sums || !hider->masks_over) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to hide parts of samples");
    }
    for (size_t place = 0; place < places_of(hider); place++) {
        add_to(hider, hider->masks_over, place, 1);
    }
    return NN_OK;
}

bool nn_hider_occlude(struct nn_hider *hider, const void *sample, const size_t *classes, size_t n,
                      nn_real *out_maps)
{
    size_t pixels = hider->height * hider->width;
    size_t places = places_of(hider);
    NN_ASSERT(hider->setup.occlusion);
    if (!nn_hider_run(hider, sample, places + 1, cover, classes, n)) {
        return false;
    }
    for (size_t k = 0; k < n; k++) {
        memset(hider->sums, 0, pixels * sizeof *hider->sums);
        for (size_t place = 0; place < places; place++) {
            double fall = hider->scores[k] - hider->scores[(place + 1) * n + k];
            add_to(hider, hider->sums, place, fall);
        }
        for (size_t i = 0; i < pixels; i++) {
            out_maps[k * pixels + i] = (nn_real)(hider->sums[i] / hider->masks_over[i]);
        }
    }
    return true;
}
