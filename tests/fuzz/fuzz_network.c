/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a network: refused with issues, or a description that reads back as itself and, if
 * it is small, a network that runs a step without stepping outside of its memory.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/network.h"
#include "core/network/report.h"

enum { BYTES_MAX = 4 << 20, WORK_MAX = 2000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Zeros: images, or sequences of three steps and one. */
static void load(struct nn_network *network, size_t batch)
{
    static const nn_real zeros[3 * 2];
    static const nn_real *const sequences[] = {zeros, zeros};
    static const size_t lengths[] = {3, 1};
    if (nn_network_takes_sequences(network)) {
        const struct nn_sequence_batch loaded = {sequences, lengths, batch};
        nn_network_load_sequences(network, &loaded);
    } else {
        memset(nn_network_input(network), 0,
               batch * nn_network_input_size(network) * sizeof(nn_real));
    }
}

static void run(const struct nn_description *description, const struct nn_network_bind *bind)
{
    const struct nn_network_options options = {.max_batch = 2, .input_gradient = true};
    const struct nn_step step = {.seed = 1};
    struct nn_network *network = NULL;
    struct nn_error err = {0};
    if (nn_network_create(description, bind, &options, &network, &err) != NN_OK) {
        return;
    }
    nn_network_initialize(network, 1);
    load(network, 2);
    nn_network_forward(network, 2, NN_PHASE_TRAINING, &step);
    memset(nn_network_output_gradient(network), 0,
           nn_network_output_rows(network, 2) * nn_network_output_size(network) * sizeof(nn_real));
    nn_network_backward(network, 2);
    load(network, 1);
    nn_network_forward(network, 1, NN_PHASE_INFERENCE, NULL);
    nn_network_destroy(network);
}

/* What was written out is the same description. */
static void read_back(const struct nn_description *description)
{
    struct nn_description *again = NULL;
    struct nn_error err = {0};
    json_t *full = nn_description_json(description);
    enum nn_status status = nn_description_parse(full, &again, &err);
    json_t *full_again = status == NN_OK ? nn_description_json(again) : NULL;
    NN_ASSERT(full_again && json_equal(full, full_again));
    nn_description_destroy(again);
    json_decref(full);
    json_decref(full_again);
}

/* Both texts can be made of any report. */
static void write_texts(const json_t *report)
{
    char *dot = nn_report_dot(report), *table = nn_report_table(report);
    NN_ASSERT(dot && table);
    free(dot);
    free(table);
}

static double total(const json_t *report, const char *path)
{
    return json_number_value(jx_path_get(report, path));
}

/* What the description asks for: images, sequences with classes, or sequences with numbers. */
static struct nn_network_bind bind_of(const struct nn_description *description)
{
    if (!description || !nn_description_takes_sequences(description)) {
        return (struct nn_network_bind){.height = 7, .width = 6, .channels = 2, .classes = 3};
    }
    bool classifies = nn_description_task(description) == NN_TASK_CLASSIFICATION;
    return (struct nn_network_bind){.features = 2,
                                    .longest = 3,
                                    .classes = classifies ? 3 : 0,
                                    .responses = classifies ? 0 : 1};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nn_description *description = NULL;
    json_t *spec = NULL;
    json_t *report = NULL;
    struct nn_error err = {0};
    if (jx_parse(data, size, NULL, &spec, &err) != NN_OK) {
        return 0;
    }
    enum nn_status status = nn_description_parse(spec, &description, &err);
    const struct nn_network_bind bind = bind_of(description);
    NN_ASSERT(nn_network_analyze(spec, &bind, 2, &report, &err) == NN_OK);
    bool valid = json_is_true(json_object_get(report, "valid"));
    NN_ASSERT(status == NN_OK || !valid);
    write_texts(report);
    if (status == NN_OK) {
        read_back(description);
    }
    if (valid && total(report, "totals.training_bytes") < BYTES_MAX &&
        total(report, "totals.multiply_adds") < WORK_MAX) {
        run(description, &bind);
    }
    nn_description_destroy(description);
    json_decref(report);
    json_decref(spec);
    return 0;
}
