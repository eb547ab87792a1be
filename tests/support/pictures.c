/* SPDX-License-Identifier: MIT
 *
 * Pictures for tests, by libjpeg, libpng and libwebp.
 */
#include "tests/support/pictures.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>
#include <webp/encode.h>

#include "core/base/base.h"

uint8_t *test_pattern(size_t height, size_t width, size_t channels, unsigned variant)
{
    uint8_t *pixels = malloc(height * width * channels);
    NN_ASSERT(pixels);
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            for (size_t c = 0; c < channels; c++) {
                size_t value = variant % 32 + y * 170 / height + x * 35 / width + c * 6;
                pixels[(y * width + x) * channels + c] = (uint8_t)value;
            }
        }
    }
    return pixels;
}

/* "II" or "MM", 42, directory at 8, one entry: orientation. */
static size_t make_exif(uint8_t *out, unsigned orientation)
{
    static const uint8_t little[26] = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3,
                                       0,   1,   0,  0, 0, 0, 0, 0, 0, 0, 0,    0,    0};
    static const uint8_t big[26] = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0,
                                    3,   0,   0, 0,  1, 0, 0, 0, 0, 0, 0,    0,    0};
    bool is_big = orientation > 100;
    memcpy(out, is_big ? big : little, sizeof big);
    out[is_big ? 19 : 18] = (uint8_t)(is_big ? orientation - 100 : orientation);
    return sizeof big;
}

static void set_scans(struct jpeg_compress_struct *codec, jpeg_scan_info *scans)
{
    for (int i = 0; i < 3; i++) {
        scans[i] = (jpeg_scan_info){.comps_in_scan = 1, .component_index = {i}, .Se = 63};
    }
    codec->scan_info = scans;
    codec->num_scans = 3;
}

static void set_colours(struct jpeg_compress_struct *codec, size_t channels, bool ycck)
{
    static const J_COLOR_SPACE spaces[5] = {JCS_UNKNOWN, JCS_GRAYSCALE, JCS_UNKNOWN, JCS_RGB,
                                            JCS_CMYK};
    codec->input_components = (int)channels;
    codec->in_color_space = spaces[channels];
    jpeg_set_defaults(codec);
    if (channels == 4) {
        jpeg_set_colorspace(codec, ycck ? JCS_YCCK : JCS_CMYK);
    }
}

struct test_bytes test_jpeg(const uint8_t *pixels, size_t height, size_t width, size_t channels,
                            const struct test_jpeg_options *options)
{
    static const struct test_jpeg_options plain = {0};
    const struct test_jpeg_options *o = options ? options : &plain;
    struct jpeg_compress_struct codec;
    struct jpeg_error_mgr errors;
    jpeg_scan_info scans[3];
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    codec.err = jpeg_std_error(&errors);
    jpeg_create_compress(&codec);
    jpeg_mem_dest(&codec, &bytes, &size);
    codec.image_height = (JDIMENSION)height;
    codec.image_width = (JDIMENSION)width;
    set_colours(&codec, channels, o->ycck);
    jpeg_set_quality(&codec, o->quality ? o->quality : 95, TRUE);
    codec.write_Adobe_marker = channels == 4 && !o->no_adobe;
    if (o->progressive) {
        jpeg_simple_progression(&codec);
    }
    if (o->scan_per_colour) {
        set_scans(&codec, scans);
    }
    jpeg_start_compress(&codec, TRUE);
    if (o->exif) {
        uint8_t exif[32] = "Exif\0";
        size_t n = 6 + make_exif(exif + 6, o->exif);
        jpeg_write_marker(&codec, JPEG_APP0 + 1, exif, (unsigned)n);
    }
    for (size_t y = 0; y < height; y++) {
        uint8_t row[4096 * 4];
        NN_ASSERT(width * channels <= sizeof row);
        memcpy(row, pixels + y * width * channels, width * channels);
        JSAMPROW rows[1] = {row};
        jpeg_write_scanlines(&codec, rows, 1);
    }
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    return (struct test_bytes){bytes, size};
}

static void png_append(png_structp png, png_bytep src, size_t n)
{
    struct test_bytes *out = png_get_io_ptr(png);
    out->data = realloc(out->data, out->size + n);
    NN_ASSERT(out->data);
    memcpy(out->data + out->size, src, n);
    out->size += n;
}

static void set_palette(png_structp png, png_infop info, const struct test_png_options *o)
{
    png_color colours[256];
    for (size_t i = 0; i < o->n_palette; i++) {
        const uint8_t *p = o->palette + 3 * i;
        colours[i] = (png_color){p[0], p[1], p[2]};
    }
    png_set_PLTE(png, info, colours, (int)o->n_palette);
}

static void set_alpha(png_structp png, png_infop info, const struct test_png_options *o)
{
    uint8_t alpha[256];
    memcpy(alpha, o->alpha, o->n_alpha);
    png_color_16 key = {0};
    key.gray = alpha[0];
    png_set_tRNS(png, info, alpha, o->palette ? (int)o->n_alpha : 0, &key);
}

static size_t png_row_bytes(size_t width, const struct test_png_options *o)
{
    static const size_t samples[7] = {1, 0, 3, 1, 2, 0, 4};
    return (width * samples[o->colour] * (size_t)o->depth + 7) / 8;
}

struct test_bytes test_png(const uint8_t *pixels, size_t height, size_t width,
                           const struct test_png_options *o)
{
    struct test_bytes out = {0};
    uint8_t exif[32];
    size_t stride = png_row_bytes(width, o);
    uint8_t *copy = malloc(height * stride);
    png_bytep *rows = malloc(height * sizeof *rows);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    NN_ASSERT(copy && rows && png && info);
    memcpy(copy, pixels, height * stride);
    for (size_t y = 0; y < height; y++) {
        rows[y] = copy + y * stride;
    }
    png_set_write_fn(png, &out, png_append, NULL);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, o->depth, o->colour,
                 o->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    if (o->palette) {
        set_palette(png, info, o);
    }
    if (o->alpha) {
        set_alpha(png, info, o);
    }
    if (o->exif) {
        png_set_eXIf_1(png, info, (png_uint_32)make_exif(exif, o->exif), exif);
    }
    png_set_rows(png, info, rows);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
    free(copy);
    free(rows);
    return out;
}

struct test_bytes test_png_simple(const uint8_t *pixels, size_t height, size_t width,
                                  size_t channels)
{
    struct test_png_options o = {.colour = channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                                 .depth = 8};
    return test_png(pixels, height, width, &o);
}

struct test_bytes test_webp(const uint8_t *pixels, size_t height, size_t width, size_t channels,
                            bool lossless)
{
    uint8_t *bytes = NULL;
    size_t n;
    int w = (int)width;
    int h = (int)height;
    int stride = (int)(width * channels);
    if (channels == 4) {
        n = lossless ? WebPEncodeLosslessRGBA(pixels, w, h, stride, &bytes)
                     : WebPEncodeRGBA(pixels, w, h, stride, 90, &bytes);
    } else {
        n = lossless ? WebPEncodeLosslessRGB(pixels, w, h, stride, &bytes)
                     : WebPEncodeRGB(pixels, w, h, stride, 90, &bytes);
    }
    NN_ASSERT(n > 0);
    struct test_bytes out = {malloc(n), n};
    NN_ASSERT(out.data);
    memcpy(out.data, bytes, n);
    WebPFree(bytes);
    return out;
}
