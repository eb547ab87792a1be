/* SPDX-License-Identifier: MIT
 *
 * The tables of kinds and operators, made from the rows of kinds_internal.h.
 */
#include <string.h>

#include "core/layers/kinds_internal.h"

#define KIND_ROW(x)       &nn_kind_##x,
#define OPERATOR_ROW(x)   &nn_op_##x,
#define ACTIVATION_ROW(x) &nn_op_##x.op,
#define NO_ROW(x)

const struct nn_layer_kind *const nn_layer_kinds[] = {NN_LAYERS(KIND_ROW, KIND_ROW, KIND_ROW) NULL};

const struct nn_operator *const nn_operators[] = {
    NN_CHAINS(OPERATOR_ROW) NN_LAYERS(NO_ROW, OPERATOR_ROW, ACTIVATION_ROW) NULL};

const struct nn_layer_kind *nn_layer_kind_find(const char *name)
{
    for (const struct nn_layer_kind *const *kind = nn_layer_kinds; *kind; kind++) {
        if (strcmp((*kind)->name, name) == 0) {
            return *kind;
        }
    }
    return NULL;
}
