/* SPDX-License-Identifier: MIT
 *
 * A network on the values of the trained one that takes copies of a sample in batches.
 */
#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/explain/hiding_internal.h"

enum { BATCH_MAX = 32 };
#define BATCH_BYTES ((size_t)256 << 20) /* a batch is halved until its network takes no more */

static struct nn_network_options options_of(const struct nn_hider *hider, size_t batch)
{
    const struct nn_hider_setup *setup = &hider->setup;
    return (struct nn_network_options){
        .max_batch = batch,
        .phase = NN_PHASE_INFERENCE,
        .operators = setup->plain_operators ? NN_OPERATORS_PLAIN : NN_OPERATORS_OPTIMISED,
        .weights_of = setup->network,
        .kernels = setup->kernels,
        .memory = setup->memory,
        .pool = setup->pool,
    };
}

/* Bits may depend on the size of a batch: so neither the free memory nor the number of copies may
 * decide it. */
static enum nn_status choose_batch(struct nn_hider *hider, struct nn_error *err)
{
    size_t bytes = SIZE_MAX;
    enum nn_status status = NN_OK;
    hider->batch = 2 * BATCH_MAX;
    while (status == NN_OK && hider->batch > 1 && bytes > BATCH_BYTES) {
        hider->batch /= 2;
        const struct nn_network_options options = options_of(hider, hider->batch);
        status = nn_network_plan_bytes(hider->setup.description, &hider->setup.bind, &options,
                                       &bytes, err);
    }
    return status;
}

static enum nn_status make_network(struct nn_hider *hider, struct nn_error *err)
{
    const struct nn_hider_setup *setup = &hider->setup;
    if (nn_description_takes_sequences(setup->description) ||
        nn_description_task(setup->description) != NN_TASK_CLASSIFICATION) {
        return nn_fail(err, NN_ERR_NOT_SUPPORTED,
                       "parts are hidden of samples of networks that classify images or windows");
    }
    enum nn_status status = choose_batch(hider, err);
    if (status == NN_OK) {
        const struct nn_network_options options = options_of(hider, hider->batch);
        status =
            nn_network_create(setup->description, &setup->bind, &options, &hider->network, err);
    }
    return status;
}

static size_t most_copies(const struct nn_hider *hider)
{
    const struct nn_occlusion *o = &hider->occlusion;
    size_t most = hider->setup.lime ? hider->lime.copies : 0;
    if (hider->setup.occlusion) {
        size_t places = nn_occlusion_places(hider->height, o->mask_height, o->stride_down) *
                        nn_occlusion_places(hider->width, o->mask_width, o->stride_right);
        most = places + 1 > most ? places + 1 : most;
    }
    return most;
}

static enum nn_status make_buffers(struct nn_hider *hider, struct nn_error *err)
{
    struct nn_memory *memory = hider->setup.memory;
    hider->fill = nn_memory_alloc(memory, hider->pixel_bytes, 1);
    hider->copies = nn_memory_alloc(memory, hider->batch, hider->sample_bytes);
    hider->scores =
        nn_memory_alloc(memory, most_copies(hider) * NN_HIDER_CLASSES_MAX, sizeof(double));
    return hider->fill && hider->copies && hider->scores
               ? NN_OK
               : nn_fail(err, NN_ERR_MEMORY, "no memory to hide parts of samples");
}

static uint8_t pixel_of(double value)
{
    double whole = floor(value + 0.5);
    return whole >= 255 ? 255 : whole > 0 ? (uint8_t)whole : 0;
}

static void fill_in(struct nn_hider *hider)
{
    for (size_t c = 0; c < hider->setup.bind.channels; c++) {
        float value = (float)hider->setup.fill[c];
        if (hider->setup.value_bytes == 1) {
            hider->fill[c] = pixel_of(hider->setup.fill[c]);
        } else {
            memcpy(hider->fill + c * sizeof value, &value, sizeof value);
        }
    }
}

enum nn_status nn_hider_create(const struct nn_hider_setup *setup, struct nn_hider **out,
                               struct nn_error *err)
{
    const struct nn_network_bind *bind = &setup->bind;
    struct nn_hider *hider = nn_memory_alloc(setup->memory, 1, sizeof *hider);
    if (!hider) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to hide parts of samples");
    }
    *hider = (struct nn_hider){.setup = *setup,
                               .occlusion =
                                   setup->occlusion ? *setup->occlusion : (struct nn_occlusion){0},
                               .lime = setup->lime ? *setup->lime : (struct nn_lime){0},
                               .height = bind->height,
                               .width = bind->width,
                               .pixel_bytes = bind->channels * setup->value_bytes};
    hider->sample_bytes = bind->height * bind->width * hider->pixel_bytes;
    enum nn_status status = make_network(hider, err);
    status = status == NN_OK ? make_buffers(hider, err) : status;
    status = status == NN_OK && setup->occlusion ? nn_occlusion_init(hider, err) : status;
    status = status == NN_OK && setup->lime ? nn_lime_init(hider, err) : status;
    if (status != NN_OK) {
        nn_hider_destroy(hider);
        return status;
    }
    fill_in(hider);
    *out = hider;
    return NN_OK;
}

void nn_hider_destroy(struct nn_hider *hider)
{
    if (hider) {
        struct nn_memory *memory = hider->setup.memory;
        void *const blocks[] = {hider->room.numbers, hider->room.pieces, hider->room.queue,
                                hider->coefficients, hider->work,        hider->shown,
                                hider->segment_of,   hider->sums,        hider->masks_over,
                                hider->scores,       hider->copies,      hider->fill};
        for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
            nn_memory_free(memory, blocks[i]);
        }
        nn_network_destroy(hider->network);
        nn_memory_free(memory, hider);
    }
}

/* ---- running ---- */

static void load(struct nn_hider *hider, size_t count)
{
    if (hider->setup.value_bytes == 1) {
        nn_network_load_u8(hider->network, hider->copies, count);
    } else {
        nn_network_load_f32(hider->network, (const float *)(const void *)hider->copies, count);
    }
}

bool nn_hider_run(struct nn_hider *hider, const void *sample, size_t n, nn_hide_fn hide,
                  const size_t *classes, size_t n_classes)
{
    size_t row = nn_network_output_size(hider->network);
    NN_ASSERT(n_classes <= NN_HIDER_CLASSES_MAX);
    for (size_t first = 0; first < n; first += hider->batch) {
        size_t count = n - first < hider->batch ? n - first : hider->batch;
        if (hider->setup.go_on && !hider->setup.go_on(hider->setup.ctx)) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            uint8_t *slot = hider->copies + i * hider->sample_bytes;
            memcpy(slot, sample, hider->sample_bytes);
            if (first + i > 0) {
                hide(hider, first + i, slot);
            }
        }
        load(hider, count);
        nn_network_forward(hider->network, count, NN_PHASE_INFERENCE, NULL);
        const nn_real *output = nn_network_output(hider->network);
        for (size_t i = 0; i < count * n_classes; i++) {
            size_t k = classes[i % n_classes];
            hider->scores[first * n_classes + i] = (double)output[i / n_classes * row + k];
        }
    }
    return true;
}
