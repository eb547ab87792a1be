/* SPDX-License-Identifier: MIT
 *
 * Cases of activation.h. The references are its table in double.
 */
#include "tests/numeric/cases/cases.h"

#include <math.h>

static const size_t SHAPES[][2] = {{1, 1}, {3, 20}, {7, 17}, {2, 16385}, {65, 64}, {0, 3}, {9, 5}};

enum { N_SHAPES = sizeof SHAPES / sizeof *SHAPES };

static const double SLOPE = 0.375;

/* In double: f(x), and df / dx at x. */
static double value_at(enum nn_activation_function which, double x)
{
    switch (which) {
    case NN_ACTIVATION_ABSOLUTE:
        return fabs(x);
    case NN_ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-x));
    case NN_ACTIVATION_TANH:
        return tanh(x);
    case NN_ACTIVATION_LEAKY_RELU:
        return x > 0 ? x : SLOPE * x;
    case NN_ACTIVATION_ELU:
        return x > 0 ? x : SLOPE * expm1(x);
    case NN_ACTIVATION_GELU:
        return x * 0.5 * erfc(-x / sqrt(2));
    case NN_ACTIVATION_SILU:
        return x / (1 + exp(-x));
    case NN_ACTIVATION_HARD_SWISH:
        return x * fmin(fmax(x + 3, 0), 6) / 6;
    }
    return NAN;
}

static double slope_at(enum nn_activation_function which, double x)
{
    double s = 1 / (1 + exp(-x));
    switch (which) {
    case NN_ACTIVATION_ABSOLUTE:
        return (x > 0) - (x < 0);
    case NN_ACTIVATION_SIGMOID:
        return s * (1 - s);
    case NN_ACTIVATION_TANH:
        return 1 - tanh(x) * tanh(x);
    case NN_ACTIVATION_LEAKY_RELU:
        return x > 0 ? 1 : SLOPE;
    case NN_ACTIVATION_ELU:
        return x > 0 ? 1 : SLOPE * exp(x);
    case NN_ACTIVATION_GELU:
        return 0.5 * erfc(-x / sqrt(2)) + x * exp(-x * x / 2) / sqrt(2 * acos(-1));
    case NN_ACTIVATION_SILU:
        return s * (1 + x * (1 - s));
    case NN_ACTIVATION_HARD_SWISH:
        return x < -3 ? 0 : x > 3 ? 1 : (2 * x + 3) / 6;
    }
    return NAN;
}

static bool told_by_output(enum nn_activation_function which)
{
    return which != NN_ACTIVATION_ABSOLUTE && which != NN_ACTIVATION_GELU &&
           which != NN_ACTIVATION_SILU && which != NN_ACTIVATION_HARD_SWISH;
}

/* Numbers up to 5, some 0, some far out. */
static struct field inputs(struct numeric *t, size_t rows, size_t columns, size_t gap)
{
    struct field x = numeric_field(t, rows, columns, gap);
    for (size_t e = 0; e < rows * columns; e++) {
        nn_real *at = &x.data[e / columns * x.ld + e % columns];
        *at = e % 41 == 7 ? 0 : *at * (e % 23 == 5 ? 60 : 5);
    }
    numeric_sealed(t, x);
    return x;
}

static double at(struct field f, size_t e)
{
    return (double)f.data[e / f.columns * f.ld + e % f.columns];
}

static void forward(struct numeric *t, enum nn_activation_function which)
{
    for (size_t i = 0; i < N_SHAPES; i++) {
        size_t rows = SHAPES[i][0], columns = SHAPES[i][1];
        struct field x = inputs(t, rows, columns, i % 3), y = numeric_field(t, rows, columns, 1);
        double *expected = numeric_doubles(t, y);
        for (size_t e = 0; e < rows * columns; e++) {
            expected[e] = value_at(which, at(x, e));
        }
        struct nn_activation_forward args = {y.data, x.data,  y.ld,          x.ld,
                                             rows,   columns, (nn_real)SLOPE};
        nn_activation_forward(&t->exec, which, &args);
        numeric_compare(t, y, expected, 0, "activation %d rows=%zu columns=%zu", (int)which, rows,
                        columns);
        args.y = x.data;
        args.ldy = x.ld;
        nn_activation_forward(&t->exec, which, &args);
        numeric_compare(t, x, expected, 0, "activation %d in place rows=%zu", (int)which, rows);
    }
}

