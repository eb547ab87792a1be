/* SPDX-License-Identifier: MIT
 *
 * ONNX files for a peer (onnx_files.py) to compare with.
 *
 *   onnx_driver tensors FILE
 *       a weight file of any format; prints a line a tensor: name, type, sizes, SHA-256 of its
 * bytes. onnx_driver write SPEC HEIGHT WIDTH CHANNELS CLASSES BATCH SEED FOLDER a network of images
 * (SPEC: JSON) from a seed, with parameters of all kinds filled in, as FOLDER/network.onnx; a
 * normalised batch [N, C, H, W] as FOLDER/input, what the network says of it as FOLDER/scores and
 * FOLDER/output, raw single precision. onnx_driver sequences SPEC STEPS FEATURES CLASSES BATCH SEED
 * FOLDER [IDS] the same of sequences, [T, N, C]; IDS: numbers are whole, and below that.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/sha256.h"
#include "core/exchange/exchange.h"
#include "core/exchange/onnx.h"
#include "core/files/weights.h"
#include "core/network/network.h"
#include "tests/support/network.h"

static int complain(const char *what, const struct nn_error *err)
{
    (void)fprintf(stderr, "%s: %s %s\n", what, err->text, err->pointer);
    return 1;
}

static int tensors(const char *path)
{
    struct nn_weights *weights = NULL;
    struct nn_error err = {0};
    if (nn_weights_open(path, NULL, &weights, &err) != NN_OK) {
        return complain(path, &err);
    }
    for (size_t i = 0; i < nn_weights_count(weights); i++) {
        const struct nn_file_tensor *tensor = nn_weights_tensor(weights, i);
        uint8_t digest[NN_SHA256_SIZE];
        char hex[NN_SHA256_HEX];
        nn_sha256_of(tensor->data, tensor->bytes, digest);
        nn_sha256_hex(digest, hex);
        printf("%s %s ", tensor->name, nn_file_dtype_name(tensor->dtype));
        for (size_t k = 0; k < tensor->rank; k++) {
            printf("%s%zu", k ? "," : "", tensor->shape[k]);
        }
        printf(" %s\n", hex);
    }
    nn_weights_close(weights);
    return 0;
}

/* ---- writing ---- */

struct job {
    struct nn_description *description;
    struct nn_network *network;
    struct nn_network_bind bind;
    size_t batch, steps, ids;
    const char *folder;
};

static char *path_of(const struct job *job, const char *name)
{
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", job->folder, name);
    return path;
}

