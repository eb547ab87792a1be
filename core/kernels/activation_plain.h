/* SPDX-License-Identifier: MIT
 *
 * Activations as their formulas say: part of table_plain.c.
 */
#ifndef NN_KERNELS_ACTIVATION_PLAIN_H
#define NN_KERNELS_ACTIVATION_PLAIN_H

#include "core/kernels/lstm_plain.h"
#include "core/kernels/table.h"

#ifdef NN_REAL_DOUBLE
#define NN_EXPM1(x) expm1(x)
#define NN_ERFC(x)  erfc(x)
#else
#define NN_EXPM1(x) expm1f(x)
#define NN_ERFC(x)  erfcf(x)
#endif

/* f(a), or a slope at a. */
typedef nn_real (*activation_fn)(nn_real a, nn_real slope);

static void activate(const struct nn_map_args *s, activation_fn f)
{
    for (size_t r = 0; r < s->rows; r++) {
        for (size_t c = 0; c < s->columns; c++) {
            s->y[r * s->ldy + c] = f(s->a[r * s->lda + c], s->slope);
        }
    }
}

static void differentiate(const struct nn_map_args *s, activation_fn f)
{
    for (size_t r = 0; r < s->rows; r++) {
        nn_real *y = s->y + r * s->ldy;
        for (size_t c = 0; c < s->columns; c++) {
            nn_real d = s->a[r * s->lda + c] * f(s->b[r * s->ldb + c], s->slope);
            y[c] = s->accumulate ? y[c] + d : d;
        }
    }
}

static nn_real normal_below(nn_real x)
{
    return (nn_real)0.5 * NN_ERFC(x * (nn_real)-0.70710678118654752);
}

static nn_real absolute_at(nn_real x, nn_real slope)
{
    (void)slope;
    return x < 0 ? -x : x;
}

static nn_real d_absolute(nn_real x, nn_real slope)
{
    (void)slope;
    return (nn_real)(x > 0) - (nn_real)(x < 0);
}

static nn_real sigmoid_at(nn_real x, nn_real slope)
{
    (void)slope;
    return sigmoid(x);
}

static nn_real d_sigmoid(nn_real y, nn_real slope)
{
    (void)slope;
    return y * (1 - y);
}

static nn_real tanh_at(nn_real x, nn_real slope)
{
    (void)slope;
    return NN_TANH(x);
}

static nn_real d_tanh(nn_real y, nn_real slope)
{
    (void)slope;
    return 1 - y * y;
}

static nn_real leaky_relu_at(nn_real x, nn_real slope)
{
    return x > 0 ? x : slope * x;
}

static nn_real d_leaky_relu(nn_real y, nn_real slope)
{
    return y > 0 ? 1 : slope;
}

static nn_real elu_at(nn_real x, nn_real slope)
{
    return x > 0 ? x : slope * NN_EXPM1(x);
}

static nn_real d_elu(nn_real y, nn_real slope)
{
    return y > 0 ? 1 : y + slope;
}

static nn_real gelu_at(nn_real x, nn_real slope)
{
    (void)slope;
    return x * normal_below(x);
}

static nn_real d_gelu(nn_real x, nn_real slope)
{
    (void)slope;
    return normal_below(x) +
           x * (nn_real)0.39894228040143268 * NN_EXP_NEGATIVE((nn_real)0.5 * x * x);
}

static nn_real silu_at(nn_real x, nn_real slope)
{
    (void)slope;
    return x * sigmoid(x);
}

static nn_real d_silu(nn_real x, nn_real slope)
{
    (void)slope;
    nn_real s = sigmoid(x);
    return s * (1 + x * (1 - s));
}

static nn_real hard_swish_at(nn_real x, nn_real slope)
{
    (void)slope;
    nn_real gate = x < -3 ? 0 : x > 3 ? 6 : x + 3;
    return x * gate / 6;
}

static nn_real d_hard_swish(nn_real x, nn_real slope)
{
    (void)slope;
    return x < -3 ? 0 : x > 3 ? 1 : (2 * x + 3) / 6;
}

/* The two rows of an activation. */
#define ACTIVATION(name)                                                                           \
    static void row_##name(const struct nn_map_args *s)                                            \
    {                                                                                              \
        activate(s, name##_at);                                                                    \
    }                                                                                              \
    static void row_##name##_gradient(const struct nn_map_args *s)                                 \
    {                                                                                              \
        differentiate(s, d_##name);                                                                \
    }

ACTIVATION(absolute)
ACTIVATION(sigmoid)
ACTIVATION(tanh)
ACTIVATION(leaky_relu)
ACTIVATION(elu)
ACTIVATION(gelu)
ACTIVATION(silu)
ACTIVATION(hard_swish)
#undef ACTIVATION

#endif
