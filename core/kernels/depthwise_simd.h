/* SPDX-License-Identifier: MIT
 *
 * Depthwise convolution: rows depthwise_forward and depthwise_weight of the vector tables. Channels
 * are taken in strips of two vectors; forward shares each weight among a block of pixels, the
 * weight gradient shares each d_y among a block of taps.
 */

#define DEPTHWISE_VECTORS ((size_t)2)
#define DEPTHWISE_PIXELS  (VF_REGS == 32 ? 8 : 4)
#define DEPTHWISE_TAPS    (VF_REGS == 32 ? 9 : 5)

/* Channels [c, c + (v - 1) vectors + last): v vectors, the last one holding `last` of them. */
struct depthwise_strip {
    size_t c, last;
};

ALWAYS_INLINE vf depthwise_load(const float *p, size_t lanes, const bool whole)
{
    return whole ? vf_load(p) : vf_load_part(p, lanes);
}

/* `pixels` output pixels whose first window begins at x; pixels, v and whole are constants. whole:
 * last is VF. */
ALWAYS_INLINE void depthwise_block(const struct nn_depthwise_args *s, struct depthwise_strip p,
                                   const float *x, float *y, const size_t pixels, const size_t v,
                                   const bool whole)
{
    vf sum[8 * DEPTHWISE_VECTORS];
    const float *w = s->w + p.c;
    UNROLL
    for (size_t k = 0; k < v; k++) {
        vf start = vf_zero();
        if (s->bias) {
            start = depthwise_load(s->bias + p.c + k * VF, p.last, whole || k + 1 < v);
        }
        UNROLL
        for (size_t i = 0; i < pixels; i++) {
            sum[i * v + k] = start;
        }
    }
    for (size_t u = 0; u < s->kernel_h; u++) {
        for (size_t t = 0; t < s->kernel_w; t++, w += s->ldw) {
            const float *at = x + u * s->x_line + t * s->ldx;
            UNROLL
            for (size_t k = 0; k < v; k++) {
                const bool full = whole || k + 1 < v;
                vf factor = depthwise_load(w + k * VF, p.last, full);
                UNROLL
                for (size_t i = 0; i < pixels; i++) {
                    vf pixel = depthwise_load(at + i * s->x_column + k * VF, p.last, full);
                    sum[i * v + k] = vf_fma(pixel, factor, sum[i * v + k]);
                }
            }
        }
    }
    UNROLL
    for (size_t i = 0; i < pixels; i++) {
        UNROLL
        for (size_t k = 0; k < v; k++) {
            const bool full = whole || k + 1 < v;
            float *to = y + i * s->ldy + k * VF;
            vf value = sum[i * v + k];
            if (s->accumulate) {
                value = vf_add(value, depthwise_load(to, p.last, full));
            }
            value = s->relu ? vf_relu(value) : value;
            if (full) {
                vf_store(to, value);
            } else {
                vf_store_part(to, value, p.last);
            }
        }
    }
}

/* One line of output pixels. */
ALWAYS_INLINE void depthwise_line(const struct nn_depthwise_args *s, struct depthwise_strip p,
                                  const float *x, float *y, const size_t v, const bool whole)
{
    size_t j = 0;
    for (; j + DEPTHWISE_PIXELS <= s->width; j += DEPTHWISE_PIXELS) {
        depthwise_block(s, p, x + j * s->x_column, y + j * s->ldy, DEPTHWISE_PIXELS, v, whole);
    }
    for (; j + 2 <= s->width; j += 2) {
        depthwise_block(s, p, x + j * s->x_column, y + j * s->ldy, 2, v, whole);
    }
    if (j < s->width) {
        depthwise_block(s, p, x + j * s->x_column, y + j * s->ldy, 1, v, whole);
    }
}

static void row_depthwise_forward(const struct nn_depthwise_args *s)
{
    for (size_t i = 0; i < s->rows; i++) {
        const float *x = s->x + i * s->x_row;
        float *y = s->y + i * s->width * s->ldy;
        size_t c = 0;
        for (; c + DEPTHWISE_VECTORS * VF <= s->channels; c += DEPTHWISE_VECTORS * VF) {
            depthwise_line(s, (struct depthwise_strip){c, VF}, x + c, y + c, DEPTHWISE_VECTORS,
                           true);
        }
        for (; c < s->channels; c += VF) {
            size_t left = s->channels - c;
            struct depthwise_strip p = {c, left < VF ? left : VF};
            if (left >= VF) {
                depthwise_line(s, p, x + c, y + c, 1, true);
            } else {
                depthwise_line(s, p, x + c, y + c, 1, false);
            }
        }
    }
}

