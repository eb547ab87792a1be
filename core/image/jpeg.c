/* SPDX-License-Identifier: MIT
 *
 * JPEG by libjpeg(-turbo). Its error handler, which would end the process, is replaced by a jump
 * back into read_guarded; so is every warning about the data, because libjpeg fills what is missing
 * with grey and calls that success.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "core/image/image_internal.h"

#define MAX_WORKING_BYTES (512L << 20) /* coefficients of a progressive file */
#define MAX_SCAN_PIXELS   ((size_t)1000000000)

struct jpeg_reader {
    struct jpeg_error_mgr errors; /* first: libjpeg hands back a pointer to it */
    struct jpeg_progress_mgr progress;
    struct jpeg_decompress_struct codec;
    struct nn_image_request *request;
    enum nn_image_refusal refusal; /* set before jumping */
    char text[JMSG_LENGTH_MAX];
    uint8_t *cmyk_row;
    jmp_buf jump;
};

static struct jpeg_reader *reader_of(j_common_ptr codec)
{
    return (struct jpeg_reader *)(void *)codec->err;
}

static enum nn_image_refusal refusal_of(int code)
{
    switch (code) {
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_ARITH_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
        return NN_IMAGE_REFUSED_FORMAT;
    case JERR_IMAGE_TOO_BIG:
    case JERR_NO_BACKING_STORE:
        return NN_IMAGE_REFUSED_TOO_LARGE;
    case JERR_OUT_OF_MEMORY:
        return NN_IMAGE_REFUSED_MEMORY;
    case JERR_INPUT_EMPTY:
    case JERR_INPUT_EOF:
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
        return NN_IMAGE_REFUSED_TRUNCATED;
    default:
        return NN_IMAGE_REFUSED_DAMAGED;
    }
}

static _Noreturn void leave(j_common_ptr codec)
{
    struct jpeg_reader *r = reader_of(codec);
    codec->err->format_message(codec, r->text);
    r->refusal = refusal_of(codec->err->msg_code);
    longjmp(r->jump, 1);
}

/* level -1 is a warning about the data; higher levels are traces. Two warnings are about labels
 * only: an unknown JFIF version and an unknown Adobe transform. */
static void on_message(j_common_ptr codec, int level)
{
    int code = codec->err->msg_code;
    if (level < 0 && code != JWRN_JFIF_MAJOR && code != JWRN_ADOBE_XFORM) {
        leave(codec);
    }
}

static void print_nothing(j_common_ptr codec)
{
    (void)codec;
}

/* Each scan of a progressive file costs a pass over all coefficients: bound passes and pixels. */
static void on_progress(j_common_ptr common)
{
    struct jpeg_reader *r = reader_of(common);
    size_t scans = (size_t)r->codec.input_scan_number;
    size_t pixels = (size_t)r->codec.image_width * r->codec.image_height;
    if (scans > r->request->limits.max_scans || (scans > 1 && scans * pixels > MAX_SCAN_PIXELS)) {
        r->refusal = NN_IMAGE_REFUSED_TOO_MANY_SCANS;
        snprintf(r->text, sizeof r->text, "%zu scans of %zu pixels", scans, pixels);
        longjmp(r->jump, 1);
    }
}

/* Huffman coding spends at least one bit on each 8 x 8 block: a shorter file cannot be whole, and
 * need not make libjpeg allocate its coefficients. */
static bool is_too_short(const struct jpeg_decompress_struct *codec, size_t size)
{
    size_t blocks = 0;
    for (int i = 0; i < codec->num_components; i++) {
        const jpeg_component_info *part = &codec->comp_info[i];
        blocks += (size_t)part->width_in_blocks * part->height_in_blocks;
    }
    return size < blocks / 8;
}

static size_t channels_of(const struct jpeg_decompress_struct *codec)
{
    switch (codec->jpeg_color_space) {
    case JCS_GRAYSCALE:
        return 1;
    case JCS_YCbCr:
    case JCS_RGB:
    case JCS_CMYK:
    case JCS_YCCK:
        return 3;
    default:
        return 0;
    }
}

static void note_orientation(struct jpeg_reader *r)
{
    for (const struct jpeg_marker_struct *m = r->codec.marker_list; m; m = m->next) {
        if (m->marker == JPEG_APP0 + 1 && m->data_length >= 6 &&
            memcmp(m->data, "Exif\0\0", 6) == 0) {
            r->request->orientation = nn_exif_orientation(m->data, m->data_length);
            return;
        }
    }
}