static void gradient(struct numeric *t, enum nn_activation_function which)
{
    for (size_t i = 0; i < 2 * N_SHAPES; i++) {
        size_t rows = SHAPES[i / 2][0], columns = SHAPES[i / 2][1];
        struct field x = inputs(t, rows, columns, i % 3), y = numeric_field(t, rows, columns, 2);
        struct field d_y = numeric_field(t, rows, columns, i % 2);
        struct field d_x = numeric_field(t, rows, columns, 1);
        double *expected = numeric_doubles(t, d_x);
        for (size_t e = 0; e < rows * columns; e++) {
            y.data[e / columns * y.ld + e % columns] = (nn_real)value_at(which, at(x, e));
            double d = at(d_y, e) * slope_at(which, at(x, e));
            expected[e] = d + (i % 2 == 1 ? expected[e] : 0);
        }
        numeric_sealed(t, y);
        struct field told = told_by_output(which) ? y : x;
        struct nn_activation_gradient args = {d_x.data,       d_y.data,  told.data, d_x.ld,
                                              d_y.ld,         told.ld,   rows,      columns,
                                              (nn_real)SLOPE, i % 2 == 1};
        nn_activation_gradient(&t->exec, which, &args);
        numeric_compare(t, d_x, expected, 0, "activation %d gradient rows=%zu columns=%zu",
                        (int)which, rows, columns);
    }
}

/* A NaN stays in its place and spreads nowhere. */
static void not_a_number(struct numeric *t, enum nn_activation_function which)
{
    struct field x = numeric_field(t, 1, 40, 0), y = numeric_field(t, 1, 40, 0);
    x.data[3] = x.data[33] = (nn_real)NAN;
    numeric_sealed(t, x);
    struct nn_activation_forward args = {y.data, x.data, y.ld, x.ld, 1, 40, (nn_real)SLOPE};
    nn_activation_forward(&t->exec, which, &args);
    numeric_sealed(t, y);
    for (size_t e = 0; e < 40; e++) {
        t->mistakes += (isnan(y.data[e]) != 0) != (e == 3 || e == 33);
    }
}

/* clang-format off */
#define CASE(name, which)                                                                          \
    static void name(struct numeric *t)                                                            \
    {                                                                                              \
        forward(t, which);                                                                         \
        gradient(t, which);                                                                        \
        not_a_number(t, which);                                                                    \
    }
/* clang-format on */

CASE(absolute, NN_ACTIVATION_ABSOLUTE)
CASE(sigmoid, NN_ACTIVATION_SIGMOID)
CASE(hyperbolic, NN_ACTIVATION_TANH)
CASE(leaky_relu, NN_ACTIVATION_LEAKY_RELU)
CASE(elu, NN_ACTIVATION_ELU)
CASE(gelu, NN_ACTIVATION_GELU)
CASE(silu, NN_ACTIVATION_SILU)
CASE(hard_swish, NN_ACTIVATION_HARD_SWISH)

const struct numeric_case activation_cases[] = {
    {"absolute", "absolute absolute_gradient", absolute},
    {"sigmoid", "sigmoid sigmoid_gradient", sigmoid},
    {"tanh", "tanh tanh_gradient", hyperbolic},
    {"leaky_relu", "leaky_relu leaky_relu_gradient", leaky_relu},
    {"elu", "elu elu_gradient", elu},
    {"gelu", "gelu gelu_gradient", gelu},
    {"silu", "silu silu_gradient", silu},
    {"hard_swish", "hard_swish hard_swish_gradient", hard_swish},
    {NULL, NULL, NULL},
};