/* ---- d_w ---- */

/* Taps [first, first + taps) of a strip over all pixels; taps, v and whole are constants. */
ALWAYS_INLINE void depthwise_taps(const struct nn_depthwise_args *s, struct depthwise_strip p,
                                  size_t first, const size_t taps, const size_t v, const bool whole)
{
    vf sum[9 * DEPTHWISE_VECTORS];
    size_t offset[9];
    const float *d_y = s->d_y + p.c;
    UNROLL
    for (size_t t = 0; t < taps; t++) {
        size_t tap = first + t;
        offset[t] = tap / s->kernel_w * s->x_line + tap % s->kernel_w * s->ldx + p.c;
    }
    UNROLL
    for (size_t k = 0; k < taps * v; k++) {
        sum[k] = vf_zero();
    }
    for (size_t i = 0; i < s->rows; i++) {
        const float *x = s->x + i * s->x_row;
        for (size_t j = 0; j < s->width; j++, x += s->x_column, d_y += s->ldd_y) {
            UNROLL
            for (size_t k = 0; k < v; k++) {
                vf pixel = depthwise_load(d_y + k * VF, p.last, whole);
                UNROLL
                for (size_t t = 0; t < taps; t++) {
                    vf other = depthwise_load(x + offset[t] + k * VF, p.last, whole);
                    sum[t * v + k] = vf_fma(other, pixel, sum[t * v + k]);
                }
            }
        }
    }
    UNROLL
    for (size_t t = 0; t < taps; t++) {
        UNROLL
        for (size_t k = 0; k < v; k++) {
            float *d_w = s->d_w + (first + t) * s->ldw + p.c + k * VF;
            vf old = vf_load_part(d_w, p.last);
            vf_store_part(d_w, vf_add(old, sum[t * v + k]), p.last);
        }
    }
}

/* All taps of a strip, in groups as even as they come. */
ALWAYS_INLINE void depthwise_strip_taps(const struct nn_depthwise_args *s, struct depthwise_strip p,
                                        const size_t v, const bool whole)
{
    size_t area = s->kernel_h * s->kernel_w;
    size_t groups = (area + DEPTHWISE_TAPS - 1) / DEPTHWISE_TAPS;
    for (size_t g = 0; g < groups; g++) {
        size_t first = g * area / groups, taps = (g + 1) * area / groups - first;
        switch (taps) {
        case 1:
            depthwise_taps(s, p, first, 1, v, whole);
            break;
        case 2:
            depthwise_taps(s, p, first, 2, v, whole);
            break;
        case 3:
            depthwise_taps(s, p, first, 3, v, whole);
            break;
        case 4:
            depthwise_taps(s, p, first, 4, v, whole);
            break;
        case 5:
            depthwise_taps(s, p, first, 5, v, whole);
            break;
#if VF_REGS == 32
        case 6:
            depthwise_taps(s, p, first, 6, v, whole);
            break;
        case 7:
            depthwise_taps(s, p, first, 7, v, whole);
            break;
        case 8:
            depthwise_taps(s, p, first, 8, v, whole);
            break;
        case 9:
            depthwise_taps(s, p, first, 9, v, whole);
            break;
#endif
        default:
            break;
        }
    }
}

static void row_depthwise_weight(const struct nn_depthwise_args *s)
{
    size_t c = 0;
    for (; c + DEPTHWISE_VECTORS * VF <= s->channels; c += DEPTHWISE_VECTORS * VF) {
        depthwise_strip_taps(s, (struct depthwise_strip){c, VF}, DEPTHWISE_VECTORS, true);
    }
    for (; c < s->channels; c += VF) {
        size_t left = s->channels - c;
        struct depthwise_strip p = {c, left < VF ? left : VF};
        if (left >= VF) {
            depthwise_strip_taps(s, p, 1, true);
        } else {
            depthwise_strip_taps(s, p, 1, false);
        }
    }
}
