/* SPDX-License-Identifier: MIT
 *
 * Writes the seeds of the image, archive, IDX, prepared-set and recording targets (tables are
 * texts): make build/release/tests/fuzz/make_corpus && build/release/tests/fuzz/make_corpus Run it
 * again when a format changes; files that a fuzzer found stand beside them and stay.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "core/data/sequences.h"

#include "tests/support/archives.h"
#include "tests/support/sets.h"

#define ROOT "tests/fuzz/corpus/"

static void put(const char *path, struct test_bytes file)
{
    test_file_write(path, file.data, file.size);
    free(file.data);
}

static void make_images(void)
{
    uint8_t *grey = test_pattern(9, 14, 1, 1);
    uint8_t *rgb = test_pattern(9, 14, 3, 1);
    uint8_t *four = test_pattern(9, 14, 4, 1);
    struct test_jpeg_options progressive = {.progressive = true, .quality = 30, .exif = 6};
    struct test_jpeg_options scans = {.scan_per_colour = true, .quality = 30, .exif = 108};
    struct test_jpeg_options ycck = {.ycck = true, .quality = 30};
    struct test_png_options interlaced = {
        .colour = PNG_COLOR_TYPE_RGB_ALPHA, .depth = 8, .interlaced = true, .exif = 3};
    struct test_png_options deep = {.colour = PNG_COLOR_TYPE_GRAY, .depth = 16};
    struct test_png_options palette = {.colour = PNG_COLOR_TYPE_PALETTE,
                                       .depth = 1,
                                       .palette = rgb,
                                       .n_palette = 2,
                                       .alpha = grey,
                                       .n_alpha = 2};
    put(ROOT "fuzz_image/grey.jpg", test_jpeg(grey, 9, 14, 1, NULL));
    put(ROOT "fuzz_image/progressive.jpg", test_jpeg(rgb, 9, 14, 3, &progressive));
    put(ROOT "fuzz_image/scans.jpg", test_jpeg(rgb, 9, 14, 3, &scans));
    put(ROOT "fuzz_image/ycck.jpg", test_jpeg(four, 9, 14, 4, &ycck));
    put(ROOT "fuzz_image/grey.png", test_png_simple(grey, 9, 14, 1));
    put(ROOT "fuzz_image/interlaced.png", test_png(four, 9, 14, &interlaced));
    put(ROOT "fuzz_image/deep.png", test_png(four, 9, 14, &deep));
    put(ROOT "fuzz_image/palette.png", test_png(grey, 9, 14, &palette));
    put(ROOT "fuzz_image/lossless.webp", test_webp(rgb, 9, 14, 3, true));
    put(ROOT "fuzz_image/alpha.webp", test_webp(four, 9, 14, 4, false));
    free(grey);
    free(rgb);
    free(four);
}

static void make_archives(void)
{
    struct test_entry entries[] = {{"train/a/1.png", test_picture(4, 1), 0, 0},
                                   {"train/b/2.png", test_picture(4, 2), 0, 0},
                                   {"test/a/3.png", test_picture(5, 3), 0, 0},
                                   {"../evil.png", test_picture(4, 4), 0, 0},
                                   {"train/c/", {0}, TEST_FOLDER, 0},
                                   {"train/b/link", {0}, TEST_SYMLINK, ".."},
                                   {"train/.hidden", test_picture(4, 5), 0, 0},
                                   {"train/b/text", {0}, 0, 0},
                                   {"train/a/1.png", test_picture(4, 1), 0, NULL}};
    static const struct test_archive_options kinds[] = {{.format = TEST_ZIP},
                                                        {.format = TEST_ZIP, .stored = true},
                                                        {.format = TEST_TAR},
                                                        {.format = TEST_TAR_GZ},
                                                        {.format = TEST_ZIP, .encrypted = true}};
    static const char *const names[] = {"deflated.zip", "stored.zip", "plain.tar", "packed.tar.gz",
                                        "encrypted.zip"};
    size_t n = sizeof entries / sizeof entries[0];
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        char path[128];
        snprintf(path, sizeof path, ROOT "fuzz_archive/%s", names[k]);
        test_archive_write(path, &kinds[k], entries, n);
    }
    for (size_t i = 0; i < n; i++) {
        free(entries[i].content.data);
    }
}

static void put_pair(const char *path, struct test_bytes images, struct test_bytes labels)
{
    struct test_bytes both = {malloc(2 + images.size + labels.size), 2 + images.size + labels.size};
    NN_ASSERT(both.data);
    both.data[0] = (uint8_t)(images.size >> 8);
    both.data[1] = (uint8_t)images.size;
    memcpy(both.data + 2, images.data, images.size);
    memcpy(both.data + 2 + images.size, labels.data, labels.size);
    free(images.data);
    free(labels.data);
    put(path, both);
}

static void make_idx(void)
{
    static const uint8_t labels[] = {1, 0, 7};
    uint32_t three = 3;
    put_pair(ROOT "fuzz_idx/grey", test_idx((const uint32_t[]){3, 2, 4}, 3, NULL),
             test_idx(&three, 1, labels));
    put_pair(ROOT "fuzz_idx/colour", test_idx((const uint32_t[]){3, 2, 2, 3}, 4, NULL),
             test_idx(&three, 1, labels));
    struct test_bytes plain = test_idx((const uint32_t[]){3, 2, 4}, 3, NULL);
    struct test_bytes packed = test_gzip(plain.data, plain.size);
    free(plain.data);
    put_pair(ROOT "fuzz_idx/packed", packed, test_idx(&three, 1, labels));
}

static void make_prepared(void)
{
    static const struct test_set_item items[] = {
        {1, NN_PART_TRAIN, 1}, {0, NN_PART_VALIDATION, 2}, {1, NN_PART_TEST, 3}};
    char *directory = test_directory();
    char *path = test_path(directory, "set");
    nn_prepared_close(test_set(directory, items, 3, 2, 3, 1, 2));
    put(ROOT "fuzz_prepared/grey", test_file_read(path));
    nn_prepared_close(test_set(directory, items, 1, 1, 1, 3, 2));
    put(ROOT "fuzz_prepared/colour", test_file_read(path));
    free(path);
    test_directory_remove(directory);
}

static void make_sequences(void)
{
    static const struct nn_sequences_item items[] = {{"train/1", 2, 0, NN_PART_TRAIN},
                                                     {"test/1", 1, 0, NN_PART_TEST}};
    static const float values[] = {1, 2, 3, 4, 5, 6};
    struct nn_sequences_draft draft = {.count = 2,
                                       .inputs = 2,
                                       .targets = 1,
                                       .items = items,
                                       .features = values,
                                       .target_values = values,
                                       .input_names = (const char *const[]){"a", "b"},
                                       .target_names = (const char *const[]){"y"},
                                       .classes = (const char *const[]){"up"},
                                       .options = "{}"};
    char *directory = test_directory();
    char *path = test_path(directory, "sequences");
    NN_ASSERT(nn_sequences_write(path, &draft, NULL, NULL) == NN_OK);
    put(ROOT "fuzz_sequences/regression", test_file_read(path));
    remove(path);
    draft.targets = 0;
    draft.class_count = 1;
    NN_ASSERT(nn_sequences_write(path, &draft, NULL, NULL) == NN_OK);
    put(ROOT "fuzz_sequences/classification", test_file_read(path));
    free(path);
    test_directory_remove(directory);
}

/* The first byte is the format, as fuzz_recording.c counts them. */
static void make_recordings(void)
{
    static const char WAV[] =
        "\0RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0"
        "data\4\0\0\0\1\0\xff\x7f";
    static const char NPY[] = "\1\x93NUMPY\1\0\x3b\0{'descr': '<f4', 'fortran_order': True, "
                              "'shape': (2, 1), }\n\0\0\x80?\0\0\0@";
    static const char RAW[] = "\2\0\0\x80?\0\0\0@";
    static const char TEXT[] = "\3time;left\n0.5;1e-3\n1;-2\n";
    test_file_write(ROOT "fuzz_recording/wav", WAV, sizeof WAV - 1);
    test_file_write(ROOT "fuzz_recording/npy", NPY, sizeof NPY - 1);
    test_file_write(ROOT "fuzz_recording/raw", RAW, sizeof RAW - 1);
    test_file_write(ROOT "fuzz_recording/text", TEXT, sizeof TEXT - 1);
}

int main(void)
{
    make_images();
    make_archives();
    make_idx();
    make_prepared();
    make_sequences();
    make_recordings();
    return 0;
}
