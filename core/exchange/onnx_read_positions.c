/* SPDX-License-Identifier: MIT
 *
 * Rows that say which step it is, and rows of ids, as onnx_steps.c writes them, as layers. A step
 * knows as `tensor` and `number` what is beside it: the table of rows or rates, and how many
 * positions or channels there are.
 */
#include <math.h>

#include "core/exchange/onnx_read_rows_internal.h"

/* ---- the numbers of the steps ---- */

/* The first size of what a layer gives for each step. */
static bool is_step_count(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                          struct nn_onnx_known *value, size_t other)
{
    double index = -1;
    return value->number == NN_ONNX_WHOLE_SIZES && nn_onnx_is_steps(r, value) &&
           nn_onnx_index_is(r, node, other, &index) && index == 0 &&
           nn_onnx_int_of(node, "axis", 0) == 0;
}

static bool counts_up(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      struct nn_onnx_known *value, size_t other)
{
    value->number = 0;
    return nn_onnx_number_is(r, node, other, 0) && nn_onnx_number_is(r, node, 2, 1);
}

/* Positions beyond the last one that has a row are that one. */
static bool is_bound(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                     struct nn_onnx_known *value, size_t other)
{
    double last = -1;
    if (value->number != 0 || node->n_inputs != 2 || !nn_onnx_index_is(r, node, other, &last) ||
        !(last >= 0 && last <= 1048576)) {
        return false;
    }
    value->number = (size_t)last + 1;
    return true;
}

static bool makes_axis_one(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                           struct nn_onnx_known *value, size_t other)
{
    size_t n;
    (void)value;
    (void)other;
    return nn_onnx_listed_axis(r, node, 0, &n) == 1 && n == 1;
}

static bool makes_column(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                         struct nn_onnx_known *value, size_t other)
{
    return value->number == 0 && makes_axis_one(r, node, value, other);
}

/* ---- their rows ---- */

static bool is_table(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                     const struct nn_file_tensor **out)
{
    *out = nn_onnx_tensor_in(r, node, i);
    return *out && (*out)->rank == 2 && (*out)->count > 0 && nn_onnx_int_of(node, "axis", 0) == 0;
}

static bool are_learned(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                        struct nn_onnx_known *value, size_t other)
{
    if (!is_table(r, node, other, &value->tensor) ||
        (value->number != 0 && value->number != value->tensor->shape[0])) {
        return false;
    }
    value->number = value->tensor->shape[1];
    return true;
}

/* The other input as a list of one number a channel; NULL: it is none. */
static const float *channels_in(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                                size_t *out_n)
{
    const struct nn_file_tensor *list = nn_onnx_tensor_in(r, node, i);
    *out_n = list && list->rank == 1 ? list->count : 0;
    return *out_n > 0 ? nn_onnx_floats_of(r, list) : NULL;
}

/* 10000 ^ -(2i / channels), twice each. */
static bool are_rates(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      struct nn_onnx_known *value, size_t other)
{
    size_t n;
    const float *rates = channels_in(r, node, other, &n);
    for (size_t c = 0; rates && c < n; c++) {
        double wanted = pow(10000, -(double)(c - c % 2) / (double)n);
        if (!(fabs((double)rates[c] - wanted) <= 1e-6 * wanted)) {
            return false;
        }
    }
    value->number = n;
    return rates != NULL;
}

/* 1 for the channels from `first` on, each second one, and 0 for the others. */
static bool are_each_second(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                            const struct nn_onnx_known *value, size_t other, size_t first)
{
    size_t n;
    const float *taken = channels_in(r, node, other, &n);
    for (size_t c = 0; taken && c < n; c++) {
        if (taken[c] != (c % 2 == first ? 1 : 0)) {
            return false;
        }
    }
    return taken && n == value->number;
}

static bool are_even(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                     struct nn_onnx_known *value, size_t other)
{
    return are_each_second(r, node, value, other, 0);
}

static bool are_odd(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                    struct nn_onnx_known *value, size_t other)
{
    return are_each_second(r, node, value, other, 1);
}

static bool with_cosines(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                         struct nn_onnx_known *value, size_t other)
{
    const struct nn_onnx_known *cosines = nn_onnx_input(r, node, other);
    value->tensor = NULL;
    return cosines && cosines->meaning == NN_ONNX_ODD_COSINES && cosines->number == value->number;
}

/* Rows of as many channels as the layer has, where that is known; one would be for all of them. */
static bool fit_channels(const struct nn_onnx_reader *r, const struct nn_onnx_known *to, size_t n)
{
    size_t channels = nn_onnx_extent_of(r, to->layer).channels;
    return channels == 0 ? n > 1 : channels == n;
}

