/* SPDX-License-Identifier: MIT
 *
 * core/data: the affine chain and the colours of augmentation against PyTorch's grid_sample
 * (tests/golden/augment.json), what is drawn, and what is refused.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/data/augment_internal.h"
#include "tests/support/cmocka_all.h"

enum { H = 7, W = 9, MOST = H * W * 4 };

static void read_numbers(const json_t *json, double *out, size_t n)
{
    for (size_t i = 0; i < n && json_is_array(json); i++) {
        out[i] = json_number_value(json_array_get(json, i));
    }
}

static double number(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static struct nn_augment_change change_of(const json_t *json, const struct nn_augment_image *image)
{
    struct nn_augment_change out = nn_augment_nothing(image);
    double padded[2];
    out.x_mirrored = json_is_true(json_object_get(json, "x_mirrored"));
    out.y_mirrored = json_is_true(json_object_get(json, "y_mirrored"));
    read_numbers(json_object_get(json, "scale"), out.scale, 2);
    read_numbers(json_object_get(json, "shear_degrees"), out.shear_degrees, 2);
    read_numbers(json_object_get(json, "translation"), out.translation, 2);
    read_numbers(json_object_get(json, "padded"), padded, 2);
    read_numbers(json_object_get(json, "window"), out.window, 4);
    read_numbers(json_object_get(json, "fill"), out.fill, 3);
    out.padded[0] = (int64_t)padded[0];
    out.padded[1] = (int64_t)padded[1];
    out.rotation_degrees = number(json, "rotation_degrees");
    out.brightness = number(json, "brightness");
    out.contrast = number(json, "contrast");
    out.saturation = number(json, "saturation");
    out.hue = number(json, "hue");
    return out;
}

static void fill(uint8_t *image, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        image[i] = (uint8_t)((i * i * 7 + i * 37) % 251);
    }
}

/* Bytes are the rounded levels: half a level off, and what float loses. */
static void chains_are_those_of_grid_sample(void **state)
{
    (void)state;
    json_t *cases = json_load_file("tests/golden/augment.json", 0, NULL);
    assert_true(json_array_size(cases) >= 38);
    size_t k;
    json_t *c;
    json_array_foreach(cases, k, c)
    {
        const struct nn_augment_image image = {H, W, (size_t)number(c, "channels")};
        struct nn_augment_change change = change_of(json_object_get(c, "change"), &image);
        size_t n = H * W * image.channels;
        uint8_t src[MOST], dst[MOST];
        size_t moved = 0;
        fill(src, n);
        memset(dst, 0x5a, sizeof dst);
        nn_augment_apply(&change, &image, src, dst);
        assert_int_equal(json_array_size(json_object_get(c, "levels")), n);
        for (size_t i = 0; i < n; i++) {
            double level = json_number_value(json_array_get(json_object_get(c, "levels"), i));
            if (!(fabs((double)dst[i] - level) <= 0.5 + 2e-3)) {
                fail_msg("case %zu, byte %zu: %d, not %g", k, i, dst[i], level);
            }
            moved += dst[i] != src[i];
        }
        assert_true(dst[n] == 0x5a);
        assert_true(moved > 0 || image.channels == 1); /* which has no colours */
    }
    json_decref(cases);
}

/* The map and the copy agree where both can do it. */
static void a_whole_translation_is_a_copy(void **state)
{
    (void)state;
    const struct nn_augment_image image = {H, W, 3};
    struct nn_augment_change whole = nn_augment_nothing(&image), mapped = whole;
    uint8_t src[MOST], a[MOST], b[MOST];
    fill(src, H * W * 3);
    whole.x_mirrored = mapped.x_mirrored = whole.y_mirrored = mapped.y_mirrored = true;
    whole.padded[0] = 2;
    whole.padded[1] = -1;
    mapped.translation[0] = -2;
    mapped.translation[1] = 1;
    nn_augment_apply(&whole, &image, src, a);
    nn_augment_apply(&mapped, &image, src, b);
    assert_memory_equal(a, b, H * W * 3);
}

/* A translation draws from its whole range and from nothing else: the lone bright pixel tells. */
static void draws_fill_their_range(void **state)
{
    (void)state;
    const struct nn_augmentation move = {.x_translation = {2, {-2.5, 3.5}}};
    size_t bins[6] = {0};
    for (uint64_t item = 0; item < 3000; item++) {
        const struct nn_augment_key key = {5, 2, item};
        uint8_t src[25] = {0}, dst[25];
        double weight = 0, place = 0;
        src[12] = 250;
        nn_augment(&move, &key, src, dst, 1, 25, 1);
        for (size_t i = 0; i < 25; i++) {
            weight += dst[i];
            place += dst[i] * (double)i;
        }
        double moved = place / weight - 12;
        assert_true(moved > -2.51 && moved < 3.51);
        bins[(size_t)fmin(5, fmax(0, floor(moved + 2.5)))]++;
    }
    for (size_t i = 0; i < 6; i++) { /* 500 each, within 5 deviations */
        assert_true(bins[i] > 395 && bins[i] < 605);
    }
}

