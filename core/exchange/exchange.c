/* SPDX-License-Identifier: MIT
 *
 * Weights <-> network. Loading first checks and converts everything into one buffer, then copies,
 * so that a file that does not fit leaves the network as it was.
 */
#include "core/exchange/exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/network.h"

/* --- loading ---------------------------------------------------------------------------------- */

static bool shape_fits(const struct nn_parameter *parameter, const struct nn_file_tensor *tensor)
{
    return parameter->ndim == tensor->rank &&
           memcmp(parameter->shape, tensor->shape, tensor->rank * sizeof *tensor->shape) == 0;
}

/* "[20, 1, 5, 5]"; always terminated. */
static void shape_text(const size_t *shape, size_t rank, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "[");
    for (size_t i = 0; i < rank && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%zu", i ? ", " : "", shape[i]);
    }
    if (used < size) {
        (void)snprintf(out + used, size - used, "]");
    }
}

/* Remembers the first thing that does not fit. */
static void report_first(struct nn_match_report *report, const struct nn_parameter *parameter,
                         const struct nn_file_tensor *tensor)
{
    char wanted[64];
    char found[64];
    if (report->first[0] != '\0') {
        return;
    }
    shape_text(parameter->shape, parameter->ndim, wanted, sizeof wanted);
    if (!tensor) {
        (void)snprintf(report->first, sizeof report->first, "\"%.60s\" %s is missing",
                       parameter->name, wanted);
        return;
    }
    shape_text(tensor->shape, tensor->rank, found, sizeof found);
    (void)snprintf(report->first, sizeof report->first, "\"%.40s\" is %s, the network wants %s",
                   parameter->name, found, wanted);
}

/* PyTorch's count of batches; a counter, no weight. */
static bool is_batch_counter(const char *name)
{
    static const char SUFFIX[] = "num_batches_tracked";
    size_t length = strlen(name);
    size_t tail = sizeof SUFFIX - 1;
    return length >= tail && strcmp(name + length - tail, SUFFIX) == 0;
}

/* Statistics of the data at the input: not part of PyTorch's files, so they may be absent. */
static bool is_optional(const struct nn_parameter *parameter)
{
    return parameter->role == NN_ROLE_INPUT_MEAN || parameter->role == NN_ROLE_INPUT_STD;
}

static struct nn_match_report match(const struct nn_network *network,
                                    const struct nn_safetensors *file)
{
    struct nn_match_report report = {0};
    size_t found = 0;
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(network, i);
        const struct nn_file_tensor *tensor = nn_safetensors_find(file, parameter->name);
        found += tensor != NULL;
        if (tensor && shape_fits(parameter, tensor)) {
            report.matched++;
            continue;
        }
        if (!tensor && is_optional(parameter)) {
            continue;
        }
        report.mismatched += tensor != NULL;
        report.missing += tensor == NULL;
        report_first(&report, parameter, tensor);
    }
    size_t counters = 0;
    for (size_t i = 0; i < nn_safetensors_count(file); i++) {
        counters += is_batch_counter(nn_safetensors_tensor(file, i)->name);
    }
    report.unexpected = nn_safetensors_count(file) - found - counters;
    return report;
}

/* All values in torch's order, one parameter after the other; ERR_INVALID for a NaN or infinity. */
static enum nn_status values_read(const struct nn_network *network,
                                  const struct nn_safetensors *file, nn_real *values,
                                  struct nn_error *err)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(network, i);
        const struct nn_file_tensor *tensor = nn_safetensors_find(file, parameter->name);
        if (tensor) {
            nn_file_tensor_read(tensor, values);
        } else {
            nn_parameter_to_torch(parameter, values); /* optional: stays */
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

static void values_take(struct nn_network *network, const nn_real *values)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(network, i);
        nn_parameter_from_torch(parameter, values);
        values += parameter->count;
    }
}

enum nn_status nn_exchange_load(struct nn_network *network, const struct nn_safetensors *file,
                                struct nn_match_report *out_report, struct nn_error *err)
{
    struct nn_match_report report = match(network, file);
    if (out_report) {
        *out_report = report;
    }
    size_t wrong = report.missing + report.mismatched;
    if (wrong > 0) {
        return nn_fail(err, NN_ERR_INVALID, "%zu of %zu parameters do not fit: %s", wrong,
                       nn_network_parameter_count(network), report.first);
    }
    size_t count = value_count(network);
    nn_real *values = malloc((count ? count : 1) * sizeof *values);
    if (!values) {
        return nn_fail(err, NN_ERR_MEMORY, "no memory to load %zu values", count);
    }
    enum nn_status status = values_read(network, file, values, err);
    if (status == NN_OK) {
        values_take(network, values);
    }
    free(values);
    return status;
}

/* --- saving ----------------------------------------------------------------------------------- */

/* tensors[i] of each parameter, its float32 data in `data`, packed one after the other. */
static void tensors_fill(const struct nn_network *network, struct nn_file_tensor *tensors,
                         float *data, nn_real *scratch)
{
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(network, i);
        nn_parameter_to_torch(parameter, scratch);
        for (size_t k = 0; k < parameter->count; k++) {
            data[k] = (float)scratch[k];
        }
        tensors[i] = (struct nn_file_tensor){
            .name = parameter->name,
            .dtype = NN_FILE_F32,
            .rank = parameter->ndim,
            .count = parameter->count,
            .data = data,
            .bytes = parameter->count * sizeof *data,
        };
        memcpy(tensors[i].shape, parameter->shape, parameter->ndim * sizeof *parameter->shape);
        data += parameter->count;
    }
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

enum nn_status nn_exchange_save(const struct nn_network *network, const char *path,
                                const struct nn_file_pair *metadata, size_t n_metadata,
                                struct nn_error *err)
{
    size_t n = nn_network_parameter_count(network);
    struct nn_file_tensor *tensors = calloc(n + 1, sizeof *tensors);
    float *data = calloc(value_count(network) + 1, sizeof *data);
    nn_real *scratch = calloc(largest_count(network), sizeof *scratch);
    enum nn_status status = NN_OK;
    if (!tensors || !data || !scratch) {
        status = nn_fail(err, NN_ERR_MEMORY, "no memory to save a network");
        goto cleanup;
    }
    tensors_fill(network, tensors, data, scratch);
    status = nn_safetensors_write(path, tensors, n, metadata, n_metadata, err);
cleanup:
    free(tensors);
    free(data);
    free(scratch);
    return status;
}