static enum nn_status read_header(struct jpeg_reader *r)
{
    struct jpeg_decompress_struct *codec = &r->codec;
    struct nn_image_request *request = r->request;
    jpeg_mem_src(codec, request->bytes, (unsigned long)request->size);
    jpeg_save_markers(codec, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(codec, TRUE);
    size_t channels = channels_of(codec);
    enum nn_status status =
        nn_image_set_header(request, codec->image_height, codec->image_width, channels);
    if (status != NN_OK) {
        return status;
    }
    if (channels == 0 || codec->arith_code) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_FORMAT, "JPEG with %d components%s",
                               codec->num_components,
                               codec->arith_code ? " and arithmetic coding" : "");
    }
    if (is_too_short(codec, request->size)) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_TRUNCATED,
                               "%zu bytes cannot hold %zu x %zu pixels", request->size,
                               request->header.height, request->header.width);
    }
    note_orientation(r);
    return NN_OK;
}

/* Adobe writes inks inverted (255 = no ink); without its marker 255 is full ink. The colour seen is
 * (1 - ink) * (1 - black). */
static void cmyk_to_rgb(const uint8_t *src, uint8_t *dst, size_t width, bool inverted)
{
    unsigned flip = inverted ? 0 : 255;
    for (size_t x = 0; x < width; x++, src += 4, dst += 3) {
        unsigned black = src[3] ^ flip;
        for (size_t c = 0; c < 3; c++) {
            dst[c] = (uint8_t)(((src[c] ^ flip) * black + 127U) / 255U);
        }
    }
}

static enum nn_status read_pixels(struct jpeg_reader *r)
{
    struct jpeg_decompress_struct *codec = &r->codec;
    struct nn_image *image = &r->request->image;
    bool is_cmyk = codec->jpeg_color_space == JCS_CMYK || codec->jpeg_color_space == JCS_YCCK;
    codec->out_color_space = is_cmyk                            ? JCS_CMYK
                             : r->request->header.channels == 1 ? JCS_GRAYSCALE
                                                                : JCS_RGB;
    codec->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(codec);
    enum nn_status status = nn_image_allocate(r->request, r->request->header.channels);
    if (status == NN_OK && is_cmyk && !(r->cmyk_row = malloc(image->width * 4))) {
        status = nn_image_refuse(r->request, NN_IMAGE_REFUSED_MEMORY, "no memory for a row");
    }
    if (status != NN_OK) {
        return status;
    }
    while (codec->output_scanline < codec->output_height) {
        uint8_t *dst = image->pixels + codec->output_scanline * image->width * image->channels;
        uint8_t *row = is_cmyk ? r->cmyk_row : dst;
        jpeg_read_scanlines(codec, &row, 1);
        if (is_cmyk) {
            cmyk_to_rgb(row, dst, image->width, codec->saw_Adobe_marker);
        }
    }
    jpeg_finish_decompress(codec); /* reads on to the end marker: a missing one is noticed */
    return NN_OK;
}

static enum nn_status read_guarded(struct jpeg_reader *r)
{
    if (setjmp(r->jump)) {
        return nn_image_refuse(r->request, r->refusal, "JPEG: %s", r->text);
    }
    jpeg_create_decompress(&r->codec);
    r->codec.mem->max_memory_to_use = MAX_WORKING_BYTES;
    r->codec.progress = &r->progress;
    enum nn_status status = read_header(r);
    if (status == NN_OK && !r->request->header_only) {
        status = read_pixels(r);
    }
    return status;
}

enum nn_status nn_jpeg_read(struct nn_image_request *request)
{
    struct jpeg_reader *r = calloc(1, sizeof *r);
    if (!r) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_MEMORY, "no memory for the decoder");
    }
    r->request = request;
    r->codec.err = jpeg_std_error(&r->errors);
    r->errors.error_exit = leave;
    r->errors.emit_message = on_message;
    r->errors.output_message = print_nothing;
    r->progress.progress_monitor = on_progress;
    enum nn_status status = read_guarded(r);
    jpeg_destroy_decompress(&r->codec);
    free(r->cmyk_row);
    free(r);
    return status;
}
