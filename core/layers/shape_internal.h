/* SPDX-License-Identifier: MIT
 *
 * What the kinds share: refusals, checked sizes, windows, parameters, plans that say little.
 */
#ifndef NN_LAYERS_SHAPE_INTERNAL_H
#define NN_LAYERS_SHAPE_INTERNAL_H

#include "core/layers/layer.h"

/* Fills issue and returns NN_ERR_INVALID. field may be NULL; mend: how to put it right. */
enum nn_status nn_layer_refuse(struct nn_layer_issue *issue, const char *field, const char *mend,
                               const char *fmt, ...) NN_PRINTF(4, 5);

/* Product of four sizes, refused above NN_LAYER_COUNT_MAX. */
NN_MUST_CHECK bool nn_layer_count(const size_t extent[4], size_t *out);

/* A window that slides over an image: options and what follows from them. */
struct nn_window_options {
    struct jx_ints kernel;   /* [side] or [height, width] */
    struct jx_ints stride;   /* likewise; none: 1, or for pools the kernel */
    struct jx_ints padding;  /* [all], [height, width] or [top, bottom, left, right] */
    struct jx_ints dilation; /* [side] or [height, width]; none: 1 */
    bool same_padding;       /* output = input / stride, rounded up */
    bool ceil_mode;          /* a window that hangs over the end counts */
};

/* Of a list of one or two numbers; none: fallback. */
size_t nn_side(const struct jx_ints *list, size_t axis, size_t fallback);

/* Pixels on each side of an image. */
struct nn_sides {
    size_t top, bottom, left, right;
};

/* From [all], [height, width] or [top, bottom, left, right]; nothing: 0. field: of the option. */
enum nn_status nn_sides_plan(const struct jx_ints *list, const char *field, struct nn_sides *out,
                             struct nn_layer_issue *issue);

struct nn_window {
    size_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    size_t span_h, span_w; /* pixels that it covers */
    struct nn_sides pad;
    size_t out_height, out_width;
};

/* All but the output's size, same_padding not read. */
enum nn_status nn_window_sides(const struct nn_window_options *options, size_t default_stride,
                               struct nn_window *out, struct nn_layer_issue *issue);

/* Refuses windows larger than the padded image. stride none means `default_stride` (0: the kernel).
 */
enum nn_status nn_window_plan(const struct nn_window_options *options, size_t default_stride,
                              struct nn_shape in, struct nn_window *out,
                              struct nn_layer_issue *issue);

/* Learning-rate and L2 factors of a layer with a weight and a bias (or scale and shift). */
struct nn_factor_options {
    double weight_learning_rate_factor, bias_learning_rate_factor;
    double weight_l2_factor, bias_l2_factor;
};

extern const struct jx_choice nn_initial_choices[];

/* clang-format off */
#define NN_FACTOR_FIELD(owner, member, field, normal, text)                                         \
    {.name = #field, .type = JX_REAL, .offset = offsetof(owner, member.field), .min = 0,            \
     .max = 1e6, .fallback = normal, .doc = text}
#define NN_FACTOR_FIELDS(owner, member, weight, bias, weight_l2)                                    \
    NN_FACTOR_FIELD(owner, member, weight_learning_rate_factor, "1",                                \
                    "times the learning rate, for the " weight),                                    \
    NN_FACTOR_FIELD(owner, member, bias_learning_rate_factor, "1",                                  \
                    "times the learning rate, for the " bias),                                      \
    NN_FACTOR_FIELD(owner, member, weight_l2_factor, weight_l2, "times the L2 factor, for the "     \
                    weight),                                                                        \
    NN_FACTOR_FIELD(owner, member, bias_l2_factor, "0", "times the L2 factor, for the " bias)

#define NN_SIDES_FIELD(title, owner, path, text)                                                    \
    {.name = title, .type = JX_INTS, .offset = offsetof(owner, path), .min = 0, .max = 1048576,     \
     .max_items = 4, .scalar_too = true, .fallback = "[]",                                          \
     .doc = text ": all sides, [height, width] or [top, bottom, left, right]"}
#define NN_PAIR_FIELD(title, owner, path, least, text)                                              \
    {.name = title, .type = JX_INTS, .offset = offsetof(owner, path), .min = least, .max = 1048576, \
     .max_items = 2, .scalar_too = true, .fallback = "[]",                                          \
     .doc = text ", one number or [height, width]"}
#define NN_KERNEL_FIELD(owner, member)                                                              \
    {.name = "kernel", .type = JX_INTS, .offset = offsetof(owner, member.kernel), .min = 1,         \
     .max = 1048576, .min_items = 1, .max_items = 2, .scalar_too = true, .required = true,          \
     .doc = "size of the window, one number or [height, width]"}
