/* SPDX-License-Identifier: MIT
 *
 * Cases of framing.h.
 */
#include "tests/numeric/cases/cases.h"
#include "tests/ref/ref.h"

/* batch, height, width, channels; pixels added above, below, left and right; mode */
static const long SHAPES[][9] = {
    {2, 4, 5, 3, 1, 2, 2, 1, NN_FRAMING_CONSTANT},
    {2, 4, 5, 3, 1, 2, 2, 1, NN_FRAMING_REFLECT},
    {2, 4, 5, 3, 1, 2, 2, 1, NN_FRAMING_REPLICATE},
    {1, 3, 4, 17, 2, 2, 3, 3, NN_FRAMING_REFLECT}, /* as far as it goes */
    {3, 1, 1, 5, 0, 0, 0, 0, NN_FRAMING_REFLECT},
    {2, 1, 2, 33, 4, 1, 0, 5, NN_FRAMING_REPLICATE},
    {2, 3, 2, 1, 0, 3, 4, 0, NN_FRAMING_CONSTANT},
    {2, 6, 7, 4, -1, -2, -3, 0, NN_FRAMING_CONSTANT}, /* cut */
    {1, 5, 5, 2, -4, 0, 0, -4, NN_FRAMING_CONSTANT},
    {2, 5, 4, 3, -2, 1, 2, -1, NN_FRAMING_CONSTANT}, /* cut and added */
    {0, 4, 4, 2, 1, 1, 1, 1, NN_FRAMING_REFLECT},
};
#define SHAPE_COUNT (sizeof SHAPES / sizeof *SHAPES)

static struct nn_framing shape_at(size_t i)
{
    const long *s = SHAPES[i];
    return (struct nn_framing){.batch = (size_t)s[0],
                               .height = (size_t)s[1],
                               .width = (size_t)s[2],
                               .channels = (size_t)s[3],
                               .out_height = (size_t)(s[1] + s[4] + s[5]),
                               .out_width = (size_t)(s[2] + s[6] + s[7]),
                               .top = s[4],
                               .left = s[6],
                               .mode = (enum nn_framing_mode)s[8],
                               .value = (nn_real)0.75};
}

static void forward(struct numeric *t)
{
    for (size_t i = 0; i < SHAPE_COUNT; i++) {
        struct nn_framing f = shape_at(i);
        struct field x = numeric_field(t, f.batch * f.height * f.width, f.channels, i % 3);
        struct field y = numeric_field(t, f.batch * f.out_height * f.out_width, f.channels, i % 2);
        double *expected = numeric_doubles(t, y);
        ref_framing(expected, &f, x.data, x.ld);
        nn_framing_forward(&t->exec, &f, y.data, y.ld, x.data, x.ld);
        numeric_compare(t, y, expected, 0, "framing shape %zu", i);
    }
}

static void gradient(struct numeric *t)
{
    for (size_t i = 0; i < 2 * SHAPE_COUNT; i++) {
        struct nn_framing f = shape_at(i / 2);
        size_t rows = f.batch * f.height * f.width;
        struct field d_x = numeric_field(t, rows, f.channels, i % 3);
        struct field d_y = numeric_field(t, f.batch * f.out_height * f.out_width, f.channels, 1);
        double *expected = numeric_doubles(t, d_x);
        for (size_t e = 0; i % 2 == 0 && e < rows * f.channels; e++) {
            expected[e] = 0;
        }
        ref_framing_gradient(expected, &f, d_y.data, d_y.ld);
        nn_framing_gradient(&t->exec, &f, d_x.data, d_x.ld, i % 2 == 1, d_y.data, d_y.ld);
        numeric_compare(t, d_x, expected, 0, "framing gradient shape %zu add %zu", i / 2, i % 2);
    }
}

const struct numeric_case framing_cases[] = {
    {"framing", "copy fill", forward},
    {"framing_gradient", "copy", gradient},
    {NULL, NULL, NULL},
};
