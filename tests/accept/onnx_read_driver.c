/* SPDX-License-Identifier: MIT
 *
 * Graphs of a peer (onnx_files.py) as networks of ours.
 *
 *   onnx_read_driver images FILE HEIGHT WIDTH CHANNELS CLASSES BATCH FOLDER
 *   onnx_read_driver sequences FILE STEPS FEATURES OUTPUTS BATCH FOLDER
 *       the graph as a description, with its tensors; runs FOLDER/input, raw single precision,
 *       [N, C, H, W] or [T, N, C], and writes FOLDER/ours: scores of rows, or of steps [T, N, C].
 *       Prints the kinds of the layers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/exchange/exchange.h"
#include "core/exchange/onnx.h"
#include "core/files/weights.h"
#include "core/network/network.h"
#include "tests/support/network.h"

struct job {
    struct nn_weights *file;
    struct nn_onnx_import *import;
    struct nn_description *description;
    struct nn_network *network;
    struct nn_network_bind bind;
    size_t batch, steps; /* steps 0: images */
    const char *folder;
    nn_real *input;
};

static enum nn_status load(struct job *job, const char *path, struct nn_error *err)
{
    const struct nn_network_options options = {
        .max_batch = job->batch, .max_rows = job->batch * job->steps, .phase = NN_PHASE_INFERENCE};
    size_t n = 0;
    enum nn_status status = nn_weights_open(path, NULL, &job->file, err);
    if (status == NN_OK) {
        status = nn_onnx_import_create(nn_weights_model(job->file), &job->import, err);
    }
    if (status == NN_OK) {
        status =
            nn_description_parse(nn_onnx_import_description(job->import), &job->description, err);
    }
    if (status == NN_OK) {
        status = nn_network_create(job->description, &job->bind, &options, &job->network, err);
    }
    if (status == NN_OK) {
        const struct nn_file_tensor *tensors = nn_onnx_import_tensors(job->import, &n);
        status = nn_exchange_import(job->network, tensors, n, NN_MATCH_HEAD_KEPT, NULL, err);
    }
    return status;
}

static void print_kinds(const struct job *job)
{
    size_t i;
    json_t *layer;
    const json_t *layers = json_object_get(nn_onnx_import_description(job->import), "layers");
    json_array_foreach(layers, i, layer)
    {
        printf("%s\n", json_string_value(json_object_get(layer, "kind")));
    }
}

static FILE *open_in(const struct job *job, const char *name, const char *mode)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", job->folder, name);
    FILE *file = fopen(path, mode);
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void read_input(struct job *job, size_t n)
{
    FILE *file = open_in(job, "input", "rb");
    job->input = calloc(n + 1, sizeof *job->input);
    if (!job->input || fread(job->input, sizeof *job->input, n + 1, file) != n) {
        (void)fprintf(stderr, "the input has another size\n");
        exit(1);
    }
    (void)fclose(file);
}

static void put(FILE *to, const nn_real *values, size_t n)
{
    if (fwrite(values, sizeof *values, n, to) != n) {
        perror("ours");
        exit(1);
    }
}

static void run_images(struct job *job)
{
    size_t numbers = nn_network_input_size(job->network), channels = job->bind.channels;
    size_t pixels = numbers / channels;
    FILE *out = open_in(job, "ours", "wb");
    read_input(job, job->batch * numbers);
    for (size_t i = 0; i < job->batch * numbers; i++) {
        size_t sample = i / numbers, channel = i / pixels % channels, pixel = i % pixels;
        nn_network_input(job->network)[sample * numbers + pixel * channels + channel] =
            job->input[i];
    }
    nn_network_forward(job->network, job->batch, NN_PHASE_INFERENCE, NULL);
    put(out, nn_network_output(job->network), job->batch * nn_network_output_size(job->network));
    (void)fclose(out);
}

static void run_sequences(struct job *job)
{
    size_t features = job->bind.features, one = job->steps * features;
    size_t columns = nn_network_output_size(job->network);
    nn_real *turned = calloc(job->batch * one, sizeof *turned);
    const nn_real **sequences = calloc(job->batch, sizeof(void *));
    size_t *lengths = calloc(job->batch, sizeof *lengths);
    FILE *out = open_in(job, "ours", "wb");
    if (!turned || !sequences || !lengths) {
        exit(1);
    }
    read_input(job, job->batch * one);
    for (size_t i = 0; i < job->batch; i++) {
        sequences[i] = turned + i * one;
        lengths[i] = job->steps;
        for (size_t t = 0; t < job->steps; t++) {
            memcpy(turned + i * one + t * features, job->input + (t * job->batch + i) * features,
                   features * sizeof *turned);
        }
    }
    const struct nn_sequence_batch batch = {sequences, lengths, job->batch};
    nn_network_load_sequences(job->network, &batch);
    nn_network_forward(job->network, job->batch, NN_PHASE_INFERENCE, NULL);
    size_t steps = nn_network_output_is_sequence(job->network) ? job->steps : 1;
    for (size_t i = 0; i < steps * job->batch; i++) {
        size_t row = nn_network_output_row(job->network, i % job->batch, i / job->batch);
        put(out, nn_network_output(job->network) + row * columns, columns);
    }
    (void)fclose(out);
    free(turned);
    free((void *)sequences);
    free(lengths);
}

static int run(struct job *job, const char *path)
{
    struct nn_error err = {0};
    enum nn_status status = load(job, path, &err);
    if (status == NN_OK) {
        print_kinds(job);
        job->steps > 0 ? run_sequences(job) : run_images(job);
    } else {
        (void)fprintf(stderr, "%s: %s %s\n", path, err.text, err.pointer);
    }
    free(job->input);
    nn_network_destroy(job->network);
    nn_description_destroy(job->description);
    nn_onnx_import_destroy(job->import);
    nn_weights_close(job->file);
    return status == NN_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 9 && strcmp(argv[1], "images") == 0) {
        struct job job = {
            .bind = test_bind_images(argv + 3), .batch = test_size(argv[7]), .folder = argv[8]};
        return run(&job, argv[2]);
    }
    if (argc == 8 && strcmp(argv[1], "sequences") == 0) {
        struct job job = {.bind = test_bind_sequences(argv + 3),
                          .steps = test_size(argv[3]),
                          .batch = test_size(argv[6]),
                          .folder = argv[7]};
        job.bind.responses = test_size(argv[5]);
        return run(&job, argv[2]);
    }
    (void)fprintf(stderr, "see the head of tests/accept/onnx_read_driver.c\n");
    return 2;
}
