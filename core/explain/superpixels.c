/* SPDX-License-Identifier: MIT
 *
 * Superpixels: SLIC (Achanta, Shaji, Smith, Lucchi, Fua and Suesstrunk, 2012), k-means over colour
 * and place, where a centre looks no farther than the seeds stood apart. Of each cluster the
 * largest connected piece stays; what is cut off from it goes to a neighbour.
 */
#include <math.h>
#include <string.h>

#include "core/explain/hiding_internal.h"

enum { ROUNDS = 10, FIELDS = 5, UNASSIGNED = -1 };
#define CUT_OFF     UINT32_MAX
#define COMPACTNESS 10.0 /* a colour distance that weighs as much as the distance of the seeds */

/* A picture that is being cut. */
struct cut {
    size_t height, width, seeds;
    double step;       /* between seeds */
    double *colours;   /* pixels x 3: CIELAB */
    double *distances; /* pixels: to the nearest centre so far */
    double *centres;   /* seeds x FIELDS: colour, y, x */
    double *sums;      /* seeds x (FIELDS + 1): the same, and how many */
    uint32_t *label;   /* pixels */
};

size_t nn_superpixels_numbers(size_t pixels, size_t seeds)
{
    return pixels * 4 + seeds * (2 * FIELDS + 1);
}

/* ---- colours ---- */

