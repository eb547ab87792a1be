/* SPDX-License-Identifier: MIT
 *
 * Sniffing, dispatch to the codecs, caps, refusals, and what is the same for all formats: alpha,
 * channels, memory.
 */
#include "core/image/image.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/image/image_internal.h"

#define DEFAULT_MAX_PIXELS ((size_t)50000000)
#define DEFAULT_MAX_SIDE   ((size_t)8192)
#define DEFAULT_MAX_SCANS  ((size_t)100)

static const char *const REFUSAL_SLUGS[NN_IMAGE_REFUSAL_COUNT] = {
#define REFUSAL_SLUG(name, slug) slug,
    NN_IMAGE_REFUSAL_MAP(REFUSAL_SLUG)
#undef REFUSAL_SLUG
};

const char *nn_image_refusal_slug(enum nn_image_refusal refusal)
{
    return (size_t)refusal < NN_IMAGE_REFUSAL_COUNT ? REFUSAL_SLUGS[refusal] : "unknown";
}

static enum nn_status refusal_status(enum nn_image_refusal refusal)
{
    switch (refusal) {
    case NN_IMAGE_REFUSED_NONE:
        return NN_OK;
    case NN_IMAGE_REFUSED_FORMAT:
    case NN_IMAGE_REFUSED_ANIMATED:
        return NN_ERR_NOT_SUPPORTED;
    case NN_IMAGE_REFUSED_TOO_LARGE:
    case NN_IMAGE_REFUSED_TOO_MANY_SCANS:
        return NN_ERR_LIMIT;
    case NN_IMAGE_REFUSED_MEMORY:
        return NN_ERR_MEMORY;
    case NN_IMAGE_REFUSED_EMPTY:
    case NN_IMAGE_REFUSED_NOT_AN_IMAGE:
    case NN_IMAGE_REFUSED_TRUNCATED:
    case NN_IMAGE_REFUSED_DAMAGED:
    case NN_IMAGE_REFUSAL_COUNT:
        break;
    }
    return NN_ERR_INVALID;
}

enum nn_status nn_image_refuse(struct nn_image_request *request, enum nn_image_refusal refusal,
                               const char *fmt, ...)
{
    char text[sizeof request->err->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    request->refusal = refusal;
    return nn_fail(request->err, refusal_status(refusal), "%s", text);
}

/* ------------------------------------------------------------------------------------- sniffing */

struct signature {
    enum nn_image_format format;
    size_t offset;
    const char *bytes;
    size_t size;
};

static const struct signature SIGNATURES[] = {
    {NN_IMAGE_JPEG, 0, "\xff\xd8\xff", 3}, {NN_IMAGE_PNG, 0, "\x89PNG\r\n\x1a\n", 8},
    {NN_IMAGE_WEBP, 8, "WEBP", 4},         {NN_IMAGE_GIF, 0, "GIF8", 4},
    {NN_IMAGE_TIFF, 0, "II*\0", 4},        {NN_IMAGE_TIFF, 0, "MM\0*", 4},
    {NN_IMAGE_TIFF, 0, "II+\0", 4},        {NN_IMAGE_TIFF, 0, "MM\0+", 4},
    {NN_IMAGE_HEIF, 4, "ftyphei", 7},      {NN_IMAGE_HEIF, 4, "ftypavif", 8},
    {NN_IMAGE_HEIF, 4, "ftypmif1", 8},
};

/* "BM" alone is also the beginning of prose: the two reserved words of the header must be zero. */
static bool is_bmp(const uint8_t *bytes, size_t size)
{
    static const uint8_t reserved[4] = {0};
    return size >= 14 && memcmp(bytes, "BM", 2) == 0 && memcmp(bytes + 6, reserved, 4) == 0;
}

enum nn_image_format nn_image_sniff(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof SIGNATURES / sizeof SIGNATURES[0]; i++) {
        const struct signature *s = &SIGNATURES[i];
        bool riff = s->format != NN_IMAGE_WEBP || (size >= 12 && memcmp(bytes, "RIFF", 4) == 0);
        if (riff && size >= s->offset + s->size &&
            memcmp(bytes + s->offset, s->bytes, s->size) == 0) {
            return s->format;
        }
    }
    return is_bmp(bytes, size) ? NN_IMAGE_BMP : NN_IMAGE_UNKNOWN;
}