static enum nn_status save(const struct job *job, struct nn_error *err)
{
    struct nn_safetensors *file = NULL;
    enum nn_status status = nn_exchange_save(job->network, path_of(job, "network.safetensors"),
                                             NN_FILE_F32, NULL, 0, err);
    if (status == NN_OK) {
        status = nn_safetensors_open(path_of(job, "network.safetensors"), NULL, &file, err);
    }
    int fd = open(path_of(job, "network.onnx"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (status == NN_OK) {
        status = nn_onnx_write(job->description, &job->bind, nn_safetensors_tensor(file, 0),
                               nn_safetensors_count(file), NULL, 0, fd, err);
    }
    (void)close(fd);
    nn_safetensors_close(file);
    return status;
}

static void put(const struct job *job, const char *name, const nn_real *values, size_t n)
{
    FILE *file = fopen(path_of(job, name), "wb");
    if (!file || fwrite(values, sizeof *values, n, file) != n || fclose(file) != 0) {
        perror(name);
        exit(1);
    }
}

/* Rows of pixels or steps x columns, turned so that columns vary slowest within a sample; rows 1
 * leaves them as they are. */
static void put_turned(const struct job *job, const char *name, const nn_real *values, size_t batch,
                       size_t rows, size_t columns)
{
    size_t n = batch * rows * columns;
    nn_real *out = malloc(n * sizeof *out);
    for (size_t i = 0; out && i < n; i++) {
        size_t sample = i / (rows * columns), row = i / columns % rows, column = i % columns;
        out[(sample * columns + column) * rows + row] = values[i];
    }
    if (!out) {
        exit(1);
    }
    put(job, name, out, n);
    free(out);
}

static void run_images(struct job *job)
{
    size_t numbers = nn_network_input_size(job->network);
    nn_real *input = nn_network_input(job->network);
    test_fill(input, job->batch * numbers, 99);
    put_turned(job, "input", input, job->batch, numbers / job->bind.channels, job->bind.channels);
    nn_network_forward(job->network, job->batch, NN_PHASE_INFERENCE, NULL);
    size_t n = job->batch * nn_network_output_size(job->network);
    put(job, "scores", nn_network_output(job->network), n);
    put(job, "output",
        nn_network_ends_in_softmax(job->network)
            ? nn_network_probabilities(job->network, job->batch)
            : nn_network_output(job->network),
        n);
}

/* All of one length; rows of the output as [T, N, columns] or [N, columns]. */
static void put_rows(const struct job *job, const char *name, const nn_real *rows)
{
    size_t columns = nn_network_output_size(job->network);
    bool steps = nn_network_output_is_sequence(job->network);
    size_t n_steps = steps ? job->steps : 1;
    nn_real *out = malloc(n_steps * job->batch * columns * sizeof *out);
    for (size_t t = 0; out && t < n_steps; t++) {
        for (size_t i = 0; i < job->batch; i++) {
            memcpy(out + (t * job->batch + i) * columns,
                   rows + nn_network_output_row(job->network, i, t) * columns,
                   columns * sizeof *out);
        }
    }
    if (!out) {
        exit(1);
    }
    put(job, name, out, n_steps * job->batch * columns);
    free(out);
}

static void run_sequences(struct job *job)
{
    size_t features = job->bind.features, one = job->steps * features;
    nn_real *values = malloc(job->batch * one * sizeof *values);
    nn_real *turned = malloc(job->batch * one * sizeof *turned);
    const nn_real **sequences = calloc(job->batch, sizeof(void *));
    size_t *lengths = calloc(job->batch, sizeof *lengths);
    if (!values || !turned || !sequences || !lengths) {
        exit(1);
    }
    test_fill(values, job->batch * one, 99);
    for (size_t i = 0; job->ids > 0 && i < job->batch * one; i++) {
        values[i] = (nn_real)(i * 7 % job->ids);
    }
    for (size_t i = 0; i < job->batch; i++) {
        sequences[i] = values + i * one;
        lengths[i] = job->steps;
        for (size_t t = 0; t < job->steps; t++) {
            memcpy(turned + (t * job->batch + i) * features, sequences[i] + t * features,
                   features * sizeof *turned);
        }
    }
    put(job, "input", turned, job->batch * one);
    const struct nn_sequence_batch batch = {sequences, lengths, job->batch};
    nn_network_load_sequences(job->network, &batch);
    nn_network_forward(job->network, job->batch, NN_PHASE_INFERENCE, NULL);
    put_rows(job, "scores", nn_network_output(job->network));
    put_rows(job, "output",
             nn_network_ends_in_softmax(job->network)
                 ? nn_network_probabilities(job->network, job->batch)
                 : nn_network_output(job->network));
    free(values);
    free(turned);
    free((void *)sequences);
    free(lengths);
}

/* Weights as they are at first; everything else away from the values that would hide a mistake.
 * (Weights of any size make deep networks with clipped activations so ill-conditioned that
 * onnxruntime differs from itself by a percent, with and without its optimisations.) */
static void fill(struct nn_network *network, uint64_t seed)
{
    nn_network_initialize(network, seed);
    for (size_t i = 0; i < nn_network_parameter_count(network); i++) {
        const struct nn_parameter *p = nn_network_parameter(network, i);
        bool around_one = p->role == NN_ROLE_SCALE || p->role == NN_ROLE_RUNNING_VAR;
        if (p->role == NN_ROLE_WEIGHT || p->role == NN_ROLE_RECURRENT_WEIGHT) {
            continue;
        }
        test_fill(p->value, p->count, seed + i);
        for (size_t k = 0; k < p->count; k++) {
            p->value[k] = p->value[k] / 4 + (around_one ? 1 : 0);
        }
    }
}

static int write_network(struct job *job, const char *text, uint64_t seed)
{
    struct nn_error err = {0};
    json_t *spec = json_loads(text, 0, NULL);
    const struct nn_network_options options = {
        .max_batch = job->batch, .max_rows = job->batch * job->steps, .phase = NN_PHASE_INFERENCE};
    enum nn_status status = nn_description_parse(spec, &job->description, &err);
    if (status == NN_OK) {
        status = nn_network_create(job->description, &job->bind, &options, &job->network, &err);
    }
    if (status == NN_OK) {
        fill(job->network, seed);
        status = save(job, &err);
    }
    if (status == NN_OK) {
        job->steps > 0 ? run_sequences(job) : run_images(job);
    }
    nn_network_destroy(job->network);
    nn_description_destroy(job->description);
    json_decref(spec);
    return status == NN_OK ? 0 : complain(text, &err);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "tensors") == 0) {
        return tensors(argv[2]);
    }
    if (argc == 10 && strcmp(argv[1], "write") == 0) {
        struct job job = {
            .bind = test_bind_images(argv + 3), .batch = test_size(argv[7]), .folder = argv[9]};
        return write_network(&job, argv[2], test_size(argv[8]));
    }
    if ((argc == 9 || argc == 10) && strcmp(argv[1], "sequences") == 0) {
        struct job job = {.bind = test_bind_sequences(argv + 3),
                          .steps = test_size(argv[3]),
                          .batch = test_size(argv[6]),
                          .ids = argc == 10 ? test_size(argv[9]) : 0,
                          .folder = argv[8]};
        job.bind.classes = test_size(argv[5]);
        return write_network(&job, argv[2], test_size(argv[7]));
    }
    (void)fprintf(stderr, "see the head of tests/accept/onnx_driver.c\n");
    return 2;
}
