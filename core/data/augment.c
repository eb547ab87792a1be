/* SPDX-License-Identifier: MIT
 *
 * What is drawn for an image, and the affine map that it makes. Chains of reflections and padded
 * crops alone are done in one pass that copies pixels.
 */
#include <math.h>
#include <string.h>

#include "core/base/random.h"
#include "core/data/augment_internal.h"

/* --- drawing ---------------------------------------------------------------------------------- */

struct nn_augment_change nn_augment_nothing(const struct nn_augment_image *image)
{
    return (struct nn_augment_change){
        .scale = {1, 1},
        .window = {0, 0, (double)image->width, (double)image->height},
        .brightness = 1,
        .contrast = 1,
        .saturation = 1,
    };
}

/* Whole numbers first, from a stream of their own: they may take more of it than one number each.
 * Everything is drawn whatever is switched on, so that one option does not change what another one
 * does. */
static void draw_whole(const struct nn_augmentation *a, const struct nn_augment_key *key,
                       struct nn_augment_change *out)
{
    struct nn_random random;
    uint64_t places = 2 * (uint64_t)a->crop_padding + 1;
    nn_random_init(&random, key->seed, NN_RANDOM_AUGMENT, key->epoch, key->item);
    uint32_t coins = nn_random_u32(&random);
    out->x_mirrored = a->x_reflection && (coins & 1) != 0;
    out->y_mirrored = a->y_reflection && (coins & 2) != 0;
    out->padded[1] = (int64_t)nn_random_below(&random, places) - a->crop_padding;
    out->padded[0] = (int64_t)nn_random_below(&random, places) - a->crop_padding;
}

static double draw_range(struct nn_random *random, const struct jx_reals *range, double neutral)
{
    double at = nn_random_uniform(random);
    return range->count == 2 ? range->value[0] + at * (range->value[1] - range->value[0]) : neutral;
}

static double draw_factor(struct nn_random *random, double spread)
{
    double low = fmax(0, 1 - spread);
    return low + nn_random_uniform(random) * (1 + spread - low);
}

/* The place of the window is drawn where it fits. */
static void draw_window(struct nn_random *random, const struct nn_augmentation *a, double window[4])
{
    const struct jx_reals *ratio = &a->resized_crop.aspect_ratio;
    double width = window[2], height = window[3];
    double area = draw_range(random, &a->resized_crop.area, 1) * width * height;
    double at[3];
    for (size_t i = 0; i < 3; i++) {
        at[i] = nn_random_uniform(random);
    }
    if (!a->resized_crop_given) {
        return;
    }
    double shape = ratio->value[0] * pow(ratio->value[1] / ratio->value[0], at[0]);
    window[2] = fmin(width, sqrt(area * shape));
    window[3] = fmin(height, sqrt(area / shape));
    window[0] = at[1] * (width - window[2]);
    window[1] = at[2] * (height - window[3]);
}

static struct nn_augment_change draw(const struct nn_augmentation *a,
                                     const struct nn_augment_key *key,
                                     const struct nn_augment_image *image)
{
    struct nn_augment_change out = nn_augment_nothing(image);
    struct nn_random random;
    draw_whole(a, key, &out);
    nn_random_init(&random, key->seed, NN_RANDOM_AUGMENT_REAL, key->epoch, key->item);
    double both = draw_range(&random, &a->scale, 1);
    out.scale[0] = both * draw_range(&random, &a->x_scale, 1);
    out.scale[1] = both * draw_range(&random, &a->y_scale, 1);
    out.shear_degrees[0] = draw_range(&random, &a->x_shear_degrees, 0);
    out.shear_degrees[1] = draw_range(&random, &a->y_shear_degrees, 0);
    out.rotation_degrees = draw_range(&random, &a->rotation_degrees, 0);
    out.translation[0] = draw_range(&random, &a->x_translation, 0);
    out.translation[1] = draw_range(&random, &a->y_translation, 0);
    draw_window(&random, a, out.window);
    out.brightness = draw_factor(&random, a->color_jitter.brightness);
    out.contrast = draw_factor(&random, a->color_jitter.contrast);
    out.saturation = draw_factor(&random, a->color_jitter.saturation);
    out.hue = a->color_jitter.hue * (2 * nn_random_uniform(&random) - 1);
    for (size_t c = 0; c < 4 && a->fill_value.count > 0; c++) {
        out.fill[c] = a->fill_value.value[c < a->fill_value.count ? c : a->fill_value.count - 1];
    }
    return out;
}

/* --- copying ---------------------------------------------------------------------------------- */

static bool is_within(int64_t i, size_t n)
{
    return i >= 0 && (size_t)i < n;
}

static void fill_pixels(const struct nn_augment_change *change, uint8_t *dst, size_t pixels,
                        size_t channels)
{
    for (size_t i = 0; i < pixels * channels; i++) {
        dst[i] = (uint8_t)lround(change->fill[i % channels]);
    }
}

