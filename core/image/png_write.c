/* SPDX-License-Identifier: MIT
 *
 * 8-bit grey or RGB pixels to a PNG file in memory, for answers over HTTP.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "core/image/image.h"

struct png_writer {
    png_structp png;
    png_infop info;
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    const uint8_t *pixels;
    size_t height;
    size_t width;
    size_t channels;
};

static void on_error(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_write(png_structp png, png_bytep src, size_t n)
{
    struct png_writer *w = png_get_io_ptr(png);
    if (n > w->capacity - w->size) {
        size_t capacity = 2 * w->capacity + n + 4096;
        uint8_t *bytes = realloc(w->bytes, capacity);
        if (!bytes) {
            png_error(png, "memory");
        }
        w->bytes = bytes;
        w->capacity = capacity;
    }
    memcpy(w->bytes + w->size, src, n);
    w->size += n;
}

static void on_flush(png_structp png)
{
    (void)png;
}

static bool write_guarded(struct png_writer *w)
{
    if (setjmp(png_jmpbuf(w->png))) {
        return false;
    }
    png_set_write_fn(w->png, w, on_write, on_flush);
    png_set_IHDR(w->png, w->info, (png_uint_32)w->width, (png_uint_32)w->height, 8,
                 w->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(w->png, w->info);
    for (size_t y = 0; y < w->height; y++) {
        png_write_row(w->png, w->pixels + y * w->width * w->channels);
    }
    png_write_end(w->png, w->info);
    return true;
}

enum nn_status nn_image_encode_png(const uint8_t *pixels, size_t height, size_t width,
                                   size_t channels, uint8_t **out_bytes, size_t *out_size,
                                   struct nn_error *err)
{
    struct png_writer w = {
        .pixels = pixels, .height = height, .width = width, .channels = channels};
    if (height == 0 || width == 0 || height > INT32_MAX || width > INT32_MAX ||
        (channels != 1 && channels != 3)) {
        return nn_fail(err, NN_ERR_INVALID, "no PNG of %zu x %zu x %zu", height, width, channels);
    }
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, on_error, on_warning);
    w.info = w.png ? png_create_info_struct(w.png) : NULL;
    bool ok = w.info && write_guarded(&w);
    png_destroy_write_struct(&w.png, &w.info);
    if (!ok) {
        free(w.bytes);
        return nn_fail(err, NN_ERR_MEMORY, "no memory to write a PNG");
    }
    *out_bytes = w.bytes;
    *out_size = w.size;
    return NN_OK;
}
