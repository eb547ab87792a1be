/* SPDX-License-Identifier: MIT
 *
 * Picture files made in memory by the codecs' own encoders, whole or spoiled, for tests of what
 * reads them. A test stops at once when one cannot be made.
 */
#ifndef TESTS_SUPPORT_PICTURES_H
#define TESTS_SUPPORT_PICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test_bytes {
    uint8_t *data; /* free() it */
    size_t size;
};

/* height x width x channels bytes of a smooth, asymmetric pattern; variant 0..31 is its darkness.
 */
uint8_t *test_pattern(size_t height, size_t width, size_t channels, unsigned variant);

struct test_jpeg_options {
    int quality;          /* 0: 95 */
    bool progressive;     /* the usual ten scans */
    bool scan_per_colour; /* sequential, one scan a component */
    bool no_adobe;        /* leave the Adobe marker out (4 channels) */
    bool ycck;            /* 4 channels as YCCK instead of CMYK */
    unsigned exif;        /* orientation to write, 0: none; big endian when above 100 */
};

/* channels 1 (grey), 3 (RGB) or 4 (CMYK, samples as they shall stand in the file). */
struct test_bytes test_jpeg(const uint8_t *pixels, size_t height, size_t width, size_t channels,
                            const struct test_jpeg_options *options);

/* colour is libpng's colour type; pixels are packed rows of depth bits a sample, most significant
 * byte first. palette: 3 bytes an entry; alpha: tRNS, n_alpha bytes of it. Both may be NULL. */
struct test_png_options {
    int colour;
    int depth;
    bool interlaced;
    const uint8_t *palette;
    size_t n_palette;
    const uint8_t *alpha;
    size_t n_alpha;
    unsigned exif; /* orientation in an eXIf chunk, 0: none */
};
struct test_bytes test_png(const uint8_t *pixels, size_t height, size_t width,
                           const struct test_png_options *options);

/* 8-bit grey or RGB, the common case. */
struct test_bytes test_png_simple(const uint8_t *pixels, size_t height, size_t width,
                                  size_t channels);

/* Lossless, or lossy with quality 90. channels 3 or 4. */
struct test_bytes test_webp(const uint8_t *pixels, size_t height, size_t width, size_t channels,
                            bool lossless);

#endif
