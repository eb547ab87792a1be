/* SPDX-License-Identifier: MIT
 *
 * What the codec files of this room share: one request to read a picture, and how to refuse it.
 */
#ifndef NN_IMAGE_IMAGE_INTERNAL_H
#define NN_IMAGE_IMAGE_INTERNAL_H

#include "core/image/image.h"

/* One picture being read. Lives on the stack of nn_image_decode or nn_image_probe. */
struct nn_image_request {
    const uint8_t *bytes; /* borrowed */
    size_t size;
    struct nn_image_limits limits; /* no zeros */
    bool header_only;              /* stop after the header; image stays empty */
    struct nn_image_header header; /* as stored, not yet turned upright */
    unsigned orientation;          /* EXIF, 1..8 */
    struct nn_image image;         /* as stored, packed, alpha gone; owned by the request */
    enum nn_image_refusal refusal;
    struct nn_error *err;
};

/* Notes why and returns the status that belongs to the reason. */
enum nn_status nn_image_refuse(struct nn_image_request *request, enum nn_image_refusal refusal,
                               const char *fmt, ...) NN_PRINTF(3, 4);

/* Compares a size from a header with the caps and stores it in request->header. */
NN_MUST_CHECK enum nn_status nn_image_set_header(struct nn_image_request *request, size_t height,
                                                 size_t width, size_t channels);

/* Allocates height x width x channels bytes of request->header, times nothing else: `channels` may
 * be larger than the header's while alpha is still there. */
NN_MUST_CHECK enum nn_status nn_image_allocate(struct nn_image_request *request, size_t channels);

/* Composites packed pixels of `channels` (2: grey and alpha, 4: RGB and alpha) onto the background,
 * in place, and sets image.channels to what is left. */
void nn_image_drop_alpha(struct nn_image *image);

/* Fill request->header, orientation and, unless header_only, image. */
NN_MUST_CHECK enum nn_status nn_jpeg_read(struct nn_image_request *request);
NN_MUST_CHECK enum nn_status nn_png_read(struct nn_image_request *request);
NN_MUST_CHECK enum nn_status nn_webp_read(struct nn_image_request *request);

/* Orientation of an EXIF block (with or without its "Exif\0\0"), 1 when there is none or it makes
 * no sense. */
unsigned nn_exif_orientation(const uint8_t *exif, size_t size);

/* Turns the image upright, in place of its pixels. */
NN_MUST_CHECK enum nn_status nn_image_turn(struct nn_image_request *request);

#endif
