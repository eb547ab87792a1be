/* SPDX-License-Identifier: MIT
 *
 * LIME: a linear model of what a network says of copies of a sample with segments hidden at random.
 */
#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/explain/hiding_internal.h"
#include "core/kernels/cholesky.h"

#define RIDGE        1.0
#define KERNEL_WIDTH 0.25

/* ---- copies ---- */

static void draw_copies(struct nn_hider *hider)
{
    memset(hider->shown, 1, hider->segments);
    for (size_t i = 1; i < hider->lime.copies; i++) {
        struct nn_random random;
        uint32_t bits = 0;
        nn_random_init(&random, hider->lime.seed, NN_RANDOM_EXPLAIN, 0, i);
        for (size_t j = 0; j < hider->segments; j++) {
            bits = j % 32 == 0 ? nn_random_u32(&random) : bits >> 1;
            hider->shown[i * hider->segments + j] = bits & 1;
        }
    }
}

static void hide_segments(const struct nn_hider *hider, size_t copy, uint8_t *slot)
{
    const uint8_t *shown = hider->shown + copy * hider->segments;
    for (size_t i = 0; i < hider->height * hider->width; i++) {
        if (!shown[hider->segment_of[i]]) {
            memcpy(slot + i * hider->pixel_bytes, hider->fill, hider->pixel_bytes);
        }
    }
}

/* Of a grid once for all samples; superpixels are of each sample. */
static void cut_sample(struct nn_hider *hider, const void *sample)
{
    const struct nn_lime *lime = &hider->lime;
    if (lime->segmentation == NN_SEGMENTATION_SUPERPIXELS) {
        hider->segments =
            nn_segments_superpixels(sample, hider->height, hider->width, hider->setup.bind.channels,
                                    lime->segments, &hider->room, hider->segment_of);
        draw_copies(hider);
    }
}

static enum nn_status make_room(struct nn_hider *hider, struct nn_error *err)
{
    struct nn_memory *memory = hider->setup.memory;
    struct nn_superpixels_room *room = &hider->room;
    size_t pixels = hider->height * hider->width;
    NN_ASSERT(hider->setup.value_bytes == 1);
    room->numbers = nn_memory_alloc(memory, nn_superpixels_numbers(pixels, hider->segments),
                                    sizeof *room->numbers);
    room->pieces = nn_memory_alloc(memory, pixels, sizeof *room->pieces);
    room->queue = nn_memory_alloc(memory, pixels, sizeof *room->queue);
    return room->numbers && room->pieces && room->queue
               ? NN_OK
               : nn_fail(err, NN_ERR_MEMORY, "no memory to hide parts of samples");
}

enum nn_status nn_lime_init(struct nn_hider *hider, struct nn_error *err)
{
    struct nn_memory *memory = hider->setup.memory;
    const struct nn_lime *lime = &hider->lime;
    hider->segment_of = nn_memory_alloc(memory, hider->height * hider->width, sizeof(uint32_t));
    if (!hider->segment_of) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to hide parts of samples");
    }
    hider->segments =
        nn_segments_grid(hider->height, hider->width, lime->segments, hider->segment_of);
    hider->shown = nn_memory_alloc(memory, lime->copies, hider->segments);
    hider->work = nn_memory_alloc(memory, nn_lime_work(hider->segments), sizeof(double));
    hider->coefficients = nn_memory_alloc(memory, hider->segments, sizeof(double));
    if (!hider->shown || !hider->work || !hider->coefficients) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to hide parts of samples");
    }
    draw_copies(hider);
    return lime->segmentation == NN_SEGMENTATION_SUPERPIXELS ? make_room(hider, err) : NN_OK;
}

/* ---- the regression ---- */

static double weight_of(const uint8_t *shown, size_t d)
{
    size_t count = 0;
    for (size_t j = 0; j < d; j++) {
        count += shown[j];
    }
    double distance = 1 - sqrt((double)count / (double)d);
    return exp(-distance * distance / (2 * KERNEL_WIDTH * KERNEL_WIDTH));
}

/* What is summed over the copies; sizes d x d and d. */
struct moments {
    double *products, *with_score, *mean;
    double weight, score;
};

static void add_means(const uint8_t *shown, size_t n, size_t d, const double *score, size_t stride,
                      struct moments *m)
{
    for (size_t i = 0; i < n; i++) {
        double weight = weight_of(shown + i * d, d);
        m->weight += weight;
        m->score += weight * score[i * stride];
        for (size_t j = 0; j < d; j++) {
            m->mean[j] += weight * shown[i * d + j];
        }
    }
    m->score /= m->weight;
    for (size_t j = 0; j < d; j++) {
        m->mean[j] /= m->weight;
    }
}

/* About the means, so that the intercept falls out; the lower triangle alone. */
static void add_products(const uint8_t *shown, size_t n, size_t d, const double *score,
                         size_t stride, struct moments *m)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *z = shown + i * d;
        double weight = weight_of(z, d);
        for (size_t j = 0; j < d; j++) {
            double off = weight * (z[j] - m->mean[j]);
            m->with_score[j] += off * (score[i * stride] - m->score);
            for (size_t k = 0; k <= j; k++) {
                m->products[j * d + k] += off * (z[k] - m->mean[k]);
            }
        }
    }
    for (size_t j = 0; j < d; j++) {
        m->products[j * d + j] += RIDGE;
    }
}

size_t nn_lime_work(size_t d)
{
    return d * d + d;
}

void nn_lime_fit(const uint8_t *shown, size_t n, size_t d, const double *score, size_t stride,
                 double *work, double *out_coefficients)
{
    struct moments m = {work, out_coefficients, work + d * d, 0, 0};
    memset(work, 0, nn_lime_work(d) * sizeof *work);
    memset(out_coefficients, 0, d * sizeof *out_coefficients);
    add_means(shown, n, d, score, stride, &m);
    add_products(shown, n, d, score, stride, &m);
    bool definite = nn_cholesky(m.products, d);
    NN_ASSERT(definite); /* the ridge keeps it so */
    nn_cholesky_forward(m.products, d, out_coefficients);
    nn_cholesky_backward(m.products, d, out_coefficients);
}

bool nn_hider_lime(struct nn_hider *hider, const void *sample, const size_t *classes, size_t n,
                   nn_real *out_maps)
{
    size_t pixels = hider->height * hider->width;
    NN_ASSERT(hider->setup.lime);
    cut_sample(hider, sample);
    if (!nn_hider_run(hider, sample, hider->lime.copies, hide_segments, classes, n)) {
        return false;
    }
    for (size_t k = 0; k < n; k++) {
        nn_lime_fit(hider->shown, hider->lime.copies, hider->segments, hider->scores + k, n,
                    hider->work, hider->coefficients);
        for (size_t i = 0; i < pixels; i++) {
            out_maps[k * pixels + i] = (nn_real)hider->coefficients[hider->segment_of[i]];
        }
    }
    return true;
}