#define NN_DILATION_FIELD(owner, member)                                                            \
    NN_PAIR_FIELD("dilation", owner, member.dilation, 1,                                            \
                  "pixels from one tap of the window to the next (1 if left out)")

#define NN_INITIAL_FIELDS(owner, member)                                                            \
    {.name = "weight_initialisation", .type = JX_ENUM, .offset = offsetof(owner, member.kind),    \
     .choices = nn_initial_choices, .fallback = "\"glorot\"", .doc = "how the weights begin"},       \
    {.name = "weight_std", .type = JX_REAL, .offset = offsetof(owner, member.std), .min = 1e-12,    \
     .max = 1e6, .fallback = "0.01", .doc = "standard deviation, for normal and truncated_normal"}

#define NN_WINDOW_FIELDS(owner, member, stride_text)                                                \
    NN_PAIR_FIELD("stride", owner, member.stride, 1, "step of the window (" stride_text ")"),       \
    NN_SIDES_FIELD("padding", owner, member.padding, "pixels added"),                               \
    {.name = "same_padding", .type = JX_BOOL, .offset = offsetof(owner, member.same_padding),       \
     .fallback = "false",                                                                           \
     .doc = "pad so that the output is the input divided by the stride, rounded up"}
/* clang-format on */

/* Normalisation of an input (input.c). */
struct nn_normalisation_options {
    int normalisation;
    struct jx_reals mean, std;
};

/* Plan of an input of this shape, all 0 where an extent is not known: with the parameters of its
 * normalisation, called `what` in refusals. */
enum nn_status nn_input_plan(const struct nn_layer *layer, struct nn_shape shape, const char *what,
                             const struct nn_network_bind *bind, struct nn_layer_plan *out,
                             struct nn_layer_issue *issue);

/* clang-format off */
#define NN_STATISTIC_FIELD(owner, member, field, least, most, text)                                       \
    {.name = #field, .type = JX_REALS, .offset = offsetof(owner, member.field), .min = least,       \
     .max = most, .scalar_too = true, .fallback = "[]", .doc = text}
/* clang-format on */

/* A vector of n numbers, e.g. a bias. */
struct nn_parameter_plan nn_vector_plan(const char *suffix, enum nn_role role, size_t n,
                                        double learning_rate_factor, double l2_factor);

/* Makes it one of the features of a flattened image, in whose memory order it is kept. */
void nn_vector_of_image(struct nn_parameter_plan *plan, struct nn_shape image);

/* Plan of a kind without parameters or options to check: the output is shaped like the only input.
 */
enum nn_status nn_same_shape_plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                                  size_t n_in, const struct nn_network_bind *bind,
                                  struct nn_layer_plan *out, struct nn_layer_issue *issue);

/* Plan of a pass that needs neither memory nor its activations in backward. */
void nn_bare_pass_plan(const struct nn_pass *pass, size_t lanes, struct nn_pass_plan *out);

/* Rows of the output of so many samples or steps. */
static inline size_t nn_pass_rows(const struct nn_pass *pass, size_t batch)
{
    return batch * pass->out.height * pass->out.width;
}

/* Values of a sample. */
static inline double nn_values(struct nn_shape shape)
{
    return (double)shape.height * (double)shape.width * (double)shape.channels;
}

/* Whether a pass of n layers is run in its variant with a ReLU behind them. */
static inline bool nn_relu_behind(const struct nn_pass *pass, size_t n)
{
    return pass->layers[n] != NULL;
}

/* The gradient of a ReLU that ends a pass, in place: d_y = 0 where y is not above 0. */
void nn_relu_mask(const struct nn_run *run, const struct nn_backward *args, size_t rows,
                  size_t columns);

/* Bytes of n numbers, a multiple of 64. */
size_t nn_bytes(size_t n);

/* max for workspace sizes. */
static inline size_t nn_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The first `bytes` of *memory, and *memory moved past them. */
void *nn_piece(void **memory, size_t bytes);

/* The parameter of a role, or NULL. */
struct nn_parameter *nn_placed_parameter(const struct nn_placed *placed, enum nn_role role);
/* Its value; NULL when there is none. */
nn_real *nn_placed_value(const struct nn_placed *placed, enum nn_role role);
/* Its gradient; NULL when it does not train. */
nn_real *nn_placed_grad(const struct nn_placed *placed, enum nn_role role);
/* Whether any parameter trains. */
bool nn_placed_trains(const struct nn_placed *placed);

#endif