const char *nn_image_format_name(enum nn_image_format format)
{
    switch (format) {
    case NN_IMAGE_JPEG:
        return "JPEG";
    case NN_IMAGE_PNG:
        return "PNG";
    case NN_IMAGE_WEBP:
        return "WebP";
    case NN_IMAGE_GIF:
        return "GIF";
    case NN_IMAGE_BMP:
        return "BMP";
    case NN_IMAGE_TIFF:
        return "TIFF";
    case NN_IMAGE_HEIF:
        return "HEIF";
    case NN_IMAGE_UNKNOWN:
        break;
    }
    return "unknown";
}

/* ------------------------------------------------------------------------------ caps and memory */

enum nn_status nn_image_set_header(struct nn_image_request *request, size_t height, size_t width,
                                   size_t channels)
{
    const struct nn_image_limits *limits = &request->limits;
    size_t pixels;
    if (height == 0 || width == 0) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_DAMAGED, "it has no pixels");
    }
    if (height > limits->max_side || width > limits->max_side ||
        !nn_size_mul(height, width, &pixels) || pixels > limits->max_pixels) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_TOO_LARGE,
                               "%zu x %zu pixels; at most %zu on a side and %zu in all", height,
                               width, limits->max_side, limits->max_pixels);
    }
    request->header.height = height;
    request->header.width = width;
    request->header.channels = channels;
    return NN_OK;
}

static enum nn_status allocate(size_t height, size_t width, size_t channels,
                               struct nn_image *out_image)
{
    size_t bytes;
    if (!nn_size_mul(height, width, &bytes) || !nn_size_mul(bytes, channels, &bytes) ||
        bytes == 0) {
        return NN_ERR_LIMIT;
    }
    uint8_t *pixels = malloc(bytes);
    if (!pixels) {
        return NN_ERR_MEMORY;
    }
    *out_image = (struct nn_image){height, width, channels, pixels, false};
    return NN_OK;
}

enum nn_status nn_image_allocate(struct nn_image_request *request, size_t channels)
{
    const struct nn_image_header *h = &request->header;
    if (allocate(h->height, h->width, channels, &request->image) != NN_OK) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_MEMORY, "no memory for %zu x %zu pixels",
                               h->height, h->width);
    }
    return NN_OK;
}

void nn_image_deinit(struct nn_image *image)
{
    free(image->pixels);
    image->pixels = NULL;
}

/* ------------------------------------------------------------------------------ alpha, channels */

/* colour over background: (c * a + b * (255 - a)) / 255, rounded. */
static uint8_t over_background(unsigned colour, unsigned alpha)
{
    return (uint8_t)((colour * alpha + NN_IMAGE_BACKGROUND * (255U - alpha) + 127U) / 255U);
}

void nn_image_drop_alpha(struct nn_image *image)
{
    size_t colours = image->channels - 1;
    size_t n = image->height * image->width;
    const uint8_t *src = image->pixels;
    uint8_t *dst = image->pixels;
    NN_ASSERT(image->channels == 2 || image->channels == 4);
    for (size_t i = 0; i < n; i++, src += colours + 1) {
        unsigned alpha = src[colours];
        for (size_t c = 0; c < colours; c++) {
            *dst++ = over_background(src[c], alpha);
        }
    }
    image->channels = colours;
}

