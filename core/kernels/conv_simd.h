/* SPDX-License-Identifier: MIT
 *
 * Direct convolution for few taps: rows conv_forward and conv_weight of the vector tables. The
 * image is read where it stands; padded weights stay in the first cache.
 */

#define CONV_VECTORS   3
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

#define CONV_CASE(n)                                                                               \
    case n:                                                                                        \
        if (n < CONV_PIXELS(v)) {                                                                  \
            conv_block(s, p, x, y, n, v);                                                          \
        }                                                                                          \
        break;

ALWAYS_INLINE void conv_rest(const struct nn_conv_forward_args *s, struct conv_strip p,
                             const float *x, float *y, size_t pixels, const size_t v)
{
    switch (pixels) {
        CONV_CASE(1)
        CONV_CASE(2)
        CONV_CASE(3)
        CONV_CASE(4)
        CONV_CASE(5)
        CONV_CASE(6)
        CONV_CASE(7)
    default:
        break;
    }
}

ALWAYS_INLINE void conv_lines(const struct nn_conv_forward_args *s, struct conv_strip p,
                              const size_t v)
{
    const size_t most = CONV_PIXELS(v);
    for (size_t i = 0; i < s->rows; i++) {
        const float *x = s->x + i * s->x_row;
        float *y = s->y + i * s->width * s->ldy;
        size_t j = 0;
        for (; j + most <= s->width; j += most) {
            conv_block(s, p, x + j * s->x_column, y + j * s->ldy, most, v);
        }
        conv_rest(s, p, x + j * s->x_column, y + j * s->ldy, s->width - j, v);
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

/* Adds pixels [j, end) of line i to the sums of `taps` taps; partial: the last vector of d_y is
 * read lane by lane, for the last pixel of all. */
ALWAYS_INLINE void weight_pixels(const struct nn_conv_weight_args *s, struct conv_strip p,
                                 const float *const *x, size_t i, size_t j, size_t end, vf *sum,
                                 const size_t taps, const size_t v, const bool partial)
{
    const float *d_y = s->d_y + (i * s->width + j) * s->ldd_y + p.o;
    size_t at = i * s->x_row + j * s->x_column;
    for (; j < end; j++) {
        vf line[CONV_VECTORS];
        UNROLL
        for (size_t k = 0; k < v; k++) {
            line[k] =
                partial && k + 1 == v ? vf_load_part(d_y + k * VF, p.last) : vf_load(d_y + k * VF);
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
    const float *x[8];
    UNROLL
    for (size_t t = 0; t < taps; t++) {
        x[t] = s->x + s->offsets[first + t];
    }
    UNROLL
    for (size_t k = 0; k < taps * v; k++) {
        sum[k] = vf_zero();
    }
    for (size_t i = 0; i + 1 < s->rows; i++) {
        weight_pixels(s, p, x, i, 0, s->width, sum, taps, v, false);
    }
    weight_pixels(s, p, x, s->rows - 1, 0, s->width - 1, sum, taps, v, false);
    weight_pixels(s, p, x, s->rows - 1, s->width - 1, s->width, sum, taps, v, true);
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

#define WEIGHT_CASE(n)                                                                             \
    case n:                                                                                        \
        if (n <= CONV_TAPS(v)) {                                                                   \
            weight_block(s, p, first, n, v);                                                       \
        }                                                                                          \
        break;

ALWAYS_INLINE void weight_taps(const struct nn_conv_weight_args *s, struct conv_strip p,
                               size_t first, size_t taps, const size_t v)
{
    switch (taps) {
        WEIGHT_CASE(1)
        WEIGHT_CASE(2)
        WEIGHT_CASE(3)
        WEIGHT_CASE(4)
        WEIGHT_CASE(5)
        WEIGHT_CASE(6)
        WEIGHT_CASE(7)
        WEIGHT_CASE(8)
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
    for (size_t o = 0; o < s->filters && s->rows > 0;) {
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
