/* SPDX-License-Identifier: MIT
 *
 * EXIF orientation: the one tag that changes pixels, and the eight turns it means. Reads nothing
 * else of EXIF and follows no pointer but the one to the first directory.
 */
#include <stdlib.h>
#include <string.h>

#include "core/image/image_internal.h"

#define TAG_ORIENTATION 0x0112
#define TYPE_SHORT      3
#define TYPE_LONG       4
#define ENTRY_BYTES     12

struct tiff {
    const uint8_t *bytes;
    size_t size;
    bool big_endian;
};

static unsigned read_u16(const struct tiff *t, size_t at)
{
    const uint8_t *p = t->bytes + at;
    return t->big_endian ? (unsigned)p[0] << 8 | p[1] : (unsigned)p[1] << 8 | p[0];
}

static uint32_t read_u32(const struct tiff *t, size_t at)
{
    uint32_t first = read_u16(t, at);
    uint32_t second = read_u16(t, at + 2);
    return t->big_endian ? first << 16 | second : second << 16 | first;
}

static unsigned entry_value(const struct tiff *t, size_t at)
{
    unsigned type = read_u16(t, at + 2);
    if (read_u32(t, at + 4) != 1) {
        return 1;
    }
    uint32_t value = type == TYPE_SHORT  ? read_u16(t, at + 8)
                     : type == TYPE_LONG ? read_u32(t, at + 8)
                                         : 1;
    return value >= 1 && value <= 8 ? (unsigned)value : 1;
}

unsigned nn_exif_orientation(const uint8_t *exif, size_t size)
{
    if (size >= 6 && memcmp(exif, "Exif\0\0", 6) == 0) {
        exif += 6;
        size -= 6;
    }
    struct tiff t = {exif, size, false};
    if (size < 10) {
        return 1;
    }
    t.big_endian = memcmp(exif, "MM", 2) == 0;
    if ((!t.big_endian && memcmp(exif, "II", 2) != 0) || read_u16(&t, 2) != 42) {
        return 1;
    }
    size_t directory = read_u32(&t, 4);
    if (directory > size - 2) {
        return 1;
    }
    size_t n = read_u16(&t, directory);
    for (size_t i = 0; i < n; i++) {
        size_t at = directory + 2 + i * ENTRY_BYTES;
        if (at + ENTRY_BYTES > size) {
            return 1;
        }
        if (read_u16(&t, at) == TAG_ORIENTATION) {
            return entry_value(&t, at);
        }
    }
    return 1;
}

/* Where row y, column x of the upright image comes from: index = base + y * dy + x * dx, in pixels
 * of the stored image of h rows and w columns. */
struct turn {
    ptrdiff_t base;
    ptrdiff_t dy;
    ptrdiff_t dx;
};

static struct turn turn_of(unsigned orientation, ptrdiff_t h, ptrdiff_t w)
{
    switch (orientation) {
    case 2: /* mirrored left to right */
        return (struct turn){w - 1, w, -1};
    case 3: /* upside down */
        return (struct turn){h * w - 1, -w, -1};
    case 4: /* mirrored top to bottom */
        return (struct turn){(h - 1) * w, -w, 1};
    case 5: /* transposed */
        return (struct turn){0, 1, w};
    case 6: /* stored row 0 is the right side: turn clockwise */
        return (struct turn){(h - 1) * w, 1, -w};
    case 7: /* transposed over the other diagonal */
        return (struct turn){h * w - 1, -1, -w};
    case 8: /* stored row 0 is the left side: turn counter-clockwise */
        return (struct turn){w - 1, -1, w};
    default:
        return (struct turn){0, w, 1};
    }
}

enum nn_status nn_image_turn(struct nn_image_request *request)
{
    struct nn_image *image = &request->image;
    if (request->orientation == 1) {
        return NN_OK;
    }
    bool swap = request->orientation >= 5;
    size_t height = swap ? image->width : image->height;
    size_t width = swap ? image->height : image->width;
    size_t c = image->channels;
    uint8_t *turned = malloc(height * width * c);
    if (!turned) {
        return nn_image_refuse(request, NN_IMAGE_REFUSED_MEMORY, "no memory for %zu x %zu pixels",
                               height, width);
    }
    struct turn t =
        turn_of(request->orientation, (ptrdiff_t)image->height, (ptrdiff_t)image->width);
    uint8_t *dst = turned;
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++, dst += c) {
            ptrdiff_t at = t.base + (ptrdiff_t)y * t.dy + (ptrdiff_t)x * t.dx;
            memcpy(dst, image->pixels + (size_t)at * c, c);
        }
    }
    free(image->pixels);
    *image = (struct nn_image){height, width, c, turned, image->sixteen_bit};
    return NN_OK;
}
