/* SPDX-License-Identifier: MIT
 *
 * PNG by libpng's classic interface (the simplified one reads 16-bit samples as linear light).
 * Only the critical chunks and tRNS reach libpng; EXIF and animation are found by a walk over the
 * chunk headers. libpng's errors jump back into read_guarded.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "core/image/image_internal.h"

#define SIGNATURE_BYTES 8
#define CHUNK_OVERHEAD  12 /* length, type, checksum */
#define IHDR_END        (SIGNATURE_BYTES + 8 + 13)

struct png_reader {
    png_structp png;
    png_infop info;
    struct nn_image_request *request;
    size_t at; /* bytes already read */
    enum nn_image_refusal refusal;
    char text[160];
    png_bytep *rows;
};

static void on_error(png_structp png, png_const_charp text)
{
    struct png_reader *r = png_get_error_ptr(png);
    if (r->refusal == NN_IMAGE_REFUSED_NONE) {
        r->refusal = NN_IMAGE_REFUSED_DAMAGED;
        snprintf(r->text, sizeof r->text, "%s", text);
    }
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_read(png_structp png, png_bytep dst, size_t n)
{
    struct png_reader *r = png_get_io_ptr(png);
    if (n > r->request->size - r->at) {
        r->refusal = NN_IMAGE_REFUSED_TRUNCATED;
        snprintf(r->text, sizeof r->text, "the file ends after %zu bytes", r->request->size);
        png_error(png, "truncated");
    }
    memcpy(dst, r->request->bytes + r->at, n);
    r->at += n;
}

static uint32_t read_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Data of the first chunk of this type, or NULL. */
static const uint8_t *find_chunk(const struct nn_image_request *request, const char *type,
                                 size_t *out_size)
{
    size_t at = SIGNATURE_BYTES;
    while (request->size - at >= CHUNK_OVERHEAD) {
        const uint8_t *chunk = request->bytes + at;
        size_t n = read_u32(chunk);
        if (n > request->size - at - CHUNK_OVERHEAD) {
            return NULL;
        }
        if (memcmp(chunk + 4, type, 4) == 0) {
            *out_size = n;
            return chunk + 8;
        }
        at += n + CHUNK_OVERHEAD;
    }
    return NULL;
}

/* Everything that the first chunks say, before libpng sees a byte. */
static enum nn_status check_header(struct nn_image_request *request)
{
    const uint8_t *b = request->bytes;
    size_t n;
    if (request->size < IHDR_END) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_TRUNCATED, "PNG: the header is cut off");
    }
    if (read_u32(b + 8) != 13 || memcmp(b + 12, "IHDR", 4) != 0) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_DAMAGED, "PNG: no IHDR chunk");
    }
    bool grey = b[25] == PNG_COLOR_TYPE_GRAY || b[25] == PNG_COLOR_TYPE_GRAY_ALPHA;
    enum nn_status status =
        nn_image_set_header(request, read_u32(b + 20), read_u32(b + 16), grey ? 1 : 3);
    if (status != NN_OK) {
        return status;
    }
    if (find_chunk(request, "acTL", &n)) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_ANIMATED,
                               "an animated PNG; only still pictures are supported");
    }
    const uint8_t *exif = find_chunk(request, "eXIf", &n);
    request->orientation = exif ? nn_exif_orientation(exif, n) : 1;
    return NN_OK;
}

static bool is_sixteen_bit(const struct png_reader *r)
{
    return png_get_bit_depth(r->png, r->info) == 16;
}

static void set_transforms(struct png_reader *r)
{
    png_byte type = png_get_color_type(r->png, r->info);
    if (is_sixteen_bit(r)) {
        png_set_scale_16(r->png);
    }
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_set_palette_to_rgb(r->png);
    }
    if (type == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(r->png, r->info) < 8) {
        png_set_expand_gray_1_2_4_to_8(r->png);
    }
    if (png_get_valid(r->png, r->info, PNG_INFO_tRNS)) {
        png_set_tRNS_to_alpha(r->png);
    }
    png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
}

static enum nn_status read_pixels(struct png_reader *r)
{
    struct nn_image_request *request = r->request;
    struct nn_image *image = &request->image;
    bool sixteen_bit = is_sixteen_bit(r); /* the transforms hide it */
    set_transforms(r);
    size_t channels = png_get_channels(r->png, r->info);
    size_t stride = request->header.width * channels;
    if (png_get_rowbytes(r->png, r->info) != stride) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_DAMAGED, "PNG: unexpected row size");
    }
    enum nn_status status = nn_image_allocate(request, channels);
    if (status != NN_OK) {
        return status;
    }
    image->sixteen_bit = sixteen_bit;
    r->rows = malloc(image->height * sizeof *r->rows);
    if (!r->rows) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_MEMORY, "no memory for the rows");
    }
    for (size_t y = 0; y < image->height; y++) {
        r->rows[y] = image->pixels + y * stride;
    }
    png_read_image(r->png, r->rows);
    png_read_end(r->png, NULL); /* a cut after the pixels is noticed too */
    if (channels == 2 || channels == 4) {
        nn_image_drop_alpha(image);
    }
    return NN_OK;
}

static enum nn_status read_guarded(struct png_reader *r)
{
    if (setjmp(png_jmpbuf(r->png))) {
        return nn_image_refuse(r->request, r->refusal, "PNG: %s", r->text);
    }
    png_set_read_fn(r->png, r, on_read);
    png_set_user_limits(r->png, (png_uint_32)r->request->header.width,
                        (png_uint_32)r->request->header.height);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(r->png, r->info);
    return r->request->header_only ? NN_OK : read_pixels(r);
}

enum nn_status nn_png_read(struct nn_image_request *request)
{
    struct png_reader r = {.request = request};
    enum nn_status status = check_header(request);
    if (status != NN_OK) {
        return status;
    }
    r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_error, on_warning);
    r.info = r.png ? png_create_info_struct(r.png) : NULL;
    status = r.info
                 ? read_guarded(&r)
                 : nn_image_refuse(request, NN_IMAGE_REFUSED_MEMORY, "no memory for the decoder");
    png_destroy_read_struct(&r.png, &r.info, NULL);
    free(r.rows);
    return status;
}