static double linear_of(uint8_t level)
{
    double x = level / 255.0;
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

static double curve(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* sRGB to CIELAB under D65. */
static void to_lab(const uint8_t *pixel, size_t channels, double out[3])
{
    double r = linear_of(pixel[0]);
    double g = channels == 3 ? linear_of(pixel[1]) : r;
    double b = channels == 3 ? linear_of(pixel[2]) : r;
    double x = curve((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
    double y = curve(0.2126729 * r + 0.7151522 * g + 0.0721750 * b);
    double z = curve((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883);
    out[0] = 116 * y - 16;
    out[1] = 500 * (x - y);
    out[2] = 200 * (y - z);
}

/* ---- clusters ---- */

static void plant(struct cut *cut, size_t rows, size_t columns)
{
    for (size_t k = 0; k < cut->seeds; k++) {
        double *centre = cut->centres + k * FIELDS;
        size_t row = k / columns, column = k % columns;
        double y = ((double)row + 0.5) * (double)cut->height / (double)rows - 0.5;
        double x = ((double)column + 0.5) * (double)cut->width / (double)columns - 0.5;
        size_t pixel = (size_t)(y + 0.5) * cut->width + (size_t)(x + 0.5);
        memcpy(centre, cut->colours + 3 * pixel, 3 * sizeof *centre);
        centre[3] = y;
        centre[4] = x;
    }
}

/* The whole numbers within `reach` of a place, of those below `side`. */
struct span {
    size_t first, end;
};

static struct span span_of(double place, double reach, size_t side)
{
    double first = ceil(place - reach), end = floor(place + reach) + 1;
    return (struct span){first > 0 ? (size_t)first : 0, end < (double)side ? (size_t)end : side};
}

static double distance_of(const struct cut *cut, const double *centre, size_t y, size_t x)
{
    const double *colour = cut->colours + 3 * (y * cut->width + x);
    double scale = COMPACTNESS / cut->step, sum = 0;
    double down = ((double)y - centre[3]) * scale, right = ((double)x - centre[4]) * scale;
    for (size_t c = 0; c < 3; c++) {
        sum += (colour[c] - centre[c]) * (colour[c] - centre[c]);
    }
    return sum + down * down + right * right;
}

/* Takes the pixels of a row that are nearer to this centre than to those before. */
static void take_row(struct cut *cut, size_t k, size_t y, struct span columns)
{
    const double *centre = cut->centres + k * FIELDS;
    for (size_t x = columns.first; x < columns.end; x++) {
        double distance = distance_of(cut, centre, y, x);
        if (distance < cut->distances[y * cut->width + x]) {
            cut->distances[y * cut->width + x] = distance;
            cut->label[y * cut->width + x] = (uint32_t)k;
        }
    }
}

static void assign(struct cut *cut)
{
    for (size_t i = 0; i < cut->height * cut->width; i++) {
        cut->distances[i] = INFINITY;
    }
    for (size_t k = 0; k < cut->seeds; k++) {
        const double *centre = cut->centres + k * FIELDS;
        struct span rows = span_of(centre[3], cut->step, cut->height);
        struct span columns = span_of(centre[4], cut->step, cut->width);
        for (size_t y = rows.first; y < rows.end; y++) {
            take_row(cut, k, y, columns);
        }
    }
}

static void move(struct cut *cut)
{
    memset(cut->sums, 0, cut->seeds * (FIELDS + 1) * sizeof *cut->sums);
    for (size_t i = 0; i < cut->height * cut->width; i++) {
        double *sum = cut->sums + cut->label[i] * (FIELDS + 1);
        for (size_t c = 0; c < 3; c++) {
            sum[c] += cut->colours[3 * i + c];
        }
        size_t row = i / cut->width, column = i % cut->width;
        sum[3] += (double)row;
        sum[4] += (double)column;
        sum[5]++;
    }
    for (size_t k = 0; k < cut->seeds; k++) {
        const double *sum = cut->sums + k * (FIELDS + 1);
        for (size_t f = 0; f < FIELDS && sum[FIELDS] > 0; f++) {
            cut->centres[k * FIELDS + f] = sum[f] / sum[FIELDS];
        }
    }
}

/* ---- connected pieces ---- */

/* Gives the piece around `start` a number of its own in `piece`; returns its size. */
static size_t fill_piece(const struct cut *cut, size_t start, int32_t number, int32_t *piece,
                         uint32_t *queue)
{
    size_t n = 1;
    queue[0] = (uint32_t)start;
    piece[start] = number;
    for (size_t at = 0; at < n; at++) {
        size_t i = queue[at], x = i % cut->width;
        const size_t near[4] = {x > 0 ? i - 1 : i, x + 1 < cut->width ? i + 1 : i,
                                i >= cut->width ? i - cut->width : i,
                                i + cut->width < cut->height * cut->width ? i + cut->width : i};
        for (size_t k = 0; k < 4; k++) {
            if (piece[near[k]] == UNASSIGNED && cut->label[near[k]] == cut->label[i]) {
                piece[near[k]] = number;
                queue[n++] = (uint32_t)near[k];
            }
        }
    }
    return n;
}

/* Of each cluster the largest piece, the first of equals, keeps its label; all else is cut off.
 * The sums are free by now: how large the largest piece is, and its number. */
static void keep_largest(struct cut *cut, int32_t *piece, uint32_t *queue)
{
    size_t pixels = cut->height * cut->width;
    int32_t number = 0;
    memset(cut->sums, 0, 2 * cut->seeds * sizeof *cut->sums);
    for (size_t i = 0; i < pixels; i++) {
        piece[i] = UNASSIGNED;
    }
    for (size_t i = 0; i < pixels; i++) {
        if (piece[i] == UNASSIGNED) {
            double *largest = cut->sums + 2 * (size_t)cut->label[i];
            double size = (double)fill_piece(cut, i, number, piece, queue);
            largest[1] = size > largest[0] ? number : largest[1];
            largest[0] = size > largest[0] ? size : largest[0];
            number++;
        }
    }
    for (size_t i = 0; i < pixels; i++) {
        double kept = cut->sums[2 * (size_t)cut->label[i] + 1];
        cut->label[i] = piece[i] == (int32_t)kept ? cut->label[i] : CUT_OFF;
    }
}

static uint32_t label_beside(const struct cut *cut, size_t i)
{
    size_t x = i % cut->width;
    const size_t near[4] = {x > 0 ? i - 1 : i, i >= cut->width ? i - cut->width : i,
                            x + 1 < cut->width ? i + 1 : i,
                            i + cut->width < cut->height * cut->width ? i + cut->width : i};
    for (size_t k = 0; k < 4; k++) {
        if (cut->label[near[k]] != CUT_OFF) {
            return cut->label[near[k]];
        }
    }
    return CUT_OFF;
}

static void give_to_neighbours(struct cut *cut)
{
    size_t left = 1;
    while (left > 0) {
        left = 0;
        for (size_t i = 0; i < cut->height * cut->width; i++) {
            cut->label[i] = cut->label[i] == CUT_OFF ? label_beside(cut, i) : cut->label[i];
            left += cut->label[i] == CUT_OFF ? 1 : 0;
        }
    }
}

/* Clusters may have lost all pixels; those that have some are numbered in the order of pixels. */
static size_t renumber(struct cut *cut, uint32_t *number)
{
    uint32_t n = 0;
    for (size_t k = 0; k < cut->seeds; k++) {
        number[k] = CUT_OFF;
    }
    for (size_t i = 0; i < cut->height * cut->width; i++) {
        uint32_t *own = &number[cut->label[i]];
        n += *own == CUT_OFF ? 1 : 0;
        *own = *own == CUT_OFF ? n - 1 : *own;
        cut->label[i] = *own;
    }
    return n;
}

size_t nn_segments_superpixels(const uint8_t *pixels, size_t height, size_t width, size_t channels,
                               size_t wanted, const struct nn_superpixels_room *room, uint32_t *out)
{
    size_t n = height * width;
    struct nn_grid grid = nn_segments_shape(height, width, wanted);
    size_t seeds = grid.rows * grid.columns;
    struct cut cut = {.height = height,
                      .width = width,
                      .seeds = seeds,
                      .step = sqrt((double)n / (double)seeds),
                      .colours = room->numbers,
                      .distances = room->numbers + 3 * n,
                      .centres = room->numbers + 4 * n,
                      .sums = room->numbers + 4 * n + seeds * FIELDS,
                      .label = out};
    for (size_t i = 0; i < n; i++) {
        to_lab(pixels + i * channels, channels, cut.colours + 3 * i);
    }
    (void)nn_segments_grid(height, width, wanted, out); /* for pixels that no centre reaches */
    plant(&cut, grid.rows, grid.columns);
    for (int round = 0; round < ROUNDS; round++) {
        assign(&cut);
        move(&cut);
    }
    keep_largest(&cut, room->pieces, room->queue);
    give_to_neighbours(&cut);
    return renumber(&cut, room->queue);
}
