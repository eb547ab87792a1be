/* SPDX-License-Identifier: MIT
 *
 * Pictures as bytes: JPEG, PNG and still WebP to packed 8-bit pixels, resizing, PNG out.
 * The format is found in the content, never in the name. Everything is refused before it is
 * allocated: sizes come from the header and are compared with the caps first. A picture that is cut
 * off or damaged is refused whole, half an image is never handed out. Reads no files.
 */
#ifndef NN_IMAGE_IMAGE_H
#define NN_IMAGE_IMAGE_H

#include "core/base/base.h"

/* NN_IMAGE_REFUSAL(name, slug): why a picture was refused; the slugs are part of the API. */
#define NN_IMAGE_REFUSAL_MAP(X)                                                                    \
    X(NONE, "none")                                                                                \
    X(EMPTY, "empty_file")                                                                         \
    X(NOT_AN_IMAGE, "not_an_image")                                                                \
    X(FORMAT, "format_not_supported")                                                              \
    X(ANIMATED, "animated")                                                                        \
    X(TOO_LARGE, "too_large")                                                                      \
    X(TOO_MANY_SCANS, "too_many_scans")                                                            \
    X(TRUNCATED, "truncated")                                                                      \
    X(DAMAGED, "damaged")                                                                          \
    X(MEMORY, "out_of_memory")

enum nn_image_refusal {
#define NN_IMAGE_REFUSAL_ENUM(name, slug) NN_IMAGE_REFUSED_##name,
    NN_IMAGE_REFUSAL_MAP(NN_IMAGE_REFUSAL_ENUM)
#undef NN_IMAGE_REFUSAL_ENUM
        NN_IMAGE_REFUSAL_COUNT
};

/* "truncated" etc.; never NULL. */
const char *nn_image_refusal_slug(enum nn_image_refusal refusal);

enum nn_image_format {
    NN_IMAGE_UNKNOWN,
    NN_IMAGE_JPEG,
    NN_IMAGE_PNG,
    NN_IMAGE_WEBP,
    NN_IMAGE_GIF,  /* known, so that it can be refused by name */
    NN_IMAGE_BMP,  /* refused */
    NN_IMAGE_TIFF, /* refused */
    NN_IMAGE_HEIF, /* HEIC and AVIF, refused */
};

/* Caps; a zero means the default beside it. */
struct nn_image_limits {
    size_t max_pixels; /* height * width: 50,000,000 */
    size_t max_side;   /* 8,192 */
    size_t max_scans;  /* of a progressive JPEG: 100; and 10^9 pixels over all scans */
};

/* Packed rows x columns x channels, 1 (grey) or 3 (RGB, in that order), upright. */
struct nn_image {
    size_t height;
    size_t width;
    size_t channels;
    uint8_t *pixels;  /* owned; nn_image_deinit */
    bool sixteen_bit; /* decoded from samples of 16 bits, of which 8 are kept */
};

/* The upright size and the channels that nn_image_decode would give. */
struct nn_image_header {
    enum nn_image_format format;
    size_t height;
    size_t width;
    size_t channels;
};

/* Alpha is composited onto this grey level (white) in all three channels, in the picture's own
 * (gamma-encoded) sample values; a bKGD chunk is not looked at. */
#define NN_IMAGE_BACKGROUND 255

/* What the first bytes say; "PNG" etc. for a format, never NULL. */
enum nn_image_format nn_image_sniff(const uint8_t *bytes, size_t size);
const char *nn_image_format_name(enum nn_image_format format);

/* Reads only the header: fast, decodes no pixel. Refuses what nn_image_decode refuses for its
 * header. limits may be NULL. */
NN_MUST_CHECK enum nn_status nn_image_probe(const uint8_t *bytes, size_t size,
                                            const struct nn_image_limits *limits,
                                            struct nn_image_header *out_header,
                                            enum nn_image_refusal *refusal, struct nn_error *err);

/* Decodes one picture.
 *
 * JPEG: grey stays one channel; YCbCr and RGB give RGB; CMYK and YCCK are converted (Adobe files
 * are stored inverted, files without the Adobe marker are not). A warning of the decoder about the
 * data refuses the file. Arithmetic coding, 12 bits and lossless are not supported.
 * PNG: 1, 2, 4 bits are widened, 16 bits scaled to 8 (v * 255 / 65535, rounded), palettes expanded,
 * gamma and colour profiles not applied, alpha and tRNS composited onto NN_IMAGE_BACKGROUND.
 * WebP: still pictures only, always three channels, alpha as in PNG.
 * EXIF orientation 1 to 8 is applied in all three, any other value counts as 1.
 *
 * bytes       borrowed for the call
 * limits      may be NULL
 * out_image   pixels owned by the caller; untouched on failure
 * refusal     set on failure (NONE on success); may be NULL
 *
 * NN_ERR_INVALID: not a picture, damaged. NN_ERR_NOT_SUPPORTED: format or feature. NN_ERR_LIMIT:
 * over a cap. NN_ERR_MEMORY.
 */
NN_MUST_CHECK enum nn_status nn_image_decode(const uint8_t *bytes, size_t size,
                                             const struct nn_image_limits *limits,
                                             struct nn_image *out_image,
                                             enum nn_image_refusal *refusal, struct nn_error *err);

/* Frees the pixels; NULL pixels are fine. */
void nn_image_deinit(struct nn_image *image);

/* Bilinear with antialias: the triangle filter is widened by the reduction factor, pixel centres at
 * +0.5, edges renormalised; the same as torchvision's and Pillow's antialiased bilinear to within
 * one grey level. The aspect ratio is not kept. Bits do not depend on the machine (integer
 * weights). src borrowed, not resized when the size is equal (copied). */
NN_MUST_CHECK enum nn_status nn_image_resize(const struct nn_image *src, size_t height,
                                             size_t width, struct nn_image *out_image,
                                             struct nn_error *err);

/* Grey to RGB by repetition, or a copy; RGB to grey is refused (NN_ERR_INVALID). */
NN_MUST_CHECK enum nn_status nn_image_to_channels(const struct nn_image *src, size_t channels,
                                                  struct nn_image *out_image, struct nn_error *err);

/* PNG file of 8-bit grey or RGB pixels (height x width x channels, packed, borrowed).
 * out_bytes is freed with free(). */
NN_MUST_CHECK enum nn_status nn_image_encode_png(const uint8_t *pixels, size_t height, size_t width,
                                                 size_t channels, uint8_t **out_bytes,
                                                 size_t *out_size, struct nn_error *err);

#endif
