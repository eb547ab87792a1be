/* SPDX-License-Identifier: MIT
 *
 * Layers that ONNX has no operator for and that stand in a graph as many nodes: each node is a step
 * of a table, which says what it makes of a value that a step before it gave.
 */
#include <math.h>
#include <string.h>

#include "core/exchange/onnx_read_internal.h"

static bool take_step(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                      const struct nn_onnx_step *step, size_t at)
{
    const struct nn_onnx_known *from = nn_onnx_input(r, node, at);
    if (!from || from->meaning != step->from ||
        (step->at != NN_ONNX_EITHER && step->at != (int)at)) {
        return false;
    }
    struct nn_onnx_known value = *from;
    value.name = node->n_outputs > 0 ? node->outputs[0] : "";
    value.meaning = step->to;
    if (step->fits && !step->fits(r, node, &value, 1 - at)) {
        return false;
    }
    nn_onnx_know(r, &value);
    return true;
}

bool nn_onnx_read_by_steps(struct nn_onnx_reader *r, const struct nn_onnx_node *node,
                           const struct nn_onnx_step *steps)
{
    for (const struct nn_onnx_step *step = steps; step->op; step++) {
        if (strcmp(step->op, node->op) == 0 &&
            (take_step(r, node, step, 0) || take_step(r, node, step, 1))) {
            return true;
        }
    }
    return false;
}

bool nn_onnx_is_steps(const struct nn_onnx_reader *r, const struct nn_onnx_known *value)
{
    return r->sequences && !nn_onnx_is_row(r, value->layer);
}

bool nn_onnx_index_is(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                      double *out)
{
    const struct nn_file_tensor *index = nn_onnx_tensor_in(r, node, i);
    return index && index->rank == 0 && nn_onnx_number(r, index, out);
}

bool nn_onnx_number_is(struct nn_onnx_reader *r, const struct nn_onnx_node *node, size_t i,
                       double wanted)
{
    double found = 0;
    return nn_onnx_number(r, nn_onnx_tensor_in(r, node, i), &found) &&
           fabs(found - wanted) <= 1e-6 * fabs(wanted);
}
