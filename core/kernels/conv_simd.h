/* SPDX-License-Identifier: MIT
 *
 * Direct convolution for few taps: rows conv_forward and conv_weight of the vector tables. The
 * image is read where it stands; padded weights stay in the first cache.
 */

#define CONV_VECTORS   ((size_t)3)
#define CONV_PIXELS(v) TILE_ROWS(v)
#define CONV_TAPS(v)   TILE_ROWS(v)

/* A strip of filters: v vectors from filter o on, the last one holding `last` of them. */
struct conv_strip {
    size_t o, last;
};

ALWAYS_INLINE void conv_finish_pixel(const struct nn_conv_forward_args *s, struct conv_strip p,
                                     float *y, vf *pixel, const size_t v)
{
    UNROLL
    for (size_t i = 0; i < v; i++) {
        size_t lanes = i + 1 == v ? p.last : VF;
        if (s->accumulate) {
            pixel[i] = vf_add(pixel[i], vf_load_part(y + i * VF, lanes));
        }
        if (s->relu) {
            pixel[i] = vf_relu(pixel[i]);
        }
        vf_store_part(y + i * VF, pixel[i], lanes);
    }
}

/* `pixels` output pixels of a line whose first window begins at x; pixels and v are constants. */
ALWAYS_INLINE void conv_block(const struct nn_conv_forward_args *s, struct conv_strip p,
                              const float *x, float *y, const size_t pixels, const size_t v)
{
    vf sum[8 * CONV_VECTORS];
    const float *w = s->w + p.o;
    UNROLL
    for (size_t j = 0; j < v; j++) {
        vf start = vf_zero();
        if (s->bias) {
            start = vf_load_part(s->bias + p.o + j * VF, j + 1 == v ? p.last : VF);
        }
        UNROLL
        for (size_t i = 0; i < pixels; i++) {
            sum[i * v + j] = start;
        }
    }
    for (size_t t = 0; t < s->taps; t++) {
        const float *at = x + s->offsets[t];
        vf line[CONV_VECTORS];
        UNROLL
        for (size_t j = 0; j < v; j++) {
            line[j] = vf_load(w + j * VF);
        }
        UNROLL
        for (size_t i = 0; i < pixels; i++) {
            vf factor = vf_all(at[i * s->x_column]);
            UNROLL
            for (size_t j = 0; j < v; j++) {
                sum[i * v + j] = vf_fma(factor, line[j], sum[i * v + j]);
            }
        }
        w += s->ldw;
    }
    UNROLL
    for (size_t i = 0; i < pixels; i++) {
        conv_finish_pixel(s, p, y + i * s->ldy + p.o, sum + i * v, v);
    }
}

/* One line of output pixels. */
ALWAYS_INLINE void conv_line(const struct nn_conv_forward_args *s, struct conv_strip p,
                             const float *x, float *y, const size_t v)
{
    for (size_t j = 0; j < s->width;) {
        size_t pixels = next_block(s->width - j, CONV_PIXELS(v));
        switch (pixels) {
        case 1:
            conv_block(s, p, x, y, 1, v);
            break;
        case 2:
            conv_block(s, p, x, y, 2, v);
            break;
        case 3:
            conv_block(s, p, x, y, 3, v);
            break;
        case 4:
            conv_block(s, p, x, y, 4, v);
            break;
        case 5:
            conv_block(s, p, x, y, 5, v);
            break;
        case 6:
            conv_block(s, p, x, y, 6, v);
            break;
        case 7:
            conv_block(s, p, x, y, 7, v);
            break;
        case 8:
            conv_block(s, p, x, y, 8, v);
            break;
        default:
            break;
        }
        j += pixels;
        x += pixels * s->x_column;
        y += pixels * s->ldy;
    }
}

ALWAYS_INLINE void conv_lines(const struct nn_conv_forward_args *s, struct conv_strip p,
                              const size_t v)
{
    for (size_t i = 0; i < s->rows; i++) {
        conv_line(s, p, s->x + i * s->x_row, s->y + i * s->width * s->ldy, v);
    }
}

static void row_conv_forward(const struct nn_conv_forward_args *s)
{
    for (size_t o = 0; o < s->filters;) {
        size_t left = s->filters - o, v = strip_vectors(left);
        struct conv_strip p = {o, left < v * VF ? left - (v - 1) * VF : VF};
        switch (v) {
        case 1:
            conv_lines(s, p, 1);
            break;
        case 2:
            conv_lines(s, p, 2);
            break;
        default:
            conv_lines(s, p, 3);
            break;
        }
        o += v * VF;
    }
}

/* ---- d_w ---- */

/* Whole vectors of d_y reach over the filters into the pixels behind. Number of last pixels for
 * which they would reach over the end of d_y: excess lanes / numbers a pixel, rounded up. */
static size_t weight_tail(const struct nn_conv_weight_args *s)
{
    size_t whole = (s->filters + VF - 1) / VF * VF, pixels = s->rows * s->width;
    size_t tail = (whole - s->filters + s->ldd_y - 1) / s->ldd_y;
    return tail < pixels ? tail : pixels;
}

