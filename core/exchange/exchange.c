/* SPDX-License-Identifier: MIT
 *
 * Weights <-> network. Loading first checks and converts everything into one buffer, then copies,
 * so that a file that does not fit leaves the network as it was.
 */
#include "core/exchange/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/network.h"

/* --- loading ---------------------------------------------------------------------------------- */

/* One parameter's values from the file; scratch holds as many. */
static void tensor_read(const struct nn_match *match, size_t i, size_t count, nn_real *values,
                        nn_real *scratch)
{
    const struct nn_file_tensor *added = nn_match_added(match, i);
    nn_file_tensor_read(nn_match_tensor(match, i), values);
    if (added) {
        nn_file_tensor_read(added, scratch);
        for (size_t k = 0; k < count; k++) {
            values[k] += scratch[k];
        }
    }
}

/* All values in torch's order, one parameter after the other; ERR_INVALID for a NaN or infinity. */
static enum nn_status values_read(const struct nn_network *network, const struct nn_match *match,
                                  nn_real *values, nn_real *scratch, struct nn_error *err)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(network, i);
        if (nn_match_tensor(match, i)) {
            tensor_read(match, i, parameter->count, values, scratch);
        } else {
            nn_parameter_to_torch(parameter, values); /* optional or replaced: stays */
        }
        for (size_t k = 0; k < parameter->count; k++) {
            if (!isfinite(values[k])) {
                return nn_fail(err, NN_ERR_INVALID, "\"%.100s\" holds a value that is not finite",
                               parameter->name);
            }
        }
        values += parameter->count;
    }
    return NN_OK;
}

static size_t value_count(const struct nn_network *network)
{
    size_t total = 0;
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        total += nn_network_parameter(network, i)->count;
    }
    return total;
}

static size_t largest_count(const struct nn_network *network)
{
    size_t largest = 1;
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        size_t count = nn_network_parameter(network, i)->count;
        largest = count > largest ? count : largest;
    }
    return largest;
}

static void values_take(struct nn_network *network, const nn_real *values)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(network, i);
        nn_parameter_from_torch(parameter, values);
        values += parameter->count;
    }
}

static enum nn_status import(struct nn_network *network, const struct nn_match *match,
                             struct nn_error *err)
{
    if (!nn_match_is_loadable(match)) {
        return nn_fail(err, NN_ERR_INVALID, "%s", nn_match_text(match));
    }
    size_t count = value_count(network);
    nn_real *values = malloc((count + largest_count(network)) * sizeof *values);
    if (!values) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to load %zu values", count);
    }
    enum nn_status status = values_read(network, match, values, values + count, err);
    if (status == NN_OK) {
        values_take(network, values);
    }
    free(values);
    return status;
}

enum nn_status nn_exchange_import(struct nn_network *network, const struct nn_file_tensor *tensors,
                                  size_t n, enum nn_match_head head, struct nn_match **out_match,
                                  struct nn_error *err)
{
    struct nn_match *match = NULL;
    enum nn_status status = nn_match_network(network, tensors, n, head, &match, err);
    if (status == NN_OK) {
        status = import(network, match, err);
    }
    if (match && out_match) {
        *out_match = match;
    } else {
        nn_match_destroy(match);
    }
    return status;
}

enum nn_status nn_exchange_load(struct nn_network *network, const struct nn_safetensors *file,
                                enum nn_match_head head, struct nn_match **out_match,
                                struct nn_error *err)
{
    size_t n = nn_safetensors_count(file);
    const struct nn_file_tensor *tensors = n > 0 ? nn_safetensors_tensor(file, 0) : NULL;
    return nn_exchange_import(network, tensors, n, head, out_match, err);
}

/* --- saving ----------------------------------------------------------------------------------- */

/* tensors[i] of each parameter, its values of type `dtype` in `data`, packed one after the other.
 */
static enum nn_status tensors_fill(const struct nn_network *network, enum nn_file_dtype dtype,
                                   struct nn_file_tensor *tensors, unsigned char *data,
                                   nn_real *scratch, struct nn_error *err)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(network, i);
        nn_parameter_to_torch(parameter, scratch);
        if (!nn_file_values_write(dtype, scratch, parameter->count, data)) {
            return nn_fail(err, NN_ERR_INVALID, "\"%.100s\" cannot be written as %s",
                           parameter->name, nn_file_dtype_name(dtype));
        }
        tensors[i] = (struct nn_file_tensor){
            .name = parameter->name,
            .dtype = dtype,
            .rank = parameter->ndim,
            .count = parameter->count,
            .data = data,
            .bytes = parameter->count * nn_file_dtype_bytes(dtype),
        };
        memcpy(tensors[i].shape, parameter->shape, parameter->ndim * sizeof *parameter->shape);
        data += tensors[i].bytes;
    }
    return NN_OK;
}

enum nn_status nn_exchange_save(const struct nn_network *network, const char *path,
                                enum nn_file_dtype dtype, const struct nn_file_pair *metadata,
                                size_t n_metadata, struct nn_error *err)
{
    size_t n = nn_network_parameter_count(network);
    struct nn_file_tensor *tensors = calloc(n + 1, sizeof *tensors);
    unsigned char *data = calloc(value_count(network) + 1, nn_file_dtype_bytes(dtype));
    nn_real *scratch = calloc(largest_count(network), sizeof *scratch);
    enum nn_status status = NN_OK;
    if (!tensors || !data || !scratch) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory to save a network");
        goto cleanup;
    }
    status = tensors_fill(network, dtype, tensors, data, scratch, err);
    if (status == NN_OK) {
        status = nn_safetensors_write(path, tensors, n, metadata, n_metadata, err);
    }
cleanup:
    free(tensors);
    free(data);
    free(scratch);
    return status;
}
