/* SPDX-License-Identifier: MIT
 *
 * Runs image networks of the catalogue for a peer (peer_image_networks.py) to compare with.
 *
 * NETWORK is a name of the catalogue or a description as JSON.
 *
 *   image_driver infer NETWORK WEIGHTS INPUT BATCH SIZE CLASSES OPERATORS LAYERS OUTPUT
 *       weights: any known format; input: normalised float32, BATCH x SIZE x SIZE x 3, raw; layers:
 *       names joined by commas, or "". Writes the scores raw, prints the figures of the layers.
 *   image_driver learn SPEC WEIGHTS INPUT BATCH SIZE CLASSES OPERATORS STEPS OUTPUT
 *       steps of sgdm (0.9, 1e-3) on one batch whose labels are 0, 1, ...; SPEC: a network as JSON.
 *       After the first backward OUTPUT gets, raw and in PyTorch's order, the gradient of each
 *       parameter that trains and the value of each that does not. Prints their names and counts,
 *       and the losses.
 *   image_driver train NETWORK BATCH SIZE CLASSES STEPS OPERATORS [head]
 *       steps of sgdm on made-up images, one thread; prints seconds and the profile of the passes.
 *       head: all layers but the head are frozen.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/cpu.h"
#include "core/exchange/exchange.h"
#include "core/files/weights.h"
#include "core/kernels/exec.h"
#include "core/loss/loss.h"
#include "core/network/network.h"

enum { LAYERS_MAX = 16 };

struct net {
    struct nn_description *description;
    struct nn_network *network;
    size_t batch, size, classes;
    const char *kept[LAYERS_MAX];
    size_t n_kept;
    enum nn_freeze freeze;
};

static int complain(const char *what, const struct nn_error *err)
{
    (void)fprintf(stderr, "%s: %s %s\n", what, err->text, err->pointer);
    return 1;
}

static enum nn_status net_open(struct net *net, const char *name, const char *operators,
                               enum nn_phase phase, struct nn_error *err)
{
    json_t *spec = name[0] == '{' ? json_loads(name, 0, NULL)
                                  : json_pack("{s:s, s:i}", "name", name, "size", (int)net->size);
    const struct nn_network_bind bind = {
        .height = net->size, .width = net->size, .channels = 3, .classes = net->classes};
    struct nn_network_options options = {
        .max_batch = net->batch,
        .phase = phase,
        .kept = net->kept,
        .n_kept = net->n_kept,
        .operators = strcmp(operators, "plain") == 0 ? NN_OPERATORS_PLAIN : NN_OPERATORS_OPTIMISED};
    enum nn_status status = nn_description_parse(spec, &net->description, err);
    json_decref(spec);
    if (status == NN_OK) {
        status = nn_description_frozen(net->description, net->freeze, NULL, &options.frozen,
                                       &options.n_frozen, err);
    }
    if (status == NN_OK) {
        status = nn_network_create(net->description, &bind, &options, &net->network, err);
    }
    free((void *)(uintptr_t)options.frozen);
    return status;
}

static void net_close(struct net *net)
{
    nn_network_destroy(net->network);
    nn_description_destroy(net->description);
}

static double now(clockid_t clock)
{
    struct timespec at;
    (void)clock_gettime(clock, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static double cpu_clock(void *ctx)
{
    (void)ctx;
    return now(CLOCK_PROCESS_CPUTIME_ID);
}

static bool read_reals(const char *path, nn_real *out, size_t n)
{
    FILE *file = fopen(path, "rb");
    bool ok = file && fread(out, sizeof *out, n, file) == n;
    return file && fclose(file) == 0 && ok;
}

/* ---- infer ---- */

static enum nn_status weights_load(struct net *net, const char *path, struct nn_error *err)
{
    struct nn_weights *weights = NULL;
    enum nn_status status = nn_weights_open(path, NULL, &weights, err);
    if (status == NN_OK) {
        size_t n = nn_weights_count(weights);
        const struct nn_file_tensor *tensors = n > 0 ? nn_weights_tensor(weights, 0) : NULL;
        status = nn_exchange_import(net->network, tensors, n, NN_MATCH_HEAD_KEPT, NULL, err);
        nn_weights_close(weights);
    }
    return status;
}

static json_t *figures(const struct net *net, const char *layer)
{
    struct nn_layer_view view;
    double sum = 0, largest = 0, squares = 0;
    if (!nn_network_activation(net->network, layer, &view)) {
        return NULL;
    }
    size_t rows = net->batch * view.height * view.width;
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < view.channels; c++) {
            double x = (double)view.data[r * view.ld + c];
            sum += x;
            squares += x * x;
            largest = fmax(largest, fabs(x));
        }
    }
    return json_pack("{s:f, s:f, s:f}", "mean", sum / (double)rows / (double)view.channels,
                     "absmax", largest, "l2", sqrt(squares));
}

