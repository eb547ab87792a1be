/* SPDX-License-Identifier: MIT
 *
 * What may stand in a description: the kinds of layers as a document.
 */
#include "core/network/description_internal.h"

static const char *const ON_SEQUENCES[] = {[NN_SEQUENCES_REFUSED] = "refused",
                                           [NN_SEQUENCES_BY_STEP] = "by_step",
                                           [NN_SEQUENCES_WHOLE] = "whole"};

static json_t *kind_json(const struct nn_layer_kind *kind)
{
    return json_pack("{s:s, s:s, s:{s:I, s:I}, s:s, s:o}", "name", kind->name, "text", kind->doc,
                     "inputs", "minimum", (json_int_t)kind->min_inputs, "maximum",
                     (json_int_t)kind->max_inputs, "sequences", ON_SEQUENCES[kind->on_sequences],
                     "options", jx_schema(kind->fields));
}

json_t *nn_layer_kinds_json(void)
{
    json_t *rows = json_array();
    for (size_t i = 0; rows && nn_layer_kinds[i]; i++) {
        if (json_array_append_new(rows, kind_json(nn_layer_kinds[i])) != 0) {
            json_decref(rows);
            rows = NULL;
        }
    }
    return rows;
}