static void copy_row(const struct nn_augment_change *change, const uint8_t *src, uint8_t *dst,
                     const struct nn_augment_image *image)
{
    size_t channels = image->channels;
    for (size_t i = 0; i < image->width; i++) {
        int64_t from = (int64_t)i + change->padded[0];
        if (!is_within(from, image->width)) {
            fill_pixels(change, dst + i * channels, 1, channels);
            continue;
        }
        size_t pixel = change->x_mirrored ? image->width - 1 - (size_t)from : (size_t)from;
        memcpy(dst + i * channels, src + pixel * channels, channels);
    }
}

static void copy(const struct nn_augment_change *change, const struct nn_augment_image *image,
                 const uint8_t *src, uint8_t *dst)
{
    size_t row = image->width * image->channels;
    for (size_t i = 0; i < image->height; i++) {
        int64_t from = (int64_t)i + change->padded[1];
        if (is_within(from, image->height)) {
            size_t line = change->y_mirrored ? image->height - 1 - (size_t)from : (size_t)from;
            copy_row(change, src + line * row, dst + i * row, image);
        } else {
            fill_pixels(change, dst + i * row, image->width, image->channels);
        }
    }
}

/* --- the map ---------------------------------------------------------------------------------- */

/* Reflection, scale, shear of x, shear of y, rotation, as one 2 x 2 matrix, row by row. */
static void linear(const struct nn_augment_change *c, double out[4])
{
    double a = c->x_mirrored ? -c->scale[0] : c->scale[0];
    double d = c->y_mirrored ? -c->scale[1] : c->scale[1];
    double shear_x = tan(c->shear_degrees[0] * M_PI / 180);
    double shear_y = tan(c->shear_degrees[1] * M_PI / 180);
    double sheared[4] = {a, shear_x * d, shear_y * a, (1 + shear_x * shear_y) * d};
    double cosine = cos(c->rotation_degrees * M_PI / 180);
    double sine = sin(c->rotation_degrees * M_PI / 180);
    for (size_t k = 0; k < 2; k++) {
        out[k] = cosine * sheared[k] - sine * sheared[2 + k];
        out[2 + k] = sine * sheared[k] + cosine * sheared[2 + k];
    }
}

/* From dst back to src: out of the window, against padding and translation, through the inverse of
 * the matrix about the centre. */
static void map_back(const struct nn_augment_change *c, const struct nn_augment_image *image,
                     double out[6])
{
    double m[4];
    linear(c, m);
    double determinant = m[0] * m[3] - m[1] * m[2];
    double inverse[4] = {m[3] / determinant, -m[1] / determinant, -m[2] / determinant,
                         m[0] / determinant};
    double centre[2] = {(double)image->width / 2, (double)image->height / 2};
    double stretch[2] = {c->window[2] / (double)image->width, c->window[3] / (double)image->height};
    double from[2];
    for (size_t k = 0; k < 2; k++) {
        from[k] = c->window[k] + (double)c->padded[k] - centre[k] - c->translation[k];
    }
    for (size_t k = 0; k < 2; k++) {
        out[3 * k] = inverse[2 * k] * stretch[0];
        out[3 * k + 1] = inverse[2 * k + 1] * stretch[1];
        out[3 * k + 2] = inverse[2 * k] * from[0] + inverse[2 * k + 1] * from[1] + centre[k];
    }
}

static bool copies(const struct nn_augment_change *c, const struct nn_augment_image *image)
{
    return c->scale[0] == 1 && c->scale[1] == 1 && c->shear_degrees[0] == 0 &&
           c->shear_degrees[1] == 0 && c->rotation_degrees == 0 && c->translation[0] == 0 &&
           c->translation[1] == 0 && c->window[2] == (double)image->width &&
           c->window[3] == (double)image->height;
}

void nn_augment_apply(const struct nn_augment_change *change, const struct nn_augment_image *image,
                      const uint8_t *src, uint8_t *dst)
{
    struct nn_augment_colour colour;
    bool coloured = nn_augment_colour(change, image, src, &colour);
    if (copies(change, image) && !coloured) {
        copy(change, image, src, dst);
        return;
    }
    struct nn_augment_warp warp = {.colour = coloured ? &colour : NULL, .fill = change->fill};
    map_back(change, image, warp.map);
    nn_augment_warp(&warp, image, src, dst);
}

void nn_augment(const struct nn_augmentation *augmentation, const struct nn_augment_key *key,
                const uint8_t *src, uint8_t *dst, size_t height, size_t width, size_t channels)
{
    const struct nn_augment_image image = {height, width, channels};
    struct nn_augment_change change = draw(augmentation, key, &image);
    nn_augment_apply(&change, &image, src, dst);
}