/* The pixels that the blocks leave out. */
static void weight_tail_pixels(const struct nn_conv_weight_args *s)
{
    size_t pixels = s->rows * s->width;
    for (size_t i = pixels - weight_tail(s); i < pixels; i++) {
        const float *x = s->x + i / s->width * s->x_row + i % s->width * s->x_column;
        const float *d_y = s->d_y + i * s->ldd_y;
        for (size_t t = 0; t < s->taps; t++) {
            float factor = x[s->offsets[t]], *d_w = s->d_w + t * s->ldw;
#pragma omp simd
            for (size_t o = 0; o < s->filters; o++) {
                d_w[o] += factor * d_y[o];
            }
        }
    }
}

/* Adds `pixels` pixels of a line, the window of the first at x + at, to the sums of `taps` taps. */
ALWAYS_INLINE void weight_pixels(const struct nn_conv_weight_args *s, const float *const *x,
                                 size_t at, const float *d_y, size_t pixels, vf *sum,
                                 const size_t taps, const size_t v)
{
    for (size_t j = 0; j < pixels; j++) {
        vf line[CONV_VECTORS];
        UNROLL
        for (size_t k = 0; k < v; k++) {
            line[k] = vf_load(d_y + k * VF);
        }
        UNROLL
        for (size_t t = 0; t < taps; t++) {
            vf factor = vf_all(x[t][at]);
            UNROLL
            for (size_t k = 0; k < v; k++) {
                sum[t * v + k] = vf_fma(factor, line[k], sum[t * v + k]);
            }
        }
        d_y += s->ldd_y;
        at += s->x_column;
    }
}

/* Taps [first, first + taps) of a strip over all lines; taps and v are constants. */
ALWAYS_INLINE void weight_block(const struct nn_conv_weight_args *s, struct conv_strip p,
                                size_t first, const size_t taps, const size_t v)
{
    vf sum[8 * CONV_VECTORS];
    const float *x[8], *d_y = s->d_y + p.o;
    UNROLL
    for (size_t t = 0; t < taps; t++) {
        x[t] = s->x + s->offsets[first + t];
    }
    UNROLL
    for (size_t k = 0; k < taps * v; k++) {
        sum[k] = vf_zero();
    }
    size_t left = s->rows * s->width - weight_tail(s);
    for (size_t at = 0; left > 0; at += s->x_row) {
        size_t pixels = left < s->width ? left : s->width;
        weight_pixels(s, x, at, d_y, pixels, sum, taps, v);
        d_y += pixels * s->ldd_y;
        left -= pixels;
    }
    UNROLL
    for (size_t t = 0; t < taps; t++) {
        float *d_w = s->d_w + (first + t) * s->ldw + p.o;
        UNROLL
        for (size_t k = 0; k < v; k++) {
            size_t lanes = k + 1 == v ? p.last : VF;
            vf old = vf_load_part(d_w + k * VF, lanes);
            vf_store_part(d_w + k * VF, vf_add(old, sum[t * v + k]), lanes);
        }
    }
}

/* At most CONV_TAPS(v) taps. */
ALWAYS_INLINE void weight_taps(const struct nn_conv_weight_args *s, struct conv_strip p,
                               size_t first, size_t taps, const size_t v)
{
    if (taps > CONV_TAPS(v)) {
        __builtin_unreachable();
    }
    switch (taps) {
    case 1:
        weight_block(s, p, first, 1, v);
        break;
    case 2:
        weight_block(s, p, first, 2, v);
        break;
    case 3:
        weight_block(s, p, first, 3, v);
        break;
    case 4:
        weight_block(s, p, first, 4, v);
        break;
    case 5:
        weight_block(s, p, first, 5, v);
        break;
    case 6:
        weight_block(s, p, first, 6, v);
        break;
    case 7:
        weight_block(s, p, first, 7, v);
        break;
    case 8:
        weight_block(s, p, first, 8, v);
        break;
    default:
        break;
    }
}

/* Taps in groups as even as they come: 25 taps are 4 4 4 4 3 3 3 and not 4 4 4 4 4 4 1. */
ALWAYS_INLINE void weight_strip(const struct nn_conv_weight_args *s, struct conv_strip p,
                                const size_t v)
{
    size_t groups = (s->taps + CONV_TAPS(v) - 1) / CONV_TAPS(v);
    for (size_t g = 0; g < groups; g++) {
        size_t first = g * s->taps / groups;
        weight_taps(s, p, first, (g + 1) * s->taps / groups - first, v);
    }
}

static void row_conv_weight(const struct nn_conv_weight_args *s)
{
    weight_tail_pixels(s);
    for (size_t o = 0; o < s->filters;) {
        size_t left = s->filters - o, v = strip_vectors(left);
        struct conv_strip p = {o, left < v * VF ? left - (v - 1) * VF : VF};
        switch (v) {
        case 1:
            weight_strip(s, p, 1);
            break;
        case 2:
            weight_strip(s, p, 2);
            break;
        default:
            weight_strip(s, p, 3);
            break;
        }
        o += v * VF;
    }
}