enum nn_status nn_image_to_channels(const struct nn_image *src, size_t channels,
                                    struct nn_image *out_image, struct nn_error *err)
{
    struct nn_image image;
    if (channels != src->channels && !(src->channels == 1 && channels == 3)) {
        return nn_fail(err, NN_ERR_INVALID, "cannot turn %zu channels into %zu", src->channels,
                       channels);
    }
    enum nn_status status = allocate(src->height, src->width, channels, &image);
    if (status != NN_OK) {
        return nn_fail(err, status, "no memory for %zu x %zu pixels", src->height, src->width);
    }
    size_t n = src->height * src->width;
    if (channels == src->channels) {
        memcpy(image.pixels, src->pixels, n * channels);
    } else {
        for (size_t i = 0; i < n; i++) {
            memset(image.pixels + 3 * i, src->pixels[i], 3);
        }
    }
    *out_image = image;
    return NN_OK;
}

/* ------------------------------------------------------------------------------------- dispatch */

static enum nn_status read_by_content(struct nn_image_request *request)
{
    if (request->size == 0) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_EMPTY, "the file is empty");
    }
    request->header.format = nn_image_sniff(request->bytes, request->size);
    switch (request->header.format) {
    case NN_IMAGE_JPEG:
        return nn_jpeg_read(request);
    case NN_IMAGE_PNG:
        return nn_png_read(request);
    case NN_IMAGE_WEBP:
        return nn_webp_read(request);
    case NN_IMAGE_GIF:
    case NN_IMAGE_BMP:
    case NN_IMAGE_TIFF:
    case NN_IMAGE_HEIF:
        return nn_image_refuse(request, NN_IMAGE_REFUSED_FORMAT,
                               "%s is not supported; use JPEG, PNG or WebP",
                               nn_image_format_name(request->header.format));
    case NN_IMAGE_UNKNOWN:
        break;
    }
    return nn_image_refuse(request, NN_IMAGE_REFUSED_NOT_AN_IMAGE,
                           "the content is not JPEG, PNG or WebP");
}

static struct nn_image_request make_request(const uint8_t *bytes, size_t size,
                                            const struct nn_image_limits *limits,
                                            struct nn_error *err)
{
    struct nn_image_request request = {.bytes = bytes, .size = size, .orientation = 1, .err = err};
    struct nn_image_limits given = limits ? *limits : (struct nn_image_limits){0};
    request.limits = (struct nn_image_limits){
        .max_pixels = given.max_pixels ? given.max_pixels : DEFAULT_MAX_PIXELS,
        .max_side = given.max_side ? given.max_side : DEFAULT_MAX_SIDE,
        .max_scans = given.max_scans ? given.max_scans : DEFAULT_MAX_SCANS,
    };
    return request;
}

enum nn_status nn_image_probe(const uint8_t *bytes, size_t size,
                              const struct nn_image_limits *limits,
                              struct nn_image_header *out_header, enum nn_image_refusal *refusal,
                              struct nn_error *err)
{
    struct nn_image_request request = make_request(bytes, size, limits, err);
    request.header_only = true;
    enum nn_status status = read_by_content(&request);
    if (status == NN_OK) {
        *out_header = request.header;
        if (request.orientation >= 5) {
            out_header->height = request.header.width;
            out_header->width = request.header.height;
        }
    }
    if (refusal) {
        *refusal = request.refusal;
    }
    return status;
}

enum nn_status nn_image_decode(const uint8_t *bytes, size_t size,
                               const struct nn_image_limits *limits, struct nn_image *out_image,
                               enum nn_image_refusal *refusal, struct nn_error *err)
{
    struct nn_image_request request = make_request(bytes, size, limits, err);
    enum nn_status status = read_by_content(&request);
    if (status == NN_OK) {
        status = nn_image_turn(&request);
    }
    if (status == NN_OK) {
        *out_image = request.image;
    } else {
        nn_image_deinit(&request.image);
    }
    if (refusal) {
        *refusal = request.refusal;
    }
    return status;
}
