/* SPDX-License-Identifier: MIT
 *
 * Pooling rows of the kernel table: all windows of one image, inner loops over channels. Included
 * once by each table_*.c.
 */

/* The part of a window that lies inside the image, and the place of its first pixel in it. */
struct window {
    size_t top, bottom, left, right; /* pixels of the image, half-open */
    size_t tap_row, tap_column;      /* of pixel (top, left) in the window */
    size_t padded_area;              /* pixels up to the padded edge */
};

static void window_span(size_t out, size_t stride, size_t kernel, size_t pad, size_t size,
                        size_t *begin, size_t *end, size_t *tap)
{
    size_t start = out * stride; /* shifted by pad */
    *tap = start < pad ? pad - start : 0;
    *begin = start < pad ? 0 : start - pad;
    *end = start + kernel < pad ? 0 : start + kernel - pad;
    *end = *end < size ? *end : size;
}

/* Windows that share out the image: as even as they can be, overlapping where they must. */
static struct window adaptive_window(const struct nn_window_args *s, size_t i, size_t j)
{
    return (struct window){
        .top = i * s->height / s->out_height,
        .bottom = ((i + 1) * s->height + s->out_height - 1) / s->out_height,
        .left = j * s->width / s->out_width,
        .right = ((j + 1) * s->width + s->out_width - 1) / s->out_width,
    };
}

static struct window window_at(const struct nn_window_args *s, size_t i, size_t j)
{
    struct window w;
    if (s->adaptive) {
        return adaptive_window(s, i, j);
    }
    window_span(i, s->stride_h, s->kernel_h, s->pad_top, s->height, &w.top, &w.bottom, &w.tap_row);
    window_span(j, s->stride_w, s->kernel_w, s->pad_left, s->width, &w.left, &w.right,
                &w.tap_column);
    size_t padded_h = s->pad_top + s->height + s->pad_bottom - i * s->stride_h;
    size_t padded_w = s->pad_left + s->width + s->pad_right - j * s->stride_w;
    padded_h = padded_h < s->kernel_h ? padded_h : s->kernel_h;
    padded_w = padded_w < s->kernel_w ? padded_w : s->kernel_w;
    w.padded_area = padded_h * padded_w;
    return w;
}

static void take_larger(nn_real *y, uint16_t *taps, const nn_real *x, size_t tap, size_t n)
{
    if (!taps) {
#pragma omp simd
        for (size_t c = 0; c < n; c++) {
            y[c] = x[c] > y[c] || x[c] != x[c] ? x[c] : y[c];
        }
        return;
    }
    for (size_t c = 0; c < n; c++) {
        bool larger = x[c] > y[c] || x[c] != x[c];
        y[c] = larger ? x[c] : y[c];
        taps[c] = larger ? (uint16_t)tap : taps[c];
    }
}

static void max_window(const struct nn_window_args *s, struct window w, nn_real *y, uint16_t *taps)
{
    size_t n = s->channels, first = w.tap_row * s->kernel_w + w.tap_column;
    memcpy(y, s->x + (w.top * s->width + w.left) * s->ldx, n * sizeof *y);
    for (size_t c = 0; taps && c < n; c++) {
        taps[c] = (uint16_t)first;
    }
    for (size_t h = w.top; h < w.bottom; h++) {
        for (size_t v = w.left; v < w.right; v++) {
            size_t tap = first + (h - w.top) * s->kernel_w + (v - w.left);
            take_larger(y, taps, s->x + (h * s->width + v) * s->ldx, tap, n);
        }
    }
}

static void row_max_pool(const struct nn_window_args *s)
{
    for (size_t i = 0; i < s->out_height; i++) {
        for (size_t j = 0; j < s->out_width; j++) {
            size_t pixel = i * s->out_width + j;
            max_window(s, window_at(s, i, j), s->y + pixel * s->ldy,
                       s->out_taps ? s->out_taps + pixel * s->channels : NULL);
        }
    }
}

static void row_max_pool_gradient(const struct nn_window_args *s)
{
    for (size_t i = 0; i < s->out_height; i++) {
        for (size_t j = 0; j < s->out_width; j++) {
            size_t pixel = i * s->out_width + j;
            const nn_real *d_y = s->x + pixel * s->ldx;
            const uint16_t *taps = s->taps + pixel * s->channels;
            for (size_t c = 0; c < s->channels; c++) {
                size_t h = i * s->stride_h + taps[c] / s->kernel_w - s->pad_top;
                size_t v = j * s->stride_w + taps[c] % s->kernel_w - s->pad_left;
                s->y[(h * s->width + v) * s->ldy + c] += d_y[c];
            }
        }
    }
}

static nn_real average_factor(const struct nn_window_args *s, struct window w)
{
    size_t inside = (w.bottom - w.top) * (w.right - w.left);
    return (nn_real)1 / (nn_real)(s->count_padding ? w.padded_area : inside);
}

static void add_window(const struct nn_window_args *s, struct window w, nn_real *y)
{
    for (size_t h = w.top; h < w.bottom; h++) {
        for (size_t v = w.left; v < w.right; v++) {
            const nn_real *x = s->x + (h * s->width + v) * s->ldx;
#pragma omp simd
            for (size_t c = 0; c < s->channels; c++) {
                y[c] += x[c];
            }
        }
    }
}

static void row_average_pool(const struct nn_window_args *s)
{
    for (size_t p = 0; p < s->out_height * s->out_width; p++) {
        struct window w = window_at(s, p / s->out_width, p % s->out_width);
        nn_real *y = s->y + p * s->ldy, factor = average_factor(s, w);
        memset(y, 0, s->channels * sizeof *y);
        add_window(s, w, y);
#pragma omp simd
        for (size_t c = 0; c < s->channels; c++) {
            y[c] *= factor;
        }
    }
}

static void spread_window(const struct nn_window_args *s, struct window w, const nn_real *d_y)
{
    nn_real factor = average_factor(s, w);
    for (size_t h = w.top; h < w.bottom; h++) {
        for (size_t v = w.left; v < w.right; v++) {
            nn_real *d_x = s->y + (h * s->width + v) * s->ldy;
#pragma omp simd
            for (size_t c = 0; c < s->channels; c++) {
                d_x[c] += d_y[c] * factor;
            }
        }
    }
}

static void row_average_pool_gradient(const struct nn_window_args *s)
{
    for (size_t p = 0; p < s->out_height * s->out_width; p++) {
        spread_window(s, window_at(s, p / s->out_width, p % s->out_width), s->x + p * s->ldx);
    }
}