static int infer(char **argv)
{
    struct net net = {.batch = strtoul(argv[3], NULL, 10),
                      .size = strtoul(argv[4], NULL, 10),
                      .classes = strtoul(argv[5], NULL, 10)};
    struct nn_error err = {0};
    for (char *name = strtok(argv[7], ","); name && net.n_kept < LAYERS_MAX;
         name = strtok(NULL, ",")) {
        net.kept[net.n_kept++] = name;
    }
    enum nn_status status = net_open(&net, argv[0], argv[6], NN_PHASE_INFERENCE, &err);
    if (status == NN_OK) {
        status = weights_load(&net, argv[1], &err);
    }
    if (status != NN_OK) {
        net_close(&net);
        return complain(argv[0], &err);
    }
    size_t n = net.batch * nn_network_input_size(net.network);
    bool ok = read_reals(argv[2], nn_network_input(net.network), n);
    nn_network_forward(net.network, net.batch, NN_PHASE_INFERENCE, NULL);
    FILE *file = fopen(argv[8], "wb");
    ok = ok && file &&
         fwrite(nn_network_output(net.network), sizeof(nn_real), net.batch * net.classes, file) ==
             net.batch * net.classes;
    ok = file && fclose(file) == 0 && ok;
    json_t *layers = json_object();
    for (size_t i = 0; i < net.n_kept; i++) {
        (void)json_object_set_new(layers, net.kept[i], figures(&net, net.kept[i]));
    }
    char *text = json_dumps(layers, JSON_COMPACT);
    (void)puts(text ? text : "");
    free(text);
    json_decref(layers);
    net_close(&net);
    return ok ? 0 : 1;
}

/* ---- train ---- */

static json_t *profile(const struct net *net)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < nn_network_profile_count(net->network); i++) {
        struct nn_profile_row row = nn_network_profile(net->network, i);
        (void)json_array_append_new(rows, json_pack("[s, s, f, f]", row.layers, row.operator_name,
                                                    row.forward_seconds, row.backward_seconds));
    }
    return rows;
}

/* What a step needs besides the network. */
struct step {
    uint32_t *labels;
    nn_real *slots;
    struct nn_exec exec; /* of the loss */
};

static void step_open(struct step *s, const struct net *net)
{
    size_t n, bytes = nn_loss_workspace(net->batch);
    (void)nn_network_values(net->network, &n);
    *s = (struct step){.labels = calloc(net->batch, sizeof *s->labels),
                       .slots = calloc(n, sizeof *s->slots),
                       .exec = {.kernels = nn_kernels_best(),
                                .workspace = aligned_alloc(64, bytes),
                                .workspace_bytes = bytes}};
    for (size_t i = 0; i < net->batch; i++) {
        s->labels[i] = (uint32_t)(i % net->classes);
    }
}

static void step_close(struct step *s)
{
    free(s->labels);
    free(s->slots);
    free(s->exec.workspace);
}

/* The loss with those of auxiliary heads, and all gradients of scores. */
static double loss_of(struct net *net, const struct step *s)
{
    struct nn_loss_batch scores = {.logits = nn_network_output(net->network),
                                   .ld = net->classes,
                                   .labels = s->labels,
                                   .rows = net->batch,
                                   .classes = net->classes};
    double loss = nn_loss_cross_entropy(&s->exec, &scores, nn_network_output_gradient(net->network),
                                        net->classes)
                      .loss;
    for (size_t i = 0; i < nn_network_auxiliary_count(net->network); i++) {
        struct nn_auxiliary auxiliary = nn_network_auxiliary(net->network, i);
        scores.logits = auxiliary.scores;
        scores.weight = auxiliary.weight;
        loss += nn_loss_cross_entropy(&s->exec, &scores, auxiliary.gradient, net->classes).loss;
    }
    return loss;
}

static double differentiate(struct net *net, const struct step *s, size_t number)
{
    const struct nn_step step = {.seed = 1, .epoch = 0, .first_sample = number * net->batch};
    nn_network_forward(net->network, net->batch, NN_PHASE_TRAINING, &step);
    nn_network_zero_grads(net->network);
    double loss = loss_of(net, s);
    nn_network_backward(net->network, net->batch);
    return loss;
}

static void update(struct net *net, struct step *s)
{
    size_t n;
    nn_real *values = nn_network_values(net->network, &n);
    const nn_real *grads = nn_network_grads(net->network, &n);
    for (size_t i = 0; i < n; i++) {
        s->slots[i] = (nn_real)0.9 * s->slots[i] - (nn_real)1e-3 * grads[i];
        values[i] += s->slots[i];
    }
}

