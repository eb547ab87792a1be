/* SPDX-License-Identifier: MIT
 *
 * What recurrent layers share: options and parameters.
 */
#include "core/layers/recurrent_internal.h"

#define DIRECTIONS_MAX ((size_t)2)

static const struct jx_choice OUTPUTS[] = {
    {"sequence", NN_RECURRENT_SEQUENCE, "the state of every step"},
    {"last", NN_RECURRENT_LAST,
     "the state of each sequence's last step; of the direction from the end, of its first"},
    JX_END,
};

static const struct jx_choice DIRECTIONS[] = {
    {"forward", NN_RECURRENT_FORWARD, "from the first step"},
    {"bidirectional", NN_RECURRENT_BIDIRECTIONAL,
     "both ways with weights of their own; both states side by side"},
    JX_END,
};

#define OFFSET(member) offsetof(struct nn_recurrent_options, member)
const struct jx_field nn_recurrent_fields[] = {
    {.name = "units",
     .type = JX_SIZE,
     .offset = OFFSET(units),
     .min = 1,
     .max = 2048,
     .required = true,
     .doc = "numbers of the state"},
    {.name = "output",
     .type = JX_ENUM,
     .offset = OFFSET(output),
     .choices = OUTPUTS,
     .fallback = "\"sequence\"",
     .doc = "which states go on to the next layer"},
    {.name = "direction",
     .type = JX_ENUM,
     .offset = OFFSET(direction),
     .choices = DIRECTIONS,
     .fallback = "\"forward\"",
     .doc = "from which end sequences are read"},
    {.name = "bias",
     .type = JX_BOOL,
     .offset = OFFSET(bias),
     .fallback = "true",
     .doc = "whether each gate has a bias"},
    NN_FACTOR_FIELDS(struct nn_recurrent_options, factors, "input and recurrent weights", "biases",
                     "1"),
    JX_END,
};
#undef OFFSET

static struct nn_parameter_plan weight(const struct nn_recurrent_options *options,
                                       const char *suffix, enum nn_role role, size_t rows,
                                       size_t inputs)
{
    return (struct nn_parameter_plan){
        .suffix = suffix,
        .role = role,
        .learnable = true,
        .ndim = 2,
        .shape = {rows, inputs},
        .extent = {rows, inputs, 1, 1},
        .order = {0, 1, 2, 3},
        .learning_rate_factor = options->factors.weight_learning_rate_factor,
        .l2_factor = options->factors.weight_l2_factor,
        .fan_in = (double)inputs,
        .fan_out = (double)rows,
    };
}

static struct nn_parameter_plan bias(const struct nn_recurrent_options *options, const char *suffix,
                                     size_t rows)
{
    return nn_vector_plan(suffix, NN_ROLE_BIAS, rows, options->factors.bias_learning_rate_factor,
                          options->factors.bias_l2_factor);
}

enum nn_status nn_recurrent_plan(const struct nn_layer *layer, const struct nn_layer_input *in,
                                 const struct nn_recurrent_cell *cell, struct nn_layer_plan *out)
{
    static const char *const NAMES[DIRECTIONS_MAX][4] = {
        {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"},
        {"weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
         "bias_hh_l0_reverse"},
    };
    const struct nn_recurrent_options *options = nn_recurrent_options_of(layer);
    size_t inputs = in->shape.channels, units = options->units,
           directions = nn_recurrent_directions(layer);
    size_t rows = nn_cell_gates(cell->kind) * units;
    *out = (struct nn_layer_plan){
        .out = {1, 1, directions * units},
        .sequence = options->output == NN_RECURRENT_SEQUENCE,
        .multiply_adds = (double)(directions * rows) * (double)(inputs + units),
    };
    for (size_t d = 0; d < directions; d++) {
        struct nn_parameter_plan *p = out->parameters + out->n_parameters;
        size_t n = 0;
        p[n++] = weight(options, NAMES[d][0], NN_ROLE_WEIGHT, rows, inputs);
        p[n++] = weight(options, NAMES[d][1], NN_ROLE_RECURRENT_WEIGHT, rows, units);
        if (options->bias) {
            p[n] = bias(options, NAMES[d][2], rows);
            if (cell->ones_gate != SIZE_MAX) {
                p[n].ones_begin = cell->ones_gate * units;
                p[n].ones_end = p[n].ones_begin + units;
            }
            n++;
        }
        if (options->bias && cell->second_bias) {
            p[n++] = bias(options, NAMES[d][3], rows);
        }
        out->n_parameters += n;
    }
    return NN_OK;
}
