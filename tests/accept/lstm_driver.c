/* SPDX-License-Identifier: MIT
 *
 * Trains a network on sequences from given weights and tells what happened, so that a peer
 * (peer_lstm.py) can do the same and be compared. Built in MODE=f64 it computes in double.
 *
 *   lstm_driver SPEC    SPEC is JSON: network, features, responses, data, weights, epochs,
 *                       batch_size, threads, training (solver, clipping, ...), result
 *
 * data: u64 count, u64 lengths[count], then for each sequence its features and its targets, step by
 * step, as doubles. weights: all trainable parameters in description order, in PyTorch's axis
 * order, as doubles. The sequences are taken in the order of the file. Printed: {"losses": one a
 * step, "cpu_seconds": one an epoch}. result (optional) is written as doubles: the predictions of
 * the first batch, in the order of the file, and the gradients of its loss; after the last epoch
 * all parameters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/cpu.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/loss/loss.h"
#include "core/network/network.h"
#include "core/solvers/fields.h"
#include "core/solvers/solvers.h"

struct data {
    size_t count, features, responses, longest;
    size_t *lengths;
    nn_real **sequences, **targets;
};

struct run {
    struct data data;
    size_t epochs, batch_size;
    struct nn_memory *memory;
    struct nn_pool *pool;
    struct nn_description *description;
    struct nn_network *network;
    struct nn_solver_options options;
    struct nn_solver *solver;
    nn_real *targets, *weights; /* of a batch, by rows of the output */
    FILE *result;
    json_t *losses, *cpu_seconds;
};