static int train(char **argv, bool head_only)
{
    struct net net = {.freeze = head_only ? NN_FREEZE_ALL_BUT_HEAD : NN_FREEZE_NONE,
                      .batch = strtoul(argv[1], NULL, 10),
                      .size = strtoul(argv[2], NULL, 10),
                      .classes = strtoul(argv[3], NULL, 10)};
    size_t steps = strtoul(argv[4], NULL, 10);
    struct nn_error err = {0};
    if (net_open(&net, argv[0], argv[5], NN_PHASE_TRAINING, &err) != NN_OK) {
        net_close(&net);
        return complain(argv[0], &err);
    }
    nn_network_initialize(net.network, 1);
    struct step s;
    step_open(&s, &net);
    nn_real *input = nn_network_input(net.network);
    for (size_t i = 0; i < net.batch * nn_network_input_size(net.network); i++) {
        input[i] = (nn_real)(i * 2654435761U % 65536) / 32768 - 1;
    }
    (void)differentiate(&net, &s, 0);
    update(&net, &s);
    nn_network_set_clock(net.network, cpu_clock, NULL);
    nn_network_profile_reset(net.network);
    double wall = now(CLOCK_MONOTONIC), cpu = cpu_clock(NULL);
    for (size_t i = 1; i <= steps; i++) {
        (void)differentiate(&net, &s, i);
        update(&net, &s);
    }
    cpu = cpu_clock(NULL) - cpu;
    wall = now(CLOCK_MONOTONIC) - wall;
    json_t *json = json_pack("{s:f, s:f, s:o}", "cpu_seconds", cpu / (double)steps, "seconds",
                             wall / (double)steps, "profile", profile(&net));
    char *text = json_dumps(json, JSON_COMPACT);
    (void)puts(text ? text : "");
    free(text);
    json_decref(json);
    step_close(&s);
    net_close(&net);
    return 0;
}

/* ---- learn ---- */

/* [name, count] of each parameter, whose numbers go to the file. NULL: the file cannot be written.
 */
static json_t *write_gradients(const struct net *net, const char *path)
{
    FILE *file = fopen(path, "wb");
    json_t *names = json_array();
    bool ok = file != NULL;
    for (size_t i = 0; ok && i < nn_network_parameter_count(net->network); i++) {
        struct nn_parameter from = *nn_network_parameter(net->network, i);
        nn_real *numbers = calloc(from.count, sizeof *numbers);
        from.value = from.trainable ? from.grad : from.value;
        nn_parameter_to_torch(&from, numbers);
        ok = fwrite(numbers, sizeof *numbers, from.count, file) == from.count;
        free(numbers);
        (void)json_array_append_new(names, json_pack("[s, I]", from.name, (json_int_t)from.count));
    }
    ok = file && fclose(file) == 0 && ok;
    if (!ok) {
        json_decref(names);
        return NULL;
    }
    return names;
}

static int learn(char **argv)
{
    struct net net = {.batch = strtoul(argv[3], NULL, 10),
                      .size = strtoul(argv[4], NULL, 10),
                      .classes = strtoul(argv[5], NULL, 10)};
    size_t steps = strtoul(argv[7], NULL, 10);
    struct nn_error err = {0};
    enum nn_status status = net_open(&net, argv[0], argv[6], NN_PHASE_TRAINING, &err);
    if (status == NN_OK) {
        status = weights_load(&net, argv[1], &err);
    }
    if (status != NN_OK) {
        net_close(&net);
        return complain(argv[0], &err);
    }
    struct step s;
    json_t *losses = json_array(), *names = NULL;
    step_open(&s, &net);
    size_t n = net.batch * nn_network_input_size(net.network);
    bool ok = read_reals(argv[2], nn_network_input(net.network), n);
    for (size_t i = 0; ok && i < steps; i++) {
        (void)json_array_append_new(losses, json_real(differentiate(&net, &s, i)));
        names = i == 0 ? write_gradients(&net, argv[8]) : names;
        ok = names != NULL;
        update(&net, &s);
    }
    json_t *json = json_pack("{s:o, s:o*}", "losses", losses, "parameters", names);
    char *text = json_dumps(json, JSON_COMPACT);
    (void)puts(text ? text : "");
    free(text);
    json_decref(json);
    step_close(&s);
    net_close(&net);
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    nn_cpu_flush_denormals();
    if (argc == 11 && strcmp(argv[1], "infer") == 0) {
        return infer(argv + 2);
    }
    if (argc == 11 && strcmp(argv[1], "learn") == 0) {
        return learn(argv + 2);
    }
    bool head = argc == 9 && strcmp(argv[8], "head") == 0;
    if ((argc == 8 || head) && strcmp(argv[1], "train") == 0) {
        return train(argv + 2, head);
    }
    (void)fprintf(stderr, "usage: see the head of image_driver.c\n");
    return 2;
}