static const struct nn_augmentation EVERYTHING = {
    .x_reflection = true,
    .y_reflection = true,
    .rotation_degrees = {2, {-90, 90}},
    .scale = {2, {0.5, 2}},
    .x_shear_degrees = {2, {-20, 20}},
    .y_shear_degrees = {2, {-20, 20}},
    .x_translation = {2, {-3, 3}},
    .y_translation = {2, {-3, 3}},
    .fill_value = {1, {20}},
    .crop_padding = 2,
    .resized_crop_given = true,
    .resized_crop = {{2, {0.3, 1}}, {2, {0.75, 1.25}}},
    .color_jitter = {0.4, 0.4, 0.4, 0.1},
};

static void it_depends_on_seed_epoch_and_item_alone(void **state)
{
    (void)state;
    uint8_t image[MOST], first[MOST], again[MOST];
    size_t differ[3] = {0}, n = H * W * 3;
    fill(image, n);
    for (uint64_t i = 0; i < 100; i++) {
        const struct nn_augment_key keys[] = {
            {i, 1, 1}, {i, 1, 1}, {i + 1, 1, 1}, {i, 2, 1}, {i, 1, 2}};
        nn_augment(&EVERYTHING, &keys[0], image, first, H, W, 3);
        nn_augment(&EVERYTHING, &keys[1], image, again, H, W, 3);
        assert_memory_equal(first, again, n);
        for (size_t k = 0; k < 3; k++) {
            nn_augment(&EVERYTHING, &keys[2 + k], image, again, H, W, 3);
            differ[k] += memcmp(first, again, n) != 0;
        }
    }
    for (size_t k = 0; k < 3; k++) {
        assert_true(differ[k] > 95);
    }
}

/* Images of a pixel and of a row, and four channels: nothing beyond them is read or written. */
static void small_images_are_safe(void **state)
{
    (void)state;
    for (size_t channels = 1; channels <= 4; channels++) {
        for (size_t height = 1; height <= 3; height++) {
            for (size_t width = 1; width <= 3; width++) {
                size_t n = height * width * channels;
                uint8_t *src = test_malloc(n), *dst = test_malloc(n);
                fill(src, n);
                for (uint64_t item = 0; item < 20; item++) {
                    const struct nn_augment_key key = {1, 1, item};
                    nn_augment(&EVERYTHING, &key, src, dst, height, width, channels);
                }
                test_free(src);
                test_free(dst);
            }
        }
    }
}

struct refused_row {
    const char *text, *pointer;
};

static enum nn_status decode(const char *text, size_t channels, struct nn_error *err)
{
    struct nn_augmentation out;
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    enum nn_status status = jx_decode(nn_augmentation_fields, json, "", &out, err);
    if (status == NN_OK) {
        status = nn_augmentation_check(&out, channels, err);
    }
    json_decref(json);
    return status;
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct refused_row ROWS[] = {
        {"{\"rotation_degrees\": [10, -10]}", "/rotation_degrees"},
        {"{\"rotation_degrees\": 10}", "/rotation_degrees"},
        {"{\"rotation_degrees\": [-400, 0]}", "/rotation_degrees/0"},
        {"{\"x_shear_degrees\": [0, 90]}", "/x_shear_degrees/1"},
        {"{\"scale\": [0, 1]}", "/scale/0"},
        {"{\"scale\": [1, 2], \"y_scale\": [1, 2]}", "/scale"},
        {"{\"fill_value\": 256}", "/fill_value"},
        {"{\"fill_value\": [1, 2]}", "/fill_value"},
        {"{\"random_resized_crop\": {\"area\": [0.5, 0.1]}}", "/random_resized_crop/area"},
        {"{\"random_resized_crop\": {\"area\": [0, 1]}}", "/random_resized_crop/area/0"},
        {"{\"color_jitter\": {\"hue\": 0.6}}", "/color_jitter/hue"},
        {"{\"color_jitter\": {\"brightness\": -1}}", "/color_jitter/brightness"},
        {"{\"rotation\": [0, 1]}", "/rotation"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct nn_error err = {0};
        assert_int_equal(decode(ROWS[i].text, 3, &err), NN_ERR_INVALID);
        assert_string_equal(err.pointer, ROWS[i].pointer);
    }
    struct nn_error err = {0};
    assert_int_equal(decode("{\"color_jitter\": {\"saturation\": 0.1}}", 1, &err), NN_ERR_INVALID);
    assert_string_equal(err.pointer, "/color_jitter/saturation");
    assert_int_equal(decode("{\"color_jitter\": {\"contrast\": 0.1}}", 1, &err), NN_OK);
}

/* Defaults change nothing, and say so. */
static void defaults_are_the_identity(void **state)
{
    (void)state;
    struct nn_augmentation out;
    jx_defaults(nn_augmentation_fields, &out);
    assert_false(nn_augmentation_is_on(&out));
    assert_int_equal(nn_augmentation_check(&out, 1, NULL), NN_OK);
    out.y_scale.value[1] = 1.5;
    assert_true(nn_augmentation_is_on(&out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_those_of_grid_sample),
        cmocka_unit_test(a_whole_translation_is_a_copy),
        cmocka_unit_test(draws_fill_their_range),
        cmocka_unit_test(it_depends_on_seed_epoch_and_item_alone),
        cmocka_unit_test(small_images_are_safe),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(defaults_are_the_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