static void *need(void *memory)
{
    if (!memory) {
        (void)fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

static void check(enum nn_status status, const char *what, const struct nn_error *err)
{
    if (status != NN_OK) {
        (void)fprintf(stderr, "%s: %s %s\n", what, err->text, err->pointer);
        exit(1);
    }
}

static void read_exactly(void *out, size_t size, size_t n, FILE *file)
{
    if (fread(out, size, n, file) != n) {
        (void)fprintf(stderr, "a file ends too early\n");
        exit(1);
    }
}

static FILE *open_file(const char *path, const char *mode)
{
    FILE *file = path ? fopen(path, mode) : NULL;
    if (!file) {
        (void)fprintf(stderr, "cannot open %s\n", path ? path : "a file without a name");
        exit(1);
    }
    return file;
}

static nn_real *read_reals(FILE *file, size_t n)
{
    double *numbers = need(malloc(n * sizeof *numbers));
    nn_real *out = need(malloc(n * sizeof *out));
    read_exactly(numbers, sizeof *numbers, n, file);
    for (size_t i = 0; i < n; i++) {
        out[i] = (nn_real)numbers[i];
    }
    free(numbers);
    return out;
}

static void write_reals(FILE *file, const nn_real *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double number = (double)numbers[i];
        if (fwrite(&number, sizeof number, 1, file) != 1) {
            (void)fprintf(stderr, "cannot write the result\n");
            exit(1);
        }
    }
}

static size_t size_of(const json_t *spec, const char *key)
{
    return (size_t)json_integer_value(json_object_get(spec, key));
}

static void read_data(struct data *data, const char *path)
{
    FILE *file = open_file(path, "rb");
    read_exactly(&data->count, sizeof data->count, 1, file);
    data->lengths = need(calloc(data->count, sizeof *data->lengths));
    data->sequences = need(calloc(data->count, sizeof(nn_real *)));
    data->targets = need(calloc(data->count, sizeof(nn_real *)));
    read_exactly(data->lengths, sizeof *data->lengths, data->count, file);
    for (size_t i = 0; i < data->count; i++) {
        size_t length = data->lengths[i];
        data->longest = length > data->longest ? length : data->longest;
        data->sequences[i] = read_reals(file, length * data->features);
        data->targets[i] = read_reals(file, length * data->responses);
    }
    (void)fclose(file);
}

static void make_network(struct run *run, const json_t *spec)
{
    struct nn_error err = {0};
    const struct nn_network_bind bind = {.features = run->data.features,
                                         .longest = run->data.longest,
                                         .responses = run->data.responses};
    check(nn_memory_create((size_t)4 << 30, &run->memory), "memory", &err);
    check(nn_pool_create(run->memory, size_of(spec, "threads"), &run->pool, &err), "pool", &err);
    check(nn_description_parse(json_object_get(spec, "network"), &run->description, &err),
          "network", &err);
    const struct nn_network_options options = {
        .max_batch = run->batch_size, .memory = run->memory, .pool = run->pool};
    check(nn_network_create(run->description, &bind, &options, &run->network, &err), "network",
          &err);
    size_t rows = nn_network_output_rows_max(run->network);
    run->targets = need(malloc(rows * run->data.responses * sizeof *run->targets));
    run->weights = need(malloc(rows * sizeof *run->weights));
}

static void read_weights(const struct run *run, const char *path)
{
    FILE *file = open_file(path, "rb");
    for (size_t i = 0; i < nn_network_parameter_count(run->network); i++) {
        const struct nn_parameter *parameter = nn_network_parameter(run->network, i);
        if (parameter->trainable) {
            nn_real *values = read_reals(file, parameter->count);
            nn_parameter_from_torch(parameter, values);
            free(values);
        }
    }
    (void)fclose(file);
}

static void make_solver(struct run *run, const json_t *spec)
{
    static const struct jx_field FIELDS[] = {NN_SOLVER_FIELDS(offsetof(struct run, options)),
                                             JX_END};
    static struct nn_solver_parameter parameters[256];
    struct nn_error err = {0};
    size_t n = 0;
    check(jx_decode(FIELDS, json_object_get(spec, "training"), "/training", run, &err), "training",
          &err);
    nn_solver_options_resolve(&run->options);
    for (size_t i = 0; i < nn_network_parameter_count(run->network); i++) {
        const struct nn_parameter *p = nn_network_parameter(run->network, i);
        if (p->trainable && n < 256) {
            parameters[n++] =
                (struct nn_solver_parameter){p->value, p->grad, p->count, p->l2_factor, 1};
        }
    }
    const struct nn_exec exec = {.kernels = nn_kernels_best(), .pool = run->pool};
    check(nn_solver_create(&run->options, parameters, n, run->memory, &exec, &run->solver, &err),
          "solver", &err);
}

static double cpu_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void write_predictions(const struct run *run, size_t batch)
{
    size_t n = nn_network_output_size(run->network);
    for (size_t i = 0; i < batch; i++) {
        size_t steps = nn_network_output_is_sequence(run->network) ? run->data.lengths[i] : 1;
        for (size_t t = 0; t < steps; t++) {
            size_t row = nn_network_output_row(run->network, i, t);
            write_reals(run->result, nn_network_output(run->network) + row * n, n);
        }
    }
}

static void write_parameters(const struct run *run, bool gradients)
{
    for (size_t i = 0; i < nn_network_parameter_count(run->network); i++) {
        struct nn_parameter parameter = *nn_network_parameter(run->network, i);
        nn_real *numbers = need(malloc(parameter.count * sizeof *numbers));
        parameter.value = gradients ? parameter.grad : parameter.value;
        if (parameter.trainable) {
            nn_parameter_to_torch(&parameter, numbers);
            write_reals(run->result, numbers, parameter.count);
        }
        free(numbers);
    }
}

/* Targets of a batch by rows; a network that predicts each sequence once gets its last target. */
static void take_targets(const struct run *run, size_t first, size_t batch)
{
    const nn_real **targets = need(calloc(batch, sizeof *targets));
    for (size_t i = 0; i < batch; i++) {
        size_t skip =
            nn_network_output_is_sequence(run->network) ? 0 : run->data.lengths[first + i] - 1;
        targets[i] = run->data.targets[first + i] + skip * run->data.responses;
    }
    nn_network_rows_from_samples(run->network, batch, targets, run->data.responses, run->targets);
    nn_network_row_weights(run->network, batch, run->weights);
    free(targets);
}

static void train_batch(const struct run *run, size_t epoch, size_t first, size_t batch)
{
    const struct nn_sequence_batch loaded = {(const nn_real *const *)run->data.sequences + first,
                                             run->data.lengths + first, batch};
    const struct nn_step step = {.seed = 1, .epoch = epoch, .first_sample = first};
    nn_network_load_sequences(run->network, &loaded);
    nn_network_forward(run->network, batch, NN_PHASE_TRAINING, &step);
    take_targets(run, first, batch);
    size_t n = nn_network_output_size(run->network);
    const struct nn_loss_responses responses = {.predictions = nn_network_output(run->network),
                                                .ld = n,
                                                .targets = run->targets,
                                                .weights = run->weights,
                                                .rows = nn_network_output_rows(run->network, batch),
                                                .responses = n};
    double loss =
        nn_loss_half_squared_error(&responses, nn_network_output_gradient(run->network), n);
    nn_network_zero_grads(run->network);
    nn_network_backward(run->network, batch);
    if (run->result && epoch == 0 && first == 0) {
        write_predictions(run, batch);
        write_parameters(run, true);
    }
    (void)nn_solver_step(run->solver, nn_solver_learning_rate(&run->options, epoch, 1));
    (void)json_array_append_new(run->losses, jx_number(loss));
}

static void train(const struct run *run)
{
    for (size_t epoch = 0; epoch < run->epochs; epoch++) {
        double began = cpu_seconds();
        for (size_t first = 0; first < run->data.count; first += run->batch_size) {
            size_t left = run->data.count - first;
            train_batch(run, epoch, first, left < run->batch_size ? left : run->batch_size);
        }
        (void)json_array_append_new(run->cpu_seconds, json_real(cpu_seconds() - began));
    }
    if (run->result) {
        write_parameters(run, false);
    }
}

static void destroy(struct run *run)
{
    nn_solver_destroy(run->solver);
    nn_network_destroy(run->network);
    nn_description_destroy(run->description);
    nn_pool_destroy(run->pool);
    nn_memory_destroy(run->memory);
    for (size_t i = 0; i < run->data.count; i++) {
        free(run->data.sequences[i]);
        free(run->data.targets[i]);
    }
    free(run->data.sequences);
    free(run->data.targets);
    free(run->data.lengths);
    free(run->targets);
    free(run->weights);
}

int main(int argc, char **argv)
{
    struct nn_error err = {0};
    json_t *spec = NULL;
    if (argc != 2) {
        (void)fprintf(stderr, "usage: see the head of lstm_driver.c\n");
        return 2;
    }
    check(jx_parse(argv[1], strlen(argv[1]), NULL, &spec, &err), "spec", &err);
    nn_cpu_flush_denormals();
    struct run run = {.epochs = size_of(spec, "epochs"), .batch_size = size_of(spec, "batch_size")};
    const char *result = json_string_value(json_object_get(spec, "result"));
    run.data.features = size_of(spec, "features");
    run.data.responses = size_of(spec, "responses");
    run.losses = need(json_array());
    run.cpu_seconds = need(json_array());
    run.result = result ? open_file(result, "wb") : NULL;
    read_data(&run.data, json_string_value(json_object_get(spec, "data")));
    make_network(&run, spec);
    read_weights(&run, json_string_value(json_object_get(spec, "weights")));
    make_solver(&run, spec);
    train(&run);
    json_t *out = json_pack("{s:o, s:o}", "losses", run.losses, "cpu_seconds", run.cpu_seconds);
    char *text = need(json_dumps(out, JSON_COMPACT));
    (void)printf("%s\n", text);
    free(text);
    json_decref(out);
    json_decref(spec);
    destroy(&run);
    return run.result && fclose(run.result) != 0;
}
