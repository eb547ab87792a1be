/* SPDX-License-Identifier: MIT
 *
 * Factors of layers: rows of a job that name layers by a pattern, and the head's own.
 */
#include <fnmatch.h>
#include <stdlib.h>

#include "core/training/training.h"

#define OFFSET(member) offsetof(struct nn_layer_factor, member)
const struct jx_field nn_layer_factor_fields[] = {
    {.name = "layers",
     .type = JX_STRING,
     .offset = OFFSET(pattern),
     .min = 1,
     .max = 200,
     .required = true,
     .doc = "name of a layer; * any text, ? any character"},
    {.name = "learning_rate_factor",
     .type = JX_REAL,
     .offset = OFFSET(factor),
     .min = 0,
     .max = 1e6,
     .fallback = "1",
     .doc = "times the learning rate"},
    {.name = "l2_factor",
     .type = JX_REAL,
     .offset = OFFSET(l2_factor),
     .min = 0,
     .max = 1e6,
     .fallback = "1",
     .doc = "times the L2 regularisation"},
    JX_END,
};

static enum nn_status read_row(const json_t *json, size_t i,
                               const struct nn_parameter_shape *parameters, size_t n,
                               struct nn_layer_factor *out, struct nn_error *err)
{
    char pointer[64], layers[80];
    jx_pointer_index("/layer_factors", i, pointer, sizeof pointer);
    enum nn_status status = jx_decode(nn_layer_factor_fields, json, pointer, out, err);
    if (status != NN_OK) {
        return status;
    }
    for (size_t k = 0; k < n; k++) {
        if (parameters[k].learnable && fnmatch(out->pattern, parameters[k].layer, 0) == 0) {
            return NN_OK;
        }
    }
    jx_pointer_key(pointer, "layers", layers, sizeof layers);
    return nn_fail_at(err, NN_ERR_INVALID, layers,
                      "no layer that learns has a name that fits \"%.64s\"", out->pattern);
}

enum nn_status nn_training_factors(const struct nn_training_options *options,
                                   const struct nn_description *description,
                                   const struct nn_network_bind *bind, struct nn_layer_factor **out,
                                   size_t *out_n, struct nn_error *err)
{
    size_t n_rows = json_array_size(options->layer_factors), n = 0, used = 0;
    const char *head = nn_description_head(description);
    struct nn_parameter_shape *parameters = NULL;
    struct nn_layer_factor *rows = calloc(n_rows + 1, sizeof *rows);
    if (!rows) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory for the factors of layers");
    }
    enum nn_status status = nn_description_parameters(description, bind, &parameters, &n, err);
    if (head && options->head_learning_rate_factor != 1) {
        rows[used++] = (struct nn_layer_factor){head, options->head_learning_rate_factor, 1};
    }
    for (size_t i = 0; status == NN_OK && i < n_rows; i++) {
        status = read_row(json_array_get(options->layer_factors, i), i, parameters, n,
                          &rows[used++], err);
    }
    free(parameters);
    if (status != NN_OK) {
        free(rows);
        return status;
    }
    *out = rows;
    *out_n = used;
    return NN_OK;
}
