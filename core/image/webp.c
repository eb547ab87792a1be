/* SPDX-License-Identifier: MIT
 *
 * Still WebP, lossy and lossless, by libwebp. Animations are refused. libwebp decodes what it has
 * of a file that was cut off, so the size in the RIFF header is compared first.
 */
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

#include "core/image/image_internal.h"

static enum nn_status refuse_code(struct nn_image_request *request, VP8StatusCode code)
{
    switch (code) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
        return nn_image_refuse(request, NN_IMAGE_REFUSED_TRUNCATED, "WebP: the file is cut off");
    case VP8_STATUS_OUT_OF_MEMORY:
        return nn_image_refuse(request, NN_IMAGE_REFUSED_MEMORY, "WebP: no memory");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return nn_image_refuse(request, NN_IMAGE_REFUSED_FORMAT, "WebP: unsupported feature");
    default:
        return nn_image_refuse(request, NN_IMAGE_REFUSED_DAMAGED, "WebP: the data is damaged");
    }
}

static bool is_cut_off(const struct nn_image_request *request)
{
    const uint8_t *p = request->bytes + 4;
    size_t riff = (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
    return riff > request->size - 8;
}

static unsigned orientation_of(const struct nn_image_request *request)
{
    WebPData data = {request->bytes, request->size};
    WebPChunkIterator chunk;
    unsigned orientation = 1;
    WebPDemuxer *demuxer = WebPDemux(&data);
    if (demuxer && WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk)) {
        orientation = nn_exif_orientation(chunk.chunk.bytes, chunk.chunk.size);
        WebPDemuxReleaseChunkIterator(&chunk);
    }
    WebPDemuxDelete(demuxer);
    return orientation;
}

static enum nn_status read_pixels(struct nn_image_request *request, WebPDecoderConfig *config)
{
    bool alpha = config->input.has_alpha;
    size_t channels = alpha ? 4 : 3;
    enum nn_status status = nn_image_allocate(request, channels);
    if (status != NN_OK) {
        return status;
    }
    struct nn_image *image = &request->image;
    config->output.colorspace = alpha ? MODE_RGBA : MODE_RGB;
    config->output.is_external_memory = 1;
    config->output.u.RGBA.rgba = image->pixels;
    config->output.u.RGBA.stride = (int)(image->width * channels);
    config->output.u.RGBA.size = image->height * image->width * channels;
    VP8StatusCode code = WebPDecode(request->bytes, request->size, config);
    WebPFreeDecBuffer(&config->output);
    if (code != VP8_STATUS_OK) {
        return refuse_code(request, code);
    }
    if (alpha) {
        nn_image_drop_alpha(image);
    }
    return NN_OK;
}

enum nn_status nn_webp_read(struct nn_image_request *request)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_DAMAGED, "WebP: library mismatch");
    }
    VP8StatusCode code = WebPGetFeatures(request->bytes, request->size, &config.input);
    if (code != VP8_STATUS_OK) {
        return refuse_code(request, code);
    }
    enum nn_status status =
        nn_image_set_header(request, (size_t)config.input.height, (size_t)config.input.width, 3);
    if (status != NN_OK) {
        return status;
    }
    if (config.input.has_animation) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_ANIMATED,
                               "an animated WebP; only still pictures are supported");
    }
    if (is_cut_off(request)) {
        return refuse_code(request, VP8_STATUS_NOT_ENOUGH_DATA);
    }
    request->orientation = orientation_of(request);
    return request->header_only ? NN_OK : read_pixels(request, &config);
}