static bool add_positions(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                          struct nn_onnx_known *value, size_t other)
{
    const struct nn_onnx_known *to = nn_onnx_layer_in(r, node, other);
    const struct nn_file_tensor *table = value->tensor;
    if (!to || !nn_onnx_is_steps(r, to) || !fit_channels(r, to, value->number)) {
        return nn_onnx_lacks(r, "of positions to other than steps of as many channels");
    }
    json_t *options = table ? json_pack("{s:s, s:I}", "encoding", "learned", "length",
                                        (json_int_t)table->shape[0])
                            : json_pack("{s:s}", "encoding", "sinusoidal");
    if (!nn_onnx_add_layer_behind(r, node, "positional_encoding", options, to->layer, table,
                                  &value->layer)) {
        return false;
    }
    if (table) {
        nn_onnx_add_tensor(r, value->layer, "weight", table);
    }
    value->tensor = NULL;
    return true;
}

/* ---- rows of ids ---- */

static bool is_column(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      struct nn_onnx_known *value, size_t other)
{
    double column = -1;
    int64_t axis = nn_onnx_int_of(node, "axis", 0);
    if (!nn_onnx_is_steps(r, value) || (axis != 2 && axis != -1) ||
        !nn_onnx_index_is(r, node, other, &column) || !(column >= 0 && column <= 65535)) {
        return false;
    }
    value->number = (size_t)column;
    return true;
}

static bool to_whole(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                     struct nn_onnx_known *value, size_t other)
{
    enum { INT32 = 6, INT64 = 7 }; /* of TensorProto */
    int64_t type = nn_onnx_int_of(node, "to", 0);
    (void)r;
    (void)value;
    (void)other;
    return type == INT32 || type == INT64;
}

static bool add_embedding(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                          struct nn_onnx_known *value, size_t other)
{
    const struct nn_file_tensor *table;
    if (!is_table(r, node, other, &table)) {
        return false;
    }
    json_t *options = json_pack("{s:I, s:I, s:I}", "ids", (json_int_t)table->shape[0], "outputs",
                                (json_int_t)table->shape[1], "column", (json_int_t)value->number);
    if (!nn_onnx_add_layer_behind(r, node, "embedding", options, value->layer, table,
                                  &value->layer)) {
        return false;
    }
    nn_onnx_add_tensor(r, value->layer, "weight", table);
    return true;
}

/* ---- the steps ---- */

bool nn_onnx_read_positions(struct nn_onnx_reader *r, const struct nn_onnx_node *node)
{
    static const struct nn_onnx_step STEPS[] = {
        {"Gather", NN_ONNX_SIZES, NN_ONNX_STEP_COUNT, 0, is_step_count},
        {"Range", NN_ONNX_STEP_COUNT, NN_ONNX_POSITIONS, 1, counts_up},
        {"Min", NN_ONNX_POSITIONS, NN_ONNX_POSITIONS, NN_ONNX_EITHER, is_bound},
        {"Gather", NN_ONNX_POSITIONS, NN_ONNX_POSITION_ROWS, 1, are_learned},
        {"Unsqueeze", NN_ONNX_POSITIONS, NN_ONNX_POSITION_COLUMN, 0, makes_column},
        {"CastLike", NN_ONNX_POSITION_COLUMN, NN_ONNX_POSITION_COLUMN, 0, NULL},
        {"Mul", NN_ONNX_POSITION_COLUMN, NN_ONNX_ANGLES, NN_ONNX_EITHER, are_rates},
        {"Sin", NN_ONNX_ANGLES, NN_ONNX_SINES, 0, NULL},
        {"Mul", NN_ONNX_SINES, NN_ONNX_EVEN_SINES, NN_ONNX_EITHER, are_even},
        {"Cos", NN_ONNX_ANGLES, NN_ONNX_COSINES, 0, NULL},
        {"Mul", NN_ONNX_COSINES, NN_ONNX_ODD_COSINES, NN_ONNX_EITHER, are_odd},
        {"Add", NN_ONNX_EVEN_SINES, NN_ONNX_POSITION_ROWS, NN_ONNX_EITHER, with_cosines},
        {"Unsqueeze", NN_ONNX_POSITION_ROWS, NN_ONNX_ROWS_OF_ALL, 0, makes_axis_one},
        {"Add", NN_ONNX_ROWS_OF_ALL, NN_ONNX_LAYER, NN_ONNX_EITHER, add_positions},
        {"Gather", NN_ONNX_LAYER, NN_ONNX_COLUMN, 0, is_column},
        {"Cast", NN_ONNX_COLUMN, NN_ONNX_IDS, 0, to_whole},
        {"Gather", NN_ONNX_IDS, NN_ONNX_LAYER, 1, add_embedding},
        {0},
    };
    return nn_onnx_read_by_steps(r, node, STEPS);
}
